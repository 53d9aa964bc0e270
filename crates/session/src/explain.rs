//! Describes what a student's box would show, for people.

use crate::box_options::BoxLimits;
use crate::closed_box::{self, ClosedBoxError};
use crate::environment::host_environment;
use crate::setting::Setting;
use crate::student::{self, Student, StudentError, StudentProgram};
use chicane_jail::workspace_copy::{
    CACHE_TAG, MAX_ENTRIES, SKIPPED, Workspace, WorkspaceError, WorkspaceLimits,
};
use chicane_jail::{HOME, WORKSPACE, WRITABLE};
use chicane_wire::BoxKind;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How a box shows a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoxView {
    /// The host's file or folder, read-only.
    ReadOnly,
    /// The host's file or folder, as the simulator's user may use it.
    Host,
    /// A copy of the workspace, writable. The copy is removed at the end.
    Copy {
        /// Number of files.
        files: u64,
        /// Bytes of all files.
        bytes: u64,
    },
    /// A folder of the box itself, writable, and empty at the start. The folder is removed at the
    /// end.
    Private,
    /// A symbolic link to this path.
    Link(PathBuf),
    /// An empty folder instead of the host's.
    Hidden,
}

/// A path that a box shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxMount {
    /// Path in the box.
    pub path: PathBuf,
    /// Path on the host, if it differs from `path`.
    pub source: Option<PathBuf>,
    /// How the box shows the path.
    pub view: BoxView,
}

/// What a student's box shows. The `Display` text has one item per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxDescription {
    /// The kind of box.
    pub kind: BoxKind,
    /// The user that the program runs as.
    pub user: String,
    /// The paths that the program sees.
    pub mounts: Vec<BoxMount>,
    /// Names of the environment variables.
    pub environment: Vec<String>,
    /// What the program reaches.
    pub network: String,
    /// The limits of the program.
    pub limits: BoxLimits,
    /// Folders and files of the workspace that are not copied: names or descriptions.
    pub skipped: Vec<String>,
    /// What the box does not show although the command needs it.
    pub hints: Vec<String>,
}

/// Why a box can't be described. Such a box can't be started either.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExplainError(String);

impl From<WorkspaceError> for ExplainError {
    fn from(error: WorkspaceError) -> ExplainError {
        ExplainError(error.to_string())
    }
}

impl From<ClosedBoxError> for ExplainError {
    fn from(error: ClosedBoxError) -> ExplainError {
        ExplainError(error.to_string())
    }
}

impl From<StudentError> for ExplainError {
    fn from(error: StudentError) -> ExplainError {
        ExplainError(error.to_string())
    }
}

/// Starts a program in its box and ends it. Returns the time from the request until the program
/// runs. This function is for measurements.
pub fn measure_box(setting: &Setting, program: StudentProgram) -> Result<Duration, ExplainError> {
    let begun = Instant::now();
    let mut student = Student::start(setting, program)?;
    let time = begun.elapsed();
    drop(student.end());
    Ok(time)
}

/// Describes the box of a program without starting it.
pub fn explain(setting: &Setting, program: &StudentProgram) -> Result<BoxDescription, ExplainError> {
    student::check(setting, &program.options)?;
    let (network, _) = student::network(setting, &program.options, program.port)?;
    let reach = match &network {
        None => "the network of this machine".to_owned(),
        Some(network) => {
            let ports: Vec<String> = network.ports.iter().map(|port| format!("localhost:{port}")).collect();
            let simulator = format!("the simulator ({})", ports.join(", "));
            if network.internet { format!("{simulator} and the internet") } else { simulator }
        }
    };
    let internet = network.is_some_and(|network| network.internet);
    let mut description = BoxDescription {
        kind: program.options.kind,
        user: user(program.options.kind),
        mounts: Vec::new(),
        environment: Vec::new(),
        network: reach,
        limits: program.options.limits,
        skipped: Vec::new(),
        hints: Vec::new(),
    };
    match program.options.kind {
        BoxKind::Closed => describe_closed(program, internet, &mut description)?,
        BoxKind::Host => {
            let mount = |path: PathBuf, view| BoxMount { path, source: None, view };
            description.mounts.push(mount("/".into(), BoxView::Host));
            let hidden = program.hide.iter().map(|path| mount(path.clone(), BoxView::Hidden));
            description.mounts.extend(hidden);
            let mut environment = host_environment(&program.options.environment, program.environment.clone());
            student::add_time_variables(program, &mut environment);
            description.environment = environment.into_keys().collect();
        }
    }
    Ok(description)
}

fn describe_closed(
    program: &StudentProgram,
    internet: bool,
    description: &mut BoxDescription,
) -> Result<(), ExplainError> {
    let limits = WorkspaceLimits { bytes: program.options.limits.files, entries: MAX_ENTRIES };
    let workspace = Workspace::scan(&program.workspace, limits, &program.hide, &program.options.paths)?;
    let mut closed = closed_box::plan(program, &workspace, internet)?;
    student::add_time_variables(program, &mut closed.environment);
    let (files, bytes) = workspace.size();
    let copy = BoxView::Copy { files, bytes };
    let mut mounts =
        vec![BoxMount { path: WORKSPACE.into(), source: Some(workspace.path().to_owned()), view: copy }];
    let private = WRITABLE.iter().filter(|(path, _)| *path != WORKSPACE);
    mounts.extend(private.map(|(path, _)| BoxMount {
        path: (*path).into(),
        source: None,
        view: BoxView::Private,
    }));
    mounts.extend(closed.plan.binds.into_iter().map(|bind| BoxMount {
        source: (bind.source != bind.target).then_some(bind.source),
        path: bind.target,
        view: BoxView::ReadOnly,
    }));
    mounts.extend(closed.plan.links.into_iter().map(|(path, to)| BoxMount {
        path,
        source: None,
        view: BoxView::Link(to),
    }));
    mounts.extend(closed.plan.hide.into_iter().map(|path| BoxMount {
        path,
        source: None,
        view: BoxView::Hidden,
    }));
    description.mounts = mounts;
    description.environment = closed.environment.into_keys().collect();
    description.hints = closed.hints;
    description.skipped = SKIPPED.iter().map(|name| (*name).to_owned()).collect();
    description.skipped.push(format!("folders with {CACHE_TAG}"));
    description.skipped.push("sockets, pipes and devices".to_owned());
    Ok(())
}

/// The user that a program runs as.
fn user(kind: BoxKind) -> String {
    let own = rustix::process::geteuid();
    match kind {
        BoxKind::Host if own.is_root() => "root, who can change every file of this machine".to_owned(),
        BoxKind::Host => format!("{}, the simulator's", own.as_raw()),
        BoxKind::Closed if own.is_root() => format!("student, without access to files of others ({HOME})"),
        BoxKind::Closed => format!("student, on this machine {} ({HOME})", own.as_raw()),
    }
}

impl fmt::Display for BoxMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        let source = self.source.as_ref().map(|source| format!(" of {}", source.display()));
        let source = source.unwrap_or_default();
        match &self.view {
            BoxView::ReadOnly => write!(f, " (read-only{source})"),
            BoxView::Host => write!(f, " (the files of this machine)"),
            BoxView::Copy { files, bytes } => {
                write!(f, " (copy{source}: {files} files, {} KiB; thrown away)", bytes.div_ceil(1024))
            }
            BoxView::Private => write!(f, " (writable, empty; thrown away)"),
            BoxView::Link(to) => write!(f, " -> {}", to.display()),
            BoxView::Hidden => write!(f, " (hidden)"),
        }
    }
}

impl fmt::Display for BoxDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "box: {}", self.kind.name())?;
        writeln!(f, "user: {}", self.user)?;
        for mount in &self.mounts {
            writeln!(f, "file: {mount}")?;
        }
        for skipped in &self.skipped {
            writeln!(f, "not copied: {skipped}")?;
        }
        for name in &self.environment {
            writeln!(f, "variable: {name}")?;
        }
        writeln!(f, "network: {}", self.network)?;
        let BoxLimits { memory, processes, files } = self.limits;
        if self.kind == BoxKind::Closed {
            writeln!(f, "memory: {} MiB", memory >> 20)?;
            writeln!(f, "files: {} MiB", files >> 20)?;
        }
        write!(f, "processes: {processes}")?;
        for hint in &self.hints {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}
