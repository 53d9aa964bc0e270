//! Reads a project document. The reader refuses numbers out of range, unknown names of fields, and
//! lists that are too long.

use super::document::{
    CentreLine, Decal, Direction, Evaluation, Fence, Field, Ground, Node, Object, ObjectShape, ObstacleBody,
    OuterLine, Project, Script, Track,
};
use super::fields as f;
use super::json::{Fields, PathValue, ReadError};
use super::names::{Colour, FileName, WorldName};
use serde_json::Value;
use std::f64::consts::TAU;

/// Maximum size of the document, bytes.
pub const MAX_JSON: usize = 4 << 20;
const MAX_NODES: usize = 500;
const MAX_OBJECTS: usize = 1_000;
const MAX_DECALS: usize = 200;
/// Maximum length of the name of a group of objects, in characters.
const MAX_GROUP: usize = 32;
/// Maximum absolute coordinate, m. This limit is larger than the largest field, because a user can
/// drag an object out of the field.
const MAX_COORDINATE: f64 = 200.0;
/// Maximum absolute angle, rad: slightly more than a full turn.
const MAX_ANGLE: f64 = 6.3;
/// Default colour of a fence.
const BLUE: Colour = Colour([0x29, 0x54, 0x8c]);
/// Default size of a box, m: the size of the standard mesh for boxes.
const BOX_SIZE: [f64; 3] = [0.3, 0.2, 0.2];
/// Default radius of a cylinder, m: an A4 sheet rolled up to a circumference of 29.7 cm.
const CYLINDER_RADIUS: f64 = 0.297 / TAU;
/// Default height of a cylinder, m.
const CYLINDER_HEIGHT: f64 = 0.21;
/// Default radius of a sphere, m.
const SPHERE_RADIUS: f64 = 0.11;
/// Default side length of a cone's base, m.
const CONE_BASE: f64 = 0.135;
/// Default height of a cone, m.
const CONE_HEIGHT: f64 = 0.23;
/// Default width of a light's screen, m.
const LIGHT_WIDTH: f64 = 0.18;
/// Default inclination of a light's screen, rad: 15 degrees.
const LIGHT_TILT: f64 = TAU / 24.0;

impl Project {
    /// Reads a project document.
    pub fn read(bytes: &[u8]) -> Result<Project, ReadError> {
        let refuse = |message: String| ReadError { path: "the project".to_owned(), message };
        if bytes.len() > MAX_JSON {
            return Err(refuse(format!("is larger than the maximum of {} MiB", MAX_JSON >> 20)));
        }
        let value: Value =
            serde_json::from_slice(bytes).map_err(|e| refuse(format!("is not valid JSON: {e}")))?;
        Project::from_value(&value)
    }

    /// Reads a project document that has already been parsed as JSON.
    pub fn from_value(value: &Value) -> Result<Project, ReadError> {
        project(&PathValue::root(value))
    }
}

fn project(at: &PathValue<'_>) -> Result<Project, ReadError> {
    // The version is checked first. A document of another version can have other fields, and an
    // error about an unknown field would hide the real reason.
    let version = at.peek("version", "1")?;
    if version.number(1.0, 1.0).is_err() {
        return Err(version.error("must be 1: this program supports no other version"));
    }
    let p = at.fields(f::PROJECT)?;
    let name = p.need("name")?.parse(WorldName::RULE, WorldName::parse)?;
    let display_name = match p.get("display_name") {
        Some(at) => at.text(100)?.to_owned(),
        None => name.as_str().to_owned(),
    };
    Ok(Project {
        name,
        display_name,
        field: field(&p.need("field")?)?,
        fence: p.get("fence").map(|at| fence(&at)).transpose()?,
        track: track(&p.need("track")?)?,
        decals: list(&p, "decals", MAX_DECALS, decal)?,
        objects: list(&p, "objects", MAX_OBJECTS, object)?,
        evaluation: p.get("evaluation").map(|at| evaluation(&at)).transpose()?,
    })
}

fn list<T>(
    fields: &Fields<'_>,
    key: &str,
    most: usize,
    read: fn(&PathValue<'_>) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    fields.get(key).map_or(Ok(Vec::new()), |at| at.list(0, most)?.iter().map(read).collect())
}

fn field(at: &PathValue<'_>) -> Result<Field, ReadError> {
    let p = at.fields(f::FIELD)?;
    let ground = match p.get("ground") {
        None => Ground::Carpet,
        Some(at) if at.is_text() => {
            let is_carpet = at.word(&[("carpet", true), ("grass", false)])?;
            if is_carpet { Ground::Carpet } else { Ground::Grass }
        }
        Some(at) => Ground::Picture(file(&at.fields(f::GROUND)?.need("picture")?)?),
    };
    Ok(Field { size: p.need("size")?.numbers(1.0, 100.0)?, ground })
}

fn fence(at: &PathValue<'_>) -> Result<Fence, ReadError> {
    let p = at.fields(f::FENCE)?;
    Ok(Fence { height: p.number_or("height", 0.25, 0.2, 1.0)?, colour: colour(&p)?.unwrap_or(BLUE) })
}

fn track(at: &PathValue<'_>) -> Result<Track, ReadError> {
    let p = at.fields(f::TRACK)?;
    let closed = p.flag_or("closed", true)?;
    let least = if closed { 3 } else { 2 };
    let nodes = p.need("nodes")?.list(least, MAX_NODES)?;
    let direction = match p.get("direction") {
        None => Direction::Forward,
        Some(at) => at.word(&[("forward", Direction::Forward), ("backward", Direction::Backward)])?,
    };
    let outer_line = match p.get("outer_line") {
        None => OuterLine { width: 0.03, colour: None },
        Some(at) => {
            let p = at.fields(f::OUTER_LINE)?;
            OuterLine { width: p.number_or("width", 0.03, 0.0, 0.2)?, colour: colour(&p)? }
        }
    };
    Ok(Track {
        closed,
        width: p.number_or("width", 0.7, 0.2, 5.0)?,
        nodes: nodes.iter().map(node).collect::<Result<_, _>>()?,
        direction,
        start: p.number_or("start", 0.0, 0.0, 10_000.0)?,
        outer_line,
        centre_line: p.get("centre_line").map(|at| centre_line(&at)).transpose()?,
        start_line: p.flag_or("start_line", true)?,
    })
}

fn node(at: &PathValue<'_>) -> Result<Node, ReadError> {
    let p = at.fields(f::NODE)?;
    let width = p.get("width").map(|at| at.number(0.2, 5.0)).transpose()?;
    Ok(Node {
        x: p.number("x", -MAX_COORDINATE, MAX_COORDINATE)?,
        y: p.number("y", -MAX_COORDINATE, MAX_COORDINATE)?,
        width,
    })
}

fn centre_line(at: &PathValue<'_>) -> Result<CentreLine, ReadError> {
    let p = at.fields(f::CENTRE_LINE)?;
    Ok(CentreLine {
        width: p.number_or("width", 0.02, 0.005, 0.2)?,
        dash: p.number_or("dash", 0.2, 0.02, 10.0)?,
        gap: p.number_or("gap", 0.2, 0.0, 10.0)?,
        colour: colour(&p)?,
    })
}

fn decal(at: &PathValue<'_>) -> Result<Decal, ReadError> {
    let p = at.fields(f::DECAL)?;
    Ok(Decal {
        picture: file(&p.need("picture")?)?,
        x: p.number("x", -MAX_COORDINATE, MAX_COORDINATE)?,
        y: p.number("y", -MAX_COORDINATE, MAX_COORDINATE)?,
        yaw: p.number_or("yaw", 0.0, -MAX_ANGLE, MAX_ANGLE)?,
        width: p.number("width", 0.01, 100.0)?,
        height: p.number("height", 0.01, 100.0)?,
    })
}

fn object(at: &PathValue<'_>) -> Result<Object, ReadError> {
    let kind = at.peek("kind", "\"box\" (or another kind)")?;
    let read = kind.word::<fn(&PathValue<'_>) -> Result<(ObjectShape, f::FieldGroup), ReadError>>(&[
        ("box", read_box),
        ("cylinder", read_cylinder),
        ("sphere", read_sphere),
        ("cone", read_cone),
        ("light", read_light),
    ])?;
    let (kind, part) = read(at)?;
    let p = at.fields(part)?;
    Ok(Object {
        name: p.need("name")?.text(64)?.to_owned(),
        x: p.number("x", -MAX_COORDINATE, MAX_COORDINATE)?,
        y: p.number("y", -MAX_COORDINATE, MAX_COORDINATE)?,
        yaw: p.number_or("yaw", 0.0, -MAX_ANGLE, MAX_ANGLE)?,
        group: p.parse("group", "a text of 1 to 32 characters of A-Z a-z 0-9 _", object_group)?,
        kind,
    })
}

fn object_group(text: &str) -> Option<String> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    ((1..=MAX_GROUP).contains(&text.len()) && text.bytes().all(is_plain)).then(|| text.to_owned())
}

fn read_box(at: &PathValue<'_>) -> Result<(ObjectShape, f::FieldGroup), ReadError> {
    let p = at.fields(f::BOX)?;
    let size = p.get("size").map_or(Ok(BOX_SIZE), |at| at.numbers(0.01, 10.0))?;
    Ok((ObjectShape::Box { size, body: body(&p, 0.5)?, faces: textures(&p, f::BOX_TEXTURES)? }, f::BOX))
}

fn read_cylinder(at: &PathValue<'_>) -> Result<(ObjectShape, f::FieldGroup), ReadError> {
    let p = at.fields(f::CYLINDER)?;
    let kind = ObjectShape::Cylinder {
        radius: p.number_or("radius", CYLINDER_RADIUS, 0.005, 5.0)?,
        height: p.number_or("height", CYLINDER_HEIGHT, 0.01, 10.0)?,
        body: body(&p, 0.3)?,
        faces: textures(&p, f::CYLINDER_TEXTURES)?,
    };
    Ok((kind, f::CYLINDER))
}

fn read_sphere(at: &PathValue<'_>) -> Result<(ObjectShape, f::FieldGroup), ReadError> {
    let p = at.fields(f::SPHERE)?;
    let radius = p.number_or("radius", SPHERE_RADIUS, 0.005, 5.0)?;
    let [surface] = textures(&p, f::SPHERE_TEXTURES)?;
    Ok((ObjectShape::Sphere { radius, body: body(&p, 0.2)?, surface }, f::SPHERE))
}

fn read_cone(at: &PathValue<'_>) -> Result<(ObjectShape, f::FieldGroup), ReadError> {
    let p = at.fields(f::CONE)?;
    let [side] = textures(&p, f::CONE_TEXTURES)?;
    let kind = ObjectShape::Cone {
        base: p.number_or("base", CONE_BASE, 0.01, 5.0)?,
        height: p.number_or("height", CONE_HEIGHT, 0.01, 10.0)?,
        body: body(&p, 0.25)?,
        side,
    };
    Ok((kind, f::CONE))
}

fn read_light(at: &PathValue<'_>) -> Result<(ObjectShape, f::FieldGroup), ReadError> {
    let p = at.fields(f::LIGHT)?;
    let width = p.number_or("width", LIGHT_WIDTH, 0.05, 2.0)?;
    Ok((ObjectShape::Light { width, tilt: p.number_or("tilt", LIGHT_TILT, 0.0, 0.8)? }, f::LIGHT))
}

fn body(p: &Fields<'_>, mass: f64) -> Result<ObstacleBody, ReadError> {
    let mass = p.number_or("mass", mass, 0.01, 1000.0)?;
    Ok(ObstacleBody { mass, is_static: p.flag_or("static", false)?, colour: colour(p)? })
}

fn textures<const N: usize>(p: &Fields<'_>, part: f::FieldGroup) -> Result<[Option<FileName>; N], ReadError> {
    let mut found = [const { None }; N];
    if let Some(at) = p.get("textures") {
        let textures = at.fields(part)?;
        for (slot, key) in found.iter_mut().zip(part.1) {
            *slot = textures.get(key).map(|at| file(&at)).transpose()?;
        }
    }
    Ok(found)
}

/// Names of the groups of HTTP paths that an evaluation can allow a judged program to use.
const PATH_GROUPS: [(&str, &str); 3] = [("state", "state"), ("step", "step"), ("world", "world")];

fn path_group(at: &PathValue<'_>) -> Result<String, ReadError> {
    at.word(&PATH_GROUPS).map(str::to_owned)
}

fn evaluation(at: &PathValue<'_>) -> Result<Evaluation, ReadError> {
    let p = at.fields(f::EVALUATION)?;
    let config = p.need("config")?.fields(f::CONFIG)?;
    let description = config.get("description").map_or(Ok(""), |at| at.paragraphs(2_000))?.to_owned();
    let robot = config.get("robot").map_or(Ok("gen1"), |at| at.text(64))?.to_owned();
    let lower_is_better = match config.get("better") {
        None => true,
        Some(at) => at.word(&[("lower", true), ("higher", false)])?,
    };
    let script = match p.get("script") {
        None => None,
        Some(at) if at.is_text() => Some(Script::File(file(&at)?)),
        Some(at) => {
            at.fields(f::TEMPLATE)?.need("template")?.word(&[("lap_time", ())])?;
            Some(Script::LapTime)
        }
    };
    let time_limit_s = config.number_or("time_limit_s", 180.0, 1.0, 3600.0)?;
    let allow = match config.get("allow") {
        None => None,
        Some(at) => Some(at.list(0, PATH_GROUPS.len())?.iter().map(path_group).collect::<Result<_, _>>()?),
    };
    let vary = config.get("vary").map(|at| at.vary()).transpose()?.unwrap_or_default();
    Ok(Evaluation { description, lower_is_better, time_limit_s, robot, allow, vary, script })
}

fn colour(p: &Fields<'_>) -> Result<Option<Colour>, ReadError> {
    p.parse("colour", Colour::RULE, Colour::parse)
}

fn file(at: &PathValue<'_>) -> Result<FileName, ReadError> {
    at.parse(FileName::RULE, FileName::parse)
}
