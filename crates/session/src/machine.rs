//! The session as a small machine: what happened goes in, what is to be done comes out. No clock, no process.
//!
//! ```text
//! initializing ──────────────────────────────► starting ─► running ─► ended
//!   Place → StartJudge → Load → Initialize       StartStudent   Run, Evaluate*
//! ```
//! Anything that ends a session leads through the same gate: Halt, EndStudent, EndJudge, and when both are
//! gone, Close. The first reason wins; what comes after it is ignored.

use crate::outcome::{ChannelFault, Ending, ScriptFault, StopCause};
use chicane_wire::Phase;

/// What the script is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Its top level.
    Load,
    /// `initialize(sim)`.
    Initialize,
    /// `evaluate(sim)`.
    Evaluate,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Input {
    /// The new simulation is in place.
    Placed,
    /// It could not be.
    NotPlaced(String),
    /// The container is up.
    JudgeUp,
    /// It could not be started.
    JudgeNotUp(String),
    /// A call returned.
    Answered {
        /// The script wants the session to end.
        finish: bool,
    },
    /// The script did something wrong.
    Fault(ScriptFault),
    /// The student's program runs.
    StudentUp,
    /// It could not be started.
    StudentNotUp(String),
    /// An observation is due.
    Observed,
    /// The time limit passed.
    LimitPassed,
    /// It is to stop.
    Stop(StopCause),
    /// The container is gone.
    JudgeGone,
    /// The student's program and all that it started is gone.
    StudentGone,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// A new simulation with the car behind the line.
    Place,
    /// A fresh container.
    StartJudge,
    /// A call of the script.
    Call(Call),
    /// The student's command.
    StartStudent,
    /// Time runs from here.
    Run,
    /// The observation was judged: time goes on.
    Go,
    /// Tell everyone about the new phase.
    Enter(Phase),
    /// No drive command, no more observations.
    Halt,
    /// End every process of the student.
    EndStudent,
    /// End the container.
    EndJudge,
    /// Write down how it ended.
    Close,
}

/// A session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Machine {
    phase: Phase,
    with_student: bool,
    call: Option<Call>,
    judge: bool,
    student: bool,
    ending: Option<Ending>,
}

impl Machine {
    /// A session that begins, and the first things to do.
    pub(crate) fn begin(with_student: bool) -> (Machine, Vec<Action>) {
        let machine = Machine {
            phase: Phase::Initializing,
            with_student,
            call: None,
            judge: false,
            student: false,
            ending: None,
        };
        (machine, vec![Action::Enter(Phase::Initializing), Action::Place])
    }

    /// A session that can't be run, and what is left to do.
    pub(crate) fn refuse(why: Ending) -> (Machine, Vec<Action>) {
        let machine = Machine { ending: Some(why), phase: Phase::Ended, ..Machine::begin(false).0 };
        (machine, vec![Action::Close])
    }

    /// Which call the script has not answered yet.
    pub(crate) fn call(&self) -> Option<Call> {
        self.call
    }

    /// How it ends or ended.
    pub(crate) fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Takes in what happened.
    pub(crate) fn handle(&mut self, input: Input) -> Vec<Action> {
        match input {
            Input::JudgeGone => return self.gone(true, false),
            Input::StudentGone => return self.gone(false, true),
            // What is started while it ends must be ended too.
            Input::JudgeUp => self.judge = true,
            Input::StudentUp => self.student = true,
            _ => {}
        }
        if self.ending.is_some() {
            return Vec::new();
        }
        match (self.phase, input) {
            (_, Input::Stop(cause)) => self.end(Ending::Stopped(cause)),
            (_, Input::NotPlaced(why)) => self.end(Ending::Stopped(StopCause::NotPlaced(why))),
            (_, Input::JudgeNotUp(why)) => self.end(Ending::Stopped(StopCause::NoJudge(why))),
            (_, Input::StudentNotUp(why)) => self.end(Ending::Stopped(StopCause::NoStudent(why))),
            (_, Input::Fault(fault)) => self.end(Ending::Script(fault)),
            (Phase::Running, Input::LimitPassed) => self.end(Ending::TimedOut),
            (_, Input::Answered { finish }) => self.answered(finish),
            (Phase::Initializing, Input::Placed) => vec![Action::StartJudge],
            (Phase::Initializing, Input::JudgeUp) => self.ask(Call::Load),
            (Phase::Starting, Input::StudentUp) => self.run(),
            (Phase::Running, Input::Observed) if self.call.is_none() => self.ask(Call::Evaluate),
            _ => Vec::new(),
        }
    }

    fn ask(&mut self, call: Call) -> Vec<Action> {
        self.call = Some(call);
        vec![Action::Call(call)]
    }

    fn answered(&mut self, finish: bool) -> Vec<Action> {
        match self.call.take() {
            Some(_) if finish => self.end(Ending::Finished),
            Some(Call::Load) => self.ask(Call::Initialize),
            Some(Call::Initialize) => {
                self.phase = Phase::Starting;
                let mut actions = vec![Action::Enter(Phase::Starting)];
                if self.with_student {
                    actions.push(Action::StartStudent);
                } else {
                    actions.extend(self.run());
                }
                actions
            }
            Some(Call::Evaluate) => vec![Action::Go],
            None => self.end(Ending::Script(ScriptFault::Channel(ChannelFault::UnexpectedAnswer))),
        }
    }

    fn run(&mut self) -> Vec<Action> {
        self.phase = Phase::Running;
        // Time may run when others are told that it does.
        vec![Action::Run, Action::Enter(Phase::Running)]
    }

    fn end(&mut self, ending: Ending) -> Vec<Action> {
        self.ending = Some(ending);
        self.call = None;
        let mut actions = vec![Action::Halt];
        if self.student {
            actions.push(Action::EndStudent);
        }
        if self.judge {
            actions.push(Action::EndJudge);
        }
        actions.extend(self.close());
        actions
    }

    fn gone(&mut self, judge: bool, student: bool) -> Vec<Action> {
        self.judge &= !judge;
        self.student &= !student;
        if self.ending.is_some() { self.close() } else { Vec::new() }
    }

    /// The end, once everyone is gone.
    fn close(&mut self) -> Vec<Action> {
        if self.judge || self.student || self.phase == Phase::Ended {
            return Vec::new();
        }
        self.phase = Phase::Ended;
        vec![Action::Enter(Phase::Ended), Action::Close]
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
