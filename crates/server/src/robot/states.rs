//! `GET /states`: several readings of the robot at the same tick, in one response.

use super::audio;
use super::error::RobotError;
use super::lidar::LidarReading;
use super::query::Query;
use super::sensors::robot;
use super::stream::{Reading, SampleStamp, respond};
use super::to_wire;
use crate::state::App;
use axum::extract::State;
use axum::response::Response;
use base64::Engine;
use bytes::Bytes;
use chicane_host::driver::Published;
use chicane_wire::{CameraFrame, Detail, DriveCommand, Num, Shown, States};
use std::sync::Arc;

/// The parameters of a request.
struct StatesRequest {
    shown: Vec<Shown>,
    lidar: LidarReading,
}

impl StatesRequest {
    fn parse(query: &Query) -> Result<StatesRequest, RobotError> {
        let lidar = LidarReading::from_query(query)?;
        let included: Vec<&str> = query.all("include").collect();
        if included.is_empty() {
            return Ok(StatesRequest { shown: Shown::USUAL.to_vec(), lidar });
        }
        Ok(StatesRequest { shown: Shown::list(&included.join(",")), lidar })
    }

    /// Calls `make` if the request includes `what`. Otherwise returns `None`.
    fn if_shown<T>(&self, what: Shown, make: impl FnOnce() -> T) -> Option<T> {
        self.shown.contains(&what).then(make)
    }

    async fn camera(app: &App, now: &Published) -> Result<Option<CameraFrame>, RobotError> {
        let Some(running) = &now.running else { return Ok(None) };
        let [width, height] = app.camera.size(None, None);
        let (time, frame) = (Num(running.exposure.snapshot.time_s), running.exposure.frame);
        let jpeg = app.camera.jpeg(&running.exposure, [width, height], now.brightness).await;
        let jpeg = jpeg.map_err(|_| RobotError::failed("the picture could not be drawn"))?;
        let data = base64::engine::general_purpose::STANDARD.encode(&jpeg);
        Ok(Some(CameraFrame { time, frame, width, height, encoding: "jpeg", data }))
    }
}

impl Reading for StatesRequest {
    const NAME: &'static str = "state";

    fn stamp(&self, _: &App, now: &Published) -> Option<SampleStamp> {
        let Some(robot) = robot(now) else { return Some(SampleStamp::constant(0.0)) };
        let frame = now.running.as_ref().map_or(0, |running| running.exposure.frame);
        let sample = |what: Shown| match what {
            Shown::Odom => robot.odom.as_ref().map(|t| t.sample),
            Shown::Battery => robot.battery.as_ref().map(|t| t.sample),
            Shown::Imu => robot.imu.as_ref().map(|t| t.sample),
            Shown::Lidar => robot.scan.as_ref().map(|t| t.sample),
            Shown::Camera => Some(frame),
            // The values of the commands are added to the stamp below, and `joy` never changes.
            Shown::Cmd | Shown::Steering | Shown::CameraPan | Shown::CameraTilt | Shown::Joy => None,
            Shown::Speed | Shown::Joints => robot.joints.as_ref().map(|t| t.sample),
            Shown::Audio => Some(audio::position_step(now)),
        };
        // Sample numbers increase, so their sum changes with each new sample.
        let samples = self.shown.iter().filter_map(|what| sample(*what)).sum();
        let cmd = &robot.command;
        let cmd = [cmd.speed, cmd.steering, cmd.pan, cmd.tilt].map(f64::to_bits);
        let mut stamp = SampleStamp::new(now, samples, now.time_s());
        for (index, part) in cmd.into_iter().enumerate() {
            stamp = stamp.with(2 + index, part);
        }
        Some(stamp)
    }

    async fn json(&self, app: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let camera = match self.shown.contains(&Shown::Camera) {
            true => Some(StatesRequest::camera(app, now).await?),
            false => None,
        };
        let robot = robot(now);
        let joints = robot.and_then(|r| r.joints.as_deref());
        Ok(to_wire::json(&States {
            cmd: robot.map_or_else(DriveCommand::default, |r| to_wire::command(&r.command)),
            odom: self.if_shown(Shown::Odom, || robot?.odom.as_deref().map(|o| to_wire::odom(o))),
            battery: self.if_shown(Shown::Battery, || robot?.battery.as_deref().map(|b| to_wire::battery(b))),
            imu: self.if_shown(Shown::Imu, || robot?.imu.as_deref().map(|i| to_wire::imu(i))),
            lidar: self.if_shown(Shown::Lidar, || {
                robot?.scan.as_deref().map(|s| self.lidar.scan_to_wire(s, &app.profile))
            }),
            camera,
            speed: self.if_shown(Shown::Speed, || joints.map(|j| Num(j.speed))),
            steering: self.if_shown(Shown::Steering, || robot.map(|r| Num(r.command.steering))),
            camera_pan: self.if_shown(Shown::CameraPan, || robot.map(|r| Num(r.command.pan))),
            camera_tilt: self.if_shown(Shown::CameraTilt, || robot.map(|r| Num(r.command.tilt))),
            joints: self.if_shown(Shown::Joints, || joints.map(|j| to_wire::joints(j))),
            audio: self.if_shown(Shown::Audio, || audio::sounds(now)),
            joy: self.if_shown(Shown::Joy, || None),
        }))
    }
}

/// Returns readings and commands of the robot at the same tick.
///
/// Without `include`, the response contains `cmd`, `odom` and `battery`. Every response contains
/// `cmd`.
#[utoipa::path(get, path = "/states", tag = "Sensors",
    params(
    ("include" = Option<String>, Query,
        description = "Names separated by commas: cmd, odom, battery, imu, lidar, camera, speed, steering, camera_pan, \
            camera_tilt, joints, audio, joy. Unknown names are skipped"),
    ("step" = Option<f64>, Query, description = "Step between keys of the lidar in degrees; 1 if omitted",
        minimum = 0.5, maximum = 30),
    ("stream" = Option<bool>, Query, description = "Server-sent events, one for each change")),
    responses(
    (status = 200, body = States),
    (status = 422, body = Detail, description = "A parameter is invalid"),
))]
pub(super) async fn states(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    respond(&app, &query, StatesRequest::parse(&query)?).await
}
