//! `GET /states`: several things that the robot says, of one moment, in one answer.

use super::audio;
use super::error::RobotError;
use super::lidar::Lidar;
use super::query::Query;
use super::sensors::robot;
use super::stream::{Reading, Stamp, answer};
use super::view;
use crate::state::App;
use axum::extract::State;
use axum::response::Response;
use base64::Engine;
use bytes::Bytes;
use chicane_host::driver::Published;
use chicane_wire::{CameraFrame, Detail, DriveCommand, Num, Shown, States};
use std::sync::Arc;

/// What was asked for.
struct Asked {
    shown: Vec<Shown>,
    /// The camera was asked for by name: its picture is wanted.
    picture: bool,
    lidar: Lidar,
}

impl Asked {
    fn parse(query: &Query) -> Result<Asked, RobotError> {
        let lidar = Lidar::asked(query)?;
        let included: Vec<&str> = query.all("include").collect();
        if included.is_empty() {
            return Ok(Asked { shown: Shown::ALL.to_vec(), picture: false, lidar });
        }
        let shown = Shown::list(&included.join(","))?;
        Ok(Asked { picture: shown.contains(&Shown::Camera), shown, lidar })
    }

    /// Something, if it was asked for.
    fn want<T>(&self, what: Shown, make: impl FnOnce() -> T) -> Option<T> {
        self.shown.contains(&what).then(make)
    }

    async fn camera(&self, app: &App, now: &Published) -> Result<Option<CameraFrame>, RobotError> {
        let Some(seen) = &now.running else { return Ok(None) };
        let [width, height] = app.camera.size(None, None);
        let (time, frame) = (Num(seen.exposure.snapshot.time_s), seen.exposure.frame);
        let (mut encoding, mut data) = (None, None);
        if self.picture {
            let jpeg = app.camera.jpeg(&seen.exposure, [width, height], now.brightness).await;
            let jpeg = jpeg.map_err(|_| RobotError::failed("the picture could not be drawn"))?;
            encoding = Some("jpeg");
            data = Some(base64::engine::general_purpose::STANDARD.encode(&jpeg));
        }
        Ok(Some(CameraFrame { time, frame, width, height, encoding, data }))
    }
}

impl Reading for Asked {
    const NAME: &'static str = "state";

    fn stamp(&self, _: &App, now: &Published) -> Option<Stamp> {
        let Some(robot) = robot(now) else { return Some(Stamp::constant(0.0)) };
        let frame = now.running.as_ref().map_or(0, |seen| seen.exposure.frame);
        let sample = |what: Shown| match what {
            Shown::Odom => robot.odom.as_ref().map(|t| t.sample),
            Shown::Battery => robot.battery.as_ref().map(|t| t.sample),
            Shown::Imu => robot.imu.as_ref().map(|t| t.sample),
            Shown::Lidar => robot.scan.as_ref().map(|t| t.sample),
            Shown::Camera => Some(frame),
            Shown::Speed | Shown::Steering | Shown::Joints => robot.joints.as_ref().map(|t| t.sample),
            Shown::Audio => Some(audio::moment(now)),
        };
        // Added up, samples that only grow tell one moment from the next.
        let samples = self.shown.iter().filter_map(|what| sample(*what)).sum();
        let cmd = &robot.command;
        let cmd = [cmd.speed, cmd.steering, cmd.pan, cmd.tilt].map(f64::to_bits);
        let mut stamp = Stamp::new(now, samples, now.time_s());
        for (place, part) in cmd.into_iter().enumerate() {
            stamp = stamp.with(2 + place, part);
        }
        Some(stamp)
    }

    async fn json(&self, app: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let camera = match self.shown.contains(&Shown::Camera) {
            true => Some(self.camera(app, now).await?),
            false => None,
        };
        let robot = robot(now);
        let joints = robot.and_then(|r| r.joints.as_deref());
        Ok(view::json(&States {
            cmd: robot.map_or_else(DriveCommand::default, |r| view::command(&r.command)),
            odom: self.want(Shown::Odom, || robot?.odom.as_deref().map(|o| view::odom(o))),
            battery: self.want(Shown::Battery, || robot?.battery.as_deref().map(|b| view::battery(b))),
            imu: self.want(Shown::Imu, || robot?.imu.as_deref().map(|i| view::imu(i))),
            lidar: self
                .want(Shown::Lidar, || robot?.scan.as_deref().map(|s| self.lidar.view(s, &app.profile))),
            camera,
            speed: self.want(Shown::Speed, || joints.map(|j| Num(j.speed))),
            steering: self.want(Shown::Steering, || joints.map(|j| Num(j.steering))),
            joints: self.want(Shown::Joints, || joints.map(|j| view::joints(j))),
            audio: self.want(Shown::Audio, || audio::sounds(now)),
        }))
    }
}

/// What the robot says and what it is asked for, of one moment.
///
/// Without `include` everything is shown, the camera without its picture.
#[utoipa::path(get, path = "/states", tag = "Sensors",
    params(
    ("include" = Option<String>, Query,
        description = "Names with commas: odom, battery, imu, lidar, camera, speed, steering, joints, audio"),
    ("step" = Option<f64>, Query, description = "Degrees from key to key of the lidar; 1 if omitted",
        minimum = 0.5, maximum = 30),
    ("stream" = Option<bool>, Query, description = "Server-sent events, whenever something is new")),
    responses(
    (status = 200, body = States),
    (status = 422, body = Detail, description = "A parameter makes no sense"),
))]
pub(super) async fn states(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    answer(&app, &query, Asked::parse(&query)?).await
}
