//! `/sim/api`: one file a resource. This file reads like the API document.

mod clock;
mod display;
mod evaluation;
mod events;
mod install;
mod lights;
mod objects;
mod packed;
mod print;
mod scene;
mod state;
mod step;
mod thumbnail;
mod vehicle;
mod viewer;
mod world;
mod worlds;

use crate::answers::answer;
use crate::body::drain;
use crate::docs::{self, CommonError, Docs};
use crate::error::ApiError;
use crate::state::App;
use axum::Router;
use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use chicane_wire::{ErrorCode, EvaluationEvent, JudgeCall, JudgeReply, JudgeSaid, RunEvent};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const ABOUT: &str = "Controls a Chicane simulator: world, vehicle, objects, lights, time and evaluation. Metres, \
    seconds and radians. A command answers `{\"ok\": true, …}`; every error is `{\"error\": \"<text>\"}`. \
    The robot has [a page of its own](/docs).";

/// Errors that every path can answer with.
const COMMON: [CommonError; 9] = [
    ("400", "The request can't be understood", "ErrorBody"),
    ("401", "A token is needed", "ErrorBody"),
    ("403", "The request comes from another site, or by a name that is not ours", "ErrorBody"),
    ("408", "The request did not come in time", "ErrorBody"),
    ("413", "The body is larger than 1 MiB", "ErrorBody"),
    ("414", "The address is too long", "ErrorBody"),
    ("431", "The head is too large", "ErrorBody"),
    ("500", "Something went wrong inside", "ErrorBody"),
    ("503", "Not available at the moment", "ErrorBody"),
];

/// Where these paths are.
const BASE: &str = "/sim/api";

/// Every path under `/sim/api`, with its description.
fn resources() -> OpenApiRouter<App> {
    let mut document = docs::document("Chicane", ABOUT);
    // Payloads of the event stream, and the protocol between the simulator and a judging script.
    docs::add_schema::<RunEvent>(&mut document);
    docs::add_schema::<EvaluationEvent>(&mut document);
    docs::add_schema::<JudgeCall>(&mut document);
    docs::add_schema::<JudgeSaid>(&mut document);
    docs::add_schema::<JudgeReply>(&mut document);
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
        // World management
        .routes(routes!(worlds::list))
        .routes(routes!(worlds::switch))
        .routes(routes!(worlds::publication))
        .routes(routes!(install::install))
        .routes(routes!(install::delete))
        .routes(routes!(worlds::waypoints))
        .routes(routes!(print::print))
        .routes(routes!(thumbnail::thumbnail_of))
}

/// The whole server.
pub(crate) fn router(app: App) -> Router {
    let (resources, document) = resources().split_for_parts();
    let api = resources.merge(Docs::new(document, BASE, &COMMON, ApiError::into_response).routes());
    Router::new()
        .nest(BASE, api)
        .merge(crate::robot::router(&app))
        .route("/", get(viewer::home))
        .route("/sim", get(viewer::page))
        .route("/sim/", get(viewer::page))
        .route("/sim/viewer/{file}", get(viewer::asset))
        .route("/sim/scene/{file}", get(scene::file))
        .route("/metrics", get(metrics))
        .route("/cdn/{*path}", get(crate::published::serve))
        .fallback(no_such_path)
        .method_not_allowed_fallback(wrong_method)
        .with_state(app)
}

/// The OpenAPI document as it is served.
pub fn openapi() -> String {
    Docs::new(resources().split_for_parts().1, BASE, &COMMON, ApiError::into_response).json()
}

async fn no_such_path(axum::extract::State(app): axum::extract::State<App>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    drain(request).await;
    if crate::robot::is_path(&path) {
        let error = ApiError::new(ErrorCode::NotFound, "no such path; /docs lists what there is");
        return crate::robot::at(app.simulator.now().time_s(), answer(error, &path));
    }
    ApiError::new(ErrorCode::NotFound, "no such path; /sim/api/docs lists what there is").into_response()
}

async fn wrong_method(request: Request) -> ApiError {
    drain(request).await;
    ApiError::new(ErrorCode::MethodNotAllowed, "this path does not take this method; see the Allow header")
}

async fn metrics(axum::extract::State(app): axum::extract::State<App>) -> Response {
    (
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        app.http_metrics.text(&app.metrics),
    )
        .into_response()
}

/// JSON that is written already.
struct Written(Bytes);

impl IntoResponse for Written {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}
