//! `GET /audio`: the playing sounds. `GET /audio/file/<id>`: the file of a sound.

use super::super::error::RobotError;
use super::super::query::Query;
use super::super::sensors::robot;
use super::super::stream::{Reading, SampleStamp, respond};
use super::super::to_wire::json;
use super::sound_id::number_of;
use super::to_wire;
use crate::body::PathName;
use crate::state::App;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chicane_host::driver::Published;
use chicane_wire::{Detail, ErrorCode, Octets, Sounds};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A stream of `/audio` sends the positions of the playing sounds every 20 ticks: ten times per
/// simulated second.
const POSITION_PERIOD_TICKS: u64 = 20;

/// The playing sounds.
pub(in super::super) fn sounds(now: &Published) -> Sounds {
    let playing = robot(now).map(|robot| &robot.playing);
    Sounds { playing: playing.iter().flat_map(|all| all.iter()).map(to_wire::playing).collect() }
}

/// A number that increases when a stream should send new positions. It is 0 while no sound plays.
pub(in super::super) fn position_step(now: &Published) -> u64 {
    let silent = robot(now).is_none_or(|robot| robot.playing.is_empty());
    let tick = now.running.as_ref().map_or(0, |running| running.snapshot.tick);
    if silent { 0 } else { tick / POSITION_PERIOD_TICKS }
}

struct SoundsReading;

impl Reading for SoundsReading {
    const NAME: &'static str = "audio";

    fn stamp(&self, _: &App, now: &Published) -> Option<SampleStamp> {
        let mut changes = DefaultHasher::new();
        for sound in robot(now).iter().flat_map(|robot| robot.playing.iter()) {
            (sound.id, sound.volume.to_bits()).hash(&mut changes);
        }
        Some(SampleStamp::new(now, position_step(now), now.time_s()).with(2, changes.finish()))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        Ok(json(&sounds(now)))
    }
}

/// Lists the playing sounds in the order of their start.
#[utoipa::path(get, path = "/audio", tag = "Audio",
    params(("stream" = Option<bool>, Query,
        description = "Server-sent events: on changes, and 10 per simulated second while a sound plays")),
    responses(
    (status = 200, body = Sounds),
    (status = 422, body = Detail, description = "A parameter is invalid"),
))]
pub(super) async fn audio(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    respond(&app, &query, SoundsReading).await
}

/// Returns the original file of a sound that plays or has played recently.
#[utoipa::path(get, path = "/audio/file/{id}", tag = "Audio",
    params(("id" = String, Path, description = "Id of the sound, such as a1")),
    responses(
    (status = 200, content(
        (Octets = "audio/wav"), (Octets = "audio/mpeg"), (Octets = "audio/ogg"), (Octets = "audio/flac"))),
    (status = 404, body = Detail, description = "No such sound, or its file is no longer kept"),
))]
pub(super) async fn file(State(app): State<App>, PathName(id): PathName) -> Result<Response, RobotError> {
    let now = app.simulator.now();
    let number = number_of(&id).ok();
    let found = number.and_then(|number| robot(&now)?.files.get(&number).cloned());
    let (format, file) = found.ok_or_else(|| {
        RobotError::new(ErrorCode::NoSuchSound, format!("there is no file of sound {id:.40}"))
    })?;
    let headers =
        [(header::CONTENT_TYPE, to_wire::content_type(format)), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Bytes::from_owner(file)).into_response())
}
