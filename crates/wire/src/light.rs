//! Traffic lights.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Colour that a traffic light shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LightState {
    /// Stop.
    Red,
    /// About to turn red.
    Yellow,
    /// Drive.
    Green,
}

/// A traffic light.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Light {
    /// Name of the light.
    #[schema(value_type = String)]
    pub name: std::sync::Arc<str>,
    /// X coordinate, m.
    pub x: Num,
    /// Y coordinate, m.
    pub y: Num,
    /// Yaw, rad.
    pub yaw: Num,
    /// Colour that the light shows.
    pub state: LightState,
    /// Always true: every light is part of the world.
    pub builtin: bool,
    /// The light's screen, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<Panel>,
    /// Simulated seconds until the light turns red; only present while it is yellow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yellow_left: Option<Num>,
}

/// The screen of a light in the light's frame, for viewers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Panel {
    /// Forward offset of the screen's centre from the light's origin, m.
    pub px: Num,
    /// Height of the screen's centre above the light's origin, m.
    pub pz: Num,
    /// Pitch of the screen, rad.
    pub pitch: Num,
    /// Radius of the yellow disc, m.
    pub lamp_r: Num,
}

/// Response of `GET /traffic_lights`: the lights, sorted by name.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = TrafficLights)]
pub struct Lights {
    /// Name of the world.
    #[schema(value_type = String)]
    pub world: std::sync::Arc<str>,
    /// The lights.
    pub lights: Vec<Light>,
}

/// Response of `POST /traffic_lights/<name>`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LightChanged {
    /// Always true.
    pub ok: bool,
    /// The light after the change.
    pub light: Light,
}

/// Request body of `POST /traffic_lights/<name>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
pub struct LightRequest {
    /// Colour to show.
    #[schema(value_type = RedOrGreen)]
    pub state: RedOrGreen,
}

/// Colour that a request can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RedOrGreen {
    /// Stop.
    Red,
    /// Drive.
    Green,
}

impl LightRequest {
    /// Whether the request is for red.
    pub fn is_red(&self) -> bool {
        self.state == RedOrGreen::Red
    }
}

impl Body for LightRequest {
    fn parse(fields: &Fields) -> Result<LightRequest, Invalid> {
        let wrong = "state must be one of red, green";
        match fields.text("state", wrong)? {
            Some("red") => Ok(LightRequest { state: RedOrGreen::Red }),
            Some("green") => Ok(LightRequest { state: RedOrGreen::Green }),
            _ => Err(Invalid::new(wrong)),
        }
    }
}
