//! Those who want every tick: ROS 2 and the like.
//!
//! A published value is the newest one and may skip ticks; whoever speaks by simulated time must not. A
//! tap is a bounded queue of moments: when nobody empties it in time the oldest are lost, and the
//! sim thread goes on. While there is no tap nothing is gathered.

use super::published::Exposure;
use chicane_ros::Sample;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio::sync::Notify;

/// Moments that may wait: two seconds at the pace of real time.
const MAX_WAITING_TICKS: usize = 400;

/// A tick.
#[derive(Debug)]
pub struct TappedTick {
    /// When it happened, by the clock on the wall.
    pub at: SystemTime,
    /// What the robot says.
    pub sample: Sample,
    /// A frame of the camera that falls on this tick, not drawn yet, and how bright it is to be.
    pub frame: Option<(Arc<Exposure>, f64)>,
}

/// Every tap there is.
#[derive(Debug, Clone, Default)]
pub struct Taps(Arc<TapList>);

#[derive(Debug, Default)]
struct TapList {
    open: AtomicUsize,
    queues: Mutex<Vec<Arc<TapQueue>>>,
}

#[derive(Debug, Default)]
struct TapQueue {
    ticks: Mutex<VecDeque<Arc<TappedTick>>>,
    added: Notify,
}

/// One who hears every tick, as long as it lives.
#[derive(Debug)]
pub struct Tap {
    taps: Taps,
    queue: Arc<TapQueue>,
}

impl Taps {
    /// Opens another one.
    pub fn open(&self) -> Tap {
        let queue = Arc::<TapQueue>::default();
        let mut queues = lock(&self.0.queues);
        queues.push(Arc::clone(&queue));
        self.0.open.store(queues.len(), Relaxed);
        Tap { taps: self.clone(), queue }
    }

    /// Hands a moment to all, if there is anyone. Nobody is waited for: a queue is only ever held for
    /// as long as it takes to put something in or to take all out.
    pub(super) fn put(&self, moment: impl FnOnce() -> TappedTick) {
        if self.0.open.load(Relaxed) == 0 {
            return;
        }
        let moment = Arc::new(moment());
        for queue in lock(&self.0.queues).iter() {
            let mut ticks = lock(&queue.ticks);
            if ticks.len() >= MAX_WAITING_TICKS {
                ticks.pop_front();
            }
            ticks.push_back(Arc::clone(&moment));
            drop(ticks);
            queue.added.notify_one();
        }
    }
}

impl Tap {
    /// Waits for moments and takes all that are there.
    pub async fn take(&self) -> VecDeque<Arc<TappedTick>> {
        loop {
            let ticks = std::mem::take(&mut *lock(&self.queue.ticks));
            if !ticks.is_empty() {
                return ticks;
            }
            self.queue.added.notified().await;
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        let all = &self.taps.0;
        let mut queues = lock(&all.queues);
        queues.retain(|queue| !Arc::ptr_eq(queue, &self.queue));
        all.open.store(queues.len(), Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(tick: u64) -> TappedTick {
        TappedTick { at: SystemTime::now(), sample: Sample::epoch_only(tick, 0), frame: None }
    }

    #[tokio::test]
    async fn a_tap_that_is_not_emptied_keeps_the_newest() {
        let taps = Taps::default();
        taps.put(|| panic!("nobody listens"));
        let (slow, other) = (taps.open(), taps.open());
        for tick in 0..1000 {
            taps.put(|| moment(tick));
        }
        let ticks: Vec<u64> = slow.take().await.iter().map(|m| m.sample.tick).collect();
        assert_eq!((ticks.len(), ticks[0], ticks[MAX_WAITING_TICKS - 1]), (MAX_WAITING_TICKS, 600, 999));
        assert_eq!(other.take().await.len(), MAX_WAITING_TICKS);
        drop((slow, other));
        taps.put(|| panic!("nobody listens any more"));
    }

    #[tokio::test]
    async fn whoever_waits_is_woken() {
        let taps = Taps::default();
        let tap = taps.open();
        let waiting = tokio::spawn(async move { tap.take().await.len() });
        tokio::task::yield_now().await;
        taps.put(|| moment(1));
        assert_eq!(waiting.await.expect("woken"), 1);
    }
}
