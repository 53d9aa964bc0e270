//! `chicane backup` and `chicane restore`.

use crate::args::{BackupArgs, RestoreArgs};
use crate::data_dir::{self, DataDirError};
use chicane_store::{BackupError, BackupSummary, RestoreError, backup, check_backup, restore};
use std::path::PathBuf;

/// Why there is no backup, or nothing was restored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupCommandError {
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    #[error("there is no data folder {}: give the folder of the simulator with --data-dir", .0.display())]
    NoFolder(PathBuf),
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error(transparent)]
    Restore(#[from] RestoreError),
}

impl BackupCommandError {
    /// Whether the command line names a data folder that can't be used, or a backup file that
    /// exists already.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(
            self,
            BackupCommandError::NoFolder(_)
                | BackupCommandError::Backup(BackupError::Exists(_))
                | BackupCommandError::Restore(RestoreError::NotEmpty(_) | RestoreError::NotADataFolder(_))
        )
    }
}

/// Backs up a data folder.
pub(crate) fn run(args: &BackupArgs) -> Result<(), BackupCommandError> {
    let folder = data_dir::resolve_absolute(args.data_dir.as_deref())?;
    if !folder.is_dir() {
        return Err(BackupCommandError::NoFolder(folder));
    }
    let summary = backup(&folder, &args.file)?;
    println!("{}: {}", args.file.display(), describe(&summary));
    Ok(())
}

/// Restores a data folder, or checks a backup.
pub(crate) fn run_restore(args: &RestoreArgs) -> Result<(), BackupCommandError> {
    if args.check {
        let summary = check_backup(&args.file)?;
        println!("{} is complete: {}", args.file.display(), describe(&summary));
        return Ok(());
    }
    let folder = data_dir::resolve_absolute(args.data_dir.as_deref())?;
    let restored = restore(&args.file, &folder, args.replace)?;
    println!("{}: {}", folder.display(), describe(&restored.summary));
    if let Some(old) = restored.replaced {
        println!("the old folder is {}", old.display());
    }
    Ok(())
}

fn describe(summary: &BackupSummary) -> String {
    let BackupSummary { files, bytes, created_at, chicane, .. } = summary;
    let size = *bytes as f64 / 1e6;
    format!("database and {files} files of {created_at}, {size:.1} MB, made by chicane {chicane}")
}
