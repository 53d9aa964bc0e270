//! `X-Sim-Time`: every answer of the robot's says of which moment it speaks.

use crate::state::App;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Simulated seconds, three decimals.
const X_SIM_TIME: HeaderName = HeaderName::from_static("x-sim-time");

/// As it is written.
pub(super) fn text(time_s: f64) -> String {
    format!("{time_s:.3}")
}

/// An answer that speaks of this time.
pub(crate) fn at(time_s: f64, answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    if let Ok(value) = HeaderValue::try_from(text(time_s)) {
        response.headers_mut().insert(X_SIM_TIME, value);
    }
    response
}

/// An answer that does not say of which time it speaks, speaks of now.
pub(super) async fn stamp(State(app): State<App>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    if response.headers().contains_key(X_SIM_TIME) {
        return response;
    }
    at(app.simulator.now().time_s(), response)
}
