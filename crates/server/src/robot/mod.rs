//! The robot's API, at the root of the server. A physical car has the same paths. This file lists
//! the routes in the order of the API document.

mod about;
mod audio;
mod body;
mod camera;
mod command;
mod error;
mod lidar;
mod query;
mod sensors;
mod sim_time;
mod sockets;
mod states;
mod stream;
mod to_wire;

pub(crate) use error::RobotError;
pub(crate) use sim_time::with_sim_time;

use crate::body::drain;
use crate::docs::{self, CommonError, Docs};
use crate::error::ApiError;
use crate::state::App;
use axum::extract::Request;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use chicane_wire::{ErrorBody, ErrorCode};
use std::sync::{Arc, LazyLock};
use utoipa::openapi::OpenApi;
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const ABOUT: &str = "Drives a robot car and reads its sensors. The API of the simulator is described \
    [on another page](/sim/api/docs).\n\n\
    Units are metres, seconds and radians, unless another unit is named. Every response has the header \
    `X-Sim-Time` with its simulated time in seconds. An error is \
    `{\"detail\": \"<text>\", \"code\": \"<code>\"}`. An error of the access rules is \
    `{\"error\": \"<text>\", \"code\": \"<code>\"}`, as on every path. Before the first reading of a sensor, the \
    error is `{\"error\": …, \"status\": \"waiting\", \"code\": \"no_reading\"}`.\n\n\
    With `?stream=true` or `Accept: text/event-stream`, a GET request of a reading returns a stream: server-sent \
    events, or MJPEG for the camera.\n\n\
    WebSockets: `/speed/stream` and `/steering/stream` accept text frames `{\"value\": x}`. Each frame is a command. \
    The reply to an invalid frame is `{\"detail\": \"<text>\", \"code\": \"<code>\"}`. When the client disconnects, its last command is set \
    to zero after 0.7 s, unless a newer command was given.\n\n\
    `/audio/stream?sample_rate=24000&channels=1&volume=1.0` plays samples. The server first sends \
    `{\"id\", \"sample_rate\", \"channels\"}`. Then it accepts binary frames of 16-bit little-endian samples with \
    interleaved channels. Samples are played in simulated time, and the client may send up to two seconds in advance. \
    Closing the socket stops the sound, and stopping the sound closes the socket.\n\n\
    `/rosbridge` supports version 2 of the rosbridge protocol: the robot's ROS 2 topics as JSON, for `roslibpy` and \
    `roslib`.";

/// Errors that every path can return.
const COMMON_ERRORS: [CommonError; 10] = [
    ("400", "The request is malformed", "ErrorBody"),
    ("401", "A token is needed", "ErrorBody"),
    (
        "403",
        "The role of the token, the request's Host or the site of its page does not permit it",
        "ErrorBody",
    ),
    ("408", "The request did not arrive in time", "Detail"),
    ("413", "The body is too large", "Detail"),
    ("414", "The address is too long", "ErrorBody"),
    ("429", "Too many wrong tokens came from this address", "ErrorBody"),
    ("431", "The header section is too large", "ErrorBody"),
    ("500", "The simulator failed on this request", "Detail"),
    ("503", "Not available at the moment", "Detail"),
];

/// First segments of the robot's paths.
const FIRST_SEGMENTS: [&str; 15] = [
    "audio",
    "battery",
    "camera",
    "docs",
    "drive",
    "health",
    "imu",
    "info",
    "lidar",
    "odom",
    "openapi.json",
    "rosbridge",
    "speed",
    "states",
    "steering",
];

/// Whether a path belongs to the robot's API.
pub(crate) fn is_path(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or("");
    FIRST_SEGMENTS.contains(&first)
}

/// All routes of the robot's API that the OpenAPI document describes.
fn routes() -> OpenApiRouter<App> {
    let mut document = docs::document("Chicane robot", ABOUT);
    // No route refers to this schema. It describes the errors of the access rules and of the
    // listener.
    let schemas = &mut document.components.get_or_insert_default().schemas;
    schemas.insert(ErrorBody::name().into_owned(), ErrorBody::schema());
    OpenApiRouter::with_openapi(document)
        // Driving
        .routes(routes!(sensors::speed, command::speed))
        .routes(routes!(sensors::steering, command::steering))
        .routes(routes!(command::drive))
        // Sensors
        .routes(routes!(sensors::odom))
        .routes(routes!(sensors::imu))
        .routes(routes!(sensors::battery))
        .routes(routes!(lidar::lidar))
        .routes(routes!(states::states))
        // Camera
        .routes(routes!(camera::camera))
        .routes(routes!(sensors::pan, command::pan))
        .routes(routes!(sensors::tilt, command::tilt))
        // Loudspeaker
        .merge(audio::routes())
        // About
        .routes(routes!(about::info))
        .routes(routes!(about::health))
}

/// The OpenAPI document of the robot's API, as the server returns it.
pub fn openapi() -> String {
    Docs::new(routes().split_for_parts().1, "", &COMMON_ERRORS, refuse).json()
}

/// Paths that the OpenAPI document can't describe, because they are WebSockets.
const SOCKETS: [&str; 4] = ["/audio/stream", "/rosbridge", "/speed/stream", "/steering/stream"];

/// All paths of the robot's API except those of its documentation, in alphabetical order.
fn endpoints(document: &OpenApi) -> Arc<[String]> {
    let sockets = SOCKETS.map(str::to_owned);
    let mut paths: Vec<String> = document.paths.paths.keys().cloned().chain(sockets).collect();
    paths.sort_unstable();
    paths.into()
}

/// The address without its slash at the end, if the rest is a path of the robot's API. Clients that
/// were written for other cars use such addresses, because the servers of those cars redirect them.
pub(crate) fn without_slash(uri: &Uri) -> Option<String> {
    static PATHS: LazyLock<Arc<[String]>> = LazyLock::new(|| endpoints(&routes().split_for_parts().1));
    let path = uri.path().strip_suffix('/')?;
    let matches = |known: &String| {
        let fits = |(own, sent): (&str, &str)| own == sent || (own.starts_with('{') && !sent.is_empty());
        known.split('/').count() == path.split('/').count() && known.split('/').zip(path.split('/')).all(fits)
    };
    let known = PATHS.iter().any(matches) || ["/docs", "/openapi.json"].contains(&path);
    known.then(|| match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    })
}

fn refuse(error: ApiError) -> Response {
    RobotError::from(error).into_response()
}

/// All routes of the robot's API.
pub(crate) fn router(app: &App) -> Router<App> {
    let (routes, document) = routes().split_for_parts();
    let endpoints = about::Endpoints(endpoints(&document));
    routes
        .route("/speed/stream", get(sockets::speed))
        .route("/steering/stream", get(sockets::steering))
        .route("/rosbridge", get(crate::bridge::rosbridge))
        .merge(Docs::new(document, "", &COMMON_ERRORS, refuse).routes())
        .layer(Extension(endpoints))
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(app.clone(), sim_time::stamp))
}

async fn wrong_method(request: Request) -> RobotError {
    drain(request).await;
    let text = "this path does not support this method; see the Allow header";
    RobotError::new(ErrorCode::MethodNotAllowed, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_at_the_end_of_a_known_path_is_removed() {
        let target = |address: &'static str| without_slash(&Uri::from_static(address));
        assert_eq!(target("/speed/").as_deref(), Some("/speed"));
        assert_eq!(target("/lidar/?step=2&x=%2F").as_deref(), Some("/lidar?step=2&x=%2F"));
        assert_eq!(target("/audio/file/a1/").as_deref(), Some("/audio/file/a1"));
        assert_eq!(target("/speed/stream/").as_deref(), Some("/speed/stream"));
        for none in
            ["/", "//", "/speed", "/speed//", "//speed/", "/nothing/", "/audio/file//", "/sim/api/pose/"]
        {
            assert_eq!(target(none), None, "{none}");
        }
    }

    #[test]
    fn is_path_recognises_all_paths_of_the_robot() {
        let (_, document) = routes().split_for_parts();
        assert!(document.paths.paths.keys().all(|path| is_path(path)));
        assert!(is_path("/speed/stream") && is_path("/docs/x.css") && is_path("/openapi.json"));
        for other in ["/", "/sim", "/sim/api/openapi.json", "/metrics", "/nothing", "/speedy"] {
            assert!(!is_path(other), "{other}");
        }
    }
}
