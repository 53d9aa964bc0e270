//! Checks whether the role of a token permits a request. Every role may read, but the paths in
//! `TEACHER_READS` and `STUDENT_READS` need a greater role. Any other request needs the teacher's
//! role, unless the path belongs to the robot's API or to `STUDENT_PATHS`.
//!
//! Some handlers check the role again. For example, only a teacher may download a recorded run.

use crate::error::ApiError;
use axum::http::{HeaderMap, Method, header};
use chicane_wire::{ErrorCode, Role};

/// Paths outside of the robot's API that a student may POST to. `/switch` and `/respawn` refuse
/// every client while a session runs. `/evaluation/stop` refuses a student if the session in
/// progress was not started with the students' token.
const STUDENT_PATHS: [&str; 7] = [
    "/sim/api/step",
    "/sim/api/evaluation/start",
    "/sim/api/evaluation/run",
    "/sim/api/evaluation/stop",
    "/sim/api/switch",
    "/sim/api/respawn",
    "/sim/api/submissions",
];

/// Paths that only a teacher may read. The responses contain, in the order of the paths: a folder
/// of this machine, the names of the students behind the pseudonyms of the leaderboard, and private
/// worlds.
const TEACHER_READS: [&str; 3] = ["/sim/api/recording", "/sim/api/submissions", "/sim/api/builder/published"];

/// Paths that a spectator may not read, because their responses show programs.
const STUDENT_READS: [&str; 2] = ["/sim/api/workspace", "/sim/api/workspace/file"];

/// Refuses a request that the role does not permit.
pub(super) fn check(role: Role, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), ApiError> {
    let needed = needed(method, path, headers);
    if role >= needed { Ok(()) } else { Err(refusal(needed)) }
}

/// Refuses a command that arrives on a WebSocket if the role does not permit the POST request with
/// the same effect.
pub(crate) fn check_post(role: Role, path: &str) -> Result<(), ApiError> {
    check(role, &Method::POST, path, &HeaderMap::new())
}

/// The error for a request that needs a greater role.
pub(crate) fn refusal(needed: Role) -> ApiError {
    let text = match needed {
        Role::Teacher => "this needs the teacher's token",
        Role::Student | Role::Spectator => "this needs the students' or the teacher's token",
    };
    ApiError::new(ErrorCode::RoleForbids, text)
}

/// The smallest role that permits a request.
fn needed(method: &Method, path: &str, headers: &HeaderMap) -> Role {
    // A WebSocket begins with a GET request, but its messages are commands. Therefore such a
    // request does not count as reading. `/foxglove` is an exception, because its handler checks
    // each message.
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
        && (!headers.contains_key(header::UPGRADE) || path == crate::bridge::FOXGLOVE);
    if reads {
        return match path {
            _ if TEACHER_READS.contains(&path) => Role::Teacher,
            _ if STUDENT_READS.contains(&path) => Role::Student,
            _ => Role::Spectator,
        };
    }
    let posts = *method == Method::POST && STUDENT_PATHS.contains(&path);
    if posts || crate::robot::is_path(path) { Role::Student } else { Role::Teacher }
}
