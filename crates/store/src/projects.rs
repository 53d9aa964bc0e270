//! The projects of the world builder: their documents, revisions and files.
//!
//! Every change of a document or a file gives the project a new revision. An editor that saves a
//! document names the revision that it has changed, so that two editors cannot overwrite each
//! other's changes of the document. A deleted project can be restored until [`MAX_DELETED`] other
//! projects are deleted after it.

use crate::settings::StoreError;
use crate::sum::Sum;
use chicane_builder::project::WorldName;
use chicane_builder::{Files, Project, build};
use chicane_world::MemoryBundle;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// Largest number of projects. Deleted projects do not count.
const MAX_PROJECTS: i64 = 200;
/// Number of deleted projects that can be restored.
const MAX_DELETED: i64 = 20;
/// Largest number of files of a project.
const MAX_FILES: i64 = 64;
/// Largest size of all files of a project, in bytes.
const MAX_FILE_BYTES: i64 = 32 << 20;

/// A project without its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectHead {
    /// Id of the project.
    pub id: String,
    /// The revision. It grows with every change.
    pub revision: u64,
    /// Time of the last change, RFC 3339.
    pub updated_at: String,
    /// Whether the project is deleted.
    pub deleted: bool,
}

/// A project with its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRow {
    /// Id, revision and time.
    pub head: ProjectHead,
    /// The document, as JSON text.
    pub document: String,
}

/// A file of a project, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Name of the file, relative to the project.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Width and height in pixels; `None` for a script.
    pub size: Option<[u32; 2]>,
}

/// A file to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Name of the file, relative to the project.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// Width and height in pixels; `None` for a script.
    pub size: Option<[u32; 2]>,
}

/// The result of a change of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectWrite {
    /// The change is stored.
    Done(ProjectHead),
    /// There is no such project.
    Missing,
    /// The change is refused, because it is based on a revision that is no longer the current one.
    /// Holds the current project.
    Conflict(ProjectRow),
    /// There are too many projects.
    TooManyProjects,
}

/// The result of a change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// The change is stored.
    Done(ProjectHead),
    /// There is no such project.
    MissingProject,
    /// There is no such file.
    MissingFile,
    /// The project has too many files.
    TooManyFiles,
    /// The files of the project are too large together.
    TooLarge,
}

/// The world of a project that was driven.
pub struct DrivenProject {
    /// Display name.
    pub display: String,
    /// 12 hex digits that change with the files.
    pub rev: String,
    /// The files of the world.
    pub bundle: MemoryBundle,
}

/// The projects of a data folder. All calls block. A write is on disk when its call returns.
#[derive(Debug)]
pub struct Projects {
    connection: Mutex<Connection>,
}

/// The files of one project. Each one is read from the database when it is needed.
pub struct StoredFiles<'a> {
    projects: &'a Projects,
    id: &'a str,
}

impl Files for StoredFiles<'_> {
    fn read(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.projects.file(self.id, name).ok().flatten().map(Cow::Owned)
    }
}

impl Projects {
    /// Largest number of projects. Deleted projects do not count.
    pub const MAX: usize = MAX_PROJECTS as usize;
    /// Largest number of files of a project.
    pub const MAX_FILES: usize = MAX_FILES as usize;
    /// Largest size of all files of a project, in bytes.
    pub const MAX_FILE_BYTES: usize = MAX_FILE_BYTES as usize;

    pub(crate) fn new(connection: Connection) -> Projects {
        Projects { connection: Mutex::new(connection) }
    }

    /// All projects that are not deleted, the last changed project first. The deleted projects
    /// follow, the last deleted project first.
    pub fn heads(&self) -> Result<Vec<ProjectHead>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT id, revision, updated_at, deleted FROM project
                 ORDER BY deleted IS NOT NULL, deleted DESC, updated_at DESC, number DESC";
            connection.prepare(sql)?.query_map([], read_head)?.collect()
        })
    }

    /// A project. If `deleted` is true, only deleted projects are found; otherwise only projects
    /// that are not deleted.
    pub fn find(&self, id: &str, deleted: bool) -> Result<Option<ProjectRow>, StoreError> {
        self.with(|connection| row_of(connection, id).map(|row| row.filter(|r| r.head.deleted == deleted)))
    }

    /// Stores a new project with its files. The caller has checked the limits of the files.
    pub fn add(
        &self,
        id: &str,
        document: &str,
        files: &[NewFile],
        now: &str,
    ) -> Result<ProjectWrite, StoreError> {
        self.change(|change| {
            if count(change)? >= MAX_PROJECTS {
                return Ok(ProjectWrite::TooManyProjects);
            }
            let sql = "INSERT INTO project (id, document, revision, updated_at) VALUES (?1, ?2, 1, ?3)";
            change.execute(sql, params![id, document, now])?;
            let number = change.last_insert_rowid();
            for file in files {
                write_file(change, number, file)?;
            }
            let head =
                ProjectHead { id: id.to_owned(), revision: 1, updated_at: now.to_owned(), deleted: false };
            Ok(ProjectWrite::Done(head))
        })
    }

    /// Replaces the document of a project, if its revision is still `revision`.
    pub fn save(
        &self,
        id: &str,
        revision: u64,
        document: &str,
        now: &str,
    ) -> Result<ProjectWrite, StoreError> {
        self.change(|change| {
            let Some(row) = row_of(change, id)?.filter(|row| !row.head.deleted) else {
                return Ok(ProjectWrite::Missing);
            };
            if row.head.revision != revision {
                return Ok(ProjectWrite::Conflict(row));
            }
            change.execute("UPDATE project SET document = ?2 WHERE id = ?1", params![id, document])?;
            Ok(ProjectWrite::Done(advance(change, id, now)?))
        })
    }

    /// Deletes a project. Returns false if there is no such project.
    pub fn delete(&self, id: &str) -> Result<bool, StoreError> {
        self.change(|change| {
            let sql = "UPDATE project SET deleted = (SELECT coalesce(max(deleted), 0) + 1 FROM project)
                 WHERE id = ?1 AND deleted IS NULL";
            let done = change.execute(sql, [id])? > 0;
            let old = "SELECT number FROM project WHERE deleted IS NOT NULL
                 ORDER BY deleted DESC LIMIT -1 OFFSET ?1";
            let old: Vec<i64> =
                change.prepare(old)?.query_map([MAX_DELETED], |row| row.get(0))?.collect::<Result<_, _>>()?;
            for number in old {
                change.execute("DELETE FROM project_file WHERE project = ?1", [number])?;
                change.execute("DELETE FROM project WHERE number = ?1", [number])?;
            }
            Ok(done)
        })
    }

    /// Makes a deleted project visible again.
    pub fn restore(&self, id: &str) -> Result<ProjectWrite, StoreError> {
        self.change(|change| {
            let Some(row) = row_of(change, id)?.filter(|row| row.head.deleted) else {
                return Ok(ProjectWrite::Missing);
            };
            if count(change)? >= MAX_PROJECTS {
                return Ok(ProjectWrite::TooManyProjects);
            }
            change.execute("UPDATE project SET deleted = NULL WHERE id = ?1", [id])?;
            Ok(ProjectWrite::Done(ProjectHead { deleted: false, ..row.head }))
        })
    }

    /// The files of a project, sorted by name.
    pub fn files(&self, id: &str) -> Result<Vec<ProjectFile>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT name, length(bytes), width, height FROM project_file
                 WHERE project = (SELECT number FROM project WHERE id = ?1) ORDER BY name";
            let read = |row: &Row<'_>| {
                let sides: (Option<u32>, Option<u32>) = (row.get(2)?, row.get(3)?);
                Ok(ProjectFile {
                    name: row.get(0)?,
                    bytes: row.get::<_, i64>(1)?.cast_unsigned(),
                    size: sides.0.zip(sides.1).map(|(width, height)| [width, height]),
                })
            };
            connection.prepare(sql)?.query_map([id], read)?.collect()
        })
    }

    /// The content of a file of a project. `None` if there is no such project or no such file.
    pub fn file(&self, id: &str, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT bytes FROM project_file
                 WHERE project = (SELECT number FROM project WHERE id = ?1) AND name = ?2";
            connection.query_row(sql, params![id, name], |row| row.get(0)).optional()
        })
    }

    /// The files of a project, for the builder.
    pub fn stored_files<'a>(&'a self, id: &'a str) -> StoredFiles<'a> {
        StoredFiles { projects: self, id }
    }

    /// Stores a file of a project, or replaces it.
    pub fn put_file(&self, id: &str, file: &NewFile, now: &str) -> Result<FileChange, StoreError> {
        self.change(|change| {
            let Some(number) = number_of(change, id)? else { return Ok(FileChange::MissingProject) };
            let sql = "SELECT count(*), coalesce(sum(length(bytes)), 0) FROM project_file
                 WHERE project = ?1 AND name <> ?2";
            let (files, bytes): (i64, i64) =
                change.query_row(sql, params![number, file.name], |row| Ok((row.get(0)?, row.get(1)?)))?;
            if files >= MAX_FILES {
                return Ok(FileChange::TooManyFiles);
            }
            if bytes.saturating_add(file.bytes.len() as i64) > MAX_FILE_BYTES {
                return Ok(FileChange::TooLarge);
            }
            write_file(change, number, file)?;
            Ok(FileChange::Done(advance(change, id, now)?))
        })
    }

    /// Deletes a file of a project.
    pub fn delete_file(&self, id: &str, name: &str, now: &str) -> Result<FileChange, StoreError> {
        self.change(|change| {
            let Some(number) = number_of(change, id)? else { return Ok(FileChange::MissingProject) };
            let sql = "DELETE FROM project_file WHERE project = ?1 AND name = ?2";
            if change.execute(sql, params![number, name])? == 0 {
                return Ok(FileChange::MissingFile);
            }
            Ok(FileChange::Done(advance(change, id, now)?))
        })
    }

    /// Stores that the simulator drives in the world of this project. `name` is the name of this
    /// world.
    pub fn set_driven(&self, id: &str, name: &str) -> Result<(), StoreError> {
        self.change(|change| {
            change.execute("UPDATE project SET driven_as = NULL WHERE driven_as = ?1", [name])?;
            change.execute("UPDATE project SET driven_as = ?2 WHERE id = ?1", params![id, name])?;
            Ok(())
        })
    }

    /// The world with this name, built from the project that [`Projects::set_driven`] stored for
    /// the name. `None` if there is no such project, or if the world can't be built from the
    /// project's current document.
    pub fn driven(&self, name: &str) -> Result<Option<DrivenProject>, StoreError> {
        let found: Option<(String, String)> = self.with(|connection| {
            let sql = "SELECT id, document FROM project WHERE driven_as = ?1 AND deleted IS NULL";
            connection.query_row(sql, [name], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })?;
        let Some((id, document)) = found else { return Ok(None) };
        let project = Project::read(document.as_bytes()).ok().zip(WorldName::parse(name));
        let Some((mut project, name)) = project else { return Ok(None) };
        project.name = name;
        let bundle = build(&project, &self.stored_files(&id)).ok();
        Ok(bundle.map(|bundle| DrivenProject::new(&project, bundle)))
    }

    fn change<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.with(|connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&change)?;
            change.commit()?;
            Ok(done)
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        // A poisoned lock can be used, because a panic rolls the transaction back.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|e| StoreError::Database(e.to_string()))
    }
}

impl DrivenProject {
    /// The built world of a project.
    pub fn new(project: &Project, bundle: MemoryBundle) -> DrivenProject {
        let files = bundle.files.iter().map(|(path, bytes)| (path.as_str(), Some(Cow::Borrowed(&bytes[..]))));
        let rev = Sum::of_files(files).hex().chars().take(12).collect();
        DrivenProject { display: project.display_name.clone(), rev, bundle }
    }
}

fn read_head(row: &Row<'_>) -> rusqlite::Result<ProjectHead> {
    Ok(ProjectHead {
        id: row.get(0)?,
        revision: row.get::<_, i64>(1)?.cast_unsigned(),
        updated_at: row.get(2)?,
        deleted: row.get::<_, Option<i64>>(3)?.is_some(),
    })
}

fn row_of(connection: &Connection, id: &str) -> rusqlite::Result<Option<ProjectRow>> {
    let sql = "SELECT id, revision, updated_at, deleted, document FROM project WHERE id = ?1";
    let read = |row: &Row<'_>| Ok(ProjectRow { head: read_head(row)?, document: row.get(4)? });
    connection.query_row(sql, [id], read).optional()
}

fn number_of(change: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT number FROM project WHERE id = ?1 AND deleted IS NULL";
    change.query_row(sql, [id], |row| row.get(0)).optional()
}

fn count(change: &Transaction<'_>) -> rusqlite::Result<i64> {
    change.query_row("SELECT count(*) FROM project WHERE deleted IS NULL", [], |row| row.get(0))
}

/// Gives a project its next revision.
fn advance(change: &Transaction<'_>, id: &str, now: &str) -> rusqlite::Result<ProjectHead> {
    let sql = "UPDATE project SET revision = revision + 1, updated_at = ?2 WHERE id = ?1
         RETURNING id, revision, updated_at, deleted";
    change.query_row(sql, params![id, now], read_head)
}

fn write_file(change: &Transaction<'_>, project: i64, file: &NewFile) -> rusqlite::Result<()> {
    let [width, height] = [0, 1].map(|side| file.size.map(|size| size[side]));
    let sql = "INSERT OR REPLACE INTO project_file (project, name, bytes, width, height)
         VALUES (?1, ?2, ?3, ?4, ?5)";
    change.execute(sql, params![project, file.name, file.bytes, width, height]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database;
    use crate::temp_folder::TempFolder;

    fn projects(scratch: &TempFolder) -> Projects {
        Projects::new(database::open(&scratch.path().join("chicane.db")).expect("opens"))
    }

    fn id(number: usize) -> String {
        format!("{number:016x}")
    }

    fn add(projects: &Projects, number: usize) -> ProjectWrite {
        projects.add(&id(number), "{}", &[], "2026-01-01T00:00:00Z").expect("stored")
    }

    fn picture(name: &str, bytes: usize) -> NewFile {
        NewFile { name: name.to_owned(), bytes: vec![7; bytes], size: Some([2, 3]) }
    }

    #[test]
    fn a_change_of_an_old_revision_is_refused_with_the_current_one() {
        let scratch = TempFolder::new();
        let projects = projects(&scratch);
        assert!(matches!(add(&projects, 1), ProjectWrite::Done(ProjectHead { revision: 1, .. })));
        let save = |revision, document| projects.save(&id(1), revision, document, "t").expect("answered");
        assert!(matches!(save(1, "{\"a\":1}"), ProjectWrite::Done(ProjectHead { revision: 2, .. })));
        let ProjectWrite::Conflict(row) = save(1, "{\"b\":1}") else { panic!("a lost update") };
        assert_eq!((row.head.revision, row.document.as_str()), (2, "{\"a\":1}"));
        assert_eq!(projects.save(&id(9), 1, "{}", "t"), Ok(ProjectWrite::Missing));
        assert_eq!(projects.find(&id(1), false).expect("read").expect("there").document, "{\"a\":1}");
    }

    #[test]
    fn the_last_deleted_projects_can_be_restored_with_their_files() {
        let scratch = TempFolder::new();
        let projects = projects(&scratch);
        for number in 0..30 {
            add(&projects, number);
            let done = projects.put_file(&id(number), &picture("a.png", 10), "t").expect("stored");
            assert!(matches!(done, FileChange::Done(ProjectHead { revision: 2, .. })));
        }
        for number in 0..25 {
            assert_eq!(projects.delete(&id(number)), Ok(true));
            assert_eq!(projects.delete(&id(number)), Ok(false), "twice");
        }
        let heads = projects.heads().expect("read");
        let deleted: Vec<&str> = heads.iter().filter(|h| h.deleted).map(|h| h.id.as_str()).collect();
        assert_eq!((heads.len(), deleted.len()), (25, 20));
        assert_eq!(deleted[0], id(24), "the last deleted one is first");
        assert_eq!(projects.restore(&id(4)), Ok(ProjectWrite::Missing), "too old");
        assert!(matches!(projects.restore(&id(5)), Ok(ProjectWrite::Done(_))));
        assert_eq!(projects.files(&id(5)).expect("read")[0].size, Some([2, 3]));
        assert_eq!(projects.file(&id(5), "a.png"), Ok(Some(vec![7; 10])));
        assert_eq!(projects.file(&id(4), "a.png"), Ok(None));
        assert_eq!(projects.find(&id(6), false), Ok(None));
        assert!(projects.find(&id(6), true).expect("read").is_some());
    }

    #[test]
    fn projects_and_files_are_limited() {
        let scratch = TempFolder::new();
        let projects = projects(&scratch);
        for number in 0..Projects::MAX {
            assert!(matches!(add(&projects, number), ProjectWrite::Done(_)));
        }
        assert_eq!(add(&projects, 999), ProjectWrite::TooManyProjects);
        projects.delete(&id(3)).expect("deleted");
        assert!(matches!(add(&projects, 999), ProjectWrite::Done(_)));
        assert_eq!(projects.restore(&id(3)), Ok(ProjectWrite::TooManyProjects));

        let put = |file: &NewFile| projects.put_file(&id(7), file, "t").expect("answered");
        assert!(matches!(put(&picture("big.png", Projects::MAX_FILE_BYTES)), FileChange::Done(_)));
        assert_eq!(put(&picture("one.png", 1)), FileChange::TooLarge);
        assert!(matches!(put(&picture("big.png", 5)), FileChange::Done(_)), "a replaced file does not count");
        for number in 1..Projects::MAX_FILES {
            assert!(matches!(put(&picture(&format!("{number}.png"), 1)), FileChange::Done(_)));
        }
        assert_eq!(put(&picture("more.png", 1)), FileChange::TooManyFiles);
        assert!(matches!(projects.delete_file(&id(7), "big.png", "t"), Ok(FileChange::Done(_))));
        assert_eq!(projects.delete_file(&id(7), "big.png", "t"), Ok(FileChange::MissingFile));
        assert_eq!(projects.delete_file(&id(3), "x", "t"), Ok(FileChange::MissingProject));
        assert!(matches!(put(&picture("more.png", 1)), FileChange::Done(_)));
    }
}
