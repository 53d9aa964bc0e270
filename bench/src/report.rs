//! Collects figures and their goals, and prints them as a table and as JSON.

use serde_json::json;
use std::time::Duration;

/// The value that a figure should reach.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// The figure has no goal.
    None,
    /// The figure should be at least this value.
    AtLeast(f64),
    /// The figure should be at most this value.
    AtMost(f64),
}

impl Goal {
    fn holds(self, figure: f64) -> Option<bool> {
        match self {
            Goal::None => None,
            Goal::AtLeast(low) => Some(figure >= low),
            Goal::AtMost(high) => Some(figure <= high),
        }
    }
}

struct Row {
    name: String,
    figure: f64,
    unit: &'static str,
    target: Goal,
}

/// All figures, in the order in which they were measured.
#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Adds a figure and prints it to stderr.
    pub fn add(&mut self, name: impl Into<String>, figure: f64, unit: &'static str, target: Goal) {
        let name = name.into();
        eprintln!("{name}: {} {unit}", text(figure));
        self.rows.push(Row { name, figure, unit, target });
    }

    /// Adds the median and the 99th percentile of `times` in milliseconds. The goal applies to the
    /// 99th percentile.
    pub fn add_times(&mut self, name: &str, times: &mut [Duration], target: Goal) {
        self.add(format!("{name}, p50"), quantile(times, 0.5), "ms", Goal::None);
        self.add(format!("{name}, p99"), quantile(times, 0.99), "ms", target);
    }

    /// Prints the table to stdout.
    pub fn print(&self) {
        println!("{:<66}{:>12} {:<7}{:>12}  ", "", "figure", "", "target");
        for Row { name, figure, unit, target } in &self.rows {
            let wanted = match *target {
                Goal::None => String::new(),
                Goal::AtLeast(low) => format!("≥ {}", text(low)),
                Goal::AtMost(high) => format!("≤ {}", text(high)),
            };
            let verdict = match target.holds(*figure) {
                None => "",
                Some(true) => "ok",
                Some(false) => "miss",
            };
            println!("{name:<66}{:>12} {unit:<7}{wanted:>12}  {verdict}", text(*figure));
        }
    }

    /// The figures as JSON.
    pub fn json(&self) -> String {
        let rows = self.rows.iter().map(|Row { name, figure, unit, target }| {
            let (at_least, at_most) = match *target {
                Goal::None => (None, None),
                Goal::AtLeast(low) => (Some(low), None),
                Goal::AtMost(high) => (None, Some(high)),
            };
            json!({ "name": name, "figure": figure, "unit": unit, "at_least": at_least, "at_most": at_most,
                "ok": target.holds(*figure) })
        });
        json!({ "figures": rows.collect::<Vec<_>>() }).to_string()
    }
}

/// The quantile `part` (0 to 1) of `times` in milliseconds, or NaN if `times` is empty. The
/// function sorts `times`.
pub fn quantile(times: &mut [Duration], part: f64) -> f64 {
    times.sort_unstable();
    let at = ((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1));
    times.get(at).map_or(f64::NAN, |t| t.as_secs_f64() * 1e3)
}

/// Formats a figure with about three significant digits.
fn text(figure: f64) -> String {
    match figure.abs() {
        a if a >= 100.0 => thousands(figure.round() as i64),
        a if a.fract() == 0.0 => format!("{figure:.0}"),
        a if a >= 10.0 => format!("{figure:.1}"),
        a if a >= 0.1 => format!("{figure:.2}"),
        _ => format!("{figure:.3}"),
    }
}

/// Formats a number with commas between groups of three digits.
fn thousands(number: i64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        let left = digits.len() - i;
        if i > 0 && left.is_multiple_of(3) && !out.ends_with('-') {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
