//! Reading a project document: every number in range, every name known, every list bounded.

use super::fields as f;
use super::json::{At, Fields, ReadError};
use super::{
    Body, CentreLine, Colour, Decal, Direction, Evaluation, Fence, Field, FileName, Ground, Kind, Node,
    Object, OuterLine, Project, Script, Track, WorldName,
};
use serde_json::Value;
use std::f64::consts::TAU;

/// Bytes of the document.
pub const MAX_JSON: usize = 4 << 20;
const MAX_NODES: usize = 500;
const MAX_OBJECTS: usize = 1_000;
const MAX_DECALS: usize = 200;
/// Coordinates; fields are smaller, but a drag may lead out of one.
const FAR: f64 = 200.0;
const TURN: f64 = 6.3;
const BLUE: Colour = Colour([0x29, 0x54, 0x8c]);
/// Box: size of the one that ships.
const BOX_SIZE: [f64; 3] = [0.3, 0.2, 0.2];
/// Cylinder: 29.7 cm around, a sheet of paper rolled up.
const CYLINDER_RADIUS: f64 = 0.297 / TAU;
/// Cylinder: metres.
const CYLINDER_HEIGHT: f64 = 0.21;
/// Sphere: metres.
const SPHERE_RADIUS: f64 = 0.11;
/// Cone: side of its base.
const CONE_BASE: f64 = 0.135;
/// Cone: metres.
const CONE_HEIGHT: f64 = 0.23;
/// Light: width of its screen.
const LIGHT_WIDTH: f64 = 0.18;
/// Light: it leans back by 15 degrees.
const LIGHT_TILT: f64 = TAU / 24.0;

impl Project {
    /// Reads a project document.
    pub fn read(bytes: &[u8]) -> Result<Project, ReadError> {
        let refuse = |message: String| ReadError { path: "the project".to_owned(), message };
        if bytes.len() > MAX_JSON {
            return Err(refuse(format!("is larger than {} MiB", MAX_JSON >> 20)));
        }
        let value: Value = serde_json::from_slice(bytes).map_err(|e| refuse(format!("is not JSON: {e}")))?;
        project(&At::root(&value))
    }
}

fn project(at: &At<'_>) -> Result<Project, ReadError> {
    // Another version has other fields: it is looked at first.
    let version = at.peek("version", "1")?;
    if version.number(1.0, 1.0).is_err() {
        return Err(version.wrong("must be 1: this program reads no other"));
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
    read: fn(&At<'_>) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    fields.get(key).map_or(Ok(Vec::new()), |at| at.list(0, most)?.iter().map(read).collect())
}

fn field(at: &At<'_>) -> Result<Field, ReadError> {
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

fn fence(at: &At<'_>) -> Result<Fence, ReadError> {
    let p = at.fields(f::FENCE)?;
    Ok(Fence { height: p.number_or("height", 0.25, 0.2, 1.0)?, colour: colour(&p)?.unwrap_or(BLUE) })
}

fn track(at: &At<'_>) -> Result<Track, ReadError> {
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

fn node(at: &At<'_>) -> Result<Node, ReadError> {
    let p = at.fields(f::NODE)?;
    let width = p.get("width").map(|at| at.number(0.2, 5.0)).transpose()?;
    Ok(Node { x: p.number("x", -FAR, FAR)?, y: p.number("y", -FAR, FAR)?, width })
}

fn centre_line(at: &At<'_>) -> Result<CentreLine, ReadError> {
    let p = at.fields(f::CENTRE_LINE)?;
    Ok(CentreLine {
        width: p.number_or("width", 0.02, 0.005, 0.2)?,
        dash: p.number_or("dash", 0.2, 0.02, 10.0)?,
        gap: p.number_or("gap", 0.2, 0.0, 10.0)?,
        colour: colour(&p)?,
    })
}

fn decal(at: &At<'_>) -> Result<Decal, ReadError> {
    let p = at.fields(f::DECAL)?;
    Ok(Decal {
        picture: file(&p.need("picture")?)?,
        x: p.number("x", -FAR, FAR)?,
        y: p.number("y", -FAR, FAR)?,
        yaw: p.number_or("yaw", 0.0, -TURN, TURN)?,
        width: p.number("width", 0.01, 100.0)?,
        height: p.number("height", 0.01, 100.0)?,
    })
}

fn object(at: &At<'_>) -> Result<Object, ReadError> {
    let kind = at.peek("kind", "\"box\", or what else it is")?;
    let read = kind.word::<fn(&At<'_>) -> Result<(Kind, f::Part), ReadError>>(&[
        ("box", a_box),
        ("cylinder", a_cylinder),
        ("sphere", a_sphere),
        ("cone", a_cone),
        ("light", a_light),
    ])?;
    let (kind, part) = read(at)?;
    let p = at.fields(part)?;
    Ok(Object {
        name: p.need("name")?.text(64)?.to_owned(),
        x: p.number("x", -FAR, FAR)?,
        y: p.number("y", -FAR, FAR)?,
        yaw: p.number_or("yaw", 0.0, -TURN, TURN)?,
        kind,
    })
}

fn a_box(at: &At<'_>) -> Result<(Kind, f::Part), ReadError> {
    let p = at.fields(f::BOX)?;
    let size = p.get("size").map_or(Ok(BOX_SIZE), |at| at.numbers(0.01, 10.0))?;
    Ok((Kind::Box { size, body: body(&p, 0.5)?, faces: textures(&p, f::BOX_TEXTURES)? }, f::BOX))
}

fn a_cylinder(at: &At<'_>) -> Result<(Kind, f::Part), ReadError> {
    let p = at.fields(f::CYLINDER)?;
    let kind = Kind::Cylinder {
        radius: p.number_or("radius", CYLINDER_RADIUS, 0.005, 5.0)?,
        height: p.number_or("height", CYLINDER_HEIGHT, 0.01, 10.0)?,
        body: body(&p, 0.3)?,
        faces: textures(&p, f::CYLINDER_TEXTURES)?,
    };
    Ok((kind, f::CYLINDER))
}

fn a_sphere(at: &At<'_>) -> Result<(Kind, f::Part), ReadError> {
    let p = at.fields(f::SPHERE)?;
    let radius = p.number_or("radius", SPHERE_RADIUS, 0.005, 5.0)?;
    let [surface] = textures(&p, f::SPHERE_TEXTURES)?;
    Ok((Kind::Sphere { radius, body: body(&p, 0.2)?, surface }, f::SPHERE))
}

fn a_cone(at: &At<'_>) -> Result<(Kind, f::Part), ReadError> {
    let p = at.fields(f::CONE)?;
    let [side] = textures(&p, f::CONE_TEXTURES)?;
    let kind = Kind::Cone {
        base: p.number_or("base", CONE_BASE, 0.01, 5.0)?,
        height: p.number_or("height", CONE_HEIGHT, 0.01, 10.0)?,
        body: body(&p, 0.25)?,
        side,
    };
    Ok((kind, f::CONE))
}

fn a_light(at: &At<'_>) -> Result<(Kind, f::Part), ReadError> {
    let p = at.fields(f::LIGHT)?;
    let width = p.number_or("width", LIGHT_WIDTH, 0.05, 2.0)?;
    Ok((Kind::Light { width, tilt: p.number_or("tilt", LIGHT_TILT, 0.0, 0.8)? }, f::LIGHT))
}

fn body(p: &Fields<'_>, mass: f64) -> Result<Body, ReadError> {
    let mass = p.number_or("mass", mass, 0.01, 1000.0)?;
    Ok(Body { mass, is_static: p.flag_or("static", false)?, colour: colour(p)? })
}

fn textures<const N: usize>(p: &Fields<'_>, part: f::Part) -> Result<[Option<FileName>; N], ReadError> {
    let mut found = [const { None }; N];
    if let Some(at) = p.get("textures") {
        let textures = at.fields(part)?;
        for (slot, key) in found.iter_mut().zip(part.1) {
            *slot = textures.get(key).map(|at| file(&at)).transpose()?;
        }
    }
    Ok(found)
}

fn evaluation(at: &At<'_>) -> Result<Evaluation, ReadError> {
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
    Ok(Evaluation { description, lower_is_better, time_limit_s, robot, script })
}

fn colour(p: &Fields<'_>) -> Result<Option<Colour>, ReadError> {
    p.parse("colour", Colour::RULE, Colour::parse)
}

fn file(at: &At<'_>) -> Result<FileName, ReadError> {
    at.parse(FileName::RULE, FileName::parse)
}
