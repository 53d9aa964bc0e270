//! A session as a state machine without clock, threads or processes. It takes an [`Input`] and
//! returns the [`Action`]s that the supervisor is to carry out.
//!
//! ```text
//! initializing ──────────────────────────────► starting ─► running ─► ended
//!   Place → StartJudge → Load → Initialize       StartStudent   Run, Evaluate*
//! ```
//! Every ending takes the same steps: Halt, EndStudent if the program is up, EndJudge if the judge
//! is up and, when both are gone, Close. The first reason for the ending counts. Later reasons are
//! ignored. An evaluation that this simulator can't run takes only the step Close.

use crate::outcome::{ChannelFault, Ending, ScriptFault, StopCause};
use chicane_wire::Phase;

/// A call to the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Runs the top level of the script.
    Load,
    /// `initialize(sim)`.
    Initialize,
    /// `evaluate(sim)`.
    Evaluate,
}

/// An event that the machine reacts to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Input {
    /// The new simulation is in place.
    Placed,
    /// The new simulation could not be put in place. Holds the reason.
    NotPlaced(String),
    /// The judge's container is up.
    JudgeUp,
    /// The judge's container could not be started. Holds the reason.
    JudgeNotUp(String),
    /// A call returned.
    Answered {
        /// Whether the script called `sim.finish()`.
        finish: bool,
    },
    /// The script failed or broke a rule.
    Fault(ScriptFault),
    /// The student's program runs.
    StudentUp,
    /// The student's program could not be started. Holds the reason.
    StudentNotUp(String),
    /// An observation was taken, and the script has to judge it.
    Observed,
    /// The time limit passed.
    LimitPassed,
    /// The session is to stop.
    Stop(StopCause),
    /// The judge's container is gone.
    JudgeGone,
    /// The student's program and all processes it started are gone.
    StudentGone,
}

/// A step that the supervisor is to carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Create a new simulation with the car behind the start line.
    Place,
    /// Wait until the judge's container is up. Another thread has been starting this container
    /// since the beginning of the session.
    StartJudge,
    /// Call the script.
    Call(Call),
    /// Start the student's program.
    StartStudent,
    /// Start simulated time.
    Run,
    /// Continue simulated time, because the script has judged the observation.
    Go,
    /// Publish the new phase.
    Enter(Phase),
    /// Stop the car and the observations.
    Halt,
    /// End every process of the student.
    EndStudent,
    /// End the judge's container.
    EndJudge,
    /// Leave the loop of the supervisor. The caller of `supervise` then stores how the session
    /// ended.
    Close,
}

/// The state of a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Machine {
    phase: Phase,
    /// Whether the session has a student's program.
    with_student: bool,
    /// The call that the script has not answered yet.
    call: Option<Call>,
    /// Whether the judge's container is up.
    judge: bool,
    /// Whether the student's program is up.
    student: bool,
    ending: Option<Ending>,
}

impl Machine {
    /// A new session and its first actions.
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

    /// A session that can't be run, and the actions that close it.
    pub(crate) fn refuse(why: Ending) -> (Machine, Vec<Action>) {
        let machine = Machine { ending: Some(why), phase: Phase::Ended, ..Machine::begin(false).0 };
        (machine, vec![Action::Close])
    }

    /// The call that the script has not answered yet.
    pub(crate) fn call(&self) -> Option<Call> {
        self.call
    }

    /// How the session ends or ended. `None` before there is a reason to end.
    pub(crate) fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Takes an input and returns the resulting actions.
    pub(crate) fn handle(&mut self, input: Input) -> Vec<Action> {
        match input {
            Input::JudgeGone => return self.gone(true, false),
            Input::StudentGone => return self.gone(false, true),
            // These two inputs count even while the session ends, because the session may be closed
            // only after judge and student are gone.
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
        // `Run` comes first, so that time already runs when the phase is published.
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

    /// Ends the session if judge and student are gone. Returns no actions while one of them is up,
    /// or if the session has ended already.
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
