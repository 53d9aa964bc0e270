//! The robot's loudspeaker over the web: `/audio`, one file a concern.

mod address;
mod events;
mod fetch;
mod now;
mod play;
mod samples;
mod source;
mod view;
mod workspace;

pub(super) use now::{moment, sounds};

use super::error::RobotError;
use crate::state::App;
use axum::routing::get;
use chicane_host::driver::Refused;
use chicane_wire::ErrorCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Largest file of a sound.
const MAX_FILE: usize = 16 << 20;

/// Every path under `/audio`.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(now::audio))
        .routes(routes!(play::play))
        .routes(routes!(play::stop))
        .routes(routes!(play::volume))
        .routes(routes!(now::file))
        .routes(routes!(events::events))
        .route("/audio/stream", get(samples::stream))
}

/// The number of a sound that a client names.
fn number_of(id: &str) -> Result<u64, RobotError> {
    let digits =
        id.strip_prefix('a').filter(|d| d.bytes().all(|b| b.is_ascii_digit()) && !d.starts_with('0'));
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| no_such_sound(id))
}

/// A refusal by the robot, for the one who named a sound.
fn refused(refused: Refused, id: &str) -> RobotError {
    match refused {
        Refused::ByRobot(chicane_robot::Refusal::NoSuchSound) => no_such_sound(id),
        other => other.into(),
    }
}

fn no_such_sound(id: &str) -> RobotError {
    let text = format!("no sound {id:.40} plays; GET /audio lists those that do");
    RobotError::new(ErrorCode::NoSuchSound, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers_with_a_letter() {
        assert_eq!(number_of("a1"), Ok(1));
        assert_eq!(number_of("a120"), Ok(120));
        for id in ["", "a", "1", "b1", "a0", "a01", "a+1", "a1 ", "a99999999999999999999"] {
            assert!(number_of(id).is_err(), "{id:?}");
        }
    }
}
