//! The WebSockets of the crate `bridge`: `/rosbridge` and `/foxglove`.

use crate::access::check_post;
use crate::caller::Commander;
use crate::error::ApiError;
use crate::state::App;
use crate::student::{self, FromStudent};
use crate::websocket::Upgrade;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Response};
use chicane_bridge::foxglove::{self, Action, Caller};
use chicane_bridge::rosbridge;
use chicane_host::Source;
use chicane_wire::Role;

/// Path of the WebSocket for the viewer Foxglove.
pub(crate) const FOXGLOVE: &str = "/foxglove";

/// `GET /rosbridge`.
pub(crate) async fn rosbridge(
    State(app): State<App>,
    Commander(simulator): Commander,
    upgrade: Upgrade,
) -> Response {
    let (bridge, driver) = (app.bridge.clone(), driver(simulator.source()));
    upgrade.max_sent(rosbridge::MAX_SENT).run(&app, move |socket| rosbridge::serve(bridge, driver, socket))
}

/// `GET /foxglove`.
pub(crate) async fn foxglove(
    State(app): State<App>,
    Commander(simulator): Commander,
    role: Option<Extension<Role>>,
    student: Option<Extension<FromStudent>>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Response {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|v| v.to_str().ok());
    let chosen = match foxglove::choose_subprotocol(offered) {
        Ok(chosen) => chosen,
        Err(text) => return ApiError::invalid(text).into_response(),
    };
    let role = role.map_or(Role::Spectator, |Extension(role)| role);
    let (is_student, own) = (student.is_some(), app.clone());
    let permits = move |action| permits(&own, is_student, role, action);
    let source = simulator.source();
    let caller = Caller { source, driver: driver(source), permits: Box::new(permits) };
    let bridge = app.bridge.clone();
    let upgrade = upgrade.max_sent(foxglove::MAX_SENT).subprotocol(chosen);
    upgrade.run(&app, move |socket| foxglove::serve(bridge, caller, socket))
}

/// The recorded sender of a client's commands to the robot: [`Source::Student`] for a judged
/// program, otherwise [`Source::Ros`].
fn driver(source: Source) -> Source {
    match source {
        Source::Student => Source::Student,
        _ => Source::Ros,
    }
}

/// Whether a client may do something. An action needs the permission of the POST request that has
/// the same effect.
fn permits(app: &App, is_student: bool, role: Role, action: Action) -> Result<(), String> {
    let path = match action {
        Action::Drive => "/drive",
        Action::SetBrightness => "/sim/api/brightness",
        Action::SetClock => "/sim/api/clock",
        Action::Reset => "/sim/api/reset",
        Action::Respawn => "/sim/api/respawn",
    };
    let checked = if is_student { student::check(app, &Method::POST, path) } else { check_post(role, path) };
    checked.map_err(|refused| refused.text.into_owned())
}
