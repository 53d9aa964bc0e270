//! The record of how the student's program ended.

use super::{OUTPUT_TAIL, Supervisor};
use crate::step::Step;
use crate::student::Student;

impl Supervisor<'_, '_> {
    /// Adds a line of output to the last lines that the record keeps.
    pub(super) fn keep_line(&mut self, line: &str) {
        let Some(result) = &mut self.result else { return };
        if result.output_tail.len() == OUTPUT_TAIL {
            result.output_tail.remove(0);
        }
        result.output_tail.push(line.to_owned());
    }

    /// Notes the exit of the program. In real time, also lets time continue at the session's speed,
    /// because the program can no longer continue time that it has paused. Does nothing while the
    /// session ends, because a program that is killed then has neither an exit status nor a signal
    /// of its own.
    pub(super) fn note_exit(&mut self, code: i32) {
        if self.machine.ending().is_some() {
            return;
        }
        self.note_memory();
        if let Some(result) = &mut self.result {
            (result.exit_code, result.signal) =
                if code < 0 { (None, Some(-code)) } else { (Some(code), None) };
        }
        // In virtual time, other processes of the program may still wait for time to pass.
        if !self.is_paced {
            self.host.take_clock();
        }
    }

    /// If the program has reached its memory limit, notes this once in the result and in the
    /// journal.
    pub(super) fn note_memory(&mut self) {
        let oom = self.student.as_ref().is_some_and(Student::ran_out_of_memory);
        if let Some(result) = self.result.as_mut().filter(|result| oom && !result.oom) {
            result.oom = true;
            self.host.note(&Step::OutOfMemory);
        }
    }
}
