//! When a state frame is made: at once on a change, else as often as motion or time asks for.

use super::{Feed, StateFrame, event_bytes};
use crate::driver::Published;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// From frame to frame while something moves: 30 a second.
const MOTION_INTERVAL: Duration = Duration::from_micros(33_333);
/// From frame to frame while only time runs: 10 a second, and a little more.
const TIME_INTERVAL: Duration = Duration::from_millis(95);
/// Changes that come faster than this share a frame.
const CHANGE_INTERVAL: Duration = Duration::from_millis(4);
/// From heartbeat to heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// Makes frames for as long as the sim thread publishes.
pub(super) async fn make_frames(feed: Feed) {
    let mut view = feed.simulator.watch();
    let mut last = view.borrow_and_update().clone();
    let mut at = Instant::now();
    // The frame that is due while nothing new is published.
    let mut due: Option<Instant> = None;
    loop {
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
        let Some(wait) = gap(&last, &now) else {
            due = None;
            continue;
        };
        if at.elapsed() < wait {
            due = Some(at + wait);
            continue;
        }
        // On time by the clock, not by the last frame: what one is late does not add up.
        let late = at.elapsed().saturating_sub(wait);
        at = if late < wait { at + wait } else { Instant::now() };
        due = None;
        send_frame(&feed, &now);
        last = now;
    }
}

/// How long after the last frame the next one may come; `None` if there is nothing to tell.
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

/// Lets every subscriber send a sign of life now and then, until the feed is closed.
pub(super) async fn send_heartbeats(feed: Feed) {
    let mut head = feed.head.subscribe();
    while tokio::time::timeout(HEARTBEAT_INTERVAL, head.wait_for(|head| head.closed)).await.is_err() {
        feed.head.send_modify(|head| head.heartbeats += 1);
    }
}
