//! The world builder: projects, their files, previews, publications and prints.

mod answers;
mod preview;
mod requests;
mod runs;

pub use answers::{
    ChangedFile, ConflictBody, DeletedFile, DeletedProject, InvalidProjectBody, JudgeTemplate, PrintSize,
    ProjectEditors, ProjectEntry, ProjectFile, ProjectList, ProjectPublished, ProjectRevision, ProjectSaved,
    ProjectView, PublishedWorld, PublishedWorlds, ScriptChecked, ScriptError, Templates,
};
pub use preview::{
    FindingLocation, LocationKind, PreviewAnswer, PreviewFinding, PreviewObject, PreviewRoad,
    PreviewSeverity, RoadStart, TightestBend,
};
pub use requests::{
    ChangePublishedRequest, ChangePublishedRequestBody, CreateProject, CreateProjectBody, MAX_EDITOR,
    MAX_SCRIPT_CHECK, NewProjectSource, Paper, PreviewRequest, PreviewRequestBody, PrintArea, PrintRequest,
    PrintRequestBody, ProjectId, PublishRequest, PublishRequestBody, RandomTrack, RandomTrackBody,
    SaveProject, SaveProjectBody, ScriptCheckRequest, ScriptCheckRequestBody, WorldAccess,
};
pub use runs::{EarlierVerdict, ProjectRun, ProjectRuns, RejudgeRequest, RejudgeRequestBody, RejudgedRun};
