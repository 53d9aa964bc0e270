//! `POST /audio/play`, `/audio/stop`, `/audio/volume`.

use super::super::body::RobotJsonBody;
use super::super::error::RobotError;
use super::super::sim_time::with_sim_time;
use super::sound_id::{number_of, refused};
use super::source::Reach;
use super::{source, to_wire};
use crate::body::read_json_without_permit;
use crate::caller::Commander;
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

/// Largest body of `/audio/play` and `/audio/duration`, in bytes: a file of 16 MiB in base64, and
/// the other fields.
const MAX_PLAY_BODY_BYTES: usize = 24 << 20;
/// A body whose `Content-Length` is at most this many bytes needs no permit.
const SMALL_BODY_BYTES: u64 = 64 << 10;
/// How many requests with larger bodies, or without `Content-Length`, are handled at a time.
/// Further requests wait.
static LARGE_BODY_PERMITS: Semaphore = Semaphore::const_new(3);
/// Longest time that a request waits for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Extracts a request to play or to measure a file. A request with a large body acquires a permit
/// before its body is read, and holds the permit until the response. The permits limit the memory
/// for large bodies.
pub(super) struct PlayInput {
    pub(super) request: PlayRequest,
    _permit: Option<SemaphorePermit<'static>>,
}

impl<S: Sync> FromRequest<S> for PlayInput {
    type Rejection = RobotError;

    async fn from_request(request: Request, _: &S) -> Result<PlayInput, RobotError> {
        let permit = match chicane_remote::web::content_length(request.headers()) {
            Some(length) if length <= SMALL_BODY_BYTES => None,
            _ => tokio::time::timeout(PERMIT_TIMEOUT, LARGE_BODY_PERMITS.acquire())
                .await
                .map_err(|_| source::busy())?
                .ok(),
        };
        Ok(PlayInput {
            request: read_json_without_permit(request, MAX_PLAY_BODY_BYTES).await?,
            _permit: permit,
        })
    }
}

/// Plays a sound file.
///
/// Formats: wav, mp3, ogg (Vorbis) and flac, mono or stereo. Limits: 16 MiB, 600 s and 57.6 million
/// samples. The file is decoded completely before the sound starts. The sound is played in simulated
/// time.
///
/// If the simulator accepts connections of its own machine only and has no token, `path` may be any
/// file that the simulator's user may read, and `url` may name this machine. Neither applies to a
/// judged program.
#[utoipa::path(post, path = "/audio/play", tag = "Audio", request_body = PlayRequestBody, responses(
    (status = 200, body = Played),
    (status = 409, body = Detail, description = "16 sounds play already, or no world is ready"),
    (status = 413, body = Detail, description = "The body is larger than 24 MiB"),
    (status = 422, body = Detail, description = "The body is invalid, or the file can't be fetched, read or decoded"),
))]
pub(super) async fn play(
    State(app): State<App>,
    Commander(simulator): Commander,
    reach: Reach,
    play: PlayInput,
) -> Result<Response, RobotError> {
    let now = simulator.now();
    let world = now.assets_version;
    if now.current().is_none() {
        return Err(RobotError::new(ErrorCode::NotReady, "world not ready"));
    }
    drop(now);
    let PlayRequest { source, format, volume, looped, replace } = play.request;
    let loaded = source::load(&app, reach, source, format).await?;
    let duration = Num(loaded.clip.duration_s());
    let (file, source) = (Arc::clone(&loaded.file), Arc::clone(&loaded.source));
    let sound = Sound { clip: loaded.clip, file, source, volume, looped, replace };
    // If another world was loaded since the request came, the sound must not start in that world.
    let (done, now) = simulator.robot_of_world(Command::Play(Box::new(sound)), world).await?;
    let Done::SoundStarted(number) = done else {
        return Err(RobotError::failed("the robot did not start the sound"));
    };
    Ok(with_sim_time(now.time_s(), Json(Played { success: true, id: to_wire::id(number), duration })))
}

/// Stops one sound, or all sounds.
#[utoipa::path(post, path = "/audio/stop", tag = "Audio", request_body = StopSoundRequestBody, responses(
    (status = 200, body = SoundStopped),
    (status = 404, body = Detail, description = "No such sound plays"),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body is invalid"),
))]
pub(super) async fn stop(
    Commander(simulator): Commander,
    RobotJsonBody(request): RobotJsonBody<StopSoundRequest>,
) -> Result<Response, RobotError> {
    let (command, id) = match request {
        StopSoundRequest::One(id) => (Command::Stop { id: number_of(&id)? }, id),
        StopSoundRequest::All => (Command::StopAll, String::new()),
    };
    let (_, now) = simulator.robot(command).await.map_err(|why| refused(why, &id))?;
    Ok(with_sim_time(now.time_s(), Json(SoundStopped { success: true })))
}

/// Sets the volume of a sound.
#[utoipa::path(post, path = "/audio/volume", tag = "Audio", request_body = VolumeRequest, responses(
    (status = 200, body = VolumeChanged),
    (status = 404, body = Detail, description = "No such sound plays"),
    (status = 409, body = Detail, description = "No world is ready"),
    (status = 422, body = Detail, description = "The body is invalid"),
))]
pub(super) async fn volume(
    Commander(simulator): Commander,
    RobotJsonBody(request): RobotJsonBody<VolumeRequest>,
) -> Result<Response, RobotError> {
    let VolumeRequest { id, volume } = request;
    let command = Command::Volume { id: number_of(&id)?, volume };
    let (_, now) = simulator.robot(command).await.map_err(|why| refused(why, &id))?;
    Ok(with_sim_time(now.time_s(), Json(VolumeChanged { success: true, id, volume: Num(volume) })))
}
