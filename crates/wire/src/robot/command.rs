//! Commands to the robot.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Request body of `POST /speed`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct SpeedRequest {
    /// Speed, m/s, positive is forward; clamped to the car's limits.
    pub value: f64,
    /// How long to hold the speed, simulated seconds. The response is sent when this time is over,
    /// or when a newer command replaces the speed. If omitted, the speed is held for one second and
    /// the response is sent at once.
    #[schema(exclusive_minimum = 0, maximum = 600)]
    pub duration: Option<f64>,
}

impl SpeedRequest {
    /// Longest accepted `duration`, simulated seconds.
    pub const MAX_DURATION: f64 = 600.0;
}

impl Body for SpeedRequest {
    fn parse(fields: &Fields) -> Result<SpeedRequest, Invalid> {
        let SpeedFrame { value } = SpeedFrame::parse(fields)?;
        let wrong = "duration must be a number of seconds, more than 0 and up to 600";
        let duration = fields.number_or_text("duration", wrong)?;
        if duration.is_some_and(|d| !(d > 0.0 && d <= Self::MAX_DURATION)) {
            return Err(Invalid::new(wrong));
        }
        Ok(SpeedRequest { value, duration })
    }
}

/// A frame of the WebSocket `/speed/stream`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedFrame {
    /// Speed, m/s, positive is forward.
    pub value: f64,
}

impl Body for SpeedFrame {
    fn parse(fields: &Fields) -> Result<SpeedFrame, Invalid> {
        let value = required(fields, "value", "value must be a number of m/s, such as {\"value\": 0.5}")?;
        Ok(SpeedFrame { value })
    }
}

/// Request body of `POST /steering`, and a frame of the WebSocket `/steering/stream`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct SteeringRequest {
    /// Steering angle, rad, positive to the left; clamped to the car's limits.
    pub value: f64,
}

impl Body for SteeringRequest {
    fn parse(fields: &Fields) -> Result<SteeringRequest, Invalid> {
        let wrong = "value must be a number of rad, + is left, such as {\"value\": 0.2}";
        Ok(SteeringRequest { value: required(fields, "value", wrong)? })
    }
}

/// Request body of `POST /camera/pan` and `POST /camera/tilt`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct CameraAngleRequest {
    /// Angle, rad, positive to the left or upwards; clamped to the car's limits.
    pub value: f64,
}

impl Body for CameraAngleRequest {
    fn parse(fields: &Fields) -> Result<CameraAngleRequest, Invalid> {
        let wrong = "value must be a number of rad, + is left and up, such as {\"value\": 0.2}";
        Ok(CameraAngleRequest { value: required(fields, "value", wrong)? })
    }
}

/// Request body of `POST /drive`.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
pub struct DriveRequest {
    /// Speed, m/s, positive is forward; clamped to the car's limits.
    pub speed: f64,
    /// Steering angle, rad, positive to the left; clamped to the car's limits.
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
    fields.number_or_text(name, wrong)?.ok_or_else(|| Invalid::new(wrong))
}

/// Response to a command with one value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Commanded {
    /// Always true.
    pub success: bool,
    /// The value after clamping to the car's limits.
    pub value: Num,
    /// How a held speed ended: `stopped` after its duration, or `superseded` by a newer command.
    /// Null for every other command.
    pub message: Option<&'static str>,
}

/// Response of `POST /drive`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Driven {
    /// Always true.
    pub success: bool,
    /// The values after clamping to the car's limits.
    pub value: DriveValues,
    /// Always null.
    pub message: Option<&'static str>,
}

/// Speed and steering.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct DriveValues {
    /// Speed, m/s.
    pub speed: Num,
    /// Steering angle, rad, positive to the left.
    pub steering: Num,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<T: Body>(body: &str) -> Result<T, String> {
        Fields::read(body.as_bytes()).and_then(|fields| T::parse(&fields)).map_err(|e| e.0)
    }

    #[test]
    fn a_speed_has_no_limit_and_a_duration_has() {
        let speed = parse::<SpeedRequest>(r#"{"value": -1e9, "duration": null}"#);
        assert_eq!(speed, Ok(SpeedRequest { value: -1e9, duration: None }));
        let held = parse::<SpeedRequest>(r#"{"value": 1, "duration": 600}"#);
        assert_eq!(held, Ok(SpeedRequest { value: 1.0, duration: Some(600.0) }));
        let text = parse::<SpeedRequest>(r#"{"value": "0.5", "duration": "2"}"#);
        assert_eq!(text, Ok(SpeedRequest { value: 0.5, duration: Some(2.0) }));
        for body in ["{}", r#"{"value": "fast"}"#, r#"{"value": null}"#, r#"{"value": true}"#] {
            assert!(parse::<SpeedRequest>(body).expect_err(body).contains("m/s"), "{body}");
        }
        for duration in ["0", "-1", "600.001", "\"0\"", "\"x\"", "true"] {
            let body = format!(r#"{{"value": 1, "duration": {duration}}}"#);
            assert!(parse::<SpeedRequest>(&body).expect_err(&body).contains("600"), "{body}");
        }
    }

    #[test]
    fn a_drive_request_needs_speed_and_steering() {
        assert!(parse::<DriveRequest>(r#"{"speed": 1, "steering": 0.1}"#).is_ok());
        for body in [r#"{"speed": 1}"#, r#"{"steering": 1}"#, "{}"] {
            assert!(parse::<DriveRequest>(body).expect_err(body).contains("both"), "{body}");
        }
    }
}
