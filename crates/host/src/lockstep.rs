//! Writes the response to `POST /step`.
//!
//! The module is in this crate and not in the server, because a client that trains asks for
//! thousands of responses per second, and this crate is compiled with more optimisation than the
//! server.

use crate::driver::{Exposure, Published, WorldView};
use crate::view;
use chicane_render::Rgb;
use chicane_sim::TICK_S;
use chicane_wire::{
    ArrayInfo, CameraObservation, ImuObservation, LidarObservation, Num, Observations, Observe, StepHeader,
    StepRequest, Stepped,
};
use chicane_world::Profile;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// A drawn camera frame.
#[derive(Debug, Clone)]
pub struct DrawnFrame {
    /// The exposure from which the frame was drawn.
    pub exposure: Arc<Exposure>,
    /// The pixels.
    pub rgb: Arc<Rgb>,
}

/// The response as JSON. `camera` is the requested camera frame.
///
/// # Errors
///
/// Fails if the response can't be serialised.
pub fn json(
    profile: &Profile,
    request: &StepRequest,
    now: &Published,
    running: &WorldView,
    camera: Option<CameraObservation>,
) -> serde_json::Result<Vec<u8>> {
    let observe = request.observe.as_slice();
    let touched = running.touched_in(request.ticks);
    let observations =
        (!observe.is_empty()).then(|| Observations { camera, ..observations(profile, observe, running) });
    serde_json::to_vec(&Stepped { ok: true, state: now.stepped_state(), touched, observations })
}

fn observations(profile: &Profile, observe: &[Observe], running: &WorldView) -> Observations {
    let (robot, lidar) = (&running.robot, &profile.lidar);
    let range = |&r: &f32| r.is_finite().then(|| Num(f64::from(r)));
    let is_observed = |sensor: Observe| observe.contains(&sensor);
    Observations {
        camera: None,
        lidar: robot.scan.as_ref().filter(|_| is_observed(Observe::Lidar)).map(|scan| LidarObservation {
            time: Num(view::sample_time(scan.sample, lidar.rate_hz)),
            angle_min: Num(-PI),
            angle_increment: Num(TAU / f64::from(lidar.beams)),
            range_min: Num(lidar.range_min_m),
            range_max: Num(lidar.range_max_m),
            ranges: scan.ranges.iter().map(range).collect(),
        }),
        imu: robot.imu.as_ref().filter(|_| is_observed(Observe::Imu)).map(|imu| ImuObservation {
            time: Num(view::sample_time(imu.sample, profile.imu.rate_hz)),
            acceleration: view::xyz(imu.acceleration),
            gyro: view::xyz(imu.angular_velocity),
        }),
        odom: robot
            .odom
            .as_ref()
            .filter(|_| is_observed(Observe::Odom))
            .map(|odom| view::odom_observation(odom)),
    }
}

/// The binary response: one line of JSON, followed by the raw arrays. `picture` is the requested
/// camera frame.
///
/// # Errors
///
/// Fails if the line of JSON can't be serialised.
pub fn arrays(
    profile: &Profile,
    request: &StepRequest,
    now: &Published,
    running: &WorldView,
    picture: Option<&DrawnFrame>,
) -> serde_json::Result<Vec<u8>> {
    let (robot, touched) = (&running.robot, running.touched_in(request.ticks));
    let mut header = StepHeader { ok: true, observations: Vec::new(), state: now.stepped_state(), touched };
    let mut raw: Vec<u8> = Vec::new();
    for sensor in &request.observe {
        let offset = raw.len();
        let (shape, r#type, time) = match sensor {
            Observe::Lidar => {
                let Some(scan) = &robot.scan else { continue };
                raw.extend(scan.ranges.iter().flat_map(|r| r.to_le_bytes()));
                (vec![scan.ranges.len()], "<f4", Num(view::sample_time(scan.sample, profile.lidar.rate_hz)))
            }
            Observe::Imu => {
                let Some(imu) = &robot.imu else { continue };
                let (a, w) = (imu.acceleration.to_array(), imu.angular_velocity.to_array());
                raw.extend(a.into_iter().chain(w).flat_map(f64::to_le_bytes));
                (vec![2, 3], "<f8", Num(view::sample_time(imu.sample, profile.imu.rate_hz)))
            }
            Observe::Camera => {
                let Some(DrawnFrame { exposure, rgb }) = picture else { continue };
                raw.extend(&rgb.bytes);
                (vec![rgb.height, rgb.width, 3], "|u1", Num(exposure.snapshot.time_s))
            }
            Observe::Odom => {
                let Some(o) = &robot.odom else { continue };
                let row = [o.x, o.y, o.yaw, o.forward, o.sideways, o.turning];
                raw.extend(row.into_iter().flat_map(f64::to_le_bytes));
                (vec![6], "<f8", Num(o.tick as f64 * TICK_S))
            }
        };
        header.observations.push(ArrayInfo { name: sensor.name(), shape, r#type, offset, time });
    }
    let mut body = serde_json::to_vec(&header)?;
    body.push(b'\n');
    body.extend(raw);
    Ok(body)
}
