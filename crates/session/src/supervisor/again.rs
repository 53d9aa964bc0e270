//! Judges a run again, from the steps of its journal, by its own script or by another one. The
//! script runs in a judge, as in the first run. The world is simulated again by the host, and the
//! events of the student's program come from the journal.

use super::{Supervisor, WAIT};
use crate::judge::Judge;
use crate::machine::Input;
use crate::outcome::StopCause;
use crate::step::Step;
use crate::student::StudentEvent;
use chicane_wire::{EvaluationKind, RunEvent, RunResult, RunState};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Maximum wait for the last lines of a script that is about to be ended.
const LAST_LINES_TIMEOUT: Duration = Duration::from_secs(2);

impl Supervisor<'_, '_> {
    /// Takes the next step of the journal. Returns false if no step can be taken now, because the
    /// script has to answer first or because the session is ending.
    pub(super) fn handle_step(&mut self) -> bool {
        let is_called = self.machine.call().is_some();
        let is_over = self.machine.ending().is_some();
        let Some(steps) = &mut self.steps else { return false };
        match steps.front() {
            _ if is_over => false,
            // No step is left although the session goes on, so the simulator was killed during the
            // first run.
            None if is_called => false,
            None => {
                self.input(Input::Stop(StopCause::Restarted));
                true
            }
            Some(Step::Answered) if is_called => false,
            Some(Step::Observed) if is_called => {
                // If another script judges the run, the recorded `Answered` steps were removed. The
                // next observation therefore waits here until this script has answered.
                false
            }
            Some(Step::Stop { heard, .. }) if is_called && self.heard < *heard => false,
            Some(_) => match steps.pop_front() {
                Some(step) => {
                    self.take_step(step);
                    true
                }
                None => false,
            },
        }
    }

    fn take_step(&mut self, step: Step) {
        match step {
            Step::Observed => match self.host.next_observation() {
                Some(observation) => self.take_observation(Box::new(observation)),
                None => self.input(Input::Stop(StopCause::WorldLost)),
            },
            Step::Answered | Step::JudgeEnded(_) | Step::Started => {}
            Step::Line { stream, text, cut } => {
                self.handle_student_event(StudentEvent::Line { stream, text, cut });
            }
            Step::Exited(code) => self.handle_student_event(StudentEvent::Exited(code)),
            Step::OutOfMemory => {
                if let Some(result) = &mut self.result {
                    result.oom = true;
                }
            }
            Step::Command { command, detail } => {
                self.host.publish(self.time_s, EvaluationKind::Command { command, detail });
            }
            Step::LimitPassed => match self.host.next_limit() {
                Some(time_s) => {
                    self.time_s = time_s;
                    self.input(Input::LimitPassed);
                }
                None => self.input(Input::Stop(StopCause::WorldLost)),
            },
            Step::Stop { cause, .. } => self.input(Input::Stop(cause)),
        }
    }

    /// Why the session was stopped at this point of the first run; `None` if it continued.
    pub(super) fn failed_before(&self) -> Option<StopCause> {
        match self.steps.as_ref()?.front() {
            Some(Step::Stop { cause, .. }) => Some(cause.clone()),
            _ => None,
        }
    }

    /// Repeats the start of the student's program as the journal has it, without starting a
    /// program.
    pub(super) fn start_recorded_student(&mut self) {
        let Some(steps) = &mut self.steps else { return };
        match steps.pop_front() {
            Some(Step::Started) => {
                let command = self.spec.student_command.clone().unwrap_or_default();
                self.note_started(command);
            }
            Some(Step::Stop { cause: StopCause::NoStudent(why), .. }) => {
                self.input(Input::StudentNotUp(why));
            }
            other => {
                steps.extend(other);
                self.input(Input::Stop(StopCause::Restarted));
            }
        }
    }

    /// Shows and publishes that the student's program was started.
    pub(super) fn note_started(&mut self, command: String) {
        self.run = RunState { running: true, exit_code: None };
        self.result = Some(RunResult::default());
        self.host.show_run(self.run);
        self.host.publish_run(self.time_s, RunEvent::Start { command });
        self.input(Input::StudentUp);
    }

    /// Takes the events of the student's program that came after the end of the judging.
    pub(super) fn take_last_student_steps(&mut self) {
        let is_students =
            |step: &mut Step| matches!(step, Step::Line { .. } | Step::Exited(_) | Step::OutOfMemory);
        let steps = self.steps.as_mut().map(|steps| steps.extract(is_students)).unwrap_or_default();
        for step in steps {
            self.take_step(step);
        }
    }

    /// For a run that is judged again by its own script: waits until the script has printed at
    /// least as many lines of the last call as in the first run, or until a timeout. Returns the
    /// number of lines in the first run. `None` for any other run.
    pub(super) fn await_last_lines(&mut self) -> Option<usize> {
        let steps = self.steps.as_ref()?;
        let count = steps.iter().find_map(|step| match step {
            Step::JudgeEnded(count) => Some(*count),
            _ => None,
        })?;
        let deadline = Instant::now() + LAST_LINES_TIMEOUT;
        while self.printed.len() < count && Instant::now() < deadline {
            if !self.handle_judge() {
                let descriptors: Vec<_> = self.judge.iter().flat_map(Judge::descriptors).collect();
                let _ = chicane_jail::wake::wait_for(&descriptors, WAIT);
            }
        }
        Some(count)
    }
}

/// Removes the matching elements and returns them in order.
trait Extract<T> {
    fn extract(&mut self, matches: impl FnMut(&mut T) -> bool) -> Vec<T>;
}

impl<T> Extract<T> for VecDeque<T> {
    fn extract(&mut self, mut matches: impl FnMut(&mut T) -> bool) -> Vec<T> {
        let (mut taken, mut kept) = (Vec::new(), VecDeque::new());
        for mut element in self.drain(..) {
            if matches(&mut element) { taken.push(element) } else { kept.push_back(element) }
        }
        *self = kept;
        taken
    }
}
