//! The distribution of the grades, and the results of each world.

use super::html::escape;
use crate::formula::number;
use crate::grades::Grades;
use std::fmt::Write;

/// Number of bars of the histogram.
const BARS: usize = 10;
/// Width of the plots, in units of the SVG.
const WIDTH: f64 = 600.0;
/// Height of the histogram, in units of the SVG.
const HEIGHT: f64 = 180.0;

/// A histogram of the grades.
pub(super) fn grades(grades: &Grades) -> String {
    let max = grades.grading.max_grade;
    let mut bars = [0usize; BARS];
    for grade in grades.grades() {
        let bar = (grade / max * BARS as f64).floor() as usize;
        bars[bar.min(BARS - 1)] += 1;
    }
    let most = bars.iter().copied().max().unwrap_or(0).max(1);
    let described: Vec<String> = bars.iter().map(usize::to_string).collect();
    let mut svg = format!(
        "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Number of students in ten \
         equal ranges of the grade: {}\">",
        described.join(", ")
    );
    let (slot, base) = (WIDTH / BARS as f64, HEIGHT - 26.0);
    // Writing to a `String` cannot fail.
    let _ = write!(svg, "<path class=\"axis\" d=\"M0 {base}H{WIDTH}\"/>");
    for (i, count) in bars.iter().enumerate() {
        let (x, height) = (i as f64 * slot, *count as f64 / most as f64 * (base - 26.0));
        if *count > 0 {
            let y = base - height;
            let _ = write!(
                svg,
                "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"4\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{count}</text>",
                x + 5.0,
                slot - 10.0,
                x + slot / 2.0,
                y - 7.0
            );
        }
    }
    for i in 0..=BARS / 2 {
        let x = (2 * i) as f64 * slot;
        let anchor = if i == 0 {
            "start"
        } else if 2 * i == BARS {
            "end"
        } else {
            "middle"
        };
        let value = number(max * (2 * i) as f64 / BARS as f64);
        let _ = write!(
            svg,
            "<text class=\"tick\" style=\"text-anchor:{anchor}\" x=\"{x:.1}\" y=\"{HEIGHT}\" dy=\"-6\">{value}</text>"
        );
    }
    svg + "</svg>"
}

/// One dot for the combined result of each student in a world. `None` if no student has one.
pub(super) fn results(grades: &Grades, world: usize) -> Option<String> {
    let all: Vec<(&str, f64)> = grades
        .students
        .iter()
        .filter_map(|student| Some((student.name.as_str(), student.worlds.get(world)?.result?)))
        .collect();
    let low = all.iter().map(|(_, result)| *result).min_by(f64::total_cmp)?;
    let high = all.iter().map(|(_, result)| *result).max_by(f64::total_cmp)?;
    let span = (high - low).max(1e-9);
    let name = escape(&grades.worlds[world].display);
    let mut svg = format!(
        "<svg class=\"plot dots\" viewBox=\"0 0 {WIDTH} 56\" role=\"img\" aria-label=\"Results in {name}, from {} to \
         {}\"><path class=\"axis\" d=\"M0 24H{WIDTH}\"/>",
        number(low),
        number(high)
    );
    for (student, result) in &all {
        let x = 12.0 + (result - low) / span * (WIDTH - 24.0);
        let _ = write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"24\" r=\"8\"><title>{}: {}</title></circle>",
            escape(student),
            number(*result)
        );
    }
    let _ = write!(
        svg,
        "<text class=\"tick\" style=\"text-anchor:start\" x=\"0\" y=\"54\">{}</text>\
         <text class=\"tick\" style=\"text-anchor:end\" x=\"{WIDTH}\" y=\"54\">{}</text></svg>",
        number(low),
        number(high)
    );
    Some(svg)
}
