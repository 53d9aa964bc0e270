//! `/audio/duration`: how long a sound is, without playing it.

use super::super::error::RobotError;
use super::super::query::Query;
use super::super::sensors::robot;
use super::super::sim_time::with_sim_time;
use super::play::PlayInput;
use super::sound_id::number_of;
use super::source::{self, Reach};
use crate::state::App;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use chicane_wire::{Detail, DurationRequest, ErrorCode, Num, PlayRequest, SoundDuration, SoundSource};

/// Returns the duration of a playing sound, or of a file.
#[utoipa::path(get, path = "/audio/duration", tag = "Audio", operation_id = "get_duration",
    params(
    ("id" = Option<String>, Query, description = "Id of a playing sound, such as a1"),
    ("path" = Option<String>, Query, description = "Path of a file, as for POST /audio/play")),
    responses(
    (status = 200, body = SoundDuration),
    (status = 404, body = Detail, description = "No such sound plays"),
    (status = 422, body = Detail, description = "A parameter is invalid, or the file can't be read or decoded"),
))]
pub(super) async fn of_sound(
    State(app): State<App>,
    reach: Reach,
    query: Query,
) -> Result<Response, RobotError> {
    match (query.get("id"), query.get("path")) {
        (Some(id), None) => {
            let number = number_of(id)?;
            let now = app.simulator.now();
            let playing = robot(&now).and_then(|robot| robot.playing.iter().find(|sound| sound.id == number));
            let playing = playing.ok_or_else(|| {
                RobotError::new(
                    ErrorCode::NoSuchSound,
                    format!("no sound {id:.40} plays; GET /audio lists them"),
                )
            })?;
            Ok(response(&app, playing.duration_s.map(Num)))
        }
        (None, Some(path)) if path.chars().count() <= PlayRequest::MAX_PATH => {
            let source = SoundSource::Path(path.to_owned());
            let loaded = source::load(&app, reach, source, None).await?;
            Ok(response(&app, Some(Num(loaded.clip.duration_s()))))
        }
        _ => Err(RobotError::bad_value("give either id or path, up to 1024 characters")),
    }
}

/// Returns the duration of a file, which is not played.
#[utoipa::path(post, path = "/audio/duration", tag = "Audio", operation_id = "measure_duration",
    request_body = DurationRequest, responses(
    (status = 200, body = SoundDuration),
    (status = 413, body = Detail, description = "The body is larger than 24 MiB"),
    (status = 422, body = Detail, description = "The body is invalid, or the file can't be fetched, read or decoded"),
))]
pub(super) async fn of_file(
    State(app): State<App>,
    reach: Reach,
    input: PlayInput,
) -> Result<Response, RobotError> {
    let loaded = source::load(&app, reach, input.request.source, input.request.format).await?;
    Ok(response(&app, Some(Num(loaded.clip.duration_s()))))
}

fn response(app: &App, duration: Option<Num>) -> Response {
    with_sim_time(app.simulator.now().time_s(), Json(SoundDuration { success: true, duration }))
}
