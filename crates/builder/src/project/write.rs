//! Writes a project document. Numbers are written even if they have the default value. An optional
//! part that is `None` is omitted.

use super::document::{
    Decal, Direction, Evaluation, Ground, Node, Object, ObjectShape, ObstacleBody, Project, Script, Track,
};
use super::fields as f;
use super::names::{Colour, FileName};
use serde_json::{Map, Value, json};

impl Project {
    /// The document, indented by two spaces per level, with a newline at the end. Reading the
    /// document gives the same project.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.to_value()).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The document as a JSON value.
    pub fn to_value(&self) -> Value {
        let ground = match &self.field.ground {
            Ground::Carpet => json!("carpet"),
            Ground::Grass => json!("grass"),
            Ground::Picture(file) => json!({ "picture": file.as_str() }),
        };
        let mut p = json!({
            "version": 1,
            "name": self.name.as_str(),
            "display_name": self.display_name,
            "field": { "size": self.field.size, "ground": ground },
            "track": track(&self.track),
            "decals": self.decals.iter().map(decal).collect::<Vec<_>>(),
            "objects": self.objects.iter().map(object).collect::<Vec<_>>(),
        });
        if let Some(fence) = &self.fence {
            p["fence"] = json!({ "height": fence.height, "colour": fence.colour.to_string() });
        }
        if let Some(evaluation) = &self.evaluation {
            p["evaluation"] = evaluation_value(evaluation);
        }
        p
    }
}

fn track(t: &Track) -> Value {
    let mut outer = json!({ "width": t.outer_line.width });
    write_colour(&mut outer, t.outer_line.colour);
    let direction = match t.direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
    };
    let mut value = json!({
        "closed": t.closed,
        "width": t.width,
        "nodes": t.nodes.iter().map(node).collect::<Vec<_>>(),
        "direction": direction,
        "start": t.start,
        "outer_line": outer,
        "start_line": t.start_line,
    });
    if let Some(line) = &t.centre_line {
        let mut centre = json!({ "width": line.width, "dash": line.dash, "gap": line.gap });
        write_colour(&mut centre, line.colour);
        value["centre_line"] = centre;
    }
    value
}

fn node(n: &Node) -> Value {
    match n.width {
        Some(width) => json!({ "x": n.x, "y": n.y, "width": width }),
        None => json!({ "x": n.x, "y": n.y }),
    }
}

fn decal(d: &Decal) -> Value {
    json!({
        "picture": d.picture.as_str(),
        "x": d.x, "y": d.y, "yaw": d.yaw, "width": d.width, "height": d.height,
    })
}

fn object(o: &Object) -> Value {
    let mut value = json!({ "kind": o.kind.name(), "name": o.name, "x": o.x, "y": o.y, "yaw": o.yaw });
    if let Some(group) = &o.group {
        value["group"] = json!(group);
    }
    match &o.kind {
        ObjectShape::Box { size, body, faces } => {
            value["size"] = json!(size);
            write_appearance(&mut value, body, f::BOX_TEXTURES, faces);
        }
        ObjectShape::Cylinder { radius, height, body, faces } => {
            value["radius"] = json!(radius);
            value["height"] = json!(height);
            write_appearance(&mut value, body, f::CYLINDER_TEXTURES, faces);
        }
        ObjectShape::Sphere { radius, body, surface } => {
            value["radius"] = json!(radius);
            write_appearance(&mut value, body, f::SPHERE_TEXTURES, std::slice::from_ref(surface));
        }
        ObjectShape::Cone { base, height, body, side } => {
            value["base"] = json!(base);
            value["height"] = json!(height);
            write_appearance(&mut value, body, f::CONE_TEXTURES, std::slice::from_ref(side));
        }
        ObjectShape::Light { width, tilt } => {
            value["width"] = json!(width);
            value["tilt"] = json!(tilt);
        }
    }
    value
}

fn write_appearance(
    value: &mut Value,
    body: &ObstacleBody,
    (_, names): f::FieldGroup,
    files: &[Option<FileName>],
) {
    value["mass"] = json!(body.mass);
    value["static"] = json!(body.is_static);
    write_colour(value, body.colour);
    let named =
        names.iter().zip(files).filter_map(|(n, f)| Some(((*n).to_owned(), json!(f.as_ref()?.as_str()))));
    let textures: Map<String, Value> = named.collect();
    if !textures.is_empty() {
        value["textures"] = Value::Object(textures);
    }
}

fn write_colour(value: &mut Value, colour: Option<Colour>) {
    if let Some(colour) = colour {
        value["colour"] = json!(colour.to_string());
    }
}

fn evaluation_value(e: &Evaluation) -> Value {
    let mut value = json!({ "config": config(e) });
    match &e.script {
        None => {}
        Some(Script::File(file)) => value["script"] = json!(file.as_str()),
        Some(Script::LapTime) => value["script"] = json!({ "template": "lap_time" }),
    }
    value
}

/// The settings of an evaluation as a JSON object. The object has the same fields as `config` in
/// the evaluation file of a bundle.
pub(crate) fn config(e: &Evaluation) -> Value {
    // A time limit in whole seconds is written as an integer.
    let whole = e.time_limit_s.fract() == 0.0 && e.time_limit_s.abs() < 1e15;
    let limit = if whole { json!(e.time_limit_s as i64) } else { json!(e.time_limit_s) };
    let mut config = json!({
        "description": e.description,
        "better": if e.lower_is_better { "lower" } else { "higher" },
        "time_limit_s": limit,
        "robot": e.robot,
    });
    if let Some(allow) = &e.allow {
        config["allow"] = json!(allow);
    }
    if !e.vary.is_empty() {
        config["vary"] = e.vary.to_json();
    }
    config
}
