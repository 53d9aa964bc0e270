//! Reads the document. Every error names the value and says which values are possible.

use crate::{Count, Noise, Objects, Range, Start, Surface, Vary};
use serde_json::{Map, Value};

/// The JSON objects of the document, and the names of their fields.
pub const FIELDS: [(&str, &[&str]); 5] = [VARY, START, OBJECTS, LIGHTS, NOISE];
const VARY: (&str, &[&str]) = (
    "vary",
    &["start", "objects", "lights", "brightness", "friction", "mass", "noise", "latency", "surface"],
);
const START: (&str, &[&str]) = ("vary_start", &["along", "across", "yaw"]);
const OBJECTS: (&str, &[&str]) = ("vary_objects", &["jitter", "turn", "scatter"]);
const LIGHTS: (&str, &[&str]) = ("vary_lights", &["phase"]);
const NOISE: (&str, &[&str]) = ("vary_noise", &["lidar", "imu", "camera"]);

/// Maximum number of additional objects.
const MAX_SCATTER: u32 = 50;
/// Maximum angle, rad: half a turn, rounded up to two decimals.
const HALF_TURN: f64 = 3.15;

/// The reason why a document was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("vary{}{path} {message}", if path.is_empty() { "" } else { "." })]
pub struct VaryError {
    /// Path of the value in the document, such as `start.along`; empty for the document itself.
    pub path: String,
    /// What the value must be.
    pub message: String,
}

impl Vary {
    /// Reads the document from JSON text.
    pub fn parse_json(text: &str) -> Result<Vary, VaryError> {
        let value: Value =
            serde_json::from_str(text).map_err(|e| refused("", format!("is not JSON: {e}")))?;
        Vary::parse(&value)
    }

    /// Reads the document. A field with the value `null` counts as omitted. Unknown fields are
    /// refused, because otherwise a misspelt field would have no effect, and the runs would not
    /// differ.
    pub fn parse(value: &Value) -> Result<Vary, VaryError> {
        let vary = Fields::of("", value, VARY.1)?;
        let start = vary.object("start", START.1)?;
        let objects = vary.object("objects", OBJECTS.1)?;
        let lights = vary.object("lights", LIGHTS.1)?;
        let noise = vary.object("noise", NOISE.1)?;
        Ok(Vary {
            start: Start {
                along: start.range("along", -10.0, 10.0)?,
                across: start.range("across", -1.0, 1.0)?,
                yaw: start.range("yaw", -HALF_TURN, HALF_TURN)?,
            },
            objects: Objects {
                jitter: objects.number("jitter", 1.0)?,
                turn: objects.number("turn", HALF_TURN)?,
                scatter: objects.count("scatter", MAX_SCATTER)?,
            },
            lights: lights.range("phase", 0.0, 60.0)?,
            brightness: vary.range("brightness", 0.2, 2.0)?,
            friction: vary.range("friction", 0.2, 2.0)?,
            mass: vary.range("mass", 0.5, 2.0)?,
            noise: Noise {
                lidar: noise.range("lidar", 0.0, 10.0)?,
                imu: noise.range("imu", 0.0, 10.0)?,
                camera: noise.range("camera", 0.0, 10.0)?,
            },
            latency: vary.range("latency", 0.0, 0.5)?,
            surface: vary.surfaces("surface")?,
        })
    }
}

/// A JSON object of the document. Its field names are all known. An object that is missing in the
/// document counts as an object without fields.
struct Fields<'a> {
    path: String,
    map: Option<&'a Map<String, Value>>,
}

impl<'a> Fields<'a> {
    fn of(path: &str, value: &'a Value, known: &[&str]) -> Result<Fields<'a>, VaryError> {
        let known_fields = known.join(", ");
        let map = value.as_object();
        let map = map.ok_or_else(|| refused(path, format!("must be an object with {known_fields}")))?;
        if let Some(key) = map.keys().find(|key| !known.contains(&key.as_str())) {
            let shown: String = key.chars().take(40).collect();
            let message = format!("is not a known field; the known fields are {known_fields}");
            return Err(refused(&join(path, &shown), message));
        }
        Ok(Fields { path: path.to_owned(), map: Some(map) })
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.map?.get(key).filter(|value| !value.is_null())
    }

    fn refuse(&self, key: &str, message: String) -> VaryError {
        refused(&join(&self.path, key), message)
    }

    fn object(&self, key: &str, known: &[&str]) -> Result<Fields<'a>, VaryError> {
        let path = join(&self.path, key);
        self.get(key)
            .map_or(Ok(Fields { path: path.clone(), map: None }), |value| Fields::of(&path, value, known))
    }

    /// A number from 0 to `high`; 0 if it is missing.
    fn number(&self, key: &str, high: f64) -> Result<f64, VaryError> {
        let Some(value) = self.get(key) else { return Ok(0.0) };
        let wrong = || self.refuse(key, format!("must be a number from 0 to {high}"));
        value.as_f64().filter(|v| (0.0..=high).contains(v)).ok_or_else(wrong)
    }

    /// Bounds `[least, most]`, both from `low` to `high`; `None` if they are missing.
    fn range(&self, key: &str, low: f64, high: f64) -> Result<Option<Range>, VaryError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let within = |v: &Value| v.as_f64().filter(|v| (low..=high).contains(v));
        let pair = value.as_array().and_then(|list| match list.as_slice() {
            [least, most] => Some((within(least)?, within(most)?)),
            _ => None,
        });
        let wrong = || format!("must be [least, most] with numbers from {low} to {high}");
        let (least, most) = pair.ok_or_else(|| self.refuse(key, wrong()))?;
        if least > most {
            let message = format!("must have its smaller number first: [{most}, {least}]");
            return Err(self.refuse(key, message));
        }
        // Adding 0 converts −0 to 0. Otherwise −0 would be written with its sign.
        Ok(Some(Range { least: least + 0.0, most: most + 0.0 }))
    }

    /// Bounds `[least, most]` of a whole number from 0 to `high`; `None` if they are missing.
    fn count(&self, key: &str, high: u32) -> Result<Option<Count>, VaryError> {
        let wrong = || self.refuse(key, format!("must be [least, most] with whole numbers from 0 to {high}"));
        let range = self
            .range(key, 0.0, f64::from(high))
            .map_err(|error| if error.message.starts_with("must have") { error } else { wrong() })?;
        let Some(Range { least, most }) = range else { return Ok(None) };
        if least.fract() != 0.0 || most.fract() != 0.0 {
            return Err(wrong());
        }
        Ok(Some(Count { least: least as u32, most: most as u32 }))
    }

    fn surfaces(&self, key: &str) -> Result<Vec<Surface>, VaryError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let names = Surface::ALL.map(Surface::name).join(", ");
        let wrong = || self.refuse(key, format!("must be a list of 1 to 4 different names of {names}"));
        let list = value.as_array().filter(|list| !list.is_empty()).ok_or_else(wrong)?;
        let mut found: Vec<Surface> = Vec::new();
        for value in list {
            let surface = Surface::ALL.into_iter().find(|s| value.as_str() == Some(s.name()));
            found.push(surface.filter(|s| !found.contains(s)).ok_or_else(wrong)?);
        }
        Ok(found)
    }
}

fn refused(path: &str, message: String) -> VaryError {
    VaryError { path: path.to_owned(), message }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
