//! The WebSocket `/audio/stream`: a client sends samples, and the robot plays them in simulated
//! time.
//!
//! The server joins samples into pieces of up to a tenth of a second. It passes the pieces to the
//! robot, which buffers up to two simulated seconds; further pieces wait in a queue. While the
//! queue has less than [`MAX_QUEUED_BYTES`], the server continues to read the socket, because a
//! close frame may follow the samples. While the queue is full, the server stops reading
//! (back-pressure) and detects only that the client has closed the connection. Closing the socket
//! stops the sound and drops the queue. When the sound ends (by a stop, a reset or another world),
//! the server closes the socket.

use super::super::error::RobotError;
use super::super::query::Query;
use super::super::sensors::robot;
use super::super::to_wire::json;
use super::to_wire;
use crate::caller::Commander;
use crate::state::App;
use crate::websocket::Upgrade;
use axum::extract::State;
use axum::response::Response;
use chicane_bridge::{CloseCode, PeerGone, Socket, SocketMessage};
use chicane_host::driver::{Published, Simulator};
use chicane_robot::audio::Stream;
use chicane_robot::{Command, Done};
use chicane_wire::StreamOpened;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Largest message, in bytes.
const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// Ticks that the robot may buffer ahead of simulated time: two simulated seconds.
const MAX_AHEAD_TICKS: u64 = 400;
/// The server stops reading while the queue has this many bytes or more.
const MAX_QUEUED_BYTES: usize = 4 << 20;
/// Full pieces per second of sound.
const PIECES_PER_SECOND: usize = 10;
/// A piece is short if it is smaller than a full piece divided by this number.
const SHORT_PIECE_DIVISOR: usize = 10;
/// Shortest time between a piece and a following short piece. This pause limits the number of
/// orders to the sim thread when a client sends many small messages.
const SHORT_PIECE_PAUSE: Duration = Duration::from_millis(10);

/// Opens the WebSocket. Its samples are 16-bit little-endian integers with interleaved channels.
pub(super) async fn stream(
    State(app): State<App>,
    Commander(simulator): Commander,
    query: Query,
    upgrade: Upgrade,
) -> Result<Response, RobotError> {
    let settings = Stream {
        sample_rate: query.whole("sample_rate", 8000, 48_000)?.unwrap_or(24_000) as u32,
        channels: query.whole("channels", 1, 2)?.unwrap_or(1) as u16,
        volume: query.number("volume", [0.0, 1.0])?.unwrap_or(1.0),
    };
    let upgrade = upgrade.max_message(MAX_MESSAGE_BYTES);
    Ok(upgrade.run(&app, move |socket| run(simulator, socket, settings)))
}

/// Starts a sound, plays the samples of the client, and stops the sound.
async fn run(simulator: Simulator, mut socket: Socket, settings: Stream) {
    let (id, world) = match open(&simulator, settings).await {
        Ok(opened) => opened,
        Err(error) => {
            let _ = send_json(&mut socket, &error.detail()).await;
            return socket.close(CloseCode::Again, &error.text()).await;
        }
    };
    let Stream { sample_rate, channels, .. } = settings;
    let stride = 2 * usize::from(channels);
    let piece = sample_rate as usize / PIECES_PER_SECOND * stride;
    let queue = SampleQueue { piece, pieces: VecDeque::new(), bytes: 0 };
    let short_allowed_at = Instant::now();
    let mut stream = SoundStream { simulator, socket, id, world, stride, ready: 0, short_allowed_at, queue };
    let opened = StreamOpened { id: to_wire::id(id), sample_rate, channels };
    if send_json(&mut stream.socket, &opened).await.is_ok() {
        stream.feed().await;
    }
    stream.stop().await;
}

/// Starts a sound. Returns the number of the sound and the number of the world.
async fn open(simulator: &Simulator, settings: Stream) -> Result<(u64, u64), RobotError> {
    match simulator.robot_with_world(Command::Open(settings)).await? {
        (Done::SoundStarted(id), world) => Ok((id, world)),
        _ => Err(RobotError::failed("the robot did not start the stream")),
    }
}

async fn send_json<T: Serialize>(socket: &mut Socket, what: &T) -> Result<(), PeerGone> {
    socket.send(String::from_utf8_lossy(&json(what)).into_owned()).await
}

/// An open stream.
struct SoundStream {
    simulator: Simulator,
    socket: Socket,
    id: u64,
    /// Number of the world in which the sound plays.
    world: u64,
    /// Size of one sample of all channels, in bytes.
    stride: usize,
    /// First tick at which the robot has room for the next piece.
    ready: u64,
    /// A short piece may not be played before this time.
    short_allowed_at: Instant,
    queue: SampleQueue,
}

/// Samples that were received and not yet passed to the robot.
struct SampleQueue {
    /// Size of a full piece, in bytes.
    piece: usize,
    pieces: VecDeque<Vec<u8>>,
    /// Bytes in all pieces.
    bytes: usize,
}

impl SampleQueue {
    /// Adds samples. They first fill the last piece, and then new pieces.
    fn extend(&mut self, mut samples: &[u8]) {
        self.bytes += samples.len();
        while !samples.is_empty() {
            let last = match self.pieces.back_mut() {
                Some(last) if last.len() < self.piece => last,
                _ => {
                    self.pieces.push_back(Vec::new());
                    continue;
                }
            };
            let (now, later) = samples.split_at(samples.len().min(self.piece - last.len()));
            last.extend_from_slice(now);
            samples = later;
        }
    }

    /// Whether the first piece exists and is not short.
    fn has_long_piece(&self) -> bool {
        self.pieces.front().is_some_and(|piece| piece.len() >= self.piece / SHORT_PIECE_DIVISOR)
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        let piece = self.pieces.pop_front()?;
        self.bytes -= piece.len();
        Some(piece)
    }

    /// Puts a piece back to the front of the queue.
    fn put_back(&mut self, piece: Vec<u8>) {
        self.bytes += piece.len();
        self.pieces.push_front(piece);
    }
}

impl SoundStream {
    /// Plays samples until the client disconnects or the sound ends.
    async fn feed(&mut self) {
        let mut view = self.simulator.watch();
        loop {
            let now = Arc::clone(&view.borrow_and_update());
            if !self.plays(&now) {
                return self.socket.close(CloseCode::Normal, "the sound was stopped").await;
            }
            let due = tick(&now) >= self.ready && self.queue.bytes > 0;
            drop(now);
            let must_pause = due && !self.queue.has_long_piece() && Instant::now() < self.short_allowed_at;
            if due
                && !must_pause
                && let Some(piece) = self.queue.take()
                && self.play(piece).await
            {
                continue;
            }
            let has_room = self.queue.bytes < MAX_QUEUED_BYTES;
            tokio::select! {
                said = self.socket.next_if(has_room) => match said {
                    None => return,
                    Some(said) => if self.receive(said).await.is_err() { return },
                },
                () = sleep_until(self.short_allowed_at), if must_pause => {}
                changed = view.changed() => if changed.is_err() {
                    return self.socket.close(CloseCode::Away, "the simulator is stopping").await;
                },
            }
        }
    }

    /// Whether the sound still plays.
    fn plays(&self, now: &Published) -> bool {
        let sounds = robot(now).filter(|_| now.assets_version == self.world).map(|robot| &robot.playing);
        sounds.is_some_and(|sounds| sounds.iter().any(|sound| sound.id == self.id))
    }

    /// Adds the samples of a message to the queue.
    async fn receive(&mut self, said: SocketMessage) -> Result<(), PeerGone> {
        let samples = match said {
            SocketMessage::Binary(samples) => samples,
            SocketMessage::Text(_) => {
                let text = "send samples as binary frames of 16-bit little-endian integers";
                return send_json(&mut self.socket, &RobotError::bad_value(text).detail()).await;
            }
        };
        if !samples.len().is_multiple_of(self.stride) {
            let text = format!("the size of a frame must be a multiple of {} bytes", self.stride);
            self.socket.close(CloseCode::Unsupported, &text).await;
            return Err(PeerGone);
        }
        self.queue.extend(&samples);
        Ok(())
    }

    /// Passes a piece to the robot. If the order fails, puts the piece back into the queue and
    /// returns false.
    async fn play(&mut self, piece: Vec<u8>) -> bool {
        let command = Command::Pcm { id: self.id, data: Arc::from(&piece[..]) };
        match self.simulator.robot_of_world(command, self.world).await {
            Ok((Done::Buffered(ahead), now)) => {
                self.ready = tick(&now) + ahead.saturating_sub(MAX_AHEAD_TICKS);
                self.short_allowed_at = Instant::now() + SHORT_PIECE_PAUSE;
                true
            }
            // Usually another world is being loaded. If the loading fails, the old world continues,
            // and `feed` passes this piece again. If the sound has ended, `feed` closes the
            // connection.
            _ => {
                self.queue.put_back(piece);
                false
            }
        }
    }

    /// Stops the sound. The sim thread refuses this order while a world is being loaded. In that
    /// case, tries again after the next change of the published view.
    async fn stop(&mut self) {
        let mut view = self.simulator.watch();
        while self.plays(&Arc::clone(&view.borrow_and_update())) {
            let stopped = self.simulator.robot_of_world(Command::Stop { id: self.id }, self.world).await;
            if stopped.is_ok() || view.changed().await.is_err() {
                return;
            }
        }
    }
}

fn tick(now: &Published) -> u64 {
    now.running.as_ref().map_or(0, |running| running.snapshot.tick)
}
