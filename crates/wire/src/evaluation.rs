//! Evaluation of a run.

use crate::fields::{Body, Fields, Invalid};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// Answer of `GET /evaluation`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EvaluationDocument {
    /// Version of the document.
    pub version: i64,
    /// Config as its author wrote it.
    #[schema(value_type = Object)]
    pub config: Box<RawValue>,
    /// The judging script, Python.
    pub script: String,
}

/// Body of `POST /evaluation/start`.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
#[schema(as = StartRequest)]
pub struct StartRequestBody {
    /// Command that runs the student's program; without one the run is only observed.
    #[schema(max_length = 1000, pattern = r"\S")]
    pub command: Option<String>,
    /// Simulated seconds; the world's own limit if omitted.
    #[schema(minimum = 1, maximum = 3600)]
    pub time_limit_s: Option<f64>,
    /// Seed of every random stream; 0 if omitted.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991i64)]
    pub seed: Option<u64>,
}

/// How a session is to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct StartRequest {
    /// Command that runs the student's program.
    pub command: Option<String>,
    /// Simulated seconds.
    pub time_limit_s: Option<f64>,
    /// Seed of every random stream.
    pub seed: u64,
}

impl Body for StartRequest {
    fn parse(fields: &Fields) -> Result<StartRequest, Invalid> {
        let wrong = "invalid command";
        let command = fields.text("command", wrong)?;
        if command.is_some_and(|c| c.trim().is_empty() || c.chars().count() > 1000 || c.contains('\0')) {
            return Err(Invalid::new(wrong));
        }
        Ok(StartRequest {
            command: command.map(str::to_owned),
            time_limit_s: fields.number_within("time_limit_s", 1.0, 3600.0)?,
            seed: fields.whole_within("seed", 0, (1 << 53) - 1)?.unwrap_or(0),
        })
    }
}

/// Answer of `POST /evaluation/stop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Stopped {
    /// Always true.
    pub ok: bool,
    /// Whether there was a session to stop.
    pub stopped: bool,
}

/// Answer of `GET /evaluation/session`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CurrentSession {
    /// Whether a session is under way.
    pub active: bool,
    /// The session, or the last one; null if there was none.
    #[schema(value_type = Option<Object>)]
    pub session: Option<serde_json::Value>,
}
