//! The whole page of the report. The page has no script and names no other host, so it can be sent
//! to anyone.

use super::html::{counted, escape, points};
use super::{Report, map, notes, plot, students, table};
use crate::formula::{Combine, number};
use chicane_wire::Better;

const STYLE: &str = include_str!("style.css");
/// With this policy, the browser runs no script and loads no other file, even if a student's text
/// were not escaped.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub(super) fn write(report: &Report<'_>) -> String {
    let grades = report.grades;
    let title = escape(&grades.assignment);
    let summary = [
        counted(grades.students.len(), "student"),
        counted(grades.worlds.len(), "world"),
        counted(grades.seeds.len(), "seed"),
        counted(grades.units, "run"),
    ];
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}: grades</title><style>{STYLE}</style></head><body>\
         <header><div class=\"inner\">{MARK}<h1>{title}</h1><p class=\"muted\">{}</p></div></header>\
         <main>{}<div class=\"columns\">{}{}</div>{}{}</main><footer class=\"muted\">{}</footer></body></html>\n",
        summary.join(" · "),
        notes::write(report),
        overview(report),
        maps(report),
        table::write(report),
        students::write(report),
        footer(report),
    )
}

/// The logo of Chicane: a chicane with kerbs.
const MARK: &str = "<svg class=\"mark\" viewBox=\"0 0 48 48\" aria-hidden=\"true\"><path class=\"kerb\" d=\"M10 40C10 \
    26 20 28 24 24S38 22 38 8\"/><path class=\"tarmac\" d=\"M10 40C10 26 20 28 24 24S38 22 38 8\"/></svg>";

fn overview(report: &Report<'_>) -> String {
    let grades = report.grades;
    let all = grades.grades();
    let fact = |name: &str, value: Option<f64>| {
        let value = value.map_or_else(|| "–".to_owned(), points);
        format!("<div><dt>{name}</dt><dd>{value}</dd></div>")
    };
    let facts = [
        fact("Best", Combine::Best.of(&all, Better::Higher)),
        fact("Median", Combine::Median.of(&all, Better::Higher)),
        fact("Mean", Combine::Mean.of(&all, Better::Higher)),
        fact("Graded", Some(all.len() as f64)),
    ];
    let formula: String = grades.formula.iter().map(|line| format!("<p>{}</p>", escape(line))).collect();
    let dots: String = (0..grades.worlds.len())
        .filter_map(|i| {
            let world = &grades.worlds[i];
            let better = format!("{} is better", world.better.name());
            Some(format!(
                "<h3>{} <span class=\"muted\">{better}</span></h3>{}",
                escape(&world.display),
                plot::results(grades, i)?
            ))
        })
        .collect();
    format!(
        "<section class=\"panel\"><h2>Grades</h2><dl class=\"facts big\">{}</dl>{}</section>\
         <section class=\"panel\"><h2>Results</h2>{dots}<h3>How the grade is computed</h3>\
         <div class=\"formula\">{formula}</div></section>",
        facts.concat(),
        plot::grades(grades),
    )
}

/// The best run of the class in each world.
fn maps(report: &Report<'_>) -> String {
    let grades = report.grades;
    let mut panels = String::new();
    for (i, of) in grades.worlds.iter().enumerate() {
        let runs = grades.students.iter().filter_map(|student| {
            let world = student.worlds.get(i)?;
            let best = world.best?;
            let unit = world.seeds.iter().find(|unit| unit.result == Some(best))?;
            Some((best, student, unit))
        });
        // If several students have the best result, the first of them in the table is shown.
        let best = runs.reduce(|a, b| {
            let is_better = if of.better == Better::Lower { b.0 < a.0 } else { b.0 > a.0 };
            if is_better { b } else { a }
        });
        let Some((result, student, unit)) = best else { continue };
        let Some(track) = report.tracks.get(&unit.hash) else { continue };
        let scale = map::scale(track);
        let label = format!("Best run in {}: {}, result {}", of.display, student.name, number(result));
        panels += &format!(
            "<section class=\"panel\"><div class=\"map-head\"><h2>{}</h2>{}</div>{}\
             <p class=\"best\"><b>{}</b> {} <span class=\"muted\">seed {}</span></p></section>",
            escape(&of.display),
            map::legend(scale),
            map::draw(&report.roads[i], track, scale, &label),
            number(result),
            escape(&student.name),
            unit.seed,
        );
    }
    panels
}

fn footer(report: &Report<'_>) -> String {
    let plan = report.plan;
    let commit = plan.chicane.commit.as_deref().map(|commit| format!(" ({commit})")).unwrap_or_default();
    let worlds: String = plan
        .worlds
        .iter()
        .map(|world| {
            format!(
                "<p>{}: world <code>{}</code>, judging script <code>{}</code></p>",
                escape(&world.name),
                escape(world.sha256.get(..16).unwrap_or_default()),
                escape(world.judge_sha256.get(..16).unwrap_or_default())
            )
        })
        .collect();
    format!(
        "<p>Chicane {}{}. Prove these results with <code>chicane verify runs</code>, make this page again with \
         <code>chicane report</code>.</p>{worlds}",
        escape(&plan.chicane.version),
        escape(&commit)
    )
}
