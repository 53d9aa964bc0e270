//! Files of drive commands: each line has seconds, speed and steering, separated by spaces or
//! commas. `#` begins a comment, and the first line may contain the names of the columns.

use crate::file_error::FileError;
use chicane_host::DriveAt;
use chicane_sim::TICKS_PER_SECOND;
use std::path::{Path, PathBuf};

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
}

/// Why a line was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineProblem {
    #[error("expected seconds, speed and steering, such as 0.5, 1.0, -0.1")]
    Numbers,
    #[error("the seconds must be from 0 to 3600")]
    Seconds,
    #[error("the lines must be in the order of their seconds")]
    Order,
}

/// Reads the drive commands of a file.
pub(crate) fn read(file: &Path) -> Result<Vec<DriveAt>, DriveFileError> {
    let text = std::fs::read_to_string(file).map_err(FileError::read(file))?;
    parse(&text).map_err(|(line, problem)| DriveFileError::Line { path: file.to_owned(), line, problem })
}

/// Returns the commands, or the number and the problem of the first invalid line.
fn parse(text: &str) -> Result<Vec<DriveAt>, (usize, LineProblem)> {
    let mut all: Vec<DriveAt> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() || (index == 0 && line.starts_with(char::is_alphabetic)) {
            continue;
        }
        let refuse = |problem| Err((index + 1, problem));
        let numbers: Result<Vec<f64>, _> =
            line.split([',', ' ', '\t', ';']).filter(|part| !part.is_empty()).map(str::parse).collect();
        let numbers = numbers.ok().filter(|n| n.iter().all(|v| v.is_finite()));
        let Some([time_s, speed, steering]) = numbers.as_deref() else {
            return refuse(LineProblem::Numbers);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_files_are_read() {
        let all = parse("time,speed,steering\n0, 1, 0\n# then\n0.5 0.8\t-0.2 # left\n").expect("read");
        let expected = [
            DriveAt { tick: 0, speed: 1.0, steering: 0.0 },
            DriveAt { tick: 100, speed: 0.8, steering: -0.2 },
        ];
        assert_eq!(all, expected);
        assert_eq!(parse("").expect("nothing"), []);
    }

    #[test]
    fn invalid_lines_are_reported_with_their_number() {
        for (text, line, problem) in [
            ("0 1", 1, LineProblem::Numbers),
            ("0 1 0\nx 1 0", 2, LineProblem::Numbers),
            ("1 1 0\n0 1 0", 2, LineProblem::Order),
            ("0 NaN 0", 1, LineProblem::Numbers),
            ("-1 1 0", 1, LineProblem::Seconds),
        ] {
            assert_eq!(parse(text).expect_err("refused"), (line, problem), "{text}");
        }
    }
}
