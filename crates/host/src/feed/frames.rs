//! Makes the state frames of the event stream. A frame is made at once after a change, at 30 Hz
//! while something moves, and at 10 Hz while only simulated time advances.

use super::{Feed, StateFrame, event_bytes};
use crate::driver::Published;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Time between two frames while the car or an object moves: 30 Hz.
const MOTION_INTERVAL: Duration = Duration::from_micros(33_333);
/// Time between two frames while only simulated time advances: slightly more than 10 Hz.
const TIME_INTERVAL: Duration = Duration::from_millis(95);
/// Shortest time between two frames. Changes that follow faster share a frame.
const CHANGE_INTERVAL: Duration = Duration::from_millis(4);
/// Time between two heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// Makes frames until the sim thread ends.
pub(super) async fn make_frames(feed: Feed) {
    let mut view = feed.simulator.watch();
    let mut last = None;
    let mut at = Instant::now();
    // The time at which the loop reads the published value again even if the value has not changed
    // by then. The time is set after a change that came too soon after the last frame, and after a
    // stream was opened.
    let mut due: Option<Instant> = None;
    loop {
        if feed.metrics.subscribers.load(Relaxed) == 0 {
            // There is no subscriber, so the task waits for a new stream. Otherwise every published
            // value would wake the task, thousands of times per second in a judged run. `last` is
            // dropped, because it would keep an old world in memory.
            last = None;
            tokio::select! {
                () = feed.opened.notified() => {}
                () = feed.simulator.ended() => return,
            }
            due = Some(Instant::now());
        }
        match due {
            None => {
                if view.changed().await.is_err() {
                    return;
                }
            }
            Some(due) => tokio::select! {
                changed = view.changed() => if changed.is_err() { return },
                () = sleep_until(due) => {}
            },
        }
        let now = view.borrow_and_update().clone();
        let Some(wait) = last.as_ref().map_or(Some(CHANGE_INTERVAL), |last| gap(last, &now)) else {
            due = None;
            continue;
        };
        if at.elapsed() < wait {
            due = Some(at + wait);
            continue;
        }
        // The next frame is scheduled from the due time of this frame, so that delays do not add
        // up.
        let late = at.elapsed().saturating_sub(wait);
        at = if late < wait { at + wait } else { Instant::now() };
        due = None;
        send_frame(&feed, &now);
        last = Some(now);
    }
}

/// Shortest time from the last frame to the next frame; `None` if nothing changed.
fn gap(last: &Arc<Published>, now: &Arc<Published>) -> Option<Duration> {
    if last.changes != now.changes {
        return Some(CHANGE_INTERVAL);
    }
    let (before, after) = (last.running.as_ref()?, now.running.as_ref()?);
    if before.snapshot.tick == after.snapshot.tick {
        return None;
    }
    let moved = before.snapshot.vehicle != after.snapshot.vehicle
        || before.snapshot.objects != after.snapshot.objects;
    Some(if moved { MOTION_INTERVAL } else { TIME_INTERVAL })
}

/// Sends a frame to the subscribers. If there are none, no JSON is written.
fn send_frame(feed: &Feed, now: &Published) {
    if feed.metrics.subscribers.load(Relaxed) == 0 {
        return;
    }
    let json = now.state_json();
    let number = feed.metrics.frames.fetch_add(1, Relaxed);
    feed.head.send_modify(|head| {
        let id = feed.story.next_id();
        let (serial, bytes) = (now.serial, event_bytes(id, "state", &json));
        head.frame = Some(Arc::new(StateFrame { id, number, serial, bytes }));
    });
}

/// Sends heartbeats until the feed is closed, so that clients and proxies keep idle streams open.
pub(super) async fn send_heartbeats(feed: Feed) {
    let mut head = feed.head.subscribe();
    while tokio::time::timeout(HEARTBEAT_INTERVAL, head.wait_for(|head| head.closed)).await.is_err() {
        feed.head.send_modify(|head| head.heartbeats += 1);
    }
}
