//! The loop of the sim thread. Each turn carries out orders, publishes, and simulates ticks.

use super::inbox::Disconnected;
use super::order::Envelope;
use super::published::OverlayView;
use super::state::{Driver, TIME_SLICE};
use chicane_robot::audio::AudioEvent as SoundEvent;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of orders that are carried out in one turn of the loop.
const MAX_ORDERS_PER_TURN: usize = 256;

impl Driver {
    /// Runs the loop until the thread has to stop or every sender of the inbox is gone.
    pub(super) fn run(mut self) {
        while !self.is_stopping() {
            match catch_unwind(AssertUnwindSafe(|| self.run_once())) {
                Ok(Ok(())) => {}
                Ok(Err(Disconnected)) => return,
                Err(_) => self.drop_panicked_world(),
            }
        }
    }

    /// Runs one turn of the loop.
    fn run_once(&mut self) -> Result<(), Disconnected> {
        if let Some(order) = self.wait()? {
            self.carry_out(order);
            for _ in 1..MAX_ORDERS_PER_TURN {
                let Some(order) = self.inbox.try_next() else { break };
                self.carry_out(order);
            }
        }
        self.serve_session();
        self.answer_holds();
        self.expire_overlay();
        if self.out.is_unseen() || (self.is_late() && self.out.age() >= TIME_SLICE) {
            self.publish();
        }
        self.do_due_ticks();
        self.answer_grant();
        Ok(())
    }

    /// Whether the published value is stale and has to be replaced after a time slice. In virtual
    /// time, this is false as soon as all granted ticks are simulated, and `answer_grant` publishes
    /// instead. Otherwise the program's streams would depend on the wall clock. While several
    /// granted ticks remain, a publication after a time slice is harmless: the time keeper grants
    /// several ticks at once only if the program has no open stream.
    fn is_late(&self) -> bool {
        self.out.is_stale() && self.granted().is_none_or(|ticks| ticks > 0)
    }

    /// Waits for the next order. Returns `None` if a tick, a publication, the end of the overlay or
    /// an observation is due first.
    fn wait(&mut self) -> Result<Option<Envelope>, Disconnected> {
        let now = Instant::now();
        let runs = self.worlds.running.is_some() && !self.session.is_held();
        let runs = runs && self.granted() != Some(0);
        let tick = if runs { self.clock.sleep(now) } else { None };
        let overlay = self.display.overlay.ends.map(|ends| ends.saturating_duration_since(now));
        let late = self.is_late().then_some(TIME_SLICE);
        let paused = self.next_paused_observation(now);
        let timeout = [tick, overlay, paused, late].into_iter().flatten().min();
        self.inbox.wait(timeout)
    }

    fn expire_overlay(&mut self) {
        if self.display.overlay.ends.is_some_and(|ends| Instant::now() >= ends) {
            let old = self.display.overlay.clone();
            self.display.overlay = OverlayView { text: Arc::from(""), ends: None, ..old };
            self.out.change();
        }
    }

    /// Drops a simulation that panicked. The host then loads the world of the simulation again.
    fn drop_panicked_world(&mut self) {
        if let Some(running) = self.worlds.running.take() {
            tracing::error!(
                world = &*running.served.name,
                "the simulation failed; its world is loaded again"
            );
            self.worlds.lost = Some(running.served.name.clone());
            // Listeners have to stop the sounds of the dropped world.
            self.out.sounds.push((0.0, SoundEvent::StopAll));
        }
        if let Some(judging) = self.session.judging.take() {
            judging.report_lost();
        }
        // Clients that wait for a reply see a closed channel and report a failure.
        self.out.drop_replies();
        self.out.change();
        self.publish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::entry::{Loaded, SessionEntry, SessionRequest};
    use crate::driver::inbox::Inbox;
    use crate::driver::order::Order;
    use crate::driver::state::InitialState;
    use crate::driver::taps::Taps;
    use crate::loudspeaker::Loudspeaker;
    use crate::served_world::ServedWorld;
    use crate::source::{Origin, Source};
    use chicane_journal::Recorder;
    use chicane_robot::Command as RobotCommand;
    use chicane_store::Library;
    use chicane_wire::{Num, SentCommands, Transition, TransitionKind};
    use chicane_world::Profile;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
    use tokio::sync::{oneshot, watch};

    /// A driver without a thread and without a world, and the sender of its inbox.
    fn driver() -> (Driver, SyncSender<Envelope>) {
        let transition =
            Transition { kind: TransitionKind::Boot, target: Arc::from("oval.world"), progress: Num(0.0) };
        let start = InitialState {
            speed: 1.0,
            only_sessions: false,
            brightness: 1.0,
            status: Arc::default(),
            transition,
        };
        let (inbox, orders) = sync_channel(16);
        let parts = (Arc::default(), Loudspeaker::new(), Taps::default(), watch::channel(false).0);
        (Driver::new(&start, Inbox::new(orders), Arc::new(AtomicBool::new(false)), parts).0, inbox)
    }

    fn oval() -> Loaded {
        let library = Library::built_in();
        let entry = library.entry("oval").expect("a built-in world");
        let world = Arc::new(library.load("oval").expect("a valid world"));
        let served = Arc::new(ServedWorld::new(entry, world, None).expect("a valid configuration"));
        Loaded { sim: served.sim(&Arc::new(Profile::gen1()), 1), served, keep_lights: false }
    }

    /// The start of a session in which the simulator recognizes the requests of the student's
    /// program.
    fn entry(requests: Receiver<SessionRequest>, interference: &Arc<Mutex<SentCommands>>) -> SessionEntry {
        SessionEntry {
            loaded: oval(),
            at: None,
            notes: chicane_session::notes().expect("an event descriptor").0,
            requests,
            drive: Arc::from([]),
            recognizes_student: true,
            is_virtual: false,
            interference: Arc::clone(interference),
            journal: Recorder::new(Arc::default()),
        }
    }

    fn envelope(source: Source, order: Order) -> Envelope {
        Envelope { origin: Origin::from(source), order }
    }

    #[test]
    fn a_command_that_arrived_with_the_start_of_a_run_was_not_counted() {
        let (mut driver, inbox) = driver();
        driver.swap(oval());
        let interference = Arc::default();
        let (session, requests) = channel();
        let entry = Box::new(entry(requests, &interference));
        driver.carry_out(envelope(Source::Program, Order::Judge { entry, reply: oneshot::channel().0 }));
        // The thread was busy when the session started time, and a client that saw the start sent a
        // command before the thread continued. The command belongs to the run, so it must count as
        // interference.
        session.send(SessionRequest::Run { limit_s: 10.0 }).expect("the driver keeps the receiver");
        let command = RobotCommand::Twist { linear: 0.3, angular: 0.1 };
        let robot = Order::Robot { command, world: None, reply: oneshot::channel().0 };
        for order in [envelope(Source::Program, Order::Wake), envelope(Source::Ros, robot)] {
            inbox.try_send(order).unwrap_or_else(|_| panic!("the inbox is full"));
        }
        driver.run_once().expect("the inbox is open");
        assert_eq!(interference.lock().expect("no panic").count, 1);
    }
}
