//! Shows a running session: prints the output of the program and of the judging script while the
//! session runs, and a status line on a terminal.

use super::verdict::{self, Verdict};
use crate::colour;
use crate::terminal_text::printable;
use chicane_host::evaluation::{LineSource, NewOutput};
use chicane_wire::{Phase, Record, Session};
use std::io::{IsTerminal, Write};

/// Largest number of lines of the student's program that are shown, and also of lines of the
/// judging script. Further lines are only counted.
const MAX_SHOWN_LINES: u64 = 10_000;
/// Largest number of characters of the record in the status line.
const MAX_RECORD: usize = 40;

const DIM: &str = "\x1b[2m";
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const RESET: &str = "\x1b[0m";

/// A function that gets the state of a session at each update of the view.
type OnProgress = Box<dyn FnMut(&Session)>;

/// Shows a session.
pub(super) struct SessionView {
    /// Whether nothing is printed.
    unseen: bool,
    /// Gets the state of the session at each update.
    on_progress: Option<OnProgress>,
    /// Whether the lines go to standard error, because standard output has only the record.
    json: bool,
    /// Whether the lines are coloured.
    colour: bool,
    /// Whether standard error is a terminal and shows a status line.
    status: bool,
    phase: Option<Phase>,
    /// Number of the first line of output that the view has not received yet.
    next: u64,
    student: ShownLines,
    judge: ShownLines,
    /// The last line that the judging script printed.
    judge_line: Option<String>,
}

/// Number of lines of the program, or of the script, that were shown, and number of lines that were
/// left out.
#[derive(Default)]
struct ShownLines {
    shown: u64,
    left_out: u64,
}

impl ShownLines {
    /// Counts a line. Returns whether it is shown.
    fn add(&mut self) -> bool {
        let show = self.shown < MAX_SHOWN_LINES;
        *(if show { &mut self.shown } else { &mut self.left_out }) += 1;
        show
    }
}

impl SessionView {
    /// A view that prints to standard output. With `json`, it prints to standard error.
    pub(super) fn new(json: bool) -> SessionView {
        SessionView {
            unseen: false,
            on_progress: None,
            json,
            colour: if json { colour::on_stderr() } else { colour::on_stdout() },
            status: std::io::stderr().is_terminal(),
            phase: None,
            next: 0,
            student: ShownLines::default(),
            judge: ShownLines::default(),
            judge_line: None,
        }
    }

    /// A view that prints nothing.
    pub(super) fn unseen() -> SessionView {
        SessionView { unseen: true, status: false, ..SessionView::new(true) }
    }

    /// A view that prints nothing and passes the state of the session to `on_progress` at each
    /// update.
    pub(super) fn followed(on_progress: OnProgress) -> SessionView {
        SessionView { on_progress: Some(on_progress), ..SessionView::unseen() }
    }

    /// The number of the first line of output that the view has not received yet.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Prints new lines, and shows the state of the session.
    pub(super) fn update(&mut self, session: &Session, output: NewOutput) {
        if let Some(on_progress) = &mut self.on_progress {
            on_progress(session);
        }
        if self.unseen {
            self.next = output.next;
            return;
        }
        self.print_output(output);
        if self.status {
            write_error(&format!("\r\x1b[K{}\r", status_line(session)));
        } else if self.phase != Some(session.phase) {
            write_error(&format!("{} at {:.2} s\n", session.phase, session.elapsed_s.0));
        }
        self.phase = Some(session.phase);
    }

    /// Prints new lines.
    fn print_output(&mut self, output: NewOutput) {
        self.next = output.next;
        if output.missed > 0 {
            self.print(&format!("… {} lines were written too fast to be shown", output.missed));
        }
        for line in output.lines {
            let (name, count) = match line.source {
                LineSource::Student(_) => ("student", &mut self.student),
                LineSource::Judge => ("judge", &mut self.judge),
            };
            let show = count.add();
            if show {
                let text = format!("{name:<7} │ {}", printable(&line.text));
                let dim = name == "student";
                self.print(&if dim { self.coloured(DIM, text) } else { text });
            }
            if line.source == LineSource::Judge {
                self.judge_line = Some(line.text);
            }
        }
    }

    /// Prints the end of the session: warnings, the place of the record, and the verdict as the
    /// last line.
    pub(super) fn end(&mut self, record: &Record, verdict: Verdict, stored: Option<&str>) {
        if self.unseen {
            return;
        }
        self.clear_status();
        for (name, lines) in [("student", &self.student), ("judge", &self.judge)] {
            if lines.left_out > 0 {
                self.print(&format!("{name:<7} │ … {} more lines were not shown", lines.left_out));
            }
        }
        for warning in verdict::warnings(record) {
            self.print(&self.coloured(RED, warning));
        }
        if let Some(stored) = stored {
            self.print(stored);
        }
        let line = verdict.line(record, self.judge_line.as_deref());
        let colour = if verdict == Verdict::Finished { GREEN } else { RED };
        self.print(&self.coloured(colour, line));
    }

    /// Removes the status line.
    pub(super) fn clear_status(&self) {
        if self.status {
            write_error("\r\x1b[K");
        }
    }

    fn coloured(&self, colour: &str, text: String) -> String {
        if self.colour { format!("{colour}{text}{RESET}") } else { text }
    }

    fn print(&self, line: &str) {
        self.clear_status();
        let line = format!("{line}\n");
        // A closed terminal must not stop the session.
        if self.json {
            write_error(&line);
        } else {
            let mut out = std::io::stdout();
            let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        }
    }
}

/// Phase, simulated time and record of a session.
fn status_line(session: &Session) -> String {
    let mut text = format!("{:<12} {:>8.2} s", session.phase, session.elapsed_s.0);
    if !session.record.is_null() {
        let record = session.record.to_string();
        text += "  record ";
        text.extend(printable(&record).chars().take(MAX_RECORD));
    }
    text
}

fn write_error(text: &str) {
    let mut out = std::io::stderr();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
