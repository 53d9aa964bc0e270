//! The table of all students.

use super::Report;
use super::html::{escape, points};
use crate::formula::number;
use crate::grades::{Status, StudentGrade, UnitGrade, WorldGrade};

pub(super) fn write(report: &Report<'_>) -> String {
    let grades = report.grades;
    let seeds = grades.seeds.len();
    let mut head =
        "<tr><th rowspan=\"2\">Rank</th><th rowspan=\"2\">Student</th><th rowspan=\"2\">Grade</th>"
            .to_owned();
    let mut second = String::from("<tr>");
    for world in &grades.worlds {
        head += &format!("<th colspan=\"{}\" class=\"group\">{}</th>", seeds + 2, escape(&world.display));
        second += "<th class=\"group\">Points</th>";
        second += &grades.seeds.iter().map(|seed| format!("<th>Seed {seed}</th>")).collect::<String>();
        second += "<th>Spread</th>";
    }
    head += "<th rowspan=\"2\" class=\"group\">Penalties</th></tr>";
    second += "</tr>";
    let rows: String = grades.students.iter().map(|student| row(report, student)).collect();
    format!(
        "<section class=\"panel\"><h2>Results</h2><div class=\"wide\"><table class=\"results\">\
         <thead>{head}{second}</thead><tbody>{rows}</tbody></table></div></section>"
    )
}

fn row(report: &Report<'_>, student: &StudentGrade) -> String {
    let rank = student.rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
    let grade = student.grade.map_or_else(|| "–".to_owned(), number);
    let medal = match student.rank {
        Some(1) => " gold",
        Some(2) => " silver",
        Some(3) => " bronze",
        _ => "",
    };
    let mut cells = format!(
        "<td class=\"rank\"><span class=\"place{medal}\">{rank}</span></td>\
         <th scope=\"row\"><a href=\"#{}\">{}</a>{}</th><td class=\"grade\" data-label=\"Grade\">{grade}</td>",
        escape(&student.key),
        escape(&student.name),
        if student.late { " <span class=\"chip warn\">late</span>" } else { "" },
    );
    let worlds = report.grades.worlds.len();
    if student.worlds.is_empty() {
        let span = worlds * (report.grades.seeds.len() + 2) + 1;
        let tone = if student.status == Status::NoSubmission { "none" } else { "bad" };
        let reason = escape(student.problem.as_deref().unwrap_or_default());
        return format!("<tr>{cells}<td class=\"reason group {tone}\" colspan=\"{span}\">{reason}</td></tr>");
    }
    for (world, of) in student.worlds.iter().zip(&report.grades.worlds) {
        cells += &world_cells(world, &of.display);
    }
    let units = || student.worlds.iter().flat_map(|world| &world.seeds);
    let penalties: usize = units().map(|unit| unit.penalties).sum();
    let refused: u64 = units().map(|unit| unit.refused).sum();
    let mark = if refused > 0 { " <span class=\"chip bad\">not allowed</span>" } else { "" };
    cells += &format!("<td class=\"group\" data-label=\"Penalties\">{penalties}{mark}</td>");
    format!("<tr>{cells}</tr>")
}

fn world_cells(world: &WorldGrade, name: &str) -> String {
    let name = escape(name);
    let mut cells = format!("<td class=\"group points\" data-label=\"{name}\">{}</td>", points(world.points));
    for unit in &world.seeds {
        cells += &format!("<td data-label=\"Seed {}\">{}</td>", unit.seed, result(unit));
    }
    let spread = world.spread.map_or_else(|| "–".to_owned(), number);
    cells + &format!("<td class=\"muted\" data-label=\"Spread\">{spread}</td>")
}

/// The result of a unit, or a word that says why there is none.
pub(super) fn result(unit: &UnitGrade) -> String {
    let reason = escape(unit.reason.as_deref().unwrap_or_default());
    match unit.result {
        Some(result) => number(result),
        None if unit.is_judged() => {
            format!("<span class=\"chip bad\" title=\"{reason}\">{}</span>", escape(word(unit)))
        }
        None => format!("<span class=\"chip fault\" title=\"{reason}\">{}</span>", escape(word(unit))),
    }
}

fn word(unit: &UnitGrade) -> &str {
    if unit.verdict == "finished" { "no number" } else { &unit.verdict }
}
