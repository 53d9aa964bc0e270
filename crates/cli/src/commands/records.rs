//! `chicane records export`: prints all records of a data folder as CSV or JSON, or writes one run
//! to a file.

use crate::args::ExportArgs;
use crate::data_dir::{self, DataDirError};
use crate::file_error::FileError;
use crate::run_file;
use chicane_host::evaluation::records::record_of;
use chicane_replay::{RecordedRun, RunError, add_program};
use chicane_store::{OpenError, Records, StoreError};
use chicane_wire::{BoxKind, Num, Pace, Record, rounded};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Number of records that are read from the database at a time.
const PAGE: usize = 200;
const HEAD: &str = "session,world,world_id,rev,outcome,record,reason,better,command,time_limit_s,seed,started_at,\
                    ended_at,elapsed_s,observations,wait_s,sha256,student,program_sha256,box,pace,interference,\
                    refused,exit_code,signal,oom,version";

/// Why the records were not printed, or the run was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExportError {
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    #[error("there is no data folder {}: give the folder of the simulator with --data-dir", .0.display())]
    NoFolder(PathBuf),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Read(#[from] StoreError),
    #[error("a record can't be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("can't write to standard output: {0}")]
    Write(#[from] std::io::Error),
    #[error("there is no session {session} in {}", folder.display())]
    NoSession { session: String, folder: PathBuf },
    #[error("session {session} can't be exported: {source}")]
    Run { session: String, source: RunError },
    #[error(transparent)]
    File(#[from] FileError),
}

impl ExportError {
    /// Whether the command line names a folder or session that does not exist.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, ExportError::NoSession { .. } | ExportError::NoFolder(_))
    }
}

pub(crate) fn run(args: &ExportArgs) -> Result<(), ExportError> {
    let folder = data_dir::resolve(args.data_dir.as_deref())?;
    if !folder.is_dir() {
        return Err(ExportError::NoFolder(folder));
    }
    let records = Records::open(&folder)?;
    if let (Some(session), Some(output)) = (&args.run, &args.output) {
        return export_run(&records, &folder, session, args.program.as_deref(), output);
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    match write(args, &records, &mut out) {
        // The reader of the output, such as `head`, has closed the pipe because it needs no more
        // lines. This is not an error.
        Err(ExportError::Write(e)) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes the run of a session to a file.
fn export_run(
    records: &Records,
    folder: &Path,
    session: &str,
    program: Option<&Path>,
    output: &Path,
) -> Result<(), ExportError> {
    let failed = |source| ExportError::Run { session: session.to_owned(), source };
    let missing = || ExportError::NoSession { session: session.to_owned(), folder: folder.to_owned() };
    let row = records.session(Some(session), None)?.ok_or_else(missing)?;
    let (events, journal) = (records.events(row.number)?, records.journal(row.number)?);
    let sha256 = row.start.identity.world_sha256.clone();
    let bundle = sha256.map(|sha256| records.bundle(&sha256)).transpose()?.flatten();
    let record = record_of(row, Some(events));
    let mut parts = RecordedRun::parts(&record, journal, bundle).map_err(failed)?;
    if let Some(program) = program {
        add_program(&mut parts, &record, program).map_err(failed)?;
    }
    Ok(run_file::write(output, &chicane_store::run_file::pack(&parts))?)
}

fn write(args: &ExportArgs, records: &Records, out: &mut impl Write) -> Result<(), ExportError> {
    let csv = !args.json;
    if csv {
        writeln!(out, "{HEAD}")?;
    }
    let mut below = None;
    let mut first = true;
    loop {
        let rows = records.sessions(args.world.as_deref(), None, below, PAGE)?;
        for row in &rows {
            if csv {
                writeln!(out, "{}", line(&record_of(row.clone(), None)))?;
                continue;
            }
            let events = records.events(row.number)?;
            let text = serde_json::to_string(&record_of(row.clone(), Some(events)))?;
            write!(out, "{}{text}", if first { "[\n" } else { ",\n" })?;
            first = false;
        }
        match rows.last() {
            Some(last) if rows.len() == PAGE => below = Some(last.number),
            _ => break,
        }
    }
    if args.json {
        writeln!(out, "{}", if first { "[]" } else { "\n]" })?;
    }
    out.flush()?;
    Ok(())
}

fn line(record: &Record) -> String {
    let (identity, report) = (&record.identity, &record.report);
    let run = report.run.as_ref();
    let text = |value: &Option<String>| cell(value.as_deref().unwrap_or_default());
    // Records of older versions may have numbers with rounding errors.
    let result = match &rounded(record.record.clone()) {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(value) => cell(value),
        serde_json::Value::Number(value) => value.to_string(),
        other => cell(&other.to_string()),
    };
    [
        cell(&record.session),
        cell(&record.world),
        text(&record.world_id),
        text(&record.rev),
        text(&record.outcome.map(|outcome| outcome.name().to_owned())),
        result,
        text(&record.reason),
        cell(record.better.name()),
        text(&record.command),
        number(record.time_limit_s),
        record.seed.to_string(),
        cell(&record.started_at),
        text(&record.ended_at),
        number(record.elapsed_s),
        record.judge.observations.to_string(),
        number(record.judge.wait_s),
        cell(&record.judge.sha256),
        text(&identity.student),
        text(&identity.program.as_ref().map(|program| program.sha256.clone())),
        cell(identity.box_kind.map_or("", BoxKind::name)),
        cell(identity.pace.map_or("", Pace::name)),
        report.interference.count.to_string(),
        report.refused.count.to_string(),
        whole(run.and_then(|run| run.exit_code)),
        whole(run.and_then(|run| run.signal)),
        run.map_or_else(String::new, |run| run.oom.to_string()),
        text(&identity.chicane.as_ref().map(|chicane| chicane.version.clone())),
    ]
    .join(",")
}

/// A number without rounding errors: at most six decimals.
fn number(value: Num) -> String {
    ((value.0 * 1e6).round() / 1e6 + 0.0).to_string()
}

/// A whole number, or an empty cell.
fn whole(value: Option<i32>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Quotes a text for CSV. Students choose some of the texts, and a spreadsheet could run such a
/// text as a formula. Therefore a text that looks like a formula gets a leading apostrophe.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_cell_is_quoted_and_never_a_formula() {
        for (text, written) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
            ("@x,y", "\"'@x,y\""),
            ("two\nlines", "\"two\nlines\""),
        ] {
            assert_eq!(cell(text), written);
        }
    }
}
