//! Recorded runs: lists them, and judges one run again by the current rules of a project.
//!
//! One run is judged at a time, on a blocking thread with a limit of real time. The running simulator
//! is not involved: the run is simulated again from its journal, and nothing is stored. When the
//! client disconnects, the handler is dropped and the judging stops.

use super::refusal::Refusal;
use super::{PathParts, short};
use crate::access::refusal;
use crate::body::{read_json, read_upload};
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, header};
use chicane_host::evaluation::{Evaluations, StoredRecord};
use chicane_replay::{RecordedRun, Rejudged, Rejudging, ReplayError};
use chicane_store::{Library, StoreError};
use chicane_studio::ProjectRules;
use chicane_wire::{
    EarlierVerdict, ErrorBody, ErrorCode, Num, Octets, Outcome, ProjectId, ProjectRun, ProjectRuns, Record,
    RejudgeRequest, RejudgeRequestBody, RejudgedRun, Role, ScriptError, WorldId,
};
use serde_json::Value;
use std::sync::Arc;

/// Largest number of listed runs.
const MAX_RUNS: usize = 100;
/// Real seconds after which a judging is stopped.
const WALL_LIMIT_S: f64 = 120.0;
/// Largest uploaded run, in bytes.
const MAX_UPLOAD: usize = 64 << 20;
/// Largest size of an unpacked run, in bytes: journal, record and world.
const MAX_UNPACKED: u64 = 256 << 20;
/// Largest number of log lines in a response.
const MAX_LOG_LINES: usize = 500;
/// Largest size of all log lines in a response, in bytes.
const MAX_LOG_BYTES: usize = 256 << 10;

/// Lists the recorded runs that the rules of a project can judge.
///
/// If the simulator has tokens, only the teacher's token permits this request.
#[utoipa::path(get, path = "/builder/projects/{id}/runs", tag = "World builder", operation_id = "builder_runs",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")), responses(
    (status = 200, body = ProjectRuns),
    (status = 404, body = ErrorBody, description = "No such project"),
))]
pub(super) async fn list(
    State(app): State<App>,
    Extension(role): Extension<Role>,
    path: PathParts,
) -> Result<Json<ProjectRuns>, Refusal> {
    if role < Role::Teacher {
        return Err(refusal(Role::Teacher).into());
    }
    let id = path.project()?;
    let (evaluations, library) = (Arc::clone(&app.evaluations), Arc::clone(&app.loader.library));
    let runs = short(&app, move |studio| {
        let (name, display_name) = studio.names(&id)?;
        let runs = runs_of(&evaluations, &worlds_of(&library, &name, &display_name));
        Ok::<_, Refusal>(runs.map_err(ReplayError::from).map_err(ApiError::from)?)
    });
    Ok(Json(ProjectRuns { runs: runs.await? }))
}

/// The names that the world of a project can have in a recorded run: the name of the project, the
/// name of the project's world while somebody drives in it, and the names of installed worlds with
/// the same display name.
fn worlds_of(library: &Library, name: &str, display_name: &str) -> Vec<String> {
    let is_published = |entry: &chicane_store::LibraryEntry| entry.world_id.is_some();
    let installed = library.entries().into_iter().filter(is_published);
    let installed = installed.filter(|entry| entry.display == display_name).map(|entry| entry.name);
    let mut names = vec![name.to_owned(), library.project_name(name)];
    names.extend(installed);
    names.sort();
    names.dedup();
    names
}

fn runs_of(evaluations: &Evaluations, worlds: &[String]) -> Result<Vec<ProjectRun>, StoreError> {
    let mut runs = Vec::new();
    for world in worlds {
        let page = evaluations.records(Some(world), None, None, MAX_RUNS)?;
        runs.extend(page.records.into_iter().filter_map(listed));
    }
    runs.sort_by(|a, b| b.started_at.cmp(&a.started_at));
    runs.truncate(MAX_RUNS);
    Ok(runs)
}

/// The entry of a run; `None` if the run is not over, or can't be simulated again from its journal.
fn listed(record: Record) -> Option<ProjectRun> {
    let outcome = record.outcome?;
    record.report.journal.filter(|journal| journal.problem.is_none())?;
    Some(ProjectRun {
        session: record.session,
        world: record.world,
        student: record.identity.student,
        command: record.command,
        outcome,
        record: record.record,
        started_at: record.started_at,
        elapsed_s: record.elapsed_s,
    })
}

/// Judges the drive of a recorded run by the rules of a project.
///
/// The script and the settings are those that the project has now; world, seed and time limit are
/// those of the run. One run is judged at a time. The judging stops after 120 s, and when the client
/// disconnects. Nothing is stored.
#[utoipa::path(post, path = "/builder/projects/{id}/rejudge", tag = "World builder", operation_id = "builder_rejudge",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")),
    request_body = RejudgeRequestBody, responses(
    (status = 200, body = RejudgedRun),
    (status = 404, body = ErrorBody, description = "No such project or session, or the project has no rules"),
    (status = 409, body = ErrorBody, description = "The run has no journal or was driven in another world, or this version simulates it in another way"),
    (status = 503, body = ErrorBody, description = "Another run is being judged, or judging scripts can't be run on this machine"),
))]
pub(super) async fn rejudge(
    State(app): State<App>,
    path: PathParts,
    request: Request,
) -> Result<Json<RejudgedRun>, Refusal> {
    let request: RejudgeRequest = read_json(request).await?;
    let id = path.project()?;
    let evaluations = Arc::clone(&app.evaluations);
    let load = move || {
        let found = evaluations.recorded(Some(&request.session), None)?.ok_or(ReplayError::NoRecord)?;
        let StoredRecord { record, journal, bundle } = found;
        Ok(RecordedRun::of_stored(&record, journal, bundle, &[])?)
    };
    judge(&app, id, load).await
}

/// Judges the drive of an uploaded run by the rules of a project.
///
/// The file comes from `GET /evaluation/run`, `chicane evaluate --save` or `chicane records
/// export`. Everything else is as with a recorded run of this simulator.
#[utoipa::path(post, path = "/builder/projects/{id}/rejudge/file", tag = "World builder", operation_id = "builder_rejudge_file",
    params(("id" = String, Path, description = "Id of a project", pattern = "^[0-9a-f]{16}$")),
    request_body(content = Octets, content_type = "application/octet-stream",
        description = "The file of a run (`run.chicane`), at most 64 MiB"),
    responses(
    (status = 200, body = RejudgedRun),
    (status = 404, body = ErrorBody, description = "No such project, or the project has no rules"),
    (status = 409, body = ErrorBody, description = "The file is not a run or was driven in another world, or this version simulates it in another way"),
    (status = 413, body = ErrorBody, description = "The file is too large"),
    (status = 415, body = ErrorBody, description = "The content type is not application/octet-stream"),
    (status = 503, body = ErrorBody, description = "Another run is being judged, or judging scripts can't be run on this machine"),
))]
pub(super) async fn rejudge_file(
    State(app): State<App>,
    path: PathParts,
    request: Request,
) -> Result<Json<RejudgedRun>, Refusal> {
    let declared = check_upload_type(request.headers());
    let bytes = read_upload(request, MAX_UPLOAD).await?;
    declared?;
    let id = path.project()?;
    judge(&app, id, move || Ok(RecordedRun::read_within(&bytes, MAX_UNPACKED)?)).await
}

/// Requires a content type that an HTML form can't send. Otherwise a form on a page of another site
/// could send such a request (CSRF).
fn check_upload_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let declared = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    if declared.split(';').next().unwrap_or("").trim().eq_ignore_ascii_case("application/octet-stream") {
        return Ok(());
    }
    let text = "send the file with Content-Type: application/octet-stream";
    Err(ApiError::new(ErrorCode::UnsupportedType, text))
}

async fn judge(
    app: &App,
    id: ProjectId,
    load: impl FnOnce() -> Result<RecordedRun, ReplayError> + Send + 'static,
) -> Result<Json<RejudgedRun>, Refusal> {
    let permit = Arc::clone(&app.rejudging).try_acquire_owned().map_err(|_| {
        ApiError::new(ErrorCode::Busy, "another recorded run is being judged; try again when it is done")
    })?;
    let (studio, finder) = (Arc::clone(&app.studio), Arc::clone(app.evaluations.finder()));
    let library = Arc::clone(&app.loader.library);
    let project = id.clone();
    let ProjectRules { name, display_name, script, config } =
        short(app, move |studio| studio.rules(&project)).await?;
    let mut rules = Rejudging::new(script);
    (rules.config, rules.wall_limit_s) = (Some(config), WALL_LIMIT_S);
    // When the client disconnects, this function is dropped, and `_stop` stops the judging.
    let (rules, _stop) = rules.stoppable().map_err(|error| ApiError::internal(error.to_string()))?;
    let work = tokio::task::spawn_blocking(move || {
        // The blocking thread owns the permit. Otherwise a cancelled request would free the permit
        // while the thread still works.
        let _permit = permit;
        let run = load().map_err(ApiError::from)?;
        check_world(&run, &worlds_of(&library, &name, &display_name), &name)?;
        let same_world = studio.is_world(&id, &run.bundle)?;
        // `studio` refers to the data folder. If this thread kept the reference, a judging that
        // still runs at shutdown would keep the folder open.
        drop(studio);
        let setting = finder.judge_setting()?;
        let judged = rules.judge(&run, &setting).map_err(|difference| {
            let text = format!("the run can't be simulated again by this version: {difference}");
            ApiError::new(ErrorCode::NoJournal, text)
        })?;
        Ok::<_, Refusal>(answer(&run, same_world, judged))
    });
    work.await.map_err(|error| ApiError::internal(error.to_string()))?.map(Json)
}

/// Refuses a run in the world of another project. A run in a published world is never refused,
/// because the name of that world contains only an id and not the name of the project.
fn check_world(run: &RecordedRun, worlds: &[String], own: &str) -> Result<(), ApiError> {
    let world = &run.journal.head.world;
    let is_published = world.strip_prefix("custom_").is_some_and(|id| WorldId::parse(id).is_some());
    if worlds.contains(world) || is_published {
        return Ok(());
    }
    let text = format!("the run was driven in the world \"{world}\", but the project is \"{own}\"");
    Err(ApiError::new(ErrorCode::OtherWorld, text))
}

fn answer(run: &RecordedRun, same_world: bool, judged: Rejudged) -> RejudgedRun {
    let (log, omitted) = log_of(&judged.events);
    let error = (judged.outcome == Outcome::ScriptError)
        .then(|| ScriptError { line: error_line(&log), text: judged.reason.clone().unwrap_or_default() });
    let before = EarlierVerdict {
        outcome: run.record["outcome"].as_str().and_then(Outcome::from_name),
        record: run.record["record"].clone(),
    };
    RejudgedRun {
        session: run.session().to_owned(),
        world: run.journal.head.world.clone(),
        same_world,
        outcome: judged.outcome,
        record: judged.record,
        reason: judged.reason,
        elapsed_s: Num(judged.elapsed_s),
        log,
        omitted,
        error,
        before,
    }
}

/// The last log lines among the events, and the number of lines that are left out.
fn log_of(events: &[String]) -> (Vec<String>, u32) {
    let lines = events.iter().rev().filter_map(|event| {
        let mut event: Value = serde_json::from_str(event).ok()?;
        if event["kind"] != "log" {
            return None;
        }
        match event["line"].take() {
            Value::String(line) => Some(line),
            _ => None,
        }
    });
    let (mut log, mut bytes, mut omitted) = (Vec::new(), 0, 0);
    for line in lines {
        bytes += line.len();
        if omitted == 0 && log.len() < MAX_LOG_LINES && bytes <= MAX_LOG_BYTES {
            log.push(line);
        } else {
            omitted += 1;
        }
    }
    log.reverse();
    (log, omitted)
}

/// The line at which the script failed: the last frame of the script in the traceback that the log
/// contains. `None` if the log contains no such frame.
fn error_line(log: &[String]) -> Option<u32> {
    log.iter().rev().find_map(|line| {
        let rest = line.trim_start().strip_prefix("File \"evaluation.py\", line ")?;
        rest.split(',').next()?.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> String {
        serde_json::json!({"kind": "log", "line": line}).to_string()
    }

    #[test]
    fn a_log_has_its_last_lines() {
        let mut events = vec![r#"{"kind": "record", "record": 3}"#.to_owned()];
        events.extend((0..MAX_LOG_LINES + 3).map(|i| event(&i.to_string())));
        let (log, omitted) = log_of(&events);
        assert_eq!((log.len(), omitted), (MAX_LOG_LINES, 3));
        assert_eq!((log[0].as_str(), log[MAX_LOG_LINES - 1].as_str()), ("3", "502"));
        let long = "x".repeat(MAX_LOG_BYTES);
        assert_eq!(log_of(&[event("a"), event(&long), event("b")]), (vec!["b".to_owned()], 2));
    }

    #[test]
    fn the_line_of_an_error_comes_from_the_traceback() {
        let lines = |all: &[&str]| all.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
        let traceback = [
            "Traceback (most recent call last):",
            "  File \"evaluation.py\", line 7, in evaluate",
            "    helper()",
            "  File \"evaluation.py\", line 3, in helper",
            "ZeroDivisionError: division by zero",
        ];
        assert_eq!(error_line(&lines(&traceback)), Some(3));
        assert_eq!(error_line(&lines(&["  File \"evaluation.py\", line 4"])), Some(4));
        assert_eq!(error_line(&lines(&["File \"other.py\", line 4", "line 3"])), None);
    }
}
