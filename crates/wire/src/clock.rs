//! Reading, pausing and pacing the simulation clock.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Response of `GET /clock`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Clock {
    /// Simulated seconds since the world was loaded.
    pub sim_time: Num,
    /// Real seconds since the world was loaded. In virtual time equal to `sim_time`.
    pub real_time: Num,
    /// Measured real-time factor (simulated seconds per real second) over the last second; 0 while
    /// paused.
    pub rtf: Num,
    /// Whether the simulation is paused.
    pub paused: bool,
    /// Requested real-time factor; 0 means as fast as possible.
    pub speed: Num,
}

/// Response of `POST /clock`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct ClockChanged {
    /// Always true.
    pub ok: bool,
    /// The clock after the change.
    #[serde(flatten)]
    pub clock: Clock,
}

/// Request body of `POST /clock`.
#[derive(Debug, Clone, Copy, PartialEq, Default, ToSchema)]
pub struct ClockRequest {
    /// Whether to pause the simulation.
    pub paused: Option<bool>,
    /// Requested real-time factor: 0.05 to 100, or 0 for as fast as possible.
    #[schema(minimum = 0, maximum = 100)]
    pub speed: Option<f64>,
}

impl Body for ClockRequest {
    fn parse(fields: &Fields) -> Result<ClockRequest, Invalid> {
        let wrong = "speed must be a number from 0.05 to 100, or 0 for as fast as possible";
        let speed = fields.number("speed", wrong)?;
        if speed.is_some_and(|v| v != 0.0 && !(0.05..=100.0).contains(&v)) {
            return Err(Invalid::new(wrong));
        }
        Ok(ClockRequest { paused: fields.flag("paused")?, speed })
    }
}
