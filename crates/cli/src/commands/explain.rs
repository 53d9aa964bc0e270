//! `chicane evaluate --explain` without `--pace virtual`: describes the box of a student's program
//! without starting the program.

use crate::args::{EvaluateArgs, PaceName};
use crate::judge_setting::{self, FindSettingError};
use crate::workspace::{self, WorkspaceError};
use chicane_session::{BoxOptions, ExplainError, StudentProgram, explain};
use chicane_wire::BoxKind;
use std::path::PathBuf;

/// The port that the description shows. A real run uses any free port.
const PORT: u16 = 8000;
/// Environment variables of a session. They are empty here, because the description has no session.
const VARIABLES: [&str; 2] = ["CHICANE_URL", "CHICANE_SESSION"];

/// Why a box can't be described.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExplainCommandError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Setting(#[from] FindSettingError),
    /// The machine can't create the box, or the box can't show a path that the options name.
    #[error(transparent)]
    Box(#[from] ExplainError),
}

/// The description of the box in which `chicane evaluate` with these arguments would run a program.
pub(crate) fn describe(args: &EvaluateArgs, command: &str) -> Result<String, ExplainCommandError> {
    let setting = judge_setting::find(&args.judge)?;
    let options: BoxOptions = args.student_box.options(BoxKind::Closed);
    let hide: Vec<PathBuf> = args
        .data_dir
        .iter()
        .cloned()
        .chain([setting.folder.clone()])
        .chain(chicane_store::known_folders())
        .collect();
    let has_virtual_time = args.pace != Some(PaceName::Real) && options.no_virtual_time().is_none();
    let program = StudentProgram {
        command: command.to_owned(),
        workspace: workspace::resolve(&args.workspace)?,
        environment: VARIABLES.map(|name| (name.to_owned(), String::new())).into(),
        hide,
        options,
        port: Some(PORT),
        virtual_time: has_virtual_time.then_some(args.seed),
    };
    Ok(explain(&setting, &program)?.to_string())
}
