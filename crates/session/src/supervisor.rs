//! Carries out the actions of the state machine, with a judge, a student's program and a world.
//!
//! One thread carries out all actions. While it has none, it waits for any of these: a note from
//! outside (an observation, a request to stop), a message or output of the judge, or output of the
//! student's program. What the script printed and recorded during a call is published at the end of
//! the call, the output first. Therefore the events of a session do not depend on the speed of the
//! machine.

mod again;
mod run_result;

use crate::judge::{Judge, JudgeError, JudgeEvent};
use crate::machine::{Action, Call, Input, Machine};
use crate::outcome::{ChannelFault, Ending, ScriptFault, StopCause};
use crate::progress::Progress;
use crate::setting::Setting;
use crate::step::Step;
use crate::student::{Student, StudentEvent, StudentProgram};
use chicane_jail::LingeringProcesses;
use chicane_jail::wake::{NotesOut, wait_for};
use chicane_pace::PacedProgram;
use chicane_wire::{
    CommandName, EvaluationKind, JudgeAct, JudgeCall, JudgeReply, JudgeSaid, Observation, Phase,
    ProgramIdentity, RaisedKind, RunEvent, RunResult, RunState, Statics, rounded,
};
use rustix::event::PollFlags;
use serde_json::Value;
use std::collections::VecDeque;
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::SyncSender;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// The longest wait for an event. The limits of the judge are checked between two waits.
const WAIT: Duration = Duration::from_millis(20);
/// How long the jail may take to report that the program has exited.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of lines at the end of the student program's output that the record keeps.
const OUTPUT_TAIL: usize = 40;

/// Why a [`SessionHost`] did not do what a session asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionHostError {
    /// The session has no simulation, for example because the simulation panicked or was halted.
    #[error("the simulation is gone")]
    SimulationGone,
    /// The simulation did not answer in time.
    #[error("the simulation does not answer")]
    Timeout,
    /// The world could not be observed, or the simulation of a run that is judged again differs
    /// from the journal.
    #[error("the world is gone")]
    WorldGone,
    /// The request was refused. Holds the reason, as a text for the script or for people.
    #[error("{0}")]
    Refused(String),
}

/// Why a session has no judge.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("the thread that starts it panicked")]
    Panicked,
    #[error("this simulator has no judge")]
    NoSetting,
    #[error(transparent)]
    Judge(#[from] JudgeError),
}

/// The simulator as a session sees it: the world, and the clients that get the session's events. To
/// show a value means to make it part of the state that clients can request.
pub trait SessionHost {
    /// Puts a new simulation in place, with its time stopped. Returns the constant data of the
    /// world, and the first observation.
    fn place(&mut self) -> Result<(Statics, Observation), SessionHostError>;
    /// Starts simulated time.
    fn run(&mut self);
    /// Continues simulated time, because the script has judged the observation.
    fn resume(&mut self);
    /// Stops the car and the observations. Returns the simulated time of the session in seconds.
    fn halt(&mut self) -> f64;
    /// Carries out an action of the script.
    fn act(&mut self, act: JudgeAct) -> Result<(), SessionHostError>;
    /// Shows the new phase of the session.
    fn enter(&mut self, phase: Phase);
    /// Publishes an event of the session.
    fn publish(&mut self, time_s: f64, kind: EvaluationKind);
    /// Shows the simulated time of the session.
    fn time(&mut self, time_s: f64);
    /// Shows the new value that the script has recorded. Not every value is published as an event.
    fn record(&mut self, record: &Value);
    /// Publishes an event of the student's program.
    fn publish_run(&mut self, time_s: f64, event: RunEvent);
    /// Shows whether the student's program runs.
    fn show_run(&mut self, run: RunState);
    /// Serves the program's requests, which come through these sockets.
    fn serve_student(&mut self, listeners: Vec<TcpListener>);
    /// Moves time for a program in virtual time and serves its requests, until `halt` is called.
    fn pace_student(&mut self, program: PacedProgram) -> Result<(), SessionHostError>;
    /// Stores the identity of the program as it was started.
    fn show_program(&mut self, identity: &ProgramIdentity);
    /// Lets time continue at the session's speed, because the student's program has exited and can
    /// no longer continue time that it has paused.
    fn take_clock(&mut self);
    /// Writes a step of the session to its journal.
    fn note(&mut self, step: &Step);
    /// For a run that is judged again: simulates up to the next observation of its journal. `None`
    /// for any other run, or if the simulation differs from the journal.
    fn next_observation(&mut self) -> Option<Observation> {
        None
    }
    /// For a run that is judged again: simulates up to the journal entry which says that the time
    /// limit passed. Returns the simulated time of this entry in seconds. `None` for any other run,
    /// or if the simulation differs from the journal.
    fn next_limit(&mut self) -> Option<f64> {
        None
    }
}

/// What a session runs.
#[derive(Debug, Clone)]
pub struct SessionSpec {
    /// The student's program, if there is one.
    pub student: Option<StudentProgram>,
    /// Why the evaluation can't be run here. `None` if it can be run.
    pub unsupported: Option<crate::outcome::Unsupported>,
    /// Real seconds after which the session is stopped.
    pub wall_limit_s: f64,
    /// For a run that is judged again: the command of the student's program.
    pub student_command: Option<String>,
    /// For a run that is judged again: the steps of its journal.
    pub steps: Option<Vec<Step>>,
}

/// A message to a session from outside.
#[derive(Debug)]
pub enum Note {
    /// An observation was taken.
    Observed(Box<Observation>),
    /// The time limit passed.
    LimitPassed {
        /// Simulated seconds from the start of the session until the limit passed.
        time_s: f64,
    },
    /// The session is to stop.
    Stop(StopCause),
    /// A command to the world, the clock or the display that the judging script did not send. The
    /// record of the session lists this command.
    Command {
        /// The command.
        command: CommandName,
        /// Parameters of the command.
        detail: Value,
    },
    /// In virtual time: a request of the time keeper to read now what the program has written so
    /// far.
    Drain {
        /// Whether the program has exited, so that its exit status is to be read too.
        exited: bool,
        /// Gets a message when everything was read.
        done: SyncSender<()>,
    },
}

/// The result of a session.
#[derive(Debug)]
pub struct SessionEnd {
    /// How the session ended.
    pub ending: Ending,
    /// The value that the script recorded last.
    pub record: Value,
    /// Simulated time in seconds.
    pub time_s: f64,
    /// Number of observations that the script judged.
    pub observations: u64,
    /// How long the world waited for the script, in real seconds.
    pub wait_s: f64,
    /// Processes of the student that the kernel could not end yet.
    pub lingering: Option<LingeringProcesses>,
    /// How the student's program ended. `None` if it was not started.
    pub run: Option<RunResult>,
}

/// Runs a session to its end. When this function returns, the session's processes are gone, except
/// those that the kernel could not end in time. `SessionEnd::lingering` has such processes of the
/// student.
pub fn supervise(
    spec: &SessionSpec,
    setting: Option<&Setting>,
    host: &mut dyn SessionHost,
    notes: &NotesOut<Note>,
) -> SessionEnd {
    let (machine, first) = match &spec.unsupported {
        Some(why) => Machine::refuse(Ending::Unsupported(why.clone())),
        None => Machine::begin(spec.student.is_some() || spec.student_command.is_some()),
    };
    std::thread::scope(|scope| {
        // The container starts while the world is put in place, because the two are independent.
        let starting = setting.filter(|_| machine.ending().is_none());
        let starting = starting.map(|setting| scope.spawn(|| setting.take_judge()));
        let mut supervisor = Supervisor {
            machine,
            actions: first.into(),
            spec,
            setting,
            host,
            starting,
            judge: None,
            student: None,
            is_paced: false,
            began: Instant::now(),
            statics: None,
            observation: None,
            observed: Instant::now(),
            printed: Vec::new(),
            heard: 0,
            steps: spec.steps.clone().map(VecDeque::from),
            progress: Progress::default(),
            run: RunState::default(),
            time_s: 0.0,
            observations: 0,
            wait: Duration::ZERO,
            lingering: None,
            deadline: Instant::now() + Duration::from_secs_f64(spec.wall_limit_s),
            result: None,
            closed: false,
            failed: false,
        };
        // A panic ends this session only. `abort` ends the processes of the session.
        if catch_unwind(AssertUnwindSafe(|| supervisor.supervise(notes))).is_err() {
            supervisor.abort();
        }
        let end = supervisor.end();
        if let Some(setting) = setting.filter(|_| end.ending != Ending::Stopped(StopCause::Shutdown)) {
            setting.prepare_judge();
        }
        end
    })
}

struct Supervisor<'a, 'scope> {
    machine: Machine,
    actions: VecDeque<Action>,
    spec: &'a SessionSpec,
    setting: Option<&'a Setting>,
    host: &'a mut dyn SessionHost,
    /// The thread that starts the judge; `None` once the supervisor has taken its judge, or if the
    /// session needs none. A judge that is never used ends with the session.
    starting: Option<ScopedJoinHandle<'scope, Result<Judge, JudgeError>>>,
    judge: Option<Judge>,
    student: Option<Student>,
    /// Whether the program runs in virtual time. Its output is then read only after a
    /// [`Note::Drain`] of the time keeper.
    is_paced: bool,
    /// When the session began.
    began: Instant,
    statics: Option<Statics>,
    observation: Option<Box<Observation>>,
    /// When the last observation arrived.
    observed: Instant,
    /// Lines that the current call has printed.
    printed: Vec<String>,
    /// Number of messages and lines of the script in the current call.
    heard: u32,
    /// For a run that is judged again: the steps that were not taken yet.
    steps: Option<VecDeque<Step>>,
    progress: Progress,
    run: RunState,
    /// Simulated time of the session in seconds.
    time_s: f64,
    observations: u64,
    /// How long the world waited for the script.
    wait: Duration,
    lingering: Option<LingeringProcesses>,
    /// When the session reaches its wall-clock limit.
    deadline: Instant,
    /// How the student's program ended. `None` if it was not started.
    result: Option<RunResult>,
    closed: bool,
    /// Whether the supervisor panicked.
    failed: bool,
}

impl Supervisor<'_, '_> {
    fn supervise(&mut self, notes: &NotesOut<Note>) {
        loop {
            while let Some(action) = self.actions.pop_front() {
                self.carry_out(action);
            }
            if self.closed {
                return;
            }
            if Instant::now() >= self.deadline {
                self.stop(StopCause::WallLimit(self.spec.wall_limit_s.to_string()));
            }
            if self.steps.is_some() {
                // The only note of a run that is judged again is the request to stop.
                let handled = self.handle_note(notes) || self.handle_step() || self.handle_judge();
                if !handled && self.actions.is_empty() {
                    self.wait(notes);
                }
                continue;
            }
            // The actions of an input are carried out before the next input is taken, so that the
            // order of the steps in the journal is the order of their effects.
            let mut handled = self.handle_note(notes);
            if self.actions.is_empty() {
                handled |= self.handle_judge();
            }
            match &mut self.student {
                _ if !self.actions.is_empty() => continue,
                // While the session is ending, the memory of a program in virtual time is not
                // checked. How far the program gets now depends on the speed of the machine, and a
                // check could make the result of the run depend on it too.
                Some(_) if self.is_paced && self.machine.ending().is_some() => {}
                Some(student) if self.is_paced => student.check_memory(),
                _ => handled |= self.handle_student(),
            }
            if !handled && self.actions.is_empty() {
                self.wait(notes);
            }
        }
    }

    /// Ends all processes after a panic.
    fn abort(&mut self) {
        tracing::error!("the supervisor of a session panicked; the session is ended");
        self.failed = true;
        self.lingering = self.student.take().and_then(|mut student| student.end());
        self.judge = None;
        let _ = catch_unwind(AssertUnwindSafe(|| self.halt()));
    }

    fn end(self) -> SessionEnd {
        let ending = match self.machine.ending() {
            _ if self.failed => Ending::Stopped(StopCause::Unsupervised),
            Some(ending) => ending.clone(),
            None => Ending::Stopped(StopCause::Asked),
        };
        SessionEnd {
            ending,
            record: self.progress.record().clone(),
            time_s: self.time_s,
            observations: self.observations,
            wait_s: self.wait.as_secs_f64(),
            lingering: self.lingering,
            run: self.result,
        }
    }

    fn input(&mut self, input: Input) {
        self.actions.extend(self.machine.handle(input));
    }

    /// Stops the session, unless it is about to end already.
    fn stop(&mut self, cause: StopCause) {
        if self.machine.ending().is_none() {
            self.host.note(&Step::Stop { cause: cause.clone(), heard: self.heard });
        }
        self.input(Input::Stop(cause));
    }

    fn wait(&self, notes: &NotesOut<Note>) {
        let mut all = vec![(notes.descriptor(), PollFlags::IN)];
        all.extend(self.judge.iter().flat_map(Judge::descriptors));
        let unpaced = self.student.iter().filter(|_| !self.is_paced);
        all.extend(unpaced.flat_map(Student::descriptors));
        let _ = wait_for(&all, WAIT);
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Enter(Phase::Ended) => {}
            Action::Enter(phase) => {
                self.host.enter(phase);
                self.host.publish(self.time_s, EvaluationKind::Phase { phase });
            }
            Action::Place => self.place(),
            Action::StartJudge => self.start_judge(),
            Action::Call(call) => self.call(call),
            Action::StartStudent => self.start_student(),
            Action::Run => {
                self.host.run();
                self.serve_student();
            }
            Action::Go => {
                self.wait += self.observed.elapsed();
                self.host.resume();
            }
            Action::Halt => self.halt(),
            Action::EndStudent => {
                let is_stopped = matches!(self.machine.ending(), Some(Ending::Stopped(_)));
                let is_judged = self.is_paced && !is_stopped;
                if !is_judged {
                    self.note_memory();
                }
                if let Some(student) = &mut self.student {
                    self.lingering = if is_judged { student.end_as_read() } else { student.end() };
                }
                while self.handle_student() {}
                self.take_last_student_steps();
                self.student = None;
                self.input(Input::StudentGone);
            }
            Action::EndJudge => {
                let count = self.await_last_lines();
                if let Some(mut judge) = self.judge.take() {
                    self.printed.extend(judge.end());
                }
                self.printed.truncate(count.unwrap_or(usize::MAX));
                self.host.note(&Step::JudgeEnded(self.printed.len()));
                self.publish_call();
                self.input(Input::JudgeGone);
            }
            Action::Close => self.closed = true,
        }
    }

    fn start_judge(&mut self) {
        if let Some(StopCause::NoJudge(why)) = self.failed_before() {
            return self.input(Input::JudgeNotUp(why));
        }
        let started = match self.starting.take() {
            Some(thread) => thread
                .join()
                .map_err(|_| StartError::Panicked)
                .and_then(|done| done.map_err(StartError::Judge)),
            None => Err(StartError::NoSetting),
        };
        match started {
            Ok(judge) => {
                self.judge = Some(judge);
                self.input(Input::JudgeUp);
            }
            Err(why) => {
                self.host.note(&Step::Stop { cause: StopCause::NoJudge(why.to_string()), heard: 0 });
                self.input(Input::JudgeNotUp(why.to_string()));
            }
        }
    }

    fn place(&mut self) {
        match self.host.place() {
            Ok((statics, observation)) => {
                self.statics = Some(statics);
                self.observation = Some(Box::new(observation));
                self.input(Input::Placed);
            }
            Err(why) => {
                self.host.note(&Step::Stop { cause: StopCause::NotPlaced(why.to_string()), heard: 0 });
                self.input(Input::NotPlaced(why.to_string()));
            }
        }
    }

    fn call(&mut self, call: Call) {
        let (Some(judge), Some(observation), Some(statics)) =
            (&mut self.judge, &mut self.observation, &self.statics)
        else {
            return;
        };
        observation.run = self.run;
        self.heard = 0;
        match call {
            Call::Load => judge.call(&JudgeCall::Load(statics)),
            Call::Initialize => judge.observe(true, observation),
            Call::Evaluate => {
                self.observations += 1;
                judge.observe(false, observation);
            }
        }
    }

    fn start_student(&mut self) {
        if self.steps.is_some() {
            return self.start_recorded_student();
        }
        let (Some(program), Some(setting)) = (self.spec.student.clone(), self.setting) else { return };
        let command = program.command.clone();
        match Student::start(setting, program) {
            Ok(mut student) => {
                if let Some(program) = student.take_paced() {
                    self.is_paced = true;
                    if let Err(why) = self.host.pace_student(program) {
                        return self.no_student(format!("there is no virtual time: {why}"));
                    }
                }
                if let Some(identity) = student.identity() {
                    self.host.show_program(identity);
                }
                self.student = Some(student);
                self.host.note(&Step::Started);
                self.note_started(command);
            }
            Err(why) => self.no_student(why.to_string()),
        }
    }

    /// Serves the requests of a program in real time. This happens only after simulated time has
    /// started, because a request for a step of the simulation would be refused earlier.
    fn serve_student(&mut self) {
        let listeners = self.student.as_mut().map(Student::take_listeners).unwrap_or_default();
        self.host.serve_student(listeners);
    }

    fn no_student(&mut self, why: String) {
        self.host.note(&Step::Stop { cause: StopCause::NoStudent(why.clone()), heard: 0 });
        self.input(Input::StudentNotUp(why));
    }

    fn halt(&mut self) {
        self.time_s = self.host.halt().max(self.time_s);
    }

    fn handle_note(&mut self, notes: &NotesOut<Note>) -> bool {
        let Some(note) = notes.take() else { return false };
        match note {
            Note::Observed(observation) => {
                self.host.note(&Step::Observed);
                self.take_observation(observation);
            }
            Note::LimitPassed { time_s } => {
                self.host.note(&Step::LimitPassed);
                self.time_s = time_s;
                self.input(Input::LimitPassed);
            }
            Note::Stop(cause) => self.stop(cause),
            Note::Command { command, detail } => {
                self.host.note(&Step::Command { command, detail: detail.clone() });
                self.host.publish(self.time_s, EvaluationKind::Command { command, detail });
            }
            Note::Drain { exited, done } => {
                self.drain(exited);
                // The send fails if the time keeper was stopped meanwhile.
                let _ = done.try_send(());
            }
        }
        true
    }

    fn take_observation(&mut self, observation: Box<Observation>) {
        let passed = observation.time.0 - self.time_s;
        self.time_s = observation.time.0;
        self.observed = Instant::now();
        self.host.time(self.time_s);
        if let Some(judge) = &mut self.judge {
            // In a paused world simulated time stands still. Observations then come every 50 ms of
            // real time, so real time counts instead.
            judge.refill(if observation.paused { 0.05 } else { passed });
        }
        self.observation = Some(observation);
        self.input(Input::Observed);
    }

    /// Reads and publishes what a program in virtual time has written. If the program has exited,
    /// waits for its exit status, which the jail is about to report.
    fn drain(&mut self, exited: bool) {
        let deadline = Instant::now() + EXIT_TIMEOUT;
        loop {
            if let Some(student) = &mut self.student {
                student.set_line_time(self.began + Duration::from_secs_f64(self.time_s));
            }
            if let Some(student) = &mut self.student {
                student.read_written();
            }
            while let Some(event) = self.student.as_mut().and_then(Student::take_event) {
                self.handle_student_event(event);
            }
            self.note_memory();
            if !exited || self.run.exit_code.is_some() || Instant::now() >= deadline {
                return;
            }
            let descriptors: Vec<_> = self.student.iter().flat_map(Student::descriptors).collect();
            let _ = wait_for(&descriptors, WAIT);
        }
    }

    fn handle_judge(&mut self) -> bool {
        let Some(event) = self.judge.as_mut().and_then(Judge::next_event) else { return false };
        self.heard += 1;
        match event {
            JudgeEvent::Line(line) => {
                self.printed.push(line);
                // A thread or child process of the script may print between two calls. Such a line
                // is published at once, because it belongs to no call whose end would publish it.
                if self.machine.call().is_none() {
                    self.publish_call();
                }
            }
            JudgeEvent::Fault(fault) => {
                self.end_call();
                self.input(Input::Fault(fault));
            }
            JudgeEvent::Message(message) => self.handle_message(message),
        }
        true
    }

    fn handle_message(&mut self, message: JudgeSaid) {
        let called = self.machine.call().is_some();
        match message {
            JudgeSaid::Record { value } if called => {
                self.progress.set(rounded(value));
                self.host.record(self.progress.record());
            }
            JudgeSaid::Act(value) if called => {
                let error = match JudgeAct::read(value) {
                    Ok(act) => self.host.act(act).err().map(|e| e.to_string()),
                    Err(e) => Some(e.0),
                };
                if let Some(judge) = &mut self.judge {
                    judge.reply(&JudgeReply { error });
                }
            }
            JudgeSaid::Answer { finish } if called => {
                self.end_call();
                // A script that calls `sim.finish()` may have caught the exception of an exceeded
                // limit, so the limits are checked before the session counts as finished.
                let exceeded =
                    self.judge.as_mut().filter(|_| finish).and_then(|judge| judge.exceeded_limit(None));
                match exceeded {
                    Some(fault) => self.input(Input::Fault(fault)),
                    None => self.input(Input::Answered { finish }),
                }
            }
            JudgeSaid::Raised { kind, error } if called => {
                self.end_call();
                let exceeded =
                    self.judge.as_mut().and_then(|judge| judge.exceeded_limit(Some(error.clone())));
                self.input(Input::Fault(exceeded.unwrap_or(match kind {
                    RaisedKind::Raised => ScriptFault::Raised(error),
                    RaisedKind::Exited => ScriptFault::Exited(error),
                    RaisedKind::Memory => ScriptFault::Memory(Some(error)),
                    RaisedKind::Files => ScriptFault::Files(Some(error)),
                })));
            }
            _ => self.input(Input::Fault(ScriptFault::Channel(ChannelFault::OutOfTurn))),
        }
    }

    /// If a call was pending, notes that the script has answered it or failed. Then publishes the
    /// output and the record of the call.
    fn end_call(&mut self) {
        if self.machine.call().is_some() && self.machine.ending().is_none() {
            self.host.note(&Step::Answered);
            if let Some(steps) = self.steps.as_mut().filter(|s| s.front() == Some(&Step::Answered)) {
                steps.pop_front();
            }
        }
        self.publish_call();
    }

    /// Publishes the lines that the script has printed, and the record if [`Progress`] says that it
    /// is due. While the session ends, a changed record is always due.
    fn publish_call(&mut self) {
        for line in std::mem::take(&mut self.printed) {
            self.host.publish(self.time_s, EvaluationKind::Log { line });
        }
        let over = self.machine.ending().is_some();
        let record =
            if over { self.progress.publish_last(self.time_s) } else { self.progress.publish(self.time_s) };
        if let Some(record) = record {
            self.host.publish(self.time_s, EvaluationKind::Record { record });
        }
    }

    fn handle_student(&mut self) -> bool {
        let Some(event) = self.student.as_mut().and_then(Student::next_event) else { return false };
        self.handle_student_event(event);
        true
    }

    fn handle_student_event(&mut self, event: StudentEvent) {
        match event {
            StudentEvent::Line { stream, text, cut } => {
                self.host.note(&Step::Line { stream, text: text.clone(), cut });
                self.keep_line(&text);
                let event = RunEvent::Log { stream, line: text, truncated: cut.then_some(true) };
                self.host.publish_run(self.time_s, event);
            }
            StudentEvent::Exited(code) => {
                self.host.note(&Step::Exited(code));
                self.note_exit(code);
                self.run = RunState { running: false, exit_code: Some(code) };
                self.host.show_run(self.run);
                self.host.publish_run(self.time_s, RunEvent::Exit { exit_code: code });
            }
        }
    }
}

#[cfg(test)]
mod tests;
