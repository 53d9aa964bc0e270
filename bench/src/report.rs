//! Figures with their targets, as a table and as JSON.

use serde_json::json;
use std::time::Duration;

/// What a figure should be.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// Nothing was asked for.
    None,
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

impl Target {
    fn holds(self, figure: f64) -> Option<bool> {
        match self {
            Target::None => None,
            Target::AtLeast(low) => Some(figure >= low),
            Target::AtMost(high) => Some(figure <= high),
        }
    }
}

struct Row {
    name: String,
    figure: f64,
    unit: &'static str,
    target: Target,
}

/// All figures, in the order in which they were measured.
#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Notes a figure, and shows it at once.
    pub fn add(&mut self, name: impl Into<String>, figure: f64, unit: &'static str, target: Target) {
        let name = name.into();
        eprintln!("{name}: {} {unit}", text(figure));
        self.rows.push(Row { name, figure, unit, target });
    }

    /// Median and 99th percentile in milliseconds; the target is that of the latter.
    pub fn add_times(&mut self, name: &str, times: &mut [Duration], target: Target) {
        self.add(format!("{name}, p50"), quantile(times, 0.5), "ms", Target::None);
        self.add(format!("{name}, p99"), quantile(times, 0.99), "ms", target);
    }

    /// Prints the table.
    pub fn print(&self) {
        println!("{:<66}{:>12} {:<7}{:>12}  ", "", "figure", "", "target");
        for Row { name, figure, unit, target } in &self.rows {
            let wanted = match *target {
                Target::None => String::new(),
                Target::AtLeast(low) => format!("≥ {}", text(low)),
                Target::AtMost(high) => format!("≤ {}", text(high)),
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
                Target::None => (None, None),
                Target::AtLeast(low) => (Some(low), None),
                Target::AtMost(high) => (None, Some(high)),
            };
            json!({ "name": name, "figure": figure, "unit": unit, "at_least": at_least, "at_most": at_most,
                "ok": target.holds(*figure) })
        });
        json!({ "figures": rows.collect::<Vec<_>>() }).to_string()
    }
}

/// A quantile, in milliseconds; sorts.
pub fn quantile(times: &mut [Duration], part: f64) -> f64 {
    times.sort_unstable();
    let at = ((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1));
    times.get(at).map_or(f64::NAN, |t| t.as_secs_f64() * 1e3)
}

/// Three digits are plenty.
fn text(figure: f64) -> String {
    match figure.abs() {
        a if a >= 100.0 => thousands(figure.round() as i64),
        a if a.fract() == 0.0 => format!("{figure:.0}"),
        a if a >= 10.0 => format!("{figure:.1}"),
        a if a >= 0.1 => format!("{figure:.2}"),
        _ => format!("{figure:.3}"),
    }
}

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
