//! Requests and responses of the evaluation API.

use crate::event::RecordedEvent;
use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use crate::state::RunState;
use crate::verdict::{Better, Outcome, Phase};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// Response of `GET /evaluation`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EvaluationDocument {
    /// Format version of the document.
    pub version: i64,
    /// Config, byte for byte as in the world's file.
    #[schema(value_type = Object)]
    pub config: Box<RawValue>,
    /// Source of the judging script, Python.
    pub script: String,
}

/// Request body of `POST /evaluation/start`.
#[derive(Debug, Clone, PartialEq, Default, ToSchema)]
#[schema(as = StartRequest)]
pub struct StartRequestBody {
    /// Shell command that runs the student's program. If omitted, the session only observes the
    /// car.
    #[schema(max_length = 1000, pattern = r"\S")]
    pub command: Option<String>,
    /// Time limit, simulated seconds; the world's own limit if omitted.
    #[schema(minimum = 1, maximum = 3600)]
    pub time_limit_s: Option<f64>,
    /// Seed of all random streams; 0 if omitted.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991i64)]
    pub seed: Option<u64>,
}

/// Parsed form of [`StartRequestBody`].
#[derive(Debug, Clone, PartialEq)]
pub struct StartRequest {
    /// Shell command that runs the student's program.
    pub command: Option<String>,
    /// Time limit, simulated seconds.
    pub time_limit_s: Option<f64>,
    /// Seed of all random streams.
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

/// Response of `POST /evaluation/stop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Stopped {
    /// Always true.
    pub ok: bool,
    /// Whether a session was running.
    pub stopped: bool,
}

/// Response of `POST /evaluation/start`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Started {
    /// Always true.
    pub ok: bool,
    /// The session at its start.
    pub session: Session,
}

/// Response of `GET /evaluation/session`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CurrentSession {
    /// Whether a session is active.
    pub active: bool,
    /// The active session, or else the most recent one; null if there was none.
    pub session: Option<Session>,
}

/// Current state of a session.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Session {
    /// Id of the session.
    pub id: String,
    /// Name of the world.
    pub world: String,
    /// Id of the published world; null for a built-in world.
    pub world_id: Option<String>,
    /// Revision of the published world; null for a built-in world.
    pub rev: Option<String>,
    /// The phase of the session.
    pub phase: Phase,
    /// How the session ended; null while it is active.
    pub outcome: Option<Outcome>,
    /// The latest record of the script: any JSON value.
    pub record: Value,
    /// Why the session ended; null while it is active or after a normal finish.
    pub reason: Option<String>,
    /// Whether a `lower` or a `higher` record is better.
    pub better: Better,
    /// Command of the student's program; null without one.
    pub command: Option<String>,
    /// Time limit, simulated seconds.
    pub time_limit_s: Num,
    /// Seed of all random streams.
    pub seed: u64,
    /// Start of the session, RFC 3339.
    pub started_at: String,
    /// Simulated seconds since the phase `running` began.
    pub elapsed_s: Num,
    /// State of the student's program.
    pub run: RunState,
    /// The last 200 lines that the script printed.
    pub log: Vec<String>,
}

/// Response of `GET /evaluation/record`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Record {
    /// Id of the session.
    pub session: String,
    /// How the session ended; null while it is active.
    pub outcome: Option<Outcome>,
    /// The latest record of the script: any JSON value.
    pub record: Value,
    /// Why the session ended; null while it is active or after a normal finish.
    pub reason: Option<String>,
    /// Whether a `lower` or a `higher` record is better.
    pub better: Better,
    /// Name of the world.
    pub world: String,
    /// Id of the published world; null for a built-in world.
    pub world_id: Option<String>,
    /// Revision of the published world; null for a built-in world.
    pub rev: Option<String>,
    /// Command of the student's program; null without one.
    pub command: Option<String>,
    /// Time limit, simulated seconds.
    pub time_limit_s: Num,
    /// Seed of all random streams.
    pub seed: u64,
    /// Start of the session, RFC 3339.
    pub started_at: String,
    /// End of the session, RFC 3339; null while it is active.
    pub ended_at: Option<String>,
    /// Simulated seconds since the phase `running` began.
    pub elapsed_s: Num,
    /// The judging script and its statistics.
    pub judge: JudgeWork,
    /// Events of the session in order; omitted in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<RecordedEvent>>)]
    pub events: Option<Vec<Box<RawValue>>>,
}

/// A judging script and its statistics.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct JudgeWork {
    /// SHA-256 of the script, hex.
    pub sha256: String,
    /// Number of observations that the script evaluated.
    pub observations: u64,
    /// Total real seconds that the simulation waited for the script.
    pub wait_s: Num,
}

/// Response of `GET /evaluation/records`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RecordList {
    /// Records without their events, newest first.
    pub records: Vec<Record>,
    /// Value for the parameter `cursor` to get the next page; null on the last page.
    pub next: Option<String>,
}
