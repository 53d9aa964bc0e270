//! What the robot is asked for.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Body of `POST /speed`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct SpeedRequest {
    /// m/s, + is ahead. Out of the car's limits it is clamped.
    pub value: f64,
    /// Simulated seconds to hold it; answered at their end. One second, answered at once, if omitted.
    #[schema(exclusive_minimum = 0, maximum = 600)]
    pub duration: Option<f64>,
}

impl SpeedRequest {
    /// Longest time that a speed is held, simulated seconds.
    pub const MAX_DURATION: f64 = 600.0;
}

impl Body for SpeedRequest {
    fn parse(fields: &Fields) -> Result<SpeedRequest, Invalid> {
        let SpeedFrame { value } = SpeedFrame::parse(fields)?;
        let wrong = "duration must be a number of seconds, more than 0 and up to 600";
        let duration = fields.number("duration", wrong)?;
        if duration.is_some_and(|d| !(d > 0.0 && d <= Self::MAX_DURATION)) {
            return Err(Invalid::new(wrong));
        }
        Ok(SpeedRequest { value, duration })
    }
}

/// A frame of the WebSocket `/speed/stream`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedFrame {
    /// m/s, + is ahead.
    pub value: f64,
}

impl Body for SpeedFrame {
    fn parse(fields: &Fields) -> Result<SpeedFrame, Invalid> {
        let value = required(fields, "value", "value must be a number of m/s, such as {\"value\": 0.5}")?;
        Ok(SpeedFrame { value })
    }
}

/// Body of `POST /steering`, and a frame of the WebSocket `/steering/stream`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct SteeringRequest {
    /// rad, + is left. Out of the car's limits it is clamped.
    pub value: f64,
}

impl Body for SteeringRequest {
    fn parse(fields: &Fields) -> Result<SteeringRequest, Invalid> {
        let wrong = "value must be a number of rad, + is left, such as {\"value\": 0.2}";
        Ok(SteeringRequest { value: required(fields, "value", wrong)? })
    }
}

/// Body of `POST /camera/pan` and `POST /camera/tilt`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct CameraAngleRequest {
    /// rad, + is left and up. Out of the car's limits it is clamped.
    pub value: f64,
}

impl Body for CameraAngleRequest {
    fn parse(fields: &Fields) -> Result<CameraAngleRequest, Invalid> {
        let wrong = "value must be a number of rad, + is left and up, such as {\"value\": 0.2}";
        Ok(CameraAngleRequest { value: required(fields, "value", wrong)? })
    }
}

/// Body of `POST /drive`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct DriveRequest {
    /// m/s, + is ahead. Out of the car's limits it is clamped.
    pub speed: f64,
    /// rad, + is left. Out of the car's limits it is clamped.
    pub steering: f64,
}

impl Body for DriveRequest {
    fn parse(fields: &Fields) -> Result<DriveRequest, Invalid> {
        let both = "give both, such as {\"speed\": 0.5, \"steering\": 0.2}";
        let speed = required(fields, "speed", &format!("speed must be a number of m/s; {both}"))?;
        let steering = required(fields, "steering", &format!("steering must be a number of rad; {both}"))?;
        Ok(DriveRequest { speed, steering })
    }
}

fn required(fields: &Fields, name: &str, wrong: &str) -> Result<f64, Invalid> {
    fields.number(name, wrong)?.ok_or_else(|| Invalid::new(wrong))
}

/// Answer to a command of one value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Commanded {
    /// Always true.
    pub success: bool,
    /// Within the car's limits.
    pub value: Num,
    /// What became of a speed that was held: `stopped` in its time, or `superseded` before.
    pub message: Option<&'static str>,
}

/// Answer of `POST /drive`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Driven {
    /// Always true.
    pub success: bool,
    /// Within the car's limits.
    pub value: DriveValues,
    /// Always null.
    pub message: Option<&'static str>,
}

/// Speed and steering.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct DriveValues {
    /// m/s.
    pub speed: Num,
    /// rad, + is left.
    pub steering: Num,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<T: Body>(body: &str) -> Result<T, String> {
        Fields::read(body.as_bytes()).and_then(|fields| T::parse(&fields)).map_err(|e| e.0)
    }

    #[test]
    fn a_speed_may_be_anything_and_a_duration_may_not() {
        let speed = parse::<SpeedRequest>(r#"{"value": -1e9, "duration": null}"#);
        assert_eq!(speed, Ok(SpeedRequest { value: -1e9, duration: None }));
        let held = parse::<SpeedRequest>(r#"{"value": 1, "duration": 600}"#);
        assert_eq!(held, Ok(SpeedRequest { value: 1.0, duration: Some(600.0) }));
        for body in ["{}", r#"{"value": "1"}"#, r#"{"value": null}"#, r#"{"value": true}"#] {
            assert!(parse::<SpeedRequest>(body).expect_err(body).contains("m/s"), "{body}");
        }
        for duration in ["0", "-1", "600.001", "\"1\"", "true"] {
            let body = format!(r#"{{"value": 1, "duration": {duration}}}"#);
            assert!(parse::<SpeedRequest>(&body).expect_err(&body).contains("600"), "{body}");
        }
    }

    #[test]
    fn a_drive_needs_both() {
        assert!(parse::<DriveRequest>(r#"{"speed": 1, "steering": 0.1}"#).is_ok());
        for body in [r#"{"speed": 1}"#, r#"{"steering": 1}"#, "{}"] {
            assert!(parse::<DriveRequest>(body).expect_err(body).contains("both"), "{body}");
        }
    }
}
