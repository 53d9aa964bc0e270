//! The access of a session to the simulator.

use super::current::Current;
use super::output::LineSource;
use super::paced_world::SessionPace;
use super::record_writer::{RecordWriter, RecordWriterError};
use crate::driver::{DriveAt, Loaded, ServedWorld, SessionEntry, SessionRequest, Simulator};
use crate::feed::Feed;
use crate::gate::{OpenGate, StudentGate};
use crate::keeper::Keeper;
use crate::session_status::SessionStatus;
use crate::{observe, view};
use chicane_journal::{Head, Recorder};
use chicane_pace::{PacedProgram, PacedWorld, TimeKeeper, TimeKeeperHandle};
use chicane_session::{Note, Notes, SessionHost, SessionHostError, Step};
use chicane_sim::{Command, Sim, Who};
use chicane_store::SessionResult;
use chicane_wire::{
    EvaluationEvent, EvaluationKind, JudgeAct, LightRequest, Num, Observation, Pace, Phase, ProgramIdentity,
    RecordIdentity, RecordedEvent, RunEvent, RunState, SentCommands, Statics, StoryEvent,
};
use chicane_world::Profile;
use glam::DVec2;
use serde_json::Value;
use std::fmt::Display;
use std::net::TcpListener;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Distance between the front bumper at the start and the start line ahead of it, m.
const BEHIND_LINE_M: f64 = 0.05;
/// Longest time that a session waits for a reply of the sim thread, which usually answers within
/// microseconds.
const SIM_THREAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Shortest real time between two writes of the unfinished record.
const RECORD_INTERVAL: Duration = Duration::from_millis(200);

/// The access of one session to the simulator: its world, its record and the event stream.
pub(super) struct SessionWorld {
    /// Id of the session.
    pub(super) id: String,
    /// Source code of the judging script.
    pub(super) script: String,
    pub(super) served: Arc<ServedWorld>,
    pub(super) profile: Arc<Profile>,
    /// Seed of the simulation.
    pub(super) seed: u64,
    /// Simulated seconds after which the run times out.
    pub(super) time_limit_s: f64,
    /// Command of the student's program; `None` without one.
    pub(super) command: Option<String>,
    /// Recorded drive, sorted by tick; may be empty.
    pub(super) drive: Arc<[DriveAt]>,
    pub(super) simulator: Simulator,
    pub(super) keeper: Keeper,
    pub(super) feed: Feed,
    pub(super) runtime: tokio::runtime::Handle,
    /// Channel to the supervisor of the session.
    pub(super) notes: Notes<Note>,
    pub(super) current: Arc<Current>,
    pub(super) writer: RecordWriter,
    /// Channel to the sim thread; `None` while the session has no simulation.
    pub(super) requests: Option<Sender<SessionRequest>>,
    /// When the progress of the session was last written.
    pub(super) progress_written_at: Instant,
    /// The identity of the session: what is judged, and under which conditions.
    pub(super) identity: RecordIdentity,
    /// Whether the simulator can tell the requests of the student's program from requests of
    /// others.
    pub(super) recognizes_student: bool,
    /// Counts the interference: commands during the run whose sender is neither the student's
    /// program, nor the judging script, nor the simulator.
    pub(super) interference: Arc<Mutex<SentCommands>>,
    /// Serves the requests of the student's program; `None` without a web server.
    pub(super) gate: Option<Arc<dyn StudentGate>>,
    /// The sockets of the student's program. The sockets are closed when this value is dropped.
    pub(super) open_gate: Option<OpenGate>,
    /// The time keeper of a program in virtual time; `None` if it does not run. Dropping this
    /// handle stops the time keeper.
    pub(super) pacing: Option<TimeKeeperHandle>,
}

/// An event as it is stored in the database.
pub fn event_json(time_s: f64, kind: &EvaluationKind) -> String {
    let event = RecordedEvent { time: Num(time_s), kind: kind.clone() };
    serde_json::to_string(&event).unwrap_or_default()
}

impl SessionWorld {
    /// Sends a request to the sim thread.
    fn request(&self, request: SessionRequest) -> Result<(), SessionHostError> {
        let requests = self.requests.as_ref().ok_or(SessionHostError::SimulationGone)?;
        requests.send(request).map_err(|_| SessionHostError::SimulationGone)?;
        self.simulator.wake();
        Ok(())
    }

    /// Applies a command to the world and waits for the result.
    fn apply(&self, command: Command) -> Result<(), SessionHostError> {
        let (reply, done) = sync_channel(1);
        self.request(SessionRequest::Apply(command, reply))?;
        let done = done.recv_timeout(SIM_THREAD_TIMEOUT).map_err(|_| SessionHostError::Timeout)?;
        done.map_err(refused)
    }

    fn set_light(&self, name: String, request: &LightRequest) -> Result<(), SessionHostError> {
        let (light, red) = (name.clone(), request.is_red());
        let apply = || self.apply(Command::SetLight { name, red });
        self.keeper.light_of_script(&self.simulator, (&light, red), apply)
    }

    fn set_brightness(&self, value: f64) -> Result<(), SessionHostError> {
        self.keeper.brightness_of_script(&self.simulator, value, || {
            let (reply, done) = sync_channel(1);
            self.request(SessionRequest::Brightness(value, reply))?;
            done.recv_timeout(SIM_THREAD_TIMEOUT).map_err(|_| SessionHostError::Timeout)
        })
    }

    /// The head of the journal.
    fn head(&self, sim: &Sim) -> Head {
        let version = self.identity.chicane.clone().unwrap_or_default();
        Head {
            format: chicane_journal::FORMAT,
            version: version.version,
            commit: version.commit,
            world: self.served.name.to_string(),
            world_sha256: self.served.sha256.clone(),
            origin: format!("{:016x}", sim.origin()),
            profile: serde_json::to_value(&*self.profile).unwrap_or_default(),
            script: self.script.clone(),
            seed: self.seed,
            variation: serde_json::to_value(&self.identity.variation).unwrap_or_default(),
            time_limit_s: self.time_limit_s,
            brightness: self.served.brightness().unwrap_or_else(|| self.simulator.now().usual_brightness),
            command: self.command.clone(),
            is_virtual: self.has_paced_program(),
            parts: chicane_journal::part_names(sim),
        }
    }

    /// Whether the session has a program in virtual time. Only sessions with a program have a
    /// `box_kind`.
    fn has_paced_program(&self) -> bool {
        self.identity.pace == Some(Pace::Virtual) && self.identity.box_kind.is_some()
    }

    /// Stops the time keeper. If time depended on the wall clock, the record gets the pace `real`
    /// and the reason.
    fn stop_pacing(&mut self) {
        let Some(pacing) = self.pacing.take() else { return };
        let (report, sockets) = pacing.stop();
        self.open_gate = Some(Box::new(sockets));
        if let Some(reason) = report.real.clone() {
            (self.identity.pace, self.identity.pace_reason) = (Some(Pace::Real), Some(reason));
            self.writer.set_identity(self.identity.clone());
        }
        self.current.set_pace_report(report);
    }

    /// Writes an event to the record.
    fn store_event(&mut self, time_s: f64, kind: &EvaluationKind) {
        let required = matches!(kind, EvaluationKind::Phase { .. });
        if !self.writer.add_line(event_json(time_s, kind), required) {
            self.writer.add_line(event_json(time_s, &EvaluationKind::Truncated {}), true);
        }
    }

    /// Writes an event to the record and sends it to the event stream.
    pub(super) fn announce(&mut self, time_s: f64, kind: EvaluationKind) {
        self.store_event(time_s, &kind);
        // The event of a phase is sent only after this event and all earlier events are on disk, or
        // after a write has failed. The event of the last phase is sent at once, because `close`
        // waits until that event is on disk.
        if matches!(&kind, EvaluationKind::Phase { phase } if *phase != Phase::Ended) {
            self.writer.flush();
        }
        self.send_event(time_s, kind);
    }

    /// Sends an event to the event stream.
    pub(super) fn send_event(&self, time_s: f64, kind: EvaluationKind) {
        let event = EvaluationEvent { session: self.id.clone(), time: Num(time_s), kind };
        self.feed.send(&StoryEvent::Evaluation(event));
    }

    /// Writes the end of the session. The whole record is on disk when this succeeds.
    pub(super) fn close(
        self,
        time_s: f64,
        end: &EvaluationKind,
        result: SessionResult,
    ) -> Result<(), RecordWriterError> {
        self.writer.end(event_json(time_s, end), result)
    }

    /// Changes the status of the evaluation in the response of `GET /state`.
    fn change_status(&self, change: impl FnOnce(&mut SessionStatus)) {
        self.current.change_status(change);
        self.simulator.wake();
    }
}

impl SessionHost for SessionWorld {
    fn place(&mut self) -> Result<(Statics, Observation), SessionHostError> {
        let statics = observe::statics(&self.served, &self.script, self.seed).map_err(refused)?;
        let sim = self.served.sim(&self.profile, self.seed);
        self.writer.set_head(self.head(&sim));
        let loaded = Loaded { sim, served: Arc::clone(&self.served), keep_lights: false };
        // Green lights are stored, so that the world has green lights after a restart of the
        // simulator. A light that is red at the start because of the seed turns green by itself.
        let green = loaded.red_lights().into_keys().map(|name| (name, false)).collect();
        let stored = self.runtime.block_on(self.keeper.world(&self.served.name, green));
        stored.map_err(refused)?;
        let (requests, queue) = channel();
        let entry = SessionEntry {
            loaded,
            at: start_pose(&self.served, &self.profile),
            notes: self.notes.clone(),
            requests: queue,
            drive: Arc::clone(&self.drive),
            recognizes_student: self.recognizes_student,
            is_virtual: self.has_paced_program(),
            interference: Arc::clone(&self.interference),
            journal: Recorder::new(self.writer.sink()),
        };
        let reply = self.runtime.block_on(self.simulator.judge(entry));
        let (first, _) = reply.map_err(refused)?;
        self.requests = Some(requests);
        Ok((statics, *first.ok_or(SessionHostError::WorldGone)?))
    }

    fn run(&mut self) {
        let _ = self.request(SessionRequest::Run { limit_s: self.time_limit_s });
    }

    fn resume(&mut self) {
        let _ = self.request(SessionRequest::Resume);
    }

    fn halt(&mut self) -> f64 {
        self.stop_pacing();
        let (reply, time) = sync_channel(1);
        let requested = self.request(SessionRequest::Halt(reply)).is_ok();
        self.requests = None;
        if requested { time.recv_timeout(SIM_THREAD_TIMEOUT).unwrap_or(0.0) } else { 0.0 }
    }

    fn act(&mut self, act: JudgeAct) -> Result<(), SessionHostError> {
        match act {
            JudgeAct::Teleport(request) => self.apply(view::place_command(Who::Vehicle, request)),
            JudgeAct::MoveObject(name, _) if name == "vehicle" || name == self.profile.model_name => {
                Err(SessionHostError::Refused("use teleport for the vehicle".to_owned()))
            }
            JudgeAct::MoveObject(name, request) => {
                self.apply(view::place_command(Who::Object(name), request))
            }
            JudgeAct::SetLight(name, request) => self.set_light(name, &request),
            JudgeAct::Overlay(request) => self.request(SessionRequest::Overlay {
                text: request.text,
                ttl_s: request.ttl,
                size: request.size,
            }),
            JudgeAct::SetBrightness(request) => self.set_brightness(request.value),
            JudgeAct::Pause(paused) => self.request(SessionRequest::Pause(paused)),
        }
    }

    fn enter(&mut self, phase: Phase) {
        self.current.update(|session| session.phase = phase);
        self.change_status(|status| status.evaluation.phase = Some(phase));
    }

    fn publish(&mut self, time_s: f64, kind: EvaluationKind) {
        if let EvaluationKind::Log { line } = &kind {
            self.current.log(line);
            self.current.add_output(LineSource::Judge, line);
        }
        if let EvaluationKind::Command { .. } = kind {
            self.store_event(time_s, &kind);
        } else {
            self.announce(time_s, kind);
        }
    }

    fn time(&mut self, time_s: f64) {
        let write = self.progress_written_at.elapsed() >= RECORD_INTERVAL;
        let mut record = None;
        let interference = self.interference.lock().unwrap_or_else(PoisonError::into_inner).count;
        self.current.update(|session| {
            session.interference = interference;
            session.elapsed_s = Num(time_s);
            record = write.then(|| session.record.to_string());
        });
        if let Some(record) = record {
            self.progress_written_at = Instant::now();
            self.writer.set_progress(record, time_s);
        }
    }

    fn record(&mut self, record: &Value) {
        self.current.update(|session| session.record = record.clone());
    }

    fn publish_run(&mut self, time_s: f64, event: RunEvent) {
        if let RunEvent::Log { stream, line, .. } = &event {
            self.current.add_output(LineSource::Student(*stream), line);
        }
        self.feed.send(&StoryEvent::Run(event.clone()));
        self.store_event(time_s, &EvaluationKind::Run { run: event });
    }

    fn show_run(&mut self, run: RunState) {
        self.current.update(|session| session.run = run);
        self.change_status(|status| status.run = run);
    }

    fn serve_student(&mut self, listeners: Vec<TcpListener>) {
        if let Some(gate) = self.gate.as_ref().filter(|_| !listeners.is_empty()) {
            self.open_gate = Some(gate.open(listeners));
        }
    }

    fn pace_student(&mut self, program: PacedProgram) -> Result<(), SessionHostError> {
        let serve = self.gate.as_ref().and_then(|gate| gate.paced());
        let serve = serve.ok_or_else(|| refused("the web server has stopped"))?;
        let (simulator, notes) = (self.simulator.clone(), self.notes.clone());
        let world =
            |stop| -> Box<dyn PacedWorld> { Box::new(SessionPace { simulator, notes, stop, advance: None }) };
        let pacing = TimeKeeper::start(program, serve, Arc::clone(self.simulator.work()), world);
        self.pacing = Some(pacing.map_err(refused)?);
        Ok(())
    }

    fn show_program(&mut self, identity: &ProgramIdentity) {
        self.identity.program = Some(identity.clone());
        self.writer.set_identity(self.identity.clone());
    }

    fn take_clock(&mut self) {
        let _ = self.request(SessionRequest::TakeClock);
    }

    fn note(&mut self, step: &Step) {
        // A step contains only maps whose keys are text, so writing it as JSON never fails.
        if let Ok(line) = step.line() {
            self.writer.add_step(line);
        }
    }
}

fn refused(error: impl Display) -> SessionHostError {
    SessionHostError::Refused(error.to_string())
}

/// Start pose of the car: x, y in metres and yaw in radians. `None` if the world has no route with
/// two different waypoints. The car heads from the first waypoint to the next waypoint at another
/// position. Its front bumper is just behind the first waypoint. The seed of the session may change
/// this pose.
fn start_pose(served: &ServedWorld, profile: &Profile) -> Option<[f64; 3]> {
    let line = &served.world.route.as_ref()?.centre;
    let first = *line.first()?;
    let next = line.iter().copied().find(|p| (*p - first).length() > 1e-9)?;
    let ahead: DVec2 = (next - first).normalize();
    let front = profile.body.centre_m[0] + profile.body.size_m[0] / 2.0;
    if let Some(varied) = served.varied_start(front + BEHIND_LINE_M) {
        return Some(varied);
    }
    let at = first - ahead * (front + BEHIND_LINE_M);
    Some([at.x, at.y, libm::atan2(ahead.y, ahead.x)])
}
