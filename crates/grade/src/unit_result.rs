//! The result of one unit: a folder with `result.json`, and with `run.chicane` if the run was kept.
//!
//! The folder appears complete or not at all: its files are written and synchronised in a temporary
//! folder beside it, which is then renamed. If a folder does not belong to its unit or is damaged,
//! it is ignored, and the unit runs again.

use crate::plan::{FORMAT, Unit};
use chicane_store::Sum;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Name of the file of the run.
pub const RUN: &str = "run.chicane";
const RESULT: &str = "result.json";
/// Largest result, in bytes.
const MAX_RESULT: u64 = 64 << 20;
/// Maximum number of penalties that are kept.
const MAX_PENALTIES: usize = 200;

/// The result of one unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitResult {
    /// The version of the format.
    pub format: u32,
    /// Id of the unit.
    pub unit: String,
    /// Hash of the unit.
    pub hash: String,
    /// How the run ended: `finished`, `failed`, `timeout`, `script error`, `stopped`, `unsupported`
    /// or `fault` (the simulator failed).
    pub verdict: String,
    /// The end of the run in one line.
    pub line: String,
    /// The record of the run without its events.
    pub record: Value,
    /// Penalties of the judging script.
    pub penalties: Vec<Penalty>,
    /// SHA-256 and size of the file of the run; null if there is none.
    pub run: Option<RunFile>,
    /// Why there is no file of the run; null if there is one.
    pub run_problem: Option<String>,
}

/// The file of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// SHA-256, hex.
    pub sha256: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// A line of the judging script with an amount, such as `the car left the road, +5 s`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Penalty {
    /// Simulated seconds since the start of the run.
    pub time: f64,
    /// The first 300 characters of the line.
    pub text: String,
}

/// Why a result can't be stored.
#[derive(Debug, thiserror::Error)]
#[error("can't write {}: {source}", path.display())]
pub struct StoreResultError {
    path: PathBuf,
    source: std::io::Error,
}

impl UnitResult {
    /// The result of a unit, without the file of its run. The events are removed from the record.
    pub fn new(unit: &Unit, verdict: &str, line: &str, mut record: Value) -> UnitResult {
        let events = record.as_object_mut().and_then(|record| record.remove("events")).unwrap_or_default();
        UnitResult {
            format: FORMAT,
            unit: unit.id.clone(),
            hash: unit.hash.clone(),
            verdict: verdict.to_owned(),
            line: line.to_owned(),
            penalties: penalties(&events),
            record,
            run: None,
            run_problem: None,
        }
    }

    /// Stores the result, and the file of its run, as the folder `to`. If another process has
    /// already stored the same unit, its folder is kept.
    pub fn store(mut self, to: &Path, run: Result<&[u8], String>) -> Result<(), StoreResultError> {
        match &run {
            Ok(bytes) => {
                self.run = Some(RunFile { sha256: Sum::of(bytes).hex(), bytes: bytes.len() as u64 });
            }
            Err(why) => self.run_problem = Some(why.clone()),
        }
        let mut beside = to.as_os_str().to_owned();
        beside.push(format!(".{}.part", std::process::id()));
        let beside = PathBuf::from(beside);
        let stored = self.write(&beside, run.ok()).and_then(|()| match std::fs::rename(&beside, to) {
            Err(_) if UnitResult::load_hash(to, &self.hash).is_some() => Ok(()),
            Err(error) if !to.exists() => Err(error),
            // The rename fails if `to` is not an empty folder. The folder at `to` has no valid
            // result of this unit, so it is replaced.
            Err(_) => std::fs::remove_dir_all(to).and_then(|()| std::fs::rename(&beside, to)),
            Ok(()) => Ok(()),
        });
        let _ = std::fs::remove_dir_all(&beside);
        // Synchronising the parent folder makes the new name survive a power cut.
        let above = to.parent().and_then(|above| std::fs::File::open(above).ok());
        let _ = above.map(|above| above.sync_all());
        stored.map_err(|source| StoreResultError { path: to.to_owned(), source })
    }

    fn write(&self, folder: &Path, run: Option<&[u8]>) -> std::io::Result<()> {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder)?;
        let put = |name: &str, bytes: &[u8]| -> std::io::Result<()> {
            let mut file = std::fs::File::create(folder.join(name))?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        if let Some(run) = run {
            put(RUN, run)?;
        }
        put(RESULT, &serde_json::to_vec_pretty(self)?)
    }

    /// The stored result of a unit. `None` if there is none, if it is damaged, or if it belongs to
    /// another unit.
    pub fn load(folder: &Path, unit: &Unit) -> Option<UnitResult> {
        UnitResult::load_hash(folder, &unit.hash)
    }

    fn load_hash(folder: &Path, hash: &str) -> Option<UnitResult> {
        let file = folder.join(RESULT);
        let size = std::fs::symlink_metadata(&file).ok().filter(std::fs::Metadata::is_file)?.len();
        let bytes = (size <= MAX_RESULT).then(|| std::fs::read(&file).ok()).flatten()?;
        let result: UnitResult = serde_json::from_slice(&bytes).ok()?;
        let has_run = result.run.as_ref().is_none_or(|run| {
            std::fs::symlink_metadata(folder.join(RUN)).is_ok_and(|found| found.len() == run.bytes)
        });
        (result.format == FORMAT && result.hash == hash && has_run).then_some(result)
    }

    /// The value of the record, if it is a number.
    pub fn number(&self) -> Option<f64> {
        self.record["record"].as_f64().filter(|number| number.is_finite())
    }
}

/// The penalties: the lines of a judging script that have a signed amount.
fn penalties(events: &Value) -> Vec<Penalty> {
    let lines = events.as_array().into_iter().flatten().filter(|event| event["kind"] == "log");
    let penalties = lines.filter_map(|event| {
        let text = event["line"].as_str().filter(|line| has_amount(line))?;
        Some(Penalty { time: event["time"].as_f64().unwrap_or(0.0), text: text.chars().take(300).collect() })
    });
    penalties.take(MAX_PENALTIES).collect()
}

/// Whether a line has an amount with a plus sign, such as `+5 s` or `+ 5 s`. The plus sign is the
/// first character of the line, or it follows white space or one of `,`, `;`, `:` and `(`. The
/// first character after the plus sign that is not a space is a digit.
fn has_amount(line: &str) -> bool {
    line.match_indices('+').any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + 1..].trim_start_matches(' ').chars().next();
        before.is_none_or(|c| c.is_whitespace() || ",;:(".contains(c))
            && after.is_some_and(|c| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn unit() -> Unit {
        let [id, student, world, hash] = ["a/oval/1", "a", "oval", "abc"].map(str::to_owned);
        Unit { id, student, world, seed: 1, hash }
    }

    #[test]
    fn a_result_is_stored_whole_and_a_damaged_one_is_not_used() {
        let folder = std::env::temp_dir().join(format!("chicane-unit-result-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let events = json!([
            {"kind": "log", "time": 1.5, "line": "1.50 s: the car left the road, +5 s"},
            {"kind": "log", "time": 2.0, "line": "a+5"},
            {"kind": "run", "time": 2.0, "line": "+5"},
        ]);
        let result =
            || UnitResult::new(&unit(), "finished", "ok", json!({"record": 5, "events": events.clone()}));
        result().store(&folder, Ok(b"run")).expect("stored");
        let loaded = UnitResult::load(&folder, &unit()).expect("a result");
        assert_eq!(loaded.penalties.len(), 1);
        assert_eq!((loaded.number(), loaded.record.get("events")), (Some(5.0), None));
        // The same unit is stored again, as a second process would do it. The first result stays.
        result().store(&folder, Ok(b"another")).expect("stored");
        assert_eq!(UnitResult::load(&folder, &unit()), Some(loaded));
        std::fs::write(folder.join(RUN), "torn off").expect("written");
        assert_eq!(UnitResult::load(&folder, &unit()), None);
        result().store(&folder, Err("no journal".to_owned())).expect("stored");
        let loaded = UnitResult::load(&folder, &unit()).expect("a result");
        assert_eq!(loaded.run_problem.as_deref(), Some("no journal"));
        let other = Unit { hash: "def".to_owned(), ..unit() };
        assert_eq!(UnitResult::load(&folder, &other), None);
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
