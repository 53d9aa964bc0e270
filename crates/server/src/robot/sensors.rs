//! `GET /odom`, `/imu`, `/battery`, and what servos and wheels measure: `/speed`, `/steering`,
//! `/camera/pan`, `/camera/tilt`.

use super::error::RobotError;
use super::query::Query;
use super::stream::{Reading, Stamp, answer};
use super::view;
use crate::state::App;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use chicane_host::driver::{Published, RobotView};
use chicane_host::view::sample_time;
use chicane_robot::Joints;
use chicane_sim::TICK_S;
use chicane_wire::{Battery, Detail, Inertial, Num, Odometry, Waiting};
use std::sync::Arc;

/// What the robot says, if there is one.
pub(super) fn robot(now: &Published) -> Option<&RobotView> {
    now.running.as_ref().map(|seen| &seen.robot)
}

struct Odom;

impl Reading for Odom {
    const NAME: &'static str = "odometry";

    fn stamp(&self, _: &App, now: &Published) -> Option<Stamp> {
        let odom = robot(now)?.odom.as_ref()?;
        Some(Stamp::new(now, odom.sample, odom.tick as f64 * TICK_S))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let odom = robot(now).and_then(|r| r.odom.as_ref()).ok_or(RobotError::Waiting(Self::NAME))?;
        Ok(odom.json(|odom| view::json(&view::odom(odom))))
    }
}

/// Where the car believes it is, from lidar and gyro alone.
#[utoipa::path(get, path = "/odom", tag = "Sensors",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 30 a simulated second")),
    responses(
    (status = 200, body = Odometry),
    (status = 422, body = Detail, description = "A parameter makes no sense"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn odom(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    answer(&app, &query, Odom).await
}

struct Imu;

impl Reading for Imu {
    const NAME: &'static str = "IMU";

    fn stamp(&self, app: &App, now: &Published) -> Option<Stamp> {
        let imu = robot(now)?.imu.as_ref()?;
        Some(Stamp::new(now, imu.sample, sample_time(imu.sample, app.profile.imu.rate_hz)))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let imu = robot(now).and_then(|r| r.imu.as_ref()).ok_or(RobotError::Waiting(Self::NAME))?;
        Ok(imu.json(|imu| view::json(&view::imu(imu))))
    }
}

/// Gyro and accelerometer.
#[utoipa::path(get, path = "/imu", tag = "Sensors",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 50 a simulated second")),
    responses(
    (status = 200, body = Inertial),
    (status = 422, body = Detail, description = "A parameter makes no sense"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn imu(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    answer(&app, &query, Imu).await
}

struct Charge;

impl Reading for Charge {
    const NAME: &'static str = "battery";

    fn stamp(&self, app: &App, now: &Published) -> Option<Stamp> {
        let battery = robot(now)?.battery.as_ref()?;
        Some(Stamp::new(now, battery.sample, sample_time(battery.sample, app.profile.battery.rate_hz)))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let battery = robot(now).and_then(|r| r.battery.as_ref()).ok_or(RobotError::Waiting(Self::NAME))?;
        Ok(battery.json(|battery| view::json(&view::battery(battery))))
    }
}

/// The battery.
#[utoipa::path(get, path = "/battery", tag = "Sensors",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, one a simulated second")),
    responses(
    (status = 200, body = Battery),
    (status = 422, body = Detail, description = "A parameter makes no sense"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn battery(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    answer(&app, &query, Charge).await
}

/// A number that wheels or servos measure. `NAMED` is an index into [`NAMES`].
struct Measured<const NAMED: usize>(fn(&Joints) -> f64);

const NAMES: [&str; 4] = ["speed", "steering", "pan", "tilt"];

impl<const NAMED: usize> Reading for Measured<NAMED> {
    const NAME: &'static str = NAMES[NAMED];

    fn stamp(&self, _: &App, now: &Published) -> Option<Stamp> {
        let joints = robot(now)?.joints.as_ref()?;
        Some(Stamp::new(now, joints.sample, joints.tick as f64 * TICK_S))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let joints = robot(now).and_then(|r| r.joints.as_ref()).ok_or(RobotError::Waiting(Self::NAME))?;
        Ok(view::json(&Num((self.0)(joints))))
    }
}

/// The speed that the wheels measure, m/s.
#[utoipa::path(get, path = "/speed", tag = "Driving", operation_id = "get_speed",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 30 a simulated second")),
    responses(
    (status = 200, body = f64, content_type = "application/json"),
    (status = 422, body = Detail, description = "A parameter makes no sense"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn speed(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    answer(&app, &query, Measured::<0>(|joints| joints.speed)).await
}

/// The angle of the steering servo, rad, + is left.
#[utoipa::path(get, path = "/steering", tag = "Driving", operation_id = "get_steering",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 30 a simulated second")),
    responses(
    (status = 200, body = f64, content_type = "application/json"),
    (status = 422, body = Detail, description = "A parameter makes no sense"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn steering(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    answer(&app, &query, Measured::<1>(|joints| joints.steering)).await
}

/// The angle of the camera's pan servo, rad, + is left.
#[utoipa::path(get, path = "/camera/pan", tag = "Camera", operation_id = "get_pan",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 30 a simulated second")),
    responses(
    (status = 200, body = f64, content_type = "application/json"),
    (status = 422, body = Detail, description = "A parameter makes no sense"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn pan(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    answer(&app, &query, Measured::<2>(|joints| joints.pan)).await
}

/// The angle of the camera's tilt servo, rad, + is up.
#[utoipa::path(get, path = "/camera/tilt", tag = "Camera", operation_id = "get_tilt",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, 30 a simulated second")),
    responses(
    (status = 200, body = f64, content_type = "application/json"),
    (status = 422, body = Detail, description = "A parameter makes no sense"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn tilt(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    answer(&app, &query, Measured::<3>(|joints| joints.tilt)).await
}
