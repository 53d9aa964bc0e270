//! What a seed changes in a world.
//!
//! The crate `vary` parses the JSON of the field `vary`. [`VaryBody`] and its parts only describe
//! this JSON for the OpenAPI document.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a seed changed in a world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Variation {
    /// The seed.
    pub seed: u64,
    /// SHA-256 of the changes, hex. Equal changes have equal sums.
    pub sha256: String,
}

/// What a seed may change in a world. A pair of numbers is the smallest and the largest possible
/// value. An omitted field changes nothing, and seed 0 changes nothing.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
#[schema(as = Vary)]
pub struct VaryBody {
    /// The start pose of the car.
    pub start: Option<VaryStart>,
    /// The objects.
    pub objects: Option<VaryObjects>,
    /// The traffic lights.
    pub lights: Option<VaryLights>,
    /// Brightness of the picture at the start, within 0.2 to 2.
    pub brightness: Option<[f64; 2]>,
    /// Factor of the grip of the tyres, within 0.2 to 2.
    pub friction: Option<[f64; 2]>,
    /// Factor of the car's mass, within 0.5 to 2.
    pub mass: Option<[f64; 2]>,
    /// The noise of the sensors.
    pub noise: Option<VaryNoise>,
    /// Delay of the car's commands in simulated seconds, within 0 to 0.5.
    pub latency: Option<[f64; 2]>,
    /// Surfaces of the road, of which one is chosen.
    #[schema(min_items = 1, max_items = 4)]
    pub surface: Option<Vec<VarySurface>>,
}

/// How far the start pose may differ from the published one.
#[derive(Debug, Clone, Copy, PartialEq, Default, ToSchema)]
pub struct VaryStart {
    /// Shift along the road in metres, within -10 to 10; positive is forward.
    pub along: Option<[f64; 2]>,
    /// Shift across the road in metres, within -1 to 1; positive is left. The car stays on the
    /// road.
    pub across: Option<[f64; 2]>,
    /// Turn of the car in rad, within -3.15 to 3.15; positive is left.
    pub yaw: Option<[f64; 2]>,
}

/// What changes about the objects.
#[derive(Debug, Clone, Copy, PartialEq, Default, ToSchema)]
pub struct VaryObjects {
    /// Largest distance by which an object that can be pushed is moved, m.
    #[schema(minimum = 0, maximum = 1)]
    pub jitter: Option<f64>,
    /// Largest angle by which an object that can be pushed is turned, rad.
    #[schema(minimum = 0, maximum = 3.15)]
    pub turn: Option<f64>,
    /// Number of additional objects beside the road, within 0 to 50.
    pub scatter: Option<[u32; 2]>,
}

/// What changes about the traffic lights.
#[derive(Debug, Clone, Copy, PartialEq, Default, ToSchema)]
pub struct VaryLights {
    /// Simulated seconds for which a light is red at the start, within 0 to 60. Every light gets a
    /// time of its own, and turns green afterwards.
    pub phase: Option<[f64; 2]>,
}

/// Factors of the sensors' noise, each within 0 to 10.
#[derive(Debug, Clone, Copy, PartialEq, Default, ToSchema)]
pub struct VaryNoise {
    /// Range noise of the lidar.
    pub lidar: Option<[f64; 2]>,
    /// Noise of gyro and accelerometer.
    pub imu: Option<[f64; 2]>,
    /// Pixel noise of the camera.
    pub camera: Option<[f64; 2]>,
}

/// A surface of the road, with its grip and its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VarySurface {
    /// As published.
    Dry,
    /// 0.85 times the grip, a darker road.
    Damp,
    /// 0.75 times the grip, a yellowish road.
    Dusty,
    /// 0.65 times the grip, a dark road.
    Wet,
}

#[cfg(test)]
mod tests {
    use super::*;
    use utoipa::PartialSchema;

    /// Names of the fields of a schema, sorted.
    fn fields<T: PartialSchema>() -> Vec<String> {
        let schema = serde_json::to_value(T::schema()).expect("a schema");
        schema["properties"].as_object().expect("an object").keys().cloned().collect()
    }

    #[test]
    fn the_schema_has_the_fields_of_the_document() {
        let described = [
            fields::<VaryBody>(),
            fields::<VaryStart>(),
            fields::<VaryObjects>(),
            fields::<VaryLights>(),
            fields::<VaryNoise>(),
        ];
        for ((group, names), described) in chicane_vary::FIELDS.into_iter().zip(described) {
            let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            names.sort();
            assert_eq!(described, names, "{group}");
        }
        let schema = serde_json::to_value(VarySurface::schema()).expect("a schema");
        let names = chicane_vary::Surface::ALL.map(chicane_vary::Surface::name);
        let values: Vec<&str> = match schema["enum"].as_array() {
            Some(values) => values.iter().filter_map(|v| v.as_str()).collect(),
            None => schema["oneOf"]
                .as_array()
                .expect("variants")
                .iter()
                .filter_map(|v| v["enum"][0].as_str().or(v["const"].as_str()))
                .collect(),
        };
        assert_eq!(values, names);
    }
}
