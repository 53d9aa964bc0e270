//! `GET /audio/events`: what happens to sounds, for the page that plays them.
//!
//! A listener first gets a `play` for everything that plays, then every event. A task beside it takes
//! events from the common ring as they come and puts them into a queue of its own; one whose queue is
//! full is disconnected, and starts anew from what plays. So nobody waits for it, and the ring keeps
//! nothing for it.

use super::super::error::RobotError;
use super::super::stream::{beat, events as answer};
use super::super::view::json;
use super::view;
use crate::state::App;
use axum::extract::State;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut, Bytes, BytesMut};
use chicane_host::driver::Simulator;
use chicane_host::loudspeaker::SoundNotice;
use chicane_robot::audio::AudioEvent;
use chicane_wire::{Detail, ErrorCode, Num, SoundEvent, SoundSamples};
use futures_util::stream::unfold;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc};

/// Pieces that wait for a slow listener.
const QUEUE: usize = 256;
/// Nothing, to show that the stream is open.
const NOTHING: &[u8] = b": \n\n";

/// What happens to sounds: `play`, `pcm`, `volume`, `stop`, `stop_all`, `ended`.
///
/// First comes a `play` for everything that plays, with its position. A listener that does not keep up is
/// disconnected; when it comes again it starts anew.
#[utoipa::path(get, path = "/audio/events", tag = "Audio", responses(
    (status = 200, body = SoundEvent, content_type = "text/event-stream"),
    (status = 503, body = Detail, description = "Too many listen already"),
))]
pub(super) async fn events(State(app): State<App>) -> Result<Response, RobotError> {
    let too_many = || RobotError::new(ErrorCode::Busy, "too many listen already");
    // In this order: what happens in between is in both, and is skipped by its serial number.
    let told = app.loudspeaker.listen().ok_or_else(too_many)?;
    let now = app.simulator.now();
    let mut first = BytesMut::from(NOTHING);
    for playing in now.running.iter().flat_map(|seen| seen.robot.playing.iter()) {
        first.put(written(&SoundEvent::Play(view::begun(playing, now.time_s()))));
    }
    let (queue, pieces) = mpsc::channel(QUEUE);
    let _ = queue.try_send(first.freeze());
    tokio::spawn(pass_on(told, now.serial, queue, app.simulator.clone()));
    let stream = unfold(pieces, |mut pieces| async move {
        let piece = pieces.recv().await?;
        Some((Ok::<_, Infallible>(piece), pieces))
    });
    Ok(answer(stream))
}

/// Puts what is told into a listener's queue, until that is full or nobody empties it.
async fn pass_on(
    mut told: broadcast::Receiver<Arc<SoundNotice>>,
    known: u64,
    queue: mpsc::Sender<Bytes>,
    simulator: Simulator,
) {
    let mut beat = beat();
    loop {
        let piece = tokio::select! {
            told = told.recv() => match told {
                Ok(told) if told.serial <= known => continue,
                Ok(told) => told.bytes.get_or_init(|| written(&event(&told))).clone(),
                // It fell behind.
                Err(_) => return,
            },
            _ = beat.tick() => Bytes::from_static(NOTHING),
            () = queue.closed() => return,
            () = simulator.ended() => return,
        };
        if queue.try_send(piece).is_err() {
            return;
        }
    }
}

/// An event as it is sent.
fn written(event: &SoundEvent) -> Bytes {
    let (name, data) = (event.name(), json(event));
    let mut bytes = BytesMut::with_capacity(name.len() + data.len() + 16);
    for part in [&b"event: "[..], name.as_bytes(), b"\ndata: ", &data, b"\n\n"] {
        bytes.put(part);
    }
    bytes.freeze()
}

/// In the words of the API.
fn event(told: &SoundNotice) -> SoundEvent {
    match &told.event {
        AudioEvent::Play { playing, .. } => SoundEvent::Play(view::begun(playing, told.time_s)),
        AudioEvent::Pcm { id, sample_rate, channels, data } => SoundEvent::Pcm(SoundSamples {
            id: view::id(*id),
            sample_rate: *sample_rate,
            channels: *channels,
            data: STANDARD.encode(data),
        }),
        AudioEvent::Volume { id, volume } => SoundEvent::Volume { id: view::id(*id), volume: Num(*volume) },
        AudioEvent::Stop { id } => SoundEvent::Stop { id: view::id(*id) },
        AudioEvent::StopAll => SoundEvent::StopAll {},
        AudioEvent::Ended { id } => SoundEvent::Ended { id: view::id(*id) },
    }
}
