//! What `chicane grade` and `chicane report` have in common.

use crate::terminal_text::printable;
use chicane_grade::formula::number;
use chicane_grade::grades::{Grades, Status};
use std::fmt::Write;
use std::path::Path;

/// Largest number of best students that are printed.
const SHOWN: usize = 5;

/// The number of jobs: as given, or the number of processors.
pub(crate) fn jobs(given: Option<u16>) -> usize {
    given.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// The result in a few lines: the best students, how many were graded, and where the report is.
pub(crate) fn summary(grades: &Grades, folder: &Path) -> String {
    let mut text = String::new();
    let ranked = grades.students.iter().filter_map(|student| Some((student.rank?, student)));
    for (rank, student) in ranked.take(SHOWN) {
        let grade = student.grade.map(number).unwrap_or_default();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{rank:>4}  {grade:>6}  {}", printable(&student.name));
    }
    let count = |status: Status| grades.students.iter().filter(|student| student.status == status).count();
    let mut parts = vec![format!("{} graded", count(Status::Graded))];
    for (status, word) in [
        (Status::Rejected, "with a submission that can't be run"),
        (Status::NoSubmission, "without a submission"),
        (Status::Incomplete, "without a grade"),
    ] {
        let number = count(status);
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    let _ = writeln!(text, "students  {}: {}", grades.students.len(), parts.join(", "));
    let _ = writeln!(text, "report    {}", folder.join("report.html").display());
    text
}
