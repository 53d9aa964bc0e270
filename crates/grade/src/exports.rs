//! The grades for other programs: spreadsheets, Moodle, Canvas, Gradescope and CI servers.

mod gradescope;
mod junit;
mod tables;

use crate::folder::{FolderError, ResultsFolder};
use crate::grades::Grades;
use crate::plan::Plan;

/// Writes all files for other programs.
pub fn write(folder: &ResultsFolder, plan: &Plan, grades: &Grades) -> Result<(), FolderError> {
    folder.write("grades.json", &grades.json())?;
    folder.write("grades.csv", tables::grades(plan, grades).as_bytes())?;
    folder.write("moodle.csv", tables::moodle(plan, grades).as_bytes())?;
    folder.write("canvas.csv", tables::canvas(plan, grades).as_bytes())?;
    folder.write("junit.xml", junit::write(grades).as_bytes())?;
    crate::folder::remove(&folder.path().join("gradescope"))?;
    for student in grades.students.iter().filter(|student| student.submission.is_some()) {
        let name = format!("gradescope/{}/results.json", student.key);
        folder.write(&name, &gradescope::results(grades, student))?;
    }
    Ok(())
}

/// The result of a student in one line, for feedback columns.
fn feedback(grades: &Grades, student: &crate::grades::StudentGrade) -> String {
    use crate::formula::number;
    if let Some(problem) = &student.problem {
        return format!("Not run: {problem}");
    }
    let mut parts = Vec::new();
    for (world, of) in student.worlds.iter().zip(&grades.worlds) {
        let results: Vec<String> =
            world.seeds.iter().map(|unit| unit.result.map_or_else(|| unit.verdict.clone(), number)).collect();
        parts.push(format!("{}: {} points ({})", of.name, number(world.points), results.join(", ")));
    }
    parts.join("; ")
}
