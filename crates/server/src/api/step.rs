//! Lockstep: a client pauses simulated time, and each of its steps advances the time.

use crate::body::JsonBody;
use crate::caller::Commander;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use chicane_host::driver::{Exposure, Published, RobotView};
use chicane_host::view;
use chicane_render::Rgb;
use chicane_sim::TICK_S;
use chicane_wire::{
    ArrayInfo, CameraObservation, ErrorBody, ImuObservation, LidarObservation, Num, Observations, Observe,
    Octets, StepHeader, StepRequest, StepRequestBody, Stepped,
};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// Pauses the world if it is not paused, and advances it by the given simulated time.
///
/// With `Accept: application/octet-stream`, the response is one line of JSON (`state`, and the name,
/// shape, type and offset of each array), followed by the raw arrays.
#[utoipa::path(post, path = "/step", tag = "State and time", request_body = StepRequestBody, responses(
    (status = 200, description = "The state after the last tick", content(
        (Stepped = "application/json"),
        (Octets = "application/octet-stream"),
    )),
    (status = 400, body = ErrorBody),
    (status = 409, body = ErrorBody, description = "No world is ready"),
))]
pub(super) async fn step(
    State(app): State<App>,
    Commander(simulator): Commander,
    headers: HeaderMap,
    JsonBody(request): JsonBody<StepRequest>,
) -> Result<Response, ApiError> {
    let ((), now) = simulator.step(&request).await?;
    let running = now.running.as_ref().ok_or_else(ApiError::no_world)?;
    let (robot, touched) = (&running.robot, running.touched_in(request.ticks));
    if wants_arrays(&headers) {
        let picture = picture(&app, &request, &now).await?;
        let header = StepHeader { ok: true, observations: Vec::new(), state: now.stepped_state(), touched };
        return arrays(&app, &request.observe, robot, header, picture.as_ref());
    }
    let observations = match request.observe.as_slice() {
        [] => None,
        observe => {
            let camera = camera_observation(&app, &request, &now).await?;
            Some(Observations { camera, ..observations(&app, observe, robot) })
        }
    };
    Ok(Json(Stepped { ok: true, state: now.stepped_state(), touched, observations }).into_response())
}

fn wants_arrays(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or("");
    accepted.split(',').any(|a| a.split(';').next().unwrap_or("").trim() == "application/octet-stream")
}

/// The exposure of the last camera frame, and its pixels. `None` if `observe` does not contain the
/// camera, or if no world runs.
async fn picture(
    app: &App,
    request: &StepRequest,
    now: &Published,
) -> Result<Option<(Arc<Exposure>, Arc<Rgb>)>, ApiError> {
    let Some(running) = now.running.as_ref().filter(|_| request.observe.contains(&Observe::Camera)) else {
        return Ok(None);
    };
    let [width, height] = request.camera_size;
    let rgb = app.camera.rgb(&running.exposure, app.camera.size(width, height), now.brightness).await;
    Ok(Some((Arc::clone(&running.exposure), rgb.map_err(|_| not_drawn())?)))
}

async fn camera_observation(
    app: &App,
    request: &StepRequest,
    now: &Published,
) -> Result<Option<CameraObservation>, ApiError> {
    let Some(running) = now.running.as_ref().filter(|_| request.observe.contains(&Observe::Camera)) else {
        return Ok(None);
    };
    let [width, height] = request.camera_size;
    let size = app.camera.size(width, height);
    let jpeg = app.camera.jpeg(&running.exposure, size, now.brightness).await.map_err(|_| not_drawn())?;
    Ok(Some(CameraObservation {
        time: Num(running.exposure.snapshot.time_s),
        frame: running.exposure.frame,
        width: size[0],
        height: size[1],
        encoding: "jpeg",
        data: base64::engine::general_purpose::STANDARD.encode(&jpeg),
    }))
}

fn not_drawn() -> ApiError {
    ApiError::internal("the camera picture could not be drawn")
}

fn observations(app: &App, observe: &[Observe], robot: &RobotView) -> Observations {
    let lidar = &app.profile.lidar;
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
            time: Num(view::sample_time(imu.sample, app.profile.imu.rate_hz)),
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

/// The binary response: one line of JSON, followed by the raw arrays.
fn arrays(
    app: &App,
    observe: &[Observe],
    robot: &RobotView,
    mut header: StepHeader,
    picture: Option<&(Arc<Exposure>, Arc<Rgb>)>,
) -> Result<Response, ApiError> {
    let mut raw: Vec<u8> = Vec::new();
    for sensor in observe {
        let offset = raw.len();
        let (shape, r#type, time) = match sensor {
            Observe::Lidar => {
                let Some(scan) = &robot.scan else { continue };
                raw.extend(scan.ranges.iter().flat_map(|r| r.to_le_bytes()));
                (
                    vec![scan.ranges.len()],
                    "<f4",
                    Num(view::sample_time(scan.sample, app.profile.lidar.rate_hz)),
                )
            }
            Observe::Imu => {
                let Some(imu) = &robot.imu else { continue };
                let (a, w) = (imu.acceleration.to_array(), imu.angular_velocity.to_array());
                raw.extend(a.into_iter().chain(w).flat_map(f64::to_le_bytes));
                (vec![2, 3], "<f8", Num(view::sample_time(imu.sample, app.profile.imu.rate_hz)))
            }
            Observe::Camera => {
                let Some((exposure, rgb)) = picture else { continue };
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
    let mut body = serde_json::to_vec(&header).map_err(|e| ApiError::internal(e.to_string()))?;
    body.push(b'\n');
    body.extend(raw);
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], body).into_response())
}
