//! How results become a grade.
//!
//! Each run gets points from its result. The points of all seeds are combined to the points of a
//! world, and the grade is the mean of the worlds. A run without a result gets no points. For
//! example, the points of a world may be the mean of three seeds. A program that fails with one of
//! these seeds then gets at most two thirds of the highest possible points of this world.

use chicane_wire::Better;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How results become a grade.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Formula {
    /// The highest grade.
    pub max_grade: f64,
    /// How the points of the seeds are combined to the points of a world.
    pub seeds: Combine,
    /// For each world with a scale: how many points a result gets. In a world without a scale, each
    /// run with a result gets `max_grade` points.
    pub scales: BTreeMap<String, Scale>,
    /// Whether the result of a run that reached the time limit counts.
    pub count_timeouts: bool,
    /// Points by which the grade of a late submission is reduced.
    pub late_penalty: f64,
    /// Points that a run loses if its program sent commands that are not allowed.
    pub refused_penalty: f64,
}

/// How several numbers are combined to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Combine {
    /// The best number.
    Best,
    /// The arithmetic mean.
    Mean,
    /// The median; for an even number of values, the mean of the two middle ones.
    Median,
    /// The worst number.
    Worst,
}

/// How many points a result gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Pairs of a result and its points, from the best result to the worst.
    pub steps: Vec<(f64, f64)>,
    /// Whether points between two steps are interpolated. Otherwise a result gets the points of the
    /// best step that it reaches.
    pub linear: bool,
}

impl Default for Formula {
    fn default() -> Formula {
        Formula {
            max_grade: 100.0,
            seeds: Combine::Mean,
            scales: BTreeMap::new(),
            count_timeouts: false,
            late_penalty: 0.0,
            refused_penalty: 0.0,
        }
    }
}

impl Formula {
    /// The points of a run with this result. `refused` says whether its program sent commands that
    /// are not allowed.
    pub fn points(&self, world: &str, better: Better, result: f64, refused: bool) -> f64 {
        let points = self.scales.get(world).map_or(self.max_grade, |scale| scale.points(better, result));
        let penalty = if refused { self.refused_penalty } else { 0.0 };
        (points - penalty).clamp(0.0, self.max_grade)
    }

    /// The grade of a student from the points of the worlds.
    pub fn grade(&self, worlds: &[f64], late: bool) -> f64 {
        let mean = Combine::Mean.of(worlds, Better::Higher).unwrap_or(0.0);
        let penalty = if late { self.late_penalty } else { 0.0 };
        rounded(mean - penalty, 2).clamp(0.0, self.max_grade)
    }

    /// The formula in sentences, for the report.
    pub fn sentences(&self, worlds: &[(&str, Better)]) -> Vec<String> {
        let max = number(self.max_grade);
        let seeds = match self.seeds {
            Combine::Best => "the best of its seeds",
            Combine::Mean => "the mean of its seeds",
            Combine::Median => "the median of its seeds",
            Combine::Worst => "the worst of its seeds",
        };
        let mut all = vec![format!(
            "Grade (0 to {max}) = mean of the worlds. The points of a world are {seeds}. A run without a result \
             gives 0 points."
        )];
        for (name, better) in worlds {
            all.push(match self.scales.get(*name) {
                None => format!("{name}: every run with a result gives {max} points."),
                Some(scale) => format!("{name}: {}.", scale.sentence(*better)),
            });
        }
        if self.count_timeouts {
            all.push("The result of a run that reached the time limit counts.".to_owned());
        }
        if self.refused_penalty > 0.0 {
            let points = number(self.refused_penalty);
            all.push(format!("A run with commands that are not allowed loses {points} points."));
        }
        if self.late_penalty > 0.0 {
            all.push(format!("A late submission loses {} points.", number(self.late_penalty)));
        }
        all
    }
}

impl Combine {
    /// Combines the numbers. `None` if `numbers` is empty.
    pub fn of(self, numbers: &[f64], better: Better) -> Option<f64> {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        if better == Better::Lower {
            sorted.reverse();
        }
        let (worst, best) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        Some(match self {
            Combine::Best => best,
            Combine::Worst => worst,
            Combine::Mean => sorted.iter().sum::<f64>() / sorted.len() as f64,
            Combine::Median if sorted.len().is_multiple_of(2) => (sorted[middle - 1] + sorted[middle]) / 2.0,
            Combine::Median => sorted[middle],
        })
    }
}

impl Scale {
    /// Reads steps such as `30:100,45:60,60:0`: each is a result and its points. The steps may be
    /// in any order. A better result must not get fewer points than a worse one.
    pub fn parse(text: &str, better: Better, linear: bool) -> Result<Scale, String> {
        let wrong =
            || format!("\"{text}\" is not a list of results with their points, such as 30:100,45:60,60:0");
        let mut steps = Vec::new();
        for step in text.split(',') {
            let (result, points) = step.split_once(':').ok_or_else(wrong)?;
            let parse = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            steps.push(parse(result).zip(parse(points)).ok_or_else(wrong)?);
        }
        if steps.len() > 100 {
            return Err("there are more than 100 steps".to_owned());
        }
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        if better == Better::Higher {
            steps.reverse();
        }
        if steps.windows(2).any(|pair| pair[0].0 == pair[1].0 || pair[0].1 < pair[1].1) {
            let word = better.name();
            return Err(format!(
                "\"{text}\" gives a better result fewer points; {word} results are better here"
            ));
        }
        Ok(Scale { steps, linear })
    }

    fn points(&self, better: Better, result: f64) -> f64 {
        let reaches = |limit: f64| if better == Better::Lower { result <= limit } else { result >= limit };
        let Some(at) = self.steps.iter().position(|(limit, _)| reaches(*limit)) else { return 0.0 };
        let (limit, points) = self.steps[at];
        if !self.linear || at == 0 {
            return points;
        }
        let (better_limit, more) = self.steps[at - 1];
        points + (more - points) * (limit - result) / (limit - better_limit)
    }

    fn sentence(&self, better: Better) -> String {
        let sign = if better == Better::Lower { "≤" } else { "≥" };
        let steps: Vec<String> = self
            .steps
            .iter()
            .map(|(limit, points)| format!("{sign} {}: {}", number(*limit), number(*points)))
            .collect();
        let between = if self.linear { ", linear between them" } else { "" };
        format!("points by result {}{between}, otherwise 0", steps.join(", "))
    }
}

/// A number as text, with at most three decimals.
pub fn number(value: f64) -> String {
    let text = format!("{:.3}", rounded(value, 3));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Rounds to this number of decimals. The result is never negative zero.
pub fn rounded(value: f64, decimals: u8) -> f64 {
    let factor = (0..decimals).fold(1.0, |factor, _| factor * 10.0);
    (value * factor).round() / factor + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_become_points() {
        let steps = Scale::parse("60:0, 30:100, 45:60", Better::Lower, false).expect("a scale");
        for (result, points) in
            [(10.0, 100.0), (30.0, 100.0), (30.1, 60.0), (45.0, 60.0), (50.0, 0.0), (99.0, 0.0)]
        {
            assert_eq!(steps.points(Better::Lower, result), points, "{result}");
        }
        let linear = Scale { linear: true, ..steps };
        for (result, points) in [(30.0, 100.0), (37.5, 80.0), (45.0, 60.0), (52.5, 30.0), (60.1, 0.0)] {
            assert_eq!(linear.points(Better::Lower, result), points, "{result}");
        }
        let high = Scale::parse("5:50,10:100", Better::Higher, true).expect("a scale");
        for (result, points) in [(20.0, 100.0), (7.5, 75.0), (5.0, 50.0), (4.9, 0.0)] {
            assert_eq!(high.points(Better::Higher, result), points, "{result}");
        }
        for bad in ["", "30", "30:x", "30:50,20:10", "30:1,30:2", "nan:1"] {
            assert!(Scale::parse(bad, Better::Lower, false).is_err(), "{bad}");
        }
    }

    #[test]
    fn points_become_a_grade() {
        let mut formula = Formula { late_penalty: 10.0, refused_penalty: 25.0, ..Formula::default() };
        assert_eq!(formula.points("oval", Better::Lower, 12.0, false), 100.0);
        assert_eq!(formula.points("oval", Better::Lower, 12.0, true), 75.0);
        assert_eq!(formula.grade(&[100.0, 50.0, 33.0], false), 61.0);
        assert_eq!(formula.grade(&[5.0], true), 0.0);
        let numbers = [3.0, 1.0, 2.0, 10.0];
        for (combine, lower, higher) in [
            (Combine::Best, 1.0, 10.0),
            (Combine::Worst, 10.0, 1.0),
            (Combine::Mean, 4.0, 4.0),
            (Combine::Median, 2.5, 2.5),
        ] {
            assert_eq!(combine.of(&numbers, Better::Lower), Some(lower));
            assert_eq!(combine.of(&numbers, Better::Higher), Some(higher));
        }
        formula
            .scales
            .insert("oval".to_owned(), Scale::parse("30:100", Better::Lower, false).expect("a scale"));
        let text = formula.sentences(&[("oval", Better::Lower), ("town", Better::Higher)]).join(" ");
        assert!(text.contains("oval: points by result ≤ 30: 100, otherwise 0."), "{text}");
        assert!(text.contains("town: every run with a result gives 100 points."), "{text}");
        assert_eq!(
            (number(3.1400001), number(-0.0001), number(100.0)),
            ("3.14".into(), "0".into(), "100".into())
        );
    }
}
