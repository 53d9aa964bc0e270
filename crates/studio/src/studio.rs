//! The projects of a data folder: list, read, save, delete, files.

use crate::built::BuiltWorlds;
use crate::error::StudioError;
use crate::findings::{findings, preview_of};
use crate::picture;
use crate::plan;
use crate::watchers::Watchers;
use bytes::Bytes;
use chicane_builder::{Files, Project, Severity, check, check_files, preview};
use chicane_store::{
    Data, FileChange, ProjectHead, ProjectRow, ProjectWrite, Projects, StoreError, random_hex, time,
};
use chicane_wire::{
    ChangedFile, DeletedFile, Num, PreviewAnswer, PreviewRequest, ProjectEntry, ProjectFile, ProjectId,
    ProjectList, ProjectSaved, ProjectView, SaveProject,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of thumbnails in memory.
const MAX_THUMBNAILS: usize = 2 * Projects::MAX;

/// The world builder of a data folder.
pub struct Studio {
    pub(crate) data: Arc<Data>,
    /// What the list shows about each project, with the revision that the summary was made from.
    summaries: Mutex<BTreeMap<String, (u64, Summary)>>,
    thumbnails: Mutex<BTreeMap<String, (u64, Bytes)>>,
    /// Locked while a picture is decoded. Otherwise concurrent decoding could take too much memory.
    decoding: Mutex<()>,
    pub(crate) built: BuiltWorlds,
    watchers: Watchers,
}

/// What the list shows about a document.
#[derive(Debug, Clone, Default)]
struct Summary {
    name: String,
    display_name: String,
    size: [f64; 2],
    nodes: usize,
    objects: usize,
    errors: usize,
    warnings: usize,
}

impl Summary {
    fn of(project: &Project, files: &dyn Files) -> Summary {
        let mut found = check(project);
        found.extend(check_files(project, files));
        let errors = found.iter().filter(|f| f.severity == Severity::Error).count();
        Summary {
            name: project.name.as_str().to_owned(),
            display_name: project.display_name.clone(),
            size: project.field.size,
            nodes: project.track.nodes.len(),
            objects: project.objects.len(),
            errors,
            warnings: found.len() - errors,
        }
    }
}

impl Studio {
    /// The studio of a data folder.
    pub fn new(data: Arc<Data>) -> Studio {
        Studio {
            data,
            summaries: Mutex::default(),
            thumbnails: Mutex::default(),
            decoding: Mutex::default(),
            built: BuiltWorlds::default(),
            watchers: Watchers::default(),
        }
    }

    pub(crate) fn projects(&self) -> &Projects {
        self.data.projects()
    }

    /// The event streams of the projects.
    pub fn watchers(&self) -> &Watchers {
        &self.watchers
    }

    /// All projects, and the deleted projects that can be restored.
    pub fn list(&self) -> Result<ProjectList, StudioError> {
        let (mut projects, mut deleted) = (Vec::new(), Vec::new());
        let heads = self.projects().heads()?;
        for head in &heads {
            let Some(summary) = self.summary(head)? else { continue };
            let entry = entry(head, summary);
            if head.deleted { deleted.push(entry) } else { projects.push(entry) }
        }
        // Projects that can no longer be restored are removed from the caches.
        let is_known = |id: &String| heads.iter().any(|head| head.id == *id);
        lock(&self.summaries).retain(|id, _| is_known(id));
        lock(&self.thumbnails).retain(|id, _| is_known(id));
        Ok(ProjectList { projects, deleted })
    }

    /// The summary of a project. `None` if the project was removed meanwhile.
    fn summary(&self, head: &ProjectHead) -> Result<Option<Summary>, StudioError> {
        if let Some((revision, summary)) = lock(&self.summaries).get(&head.id)
            && *revision == head.revision
        {
            return Ok(Some(summary.clone()));
        }
        let Some(row) = self.projects().find(&head.id, head.deleted)? else { return Ok(None) };
        // A document that can't be read, for example because a newer version of Chicane wrote it,
        // is listed with one error.
        let summary = match Project::read(row.document.as_bytes()) {
            Ok(project) => Summary::of(&project, &self.projects().stored_files(&head.id)),
            Err(_) => Summary { name: head.id.clone(), errors: 1, ..Summary::default() },
        };
        lock(&self.summaries).insert(head.id.clone(), (row.head.revision, summary.clone()));
        Ok(Some(summary))
    }

    /// A project with its document and the list of its files.
    pub fn read(&self, id: &ProjectId) -> Result<ProjectView, StudioError> {
        let row = self.row(id)?;
        self.view(row)
    }

    pub(crate) fn row(&self, id: &ProjectId) -> Result<ProjectRow, StudioError> {
        self.projects().find(id.as_str(), false)?.ok_or(StudioError::NoProject)
    }

    /// The revision and the parsed document of a project.
    pub(crate) fn project(&self, id: &ProjectId) -> Result<(u64, Project), StudioError> {
        let row = self.row(id)?;
        let project = Project::read(row.document.as_bytes()).map_err(StudioError::Stored)?;
        Ok((row.head.revision, project))
    }

    /// The current revision of a project.
    pub fn revision(&self, id: &ProjectId) -> Result<u64, StudioError> {
        Ok(self.row(id)?.head.revision)
    }

    fn view(&self, row: ProjectRow) -> Result<ProjectView, StudioError> {
        let files = self.projects().files(&row.head.id)?;
        let files = files.into_iter().map(|file| ProjectFile {
            name: file.name,
            bytes: file.bytes,
            width: file.size.map(|size| size[0]),
            height: file.size.map(|size| size[1]),
        });
        Ok(ProjectView {
            id: row.head.id,
            revision: row.head.revision,
            updated: row.head.updated_at,
            document: value(&row.document),
            files: files.collect(),
        })
    }

    /// Stores a new project with its files.
    pub(crate) fn add(
        &self,
        project: &Project,
        files: &[chicane_store::NewFile],
    ) -> Result<ProjectView, StudioError> {
        if files.len() > Projects::MAX_FILES {
            return Err(StudioError::TooManyFiles);
        }
        if files.iter().map(|file| file.bytes.len()).sum::<usize>() > Projects::MAX_FILE_BYTES {
            return Err(StudioError::FilesTooLarge);
        }
        let id: String = random_hex()?.chars().take(16).collect();
        let added = self.projects().add(&id, &project.to_json(), files, &time::now())?;
        let head = done(added)?;
        self.projects().find(&head.id, false)?.ok_or(StudioError::NoProject).and_then(|row| self.view(row))
    }

    /// Replaces the document of a project.
    pub fn save(&self, id: &ProjectId, request: &SaveProject) -> Result<ProjectSaved, StudioError> {
        let project = Project::from_value(&request.document)?;
        let text = project.to_json();
        let saved = self.projects().save(id.as_str(), request.revision, &text, &time::now())?;
        let head = done(saved)?;
        self.watchers.changed(&head.id, head.revision, request.editor.as_deref());
        let summary = Summary::of(&project, &self.projects().stored_files(&head.id));
        let saved = ProjectSaved {
            revision: head.revision,
            updated: head.updated_at,
            errors: summary.errors as u32,
            warnings: summary.warnings as u32,
        };
        lock(&self.summaries).insert(head.id, (head.revision, summary));
        Ok(saved)
    }

    /// Deletes a project. It can be restored later.
    pub fn delete(&self, id: &ProjectId) -> Result<(), StudioError> {
        if !self.projects().delete(id.as_str())? {
            return Err(StudioError::NoProject);
        }
        self.watchers.deleted(id.as_str());
        Ok(())
    }

    /// Restores a deleted project.
    pub fn restore(&self, id: &ProjectId) -> Result<ProjectView, StudioError> {
        done(self.projects().restore(id.as_str())?)?;
        self.read(id)
    }

    /// Adds a picture or a script to a project, or replaces the file of this name. A picture is
    /// encoded again.
    pub fn put_file(
        &self,
        id: &ProjectId,
        name: &str,
        bytes: &[u8],
        editor: Option<&str>,
    ) -> Result<ChangedFile, StudioError> {
        // The project is looked up first. Otherwise a picture would be decoded even if the project
        // does not exist.
        self.row(id)?;
        let file = {
            let _turn = lock(&self.decoding);
            picture::prepare(name, bytes)?
        };
        let head = changed(self.projects().put_file(id.as_str(), &file, &time::now())?)?;
        self.watchers.changed(&head.id, head.revision, editor);
        Ok(ChangedFile {
            bytes: file.bytes.len() as u64,
            width: file.size.map(|size| size[0]),
            height: file.size.map(|size| size[1]),
            name: file.name,
            revision: head.revision,
        })
    }

    pub(crate) fn prepared(
        &self,
        name: &str,
        bytes: &[u8],
    ) -> Result<chicane_store::NewFile, picture::FileError> {
        let _turn = lock(&self.decoding);
        picture::prepare(name, bytes)
    }

    /// The content of a file of a project.
    pub fn file(&self, id: &ProjectId, name: &str) -> Result<Vec<u8>, StudioError> {
        self.row(id)?;
        self.projects().file(id.as_str(), name)?.ok_or(StudioError::NoFile)
    }

    /// Deletes a file of a project.
    pub fn delete_file(
        &self,
        id: &ProjectId,
        name: &str,
        editor: Option<&str>,
    ) -> Result<DeletedFile, StudioError> {
        let head = changed(self.projects().delete_file(id.as_str(), name, &time::now())?)?;
        self.watchers.changed(&head.id, head.revision, editor);
        Ok(DeletedFile { deleted: name.to_owned(), revision: head.revision })
    }

    /// What an editor draws for a document.
    pub fn preview(&self, request: &PreviewRequest) -> Result<PreviewAnswer, StudioError> {
        let project = Project::from_value(&request.document)?;
        let Some(id) = &request.project else { return Ok(preview_of(&preview(&project, None))) };
        self.row(id)?;
        let files = self.projects().stored_files(id.as_str());
        Ok(preview_of(&preview(&project, Some(&files))))
    }

    /// All findings of a project, with their positions.
    pub(crate) fn findings(&self, id: &ProjectId, project: &Project) -> Vec<chicane_wire::PreviewFinding> {
        findings(&preview(project, Some(&self.projects().stored_files(id.as_str()))).findings)
    }

    /// A small picture of a project from above (JPEG), and the revision that it shows.
    pub fn thumbnail(&self, id: &ProjectId) -> Result<(u64, Bytes), StudioError> {
        let (revision, project) = self.project(id)?;
        if let Some((known, jpeg)) = lock(&self.thumbnails).get(id.as_str())
            && *known == revision
        {
            return Ok((revision, jpeg.clone()));
        }
        let jpeg = {
            let _turn = lock(&self.decoding);
            Bytes::from(plan::draw(&project, &self.projects().stored_files(id.as_str())))
        };
        let mut thumbnails = lock(&self.thumbnails);
        if thumbnails.len() >= MAX_THUMBNAILS {
            thumbnails.pop_first();
        }
        thumbnails.insert(id.to_string(), (revision, jpeg.clone()));
        Ok((revision, jpeg))
    }

    /// The waypoints of a project as a NumPy file, and the name of the project.
    pub fn waypoints(&self, id: &ProjectId) -> Result<(String, Vec<u8>), StudioError> {
        let (_, project) = self.project(id)?;
        let npy = chicane_builder::TrackLine::of(&project.track).route().to_npy();
        Ok((project.name.as_str().to_owned(), npy))
    }

    /// The judging script of a project. `None` if the script is not a file of the project, or if
    /// the file is missing or is not UTF-8 text.
    pub fn own_script(&self, id: &ProjectId) -> Result<Option<String>, StudioError> {
        use chicane_builder::project::Script;
        let (_, project) = self.project(id)?;
        let Some(Script::File(name)) = project.evaluation.and_then(|e| e.script) else { return Ok(None) };
        let bytes = self.projects().file(id.as_str(), name.as_str())?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// Stores that the simulator runs the world of this project under the name `world`.
    pub fn set_driven(&self, id: &ProjectId, world: &str) -> Result<(), StoreError> {
        self.projects().set_driven(id.as_str(), world)
    }
}

fn done(write: ProjectWrite) -> Result<ProjectHead, StudioError> {
    match write {
        ProjectWrite::Done(head) => Ok(head),
        ProjectWrite::Missing => Err(StudioError::NoProject),
        ProjectWrite::TooManyProjects => Err(StudioError::TooManyProjects),
        ProjectWrite::Conflict(row) => {
            Err(StudioError::Conflict { revision: row.head.revision, document: value(&row.document) })
        }
    }
}

fn changed(change: FileChange) -> Result<ProjectHead, StudioError> {
    match change {
        FileChange::Done(head) => Ok(head),
        FileChange::MissingProject => Err(StudioError::NoProject),
        FileChange::MissingFile => Err(StudioError::NoFile),
        FileChange::TooManyFiles => Err(StudioError::TooManyFiles),
        FileChange::TooLarge => Err(StudioError::FilesTooLarge),
    }
}

/// The stored document as a JSON value. Only valid documents are stored.
fn value(document: &str) -> Value {
    serde_json::from_str(document).unwrap_or_default()
}

fn entry(head: &ProjectHead, summary: Summary) -> ProjectEntry {
    ProjectEntry {
        id: head.id.clone(),
        name: summary.name,
        display_name: summary.display_name,
        revision: head.revision,
        updated: head.updated_at.clone(),
        width: Num(summary.size[0]),
        height: Num(summary.size[1]),
        nodes: summary.nodes as u32,
        objects: summary.objects as u32,
        errors: summary.errors as u32,
        warnings: summary.warnings as u32,
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
