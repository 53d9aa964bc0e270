//! The progress of a command on standard error. On a terminal it is a bar, otherwise it is a few
//! log lines.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Shortest time between two updates of the bar.
const REDRAW_INTERVAL: Duration = Duration::from_millis(50);
/// Width of the bar, in characters.
const WIDTH: usize = 24;
/// Longest text beside the bar, in characters. A longer text would wrap on a narrow terminal.
const MAX_TEXT: usize = 44;
/// Part of the work between two log lines. The whole work is 1.
const LOG_STEP: f64 = 0.25;
/// Largest part that [`Progress::set`] shows. After the last step a task can still fail, for
/// instance because a downloaded file is refused. Then "100 %" would be wrong.
const MAX_UNFINISHED: f64 = 0.99;

/// The progress of one task. The bar is removed on drop.
pub(crate) struct Progress {
    text: String,
    terminal: bool,
    drawn: Option<Instant>,
    /// The next log line is written when this part of the work is done. The whole work is 1.
    next: f64,
}

impl Progress {
    /// Starts to show a task, such as `installing oval`.
    pub(crate) fn new(text: impl Into<String>) -> Progress {
        let text = text.into();
        let mut progress =
            Progress { text, terminal: std::io::stderr().is_terminal(), drawn: None, next: 0.0 };
        progress.set(0.0);
        progress
    }

    /// Changes the text beside the bar.
    pub(crate) fn set_text(&mut self, text: impl Into<String>) {
        let text = text.into();
        if text != self.text {
            self.text = text;
            self.drawn = None;
        }
    }

    /// Shows how much of the task is done, 0 to 1. Shows at most [`MAX_UNFINISHED`].
    pub(crate) fn set(&mut self, part: f64) {
        self.show(part.min(MAX_UNFINISHED));
    }

    /// Shows how many of several independent tasks have ended. Unlike [`Progress::set`], shows the
    /// whole work as done if all tasks have ended, because then no task can fail any more.
    pub(crate) fn set_ended(&mut self, ended: usize, all: usize) {
        self.show(ended as f64 / all as f64);
    }

    /// Shows that the task succeeded, and removes the bar.
    pub(crate) fn finish(mut self) {
        self.show(1.0);
    }

    fn show(&mut self, part: f64) {
        let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
        let line = if self.terminal { self.bar(part) } else { self.log_line(part) };
        if let Some(line) = line {
            // A closed standard error must not stop the task.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }

    /// Removes the bar until the next update, so that other lines can be printed.
    pub(crate) fn clear(&mut self) {
        if self.terminal && self.drawn.take().is_some() {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }

    fn bar(&mut self, part: f64) -> Option<String> {
        if part < 1.0 && self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAW_INTERVAL) {
            return None;
        }
        self.drawn = Some(Instant::now());
        Some(format!("\r\x1b[K{}", line(&self.text, part)))
    }

    fn log_line(&mut self, part: f64) -> Option<String> {
        if part < self.next {
            return None;
        }
        self.next = ((part / LOG_STEP).floor() + 1.0) * LOG_STEP;
        Some(format!("{}: {:.0} %\n", self.text, part * 100.0))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// One line of progress: `[#####     ]  42 %  text`.
fn line(text: &str, part: f64) -> String {
    let done = (part * WIDTH as f64).round() as usize;
    let mut shown: String = text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect();
    if shown.chars().count() < text.chars().count() {
        shown.pop();
        shown.push('…');
    }
    format!("[{}{}] {:3.0} %  {shown}", "#".repeat(done), " ".repeat(WIDTH - done), part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undrawn(terminal: bool) -> Progress {
        Progress { text: "building oval".to_owned(), terminal, drawn: None, next: 0.0 }
    }

    #[test]
    fn a_line_has_the_bar_and_the_shortened_text() {
        assert_eq!(line("x", 0.0), format!("[{}]   0 %  x", " ".repeat(24)));
        assert_eq!(line("x", 1.0), format!("[{}] 100 %  x", "#".repeat(24)));
        let long = line(&"y".repeat(200), 0.5);
        assert!(long.chars().count() < 80 && long.ends_with("y…"), "{long}");
        assert!(!line("a\nb\x1b[2J", 0.5).contains(['\n', '\x1b']));
    }

    #[test]
    fn a_log_gets_one_line_per_quarter() {
        let mut progress = undrawn(false);
        let lines: Vec<String> = (0..=100).filter_map(|k| progress.log_line(f64::from(k) / 100.0)).collect();
        let expected = [0, 25, 50, 75, 100].map(|k| format!("building oval: {k} %\n"));
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_bar_is_drawn_rarely_but_always_at_the_end() {
        let mut progress = undrawn(true);
        assert!(progress.bar(0.1).is_some());
        assert!(progress.bar(0.2).is_none());
        assert!(progress.bar(1.0).is_some());
        // Without this line, dropping `progress` would write to the standard error of the test.
        progress.drawn = None;
    }
}
