//! The error type of the whole program. The commands return error types of their own or the enum
//! [`EvaluationError`]; only `main` and `exit` use [`CliError`].

use crate::commands::backup::BackupCommandError;
use crate::commands::build::BuildCommandError;
use crate::commands::check::CheckError;
use crate::commands::doctor::DoctorError;
use crate::commands::explain::ExplainCommandError;
use crate::commands::grade::GradeError;
use crate::commands::grade_unit::GradeUnitError;
use crate::commands::judge_run::JudgeRunError;
use crate::commands::lap::LapError;
use crate::commands::new::NewError;
use crate::commands::package::PackageError;
use crate::commands::print::PrintCommandError;
use crate::commands::publish::PublishCommandError;
use crate::commands::records::ExportError;
use crate::commands::rejudge::RejudgeError;
use crate::commands::replay::ReplayCommandError;
use crate::commands::report::ReportError;
use crate::commands::serve::ServeError;
use crate::commands::setup::SetupError;
use crate::commands::submit::SubmitError;
use crate::commands::verify::VerifyError;
use crate::commands::worlds::WorldsError;
use crate::evaluation::EvaluationError;
use crate::judge_setting::FindSettingError;
use crate::project::ProjectError;
use crate::robot::RobotError;
use chicane_session::jail::PartError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Build(#[from] BuildCommandError),
    #[error(transparent)]
    Publish(#[from] PublishCommandError),
    #[error(transparent)]
    Worlds(#[from] WorldsError),
    #[error(transparent)]
    New(#[from] NewError),
    #[error(transparent)]
    Print(#[from] PrintCommandError),
    #[error(transparent)]
    Lap(#[from] LapError),
    #[error(transparent)]
    Grade(#[from] GradeError),
    #[error(transparent)]
    GradeUnit(#[from] GradeUnitError),
    #[error(transparent)]
    Report(#[from] ReportError),
    /// `chicane evaluate`, `chicane repeat` or `chicane judge` could not run the evaluation.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// `chicane evaluate --explain` could not describe the box.
    #[error(transparent)]
    Explain(#[from] ExplainCommandError),
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(transparent)]
    Replay(#[from] ReplayCommandError),
    #[error(transparent)]
    Rejudge(#[from] RejudgeError),
    #[error(transparent)]
    Submit(#[from] SubmitError),
    #[error(transparent)]
    JudgeRun(#[from] JudgeRunError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error(transparent)]
    Doctor(#[from] DoctorError),
    #[error(transparent)]
    Backup(#[from] BackupCommandError),
    #[error(transparent)]
    Jail(#[from] PartError),
}

impl CliError {
    /// Whether the command line is wrong, for example because it names something that does not
    /// exist, or because its options contradict each other.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            CliError::Evaluation(error) => error.is_usage(),
            CliError::Explain(
                ExplainCommandError::Workspace(_) | ExplainCommandError::Setting(FindSettingError::Args(_)),
            ) => true,
            CliError::Grade(error) => error.is_usage(),
            CliError::GradeUnit(error) => error.is_usage(),
            CliError::Report(error) => error.is_usage(),
            CliError::Serve(error) => error.is_usage(),
            CliError::Worlds(error) => error.is_usage(),
            CliError::Verify(error) => error.is_usage(),
            CliError::Submit(error) => error.is_usage(),
            CliError::Replay(error) => error.is_usage(),
            CliError::Rejudge(error) => error.is_usage(),
            CliError::Export(error) => error.is_usage(),
            CliError::Print(error) => error.is_usage(),
            CliError::Backup(error) => error.is_usage(),
            CliError::Check(CheckError::World(error)) | CliError::Lap(LapError::World(error)) => {
                error.is_unknown()
            }
            CliError::Check(CheckError::Project(error))
            | CliError::Build(BuildCommandError::Project(error)) => {
                matches!(error, ProjectError::NotFound { .. })
            }
            CliError::Lap(LapError::Robot(error)) => matches!(error, RobotError::Unknown { .. }),
            _ => false,
        }
    }
}
