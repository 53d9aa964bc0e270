//! Computes the tables from the results in the order in which they were stored. The same results
//! give the same tables.

use crate::run_result::RunResult;
use chicane_wire::Better;
use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

/// Largest number of changes that are kept.
const MAX_CHANGES: usize = 30;

/// The best run of a student.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Best {
    pub(crate) key: String,
    pub(crate) record: f64,
    pub(crate) session: String,
    pub(crate) at: String,
}

/// A run that gave a student the first or a better record in a world.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    pub(crate) key: String,
    pub(crate) world: usize,
    pub(crate) record: f64,
    pub(crate) before: Option<f64>,
    pub(crate) rank: u32,
    pub(crate) at: String,
}

/// The table of one world.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    better: Better,
    /// The unit of the last counted run; `None` if that run has no unit, or before the first one.
    pub(crate) unit: Option<String>,
    /// The best run of each student, the leader first.
    pub(crate) rows: Vec<Best>,
    /// Number of runs of each student, including the runs that do not count in the table.
    runs: BTreeMap<String, u32>,
}

/// The tables of all worlds, and the last changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standings {
    pub(crate) tables: Vec<Table>,
    /// The newest first.
    pub(crate) changes: VecDeque<Change>,
}

impl Standings {
    /// Empty tables.
    pub(crate) fn new(worlds: impl Iterator<Item = Better>) -> Standings {
        let table = |better| Table { better, unit: None, rows: Vec::new(), runs: BTreeMap::new() };
        Standings { tables: worlds.map(table).collect(), changes: VecDeque::new() }
    }

    /// Adds the result of a student in a world.
    pub(crate) fn add(&mut self, world: usize, key: &str, result: &RunResult) {
        let Some(table) = self.tables.get_mut(world) else { return };
        *table.runs.entry(key.to_owned()).or_default() += 1;
        let (Some(record), Some(session)) = (result.counted(), &result.session) else { return };
        table.unit.clone_from(&result.unit);
        let best =
            Best { key: key.to_owned(), record, session: session.clone(), at: result.ended_at.clone() };
        let Some((before, rank)) = table.place(best) else { return };
        self.changes.push_front(Change {
            key: key.to_owned(),
            world,
            record,
            before,
            rank,
            at: result.ended_at.clone(),
        });
        self.changes.truncate(MAX_CHANGES);
    }

    /// The rank of a run; `None` if it is not the best one of its student.
    pub(crate) fn rank_of(&self, world: usize, session: &str) -> Option<u32> {
        let rows = &self.tables.get(world)?.rows;
        rows.iter().position(|row| row.session == session).map(|at| at as u32 + 1)
    }
}

impl Table {
    /// Number of runs of a student.
    pub(crate) fn runs(&self, key: &str) -> u32 {
        self.runs.get(key).copied().unwrap_or(0)
    }

    /// Puts a run into the table if it is the best one of its student. Returns the earlier record
    /// of the student (`None` before the first one) and the new rank. Returns `None` if the run is
    /// not the best one.
    fn place(&mut self, best: Best) -> Option<(Option<f64>, u32)> {
        let own = self.rows.iter().position(|row| row.key == best.key);
        let before = own.map(|own| self.rows[own].record);
        if before.is_some_and(|before| !self.is_better(best.record, before)) {
            return None;
        }
        if let Some(own) = own {
            self.rows.remove(own);
        }
        // Other students with the same record reached it earlier, and therefore stay ahead.
        let at = self.rows.partition_point(|row| !self.is_better(best.record, row.record));
        self.rows.insert(at, best);
        Some((before, at as u32 + 1))
    }

    fn is_better(&self, a: f64, b: f64) -> bool {
        let order = a.total_cmp(&b);
        order == if self.better == Better::Lower { Ordering::Less } else { Ordering::Greater }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_wire::SubmissionVerdict;
    use serde_json::json;

    fn run(record: f64, session: &str) -> RunResult {
        RunResult {
            verdict: SubmissionVerdict::Finished,
            outcome: None,
            record: json!(record),
            unit: Some("s".to_owned()),
            line: String::new(),
            output: Vec::new(),
            verified: true,
            ended_at: format!("at {session}"),
            session: Some(session.to_owned()),
        }
    }

    fn rows(standings: &Standings) -> Vec<(&str, f64, &str)> {
        let rows = standings.tables[0].rows.iter();
        rows.map(|row| (row.key.as_str(), row.record, row.session.as_str())).collect()
    }

    #[test]
    fn the_best_run_of_each_student_counts() {
        let mut all = Standings::new([Better::Lower].into_iter());
        for (key, record, session) in [
            ("ada", 20.0, "a"),
            ("bob", 18.0, "b"),
            ("ada", 25.0, "c"),
            ("ada", 17.5, "d"),
            ("eve", 18.0, "e"),
        ] {
            all.add(0, key, &run(record, session));
        }
        assert_eq!(rows(&all), [("ada", 17.5, "d"), ("bob", 18.0, "b"), ("eve", 18.0, "e")]);
        let changes: Vec<_> = all.changes.iter().map(|c| (c.key.as_str(), c.before, c.rank)).collect();
        let expected = [("eve", None, 3), ("ada", Some(20.0), 1), ("bob", None, 1), ("ada", None, 1)];
        assert_eq!(changes, expected);
        assert_eq!((all.rank_of(0, "d"), all.rank_of(0, "c")), (Some(1), None));
        assert_eq!(all.tables[0].runs("ada"), 3);
    }

    #[test]
    fn higher_records_lead_if_they_are_better() {
        let mut all = Standings::new([Better::Higher].into_iter());
        for (key, record, session) in [("ada", 20.0, "a"), ("bob", 30.0, "b"), ("ada", 10.0, "c")] {
            all.add(0, key, &run(record, session));
        }
        assert_eq!(rows(&all), [("bob", 30.0, "b"), ("ada", 20.0, "a")]);
    }

    #[test]
    fn other_runs_are_counted_only() {
        let mut all = Standings::new([Better::Lower].into_iter());
        all.add(0, "ada", &RunResult { verified: false, ..run(1.0, "a") });
        all.add(0, "ada", &RunResult { verdict: SubmissionVerdict::Timeout, ..run(1.0, "b") });
        all.add(0, "ada", &RunResult { record: json!("fast"), ..run(1.0, "c") });
        all.add(7, "ada", &run(1.0, "d"));
        assert_eq!((rows(&all).len(), all.changes.len(), all.tables[0].runs("ada")), (0, 0, 3));
    }

    #[test]
    fn changes_are_bounded() {
        let mut all = Standings::new([Better::Lower].into_iter());
        for i in 0..100 {
            all.add(0, "ada", &run(f64::from(100 - i), &i.to_string()));
        }
        assert_eq!((all.changes.len(), all.changes[0].record), (MAX_CHANGES, 1.0));
    }
}
