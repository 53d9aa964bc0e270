//! The robot's own web API, at the root: what a physical car has too.

mod audio;
mod camera;
mod error;

use crate::app::App;
use axum::Router;
use axum::routing::get;

/// The paths of the robot.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/camera", get(camera::camera))
}
