//! The robot's loudspeaker: the paths under `/audio`.

mod duration;
mod events;
mod fetch;
mod now;
mod play;
mod samples;
mod sound_id;
mod source;
mod to_wire;

pub(super) use now::{position_step, sounds};

use crate::state::App;
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// All routes under `/audio`.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(now::audio))
        .routes(routes!(play::play))
        .routes(routes!(duration::of_sound, duration::of_file))
        .routes(routes!(play::stop))
        .routes(routes!(play::volume))
        .routes(routes!(now::file))
        .routes(routes!(events::events))
        .route("/audio/stream", get(samples::stream))
}
