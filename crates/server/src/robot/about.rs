//! `GET /info` and `GET /health`: description and status of the robot.

use super::error::RobotError;
use super::query::Query;
use super::stream::{Reading, SampleStamp, respond};
use super::to_wire;
use crate::state::App;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chicane_host::driver::Published;
use chicane_robot::ODOM_RATE_HZ;
use chicane_wire::{Detail, Hardware, Health, Info, Num, Rates, Role, Sensors, Sizes, Software};
use chicane_world::Profile;
use std::sync::Arc;

/// Paths of the robot's API, which `GET /info` lists.
#[derive(Debug, Clone)]
pub(super) struct Endpoints(pub(super) Arc<[String]>);

struct InfoReading(Endpoints);

impl Reading for InfoReading {
    const NAME: &'static str = "info";

    /// The stamp is constant, because the description never changes.
    fn stamp(&self, _: &App, now: &Published) -> Option<SampleStamp> {
        Some(SampleStamp::constant(now.time_s()))
    }

    async fn json(&self, app: &App, _: &Arc<Published>) -> Result<Bytes, RobotError> {
        Ok(to_wire::json(&about(&app.profile, &self.0)))
    }
}

fn about(profile: &Profile, endpoints: &Endpoints) -> Info {
    let whole = chicane_host::view::profile(profile);
    Info {
        name: whole.model_name.clone(),
        serial: format!("sim-{}", whole.generation),
        physical: false,
        hardware: Hardware {
            vehicle: whole.model_name.clone(),
            generation: whole.generation.clone(),
            sensors: vec!["camera", "lidar", "imu", "battery"],
            actuators: vec!["motor", "steering", "camera_pan", "camera_tilt", "loudspeaker"],
        },
        software: Software { name: "chicane", version: env!("CARGO_PKG_VERSION") },
        endpoints: endpoints.0.to_vec(),
        generation: whole.generation,
        mode: "sim",
        model_name: whole.model_name,
        version: env!("CARGO_PKG_VERSION"),
        limits: whole.limits,
        sizes: Sizes {
            wheelbase: whole.wheelbase,
            track: whole.track,
            wheel_radius: whole.wheel_radius,
            wheel_width: whole.wheel_width,
            mass: whole.mass,
            body: whole.body,
        },
        rates: Rates {
            camera: whole.camera.rate,
            lidar: whole.lidar.rate,
            imu: whole.imu.rate,
            odom: ODOM_RATE_HZ,
            joints: ODOM_RATE_HZ,
            battery: profile.battery.rate_hz,
        },
        sensors: Sensors { camera: whole.camera, lidar: whole.lidar, imu: whole.imu },
    }
}

/// Describes the robot: generation, limits, sizes, sensors.
#[utoipa::path(get, path = "/info", tag = "About",
    params(("stream" = Option<bool>, Query, description = "Server-sent events")),
    responses(
    (status = 200, body = Info),
    (status = 422, body = Detail, description = "A parameter is invalid"),
))]
pub(super) async fn info(
    State(app): State<App>,
    Extension(endpoints): Extension<Endpoints>,
    query: Query,
) -> Result<Response, RobotError> {
    respond(&app, &query, InfoReading(endpoints)).await
}

struct HealthReading;

impl Reading for HealthReading {
    const NAME: &'static str = "health";

    /// The stamp changes every simulated second. It also changes when a world starts or ends, when
    /// the simulation is paused or continued, and when a fault begins or ends.
    fn stamp(&self, app: &App, now: &Published) -> Option<SampleStamp> {
        let (time_s, there) = (now.time_s(), now.running.is_some());
        let failing = u64::from(app.evaluations.fault().is_some());
        let stamp = SampleStamp::new(now, time_s as u64, time_s);
        Some(stamp.with(2, u64::from(there)).with(3, 2 * failing + u64::from(now.clock.paused)))
    }

    async fn json(&self, app: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let time = now.running.as_ref().map(|running| Num(running.snapshot.time_s));
        let reason = app.evaluations.fault();
        let status = status(reason.is_some(), now);
        let timestamp = time.unwrap_or_default();
        Ok(to_wire::json(&Health { status, reason, time, timestamp, paused: now.clock.paused }))
    }
}

fn status(failing: bool, now: &Published) -> &'static str {
    match (failing, now.running.is_some()) {
        (true, _) => "failing",
        (false, true) => "ok",
        (false, false) => "waiting",
    }
}

/// Returns the status of the robot: `ok`, `waiting` before its first world, or `failing`.
///
/// This path needs no token. If the simulator has tokens and the request has none, the response
/// contains `status` only, and a request for a stream is refused.
#[utoipa::path(get, path = "/health", tag = "About",
    params(("stream" = Option<bool>, Query, description = "Server-sent events, at least one per simulated second")),
    responses(
    (status = 200, body = Health),
    (status = 422, body = Detail, description = "A parameter is invalid"),
))]
pub(super) async fn health(
    State(app): State<App>,
    role: Option<Extension<Role>>,
    query: Query,
) -> Result<Response, RobotError> {
    if role.is_none() {
        let body =
            serde_json::json!({"status": status(app.evaluations.fault().is_some(), &app.simulator.now())});
        return Ok(axum::Json(body).into_response());
    }
    respond(&app, &query, HealthReading).await
}
