//! The sim thread's data about a judged session: when an observation is due, and when time has to
//! wait for the judge.
//!
//! Requests of the session arrive on a separate channel, not through the inbox, because of long
//! requests of `POST /step`. While the sim thread executes one, it takes no order from the inbox.
//! The session must still be able to judge the observations and to stop the request.

use super::entry::{DriveAt, Loaded, SessionEntry, SessionRequest};
use super::run_ticks::{Due, RunTicks};
use super::sound_log::SoundLog;
use super::virtual_time::Grant;
use crate::source::Origin;
use chicane_journal::Recorder;
use chicane_robot::audio::AudioEvent as SoundEvent;
use chicane_session::{Note, Notes, StopCause};
use chicane_wire::{CommandName, CommandSource, Num, Observation, SentCommand, SentCommands, rounded};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Real time between two observations while the script pauses the world.
const PAUSED_INTERVAL: Duration = Duration::from_millis(50);
/// The sim thread's data about a session.
pub(super) struct JudgedSession {
    notes: Notes<Note>,
    requests: Receiver<SessionRequest>,
    /// Recorded drive, sorted by tick; may be empty.
    drive: Arc<[DriveAt]>,
    /// Index of the command in `drive` that is in force; 0 before the tick of the first command.
    next_drive: usize,
    /// Ticks of the run; `None` until the session starts time.
    run: Option<RunTicks>,
    /// Whether time waits for the session: the last observation is not judged yet, or the time
    /// limit has passed.
    waiting: bool,
    paused_by_script: bool,
    /// When the last observation of a paused world was made, or when the script paused the world.
    /// The next observation follows after [`PAUSED_INTERVAL`].
    observed_paused: Instant,
    /// Sound events since the last observation.
    sounds: SoundLog,
    /// Real-time factor before the session, which is set again after the session; 0 is as fast as
    /// possible.
    speed: f64,
    /// Whether the student's program has exited or the time keeper has failed. In both cases,
    /// nothing else lets time continue after a client's step, so the sim thread does.
    has_clock: bool,
    /// Whether the session began in virtual time.
    pub(super) is_virtual: bool,
    /// The granted ticks in virtual time. `None` in real time, and when no process of the program
    /// is left or the time keeper has failed.
    pub(super) grant: Option<Grant>,
    /// Whether the simulator can tell the requests of the student's program from requests of
    /// others.
    recognizes_student: bool,
    /// Counts the interference: commands during the run whose sender is neither the student's
    /// program, nor the judging script, nor the simulator.
    interference: Arc<Mutex<SentCommands>>,
}

impl JudgedSession {
    /// Returns a session that has not started time, and the parts of `entry` that the sim thread
    /// needs elsewhere: the loaded world, the start pose and the recorder of the journal. `speed`
    /// is the real-time factor in force.
    pub(super) fn new(
        entry: SessionEntry,
        speed: f64,
    ) -> (JudgedSession, Loaded, Option<[f64; 3]>, Recorder) {
        let SessionEntry { loaded, at, notes, requests, drive, .. } = entry;
        let SessionEntry { recognizes_student, is_virtual, interference, journal, .. } = entry;
        let judging = JudgedSession {
            notes,
            requests,
            drive,
            next_drive: 0,
            run: None,
            waiting: false,
            paused_by_script: false,
            observed_paused: Instant::now(),
            sounds: SoundLog::default(),
            speed,
            has_clock: false,
            is_virtual,
            grant: is_virtual.then(Grant::default),
            recognizes_student,
            interference,
        };
        (judging, loaded, at, journal)
    }

    /// Whether simulated time has to wait: the session has not started time, an observation is
    /// being judged, or the time limit has passed.
    pub(super) fn is_holding(&self) -> bool {
        self.waiting || self.run.is_none()
    }

    /// Converts a tick of the simulation to a tick that is counted from the start of the run;
    /// `None` before the start.
    pub(super) fn run_tick(&self, tick: u64) -> Option<u64> {
        self.run.map(|run| run.since_start(tick))
    }

    /// Whether the session has not started time yet.
    pub(super) fn is_new(&self) -> bool {
        self.run.is_none()
    }

    /// Keeps sound events for the next observation.
    pub(super) fn keep_sounds(&mut self, events: &[SoundEvent]) {
        self.sounds.keep(events);
    }

    /// Takes the sound events since the last observation.
    pub(super) fn take_sounds(&mut self) -> Vec<SoundEvent> {
        self.sounds.take()
    }

    /// Simulated seconds since the session began to run; 0 before that.
    pub(super) fn time_s(&self, tick: u64) -> f64 {
        self.run.map_or(0.0, |run| run.time_s(tick))
    }

    /// Reports to the session that its simulation panicked.
    pub(super) fn report_lost(&self) {
        self.notes.send(Note::Stop(StopCause::WorldLost));
    }

    /// Reports to the session a command that did not come from the judging script.
    pub(super) fn report_command(&self, command: CommandName, detail: serde_json::Value) {
        self.notes.send(Note::Command { command, detail });
    }

    /// Whether the simulator can tell the requests of the student's program from requests of
    /// others.
    pub(super) fn recognizes_student(&self) -> bool {
        self.recognizes_student
    }

    /// Counts a command as interference, if the run has started and neither the student's program
    /// nor the simulator sent the command. The caller must not pass commands of the judging script.
    /// Returns whether the command counts.
    pub(super) fn count_interference(
        &mut self,
        origin: &Origin,
        tick: u64,
        values: &serde_json::Value,
    ) -> bool {
        let source = origin.source.on_record().filter(|source| *source != CommandSource::Student);
        let (Some(source), Some(run)) = (source, self.run) else { return false };
        let time = Num(run.time_s(tick));
        let command =
            || SentCommand { time, source, path: origin.path.to_string(), values: rounded(values.clone()) };
        self.interference.lock().unwrap_or_else(PoisonError::into_inner).add(command);
        true
    }

    /// Notes that the student's program has exited or the time keeper has failed, so that time
    /// continues after a client's step.
    pub(super) fn take_clock(&mut self) {
        self.has_clock = true;
    }

    /// Whether time continues after a client's step, because the student's program has exited or
    /// the time keeper has failed.
    pub(super) fn has_clock(&self) -> bool {
        self.has_clock
    }

    /// Real-time factor before the session; 0 is as fast as possible.
    pub(super) fn speed(&self) -> f64 {
        self.speed
    }

    /// Starts the run at this tick. The run may last `limit_s` simulated seconds.
    pub(super) fn start(&mut self, tick: u64, limit_s: f64) {
        self.run = Some(RunTicks::new(tick, limit_s));
    }

    /// The command of the recorded drive that is in force at this tick; `None` if there is none.
    pub(super) fn drive_at(&mut self, tick: u64) -> Option<DriveAt> {
        let run = self.run.filter(|_| !self.drive.is_empty())?;
        let tick = run.since_start(tick);
        while self.drive.get(self.next_drive + 1).is_some_and(|next| next.tick <= tick) {
            self.next_drive += 1;
        }
        self.drive.get(self.next_drive).filter(|at| at.tick <= tick).copied()
    }

    /// What the run needs at this tick. If an observation is due, the call also plans the next
    /// observation, so each observation is reported once.
    pub(super) fn due(&mut self, tick: u64) -> Due {
        let Some(run) = &mut self.run else { return Due::Nothing };
        let due = run.due(tick);
        if due == Due::Observation {
            run.observed(tick);
        }
        due
    }

    /// Reports to the session that the time limit has passed. Time waits until the session ends.
    pub(super) fn report_limit(&mut self, tick: u64) {
        self.waiting = true;
        self.notes.send(Note::LimitPassed { time_s: self.time_s(tick) });
    }

    /// Sends an observation. Time waits until the observation is judged.
    pub(super) fn observe(&mut self, observation: Observation) {
        self.waiting = true;
        self.notes.send(Note::Observed(Box::new(observation)));
    }

    /// Lets time continue after an observation.
    pub(super) fn resume(&mut self) {
        self.waiting = false;
    }

    /// Stores whether the script pauses the world.
    pub(super) fn set_paused_by_script(&mut self, paused: bool) {
        self.paused_by_script = paused;
        self.observed_paused = Instant::now();
    }

    /// Whether the script pauses the world.
    pub(super) fn is_paused_by_script(&self) -> bool {
        self.paused_by_script
    }

    /// Ends the script's pause, because a client set the clock.
    pub(super) fn release_pause(&mut self) {
        self.paused_by_script = false;
    }

    /// Real time until the next observation of a world that the script pauses; `None` if no such
    /// observation will be due.
    pub(super) fn next_paused_observation(&self, now: Instant) -> Option<Duration> {
        let due = self.observed_paused + PAUSED_INTERVAL;
        (self.paused_by_script && !self.is_holding()).then(|| due.saturating_duration_since(now))
    }

    /// Restarts the interval between observations of a paused world.
    pub(super) fn observed_paused_now(&mut self) {
        self.observed_paused = Instant::now();
    }

    /// The next request, if one waits.
    pub(super) fn try_request(&self) -> Option<SessionRequest> {
        self.requests.try_recv().ok()
    }

    /// Waits for a request. Fails after the timeout, or if the thread of the session has ended.
    pub(super) fn wait_request(&self, timeout: Duration) -> Result<SessionRequest, RecvTimeoutError> {
        self.requests.recv_timeout(timeout)
    }
}
