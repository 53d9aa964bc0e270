//! The simulation and the session, as the time keeper sees them.

use crate::driver::Simulator;
use chicane_pace::{Over, PacedWorld};
use chicane_session::{Note, Notes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Interval at which a waiting time keeper checks whether it has to stop.
const CHECK: Duration = Duration::from_millis(10);

/// The simulation and the session of one program.
pub(super) struct SessionPace {
    pub(super) simulator: Simulator,
    /// Channel to the supervisor of the session.
    pub(super) notes: Notes<Note>,
    /// Whether the time keeper has to stop.
    pub(super) stop: Arc<AtomicBool>,
    /// Gets a message when the requested tick is simulated and its observations are judged. `None`
    /// if no tick is requested.
    pub(super) advance: Option<Receiver<()>>,
}

impl SessionPace {
    /// Waits for a reply. Fails if the time keeper has to stop, or if no reply can come any more.
    fn wait(&self, reply: &Receiver<()>) -> Result<(), Over> {
        loop {
            match reply.recv_timeout(CHECK) {
                Ok(()) => return Ok(()),
                Err(RecvTimeoutError::Timeout) if !self.stop.load(SeqCst) => {}
                Err(_) => return Err(Over),
            }
        }
    }
}

impl PacedWorld for SessionPace {
    fn start_advance(&mut self, tick: u64) -> Result<(), Over> {
        self.finish_advance()?;
        self.advance = Some(self.simulator.start_advance(tick, &self.stop).ok_or(Over)?);
        Ok(())
    }

    fn finish_advance(&mut self) -> Result<(), Over> {
        self.advance.take().map_or(Ok(()), |done| self.wait(&done))
    }

    fn drain(&mut self, exited: bool) -> Result<(), Over> {
        let (done, drained) = sync_channel(1);
        self.notes.send(Note::Drain { exited, done });
        self.wait(&drained)
    }

    fn release(&mut self) {
        self.simulator.release_time(&self.stop);
    }
}
