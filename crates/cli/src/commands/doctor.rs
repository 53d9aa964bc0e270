//! `chicane doctor`: checks what works on this machine, and prints what to do about the rest.
//!
//! The judge, the closed box and the control groups are tried with the simulator's own code. No
//! check changes the data folder or a setting of the machine.

mod evaluation;
mod machine;

use crate::args::DoctorArgs;
use crate::colour::{self, Tone};
use crate::data_dir::{self, DataDirError};
use crate::version;
use serde::Serialize;
use std::io::Write;

/// Why nothing was checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoctorError {
    #[error(transparent)]
    DataDir(#[from] DataDirError),
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    /// What was checked works.
    Ok,
    /// Something that not everybody needs does not work.
    Warning,
    /// Something does not work that the simulator needs in its usual configuration.
    Failure,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// Short name, the same on every machine.
    pub(crate) name: &'static str,
    pub(crate) status: Health,
    /// What was found, one line.
    pub(crate) text: String,
    /// What to do, one line; `None` if there is nothing to do.
    pub(crate) remedy: Option<String>,
}

impl Check {
    fn ok(name: &'static str, text: impl Into<String>) -> Check {
        Check { name, status: Health::Ok, text: one_line(text.into()), remedy: None }
    }

    fn warning(name: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Check {
        let remedy = Some(one_line(remedy.into()));
        Check { name, status: Health::Warning, text: one_line(text.into()), remedy }
    }

    fn failure(name: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check { status: Health::Failure, ..Check::warning(name, text, remedy) }
    }
}

/// Joins the lines of a text into one, because error texts of other programs may have several
/// lines.
fn one_line(text: String) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The result of all checks.
#[derive(Debug, Serialize)]
struct Report {
    /// Whether no check failed.
    ok: bool,
    version: String,
    commit: Option<String>,
    checks: Vec<Check>,
}

/// Runs all checks and prints the result. False if a check failed.
pub(crate) fn run(args: &DoctorArgs) -> Result<bool, DoctorError> {
    let folder = data_dir::resolve_absolute(args.data_dir.as_deref())?;
    let mut checks = evaluation::checks(args);
    checks.extend(machine::checks(args, &folder));
    let version = version::own();
    let ok = checks.iter().all(|check| check.status != Health::Failure);
    let report = Report { ok, version: version.version, commit: version.commit, checks };
    let mut out = std::io::stdout().lock();
    // A closed standard output does not change the exit status.
    let _ = if args.json { print_json(&report, &mut out) } else { print(&report, &mut out) };
    Ok(ok)
}

fn print_json(report: &Report, out: &mut impl Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

fn print(report: &Report, out: &mut impl Write) -> std::io::Result<()> {
    let coloured = colour::on_stdout();
    let width = report.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    for check in &report.checks {
        let (tone, word) = match check.status {
            Health::Ok => (Tone::Good, "ok     "),
            Health::Warning => (Tone::Warning, "warning"),
            Health::Failure => (Tone::Bad, "failure"),
        };
        writeln!(out, "{}  {:<width$}  {}", tone.paint(word, coloured), check.name, check.text)?;
        if let Some(remedy) = &check.remedy {
            writeln!(out, "{:9}{:width$}  → {remedy}", "", "")?;
        }
    }
    let count = |status| report.checks.iter().filter(|check| check.status == status).count();
    let (failures, warnings) = (count(Health::Failure), count(Health::Warning));
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    writeln!(out, "{}, {}", plural(failures, "failure"), plural(warnings, "warning"))
}
