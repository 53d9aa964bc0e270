//! Taps for ROS 2, for the bridges over WebSockets and for recordings.
//!
//! A tap is a bounded queue that receives every tick. Readers of published values may skip ticks,
//! but ROS topics are published in simulated time and must not skip any tick. At every tick the sim
//! thread puts the robot's topics of that tick into all taps. A tap drops its oldest ticks when its
//! reader is slow, and counts the dropped ticks. While there is no tap, the sim thread collects
//! nothing. The state of the simulator is collected only while a tap takes states.

use super::published::{Exposure, Published};
use chicane_ros::Sample;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio::sync::Notify;

/// Capacity of a tap, in ticks. At a real-time factor of 1 this is two seconds.
const MAX_WAITING_TICKS: usize = 400;
/// Number of states per simulated second in a tap that takes states.
pub const STATE_RATE_HZ: u32 = 30;

/// A tick as a tap receives it.
#[derive(Debug)]
pub struct TappedTick {
    /// Time of the system clock when the tick was simulated.
    pub at: SystemTime,
    /// The robot's topics.
    pub sample: Sample,
    /// The camera frame of this tick and its brightness factor; `None` if this tick has no camera
    /// frame.
    pub frame: Option<(Arc<Exposure>, f64)>,
    /// The state of the simulator, at [`STATE_RATE_HZ`] and when the car is placed elsewhere;
    /// `None` at other ticks, and while no tap takes states.
    pub state: Option<Arc<Published>>,
}

/// All open taps.
#[derive(Debug, Clone, Default)]
pub(super) struct Taps(Arc<TapList>);

#[derive(Debug, Default)]
struct TapList {
    /// Number of queues. The sim thread reads this number first, so that it takes no lock while
    /// there is no queue.
    open: AtomicUsize,
    /// Number of queues that take states.
    with_states: AtomicUsize,
    queues: Mutex<Vec<Arc<TapQueue>>>,
}

#[derive(Debug, Default)]
struct TapQueue {
    ticks: Mutex<VecDeque<Arc<TappedTick>>>,
    /// Wakes the reader when a tick is added.
    added: Notify,
    /// Number of ticks that were dropped because the reader was slow.
    dropped: AtomicU64,
    /// Whether the reader takes states.
    with_states: bool,
}

/// A queue that receives every tick. Dropping this value closes the queue.
#[derive(Debug)]
pub struct Tap {
    taps: Taps,
    queue: Arc<TapQueue>,
}

impl Taps {
    /// Opens a tap. With `with_states` the ticks include states.
    pub(super) fn open(&self, with_states: bool) -> Tap {
        let queue = Arc::new(TapQueue { with_states, ..TapQueue::default() });
        let mut queues = lock(&self.0.queues);
        queues.push(Arc::clone(&queue));
        self.0.count(&queues);
        Tap { taps: self.clone(), queue }
    }

    /// Whether a tap takes states.
    pub(super) fn want_states(&self) -> bool {
        self.0.with_states.load(Relaxed) > 0
    }

    /// Puts a tick into all taps. `make` is only called if there is a tap. A reader hardly delays
    /// the sim thread, because the reader holds the lock of its queue only while it takes the ticks
    /// out.
    pub(super) fn put(&self, make: impl FnOnce() -> TappedTick) {
        if self.0.open.load(Relaxed) == 0 {
            return;
        }
        let tick = Arc::new(make());
        for queue in lock(&self.0.queues).iter() {
            let mut ticks = lock(&queue.ticks);
            if ticks.len() >= MAX_WAITING_TICKS {
                ticks.pop_front();
                queue.dropped.fetch_add(1, Relaxed);
            }
            ticks.push_back(Arc::clone(&tick));
            drop(ticks);
            queue.added.notify_one();
        }
    }
}

impl TapList {
    /// Updates `open` and `with_states` after a queue was opened or closed.
    fn count(&self, queues: &[Arc<TapQueue>]) {
        self.open.store(queues.len(), Relaxed);
        self.with_states.store(queues.iter().filter(|queue| queue.with_states).count(), Relaxed);
    }
}

impl Tap {
    /// Takes all ticks. Waits if there are none.
    pub async fn take(&self) -> VecDeque<Arc<TappedTick>> {
        loop {
            let ticks = self.take_waiting();
            if !ticks.is_empty() {
                return ticks;
            }
            self.queue.added.notified().await;
        }
    }

    /// Takes the ticks that wait now.
    pub fn take_waiting(&self) -> VecDeque<Arc<TappedTick>> {
        std::mem::take(&mut *lock(&self.queue.ticks))
    }

    /// Number of ticks that this tap has dropped because its reader was slow.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped.load(Relaxed)
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        let all = &self.taps.0;
        let mut queues = lock(&all.queues);
        queues.retain(|queue| !Arc::ptr_eq(queue, &self.queue));
        all.count(&queues);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tapped_tick(tick: u64) -> TappedTick {
        TappedTick { at: SystemTime::now(), sample: Sample::epoch_only(tick, 0), frame: None, state: None }
    }

    #[tokio::test]
    async fn a_full_tap_drops_its_oldest_ticks() {
        let taps = Taps::default();
        taps.put(|| panic!("called without a tap"));
        let (slow, other) = (taps.open(false), taps.open(true));
        for tick in 0..1000 {
            taps.put(|| tapped_tick(tick));
        }
        let ticks: Vec<u64> = slow.take().await.iter().map(|m| m.sample.tick).collect();
        assert_eq!((ticks.len(), ticks[0], ticks[MAX_WAITING_TICKS - 1]), (MAX_WAITING_TICKS, 600, 999));
        assert_eq!(other.take().await.len(), MAX_WAITING_TICKS);
        assert_eq!((slow.dropped(), other.dropped()), (600, 600));
        assert!(taps.want_states());
        drop(other);
        assert!(!taps.want_states());
        drop(slow);
        taps.put(|| panic!("called after all taps were closed"));
    }

    #[tokio::test]
    async fn a_waiting_reader_is_woken() {
        let taps = Taps::default();
        let tap = taps.open(false);
        let waiting = tokio::spawn(async move { tap.take().await.len() });
        tokio::task::yield_now().await;
        taps.put(|| tapped_tick(1));
        assert_eq!(waiting.await.expect("woken"), 1);
    }
}
