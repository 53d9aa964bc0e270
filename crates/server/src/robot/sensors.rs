//! `GET /odom`, `/imu`, `/battery`, the measured `/speed`, and the commanded angles `/steering`,
//! `/camera/pan`, `/camera/tilt`. The measured angles are `joints` of `GET /states`.

use super::error::RobotError;
use super::query::Query;
use super::stream::{Reading, SampleStamp, respond};
use super::to_wire;
use crate::state::App;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use chicane_host::driver::{Published, RobotView};
use chicane_host::view::sample_time;
use chicane_robot::Drive;
use chicane_sim::TICK_S;
use chicane_wire::{Battery, Detail, Inertial, Num, Odometry, Waiting};
use std::sync::Arc;

/// The published view of the robot. `None` while no world runs.
pub(super) fn robot(now: &Published) -> Option<&RobotView> {
    now.running.as_ref().map(|running| &running.robot)
}

struct OdomReading;

impl Reading for OdomReading {
    const NAME: &'static str = "odometry";

    fn stamp(&self, _: &App, now: &Published) -> Option<SampleStamp> {
        let odom = robot(now)?.odom.as_ref()?;
        Some(SampleStamp::new(now, odom.sample, odom.tick as f64 * TICK_S))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let odom = robot(now).and_then(|r| r.odom.as_ref()).ok_or(RobotError::Waiting(Self::NAME))?;
        Ok(odom.json(|odom| to_wire::json(&to_wire::odom(odom))))
    }
}

/// Returns the estimated pose of the car, from lidar and gyro only.
#[utoipa::path(get, path = "/odom", tag = "Sensors",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 30 per simulated second")),
    responses(
    (status = 200, body = Odometry),
    (status = 422, body = Detail, description = "A parameter is invalid"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn odom(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    respond(&app, &query, OdomReading).await
}

struct ImuReading;

impl Reading for ImuReading {
    const NAME: &'static str = "IMU";

    fn stamp(&self, app: &App, now: &Published) -> Option<SampleStamp> {
        let imu = robot(now)?.imu.as_ref()?;
        Some(SampleStamp::new(now, imu.sample, sample_time(imu.sample, app.profile.imu.rate_hz)))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let imu = robot(now).and_then(|r| r.imu.as_ref()).ok_or(RobotError::Waiting(Self::NAME))?;
        Ok(imu.json(|imu| to_wire::json(&to_wire::imu(imu))))
    }
}

/// Returns the readings of gyro and accelerometer.
#[utoipa::path(get, path = "/imu", tag = "Sensors",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 50 per simulated second")),
    responses(
    (status = 200, body = Inertial),
    (status = 422, body = Detail, description = "A parameter is invalid"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn imu(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    respond(&app, &query, ImuReading).await
}

struct BatteryReading;

impl Reading for BatteryReading {
    const NAME: &'static str = "battery";

    fn stamp(&self, app: &App, now: &Published) -> Option<SampleStamp> {
        let battery = robot(now)?.battery.as_ref()?;
        Some(SampleStamp::new(now, battery.sample, sample_time(battery.sample, app.profile.battery.rate_hz)))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let battery = robot(now).and_then(|r| r.battery.as_ref()).ok_or(RobotError::Waiting(Self::NAME))?;
        Ok(battery.json(|battery| to_wire::json(&to_wire::battery(battery))))
    }
}

/// Returns the state of the battery.
#[utoipa::path(get, path = "/battery", tag = "Sensors",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, one per simulated second")),
    responses(
    (status = 200, body = Battery),
    (status = 422, body = Detail, description = "A parameter is invalid"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn battery(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    respond(&app, &query, BatteryReading).await
}

struct SpeedReading;

impl Reading for SpeedReading {
    const NAME: &'static str = "speed";

    fn stamp(&self, _: &App, now: &Published) -> Option<SampleStamp> {
        let joints = robot(now)?.joints.as_ref()?;
        Some(SampleStamp::new(now, joints.sample, joints.tick as f64 * TICK_S))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let joints = robot(now).and_then(|r| r.joints.as_ref()).ok_or(RobotError::Waiting(Self::NAME))?;
        Ok(to_wire::json(&Num(joints.speed)))
    }
}

/// A commanded angle. `INDEX` is an index into [`ANGLE_NAMES`].
struct AngleReading<const INDEX: usize>(fn(&Drive) -> f64);

const ANGLE_NAMES: [&str; 3] = ["steering", "pan", "tilt"];

impl<const INDEX: usize> Reading for AngleReading<INDEX> {
    const NAME: &'static str = ANGLE_NAMES[INDEX];

    /// The stamp changes with every sample of the joints, so that a stream has a constant rate. It
    /// also changes with the command.
    fn stamp(&self, _: &App, now: &Published) -> Option<SampleStamp> {
        let robot = robot(now)?;
        let stamp = SampleStamp::new(now, robot.joints.as_ref()?.sample, now.time_s());
        Some(stamp.with(2, (self.0)(&robot.command).to_bits()))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let robot = robot(now).ok_or(RobotError::Waiting(Self::NAME))?;
        Ok(to_wire::json(&Num((self.0)(&robot.command))))
    }
}

/// Returns the speed computed from the wheels, in m/s.
#[utoipa::path(get, path = "/speed", tag = "Driving", operation_id = "get_speed",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 30 per simulated second")),
    responses(
    (status = 200, body = f64, content_type = "application/json"),
    (status = 422, body = Detail, description = "A parameter is invalid"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn speed(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    respond(&app, &query, SpeedReading).await
}

/// Returns the commanded steering angle in rad; positive is left.
#[utoipa::path(get, path = "/steering", tag = "Driving", operation_id = "get_steering",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 30 per simulated second")),
    responses(
    (status = 200, body = f64, content_type = "application/json"),
    (status = 422, body = Detail, description = "A parameter is invalid"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn steering(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    respond(&app, &query, AngleReading::<0>(|command| command.steering)).await
}

/// Returns the commanded pan angle of the camera in rad; positive is left.
#[utoipa::path(get, path = "/camera/pan", tag = "Camera", operation_id = "get_pan",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 30 per simulated second")),
    responses(
    (status = 200, body = f64, content_type = "application/json"),
    (status = 422, body = Detail, description = "A parameter is invalid"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn pan(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    respond(&app, &query, AngleReading::<1>(|command| command.pan)).await
}

/// Returns the commanded tilt angle of the camera in rad; positive is up.
#[utoipa::path(get, path = "/camera/tilt", tag = "Camera", operation_id = "get_tilt",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 30 per simulated second")),
    responses(
    (status = 200, body = f64, content_type = "application/json"),
    (status = 422, body = Detail, description = "A parameter is invalid"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn tilt(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    respond(&app, &query, AngleReading::<2>(|command| command.tilt)).await
}
