//! Files of drive commands. Each line has the simulated seconds since the start of the run, the
//! speed in m/s and the steering angle in rad, separated by spaces, tabs, commas or semicolons. `#`
//! begins a comment. The first line that is neither empty nor a comment may have the names of the
//! three columns instead of numbers.

use crate::file_error::FileError;
use crate::terminal_text::printable;
use chicane_host::DriveAt;
use chicane_sim::TICKS_PER_SECOND;
use std::path::{Path, PathBuf};

/// Largest number of characters of an invalid line that the error text quotes.
const MAX_QUOTED: usize = 60;

/// Why a file of drive commands was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DriveFileError {
    #[error(transparent)]
    Read(#[from] FileError),
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        problem: LineProblem,
    },
    #[error(
        "{} has no drive command: give lines of seconds, speed and steering, such as 0.5, 1.0, -0.1",
        path.display()
    )]
    Empty { path: PathBuf },
}

/// Why a line was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineProblem {
    #[error("\"{0}\" is not a drive command: give seconds, speed and steering, such as 0.5, 1.0, -0.1")]
    Numbers(String),
    #[error("the seconds must be from 0 to 3600")]
    Seconds,
    #[error("the lines must be in the order of their seconds")]
    Order,
}

/// Reads the drive commands of a file.
pub(crate) fn read(file: &Path) -> Result<Vec<DriveAt>, DriveFileError> {
    let text = std::fs::read_to_string(file).map_err(FileError::read(file))?;
    let all = parse(&text);
    let all = all.map_err(|(line, problem)| DriveFileError::Line { path: file.to_owned(), line, problem })?;
    if all.is_empty() {
        return Err(DriveFileError::Empty { path: file.to_owned() });
    }
    Ok(all)
}

/// Returns the commands, or the number and the problem of the first invalid line.
fn parse(text: &str) -> Result<Vec<DriveAt>, (usize, LineProblem)> {
    let mut all: Vec<DriveAt> = Vec::new();
    let mut first = true;
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split([',', ' ', '\t', ';']).filter(|part| !part.is_empty()).collect();
        if std::mem::take(&mut first) && is_header(&fields) {
            continue;
        }
        let refuse = |problem| Err((index + 1, problem));
        let numbers: Result<Vec<f64>, _> = fields.iter().map(|field| field.parse()).collect();
        let numbers = numbers.ok().filter(|n| n.iter().all(|v| v.is_finite()));
        let Some([time_s, speed, steering]) = numbers.as_deref() else {
            let shown = line.chars().take(MAX_QUOTED).collect::<String>();
            return refuse(LineProblem::Numbers(printable(&shown).into_owned()));
        };
        if !(0.0..=3600.0).contains(time_s) {
            return refuse(LineProblem::Seconds);
        }
        let tick = (time_s * TICKS_PER_SECOND as f64).round() as u64;
        if all.last().is_some_and(|last| last.tick > tick) {
            return refuse(LineProblem::Order);
        }
        all.push(DriveAt { tick, speed: *speed, steering: *steering });
    }
    Ok(all)
}

/// Whether a line has the names of the three columns.
fn is_header(fields: &[&str]) -> bool {
    fields.len() == 3 && fields.iter().all(|field| field.parse::<f64>().is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_files_are_read() {
        let expected = [
            DriveAt { tick: 0, speed: 1.0, steering: 0.0 },
            DriveAt { tick: 100, speed: 0.8, steering: -0.2 },
        ];
        for head in ["", "time,speed,steering\n", "# a drive\n\nt; v; angle\n"] {
            let all = parse(&format!("{head}0, 1, 0\n# then\n0.5 0.8\t-0.2 # right\n")).expect("read");
            assert_eq!(all, expected, "{head}");
        }
    }

    /// Regression test: the first line was skipped if it began with a letter.
    #[test]
    fn invalid_lines_are_reported_with_their_number() {
        let numbers = |line: &str| LineProblem::Numbers(line.to_owned());
        for (text, line, problem) in [
            ("a,b", 1, numbers("a,b")),
            ("a,b,c,d\n0 1 0", 1, numbers("a,b,c,d")),
            ("time,speed,0\n0 1 0", 1, numbers("time,speed,0")),
            ("time,speed,steering\ntime,speed,steering", 2, numbers("time,speed,steering")),
            ("0 1", 1, numbers("0 1")),
            ("0 1 0\nx 1 0", 2, numbers("x 1 0")),
            ("1 1 0\n0 1 0", 2, LineProblem::Order),
            ("0 NaN 0", 1, numbers("0 NaN 0")),
            ("\u{1b}[2J", 1, numbers(r"\x1b[2J")),
            ("-1 1 0", 1, LineProblem::Seconds),
        ] {
            assert_eq!(parse(text).expect_err("refused"), (line, problem), "{text}");
        }
    }
}
