//! Notes for the teacher: what deserves a second look.

use super::Report;
use super::html::{counted, escape};
use crate::grades::{Status, StudentGrade, UnitGrade};
use crate::planning::{NOT_IN_ROSTER, SEVERAL_IN_ROSTER};

/// Maximum number of names in one note.
const MAX_NAMES: usize = 12;

/// The notes as HTML; empty if there is nothing to note.
pub(super) fn write(report: &Report<'_>) -> String {
    let mut notes: Vec<(&str, String)> = Vec::new();
    let students = &report.grades.students;
    let units = |test: &dyn Fn(&UnitGrade) -> bool| -> (usize, Vec<&StudentGrade>) {
        let has = |student: &&StudentGrade| student.worlds.iter().flat_map(|w| &w.seeds).any(test);
        let all = students.iter().flat_map(|s| &s.worlds).flat_map(|w| &w.seeds);
        (all.filter(|unit| test(unit)).count(), students.iter().filter(has).collect())
    };
    let (number, whose) = units(&|unit| !unit.is_judged());
    if number > 0 {
        let runs = counted(number, "run");
        notes.push(("bad", format!(
            "{runs} could not be judged, and this is not the fault of the students: {}. They have no grade. The \
             reasons are below. Start <code>chicane grade</code> again to repeat these runs.",
            names(&whose)
        )));
    }
    let (number, whose) = units(&|unit| unit.interference > 0);
    if number > 0 {
        let runs = counted(number, "run");
        notes.push(("bad", format!("Others sent commands during {runs} of {}.", names(&whose))));
    }
    let (number, whose) = units(&|unit| unit.refused > 0);
    if number > 0 {
        let runs = counted(number, "run");
        notes.push((
            "bad",
            format!(
                "In {runs} the program tried commands that a judged run does not allow: {}.",
                names(&whose)
            ),
        ));
    }
    let rejected: Vec<&StudentGrade> = students.iter().filter(|s| s.status == Status::Rejected).collect();
    if !rejected.is_empty() {
        let number = counted(rejected.len(), "submission");
        notes.push(("warn", format!("{number} could not be run: {}.", names(&rejected))));
    }
    let missing: Vec<&StudentGrade> = students.iter().filter(|s| s.status == Status::NoSubmission).collect();
    if !missing.is_empty() {
        notes.push((
            "warn",
            format!("{} without a submission: {}.", counted(missing.len(), "student"), names(&missing)),
        ));
    }
    notes.extend(about_roster(students).into_iter().map(|note| ("warn", note)));
    let real = report.results.values().find(|result| result.record["pace"] == "real");
    if let Some(real) = real {
        let reason = real.record["pace_reason"].as_str().unwrap_or("it was chosen with --pace real");
        notes.push((
            "warn",
            format!("Time followed the wall clock in some runs, so they may not repeat: {}.", escape(reason)),
        ));
    }
    if !report.plan.ignored.is_empty() {
        let files: Vec<String> =
            report.plan.ignored.iter().take(MAX_NAMES).map(|name| escape(name)).collect();
        notes.push(("warn", format!("Files that belong to no student: {}.", files.join(", "))));
    }
    if notes.is_empty() {
        return String::new();
    }
    let items: String =
        notes.iter().map(|(tone, text)| format!("<li class=\"{tone}\">{text}</li>")).collect();
    format!("<section class=\"panel notes\"><h2>To look at</h2><ul>{items}</ul></section>")
}

/// The notes about students who have no row in the roster, or for whom several rows fit.
fn about_roster(students: &[StudentGrade]) -> Vec<String> {
    let mut notes = Vec::new();
    for (remark, what) in [
        (NOT_IN_ROSTER, "Not found in the roster"),
        (SEVERAL_IN_ROSTER, "Several students of the roster have the name or number of"),
    ] {
        let whose: Vec<&StudentGrade> =
            students.iter().filter(|s| s.remark.as_deref() == Some(remark)).collect();
        if !whose.is_empty() {
            notes.push(format!("{what}: {}.", names(&whose)));
        }
    }
    notes
}

fn names(students: &[&StudentGrade]) -> String {
    let link = |student: &&&StudentGrade| {
        format!("<a href=\"#{}\">{}</a>", escape(&student.key), escape(&student.name))
    };
    let mut all: Vec<String> = students.iter().take(MAX_NAMES).map(|student| link(&student)).collect();
    if students.len() > MAX_NAMES {
        all.push(format!("{} more", students.len() - MAX_NAMES));
    }
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn student(name: &str, remark: Option<&str>) -> StudentGrade {
        StudentGrade {
            key: name.to_lowercase(),
            name: name.to_owned(),
            id: None,
            status: Status::Graded,
            rank: None,
            grade: None,
            submission: None,
            late: false,
            program_sha256: None,
            command: None,
            problem: None,
            remark: remark.map(str::to_owned),
            worlds: Vec::new(),
        }
    }

    #[test]
    fn a_student_who_fits_several_rows_was_noted_as_not_found_in_the_roster() {
        let students = [
            student("Ada", Some(SEVERAL_IN_ROSTER)),
            student("Bo", Some(NOT_IN_ROSTER)),
            student("Cy", None),
        ];
        let [missing, several] = &about_roster(&students)[..] else { panic!("two notes are needed") };
        assert!(missing.starts_with("Not found") && missing.contains("Bo") && !missing.contains("Ada"));
        assert!(several.starts_with("Several") && several.contains("Ada") && !several.contains("Bo"));
        assert!(about_roster(&students[2..]).is_empty());
    }
}
