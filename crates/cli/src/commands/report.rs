//! `chicane report`: makes the report of a class again.

use crate::args::ReportArgs;
use chicane_grade::folder::{FolderError, ResultsFolder};
use chicane_grade::plan::{Plan, PlanError};

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl ReportError {
    /// Whether the command line names something that is not a folder of results.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, ReportError::Folder(FolderError::NoPlan(_)) | ReportError::Plan(_))
    }
}

/// Writes the report and the grades from the results in the folder.
pub(crate) fn run(args: &ReportArgs) -> Result<(), ReportError> {
    let folder = ResultsFolder::open(&args.results)?;
    let plan = Plan::read(&folder.plan())?;
    let jobs = crate::grading::jobs(args.jobs);
    let grades = chicane_grade::report::write(&plan, &folder, jobs)?;
    print!("{}", crate::grading::summary(&grades, folder.path()));
    Ok(())
}
