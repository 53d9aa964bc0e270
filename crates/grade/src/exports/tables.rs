//! Tables for spreadsheets and for the import of learning platforms.

use super::feedback;
use crate::csv::{harmless, line};
use crate::formula::number;
use crate::grades::{Grades, StudentGrade};
use crate::plan::Plan;

/// The file `grades.csv`. Its first columns are those of the roster. The columns with the student,
/// the grade and the result of every run follow.
pub(super) fn grades(plan: &Plan, grades: &Grades) -> String {
    let own = ["student", "student_id"];
    let mut head: Vec<String> = plan.roster.iter().map(|name| harmless(name)).collect();
    head.extend(own.map(str::to_owned));
    head.extend(["rank", "grade", "status", "problem"].map(str::to_owned));
    for world in &grades.worlds {
        head.extend(["points", "result", "best", "spread"].map(|name| format!("{}_{name}", world.name)));
        head.extend(grades.seeds.iter().map(|seed| format!("{}_seed_{seed}", world.name)));
    }
    head.extend(["penalties", "refused", "interference", "program_sha256"].map(str::to_owned));
    let mut text = line(&head);
    for student in &grades.students {
        text += &line(&row(plan, grades, student));
    }
    text
}

fn row(plan: &Plan, grades: &Grades, student: &StudentGrade) -> Vec<String> {
    let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
    let mut cells = roster_cells(plan, student);
    cells.push(harmless(&student.name));
    cells.push(harmless(student.id.as_deref().unwrap_or_default()));
    cells.push(student.rank.map(|rank| rank.to_string()).unwrap_or_default());
    cells.push(optional(student.grade));
    cells.push(status(student).to_owned());
    cells.push(harmless(student.problem.as_deref().or(student.remark.as_deref()).unwrap_or_default()));
    for i in 0..grades.worlds.len() {
        let Some(world) = student.worlds.get(i) else {
            cells.extend(std::iter::repeat_n(String::new(), 4 + grades.seeds.len()));
            continue;
        };
        cells.push(number(world.points));
        cells.extend([world.result, world.best, world.spread].map(optional));
        cells.extend(world.seeds.iter().map(|unit| match unit.result {
            Some(result) => number(result),
            None => harmless(&unit.verdict),
        }));
    }
    let sum = |count: fn(&crate::grades::UnitGrade) -> u64| -> String {
        student.worlds.iter().flat_map(|world| &world.seeds).map(count).sum::<u64>().to_string()
    };
    cells.push(sum(|unit| unit.penalties as u64));
    cells.push(sum(|unit| unit.refused));
    cells.push(sum(|unit| unit.interference));
    cells.push(student.program_sha256.clone().unwrap_or_default());
    cells
}

/// The cells of the student's row in the roster, or empty cells if the student has no row.
fn roster_cells(plan: &Plan, student: &StudentGrade) -> Vec<String> {
    let cells = plan.student(&student.key).map(|planned| planned.roster.clone()).unwrap_or_default();
    let mut cells: Vec<String> = cells.iter().map(|cell| harmless(cell)).collect();
    cells.resize(plan.roster.len(), String::new());
    cells
}

/// A cell of the student's row in the roster. `names` are tried in their order, and the first one
/// that is the name of a column counts. `None` if there is no such column or the cell is empty.
fn roster_cell(plan: &Plan, student: &StudentGrade, names: &[&str]) -> Option<String> {
    let column = names.iter().find_map(|name| {
        plan.roster.iter().position(|column| column.trim().to_lowercase() == name.to_lowercase())
    })?;
    let cell = plan.student(&student.key)?.roster.get(column)?.trim().to_owned();
    (!cell.is_empty()).then_some(cell)
}

fn status(student: &StudentGrade) -> &'static str {
    use crate::grades::Status;
    match student.status {
        Status::Graded => "graded",
        Status::Rejected => "rejected",
        Status::NoSubmission => "no submission",
        Status::Incomplete => "incomplete",
    }
}

/// The grading worksheet of Moodle.
pub(super) fn moodle(plan: &Plan, grades: &Grades) -> String {
    let head = ["Identifier", "Full name", "Email address", "Grade", "Maximum Grade", "Feedback comments"];
    let mut text = line(&head);
    for student in &grades.students {
        let id = roster_cell(plan, student, &["Identifier"])
            .or_else(|| student.id.as_ref().map(|id| format!("Participant {id}")));
        let name = roster_cell(plan, student, &["Full name"]).unwrap_or_else(|| student.name.clone());
        let email = roster_cell(plan, student, &["Email address", "email"]);
        text += &line(&[
            harmless(&id.unwrap_or_default()),
            harmless(&name),
            harmless(&email.unwrap_or_default()),
            student.grade.map(number).unwrap_or_default(),
            number(grades.grading.max_grade),
            harmless(&feedback(grades, student)),
        ]);
    }
    text
}

/// The gradebook of Canvas. Its second row has the highest possible score.
pub(super) fn canvas(plan: &Plan, grades: &Grades) -> String {
    let columns = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"];
    let mut head: Vec<String> = columns.map(str::to_owned).to_vec();
    head.push(harmless(&grades.assignment));
    let mut text = line(&head);
    text += &line(&["    Points Possible", "", "", "", "", &number(grades.grading.max_grade)]);
    for student in &grades.students {
        let mut cells: Vec<String> = columns
            .iter()
            .map(|column| harmless(&roster_cell(plan, student, &[column]).unwrap_or_default()))
            .collect();
        if cells[0].is_empty() {
            cells[0] = harmless(&student.name);
        }
        if cells[1].is_empty() {
            cells[1] = harmless(student.id.as_deref().unwrap_or_default());
        }
        cells.push(student.grade.map(number).unwrap_or_default());
        text += &line(&cells);
    }
    text
}
