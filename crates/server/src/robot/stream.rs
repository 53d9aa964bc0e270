//! Responses with one reading, or with a stream of readings.
//!
//! A stream sends the newest reading, unless the client has already received it. Readings that are
//! replaced before the client is ready are skipped, so a slow client never blocks the simulation.

use super::error::RobotError;
use super::query::Query;
use super::sim_time::with_sim_time;
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

/// Time without events after which a stream sends a heartbeat.
const HEARTBEAT_PERIOD: Duration = Duration::from_secs(15);
/// Shortest time from a check that found no new reading to the next check. This pause limits the
/// load when simulated time runs faster than real time.
const MIN_POLL_PERIOD: Duration = Duration::from_millis(8);
/// An empty comment of the event stream. It shows the client that the stream is still open.
const HEARTBEAT: Bytes = Bytes::from_static(b": \n\n");

/// Identifies a sample: two samples with equal `parts` are the same.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SampleStamp {
    /// Time of the sample, in simulated seconds.
    pub(super) time_s: f64,
    /// Numbers that identify the sample. At least one of them changes with each new sample.
    parts: [u64; 6],
}

impl SampleStamp {
    /// The stamp of sample number `sample` of the running world.
    pub(super) fn new(now: &Published, sample: u64, time_s: f64) -> SampleStamp {
        SampleStamp { time_s, ..SampleStamp::default() }.with(0, now.assets_version).with(1, sample)
    }

    /// The stamp of a reading that never changes.
    pub(super) fn constant(time_s: f64) -> SampleStamp {
        SampleStamp { time_s, ..SampleStamp::default() }
    }

    /// Sets one of the numbers. `new` uses the indices 0 and 1.
    pub(super) fn with(mut self, index: usize, part: u64) -> SampleStamp {
        self.parts[index] = part;
        self
    }

    fn differs_from(&self, last: Option<SampleStamp>) -> bool {
        last.is_none_or(|last| last.parts != self.parts)
    }
}

/// A reading that a client can get once or as a stream.
pub(super) trait Reading: Send + Sync + 'static {
    /// Name of the reading. The name appears in the error that a client gets before the first
    /// sample.
    const NAME: &'static str;

    /// The stamp of the newest sample. `None` before the first sample.
    fn stamp(&self, app: &App, now: &Published) -> Option<SampleStamp>;

    /// The newest sample as JSON.
    fn json(&self, app: &App, now: &Arc<Published>)
    -> impl Future<Output = Result<Bytes, RobotError>> + Send;
}

/// Responds with one reading, or with a stream if the client requests a stream.
pub(super) async fn respond<R: Reading>(
    app: &App,
    query: &Query,
    reading: R,
) -> Result<Response, RobotError> {
    if query.stream()? {
        let now = app.simulator.now();
        let time_s = reading.stamp(app, &now).map_or_else(|| now.time_s(), |stamp| stamp.time_s);
        return Ok(with_sim_time(time_s, event_stream(follow(app, reading))));
    }
    let now = app.simulator.now();
    let stamp = reading.stamp(app, &now).ok_or(RobotError::Waiting(R::NAME))?;
    let json = reading.json(app, &now).await?;
    Ok(with_sim_time(stamp.time_s, ([(header::CONTENT_TYPE, "application/json")], json)))
}

/// A response of server-sent events.
pub(super) fn event_stream(
    stream: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static,
) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, [("x-accel-buffering", "no")], Body::from_stream(stream)).into_response()
}

/// Encodes JSON as a server-sent event.
fn event(json: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(json.len() + 8);
    bytes.put(&b"data: "[..]);
    bytes.put(json);
    bytes.put(&b"\n\n"[..]);
    bytes.freeze()
}

/// The timer of the heartbeats.
pub(super) fn heartbeat() -> Interval {
    let mut heartbeat = interval_at(Instant::now() + HEARTBEAT_PERIOD, HEARTBEAT_PERIOD);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat
}

fn follow<R: Reading>(app: &App, reading: R) -> impl Stream<Item = Result<Bytes, Infallible>> + use<R> {
    let view = app.simulator.watch();
    let reader = StreamReader {
        app: app.clone(),
        view,
        reading,
        last: None,
        heartbeat: heartbeat(),
        last_poll: Instant::now(),
    };
    unfold(reader, |mut reader| async move {
        let bytes = reader.next().await?;
        Some((Ok(bytes), reader))
    })
}

/// The state of one client's stream.
struct StreamReader<R> {
    app: App,
    view: watch::Receiver<Arc<Published>>,
    reading: R,
    last: Option<SampleStamp>,
    heartbeat: Interval,
    /// Time of the last check for a new reading.
    last_poll: Instant,
}

impl<R: Reading> StreamReader<R> {
    /// The next event of the stream. `None` when the stream ends.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            self.last_poll = Instant::now();
            let now = Arc::clone(&self.view.borrow_and_update());
            let stamp = self.reading.stamp(&self.app, &now);
            if let Some(stamp) = stamp.filter(|stamp| stamp.differs_from(self.last)) {
                let json = self.reading.json(&self.app, &now).await.ok()?;
                self.last = Some(stamp);
                self.heartbeat.reset();
                return Some(event(&json));
            }
            drop(now);
            tokio::time::sleep_until(self.last_poll + MIN_POLL_PERIOD).await;
            tokio::select! {
                // An error means that the sim thread has ended. In that case the stream ends too.
                changed = self.view.changed() => changed.ok()?,
                _ = self.heartbeat.tick() => return Some(HEARTBEAT),
            }
        }
    }
}
