//! Writes the document.

use crate::{Count, Noise, Objects, Range, Start, Surface, Vary};
use serde_json::{Map, Value, json};

impl Vary {
    /// The document as JSON. Parts that change nothing are left out.
    pub fn to_json(&self) -> Value {
        let Start { along, across, yaw } = self.start;
        let Objects { jitter, turn, scatter } = self.objects;
        let Noise { lidar, imu, camera } = self.noise;
        let positive = |value: f64| (value > 0.0).then(|| number(value));
        let surface: Vec<&str> = self.surface.iter().map(|surface: &Surface| surface.name()).collect();
        let fields = [
            ("start", object([("along", pair(along)), ("across", pair(across)), ("yaw", pair(yaw))])),
            (
                "objects",
                object([("jitter", positive(jitter)), ("turn", positive(turn)), ("scatter", count(scatter))]),
            ),
            ("lights", object([("phase", pair(self.lights))])),
            ("brightness", pair(self.brightness)),
            ("friction", pair(self.friction)),
            ("mass", pair(self.mass)),
            ("noise", object([("lidar", pair(lidar)), ("imu", pair(imu)), ("camera", pair(camera))])),
            ("latency", pair(self.latency)),
            ("surface", (!surface.is_empty()).then(|| json!(surface))),
        ];
        object(fields).unwrap_or_else(|| json!({}))
    }
}

/// A JSON object of the fields that are given; `None` if there are none.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Option<Value> {
    let given = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    let map: Map<String, Value> = given.collect();
    (!map.is_empty()).then_some(Value::Object(map))
}

fn pair(range: Option<Range>) -> Option<Value> {
    range.map(|Range { least, most }| json!([number(least), number(most)]))
}

fn count(count: Option<Count>) -> Option<Value> {
    count.map(|Count { least, most }| json!([least, most]))
}

/// A whole number is written as an integer.
fn number(value: f64) -> Value {
    // All numbers of the document are far within the range of `i64`, so this conversion is exact.
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}
