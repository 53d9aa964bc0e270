//! The WebSocket `/audio/stream`: samples that a client sends as it likes, and that are taken at the pace
//! of simulated time.
//!
//! What comes is put together to pieces of up to a tenth of a second. It may be two simulated seconds
//! ahead; then pieces wait. Up to [`MAX_WAITING`] bytes are read ahead, so that a close is seen behind
//! them; beyond that the client has to wait too, and only its hanging up is seen. Closing stops the sound,
//! and what still waited is dropped. The socket ends with the sound, whatever ends that: a stop, a reset,
//! another world.

use super::super::error::RobotError;
use super::super::query::Query;
use super::super::sensors::robot;
use super::super::view::json;
use super::view;
use crate::state::App;
use crate::websocket::{PeerGone, Socket, SocketMessage, Upgrade};
use axum::extract::State;
use axum::response::Response;
use chicane_host::driver::Published;
use chicane_robot::audio::Stream;
use chicane_robot::{Command, Done};
use chicane_wire::StreamOpened;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// Largest message.
const MAX_MESSAGE: usize = 1 << 20;
/// Ticks that samples may be ahead of time: two simulated seconds.
const MAX_AHEAD: u64 = 400;
/// When more bytes than this wait for their time, nothing more is read.
const MAX_WAITING: usize = 4 << 20;
/// Pieces a second.
const PIECES: usize = 10;
/// A piece that is this many times shorter than it could be has to wait for more ...
const SHORT: usize = 10;
/// ... unless the last one was passed on this long ago.
const PAUSE: Duration = Duration::from_millis(10);

/// Samples, 16 bits each, little end first, channels by turns.
pub(super) async fn stream(
    State(app): State<App>,
    query: Query,
    upgrade: Upgrade,
) -> Result<Response, RobotError> {
    let wanted = Stream {
        sample_rate: query.whole("sample_rate", 8000, 48_000)?.unwrap_or(24_000) as u32,
        channels: query.whole("channels", 1, 2)?.unwrap_or(1) as u16,
        volume: query.number("volume", [0.0, 1.0])?.unwrap_or(1.0),
    };
    let speaking = app.clone();
    let upgrade = upgrade.max_message(MAX_MESSAGE);
    Ok(upgrade.run(&app, move |socket| run(speaking, socket, wanted)))
}

/// Opens a sound, feeds it, and stops it.
async fn run(app: App, mut socket: Socket, wanted: Stream) {
    let (id, world) = match open(&app, wanted).await {
        Ok(opened) => opened,
        Err(error) => {
            let _ = say(&mut socket, &error.detail()).await;
            return socket.close(CloseCode::Again, &error.text()).await;
        }
    };
    let Stream { sample_rate, channels, .. } = wanted;
    let stride = 2 * usize::from(channels);
    let piece = sample_rate as usize / PIECES * stride;
    let waiting = Waiting { piece, pieces: VecDeque::new(), bytes: 0 };
    let rested = Instant::now();
    let mut feeding = Feeding { app, socket, id, world, stride, ready: 0, rested, waiting };
    let opened = StreamOpened { id: view::id(id), sample_rate, channels };
    if say(&mut feeding.socket, &opened).await.is_ok() {
        feeding.feed().await;
    }
    feeding.stop().await;
}

/// A sound: its number, and that of the world.
async fn open(app: &App, wanted: Stream) -> Result<(u64, u64), RobotError> {
    match app.simulator.robot_with_world(Command::Open(wanted)).await? {
        (Done::SoundStarted(id), world) => Ok((id, world)),
        _ => Err(RobotError::failed("the robot opened no stream")),
    }
}

async fn say<T: Serialize>(socket: &mut Socket, what: &T) -> Result<(), PeerGone> {
    socket.send(String::from_utf8_lossy(&json(what)).into_owned()).await
}

/// A stream that is open.
struct Feeding {
    app: App,
    socket: Socket,
    id: u64,
    /// Number of the world that it plays in.
    world: u64,
    /// Bytes of one sample of every channel.
    stride: usize,
    /// The tick from which on the next piece is taken.
    ready: u64,
    /// When a short piece may be passed on again.
    rested: Instant,
    waiting: Waiting,
}

/// Samples that came and are not taken yet.
struct Waiting {
    /// Largest piece, bytes.
    piece: usize,
    pieces: VecDeque<Vec<u8>>,
    /// In all pieces.
    bytes: usize,
}

impl Waiting {
    /// More samples: the last piece is filled up first.
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

    /// Whether there is a piece, and it is worth passing on by itself.
    fn is_worth_it(&self) -> bool {
        self.pieces.front().is_some_and(|piece| piece.len() >= self.piece / SHORT)
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        let piece = self.pieces.pop_front()?;
        self.bytes -= piece.len();
        Some(piece)
    }

    /// A piece that was taken is the next one again.
    fn put_back(&mut self, piece: Vec<u8>) {
        self.bytes += piece.len();
        self.pieces.push_front(piece);
    }
}

impl Feeding {
    /// Passes samples on until the client or the sound ends.
    async fn feed(&mut self) {
        let mut view = self.app.simulator.watch();
        loop {
            let now = Arc::clone(&view.borrow_and_update());
            if !self.plays(&now) {
                return self.socket.close(CloseCode::Normal, "the sound was stopped").await;
            }
            let due = tick(&now) >= self.ready && self.waiting.bytes > 0;
            drop(now);
            let rests = due && !self.waiting.is_worth_it() && Instant::now() < self.rested;
            if due
                && !rests
                && let Some(piece) = self.waiting.take()
                && self.pass_on(piece).await
            {
                continue;
            }
            let has_room = self.waiting.bytes < MAX_WAITING;
            tokio::select! {
                said = self.socket.next_if(has_room) => match said {
                    None => return,
                    Some(said) => if self.take(said).await.is_err() { return },
                },
                () = sleep_until(self.rested), if rests => {}
                changed = view.changed() => if changed.is_err() {
                    return self.socket.close(CloseCode::Away, "the simulator stops").await;
                },
            }
        }
    }

    /// Whether the sound is still there.
    fn plays(&self, now: &Published) -> bool {
        let sounds = robot(now).filter(|_| now.assets_version == self.world).map(|robot| &robot.playing);
        sounds.is_some_and(|sounds| sounds.iter().any(|sound| sound.id == self.id))
    }

    /// Takes what a client says.
    async fn take(&mut self, said: SocketMessage) -> Result<(), PeerGone> {
        let samples = match said {
            SocketMessage::Binary(samples) => samples,
            SocketMessage::Text(_) => {
                let text = "send samples in binary frames, 16 bits each, little end first";
                return say(&mut self.socket, &RobotError::bad_value(text).detail()).await;
            }
        };
        if !samples.len().is_multiple_of(self.stride) {
            let text = format!("a frame must hold a multiple of {} bytes", self.stride);
            self.socket.close(CloseCode::Unsupported, &text).await;
            return Err(PeerGone);
        }
        self.waiting.extend(&samples);
        Ok(())
    }

    /// Gives a piece to the robot; false if it has to wait, for the world or for ever.
    async fn pass_on(&mut self, piece: Vec<u8>) -> bool {
        let command = Command::Pcm { id: self.id, data: Arc::from(&piece[..]) };
        match self.app.simulator.robot_of_world(command, self.world).await {
            Ok((Done::Buffered(ahead), now)) => {
                self.ready = tick(&now) + ahead.saturating_sub(MAX_AHEAD);
                self.rested = Instant::now() + PAUSE;
                true
            }
            // A world is on its way in. Either it comes, and this sound is gone, or the old one goes on.
            _ => {
                self.waiting.put_back(piece);
                false
            }
        }
    }

    /// The sound ends with its client.
    async fn stop(&mut self) {
        let mut view = self.app.simulator.watch();
        while self.plays(&Arc::clone(&view.borrow_and_update())) {
            let stopped = self.app.simulator.robot_of_world(Command::Stop { id: self.id }, self.world).await;
            if stopped.is_ok() || view.changed().await.is_err() {
                return;
            }
        }
    }
}

fn tick(now: &Published) -> u64 {
    now.running.as_ref().map_or(0, |seen| seen.snapshot.tick)
}
