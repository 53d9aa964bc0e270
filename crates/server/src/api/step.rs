//! Lockstep: a client pauses simulated time, and each of its steps advances the time.

use crate::body::JsonBody;
use crate::caller::Commander;
use crate::error::ApiError;
use crate::state::App;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use chicane_host::driver::WorldView;
use chicane_host::lockstep::{self, DrawnFrame};
use chicane_wire::{
    CameraObservation, ErrorBody, Num, Observe, Octets, StepRequest, StepRequestBody, Stepped,
};
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
    let (content_type, body) = if wants_arrays(&headers) {
        let picture = picture(&app, &request, running, now.brightness).await?;
        let body = lockstep::arrays(&app.profile, &request, &now, running, picture.as_ref());
        ("application/octet-stream", body)
    } else {
        let camera = camera_observation(&app, &request, running, now.brightness).await?;
        ("application/json", lockstep::json(&app.profile, &request, &now, running, camera))
    };
    let body = body.map_err(|e| ApiError::internal(e.to_string()))?;
    Ok(([(header::CONTENT_TYPE, content_type)], body).into_response())
}

fn wants_arrays(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or("");
    accepted.split(',').any(|a| a.split(';').next().unwrap_or("").trim() == "application/octet-stream")
}

/// The last camera frame. `None` if `observe` does not contain the camera.
async fn picture(
    app: &App,
    request: &StepRequest,
    running: &WorldView,
    brightness: f64,
) -> Result<Option<DrawnFrame>, ApiError> {
    if !request.observe.contains(&Observe::Camera) {
        return Ok(None);
    }
    let [width, height] = request.camera_size;
    let exposure = Arc::clone(&running.exposure);
    let rgb = app.camera.rgb(&exposure, app.camera.size(width, height), brightness).await;
    Ok(Some(DrawnFrame { exposure, rgb: rgb.map_err(|_| not_drawn())? }))
}

/// The last camera frame as JPEG. `None` if `observe` does not contain the camera.
async fn camera_observation(
    app: &App,
    request: &StepRequest,
    running: &WorldView,
    brightness: f64,
) -> Result<Option<CameraObservation>, ApiError> {
    if !request.observe.contains(&Observe::Camera) {
        return Ok(None);
    }
    let [width, height] = request.camera_size;
    let size = app.camera.size(width, height);
    let jpeg = app.camera.jpeg(&running.exposure, size, brightness).await.map_err(|_| not_drawn())?;
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
