//! The document `vary` of an evaluation: what a seed may change in a world, with bounds for each
//! change.
//!
//! This crate has the types, the limits, the error texts and a description in words. The crate
//! knows no world and draws no random number: the crate `sim` computes what a seed changes in a
//! world.
//!
//! # Example
//!
//! ```
//! use chicane_vary::{Range, Vary};
//!
//! let vary = Vary::parse_json(r#"{"friction": [0.8, 1.1], "objects": {"scatter": [2, 5]}}"#)?;
//! assert_eq!(vary.friction, Some(Range { least: 0.8, most: 1.1 }));
//! assert_eq!(vary.lines(), ["objects beside the road: 2 to 5 more", "grip of the tyres: 0.8 to 1.1 times"]);
//!
//! let error = Vary::parse_json(r#"{"friction": [0.8, 11]}"#).unwrap_err();
//! assert_eq!(error.to_string(), "vary.friction must be [least, most] with numbers from 0.2 to 2");
//! # Ok::<(), chicane_vary::VaryError>(())
//! ```

mod lines;
mod parse;
mod write;

pub use parse::{FIELDS, VaryError};

/// What a seed may change. A part that is `None` or empty is not changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vary {
    /// The start pose of the car.
    pub start: Start,
    /// The objects.
    pub objects: Objects,
    /// Seconds for which a traffic light is red at the start, before it turns green. Every light
    /// gets a time of its own.
    pub lights: Option<Range>,
    /// Factor of the picture's brightness at the start.
    pub brightness: Option<Range>,
    /// Factor of the grip of the tyres.
    pub friction: Option<Range>,
    /// Factor of the car's mass.
    pub mass: Option<Range>,
    /// Factors of the sensors' noise.
    pub noise: Noise,
    /// Delay of the commands to the car, simulated seconds.
    pub latency: Option<Range>,
    /// The surfaces of the road, of which one is chosen. An empty list changes nothing.
    pub surface: Vec<Surface>,
}

/// How far the start pose may differ from the published one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Start {
    /// Along the road, m; positive is forward.
    pub along: Option<Range>,
    /// Across the road, m; positive is left.
    pub across: Option<Range>,
    /// Turn of the car, rad; positive is left.
    pub yaw: Option<Range>,
}

/// What a seed may change about the objects.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Objects {
    /// Largest distance by which an object that can be pushed is moved, m; 0 for none.
    pub jitter: f64,
    /// Largest angle by which an object that can be pushed is turned, rad; 0 for none.
    pub turn: f64,
    /// Number of additional objects beside the road.
    pub scatter: Option<Count>,
}

/// Factors of the sensors' noise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Noise {
    /// Range noise of the lidar.
    pub lidar: Option<Range>,
    /// Noise of gyro and accelerometer.
    pub imu: Option<Range>,
    /// Pixel noise of the camera.
    pub camera: Option<Range>,
}

/// Bounds of a number. Both ends are possible values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least value.
    pub least: f64,
    /// The greatest value; not less than `least`.
    pub most: f64,
}

/// Bounds of a whole number. Both ends are possible values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// The least value.
    pub least: u32,
    /// The greatest value; not less than `least`.
    pub most: u32,
}

/// A state of the road, with its grip and its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// The road as published.
    Dry,
    /// A little less grip, and a darker road.
    Damp,
    /// Less grip, and a yellowish road.
    Dusty,
    /// Much less grip, and a dark road.
    Wet,
}

impl Surface {
    /// All surfaces.
    pub const ALL: [Surface; 4] = [Surface::Dry, Surface::Damp, Surface::Dusty, Surface::Wet];

    /// The name in the document.
    pub fn name(self) -> &'static str {
        match self {
            Surface::Dry => "dry",
            Surface::Damp => "damp",
            Surface::Dusty => "dusty",
            Surface::Wet => "wet",
        }
    }

    /// Factor of the grip of the tyres.
    pub fn grip(self) -> f64 {
        match self {
            Surface::Dry => 1.0,
            Surface::Damp => 0.85,
            Surface::Dusty => 0.75,
            Surface::Wet => 0.65,
        }
    }

    /// The colour by which the colour of the road is multiplied, RGB 0..1.
    pub fn tint(self) -> [f32; 3] {
        match self {
            Surface::Dry => [1.0, 1.0, 1.0],
            Surface::Damp => [0.8, 0.8, 0.82],
            Surface::Dusty => [1.0, 0.93, 0.78],
            Surface::Wet => [0.6, 0.61, 0.65],
        }
    }
}

impl Vary {
    /// Whether every part is `None`, empty or 0, so that no seed changes anything.
    pub fn is_empty(&self) -> bool {
        *self == Vary::default()
    }
}
