//! `/sim/api`: the routes in the order of the API document. Each resource has its own file.

mod builder;
mod clock;
mod display;
mod evaluation;
mod events;
mod install;
mod leaderboard;
mod lights;
mod objects;
mod packed;
mod print;
mod ready_json;
mod recording;
mod replay;
mod scene;
mod state;
mod step;
mod thumbnail;
mod vehicle;
mod viewer;
mod workspace;
mod world;
mod worlds;

pub(crate) use builder::ProjectScenes;

use crate::body::drain;
use crate::docs::{self, CommonError, Docs};
use crate::error::ApiError;
use crate::error_response::error_response;
use crate::state::App;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use chicane_wire::{
    ErrorCode, EvaluationEvent, JudgeCall, JudgeReply, JudgeSaid, ProjectEditors, ProjectRevision, RunEvent,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const ABOUT: &str = "Controls a Chicane simulator: world, vehicle, objects, lights, time and evaluation. \
    The API of the robot is described [on another page](/docs).\n\n\
    Units are metres, seconds and radians. A command returns `{\"ok\": true, …}`. \
    Every error is `{\"error\": \"<text>\", \"code\": \"<code>\"}`.";

/// Errors that every path can return.
const COMMON_ERRORS: [CommonError; 10] = [
    ("400", "The request is malformed, or a value is out of range", "ErrorBody"),
    ("401", "A token is needed", "ErrorBody"),
    (
        "403",
        "The role of the token, the request's Host or the site of its page does not permit it",
        "ErrorBody",
    ),
    ("408", "The request did not arrive in time", "ErrorBody"),
    ("413", "The body is larger than 1 MiB", "ErrorBody"),
    ("414", "The address is too long", "ErrorBody"),
    ("429", "Too many wrong tokens came from this address", "ErrorBody"),
    ("431", "The header section is too large", "ErrorBody"),
    ("500", "The simulator failed on this request", "ErrorBody"),
    ("503", "Not available at the moment", "ErrorBody"),
];

/// Prefix of all paths of this API.
const BASE: &str = "/sim/api";

/// All routes under `/sim/api` with their descriptions.
#[allow(deprecated, reason = "older clients use these paths")]
fn resources() -> OpenApiRouter<App> {
    let mut document = docs::document("Chicane", ABOUT);
    // No route refers to these schemas. They describe the payloads of the event streams, and the
    // messages between the simulator and a judging script.
    docs::add_schema::<RunEvent>(&mut document);
    docs::add_schema::<EvaluationEvent>(&mut document);
    docs::add_schema::<JudgeCall>(&mut document);
    docs::add_schema::<JudgeSaid>(&mut document);
    docs::add_schema::<JudgeReply>(&mut document);
    docs::add_schema::<ProjectRevision>(&mut document);
    docs::add_schema::<ProjectEditors>(&mut document);
    OpenApiRouter::with_openapi(document)
        // State and time
        .routes(routes!(state::status))
        .routes(routes!(clock::get_clock, clock::set_clock))
        .routes(routes!(step::step))
        // Vehicle
        .routes(routes!(vehicle::get_pose, vehicle::set_pose))
        .routes(routes!(vehicle::respawn))
        .routes(routes!(vehicle::reset))
        .routes(routes!(vehicle::profile))
        // World and objects
        .routes(routes!(world::world))
        .routes(routes!(world::route))
        .routes(routes!(world::bounds))
        .routes(routes!(scene::scene))
        .routes(routes!(objects::list))
        .routes(routes!(objects::set_pose))
        // Traffic lights
        .routes(routes!(lights::list))
        .routes(routes!(lights::set))
        // Display
        .routes(routes!(display::get_brightness, display::set_brightness))
        .routes(routes!(display::get_overlay, display::set_overlay))
        // Monitoring
        .routes(routes!(state::state))
        .routes(routes!(events::events))
        // Evaluation
        .routes(routes!(evaluation::document))
        .routes(routes!(evaluation::start))
        .routes(routes!(evaluation::stop))
        .routes(routes!(evaluation::session))
        .routes(routes!(evaluation::record))
        .routes(routes!(evaluation::list))
        .routes(routes!(replay::tracks))
        .routes(routes!(replay::picture))
        .routes(routes!(replay::file, evaluation::run))
        .routes(routes!(workspace::list))
        .routes(routes!(workspace::file))
        // Recording
        .routes(routes!(recording::get))
        .routes(routes!(recording::start))
        .routes(routes!(recording::stop))
        // Leaderboard
        .routes(routes!(leaderboard::get))
        .routes(routes!(leaderboard::list, leaderboard::hand_in))
        .routes(routes!(leaderboard::submission, leaderboard::remove))
        // World management
        .routes(routes!(worlds::list))
        .routes(routes!(worlds::switch))
        .routes(routes!(worlds::publication))
        .routes(routes!(install::install))
        .routes(routes!(install::delete))
        .routes(routes!(worlds::waypoints))
        .routes(routes!(print::print))
        .routes(routes!(thumbnail::thumbnail_of))
        .merge(builder::resources())
}

/// All routes of the server.
pub(crate) fn router(app: App) -> Router {
    let (resources, document) = resources().split_for_parts();
    let api = resources.merge(Docs::new(document, BASE, &COMMON_ERRORS, ApiError::into_response).routes());
    Router::new()
        .nest(BASE, api)
        .merge(crate::robot::router(&app))
        .route("/", get(viewer::home))
        .route("/sim", get(viewer::page))
        .route("/sim/", get(viewer::page))
        .route("/sim/leaderboard", get(viewer::leaderboard))
        .route("/build", get(viewer::build))
        .route("/sim/build", get(viewer::build_alias))
        .route("/sim/viewer/{file}", get(viewer::asset))
        .route("/sim/scene/{file}", get(scene::file))
        .route("/metrics", get(metrics))
        .route(crate::bridge::FOXGLOVE, get(crate::bridge::foxglove))
        .route("/cdn/{*path}", get(crate::own_cdn::serve))
        .fallback(no_such_path)
        .method_not_allowed_fallback(wrong_method)
        .with_state(app)
}

/// The OpenAPI document of `/sim/api`, as the server returns it.
pub fn openapi() -> String {
    Docs::new(resources().split_for_parts().1, BASE, &COMMON_ERRORS, ApiError::into_response).json()
}

async fn no_such_path(State(app): State<App>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let other = crate::robot::without_slash(request.uri());
    drain(request).await;
    if let Some(other) = other {
        // The status 307 keeps method and body of the request.
        let redirect = Redirect::temporary(&other);
        return crate::robot::with_sim_time(app.simulator.now().time_s(), redirect);
    }
    if crate::robot::is_path(&path) {
        let error = ApiError::new(ErrorCode::NotFound, "no such path; /docs lists all paths");
        return crate::robot::with_sim_time(app.simulator.now().time_s(), error_response(error, &path));
    }
    ApiError::new(ErrorCode::NotFound, "no such path; /sim/api/docs lists all paths").into_response()
}

async fn wrong_method(request: Request) -> ApiError {
    drain(request).await;
    ApiError::new(ErrorCode::MethodNotAllowed, "this path does not support this method; see the Allow header")
}

async fn metrics(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], crate::metrics::text(&app))
        .into_response()
}
