//! The results as JUnit XML, which CI servers show.

use crate::formula::number;
use crate::grades::{Grades, StudentGrade, UnitGrade};
use std::fmt::Write;

pub(super) fn write(grades: &Grades) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(text, "<testsuites name=\"{}\">", escape(&grades.assignment));
    for student in &grades.students {
        suite(&mut text, grades, student);
    }
    text + "</testsuites>\n"
}

// The results of `write!` are ignored, because writing to a `String` cannot fail.
fn suite(text: &mut String, grades: &Grades, student: &StudentGrade) {
    let units: Vec<(&str, &UnitGrade)> = student
        .worlds
        .iter()
        .flat_map(|world| world.seeds.iter().map(|unit| (world.world.as_str(), unit)))
        .collect();
    let problem = usize::from(student.problem.is_some());
    let failures = units.iter().filter(|(_, unit)| unit.is_judged() && unit.result.is_none()).count();
    let errors = units.iter().filter(|(_, unit)| !unit.is_judged()).count();
    let name = escape(&student.name);
    let _ = writeln!(
        text,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{errors}\">",
        units.len() + problem,
        failures + problem,
    );
    if let Some(problem) = &student.problem {
        let _ = writeln!(
            text,
            "    <testcase classname=\"{name}\" name=\"submission\"><failure message=\"{}\"/></testcase>",
            escape(problem)
        );
    }
    for (world, unit) in units {
        let time = unit.elapsed_s.unwrap_or(0.0);
        let _ = write!(
            text,
            "    <testcase classname=\"{name}\" name=\"{}, seed {}\" time=\"{}\">",
            escape(world),
            unit.seed,
            number(time)
        );
        let reason = escape(unit.reason.as_deref().unwrap_or(&unit.verdict));
        let _ = match unit.result {
            Some(result) => write!(text, "<system-out>result {}</system-out>", number(result)),
            None if unit.is_judged() => write!(text, "<failure message=\"{reason}\"/>"),
            None => write!(text, "<error message=\"{reason}\"/>"),
        };
        *text += "</testcase>\n";
    }
    let grade = student.grade.map_or_else(|| "none".to_owned(), number);
    let max = number(grades.grading.max_grade);
    let _ = writeln!(text, "    <system-out>grade {grade} of {max}</system-out>\n  </testsuite>");
}

/// Escapes a text for XML. Control characters, and other characters that XML forbids, are replaced
/// by U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
