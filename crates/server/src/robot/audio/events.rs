//! `GET /audio/events`: sound events, for the pages that play the sounds.
//!
//! A listener first gets a `play` event for each playing sound, then every new event. Each listener
//! has a task that moves the events from the common broadcast channel into the listener's own
//! bounded queue. When that queue is full, the listener is disconnected, so a slow listener never
//! blocks the simulation or other listeners. A listener that reconnects first gets the sounds that
//! are playing then.

use super::super::error::RobotError;
use super::super::stream::{event_stream, heartbeat};
use super::super::to_wire::json;
use super::to_wire;
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

/// Size of a listener's queue, in events.
const QUEUE_EVENTS: usize = 256;
/// An empty comment of the event stream. It shows the client that the stream is still open.
const HEARTBEAT: &[u8] = b": \n\n";

/// Streams sound events: `play`, `pcm`, `volume`, `stop`, `stop_all`, `ended`.
///
/// The stream starts with a `play` event for each playing sound, with its position. A listener that
/// is too slow is disconnected and can connect again.
#[utoipa::path(get, path = "/audio/events", tag = "Audio", responses(
    (status = 200, body = SoundEvent, content_type = "text/event-stream"),
    (status = 503, body = Detail, description = "Too many listeners"),
))]
pub(super) async fn events(State(app): State<App>) -> Result<Response, RobotError> {
    let too_many =
        || RobotError::new(ErrorCode::Busy, "too many listeners; close some pages or event streams");
    // The subscription starts before the playing sounds are read, so that no event is missed. An
    // event between these two steps is in the list of sounds and in the subscription. `forward`
    // skips the second copy by its serial number.
    let notice = app.loudspeaker.listen().ok_or_else(too_many)?;
    let now = app.simulator.now();
    let mut first = BytesMut::from(HEARTBEAT);
    for playing in now.running.iter().flat_map(|running| running.robot.playing.iter()) {
        first.put(encoded(&SoundEvent::Play(to_wire::begun(playing, now.time_s()))));
    }
    let (queue, pieces) = mpsc::channel(QUEUE_EVENTS);
    let _ = queue.try_send(first.freeze());
    tokio::spawn(forward(notice, now.serial, queue, app.simulator.clone()));
    let stream = unfold(pieces, |mut pieces| async move {
        let piece = pieces.recv().await?;
        Some((Ok::<_, Infallible>(piece), pieces))
    });
    Ok(event_stream(stream))
}

/// Moves events with a serial number above `known` into a listener's queue, and adds heartbeats.
/// Ends when the queue is full or closed, when this task falls behind the broadcast channel, and
/// when the simulator ends.
async fn forward(
    mut notice: broadcast::Receiver<Arc<SoundNotice>>,
    known: u64,
    queue: mpsc::Sender<Bytes>,
    simulator: Simulator,
) {
    let mut heartbeat = heartbeat();
    loop {
        let piece = tokio::select! {
            notice = notice.recv() => match notice {
                Ok(notice) if notice.serial <= known => continue,
                Ok(notice) => notice.bytes.get_or_init(|| encoded(&event(&notice))).clone(),
                // The task was too slow for the broadcast channel, or the channel is closed.
                Err(_) => return,
            },
            _ = heartbeat.tick() => Bytes::from_static(HEARTBEAT),
            () = queue.closed() => return,
            () = simulator.ended() => return,
        };
        if queue.try_send(piece).is_err() {
            return;
        }
    }
}

/// Encodes an event as a server-sent event.
fn encoded(event: &SoundEvent) -> Bytes {
    let (name, data) = (event.name(), json(event));
    let mut bytes = BytesMut::with_capacity(name.len() + data.len() + 16);
    for part in [&b"event: "[..], name.as_bytes(), b"\ndata: ", &data, b"\n\n"] {
        bytes.put(part);
    }
    bytes.freeze()
}

/// Converts an event to its wire type.
fn event(notice: &SoundNotice) -> SoundEvent {
    match &notice.event {
        AudioEvent::Play { playing, .. } => SoundEvent::Play(to_wire::begun(playing, notice.time_s)),
        AudioEvent::Pcm { id, sample_rate, channels, data } => SoundEvent::Pcm(SoundSamples {
            id: to_wire::id(*id),
            sample_rate: *sample_rate,
            channels: *channels,
            data: STANDARD.encode(data),
        }),
        AudioEvent::Volume { id, volume } => {
            SoundEvent::Volume { id: to_wire::id(*id), volume: Num(*volume) }
        }
        AudioEvent::Stop { id } => SoundEvent::Stop { id: to_wire::id(*id) },
        AudioEvent::StopAll => SoundEvent::StopAll {},
        AudioEvent::Ended { id } => SoundEvent::Ended { id: to_wire::id(*id) },
    }
}
