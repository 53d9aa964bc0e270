//! Responses of the world builder.

use super::preview::PreviewFinding;
use super::requests::WorldAccess;
use crate::error::ErrorCode;
use crate::num::Num;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Response of `GET /builder/projects`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProjectList {
    /// The projects, the last changed one first.
    pub projects: Vec<ProjectEntry>,
    /// The projects that were deleted last and can be restored, the last deleted one first.
    pub deleted: Vec<ProjectEntry>,
}

/// A project in the list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProjectEntry {
    /// Id of the project.
    #[schema(example = "0123456789abcdef")]
    pub id: String,
    /// Name of the world and of its files.
    pub name: String,
    /// Display name of the world.
    pub display_name: String,
    /// The revision. It grows with every change.
    pub revision: u64,
    /// Time of the last change, RFC 3339.
    pub updated: String,
    /// Width of the field, m.
    pub width: Num,
    /// Height of the field, m.
    pub height: Num,
    /// Number of nodes of the track.
    pub nodes: u32,
    /// Number of objects.
    pub objects: u32,
    /// Number of errors that prevent the build of a world.
    pub errors: u32,
    /// Number of warnings.
    pub warnings: u32,
}

/// A project with its document.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ProjectView {
    /// Id of the project.
    #[schema(example = "0123456789abcdef")]
    pub id: String,
    /// The revision. It grows with every change.
    pub revision: u64,
    /// Time of the last change, RFC 3339.
    pub updated: String,
    /// The document, as `docs/project.schema.json` describes it.
    #[schema(value_type = Object)]
    pub document: Value,
    /// The files beside the document.
    pub files: Vec<ProjectFile>,
}

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProjectFile {
    /// Name of the file, relative to the document.
    #[schema(example = "pictures/floor.png")]
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Width of a picture in pixels; null for a script.
    pub width: Option<u32>,
    /// Height of a picture in pixels; null for a script.
    pub height: Option<u32>,
}

/// Response of `PUT /builder/projects/<id>/files/<name>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChangedFile {
    /// Name of the file, relative to the document.
    pub name: String,
    /// Size in bytes. The size of a picture is that of the stored picture, which was encoded again.
    pub bytes: u64,
    /// Width of a picture in pixels; null for a script.
    pub width: Option<u32>,
    /// Height of a picture in pixels; null for a script.
    pub height: Option<u32>,
    /// The new revision of the project.
    pub revision: u64,
}

/// Response of `DELETE /builder/projects/<id>/files/<name>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeletedFile {
    /// Name of the deleted file.
    pub deleted: String,
    /// The new revision of the project.
    pub revision: u64,
}

/// Response of `DELETE /builder/projects/<id>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeletedProject {
    /// Id of the deleted project.
    pub deleted: String,
}

/// Response of `PUT /builder/projects/<id>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProjectSaved {
    /// The new revision.
    pub revision: u64,
    /// Time of the change, RFC 3339.
    pub updated: String,
    /// Number of errors that prevent the build of a world.
    pub errors: u32,
    /// Number of warnings.
    pub warnings: u32,
}

/// Error response if somebody else has changed the project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ConflictBody {
    /// The cause of the error.
    pub error: String,
    /// Always `revision_conflict`.
    pub code: ErrorCode,
    /// The current revision.
    pub revision: u64,
    /// The current document.
    #[schema(value_type = Object)]
    pub document: Value,
}

/// Error response if the project has errors, so that no world can be built.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct InvalidProjectBody {
    /// The cause of the error.
    pub error: String,
    /// Always `project_invalid`.
    pub code: ErrorCode,
    /// Errors and warnings of the project.
    pub findings: Vec<PreviewFinding>,
}

/// Payload of the event `revision` in the event stream of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProjectRevision {
    /// The current revision.
    pub revision: u64,
    /// Name of the editor that made the last change; null if the name is not known.
    pub editor: Option<String>,
}

/// Payload of the event `editors` in the event stream of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProjectEditors {
    /// Number of open event streams of the project.
    pub count: u32,
}

/// Response of `GET /builder/templates`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Templates {
    /// The shipped judging scripts.
    pub templates: Vec<JudgeTemplate>,
}

/// A shipped judging script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JudgeTemplate {
    /// Name of the template. A project document refers to the template by this name.
    #[schema(example = "lap_time")]
    pub name: String,
    /// What the script judges.
    pub description: String,
    /// The script.
    pub script: String,
}

/// Response of `POST /builder/script/check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScriptChecked {
    /// Whether the script can judge.
    pub ok: bool,
    /// The errors of the script.
    pub errors: Vec<ScriptError>,
}

/// An error of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScriptError {
    /// Line of the error, from 1; null if the error has no line.
    pub line: Option<u32>,
    /// The error.
    pub text: String,
}

/// Response of `POST /builder/projects/<id>/publish`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProjectPublished {
    /// Id of the published world.
    pub world_id: String,
    /// Address of the world's `meta.json`.
    pub link: String,
    /// The revision of the project that was published.
    pub revision: u64,
}

/// Response of `GET /builder/published`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PublishedWorlds {
    /// The worlds that are published at this simulator, sorted by name.
    pub worlds: Vec<PublishedWorld>,
}

/// A published world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PublishedWorld {
    /// Id of the world.
    pub world_id: String,
    /// Display name of the world.
    pub name: String,
    /// Who may download the world.
    pub access: WorldAccess,
    /// Time of the publication, RFC 3339; null if it is not known.
    pub published: Option<String>,
    /// Address of the world's `meta.json`.
    pub link: String,
}

/// Response of `POST /builder/projects/<id>/print/size`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct PrintSize {
    /// Pixels per row of the whole print.
    pub width_px: u32,
    /// Rows of the whole print.
    pub height_px: u32,
    /// Estimated size of the file, in bytes.
    pub bytes_estimate: u64,
    /// Number of sheets of the PDF file.
    pub sheets: u32,
}
