//! One answer or a stream of them: every path that is read can be followed.
//!
//! A stream is latest-wins: the newest sample, whenever its reader is ready for one. What came in
//! between is gone, and nobody waits for a reader.

use super::error::RobotError;
use super::query::Query;
use super::time::at;
use crate::state::App;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::{BufMut, Bytes, BytesMut};
use chicane_host::driver::Published;
use futures_util::Stream;
use futures_util::stream::unfold;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// A reader is told this often that the stream goes on.
const BEAT: Duration = Duration::from_secs(15);
/// A reader looks for something new no more often than this.
const PACE: Duration = Duration::from_millis(8);
/// What it is told: nothing.
const NOTHING: Bytes = Bytes::from_static(b": \n\n");

/// What tells one sample from the next, and when it was taken.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stamp {
    /// Simulated seconds.
    pub(super) time_s: f64,
    /// Numbers that change with it.
    parts: [u64; 6],
}

impl Stamp {
    /// Of a sample of the world that is loaded.
    pub(super) fn new(now: &Published, sample: u64, time_s: f64) -> Stamp {
        Stamp { time_s, ..Stamp::default() }.with(0, now.assets_version).with(1, sample)
    }

    /// Of what is always the same.
    pub(super) fn constant(time_s: f64) -> Stamp {
        Stamp { time_s, ..Stamp::default() }
    }

    /// With another number that changes; places 0 and 1 are taken.
    pub(super) fn with(mut self, place: usize, part: u64) -> Stamp {
        self.parts[place] = part;
        self
    }

    fn is_another(&self, last: Option<Stamp>) -> bool {
        last.is_none_or(|last| last.parts != self.parts)
    }
}

/// Something that can be read, once or again and again.
pub(super) trait Reading: Send + Sync + 'static {
    /// What there is none of before the first sample.
    const NAME: &'static str;

    /// Which sample it is now; `None` before the first.
    fn stamp(&self, app: &App, now: &Published) -> Option<Stamp>;

    /// The sample as JSON.
    fn json(&self, app: &App, now: &Arc<Published>)
    -> impl Future<Output = Result<Bytes, RobotError>> + Send;
}

/// Answers with a reading, or with a stream of them if that was asked for.
pub(super) async fn answer<R: Reading>(app: &App, query: &Query, reading: R) -> Result<Response, RobotError> {
    if query.stream()? {
        let now = app.simulator.now();
        let time_s = reading.stamp(app, &now).map_or_else(|| now.time_s(), |stamp| stamp.time_s);
        return Ok(at(time_s, events(follow(app, reading))));
    }
    let now = app.simulator.now();
    let stamp = reading.stamp(app, &now).ok_or(RobotError::Waiting(R::NAME))?;
    let json = reading.json(app, &now).await?;
    Ok(at(stamp.time_s, ([(header::CONTENT_TYPE, "application/json")], json)))
}

/// An answer of server-sent events.
pub(super) fn events(stream: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, [("x-accel-buffering", "no")], Body::from_stream(stream)).into_response()
}

/// JSON that is written already, as an event.
pub(super) fn event(json: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(json.len() + 8);
    bytes.put(&b"data: "[..]);
    bytes.put(json);
    bytes.put(&b"\n\n"[..]);
    bytes.freeze()
}

/// Tells that a stream goes on, every now and then.
pub(super) fn beat() -> Interval {
    let mut beat = interval_at(Instant::now() + BEAT, BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}

fn follow<R: Reading>(app: &App, reading: R) -> impl Stream<Item = Result<Bytes, Infallible>> + use<R> {
    let view = app.simulator.watch();
    let follower =
        Follower { app: app.clone(), view, reading, last: None, beat: beat(), looked: Instant::now() };
    unfold(follower, |mut follower| async move {
        let bytes = follower.next().await?;
        Some((Ok(bytes), follower))
    })
}

struct Follower<R> {
    app: App,
    view: watch::Receiver<Arc<Published>>,
    reading: R,
    last: Option<Stamp>,
    beat: Interval,
    /// When it last looked for something new.
    looked: Instant,
}

impl<R: Reading> Follower<R> {
    /// The next piece of the stream; `None` at its end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            self.looked = Instant::now();
            let now = Arc::clone(&self.view.borrow_and_update());
            let stamp = self.reading.stamp(&self.app, &now);
            if let Some(stamp) = stamp.filter(|stamp| stamp.is_another(self.last)) {
                let json = self.reading.json(&self.app, &now).await.ok()?;
                self.last = Some(stamp);
                self.beat.reset();
                return Some(event(&json));
            }
            drop(now);
            // However fast time runs, a reader looks only so often.
            tokio::time::sleep_until(self.looked + PACE).await;
            tokio::select! {
                // The sim thread ends with the program, and the stream with it.
                changed = self.view.changed() => changed.ok()?,
                _ = self.beat.tick() => return Some(NOTHING),
            }
        }
    }
}
