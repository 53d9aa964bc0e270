//! `POST /audio/play`, `/audio/stop`, `/audio/volume`.

use super::super::body::Body;
use super::super::error::RobotError;
use super::super::time::at;
use super::{number_of, refused, source, view};
use crate::body::read_json_apart;
use crate::state::App;
use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::response::Response;
use chicane_robot::audio::Sound;
use chicane_robot::{Command, Done};
use chicane_wire::{
    Detail, ErrorCode, Num, PlayRequest, PlayRequestBody, Played, SoundStopped, StopSoundRequest,
    StopSoundRequestBody, VolumeChanged, VolumeRequest,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Largest body of a request to play: a file of 16 MiB in base64, and some more.
const MAX_PLAY_BODY: usize = 24 << 20;
/// Up to here a body needs no place.
const SMALL: u64 = 64 << 10;
/// Requests with larger bodies at a time; more wait.
static PLACES: Semaphore = Semaphore::const_new(3);
/// But not longer than this.
const WAIT: Duration = Duration::from_secs(20);

/// A request to play. One with a large body holds a place from before it is read until it is answered.
pub(super) struct Play {
    request: PlayRequest,
    _place: Option<SemaphorePermit<'static>>,
}

impl<S: Sync> FromRequest<S> for Play {
    type Rejection = RobotError;

    async fn from_request(request: Request, _: &S) -> Result<Play, RobotError> {
        let place = match chicane_remote::web::content_length(request.headers()) {
            Some(length) if length <= SMALL => None,
            _ => tokio::time::timeout(WAIT, PLACES.acquire()).await.map_err(|_| busy())?.ok(),
        };
        Ok(Play { request: read_json_apart(request, MAX_PLAY_BODY).await?, _place: place })
    }
}

pub(super) fn busy() -> RobotError {
    RobotError::new(ErrorCode::Busy, "too many files are on their way; try again")
}

/// Plays a file: wav, mp3, ogg (Vorbis) or flac, at most 16 MiB, 600 s and 57.6 million samples, mono or stereo.
///
/// It is decoded to its end before it begins; what it lasts and when it ends goes by simulated time.
#[utoipa::path(post, path = "/audio/play", tag = "Audio", request_body = PlayRequestBody, responses(
    (status = 200, body = Played),
    (status = 409, body = Detail, description = "16 sounds play already, or no world is ready"),
    (status = 413, body = Detail, description = "The body is larger than 24 MiB"),
    (status = 422, body = Detail, description = "The body makes no sense, or the file can't be had or played"),
))]
pub(super) async fn play(State(app): State<App>, play: Play) -> Result<Response, RobotError> {
    let now = app.simulator.now();
    let world = now.assets_version;
    if now.current().is_none() {
        return Err(RobotError::new(ErrorCode::NotReady, "world not ready"));
    }
    drop(now);
    let PlayRequest { source, format, volume, looped, replace } = play.request;
    let ready = source::ready(&app, source, format).await?;
    let duration = Num(ready.clip.duration_s());
    let (file, source) = (Arc::clone(&ready.file), Arc::clone(&ready.source));
    let sound = Sound { clip: ready.clip, file, source, volume, looped, replace };
    // Only in the world that was there when it was asked for.
    let (done, now) = app.simulator.robot_of_world(Command::Play(Box::new(sound)), world).await?;
    let Done::SoundStarted(number) = done else { return Err(RobotError::failed("the robot did not play")) };
    Ok(at(now.time_s(), Json(Played { success: true, id: view::id(number), duration })))
}

/// Stops a sound, or all of them.
#[utoipa::path(post, path = "/audio/stop", tag = "Audio", request_body = StopSoundRequestBody, responses(
    (status = 200, body = SoundStopped),
    (status = 404, body = Detail, description = "No such sound plays"),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body makes no sense"),
))]
pub(super) async fn stop(
    State(app): State<App>,
    Body(request): Body<StopSoundRequest>,
) -> Result<Response, RobotError> {
    let (command, id) = match request {
        StopSoundRequest::One(id) => (Command::Stop { id: number_of(&id)? }, id),
        StopSoundRequest::All => (Command::StopAll, String::new()),
    };
    let (_, now) = app.simulator.robot(command).await.map_err(|why| refused(why, &id))?;
    Ok(at(now.time_s(), Json(SoundStopped { success: true })))
}

/// Makes a sound louder or quieter.
#[utoipa::path(post, path = "/audio/volume", tag = "Audio", request_body = VolumeRequest, responses(
    (status = 200, body = VolumeChanged),
    (status = 404, body = Detail, description = "No such sound plays"),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body makes no sense"),
))]
pub(super) async fn volume(
    State(app): State<App>,
    Body(request): Body<VolumeRequest>,
) -> Result<Response, RobotError> {
    let VolumeRequest { id, volume } = request;
    let command = Command::Volume { id: number_of(&id)?, volume };
    let (_, now) = app.simulator.robot(command).await.map_err(|why| refused(why, &id))?;
    Ok(at(now.time_s(), Json(VolumeChanged { success: true, id, volume: Num(volume) })))
}
