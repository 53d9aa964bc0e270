//! Judges a recorded run again.

use crate::difference::Difference;
use crate::recorded_run::RecordedRun;
use crate::simulation::{JudgeCommands, Reached, Rerun};
use chicane_host::evaluation::EventLimit;
use chicane_host::evaluation::event_json;
use chicane_host::{observe, view};
use chicane_journal::{Change, SenderKind};
use chicane_pace::PacedProgram;
use chicane_session::{
    Ending, Note, NotesOut, SessionEnd, SessionHost, SessionHostError, SessionSpec, Setting, Step, StopCause,
    notes, supervise,
};
use chicane_sim::{Command, Who};
use chicane_wire::{
    EvaluationKind, JudgeAct, Num, Observation, Phase, ProgramIdentity, RunEvent, RunState, Statics,
};
use serde_json::Value;
use serde_json::value::RawValue;
use std::net::TcpListener;

/// Limit of real time for judging a run again, unless the caller sets another: one day, in seconds.
pub(super) const WALL_LIMIT_S: f64 = 86_400.0;

/// How a run is judged again.
pub(super) struct Judging<'a> {
    /// The script.
    pub(super) script: &'a str,
    /// The settings for the script, JSON; `None` for the settings of the world.
    pub(super) config: Option<&'a str>,
    /// The recorded steps that the session repeats, such as a line of the program or the time
    /// limit.
    pub(super) steps: Vec<Step>,
    /// How the commands of the script are treated.
    pub(super) judge: JudgeCommands,
    /// The events that the new events have to equal; `None` if events are not compared.
    pub(super) expected: Option<Vec<String>>,
    /// Real seconds after which the session is stopped.
    pub(super) wall_limit_s: f64,
    /// Receives the request to stop; `None` if no request can stop the session.
    pub(super) stop: Option<&'a NotesOut<Note>>,
}

/// A recorded run, as the host of the session that judges it again.
pub(super) struct JudgedAgain<'a> {
    run: &'a RecordedRun,
    script: &'a str,
    config: Option<&'a str>,
    rerun: Option<Rerun>,
    judge: JudgeCommands,
    limit: EventLimit,
    /// The events so far, JSON.
    pub(super) events: Vec<String>,
    /// The recorded events that the new events have to equal; `None` if events are not compared.
    expected: Option<Vec<String>>,
    /// Whether the simulator was killed during the run, so that the last events of the run may be
    /// missing.
    is_cut: bool,
    /// The record so far.
    record: Value,
    /// For each observation: the simulated seconds of the run, and the record at that time.
    pub(super) progress: Vec<(f64, Value)>,
    pub(super) difference: Option<Difference>,
}

/// A run that was judged again, and how its session ended.
pub(super) struct JudgedEnd<'a> {
    pub(super) host: JudgedAgain<'a>,
    pub(super) end: SessionEnd,
}

/// Judges a run again.
pub(super) fn judge<'a>(
    run: &'a RecordedRun,
    judging: Judging<'a>,
    setting: &Setting,
) -> Result<JudgedEnd<'a>, Difference> {
    let Judging { script, config, steps, judge, expected, wall_limit_s, stop } = judging;
    let is_cut = run.record["reason"] == StopCause::Restarted.to_string();
    let mut host = JudgedAgain {
        run,
        script,
        config,
        rerun: None,
        judge,
        limit: EventLimit::default(),
        events: Vec::new(),
        expected,
        is_cut,
        record: Value::Null,
        progress: Vec::new(),
        difference: None,
    };
    let head = &run.journal.head;
    let (world, command) = (head.world.clone(), head.command.clone());
    let started = EvaluationKind::Start { world, command, time_limit_s: Num(head.time_limit_s) };
    host.add_event(0.0, &started);
    let spec = SessionSpec {
        student: None,
        unsupported: None,
        wall_limit_s,
        student_command: head.command.clone(),
        steps: Some(steps),
    };
    let (_send, receive) = notes().map_err(|error| Difference::of(error.to_string()))?;
    let end = supervise(&spec, Some(setting), &mut host, stop.unwrap_or(&receive));
    if end.ending != Ending::Stopped(StopCause::Restarted) {
        host.add_event(end.time_s, &EvaluationKind::Phase { phase: Phase::Ended });
    }
    let (outcome, reason) = (end.ending.outcome(), end.ending.reason(head.time_limit_s));
    let ended = EvaluationKind::End { outcome, record: end.record.clone(), reason };
    // If the simulator was killed during the run, it wrote the last event after its restart, with
    // the simulated time of the last stored record. The run that is judged again may end at another
    // time, so its last event is not compared.
    if !is_cut {
        host.add_event(end.time_s, &ended);
    }
    Ok(JudgedEnd { host, end })
}

impl<'a> JudgedAgain<'a> {
    /// The simulation; `None` if it could not be started.
    pub(super) fn rerun(&self) -> Option<&Rerun> {
        self.rerun.as_ref()
    }

    /// Stores a difference, unless there was one before.
    fn note_difference(&mut self, difference: Difference) {
        self.difference.get_or_insert(difference);
    }

    fn tick(&self) -> u64 {
        self.rerun.as_ref().map_or(0, Rerun::tick)
    }

    /// Adds an event and compares it with the recorded one.
    fn add_event(&mut self, time_s: f64, kind: &EvaluationKind) {
        let required = matches!(kind, EvaluationKind::Phase { .. } | EvaluationKind::Start { .. })
            || matches!(kind, EvaluationKind::End { .. });
        let line = event_json(time_s, kind);
        // The limit does not apply to the first and the last event.
        let counts = !matches!(kind, EvaluationKind::Start { .. } | EvaluationKind::End { .. });
        let was_full = self.limit.is_full();
        if counts && !self.limit.admits(&line, required) {
            if !was_full {
                self.add_event(time_s, &EvaluationKind::Truncated {});
            }
            return;
        }
        self.compare_event(&line);
        self.events.push(line);
    }

    fn compare_event(&mut self, line: &str) {
        let (number, Some(expected)) = (self.events.len(), &self.expected) else { return };
        let what = match expected.get(number) {
            Some(expected) if expected == line => return,
            Some(expected) => format!("event {number} is {line} instead of {expected}"),
            // The simulator was killed before it stored this event.
            None if self.is_cut => return,
            None => format!("event {number} is new: {line}"),
        };
        self.note_difference(Difference::at(self.tick(), what));
    }

    /// Simulates up to the next point that [`Reached`] lists. `None` after a difference.
    fn advance(&mut self) -> Option<Reached> {
        if self.difference.is_some() {
            return None;
        }
        let advanced = self.rerun.as_mut()?.advance();
        advanced.map_err(|difference| self.note_difference(difference)).ok()
    }

    /// Compares a command of the script with the journal. With [`JudgeCommands::Applied`] there is
    /// no comparison, and the script's command has no effect.
    fn expect(&mut self, change: &Change) -> Result<(), SessionHostError> {
        if self.judge == JudgeCommands::Applied || self.difference.is_some() {
            return Ok(());
        }
        let Some(rerun) = &mut self.rerun else { return Err(SessionHostError::SimulationGone) };
        match rerun.expect_act(change) {
            Ok(None) => Ok(()),
            Ok(Some(refusal)) => Err(SessionHostError::Refused(refusal)),
            Err(difference) => {
                self.note_difference(difference);
                Err(SessionHostError::WorldGone)
            }
        }
    }

    fn expect_command(&mut self, command: Command) -> Result<(), SessionHostError> {
        self.expect(&Change::World { sender: SenderKind::Judge.into(), command })
    }
}

impl SessionHost for JudgedAgain<'_> {
    fn place(&mut self) -> Result<(Statics, Observation), SessionHostError> {
        let head = &self.run.journal.head;
        let refused = |error: String| SessionHostError::Refused(error);
        let statics = observe::statics(&self.run.served, self.script, head.seed);
        let mut statics = statics.map_err(|error| refused(error.to_string()))?;
        if let Some(config) = self.config {
            let config = RawValue::from_string(config.to_owned());
            statics.config = config.map_err(|error| refused(error.to_string()))?;
        }
        match Rerun::with(self.run, self.judge) {
            Ok(rerun) => self.rerun = Some(rerun),
            Err(difference) => {
                self.note_difference(difference);
                return Err(SessionHostError::WorldGone);
            }
        }
        match self.advance() {
            Some(Reached::Observed(first)) => Ok((statics, *first)),
            _ => Err(SessionHostError::WorldGone),
        }
    }

    fn next_observation(&mut self) -> Option<Observation> {
        let tick = self.tick();
        match self.advance()? {
            Reached::Observed(observation) => Some(*observation),
            _ => {
                self.note_difference(Difference::at(tick, "the journal has no further observation"));
                None
            }
        }
    }

    fn next_limit(&mut self) -> Option<f64> {
        let tick = self.tick();
        match self.advance()? {
            Reached::Limit(time_s) => Some(time_s),
            _ => {
                self.note_difference(Difference::at(tick, "the time limit did not pass here"));
                None
            }
        }
    }

    fn run(&mut self) {}

    fn resume(&mut self) {}

    fn halt(&mut self) -> f64 {
        // The rest of the recorded drive is simulated only to compare it. A run that is judged by
        // another script is not compared.
        if self.judge == JudgeCommands::Expected {
            while let Some(reached) = self.advance() {
                match reached {
                    Reached::Halted | Reached::End => break,
                    // The session was stopped before it took this observation or time limit.
                    Reached::Observed(_) | Reached::Limit(_) => {}
                }
            }
        }
        self.rerun.as_ref().map_or(0.0, Rerun::time_s)
    }

    fn act(&mut self, act: JudgeAct) -> Result<(), SessionHostError> {
        let model_name = &self.run.profile.model_name;
        let sender = SenderKind::Judge.into();
        match act {
            JudgeAct::Teleport(request) => self.expect_command(view::place_command(Who::Vehicle, request)),
            JudgeAct::MoveObject(name, _) if name == "vehicle" || name == *model_name => {
                Err(SessionHostError::Refused("use teleport for the vehicle".to_owned()))
            }
            JudgeAct::MoveObject(name, request) => {
                self.expect_command(view::place_command(Who::Object(name), request))
            }
            JudgeAct::SetLight(name, request) => {
                self.expect_command(Command::SetLight { name, red: request.is_red() })
            }
            JudgeAct::Overlay(request) => self.expect(&Change::Overlay {
                sender,
                text: request.text,
                ttl_s: request.ttl,
                size: request.size,
            }),
            JudgeAct::SetBrightness(request) => {
                self.expect(&Change::Brightness { sender, value: request.value })
            }
            JudgeAct::Pause(paused) => {
                self.expect(&Change::Clock { sender, paused: Some(paused), speed: None })
            }
        }
    }

    fn enter(&mut self, _: Phase) {}

    fn publish(&mut self, time_s: f64, kind: EvaluationKind) {
        self.add_event(time_s, &kind);
    }

    fn time(&mut self, time_s: f64) {
        self.progress.push((time_s, self.record.clone()));
    }

    fn record(&mut self, record: &Value) {
        self.record = record.clone();
    }

    fn publish_run(&mut self, time_s: f64, event: RunEvent) {
        self.add_event(time_s, &EvaluationKind::Run { run: event });
    }

    fn show_run(&mut self, _: RunState) {}

    fn serve_student(&mut self, _: Vec<TcpListener>) {}

    fn pace_student(&mut self, _: PacedProgram) -> Result<(), SessionHostError> {
        Err(SessionHostError::SimulationGone)
    }

    fn show_program(&mut self, _: &ProgramIdentity) {}

    fn take_clock(&mut self) {}

    fn note(&mut self, _: &Step) {}
}
