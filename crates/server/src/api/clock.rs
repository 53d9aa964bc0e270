//! Reads, pauses and paces simulated time.

use crate::body::JsonBody;
use crate::caller::Commander;
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use chicane_host::driver::Published;
use chicane_wire::{Clock, ClockChanged, ClockRequest, ErrorBody, ErrorCode, Num};

/// Returns simulated and real time.
#[utoipa::path(get, path = "/clock", tag = "State and time", responses(
    (status = 200, body = Clock),
    (status = 503, body = ErrorBody, description = "Before the first world is ready"),
))]
pub(super) async fn get_clock(State(app): State<App>) -> Result<Json<Clock>, ApiError> {
    clock(&app.simulator.now()).map(Json)
}

/// Pauses or continues simulated time, or sets its speed.
///
/// Both settings survive reset, respawn and switch.
#[utoipa::path(post, path = "/clock", tag = "State and time", request_body = ClockRequest, responses(
    (status = 200, body = ClockChanged),
    (status = 400, body = ErrorBody),
    (status = 503, body = ErrorBody, description = "Before the first world is ready"),
))]
pub(super) async fn set_clock(
    Commander(simulator): Commander,
    JsonBody(request): JsonBody<ClockRequest>,
) -> Result<Json<ClockChanged>, ApiError> {
    clock(&simulator.now())?;
    let ((), now) = simulator.clock(request.paused, request.speed).await?;
    Ok(Json(ClockChanged { ok: true, clock: clock(&now)? }))
}

fn clock(now: &Published) -> Result<Clock, ApiError> {
    let running =
        now.running.as_ref().ok_or_else(|| ApiError::new(ErrorCode::NoReading, "clock not available yet"))?;
    // In virtual time, simulated time is returned as real time, so that a program gets the same
    // response in every run.
    let real_s =
        if now.clock.is_virtual { running.snapshot.time_s } else { running.since.elapsed().as_secs_f64() };
    Ok(Clock {
        sim_time: Num(running.snapshot.time_s),
        real_time: Num(real_s),
        rtf: Num(now.clock.rtf),
        paused: now.clock.paused,
        speed: Num(now.clock.speed),
    })
}
