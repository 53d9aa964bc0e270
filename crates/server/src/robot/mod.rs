//! The robot's own web API, at the root: what a physical car has too. This file reads like the API
//! document.

mod about;
mod audio;
mod body;
mod camera;
mod command;
mod error;
mod lidar;
mod query;
mod sensors;
mod sockets;
mod states;
mod stream;
mod time;
mod view;

pub(crate) use error::RobotError;
pub(crate) use time::at;

use crate::body::drain;
use crate::docs::{self, CommonError, Docs};
use crate::error::ApiError;
use crate::state::App;
use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chicane_wire::{ErrorBody, ErrorCode};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const ABOUT: &str = "Drives a robot car and reads its sensors; the simulator has [a page of its own](/sim/api/docs). Metres, seconds and radians, where nothing else is \
    said. Every answer carries `X-Sim-Time`, the simulated seconds that it speaks of. An error is \
    `{\"detail\": \"<text>\"}`, whoever is kept out reads `{\"error\": \"<text>\"}` as on every path, \
    and a sensor without a reading yet says `{\"error\": …, \"status\": \"waiting\"}`. Every path that is read takes `?stream=true` or `Accept: text/event-stream` and then sends what is new as \
    server-sent events, the camera as MJPEG.\n\n\
    WebSockets: `/speed/stream` and `/steering/stream` take text frames `{\"value\": x}`, a command each. A frame \
    that makes no sense is answered by `{\"detail\": \"<text>\"}`. When the client goes, its last command is zeroed \
    after 0.7 s unless a newer one came.\n\n\
    `/audio/stream?sample_rate=24000&channels=1&volume=1.0` plays samples: it says \
    `{\"id\", \"sample_rate\", \"channels\"}` first and then takes binary frames of 16-bit samples, little end first, \
    channels by turns, at the pace of simulated time and up to two seconds ahead of it. Closing it stops the sound, and \
    stopping the sound closes it.\n\n\
    `/rosbridge` speaks the rosbridge protocol, version 2: the robot's ROS 2 topics as JSON, for `roslibpy` and `roslib`.";

/// Errors that every path can answer with.
const COMMON: [CommonError; 9] = [
    ("400", "The request can't be understood", "ErrorBody"),
    ("401", "A token is needed", "ErrorBody"),
    ("403", "The request comes from another site, or by a name that is not ours", "ErrorBody"),
    ("408", "The request did not come in time", "Detail"),
    ("413", "The body is too large", "Detail"),
    ("414", "The address is too long", "ErrorBody"),
    ("431", "The head is too large", "ErrorBody"),
    ("500", "Something went wrong inside", "Detail"),
    ("503", "Not available at the moment", "Detail"),
];

/// What the robot's paths begin with.
const FIRST: [&str; 15] = [
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

/// Whether a path is the robot's.
pub(crate) fn is_path(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or("");
    FIRST.contains(&first)
}

/// Every path of the robot that has a description.
fn routes() -> OpenApiRouter<App> {
    let mut document = docs::document("Chicane robot", ABOUT);
    // No path answers with this one by itself: it comes from the connection.
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

/// The OpenAPI document as it is served.
pub fn openapi() -> String {
    Docs::new(routes().split_for_parts().1, "", &COMMON, refuse).json()
}

fn refuse(error: ApiError) -> Response {
    RobotError::from(error).into_response()
}

/// Everything at the root.
pub(crate) fn router(app: &App) -> Router<App> {
    let (routes, document) = routes().split_for_parts();
    routes
        .route("/speed/stream", get(sockets::speed))
        .route("/steering/stream", get(sockets::steering))
        .route("/rosbridge", get(crate::bridge::open))
        .merge(Docs::new(document, "", &COMMON, refuse).routes())
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(app.clone(), time::stamp))
}

async fn wrong_method(request: Request) -> RobotError {
    drain(request).await;
    let text = "this path does not take this method; see the Allow header";
    RobotError::new(ErrorCode::MethodNotAllowed, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_robot_knows_its_paths() {
        let (_, document) = routes().split_for_parts();
        assert!(document.paths.paths.keys().all(|path| is_path(path)));
        assert!(is_path("/speed/stream") && is_path("/docs/x.css") && is_path("/openapi.json"));
        for other in ["/", "/sim", "/sim/api/openapi.json", "/metrics", "/nothing", "/speedy"] {
            assert!(!is_path(other), "{other}");
        }
    }
}
