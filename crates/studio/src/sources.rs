//! Projects as files: export and import.

use crate::archive::{self, ArchiveError};
use crate::error::StudioError;
use crate::studio::Studio;
use chicane_builder::Project;
use chicane_wire::{ProjectId, ProjectView};

/// Largest imported file, in bytes.
pub const MAX_IMPORT: usize = 40 << 20;

/// A project as a file.
pub struct Export {
    /// Name of the file.
    pub name: String,
    /// Whether the file is a zip file. Otherwise it is JSON.
    pub is_zip: bool,
    /// The content.
    pub bytes: Vec<u8>,
}

impl Studio {
    /// A project as a file: the document alone, or a zip file with the document and its files.
    pub fn export(&self, id: &ProjectId) -> Result<Export, StudioError> {
        let (_, project) = self.project(id)?;
        let (name, document) = (project.name.as_str(), project.to_json());
        let mut files = Vec::new();
        for file in self.projects().files(id.as_str())? {
            if let Some(bytes) = self.projects().file(id.as_str(), &file.name)? {
                files.push((file.name, bytes));
            }
        }
        if files.is_empty() {
            return Ok(Export { name: format!("{name}.json"), is_zip: false, bytes: document.into_bytes() });
        }
        let bytes = archive::pack((&format!("{name}.json"), document.as_bytes()), &files)?;
        Ok(Export { name: format!("{name}.zip"), is_zip: true, bytes })
    }

    /// Creates a project from an exported file.
    pub fn import(&self, bytes: &[u8]) -> Result<ProjectView, StudioError> {
        if !bytes.starts_with(b"PK") {
            return self.add(&Project::read(bytes)?, &[]);
        }
        let unpacked = archive::unpack(bytes)?;
        let project = Project::read(&unpacked.document)?;
        let mut files = Vec::with_capacity(unpacked.files.len());
        for (name, bytes) in &unpacked.files {
            files.push(self.prepared(name, bytes).map_err(ArchiveError::Entry)?);
        }
        self.add(&project, &files)
    }
}
