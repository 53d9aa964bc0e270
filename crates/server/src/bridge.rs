//! The WebSocket of the crate `bridge`: `/rosbridge`.

use crate::caller::Commander;
use crate::state::App;
use crate::websocket::Upgrade;
use axum::extract::State;
use axum::response::Response;
use chicane_bridge::rosbridge;
use chicane_host::Source;

/// `GET /rosbridge`.
pub(crate) async fn rosbridge(
    State(app): State<App>,
    Commander(simulator): Commander,
    upgrade: Upgrade,
) -> Response {
    let bridge = app.bridge.clone();
    // A judged program stays the student when it uses this endpoint.
    let source = match simulator.source() {
        Source::Student => Source::Student,
        _ => Source::Ros,
    };
    upgrade.max_sent(rosbridge::MAX_SENT).run(&app, move |socket| rosbridge::serve(bridge, source, socket))
}
