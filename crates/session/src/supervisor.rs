//! Carries out what the machine says, with a script, a program and a world.
//!
//! One thread does all of this, and waits for everything at once: notes (observations, a request to stop), what
//! the script says and prints, what the program prints. Whatever a call of the script printed and recorded is told when the call is
//! over, prints first: so the story is the same however fast things went.

use crate::jail::Left;
use crate::judge::{Heard, Judge, JudgeError};
use crate::machine::{Action, Call, Input, Machine};
use crate::outcome::{ChannelFault, Ending, ScriptFault, StopCause};
use crate::progress::Progress;
use crate::setting::Setting;
use crate::student::{Student, StudentOrder, StudentSaid};
use crate::wake::{NotesOut, wait_for};
use chicane_wire::{
    EvaluationKind, JudgeAct, JudgeCall, JudgeReply, JudgeSaid, Observation, Phase, RaisedKind, RunEvent,
    RunState, Statics,
};
use rustix::event::PollFlags;
use serde_json::Value;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// Longest wait: limits are looked at in between.
const TURN: Duration = Duration::from_millis(20);

/// Why a [`Scene`] did not do what a session asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SceneError {
    /// The thread of the simulation ended.
    #[error("the simulation is gone")]
    SimulationGone,
    /// The simulation did not answer in time.
    #[error("the simulation does not answer")]
    Timeout,
    /// The world was replaced or could not be observed.
    #[error("the world is gone")]
    WorldGone,
    /// The request was refused, with the reason for the script or the person.
    #[error("{0}")]
    Refused(String),
}

/// Why no judge is at hand when the session needs it.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("starting it failed")]
    Panicked,
    #[error("no judge is at hand")]
    NoSetting,
    #[error(transparent)]
    Judge(#[from] JudgeError),
}

/// The world, and whoever listens.
pub trait Scene {
    /// Puts a new simulation in place, time standing still. What does not change, and how things stand.
    fn place(&mut self) -> Result<(Statics, Observation), SceneError>;
    /// Lets time run from here.
    fn run(&mut self);
    /// The observation was judged: time goes on.
    fn go(&mut self);
    /// No drive command, no more observations. The simulated time of the session.
    fn halt(&mut self) -> f64;
    /// Carries out an action of the script, or says why not.
    fn act(&mut self, act: JudgeAct) -> Result<(), SceneError>;
    /// The session is in another phase.
    fn enter(&mut self, phase: Phase);
    /// Something happened in the session.
    fn tell(&mut self, time_s: f64, kind: EvaluationKind);
    /// Simulated time went on.
    fn time(&mut self, time_s: f64);
    /// The record is another one, told or not.
    fn record(&mut self, record: &Value);
    /// Something happened to the student's program.
    fn tell_run(&mut self, time_s: f64, event: RunEvent);
    /// The student's program runs, or not.
    fn show_run(&mut self, run: RunState);
}

/// What a session is about.
#[derive(Debug, Clone)]
pub struct Brief {
    /// The student's program.
    pub student: Option<StudentOrder>,
    /// The session can't be run, for this reason.
    pub unsupported: Option<crate::outcome::Unsupported>,
}

/// What reaches a session from outside.
#[derive(Debug)]
pub enum Note {
    /// An observation is due.
    Observed(Box<Observation>),
    /// The time limit passed.
    LimitPassed {
        /// Simulated seconds of the session.
        time_s: f64,
    },
    /// It is to stop.
    Stop(StopCause),
    /// Somebody did something that belongs into the record.
    Told(EvaluationKind),
}

/// How a session ended.
#[derive(Debug)]
pub struct SessionEnd {
    /// How.
    pub ending: Ending,
    /// The last record.
    pub record: Value,
    /// Simulated seconds.
    pub time_s: f64,
    /// How often the script was asked to judge.
    pub observations: u64,
    /// How long the world waited for that, in real seconds.
    pub wait_s: f64,
    /// Processes of the student that the kernel could not end yet.
    pub left: Option<Left>,
}

/// Runs a session to its end. Nothing of it is left when this returns.
pub fn supervise(
    brief: &Brief,
    setting: Option<&Setting>,
    scene: &mut dyn Scene,
    notes: &NotesOut<Note>,
) -> SessionEnd {
    let (machine, first) = match &brief.unsupported {
        Some(why) => Machine::refuse(Ending::Unsupported(why.clone())),
        None => Machine::begin(brief.student.is_some()),
    };
    std::thread::scope(|scope| {
        // The container comes up while the world is put in place: neither needs the other.
        let ahead = setting.filter(|_| machine.ending().is_none());
        let ahead = ahead.map(|setting| scope.spawn(|| Judge::start(setting)));
        let mut supervisor = Supervisor {
            machine,
            actions: first.into(),
            brief,
            setting,
            scene,
            ahead,
            judge: None,
            student: None,
            statics: None,
            observation: None,
            observed: Instant::now(),
            printed: Vec::new(),
            progress: Progress::default(),
            run: RunState::default(),
            time_s: 0.0,
            observations: 0,
            wait: Duration::ZERO,
            left: None,
            closed: false,
            failed: false,
        };
        // A fault of our own costs one session, and leaves none that nobody can end.
        if catch_unwind(AssertUnwindSafe(|| supervisor.supervise(notes))).is_err() {
            supervisor.give_up();
        }
        supervisor.end()
    })
}

struct Supervisor<'a, 'scope> {
    machine: Machine,
    actions: VecDeque<Action>,
    brief: &'a Brief,
    setting: Option<&'a Setting>,
    scene: &'a mut dyn Scene,
    /// A container that is being started. One that is never asked for ends with the session.
    ahead: Option<ScopedJoinHandle<'scope, Result<Judge, JudgeError>>>,
    judge: Option<Judge>,
    student: Option<Student>,
    statics: Option<Statics>,
    observation: Option<Box<Observation>>,
    observed: Instant,
    /// Lines of the call that is under way.
    printed: Vec<String>,
    progress: Progress,
    run: RunState,
    time_s: f64,
    observations: u64,
    wait: Duration,
    left: Option<Left>,
    closed: bool,
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
            let heard = self.take_note(notes) | self.hear_judge() | self.hear_student();
            if !heard && self.actions.is_empty() {
                self.wait(notes);
            }
        }
    }

    /// Ends all that runs, wherever things broke off.
    fn give_up(&mut self) {
        tracing::error!("the supervision of a session failed; the session is ended");
        self.failed = true;
        self.left = self.student.take().and_then(|mut student| student.end());
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
            left: self.left,
        }
    }

    fn input(&mut self, input: Input) {
        self.actions.extend(self.machine.handle(input));
    }

    fn wait(&self, notes: &NotesOut<Note>) {
        let mut all = vec![(notes.bell(), PollFlags::IN)];
        all.extend(self.judge.iter().flat_map(Judge::descriptors));
        all.extend(self.student.iter().flat_map(Student::descriptors));
        let _ = wait_for(&all, TURN);
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Enter(Phase::Ended) => {}
            Action::Enter(phase) => {
                self.scene.enter(phase);
                self.scene.tell(self.time_s, EvaluationKind::Phase { phase });
            }
            Action::Place => self.place(),
            Action::StartJudge => self.start_judge(),
            Action::Call(call) => self.call(call),
            Action::StartStudent => self.start_student(),
            Action::Run => self.scene.run(),
            Action::Go => {
                self.wait += self.observed.elapsed();
                self.scene.go();
            }
            Action::Halt => self.halt(),
            Action::EndStudent => {
                if let Some(student) = &mut self.student {
                    self.left = student.end();
                }
                while self.hear_student() {}
                self.student = None;
                self.input(Input::StudentGone);
            }
            Action::EndJudge => {
                if let Some(mut judge) = self.judge.take() {
                    self.printed.extend(judge.end());
                }
                self.tell_call();
                self.input(Input::JudgeGone);
            }
            Action::Close => self.closed = true,
        }
    }

    fn start_judge(&mut self) {
        let started = match self.ahead.take() {
            Some(ahead) => ahead
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
            Err(why) => self.input(Input::JudgeNotUp(why.to_string())),
        }
    }

    fn place(&mut self) {
        match self.scene.place() {
            Ok((statics, observation)) => {
                self.statics = Some(statics);
                self.observation = Some(Box::new(observation));
                self.input(Input::Placed);
            }
            Err(why) => self.input(Input::NotPlaced(why.to_string())),
        }
    }

    fn call(&mut self, call: Call) {
        let (Some(judge), Some(observation), Some(statics)) =
            (&mut self.judge, &mut self.observation, &self.statics)
        else {
            return;
        };
        observation.run = self.run;
        match call {
            Call::Load => judge.call(&JudgeCall::Load(statics)),
            Call::Initialize => judge.show(true, observation),
            Call::Evaluate => {
                self.observations += 1;
                judge.show(false, observation);
            }
        }
    }

    fn start_student(&mut self) {
        let (Some(order), Some(setting)) = (self.brief.student.clone(), self.setting) else { return };
        let command = order.command.clone();
        match Student::start(setting, order) {
            Ok(student) => {
                self.student = Some(student);
                self.run = RunState { running: true, exit_code: None };
                self.scene.show_run(self.run);
                self.scene.tell_run(self.time_s, RunEvent::Start { command });
                self.input(Input::StudentUp);
            }
            Err(why) => self.input(Input::StudentNotUp(why.to_string())),
        }
    }

    fn halt(&mut self) {
        self.time_s = self.scene.halt().max(self.time_s);
    }

    fn take_note(&mut self, notes: &NotesOut<Note>) -> bool {
        let Some(note) = notes.take() else { return false };
        match note {
            Note::Observed(observation) => {
                let passed = observation.time.0 - self.time_s;
                self.time_s = observation.time.0;
                self.observed = Instant::now();
                self.scene.time(self.time_s);
                if let Some(judge) = &mut self.judge {
                    // While a script holds the world, its wall time counts: an observation every 50 ms.
                    judge.refill(if observation.paused { 0.05 } else { passed });
                }
                self.observation = Some(observation);
                self.input(Input::Observed);
            }
            Note::LimitPassed { time_s } => {
                self.time_s = time_s;
                self.input(Input::LimitPassed);
            }
            Note::Stop(cause) => self.input(Input::Stop(cause)),
            Note::Told(kind) => self.scene.tell(self.time_s, kind),
        }
        true
    }

    fn hear_judge(&mut self) -> bool {
        let Some(heard) = self.judge.as_mut().and_then(Judge::hear) else { return false };
        match heard {
            Heard::Line(line) => {
                self.printed.push(line);
                // Printed by a thread or another process between two calls.
                if self.machine.call().is_none() {
                    self.tell_call();
                }
            }
            Heard::Fault(fault) => {
                self.tell_call();
                self.input(Input::Fault(fault));
            }
            Heard::Said(said) => self.hear_harness(said),
        }
        true
    }

    fn hear_harness(&mut self, said: JudgeSaid) {
        let called = self.machine.call().is_some();
        match said {
            JudgeSaid::Record { value } if called => {
                self.progress.set(value);
                self.scene.record(self.progress.record());
            }
            JudgeSaid::Act(value) if called => {
                let error = match JudgeAct::read(value) {
                    Ok(act) => self.scene.act(act).err().map(|e| e.to_string()),
                    Err(e) => Some(e.0),
                };
                if let Some(judge) = &mut self.judge {
                    judge.reply(&JudgeReply { error });
                }
            }
            JudgeSaid::Answer { finish } if called => {
                self.tell_call();
                // One that hid the breach of a limit does not get away with it.
                let broken =
                    self.judge.as_mut().filter(|_| finish).and_then(|judge| judge.limit_broken(None));
                match broken {
                    Some(fault) => self.input(Input::Fault(fault)),
                    None => self.input(Input::Answered { finish }),
                }
            }
            JudgeSaid::Raised { kind, error } if called => {
                self.tell_call();
                let broken = self.judge.as_mut().and_then(|judge| judge.limit_broken(Some(error.clone())));
                self.input(Input::Fault(broken.unwrap_or(match kind {
                    RaisedKind::Raised => ScriptFault::Raised(error),
                    RaisedKind::Exited => ScriptFault::Exited(error),
                    RaisedKind::Memory => ScriptFault::Memory(Some(error)),
                    RaisedKind::Files => ScriptFault::Files(Some(error)),
                })));
            }
            _ => self.input(Input::Fault(ScriptFault::Channel(ChannelFault::OutOfTurn))),
        }
    }

    /// Tells what a call printed and recorded.
    fn tell_call(&mut self) {
        for line in std::mem::take(&mut self.printed) {
            self.scene.tell(self.time_s, EvaluationKind::Log { line });
        }
        let over = self.machine.ending().is_some();
        let record = if over { self.progress.rest(self.time_s) } else { self.progress.tell(self.time_s) };
        if let Some(record) = record {
            self.scene.tell(self.time_s, EvaluationKind::Record { record });
        }
    }

    fn hear_student(&mut self) -> bool {
        let Some(said) = self.student.as_mut().and_then(Student::hear) else { return false };
        match said {
            StudentSaid::Line { stream, text, cut } => {
                let event = RunEvent::Log { stream, line: text, truncated: cut.then_some(true) };
                self.scene.tell_run(self.time_s, event);
            }
            StudentSaid::Exited(code) => {
                self.run = RunState { running: false, exit_code: Some(code) };
                self.scene.show_run(self.run);
                self.scene.tell_run(self.time_s, RunEvent::Exit { exit_code: code });
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wake::notes;

    /// A world in which one thing goes wrong.
    #[derive(Default)]
    struct Broken {
        halts_too: bool,
        halted: u32,
    }

    impl Scene for Broken {
        fn place(&mut self) -> Result<(Statics, Observation), SceneError> {
            panic!("a fault of our own")
        }
        fn run(&mut self) {}
        fn go(&mut self) {}
        fn halt(&mut self) -> f64 {
            self.halted += 1;
            assert!(!self.halts_too, "another one");
            1.5
        }
        fn act(&mut self, _: JudgeAct) -> Result<(), SceneError> {
            Ok(())
        }
        fn enter(&mut self, _: Phase) {}
        fn tell(&mut self, _: f64, _: EvaluationKind) {}
        fn time(&mut self, _: f64) {}
        fn record(&mut self, _: &Value) {}
        fn tell_run(&mut self, _: f64, _: RunEvent) {}
        fn show_run(&mut self, _: RunState) {}
    }

    #[test]
    fn a_fault_of_our_own_ends_the_session() {
        let (_send, receive) = notes().expect("notes");
        let brief = Brief { student: None, unsupported: None };
        for (halts_too, time_s) in [(false, 1.5), (true, 0.0)] {
            let mut scene = Broken { halts_too, halted: 0 };
            let end = supervise(&brief, None, &mut scene, &receive);
            assert_eq!(end.ending, Ending::Stopped(StopCause::Unsupervised));
            assert_eq!((end.time_s, end.record, scene.halted), (time_s, Value::Null, 1));
        }
    }
}
