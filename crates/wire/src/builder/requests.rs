//! Requests of the world builder.

use crate::fields::{Body, Fields, Invalid};
use crate::worlds::WorldId;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Longest name of an editor, in characters.
pub const MAX_EDITOR: usize = 64;
/// Largest script that a client may send for a check, in bytes.
pub const MAX_SCRIPT_CHECK: usize = 256 << 10;
/// Longest display name, in characters.
const MAX_NAME: usize = 100;
/// Largest seed and largest revision: 2^53 − 1. Many JSON parsers read numbers as floats, which
/// represent larger whole numbers inexactly.
const MAX_SEED: u64 = (1 << 53) - 1;
/// Largest absolute coordinate, and largest width and height, of an area to print, m.
const MAX_COORDINATE: f64 = 200.0;

/// Id of a project: 16 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProjectId(String);

impl ProjectId {
    /// Parses an id; `None` if the text is not an id.
    pub fn parse(text: &str) -> Option<ProjectId> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == 16 && text.bytes().all(hex)).then(|| ProjectId(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ProjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a new project is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewProjectSource {
    /// A plain loop on a field.
    Empty,
    /// A shipped world.
    World,
    /// A random track.
    Random,
    /// A project document.
    Document,
    /// Another project, with its files.
    Project,
}

/// The options of a random track.
#[derive(Debug, Clone, Copy, PartialEq, Default, ToSchema)]
#[schema(as = RandomTrack)]
pub struct RandomTrackBody {
    /// Width and height of the field, m; `[8, 6]` if omitted.
    pub field: Option<[f64; 2]>,
    /// Width of the road, m; 0.6 if omitted.
    #[schema(minimum = 0.2, maximum = 3)]
    pub width: Option<f64>,
    /// Tightness of the bends, from 0 (nearly round) to 1; 0.5 if omitted.
    #[schema(minimum = 0, maximum = 1)]
    pub tightness: Option<f64>,
    /// Maximum length of the track, m; any length if omitted.
    #[schema(minimum = 1, maximum = 900)]
    pub length: Option<f64>,
}

/// Request body of `POST /builder/projects`.
#[derive(Debug, Clone, PartialEq, ToSchema)]
#[schema(as = CreateProject)]
pub struct CreateProjectBody {
    /// What the project is made from.
    pub from: NewProjectSource,
    /// Name of an empty project; `new_world` if omitted.
    #[schema(pattern = "^[A-Za-z0-9_]{1,64}$")]
    pub name: Option<String>,
    /// Name of the shipped world.
    #[schema(example = "oval")]
    pub world: Option<String>,
    /// Seed of the random track; 0 if omitted.
    #[schema(maximum = 9_007_199_254_740_991_u64)]
    pub seed: Option<u64>,
    /// Options of the random track.
    pub options: Option<RandomTrackBody>,
    /// The project document.
    #[schema(value_type = Option<Object>)]
    pub document: Option<Value>,
    /// Id of the project to copy.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    pub project: Option<String>,
}

/// Parsed form of [`RandomTrackBody`], and the seed. The crate `builder` checks the range of
/// `field`, which `parse` does not check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomTrack {
    /// Seed.
    pub seed: u64,
    /// Width and height of the field, m.
    pub field: Option<[f64; 2]>,
    /// Width of the road, m.
    pub width: Option<f64>,
    /// Tightness of the bends.
    pub tightness: Option<f64>,
    /// Maximum length of the track, m.
    pub length: Option<f64>,
}

/// Parsed form of [`CreateProjectBody`].
#[derive(Debug, Clone, PartialEq)]
pub enum CreateProject {
    /// A plain loop on a field, with this name.
    Empty(Option<String>),
    /// The shipped world of this name.
    World(String),
    /// A random track.
    Random(RandomTrack),
    /// A project document.
    Document(Value),
    /// A copy of this project.
    Project(ProjectId),
}

impl Body for CreateProject {
    fn parse(fields: &Fields) -> Result<CreateProject, Invalid> {
        // All fields are checked, even the fields that the chosen source does not use.
        let wrong_name = "name must be 1 to 64 letters, digits and underscores (A-Z a-z 0-9 _)";
        let name = fields.text("name", wrong_name)?;
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        if name.is_some_and(|name| !(1..=64).contains(&name.len()) || !name.bytes().all(fits)) {
            return Err(Invalid::new(wrong_name));
        }
        let wrong_world = "world must be the name of a shipped world";
        let world = fields.text("world", wrong_world)?;
        let random = random(fields)?;
        let document = fields.get("document").map(|_| document(fields)).transpose()?;
        let project = project(fields)?;
        let missing = |field: &str| Invalid(format!("{field} is missing"));
        let wrong = "from must be empty, world, random, document or project";
        match fields.text("from", wrong)? {
            Some("empty") => Ok(CreateProject::Empty(name.map(str::to_owned))),
            Some("world") => {
                world.map(|w| CreateProject::World(w.to_owned())).ok_or_else(|| missing("world"))
            }
            Some("random") => Ok(CreateProject::Random(random)),
            Some("document") => document.map(CreateProject::Document).ok_or_else(|| missing("document")),
            Some("project") => project.map(CreateProject::Project).ok_or_else(|| missing("project")),
            _ => Err(Invalid::new(wrong)),
        }
    }
}

/// The id in the field `project`, or `None` if the field is omitted.
fn project(fields: &Fields) -> Result<Option<ProjectId>, Invalid> {
    let wrong = "project must be the id of a project, 16 hex digits";
    let text = fields.text("project", wrong)?;
    text.map(|text| ProjectId::parse(text).ok_or_else(|| Invalid::new(wrong))).transpose()
}

fn random(fields: &Fields) -> Result<RandomTrack, Invalid> {
    let seed = fields.whole_within("seed", 0, MAX_SEED)?.unwrap_or(0);
    let options = match fields.get("options") {
        None => Fields::default(),
        Some(Value::Object(map)) => Fields::from(map.clone()),
        Some(_) => return Err(Invalid::new("options must be an object")),
    };
    let field = match options.get("field") {
        None => None,
        Some(Value::Array(sides)) => match sides.iter().map(Value::as_f64).collect::<Vec<_>>()[..] {
            [Some(width), Some(height)] => Some([width, height]),
            _ => return Err(Invalid::new("options.field must be a list of two numbers")),
        },
        Some(_) => return Err(Invalid::new("options.field must be a list of two numbers")),
    };
    Ok(RandomTrack {
        seed,
        field,
        width: options.number_within("width", 0.2, 3.0)?,
        tightness: options.number_within("tightness", 0.0, 1.0)?,
        length: options.number_within("length", 1.0, 900.0)?,
    })
}

fn document(fields: &Fields) -> Result<Value, Invalid> {
    match fields.get("document") {
        Some(document @ Value::Object(_)) => Ok(document.clone()),
        _ => Err(Invalid::new("document must be a project document, which is an object")),
    }
}

/// Request body of `PUT /builder/projects/<id>`.
#[derive(Debug, Clone, PartialEq, ToSchema)]
#[schema(as = SaveProject)]
pub struct SaveProjectBody {
    /// The revision that the change is based on. If it is no longer the current revision, the
    /// server refuses the change.
    #[schema(minimum = 1)]
    pub revision: u64,
    /// The whole document.
    #[schema(value_type = Object)]
    pub document: Value,
    /// Name of the editor. The event `revision` of the project contains this name.
    #[schema(max_length = 64)]
    pub editor: Option<String>,
}

/// Parsed form of [`SaveProjectBody`].
#[derive(Debug, Clone, PartialEq)]
pub struct SaveProject {
    /// The revision that the change is based on.
    pub revision: u64,
    /// The whole document.
    pub document: Value,
    /// Name of the editor.
    pub editor: Option<String>,
}

impl Body for SaveProject {
    fn parse(fields: &Fields) -> Result<SaveProject, Invalid> {
        let revision = fields.whole_within("revision", 1, MAX_SEED)?;
        let revision =
            revision.ok_or_else(|| Invalid::new("revision is missing: send that of the project"))?;
        let wrong = format!("editor must be a text of at most {MAX_EDITOR} characters");
        let editor = fields.text("editor", &wrong)?;
        if editor.is_some_and(|editor| editor.chars().count() > MAX_EDITOR) {
            return Err(Invalid(wrong));
        }
        Ok(SaveProject { revision, document: document(fields)?, editor: editor.map(str::to_owned) })
    }
}

/// Request body of `POST /builder/preview`.
#[derive(Debug, Clone, PartialEq, ToSchema)]
#[schema(as = PreviewRequest)]
pub struct PreviewRequestBody {
    /// The document.
    #[schema(value_type = Object)]
    pub document: Value,
    /// Id of the project whose files belong to the document. If omitted, files are not checked.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    pub project: Option<String>,
}

/// Parsed form of [`PreviewRequestBody`].
#[derive(Debug, Clone, PartialEq)]
pub struct PreviewRequest {
    /// The document.
    pub document: Value,
    /// The project whose files belong to the document.
    pub project: Option<ProjectId>,
}

impl Body for PreviewRequest {
    fn parse(fields: &Fields) -> Result<PreviewRequest, Invalid> {
        Ok(PreviewRequest { document: document(fields)?, project: project(fields)? })
    }
}

/// Request body of `POST /builder/script/check`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(as = ScriptCheckRequest)]
pub struct ScriptCheckRequestBody {
    /// The judging script, at most 256 KiB.
    pub script: String,
}

/// Parsed form of [`ScriptCheckRequestBody`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptCheckRequest {
    /// The judging script.
    pub script: String,
}

impl Body for ScriptCheckRequest {
    fn parse(fields: &Fields) -> Result<ScriptCheckRequest, Invalid> {
        let wrong = "script must be a text of at most 256 KiB without NUL";
        let script = fields.text("script", wrong)?.ok_or_else(|| Invalid::new(wrong))?;
        if script.len() > MAX_SCRIPT_CHECK || script.contains('\0') {
            return Err(Invalid::new(wrong));
        }
        Ok(ScriptCheckRequest { script: script.to_owned() })
    }
}

/// Who may download a published world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorldAccess {
    /// Everyone. The world is listed.
    Public,
    /// Everyone who knows the id.
    Unlisted,
    /// Clients with the token of the CDN or the teacher's token.
    Private,
}

impl WorldAccess {
    fn parse(text: &str) -> Option<WorldAccess> {
        match text {
            "public" => Some(WorldAccess::Public),
            "unlisted" => Some(WorldAccess::Unlisted),
            "private" => Some(WorldAccess::Private),
            _ => None,
        }
    }
}

/// Request body of `POST /builder/projects/<id>/publish`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(as = PublishRequest)]
pub struct PublishRequestBody {
    /// Who may download the world; `unlisted` if omitted.
    pub access: Option<WorldAccess>,
    /// Display name of the world; the display name of the project if omitted.
    #[schema(min_length = 1, max_length = 100)]
    pub name: Option<String>,
}

/// Parsed form of [`PublishRequestBody`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishRequest {
    /// Who may download the world.
    pub access: WorldAccess,
    /// Display name of the world; `None` for the display name of the project.
    pub name: Option<String>,
}

impl Body for PublishRequest {
    fn parse(fields: &Fields) -> Result<PublishRequest, Invalid> {
        Ok(PublishRequest { access: access(fields)?.unwrap_or(WorldAccess::Unlisted), name: name(fields)? })
    }
}

/// Request body of `POST /builder/published/<world id>`. An omitted field keeps its value.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(as = ChangePublishedRequest)]
pub struct ChangePublishedRequestBody {
    /// Who may download the world.
    pub access: Option<WorldAccess>,
    /// Display name of the world.
    #[schema(min_length = 1, max_length = 100)]
    pub name: Option<String>,
}

/// Parsed form of [`ChangePublishedRequestBody`]. A field that is `None` stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePublishedRequest {
    /// Who may download the world.
    pub access: Option<WorldAccess>,
    /// Display name of the world.
    pub name: Option<String>,
}

impl Body for ChangePublishedRequest {
    fn parse(fields: &Fields) -> Result<ChangePublishedRequest, Invalid> {
        Ok(ChangePublishedRequest { access: access(fields)?, name: name(fields)? })
    }
}

fn access(fields: &Fields) -> Result<Option<WorldAccess>, Invalid> {
    let wrong = "access must be public, unlisted or private";
    let text = fields.text("access", wrong)?;
    text.map(|text| WorldAccess::parse(text).ok_or_else(|| Invalid::new(wrong))).transpose()
}

fn name(fields: &Fields) -> Result<Option<String>, Invalid> {
    let wrong = "name must be one line of 1 to 100 characters";
    let Some(name) = fields.text("name", wrong)?.map(str::trim) else { return Ok(None) };
    let fits = (1..=MAX_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fits { Ok(Some(name.to_owned())) } else { Err(Invalid::new(wrong)) }
}

/// The sheets of a print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub enum Paper {
    /// 210 × 297 mm.
    A4,
    /// 297 × 420 mm.
    A3,
    /// One sheet of the size of the print.
    #[serde(rename = "banner")]
    Banner,
}

impl Paper {
    /// Parses `A4`, `A3` or `banner`.
    pub fn parse(text: &str) -> Option<Paper> {
        match text {
            "A4" => Some(Paper::A4),
            "A3" => Some(Paper::A3),
            "banner" => Some(Paper::Banner),
            _ => None,
        }
    }
}

/// A part of the field, m. The origin is the lower left corner of the field.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct PrintArea {
    /// Left edge.
    pub x: f64,
    /// Lower edge.
    pub y: f64,
    /// Size along x.
    #[schema(exclusive_minimum = 0)]
    pub width: f64,
    /// Size along y.
    #[schema(exclusive_minimum = 0)]
    pub height: f64,
}

impl PrintArea {
    /// Checks the four numbers of an area; `None` if they are out of range.
    pub fn of([x, y, width, height]: [f64; 4]) -> Option<PrintArea> {
        let fits = x.abs() <= MAX_COORDINATE
            && y.abs() <= MAX_COORDINATE
            && (0.0..=MAX_COORDINATE).contains(&width)
            && (0.0..=MAX_COORDINATE).contains(&height)
            && width * height > 0.0;
        fits.then_some(PrintArea { x, y, width, height })
    }
}

/// Request body of `POST /builder/projects/<id>/print/size`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
#[schema(as = PrintRequest)]
pub struct PrintRequestBody {
    /// Pixels per inch; 150 if omitted.
    #[schema(minimum = 10, maximum = 600)]
    pub dpi: Option<u16>,
    /// The part of the field to print; the whole field if omitted.
    pub area: Option<PrintArea>,
    /// The sheets; `A4` if omitted.
    pub paper: Option<Paper>,
}

/// Parsed form of [`PrintRequestBody`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintRequest {
    /// Pixels per inch.
    pub dpi: u16,
    /// The part of the field to print; `None` for the whole field.
    pub area: Option<PrintArea>,
    /// The sheets.
    pub paper: Paper,
}

impl PrintRequest {
    /// Lowest resolution, pixels per inch.
    pub const MIN_DPI: u16 = 10;
    /// Highest resolution, pixels per inch.
    pub const MAX_DPI: u16 = 600;
    /// Resolution of a request without `dpi`, pixels per inch.
    pub const DEFAULT_DPI: u16 = 150;
}

impl Body for PrintRequest {
    fn parse(fields: &Fields) -> Result<PrintRequest, Invalid> {
        let (low, high) = (u64::from(PrintRequest::MIN_DPI), u64::from(PrintRequest::MAX_DPI));
        let dpi = fields.whole_within("dpi", low, high)?.map(|dpi| dpi as u16);
        let wrong_area = "area must have the numbers x, y, width and height in metres";
        let area = match fields.get("area") {
            None => None,
            Some(Value::Object(map)) => {
                let number = |name: &str| map.get(name).and_then(Value::as_f64);
                let numbers = ["x", "y", "width", "height"].map(number);
                let numbers =
                    numbers.iter().all(Option::is_some).then(|| numbers.map(Option::unwrap_or_default));
                Some(numbers.and_then(PrintArea::of).ok_or_else(|| Invalid::new(wrong_area))?)
            }
            Some(_) => return Err(Invalid::new(wrong_area)),
        };
        let wrong_paper = "paper must be A4, A3 or banner";
        let paper = match fields.text("paper", wrong_paper)? {
            None => Paper::A4,
            Some(text) => Paper::parse(text).ok_or_else(|| Invalid::new(wrong_paper))?,
        };
        Ok(PrintRequest { dpi: dpi.unwrap_or(PrintRequest::DEFAULT_DPI), area, paper })
    }
}

impl ChangePublishedRequest {
    /// Whether the request changes nothing.
    pub fn is_empty(&self) -> bool {
        self.access.is_none() && self.name.is_none()
    }

    /// Parses the id of the world in the path of the request.
    pub fn world(text: &str) -> Result<WorldId, Invalid> {
        WorldId::parse(text).ok_or_else(|| Invalid::new("a world id has 32 hex digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<T: Body>(body: &str) -> Result<T, String> {
        let fields = Fields::read(body.as_bytes()).map_err(|e| e.0)?;
        T::parse(&fields).map_err(|e| e.0)
    }

    #[test]
    fn a_project_is_made_from_one_of_five_sources() {
        let made = |body: &str| parse::<CreateProject>(body);
        assert_eq!(made(r#"{"from": "empty"}"#), Ok(CreateProject::Empty(None)));
        assert_eq!(
            made(r#"{"from": "world", "world": "oval"}"#),
            Ok(CreateProject::World("oval".to_owned()))
        );
        let random = made(r#"{"from": "random", "seed": 7, "options": {"field": [8, 6], "width": 0.5}}"#);
        let Ok(CreateProject::Random(random)) = random else { panic!("{random:?}") };
        assert_eq!((random.seed, random.field, random.width), (7, Some([8.0, 6.0]), Some(0.5)));
        for bad in [
            "{}",
            r#"{"from": "nothing"}"#,
            r#"{"from": 3}"#,
            r#"{"from": "world"}"#,
            r#"{"from": "document", "document": []}"#,
            r#"{"from": "project", "project": "../x"}"#,
            r#"{"from": "random", "seed": -1}"#,
            r#"{"from": "random", "options": []}"#,
            r#"{"from": "random", "options": {"field": [8]}}"#,
            r#"{"from": "random", "options": {"width": "wide"}}"#,
            r#"{"from": "empty", "name": "a b"}"#,
            r#"{"from": "empty", "seed": "x"}"#,
        ] {
            assert!(made(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn limits_of_texts_and_numbers_are_checked() {
        let save = |editor: usize| {
            let body = format!(r#"{{"revision": 1, "document": {{}}, "editor": "{}"}}"#, "é".repeat(editor));
            parse::<SaveProject>(&body)
        };
        assert!(save(64).is_ok() && save(65).is_err());
        assert!(parse::<SaveProject>(r#"{"document": {}}"#).is_err());
        let script = |length: usize| {
            parse::<ScriptCheckRequest>(&format!(r#"{{"script": "{}"}}"#, "x".repeat(length)))
        };
        assert!(script(256 << 10).is_ok() && script((256 << 10) + 1).is_err());
        let name = |name: &str| parse::<PublishRequest>(&format!(r#"{{"name": "{name}"}}"#));
        assert!(name("My world").is_ok() && name(" ").is_err() && name("a\\nb").is_err());
        assert!(name(&"x".repeat(101)).is_err());
        assert!(parse::<PublishRequest>(r#"{"access": "secret"}"#).is_err());
        let print = |body: &str| parse::<PrintRequest>(body);
        assert_eq!(print("{}").map(|p| (p.dpi, p.paper)), Ok((150, Paper::A4)));
        assert!(print(r#"{"dpi": 9}"#).is_err() && print(r#"{"paper": "A0"}"#).is_err());
        assert!(print(r#"{"area": {"x": 0, "y": 0, "width": 1, "height": 0}}"#).is_err());
        assert!(print(r#"{"area": {"x": 0, "y": 0, "width": 1, "height": 2}}"#).is_ok());
    }
}
