//! Requests and responses of the evaluation API.

use crate::event::RecordedEvent;
use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use crate::program_files::{ProgramFiles, files_schema};
use crate::state::RunState;
use crate::vary::Variation;
use crate::verdict::{Better, BoxKind, CommandSource, Outcome, Pace, Phase, StudentNetwork};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Largest limit of the real time of a run, in seconds: one day.
const MAX_WALL_LIMIT_S: f64 = 86_400.0;

/// Response of `GET /evaluation`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EvaluationDocument {
    /// Format version of the document.
    pub version: i64,
    /// Config as in the world's file, without the whitespace between its tokens. Its field `vary`
    /// says what a seed changes.
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
    /// Real seconds after which the run is stopped; `max(120, 5 × time_limit_s)` if omitted.
    #[schema(minimum = 1, maximum = 86_400)]
    pub wall_limit_s: Option<f64>,
    /// How simulated time advances; if omitted, as the simulator's option `--pace` says.
    pub pace: Option<Pace>,
    /// Name of the student, for the record.
    #[schema(max_length = 200)]
    pub student: Option<String>,
    /// The files of the program, at most 32 texts by their relative paths. The command then runs in
    /// a folder with these files. If omitted, the command runs in the workspace.
    #[schema(schema_with = files_schema)]
    pub files: Option<BTreeMap<String, String>>,
}

/// Parsed form of [`StartRequestBody`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StartRequest {
    /// Shell command that runs the student's program.
    pub command: Option<String>,
    /// Time limit, simulated seconds; `None` for the limit of the world.
    pub time_limit_s: Option<f64>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Real seconds after which the run is stopped; `None` for the default of
    /// [`StartRequest::wall_limit`].
    pub wall_limit_s: Option<f64>,
    /// How simulated time advances; `None` for the simulator's own setting.
    pub pace: Option<Pace>,
    /// Name of the student.
    pub student: Option<String>,
    /// The files of the program; `None` for the workspace.
    pub files: Option<ProgramFiles>,
}

impl StartRequest {
    /// Real seconds after which a run with this time limit (in simulated seconds) is stopped.
    pub fn wall_limit(&self, time_limit_s: f64) -> f64 {
        self.wall_limit_s.unwrap_or_else(|| (5.0 * time_limit_s).clamp(120.0, MAX_WALL_LIMIT_S))
    }
}

impl Body for StartRequest {
    fn parse(fields: &Fields) -> Result<StartRequest, Invalid> {
        let wrong = "invalid command";
        let command = fields.text("command", wrong)?;
        if command.is_some_and(|c| c.trim().is_empty() || c.chars().count() > 1000 || c.contains('\0')) {
            return Err(Invalid::new(wrong));
        }
        let wrong_student = "student must be a text of at most 200 characters without control characters";
        let student = fields.text("student", wrong_student)?;
        if student.is_some_and(|s| s.chars().count() > 200 || s.chars().any(char::is_control)) {
            return Err(Invalid::new(wrong_student));
        }
        let wrong_pace = "pace must be real or virtual";
        let pace = fields.text("pace", wrong_pace)?;
        let pace = pace.map(|word| Pace::from_name(word).ok_or_else(|| Invalid::new(wrong_pace)));
        let files = ProgramFiles::parse(fields)?;
        if files.is_some() && command.is_none() {
            return Err(Invalid::new("files need a command, such as python3 main.py"));
        }
        Ok(StartRequest {
            files,
            wall_limit_s: fields.number_within("wall_limit_s", 1.0, MAX_WALL_LIMIT_S)?,
            pace: pace.transpose()?,
            student: student.filter(|s| !s.trim().is_empty()).map(str::to_owned),
            command: command.map(str::to_owned),
            time_limit_s: fields.number_within("time_limit_s", 1.0, 3600.0)?,
            seed: fields.whole_within("seed", 0, (1 << 53) - 1)?.unwrap_or(0),
        })
    }
}

/// Request body of `POST /evaluation/run`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(as = RunRequest)]
pub struct RunRequestBody {
    /// Shell command that runs the student's program.
    #[schema(max_length = 1000, example = "python3 run.py")]
    pub command: String,
    /// The files of the program, at most 32 texts by their relative paths. If omitted, the command
    /// runs in the workspace.
    #[schema(schema_with = files_schema)]
    pub files: Option<BTreeMap<String, String>>,
}

/// Parsed form of [`RunRequestBody`]: the request to start a session that is not judged.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest(pub StartRequest);

impl Body for RunRequest {
    fn parse(fields: &Fields) -> Result<RunRequest, Invalid> {
        let StartRequest { command, files, .. } = StartRequest::parse(fields)?;
        let command = Some(command.ok_or_else(|| Invalid::new("invalid command"))?);
        Ok(RunRequest(StartRequest { command, files, ..StartRequest::default() }))
    }
}

/// Response of `GET /evaluation/run` without `session`: the state of the last program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProgramState {
    /// Whether the program is running.
    pub running: bool,
    /// Exit code, or the negated number of the signal that ended the program; null before the exit.
    pub exit_code: Option<i32>,
    /// Command of the program; null if there was none.
    pub command: Option<String>,
    /// Id of the session of the program; null if there was none.
    pub session: Option<String>,
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
    /// Id of the published world; null for every other world.
    pub world_id: Option<String>,
    /// Revision of a published world, or of the world of a project; null for every other world.
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
    /// Command of the student's program; null without a program.
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
    /// Number of commands that neither the judged program nor the judging script sent.
    pub interference: u64,
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
    /// Id of the published world; null for every other world.
    pub world_id: Option<String>,
    /// Revision of a published world, or of the world of a project; null for every other world.
    pub rev: Option<String>,
    /// Command of the student's program; null without a program.
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
    /// What was judged, and how.
    #[serde(flatten)]
    pub identity: RecordIdentity,
    /// What happened during the run besides the judgement.
    #[serde(flatten)]
    pub report: RunReport,
    /// Events of the session in order; omitted in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<RecordedEvent>>)]
    pub events: Option<Vec<Box<RawValue>>>,
}

/// What was judged, and how: the part of a record that is known at the start of its session.
/// Records of older versions have null for every field.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct RecordIdentity {
    /// Name of the student; null if it was not given.
    pub student: Option<String>,
    /// Checksum, number and size of the files of the student's program at its start; null without a
    /// program.
    pub program: Option<ProgramIdentity>,
    /// The version of the simulator.
    pub chicane: Option<ProgramVersion>,
    /// SHA-256 of the car's profile, hex.
    pub profile_sha256: Option<String>,
    /// SHA-256 of the world's files, hex.
    pub world_sha256: Option<String>,
    /// How simulated time advanced.
    pub pace: Option<Pace>,
    /// Why the pace is not the requested one; null if it is the requested one.
    pub pace_reason: Option<String>,
    /// The isolation of the student's program; null without a program.
    #[serde(rename = "box")]
    pub box_kind: Option<BoxKind>,
    /// What the student's program could reach besides the simulator; null without a program.
    pub network: Option<StudentNetwork>,
    /// Real seconds after which the run is stopped.
    pub wall_limit_s: Option<Num>,
    /// What the seed changed in the world; null if nothing.
    pub variation: Option<Variation>,
}

/// The files of a student's program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct ProgramIdentity {
    /// SHA-256 over the path, the kind (plain, executable or link) and the content of every file,
    /// hex.
    pub sha256: String,
    /// Number of files.
    pub files: u64,
    /// Size of all files, bytes.
    pub bytes: u64,
}

/// The version of the simulator.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct ProgramVersion {
    /// The released version.
    pub version: String,
    /// The commit that the program was built from; null if it was built without its repository.
    pub commit: Option<String>,
}

/// What happened during a run besides the judgement: the part of a record that is known at its end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct RunReport {
    /// How the student's program ended; null without a program.
    pub run: Option<RunResult>,
    /// Commands that neither the judged program nor the judging script sent.
    #[schema(required)]
    pub interference: SentCommands,
    /// Requests of the judged program that were not allowed.
    #[schema(required)]
    pub refused: SentCommands,
    /// The journal of the run; null if there is none.
    pub journal: Option<JournalIdentity>,
}

/// How a student's program ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct RunResult {
    /// Exit status; null if a signal ended the program, or if it still ran at the end.
    pub exit_code: Option<i32>,
    /// Number of the signal that ended the program; null if it exited, or if it still ran at the
    /// end.
    pub signal: Option<i32>,
    /// Whether the kernel ended a process of the program because the program reached its memory
    /// limit.
    pub oom: bool,
    /// The last 40 lines that the program wrote to standard output and standard error.
    pub output_tail: Vec<String>,
}

/// The number of commands, and the first 20 of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct SentCommands {
    /// Number of commands.
    pub count: u64,
    /// The first 20 commands.
    pub first: Vec<SentCommand>,
}

/// A command and its sender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SentCommand {
    /// Simulated seconds since the phase `running` began.
    pub time: Num,
    /// The sender.
    pub source: CommandSource,
    /// Path of the request, or name of the ROS topic.
    pub path: String,
    /// Parameters of the command.
    #[schema(value_type = Object)]
    pub values: Value,
}

/// The journal of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JournalIdentity {
    /// SHA-256 of the journal, hex.
    pub sha256: String,
    /// Size of the journal, bytes.
    pub bytes: u64,
    /// Why the run can't be verified; omitted if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl SentCommands {
    /// Largest number of commands in `first`. Further commands are only counted.
    pub const KEPT: usize = 20;

    /// Counts a command. The command itself is kept only if it is one of the first
    /// [`SentCommands::KEPT`].
    pub fn add(&mut self, command: impl FnOnce() -> SentCommand) {
        self.count += 1;
        if self.first.len() < SentCommands::KEPT {
            self.first.push(command());
        }
    }
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
