//! Traffic lights.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// What a light shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LightState {
    /// Stop.
    Red,
    /// Turning red.
    Yellow,
    /// Drive.
    Green,
}

/// A traffic light.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Light {
    /// Name.
    #[schema(value_type = String)]
    pub name: std::sync::Arc<str>,
    /// Metres.
    pub x: Num,
    /// Metres.
    pub y: Num,
    /// Radians.
    pub yaw: Num,
    /// What it shows.
    pub state: LightState,
    /// Always true: lights come with the world.
    pub builtin: bool,
    /// The screen in the light's frame, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<Panel>,
    /// Simulated seconds until it is red, in the yellow phase only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yellow_left: Option<Num>,
}

/// The screen of a light, for viewers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Panel {
    /// Centre ahead of the light's origin, m.
    pub px: Num,
    /// Centre above the light's origin, m.
    pub pz: Num,
    /// Tilt, rad.
    pub pitch: Num,
    /// Radius of the yellow disc, m.
    pub lamp_r: Num,
}

/// Answer of `GET /traffic_lights`, by name.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = TrafficLights)]
pub struct Lights {
    /// Name of the world.
    #[schema(value_type = String)]
    pub world: std::sync::Arc<str>,
    /// The lights.
    pub lights: Vec<Light>,
}

/// Answer of `POST /traffic_lights/<name>`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LightChanged {
    /// Always true.
    pub ok: bool,
    /// The light now.
    pub light: Light,
}

/// Body of `POST /traffic_lights/<name>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
pub struct LightRequest {
    /// What to show.
    #[schema(value_type = RedOrGreen)]
    pub state: RedOrGreen,
}

/// What a light can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RedOrGreen {
    /// Stop.
    Red,
    /// Drive.
    Green,
}

impl LightRequest {
    /// Whether red is asked for.
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
