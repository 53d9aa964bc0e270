//! The file `results.json` of Gradescope's autograders, one for each student with a submission.

use super::feedback;
use crate::formula::{number, rounded};
use crate::grades::{Grades, StudentGrade};
use chicane_wire::Better;
use serde_json::{Value, json};

pub(super) fn results(grades: &Grades, student: &StudentGrade) -> Vec<u8> {
    // Every run has the same maximum score. The maximum scores of all runs add up to the highest
    // grade.
    let runs = student.worlds.iter().map(|world| world.seeds.len()).sum::<usize>().max(1);
    let share = rounded(grades.grading.max_grade / runs as f64, 4);
    let mut tests = Vec::new();
    let mut leaderboard: Vec<Value> = Vec::new();
    for (world, of) in student.worlds.iter().zip(&grades.worlds) {
        for unit in &world.seeds {
            let said = unit.result.map(|result| format!("result {}", number(result)));
            let part = unit.points / grades.grading.max_grade;
            tests.push(json!({
                "name": format!("{}, seed {}", of.name, unit.seed),
                "score": rounded(part * share, 4),
                "max_score": share,
                "status": if unit.result.is_some() { "passed" } else { "failed" },
                "output": said.or_else(|| unit.reason.clone()).unwrap_or_else(|| unit.verdict.clone()),
                "output_format": "text",
            }));
        }
        if let Some(result) = world.result {
            let order = if of.better == Better::Lower { "asc" } else { "desc" };
            leaderboard.push(json!({"name": of.name, "value": result, "order": order}));
        }
    }
    if let Some(grade) = student.grade {
        leaderboard.insert(0, json!({"name": "grade", "value": grade}));
    }
    let document = json!({
        "score": student.grade.unwrap_or(0.0),
        "output": feedback(grades, student),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "leaderboard": leaderboard,
    });
    // A `serde_json::Value` can always be written as JSON.
    let mut text = serde_json::to_vec_pretty(&document).unwrap_or_default();
    text.push(b'\n');
    text
}
