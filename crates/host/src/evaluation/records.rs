//! Reads records from the database and converts them to responses. Closes records that a killed
//! simulator left open.

use super::current::{SHOWN_LOG_LINES, first_view};
use super::journal;
use super::record_writer::Unwritten;
use super::session_world::event_json;
use chicane_session::StopCause;
use chicane_store::{Data, SessionResult, SessionRow, StoreError, time};
use chicane_wire::{
    EvaluationKind, JudgeWork, Num, Outcome, Phase, Record, RecordList, Role, RunReport, RunState, Session,
};
use serde_json::Value;
use serde_json::value::RawValue;

/// Number of records in a page, if the client gives no number.
pub const RECORDS_PER_PAGE: usize = 50;

/// Closes sessions that were active when the simulator was killed.
pub(crate) fn close_unfinished(data: &Data) -> Result<(), StoreError> {
    let records = data.records();
    for row in records.unfinished()? {
        let (outcome, reason) = (Outcome::Stopped, StopCause::Restarted.to_string());
        let end = EvaluationKind::End { outcome, record: value(&row.record), reason: Some(reason.clone()) };
        let next_line = records.events(row.number)?.len() as u64;
        let (identity, journal) = journal::of_killed(records.journal(row.number)?);
        records.end(
            row.number,
            next_line,
            &[event_json(row.elapsed_s, &end)],
            &SessionResult {
                ended_at: time::now(),
                outcome,
                reason: Some(reason),
                record: row.record,
                elapsed_s: row.elapsed_s,
                observations: 0,
                wait_s: 0.0,
                report: RunReport { journal: identity, ..RunReport::default() },
            },
            journal.as_deref(),
        )?;
        tracing::warn!(
            session = row.start.id,
            "the simulator was killed during this evaluation, so its record is closed as stopped"
        );
    }
    Ok(())
}

/// A stored session with its events: the session `id`, or the last session if `id` is `None`. With
/// `by`, only sessions that were started with this role are found. `rest` is the end of a session
/// that is not on disk yet.
pub(super) fn stored(
    data: &Data,
    rest: Option<&Unwritten>,
    id: Option<&str>,
    by: Option<Role>,
) -> Result<Option<(SessionRow, Vec<String>)>, StoreError> {
    let Some(mut row) = data.records().session(id, by)? else { return Ok(None) };
    let mut events = data.records().events(row.number)?;
    if let Some(rest) = rest {
        rest.complete(&mut row, &mut events);
    }
    Ok(Some((row, events)))
}

/// The record of the session `id`, or of the last session if `id` is `None`. With `by`, only
/// sessions that were started with this role are found.
pub(super) fn record(
    data: &Data,
    rest: Option<&Unwritten>,
    id: Option<&str>,
    by: Option<Role>,
) -> Result<Option<Record>, StoreError> {
    Ok(stored(data, rest, id, by)?.map(|(row, events)| record_of(row, Some(events))))
}

/// The log line of an event; `None` if the event is not a log line.
fn log_line(event: &str) -> Option<String> {
    let event = value(event);
    event["line"].as_str().filter(|_| event["kind"] == "log").map(str::to_owned)
}

/// The last stored session, as clients see it; `None` if no session is stored.
pub(crate) fn last_session(data: &Data) -> Result<Option<Session>, StoreError> {
    let Some(row) = data.records().session(None, None)? else { return Ok(None) };
    let events = data.records().events(row.number)?;
    let mut log: Vec<String> =
        events.iter().rev().filter_map(|e| log_line(e)).take(SHOWN_LOG_LINES).collect();
    log.reverse();
    let exit =
        events.iter().rev().map(|event| value(event)).find(|e| e["kind"] == "run" && e["phase"] == "exit");
    let exit_code = exit.and_then(|event| i32::try_from(event["exit_code"].as_i64()?).ok());
    let mut session = first_view(&row.start);
    session.phase = Phase::Ended;
    session.record = value(&row.record);
    session.elapsed_s = Num(row.elapsed_s);
    session.run = RunState { running: false, exit_code };
    session.interference = row.result.as_ref().map_or(0, |result| result.report.interference.count);
    session.log = log;
    if let Some(result) = row.result {
        (session.outcome, session.reason) = (Some(result.outcome), result.reason);
    }
    Ok(Some(session))
}

/// A page of records, the newest first. The page has at most `limit` records with numbers below
/// `below`. If `world` is given, only records of this world are listed. If `by` is given, only
/// records of sessions that were started with this role are listed.
pub(super) fn list(
    data: &Data,
    rest: Option<&Unwritten>,
    world: Option<&str>,
    by: Option<Role>,
    below: Option<i64>,
    limit: usize,
) -> Result<RecordList, StoreError> {
    let mut rows = data.records().sessions(world, by, below, limit + 1)?;
    for row in &mut rows {
        if let Some(rest) = rest {
            rest.complete(row, &mut Vec::new());
        }
    }
    let next = rows.get(limit).and(rows.get(limit - 1)).map(|last| last.number.to_string());
    let records = rows.into_iter().take(limit).map(|row| record_of(row, None)).collect();
    Ok(RecordList { records, next })
}

/// Stored JSON as a value; null if it is damaged.
fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

/// The response for a stored session, with its events if they are given.
pub fn record_of(row: SessionRow, events: Option<Vec<String>>) -> Record {
    let raw_json =
        |all: Vec<String>| all.into_iter().filter_map(|event| RawValue::from_string(event).ok()).collect();
    let events = events.map(raw_json);
    let SessionRow { start, record, elapsed_s, result, .. } = row;
    Record {
        session: start.id,
        outcome: result.as_ref().map(|r| r.outcome),
        record: value(&record),
        reason: result.as_ref().and_then(|r| r.reason.clone()),
        better: start.better,
        world: start.world,
        world_id: start.world_id,
        rev: start.rev,
        command: start.command,
        time_limit_s: Num(start.time_limit_s),
        seed: start.seed,
        started_at: start.started_at,
        ended_at: result.as_ref().map(|r| r.ended_at.clone()),
        elapsed_s: Num(elapsed_s),
        judge: JudgeWork {
            sha256: start.sha256,
            observations: result.as_ref().map_or(0, |r| r.observations),
            wait_s: Num(result.as_ref().map_or(0.0, |r| r.wait_s)),
        },
        identity: start.identity,
        report: result.map(|r| r.report).unwrap_or_default(),
        events,
    }
}
