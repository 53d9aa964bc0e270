//! The newest output of a session: lines of the student's program and of the judging script.
//!
//! The command line prints these lines while the session runs. A reader names the number of the
//! first line that it has not read yet, so it gets new lines only.

use chicane_wire::OutputStream;
use std::collections::VecDeque;

/// Maximum number of lines that are kept.
const MAX_LINES: usize = 4096;
/// Maximum size of all lines that are kept, bytes.
const MAX_BYTES: usize = 1 << 20;

/// Who wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineSource {
    /// The student's program.
    Student(OutputStream),
    /// The judging script.
    Judge,
}

/// A line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLine {
    /// Who wrote the line.
    pub source: LineSource,
    /// The text without the line end. The text may contain control characters.
    pub text: String,
}

/// New lines of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewOutput {
    /// Number of new lines before `lines` that are no longer kept.
    pub missed: u64,
    /// The new lines in order.
    pub lines: Vec<SessionLine>,
    /// The number from which the next call continues.
    pub next: u64,
}

/// The newest lines of a session.
#[derive(Debug, Default)]
pub(super) struct Output {
    lines: VecDeque<SessionLine>,
    /// Size of all kept lines, bytes.
    bytes: usize,
    /// Number of lines that are no longer kept.
    dropped: u64,
}

impl Output {
    /// Adds a line. If there are too many lines, the oldest ones are dropped.
    pub(super) fn add(&mut self, line: SessionLine) {
        self.bytes += line.text.len();
        self.lines.push_back(line);
        while self.lines.len() > MAX_LINES || self.bytes > MAX_BYTES {
            let Some(line) = self.lines.pop_front() else { break };
            self.bytes -= line.text.len();
            self.dropped += 1;
        }
    }

    /// The lines from number `from` on. 0 is the first line of the session.
    pub(super) fn since(&self, from: u64) -> NewOutput {
        let known = usize::try_from(from.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        NewOutput {
            missed: self.dropped.saturating_sub(from),
            lines: self.lines.iter().skip(known).cloned().collect(),
            next: self.dropped + self.lines.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: impl Into<String>) -> SessionLine {
        SessionLine { source: LineSource::Judge, text: text.into() }
    }

    #[test]
    fn every_line_is_read_once_and_lost_lines_are_counted() {
        let mut output = Output::default();
        assert_eq!(output.since(0), NewOutput::default());
        output.add(line("a"));
        output.add(line("b"));
        let first = output.since(0);
        assert_eq!((first.missed, first.lines, first.next), (0, vec![line("a"), line("b")], 2));
        assert_eq!(output.since(2).lines, []);
        for number in 0..MAX_LINES + 8 {
            output.add(line(number.to_string()));
        }
        let second = output.since(2);
        assert_eq!((second.missed, second.lines.len()), (8, MAX_LINES));
        assert_eq!(second.lines.first(), Some(&line("8")));
        assert_eq!(output.since(second.next).lines, []);
    }

    #[test]
    fn the_size_in_bytes_is_bounded() {
        let mut output = Output::default();
        for _ in 0..100 {
            output.add(line("x".repeat(MAX_BYTES / 10)));
        }
        assert!(output.bytes <= MAX_BYTES, "{}", output.bytes);
        let read = output.since(0);
        assert_eq!((read.missed, read.lines.len()), (90, 10));
    }
}
