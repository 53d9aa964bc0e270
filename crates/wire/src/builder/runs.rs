//! Recorded runs that the rules of a project judge again.

use super::answers::ScriptError;
use crate::fields::{Body, Fields, Invalid};
use crate::num::Num;
use crate::verdict::Outcome;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Longest id of a session, in characters.
const MAX_SESSION: usize = 64;

/// Response of `GET /builder/projects/<id>/runs`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProjectRuns {
    /// At most 100 runs in worlds that have the name or the display name of the project, the newest
    /// first. Runs that can't be simulated again are left out.
    pub runs: Vec<ProjectRun>,
}

/// A recorded run.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProjectRun {
    /// Id of the session.
    pub session: String,
    /// Name of the world.
    pub world: String,
    /// Name of the student; null if it was not given.
    pub student: Option<String>,
    /// Command of the student's program; null if there was none.
    pub command: Option<String>,
    /// How the session ended.
    pub outcome: Outcome,
    /// The last record of the script that judged the run: any JSON value.
    pub record: Value,
    /// Start of the session, RFC 3339.
    pub started_at: String,
    /// Duration of the phase `running`, simulated seconds.
    pub elapsed_s: Num,
}

/// Request body of `POST /builder/projects/<id>/rejudge`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(as = RejudgeRequest)]
pub struct RejudgeRequestBody {
    /// Id of the session whose drive is judged.
    #[schema(min_length = 1, max_length = 64)]
    pub session: String,
}

/// Parsed form of [`RejudgeRequestBody`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejudgeRequest {
    /// Id of the session.
    pub session: String,
}

impl Body for RejudgeRequest {
    fn parse(fields: &Fields) -> Result<RejudgeRequest, Invalid> {
        let wrong = "session must be the id of a session; GET /sim/api/evaluation/records lists them";
        let session = fields.text("session", wrong)?.ok_or_else(|| Invalid::new(wrong))?;
        if session.is_empty() || session.chars().count() > MAX_SESSION {
            return Err(Invalid::new(wrong));
        }
        Ok(RejudgeRequest { session: session.to_owned() })
    }
}

/// Response of `POST /builder/projects/<id>/rejudge`: what the rules of the project say about the
/// drive of a recorded run. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RejudgedRun {
    /// Id of the session that was judged again.
    pub session: String,
    /// Name of the world of the run.
    pub world: String,
    /// Whether a world that is built from the project now equals the world of the run. Names, rules
    /// and the thumbnail of the world are not compared. The drive is judged in the world of the run
    /// in either case.
    pub same_world: bool,
    /// How the judging ended.
    pub outcome: Outcome,
    /// The last record of the script: any JSON value.
    pub record: Value,
    /// Why the judging ended; null after a normal finish.
    pub reason: Option<String>,
    /// Simulated seconds of the drive until the judging ended.
    pub elapsed_s: Num,
    /// The last lines that the script printed, at most 500.
    pub log: Vec<String>,
    /// Number of earlier lines that are not in `log`.
    pub omitted: u32,
    /// The error of the script; null if the script had no error.
    pub error: Option<ScriptError>,
    /// The verdict of the recorded run.
    pub before: EarlierVerdict,
}

/// The verdict of a recorded run.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct EarlierVerdict {
    /// How the session ended; null if it is not known.
    pub outcome: Option<Outcome>,
    /// The last record: any JSON value.
    pub record: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_an_id_of_at_most_64_characters() {
        let parse = |body: &str| RejudgeRequest::parse(&Fields::read(body.as_bytes()).expect("JSON"));
        assert_eq!(parse(r#"{"session": "abc"}"#), Ok(RejudgeRequest { session: "abc".to_owned() }));
        let long = format!(r#"{{"session": "{}"}}"#, "x".repeat(65));
        for wrong in ["{}", r#"{"session": ""}"#, r#"{"session": 3}"#, &long] {
            let error = parse(wrong).expect_err(wrong).0;
            assert!(error.starts_with("session must be the id of a session"), "{error}");
        }
    }
}
