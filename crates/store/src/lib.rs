//! Worlds on this machine and on a CDN, and the data folder with settings and records.
//!
//! This crate reads and writes the disk, so that the crate `world` does not have to. It opens no
//! network connection: the caller downloads the files of a published world and writes them to a
//! [`Staging`], and passes the client of a bucket to [`Cdn`].
#![allow(clippy::disallowed_methods)]

mod backup;
mod data;
mod database;
mod folder_lock;
mod held_folder;
mod install;
mod installed_worlds;
mod journals;
mod known_folders;
mod library;
mod manifest;
mod open_error;
mod package;
mod projects;
mod publish;
mod records;
mod restore;
mod rules;
pub mod run_file;
mod salvage;
mod settings;
mod submissions;
mod sum;
mod summary;
#[cfg(test)]
mod temp_folder;
pub mod time;

pub use backup::{BackupError, BackupSummary, backup};
pub use chicane_bundles::{BuiltIn, FolderBundle};
pub use data::{Data, create_private, free_space, has_database};
pub use held_folder::{FolderReplaced, HeldFolder};
pub use install::{CheckedWorld, InstallError, InstallPlan, PlannedFile, Staged, StagedFileWriter, Staging};
pub use installed_worlds::{InstalledRecord, InstalledWorlds};
pub use journals::{JournalPart, JournalPiece, StoredJournal};
pub use known_folders::{default_data_folder, known_folders};
pub use library::{Library, LibraryEntry, LoadError, ReplacedWorld};
pub use manifest::{Access, Listed, MAX_MANIFEST, MAX_META, Manifest, Meta, Rev, is_name};
pub use open_error::OpenError;
pub use package::{IdPlaceholder, Label, Need, Package};
pub use projects::{
    DrivenProject, FileChange, NewFile, ProjectFile, ProjectHead, ProjectRow, ProjectWrite, Projects,
    StoredFiles,
};
pub use publish::{Cdn, PublishError, media_type};
pub use records::{Addition, NewSession, Records, SessionResult, SessionRow, StoredRun};
pub use restore::{RestoreError, Restored, check_backup, restore};
pub use rules::{FilePath, MAX_TOTAL, Unfit};
pub use settings::{Settings, StoreError};
pub use submissions::{NewSubmission, SubmissionRow, SubmissionRunRow, Submissions};
pub use sum::{RandomError, Sum, random_hex};
pub use summary::Summary;
