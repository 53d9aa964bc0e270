//! The section about each student: maps, runs, penalties, and the output of programs that failed.

use super::html::{counted, escape, points};
use super::{Report, best_unit, map, table};
use crate::formula::number;
use crate::grades::{StudentGrade, UnitGrade, WorldGrade};
use std::collections::BTreeMap;

/// Maximum number of penalties that are listed for a run.
const MAX_PENALTIES: usize = 10;
/// Maximum length of a line of output, in characters. A longer line is cut.
const MAX_LINE: usize = 300;

pub(super) fn write(report: &Report<'_>) -> String {
    let all: String = report.grades.students.iter().map(|student| one(report, student)).collect();
    format!("<section class=\"students\"><h2>Students</h2>{all}</section>")
}

fn one(report: &Report<'_>, student: &StudentGrade) -> String {
    let grade = student.grade.map_or_else(|| "no grade".to_owned(), number);
    let rank =
        student.rank.map_or_else(String::new, |rank| format!("<span class=\"muted\">rank {rank}</span>"));
    let mut body = String::new();
    if let Some(problem) = &student.problem {
        body += &format!("<p class=\"reason bad\">{}</p>", escape(problem));
    }
    if let Some(remark) = &student.remark {
        body += &format!("<p class=\"reason warn\">{}</p>", escape(remark));
    }
    let facts = [
        ("Submission", student.submission.as_deref()),
        ("Command", student.command.as_deref()),
        ("Program", student.program_sha256.as_deref().and_then(|sum| sum.get(..16))),
    ];
    let facts: String = facts
        .iter()
        .filter_map(|(name, value)| Some(format!("<div><dt>{name}</dt><dd>{}</dd></div>", escape((*value)?))))
        .collect();
    body += &format!("<dl class=\"facts\">{facts}</dl>");
    for (i, world) in student.worlds.iter().enumerate() {
        body += &world_part(report, student, world, i);
    }
    format!(
        "<details class=\"panel student\" id=\"{}\"><summary><b>{}</b>{rank}<span class=\"grade\">{grade}</span>\
         </summary>{body}</details>",
        escape(&student.key),
        escape(&student.name)
    )
}

fn world_part(report: &Report<'_>, student: &StudentGrade, world: &WorldGrade, i: usize) -> String {
    let of = &report.grades.worlds[i];
    let rows: String = world.seeds.iter().map(run_row).collect();
    let map = best_unit(world).and_then(|unit| {
        let track = report.tracks.get(&unit.hash)?;
        let label = format!("{} in {}, seed {}", student.name, of.display, unit.seed);
        let drawn = map::draw(&report.roads[i], track, map::scale(track), &label);
        let which = if unit.result.is_some() { "best run" } else { "run" };
        Some(format!("<figure>{drawn}<figcaption>{which}: seed {}</figcaption></figure>", unit.seed))
    });
    format!(
        "<h3>{}</h3><div class=\"world\">{}<div class=\"runs\"><div class=\"wide\"><table class=\"runs-table\"><thead>\
         <tr><th>Seed</th><th>Result</th><th>Points</th><th>Time</th><th>Penalties</th><th>Run</th></tr></thead>\
         <tbody>{rows}</tbody></table></div>{}{}</div></div>",
        escape(&of.display),
        map.unwrap_or_default(),
        penalties(report, world),
        failures(report, world),
    )
}

fn run_row(unit: &UnitGrade) -> String {
    let time = unit.elapsed_s.map_or_else(|| "–".to_owned(), |time| format!("{} s", number(time)));
    let run = unit.run.as_ref().map_or_else(
        || "<span class=\"muted\">none</span>".to_owned(),
        |run| format!("<a href=\"{0}\"><code>chicane replay {0}</code></a>", escape(run)),
    );
    format!(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{time}</td><td>{}</td><td class=\"run\">{run}</td></tr>",
        unit.seed,
        table::result(unit),
        points(unit.points),
        unit.penalties
    )
}

/// The penalties of the judging script.
fn penalties(report: &Report<'_>, world: &WorldGrade) -> String {
    let mut text = String::new();
    for unit in &world.seeds {
        let Some(result) = report.results.get(&unit.hash).filter(|result| !result.penalties.is_empty())
        else {
            continue;
        };
        let more = result.penalties.len().saturating_sub(MAX_PENALTIES);
        let mut items: String = result
            .penalties
            .iter()
            .take(MAX_PENALTIES)
            .map(|penalty| format!("<li>{}</li>", escape(&penalty.text)))
            .collect();
        if more > 0 {
            items += &format!("<li>{} more</li>", more);
        }
        let title = counted(result.penalties.len(), "penalty").replace("penaltys", "penalties");
        text += &format!("<h4>Seed {}: {title}</h4><ul class=\"penalties\">{items}</ul>", unit.seed);
    }
    text
}

/// Why runs have no result, and what their programs printed last. Runs that ended in the same way
/// are shown together.
fn failures(report: &Report<'_>, world: &WorldGrade) -> String {
    let mut same: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    for unit in world.seeds.iter().filter(|unit| unit.result.is_none()) {
        let reason = unit.reason.clone().unwrap_or_else(|| unit.verdict.clone());
        let tail = report.results.get(&unit.hash).map(|result| tail(&result.record)).unwrap_or_default();
        same.entry((reason, tail)).or_default().push(unit.seed);
    }
    let mut groups: Vec<_> = same.into_iter().collect();
    groups.sort_by(|a, b| a.1.cmp(&b.1));
    let mut text = String::new();
    for ((reason, tail), seeds) in groups {
        let word = if seeds.len() == 1 { "Seed" } else { "Seeds" };
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        text +=
            &format!("<h4>{word} {}</h4><p class=\"reason bad\">{}</p>", seeds.join(", "), escape(&reason));
        if !tail.is_empty() {
            text += &format!("<pre tabindex=\"0\">{tail}</pre>");
        }
    }
    text
}

/// The last lines that a program printed, escaped for HTML.
fn tail(record: &serde_json::Value) -> String {
    let lines = record["run"]["output_tail"].as_array().into_iter().flatten();
    let lines = lines.filter_map(|line| line.as_str());
    lines.map(|line| escape(&line.chars().take(MAX_LINE).collect::<String>())).collect::<Vec<_>>().join("\n")
}
