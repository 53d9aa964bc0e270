//! The header `X-Sim-Time`: the handlers of the robot's API add the simulated time of the data to
//! their responses.

use crate::state::App;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chicane_wire::Role;

/// The header. Its value is the simulated time in seconds, with three decimals.
const X_SIM_TIME: HeaderName = HeaderName::from_static("x-sim-time");

/// The value of the header for a simulated time.
pub(super) fn text(time_s: f64) -> String {
    format!("{time_s:.3}")
}

/// Adds the header with the time `time_s` to a response.
pub(crate) fn with_sim_time(time_s: f64, response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    if let Ok(value) = HeaderValue::try_from(text(time_s)) {
        response.headers_mut().insert(X_SIM_TIME, value);
    }
    response
}

/// Adds the current simulated time to a response whose handler did not set the header. A client
/// without a role (`GET /health` without a token) may see only the status of the robot, so its
/// response has no time.
pub(super) async fn stamp(State(app): State<App>, request: Request, next: Next) -> Response {
    let has_role = request.extensions().get::<Role>().is_some();
    let response = next.run(request).await;
    if !has_role || response.headers().contains_key(X_SIM_TIME) {
        return response;
    }
    with_sim_time(app.simulator.now().time_s(), response)
}
