//! Files of the workspace, for a person who chooses a program.

use serde::Serialize;
use utoipa::ToSchema;

/// Response of `GET /workspace`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Workspace {
    /// The files. Files in upper folders come before files in deeper folders.
    pub files: Vec<WorkspaceFile>,
    /// Whether the list was cut at its limit, so that the workspace may have more files.
    pub more: bool,
}

/// A file of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WorkspaceFile {
    /// Path relative to the workspace.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
}
