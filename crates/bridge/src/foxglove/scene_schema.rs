//! The JSON schema of `foxglove.SceneUpdate`.

use serde_json::{Map, Value, json};

/// Name of the message type. The viewer shows messages of this type in its 3D panel.
pub(super) const NAME: &str = "foxglove.SceneUpdate";

fn object(fields: &[(&str, Value)]) -> Value {
    let fields: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": fields})
}

fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

fn kind(name: &str) -> Value {
    json!({"type": name})
}

/// The schema.
pub(super) fn schema() -> Value {
    let (number, integer, flag, text) = (kind("number"), kind("integer"), kind("boolean"), kind("string"));
    let of_numbers = |names: &[&str]| {
        let fields: Vec<(&str, Value)> = names.iter().map(|name| (*name, kind("number"))).collect();
        object(&fields)
    };
    let time = object(&[("sec", integer.clone()), ("nsec", integer.clone())]);
    let vector = of_numbers(&["x", "y", "z"]);
    let color = of_numbers(&["r", "g", "b", "a"]);
    let rotation = of_numbers(&["x", "y", "z", "w"]);
    let pose = object(&[("position", vector.clone()), ("orientation", rotation)]);
    let (points, colors, indices) = (list(&vector), list(&color), list(&integer));
    let with_pose = |fields: &[(&str, &Value)]| {
        let mut all = vec![("pose", pose.clone()), ("color", color.clone())];
        all.extend(fields.iter().map(|(name, schema)| (*name, (*schema).clone())));
        list(&object(&all))
    };
    let block = with_pose(&[("size", &vector)]);
    let cylinder = with_pose(&[("size", &vector), ("bottom_scale", &number), ("top_scale", &number)]);
    let line = with_pose(&[
        ("type", &integer),
        ("thickness", &number),
        ("scale_invariant", &flag),
        ("points", &points),
        ("colors", &colors),
        ("indices", &indices),
    ]);
    let triangles = with_pose(&[("points", &points), ("colors", &colors), ("indices", &indices)]);
    let arrow = with_pose(&[
        ("shaft_length", &number),
        ("shaft_diameter", &number),
        ("head_length", &number),
        ("head_diameter", &number),
    ]);
    let label = with_pose(&[
        ("billboard", &flag),
        ("font_size", &number),
        ("scale_invariant", &flag),
        ("text", &text),
    ]);
    let bytes = json!({"type": "string", "contentEncoding": "base64"});
    let model = with_pose(&[
        ("scale", &vector),
        ("override_color", &flag),
        ("url", &text),
        ("media_type", &text),
        ("data", &bytes),
    ]);
    let metadata = list(&object(&[("key", text.clone()), ("value", text.clone())]));
    let entity = object(&[
        ("timestamp", time.clone()),
        ("frame_id", text.clone()),
        ("id", text.clone()),
        ("lifetime", time.clone()),
        ("frame_locked", flag),
        ("metadata", metadata),
        ("arrows", arrow),
        ("cubes", block.clone()),
        ("spheres", block),
        ("cylinders", cylinder),
        ("lines", line),
        ("triangles", triangles),
        ("texts", label),
        ("models", model),
    ]);
    let deletion = object(&[("timestamp", time), ("type", integer), ("id", text)]);
    let mut update = object(&[("deletions", list(&deletion)), ("entities", list(&entity))]);
    update["title"] = NAME.into();
    update
}
