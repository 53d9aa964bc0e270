//! The leaderboard: its tables, and the submissions that students hand in.

use crate::num::Num;
use crate::verdict::{Better, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Largest submission, in bytes.
pub const MAX_SUBMISSION: usize = 16 << 20;

/// Response of `GET /leaderboard`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Leaderboard {
    /// Whether the names are pseudonyms.
    pub anonymous: bool,
    /// Names of the worlds of the contest.
    pub worlds: Vec<String>,
    /// Seed of all runs.
    pub seed: u64,
    /// One table for each world.
    pub tables: Vec<LeaderboardTable>,
    /// The last runs that improved the result of a student, newest first.
    pub changes: Vec<LeaderboardChange>,
    /// The submissions that are not judged yet.
    pub queue: SubmissionQueue,
    /// Why submissions can't be judged at the moment; null if they can.
    pub problem: Option<String>,
}

/// The best runs of one world.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LeaderboardTable {
    /// Name of the world.
    pub world: String,
    /// Display name of the world.
    pub display: String,
    /// Whether a `lower` or a `higher` record is better.
    pub better: Better,
    /// Unit of the records; null if it is not known.
    pub unit: Option<String>,
    /// The best run of each student, the leader first.
    pub rows: Vec<LeaderboardRow>,
}

/// The best run of a student. A run counts only if it was verified, and if it finished with a
/// number as its record.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LeaderboardRow {
    /// Rank, from 1. Of two equal records, the earlier one is ahead.
    pub rank: u32,
    /// Name of the student, or the pseudonym.
    pub student: String,
    /// The record.
    pub record: Num,
    /// Id of the session, for the replay.
    pub session: String,
    /// End of the run, RFC 3339.
    pub at: String,
    /// Number of runs of this student in this world, including the runs that do not count.
    pub runs: u32,
}

/// A run that improved the result of a student.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LeaderboardChange {
    /// End of the run, RFC 3339.
    pub at: String,
    /// Name of the student, or the pseudonym.
    pub student: String,
    /// Name of the world.
    pub world: String,
    /// The new record.
    pub record: Num,
    /// The best record of the student before this run; null if this run gave the first one.
    pub before: Option<Num>,
    /// The rank after this run, from 1.
    pub rank: u32,
}

/// The submissions that are not judged yet.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SubmissionQueue {
    /// Number of submissions that wait.
    pub waiting: u32,
    /// The submission that is being judged; null if there is none.
    pub running: Option<RunningSubmission>,
}

/// The submission that is being judged.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunningSubmission {
    /// Name of the student, or the pseudonym.
    pub student: String,
    /// Name of the world in which the program drives.
    pub world: String,
    /// Simulated time of the run as a fraction of its time limit, 0 to 1.
    pub progress: Num,
}

/// Response of `POST /submissions`. It is sent after the submission was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SubmissionReceived {
    /// Always true.
    pub ok: bool,
    /// Id of the submission. The student needs the id to read the result, and nobody can guess it.
    pub id: String,
    /// The name in the tables: the name of the student, or the pseudonym.
    pub shown_as: String,
    /// Number of submissions that are judged before this one.
    pub position: u32,
    /// Names of the worlds that the program will drive in.
    pub worlds: Vec<String>,
}

/// The state of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubmissionState {
    /// Other submissions are judged before this one.
    Waiting,
    /// The submission is being judged.
    Running,
    /// All runs of the submission are over.
    Done,
    /// The submission can't be judged. The field `reason` of the submission says why.
    Failed,
}

/// Response of `GET /submissions/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Submission {
    /// Id of the submission.
    pub id: String,
    /// Name of the student.
    pub student: String,
    /// The name in the tables.
    pub shown_as: String,
    /// Time at which the submission was received, RFC 3339.
    pub received_at: String,
    /// The state.
    pub state: SubmissionState,
    /// Number of submissions that are judged before this one; null unless this one is waiting.
    pub position: Option<u32>,
    /// Name of the world in which the program drives; null unless the submission is being judged.
    pub world: Option<String>,
    /// Simulated time of the current run as a fraction of its time limit, 0 to 1; null unless the
    /// submission is being judged.
    pub progress: Option<Num>,
    /// Why the submission failed; null if it did not fail.
    pub reason: Option<String>,
    /// The results so far, in the order of the worlds.
    pub results: Vec<SubmissionResult>,
}

/// How a run of a submission ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubmissionVerdict {
    /// The script finished and set a record, and the program did not fail.
    Finished,
    /// The script finished, but it set no record or the program failed.
    Failed,
    /// The time limit passed.
    Timeout,
    /// The judging script failed.
    ScriptError,
    /// The run was stopped.
    Stopped,
    /// This simulator can't run the evaluation.
    Unsupported,
    /// The simulator failed, or the run could not be verified.
    Fault,
}

/// The result of a submission in one world.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SubmissionResult {
    /// Name of the world.
    pub world: String,
    /// How the run ended.
    pub verdict: SubmissionVerdict,
    /// How the session ended; null if there was no session.
    pub outcome: Option<Outcome>,
    /// The record of the script: any JSON value.
    pub record: Value,
    /// Unit of the record; null if it is not known.
    pub unit: Option<String>,
    /// What happened, in one line.
    pub reason: String,
    /// Rank in the table of the world; null if this is not the best run of the student.
    pub rank: Option<u32>,
    /// Number of students in the table of the world.
    pub of: u32,
    /// The last lines that the program printed.
    pub output_tail: Vec<String>,
    /// Id of the session, for the replay; null if there is no session.
    pub session: Option<String>,
}

/// Response of `GET /submissions`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SubmissionList {
    /// The submissions, newest first.
    pub submissions: Vec<Submission>,
    /// Whether there are older submissions, which are not listed.
    pub more: bool,
}
