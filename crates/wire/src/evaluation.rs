//! Evaluation of a run.

use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use crate::state::RunState;
use serde::Serialize;
use serde_json::Value;
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

/// Answer of `POST /evaluation/start`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Started {
    /// Always true.
    pub ok: bool,
    /// The session, as it begins.
    pub session: Session,
}

/// Answer of `GET /evaluation/session`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CurrentSession {
    /// Whether a session is under way.
    pub active: bool,
    /// The session, or the last one; null if there was none.
    pub session: Option<Session>,
}

/// A session as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Name of the world.
    pub world: String,
    /// Id of the published world; null for built-in ones.
    pub world_id: Option<String>,
    /// Its revision.
    pub rev: Option<String>,
    /// `initializing`, `starting`, `running` or `ended`.
    pub phase: &'static str,
    /// How it ended; null while it goes on.
    pub outcome: Option<String>,
    /// The last record: any JSON value.
    pub record: Value,
    /// Why it ended.
    pub reason: Option<String>,
    /// `lower` or `higher`.
    pub better: String,
    /// The student's command.
    pub command: Option<String>,
    /// Simulated seconds.
    pub time_limit_s: Num,
    /// Of every random stream.
    pub seed: u64,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// Simulated seconds since it began to run.
    pub elapsed_s: Num,
    /// The student's program.
    pub run: RunState,
    /// The last 200 lines of the script's log.
    pub log: Vec<String>,
}

/// Answer of `GET /evaluation/record`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Record {
    /// Id of the session.
    pub session: String,
    /// How it ended; null while it goes on.
    pub outcome: Option<String>,
    /// The last record: any JSON value.
    pub record: Value,
    /// Why it ended.
    pub reason: Option<String>,
    /// `lower` or `higher`.
    pub better: String,
    /// Name of the world.
    pub world: String,
    /// Id of the published world; null for built-in ones.
    pub world_id: Option<String>,
    /// Its revision.
    pub rev: Option<String>,
    /// The student's command.
    pub command: Option<String>,
    /// Simulated seconds.
    pub time_limit_s: Num,
    /// Of every random stream.
    pub seed: u64,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// When it ended; null while it goes on.
    pub ended_at: Option<String>,
    /// Simulated seconds.
    pub elapsed_s: Num,
    /// The script and its work.
    pub judge: JudgeWork,
    /// The story, in order; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub events: Option<Vec<Box<RawValue>>>,
}

/// A script and its work.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct JudgeWork {
    /// Fingerprint of the script.
    pub sha256: String,
    /// How often it judged.
    pub observations: u64,
    /// How long the world waited for that, real seconds.
    pub wait_s: Num,
}

/// Answer of `GET /evaluation/records`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RecordList {
    /// The newest first, without their stories.
    pub records: Vec<Record>,
    /// For `cursor`, to go on; null at the end.
    pub next: Option<String>,
}
