//! A run that viewers look at. The state at any moment of the run can be computed within a fraction
//! of a second.
//!
//! When a run is opened, it is simulated twice: once for its tracks, and once to save its state
//! every few seconds. A request continues from the last saved state before the requested moment, or
//! from the moment of the previous request if that is closer.

use crate::difference::Difference;
use crate::recorded_run::RecordedRun;
use crate::simulation::{Rerun, SavedRerun};
use crate::tracks::Tracks;
use bytes::Bytes;
use chicane_host::driver::Exposure;
use chicane_sim::TICKS_PER_SECOND;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of ticks between two saved states of a short run. A state takes about 100 kB.
const SAVE_INTERVAL: u64 = 2 * TICKS_PER_SECOND;
/// Maximum number of saved states. If a run needs more, every second state is dropped and the
/// number of ticks between two states is doubled.
const MAX_SAVED: usize = 256;

/// Why the state of a run at a moment can't be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeekError {
    /// The simulation differs from the journal.
    #[error("this version simulates the run in another way: {0}")]
    Differs(#[from] Difference),
}

/// A run that viewers look at.
pub struct Filming {
    run: RecordedRun,
    /// The tracks of the run, as bytes for viewers.
    tracks: Bytes,
    saved: Vec<SavedRerun>,
    /// The simulation after the last request. The next request continues this simulation. A saved
    /// state is restored first if the simulation is over or past the requested moment, or if the
    /// saved state is closer to that moment.
    cursor: Mutex<Rerun>,
}

impl Filming {
    /// Simulates a run and saves its states. Blocks for about a hundredth of the run's duration.
    pub fn new(run: RecordedRun) -> Result<Filming, SeekError> {
        let tracks = Bytes::from(Tracks::of(&run)?.bytes);
        let mut rerun = Rerun::new(&run)?;
        let (mut saved, mut interval) = (vec![rerun.save()], SAVE_INTERVAL);
        while rerun.step()? {
            if rerun.tick().is_multiple_of(interval) {
                saved.push(rerun.save());
            }
            if saved.len() > MAX_SAVED {
                let mut number = 0;
                saved.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                interval *= 2;
            }
        }
        let cursor = Mutex::new(Rerun::new(&run)?);
        Ok(Filming { run, tracks, saved, cursor })
    }

    /// The run.
    pub fn run(&self) -> &RecordedRun {
        &self.run
    }

    /// The tracks for viewers.
    pub fn tracks(&self) -> Bytes {
        self.tracks.clone()
    }

    /// The exposure of the newest camera frame at a moment, and the brightness. `time_s` is counted
    /// in simulated seconds from the start of the run. Blocks.
    pub fn exposure_at(&self, time_s: f64) -> Result<(Arc<Exposure>, f64), SeekError> {
        let mut rerun = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let is_before = |saved: &SavedRerun| saved.time_s() <= time_s;
        let last = self.saved.partition_point(is_before).saturating_sub(1);
        let saved = &self.saved[last];
        let is_behind = rerun.time_s() > time_s || rerun.tick() < saved.tick() || rerun.is_over();
        if is_behind {
            rerun.restore(saved);
        }
        // Half a tick covers the rounding of the requested time.
        let half = 0.5 / TICKS_PER_SECOND as f64;
        while rerun.time_s() + half < time_s && rerun.step()? {}
        Ok(rerun.exposure())
    }
}
