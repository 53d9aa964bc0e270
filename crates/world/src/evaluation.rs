//! How a run is judged: the two evaluation files of a bundle, as they are.

use crate::error::Error;

/// The evaluation of a world.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Version of the document.
    pub version: i64,
    /// The config object as JSON text, unknown keys included, compact.
    pub config_json: String,
    /// What a run is about.
    pub description: String,
    /// Which records are better.
    pub better: Better,
    /// Simulated seconds.
    pub time_limit_s: f64,
    /// Robot generation it is made for.
    pub robot: String,
    /// The judging script, Python.
    pub script: String,
}

/// Which records are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Lap times.
    Lower,
    /// Points.
    Higher,
}

impl Evaluation {
    /// Reads the two files of an evaluation.
    pub fn from_files(
        json_file: &str,
        _json: &[u8],
        _script_file: &str,
        _script: &[u8],
    ) -> Result<Evaluation, Error> {
        Err(Error::file(json_file, "evaluations can't be read yet"))
    }
}
