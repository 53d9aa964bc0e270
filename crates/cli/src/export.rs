//! `chicane records export`: every record of a data folder, for a spreadsheet or another program.

use crate::cli::Export;
use chicane_store::Records;
use chicane_wire::Record;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

/// Records that are read at a time.
const PAGE: usize = 200;
const HEAD: &str = "session,world,world_id,rev,outcome,record,reason,better,command,time_limit_s,seed,started_at,\
                    ended_at,elapsed_s,observations,wait_s,sha256";

pub(crate) fn run(export: &Export, data_dir: &Path) -> Result<(), String> {
    let records = Records::open(data_dir).map_err(|e| e.to_string())?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    match write(export, &records, &mut out) {
        // Whoever read it has seen enough.
        Err(Failure::Write(e)) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(Failure::Write(e)) => Err(format!("can't write: {e}")),
        Err(Failure::Read(why)) => Err(why),
        Ok(()) => Ok(()),
    }
}

enum Failure {
    Read(String),
    Write(std::io::Error),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Write(error)
    }
}

fn write(export: &Export, records: &Records, out: &mut impl Write) -> Result<(), Failure> {
    let failed = |e: chicane_store::StoreError| Failure::Read(e.to_string());
    if export.csv {
        writeln!(out, "{HEAD}")?;
    }
    let mut below = None;
    let mut first = true;
    loop {
        let rows = records.sessions(export.world.as_deref(), below, PAGE).map_err(failed)?;
        for row in &rows {
            if export.csv {
                writeln!(out, "{}", line(&chicane_host::evaluation::records::record_of(row.clone(), None)))?;
                continue;
            }
            let events = records.events(row.number).map_err(failed)?;
            let record = chicane_host::evaluation::records::record_of(row.clone(), Some(events));
            let text = serde_json::to_string(&record).map_err(|e| Failure::Read(e.to_string()))?;
            write!(out, "{}{text}", if first { "[\n" } else { ",\n" })?;
            first = false;
        }
        match rows.last() {
            Some(last) if rows.len() == PAGE => below = Some(last.number),
            _ => break,
        }
    }
    if !export.csv {
        writeln!(out, "{}", if first { "[]" } else { "\n]" })?;
    }
    out.flush()?;
    Ok(())
}

fn line(record: &Record) -> String {
    let text = |value: &Option<String>| cell(value.as_deref().unwrap_or_default());
    let result = match &record.record {
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
        record.time_limit_s.0.to_string(),
        record.seed.to_string(),
        cell(&record.started_at),
        text(&record.ended_at),
        record.elapsed_s.0.to_string(),
        record.judge.observations.to_string(),
        record.judge.wait_s.0.to_string(),
        cell(&record.judge.sha256),
    ]
    .join(",")
}

/// A text as a cell. What a spreadsheet would take for a formula is marked as text: students write these.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn cells_hold_texts_and_never_formulas() {
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
