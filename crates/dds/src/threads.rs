//! The threads of a DDS participant.
//!
//! A thread of `rustdds` ends when the kernel interrupts its wait for packets, for example when the
//! process is stopped and continued. The participant then still exists, but other programs no
//! longer find it. `rustdds` does not report this, so the threads are looked up in `/proc`.

use std::collections::BTreeSet;
use std::time::Duration;

/// The names of all threads of `rustdds` begin with this text.
const NAME: &str = "RustDDS";
/// Number of threads of a participant: one for packets and one for discovery.
const THREADS: usize = 2;
/// Maximum number of attempts to find the threads of a new participant, and the time between two
/// attempts. The first attempts can fail, because a thread has its name only some time after it was
/// started.
const ATTEMPTS: u32 = 200;
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(5);

/// The thread ids of a participant.
#[derive(Debug, Default)]
pub(super) struct ParticipantThreads(BTreeSet<u32>);

impl ParticipantThreads {
    /// The threads of all participants that exist now.
    pub(super) fn existing() -> ParticipantThreads {
        let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten();
        let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        ParticipantThreads(numbers.filter(|number| is_running(*number)).collect())
    }

    /// The threads of a participant that was opened after `earlier` was read. Blocks until the
    /// threads have their names, for at most one second.
    pub(super) fn opened_since(earlier: &ParticipantThreads) -> ParticipantThreads {
        let mut found = ParticipantThreads::default();
        for _ in 0..ATTEMPTS {
            found = ParticipantThreads::existing();
            found.0.retain(|number| !earlier.0.contains(number));
            if found.0.len() >= THREADS {
                return found;
            }
            std::thread::sleep(ATTEMPT_INTERVAL);
        }
        found
    }

    /// Whether one of the threads has ended. Always false on systems without `/proc`.
    pub(super) fn has_ended(&self) -> bool {
        !self.0.iter().all(|number| is_running(*number))
    }
}

/// Whether a thread of `rustdds` with this thread id is running.
fn is_running(number: u32) -> bool {
    std::fs::read_to_string(format!("/proc/self/task/{number}/comm")).is_ok_and(|name| name.starts_with(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn the_end_of_a_thread_is_seen() {
        let before = ParticipantThreads::existing();
        let threads = [0; THREADS].map(|_| {
            let (stop, stopped) = mpsc::channel::<()>();
            let thread = std::thread::Builder::new().name(format!("{NAME} test"));
            (stop, thread.spawn(move || stopped.recv()).expect("started"))
        });
        let found = ParticipantThreads::opened_since(&before);
        assert_eq!(found.0.len(), THREADS);
        assert!(!found.has_ended());
        let [(stop, thread), _running] = threads;
        drop(stop);
        let _ = thread.join().expect("joined");
        // The kernel may remove the thread from `/proc` only after `join` has returned, so the test
        // waits.
        while !found.has_ended() {
            std::thread::yield_now();
        }
    }
}
