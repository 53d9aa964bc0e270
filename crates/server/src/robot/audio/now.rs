//! `GET /audio`: what plays; `GET /audio/file/<id>`: the file of a sound.

use super::super::error::RobotError;
use super::super::query::Query;
use super::super::sensors::robot;
use super::super::stream::{Reading, Stamp, answer};
use super::super::view::json;
use super::{number_of, view};
use crate::body::Name;
use crate::state::App;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chicane_host::driver::Published;
use chicane_wire::{Detail, ErrorCode, Octets, Sounds};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Ticks from one position to the next in a stream: ten a simulated second.
const EVERY: u64 = 20;

/// What plays.
pub(in super::super) fn sounds(now: &Published) -> Sounds {
    let playing = robot(now).map(|robot| &robot.playing);
    Sounds { playing: playing.iter().flat_map(|all| all.iter()).map(view::playing).collect() }
}

/// A number that grows with positions: it stands still while nothing plays.
pub(in super::super) fn moment(now: &Published) -> u64 {
    let silent = robot(now).is_none_or(|robot| robot.playing.is_empty());
    let tick = now.running.as_ref().map_or(0, |seen| seen.snapshot.tick);
    if silent { 0 } else { tick / EVERY }
}

struct Audio;

impl Reading for Audio {
    const NAME: &'static str = "audio";

    fn stamp(&self, _: &App, now: &Published) -> Option<Stamp> {
        let mut changes = DefaultHasher::new();
        for sound in robot(now).iter().flat_map(|robot| robot.playing.iter()) {
            (sound.id, sound.volume.to_bits()).hash(&mut changes);
        }
        Some(Stamp::new(now, moment(now), now.time_s()).with(2, changes.finish()))
    }

    async fn json(&self, _: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        Ok(json(&sounds(now)))
    }
}

/// What plays, in the order in which it began.
#[utoipa::path(get, path = "/audio", tag = "Audio",
    params(("stream" = Option<bool>, Query,
        description = "Server-sent events: on changes, and 10 a simulated second while something plays")),
    responses(
    (status = 200, body = Sounds),
    (status = 422, body = Detail, description = "A parameter makes no sense"),
))]
pub(super) async fn audio(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    answer(&app, &query, Audio).await
}

/// The file of a sound that plays, or did a while ago, as it came.
#[utoipa::path(get, path = "/audio/file/{id}", tag = "Audio",
    params(("id" = String, Path, description = "Of the sound, such as a1")),
    responses(
    (status = 200, content(
        (Octets = "audio/wav"), (Octets = "audio/mpeg"), (Octets = "audio/ogg"), (Octets = "audio/flac"))),
    (status = 404, body = Detail, description = "No such sound, or its file is forgotten"),
))]
pub(super) async fn file(State(app): State<App>, Name(id): Name) -> Result<Response, RobotError> {
    let now = app.simulator.now();
    let number = number_of(&id).ok();
    let found = number.and_then(|number| robot(&now)?.files.get(&number).cloned());
    let (format, file) = found.ok_or_else(|| {
        RobotError::new(ErrorCode::NoSuchSound, format!("there is no file of a sound {id:.40}"))
    })?;
    let headers = [(header::CONTENT_TYPE, view::content_type(format)), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Bytes::from_owner(file)).into_response())
}
