//! Brightness and the overlay text.

use crate::body::JsonBody;
use crate::caller::Commander;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use chicane_host::driver::Published;
use chicane_wire::{
    Brightness, BrightnessChanged, BrightnessRequest, ErrorBody, Num, Overlay, OverlayChanged, OverlayRequest,
};
use std::time::Instant;

/// Returns the brightness, a factor of every pixel.
#[utoipa::path(get, path = "/brightness", tag = "Display", responses((status = 200, body = Brightness)))]
pub(super) async fn get_brightness(State(app): State<App>) -> Json<Brightness> {
    Json(Brightness { value: Num(app.simulator.now().brightness) })
}

/// Sets the brightness of viewers and camera. It survives world switches and restarts.
#[utoipa::path(post, path = "/brightness", tag = "Display", request_body = BrightnessRequest, responses(
    (status = 200, body = BrightnessChanged),
    (status = 400, body = ErrorBody),
))]
pub(super) async fn set_brightness(
    State(app): State<App>,
    Commander(simulator): Commander,
    JsonBody(request): JsonBody<BrightnessRequest>,
) -> Result<Json<BrightnessChanged>, ApiError> {
    app.keeper.brightness(&simulator, request.value).await?;
    Ok(Json(BrightnessChanged { ok: true, value: Num(request.value) }))
}

/// Returns the text that all viewers show.
#[utoipa::path(get, path = "/overlay", tag = "Display", responses((status = 200, body = Overlay)))]
pub(super) async fn get_overlay(State(app): State<App>) -> Json<Overlay> {
    Json(overlay(&app.simulator.now()))
}

/// Shows a text in all viewers for `ttl` real seconds. An empty text removes the shown text.
#[utoipa::path(post, path = "/overlay", tag = "Display", request_body = OverlayRequest, responses(
    (status = 200, body = OverlayChanged),
    (status = 400, body = ErrorBody),
))]
pub(super) async fn set_overlay(
    Commander(simulator): Commander,
    JsonBody(request): JsonBody<OverlayRequest>,
) -> Result<Json<OverlayChanged>, ApiError> {
    let ((), now) = simulator.overlay(request).await?;
    Ok(Json(OverlayChanged { ok: true, overlay: overlay(&now) }))
}

fn overlay(now: &Published) -> Overlay {
    let shown = &now.overlay;
    Overlay {
        text: shown.text.to_string(),
        ttl: Num(shown.ttl_s),
        size: Num(shown.size),
        remaining_s: Num(shown.remaining(Instant::now()).as_secs_f64()),
        seq: shown.seq,
    }
}
