//! The backups that `chicane serve --backup` makes. Their number is limited.

use crate::args::RollingBackupArgs;
use crate::file_error::FileError;
use chicane_store::{backup, create_private, time};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The beginning and the end of the names of backups. Only files with such names, and incomplete
/// files of such backups, are removed.
const PREFIX: &str = "chicane-";
const SUFFIX: &str = ".backup";
/// Time until the next attempt after a failure, unless the interval between two backups is shorter.
const RETRY: Duration = Duration::from_secs(600);

/// The folders of the backups and of the data, the interval, and the number of backups to keep.
#[derive(Debug, Clone)]
pub(crate) struct RollingBackup {
    folder: PathBuf,
    data_dir: PathBuf,
    every: Duration,
    keep: usize,
}

impl RollingBackup {
    /// Returns the backups that the command line asks for, and creates their folder. `None` without
    /// `--backup`.
    pub(crate) fn of(args: &RollingBackupArgs, data_dir: &Path) -> Result<Option<RollingBackup>, FileError> {
        let Some(folder) = &args.backup else { return Ok(None) };
        let absolute = |path: &Path| std::path::absolute(path).map_err(FileError::read(path));
        let (folder, data_dir) = (absolute(folder)?, absolute(data_dir)?);
        create_private(&folder).map_err(FileError::write(&folder))?;
        let every = Duration::from_secs_f64(args.backup_every * 3600.0);
        Ok(Some(RollingBackup { folder, data_dir, every, keep: usize::from(args.backup_keep) }))
    }

    /// Makes backups until the future is dropped. At the start and after every success, calls
    /// `made` with the time of the newest backup. If there is no backup yet, calls `made` with the
    /// current time. Otherwise an alert about old backups would not notice that the first backup
    /// fails.
    pub(crate) async fn run(self, made: impl Fn(SystemTime)) {
        made(self.newest().unwrap_or_else(SystemTime::now));
        let this = Arc::new(self);
        let mut wait = this.first_wait();
        loop {
            tokio::time::sleep(wait).await;
            let again = Arc::clone(&this);
            let result = tokio::task::spawn_blocking(move || again.make()).await;
            wait = match result {
                Ok(Ok(file)) => {
                    tracing::info!("backup: {}", file.display());
                    made(SystemTime::now());
                    this.every
                }
                Ok(Err(error)) => {
                    tracing::error!("the backup failed, and is tried again: {error}");
                    this.every.min(RETRY)
                }
                Err(error) => {
                    tracing::error!("the backup failed: {error}");
                    this.every.min(RETRY)
                }
            };
        }
    }

    /// Time until the first backup of this process. The time counts from the newest existing
    /// backup, so that frequent restarts cause no additional backups.
    fn first_wait(&self) -> Duration {
        let age = self.newest().and_then(|written| SystemTime::now().duration_since(written).ok());
        age.map_or(Duration::ZERO, |age| self.every.saturating_sub(age))
    }

    /// Time of the newest backup. `None` if there is no backup.
    fn newest(&self) -> Option<SystemTime> {
        std::fs::metadata(self.backups().pop()?).and_then(|about| about.modified()).ok()
    }

    /// Makes a backup, then removes the oldest backups until only `keep` backups are left.
    fn make(&self) -> Result<PathBuf, chicane_store::BackupError> {
        self.remove_partial();
        let file = self.folder.join(format!("{PREFIX}{}{SUFFIX}", time::now().replace(['-', ':'], "")));
        backup(&self.data_dir, &file)?;
        let all = self.backups();
        for old in &all[..all.len().saturating_sub(self.keep)] {
            if let Err(error) = std::fs::remove_file(old) {
                tracing::warn!("an old backup can't be removed: {}: {error}", old.display());
            }
        }
        Ok(file)
    }

    /// The backups in the folder, the oldest first.
    fn backups(&self) -> Vec<PathBuf> {
        let mut all = self.files(is_backup);
        // The names contain the time, so this order is by time.
        all.sort();
        all
    }

    /// Removes the incomplete backups of simulators that were killed.
    fn remove_partial(&self) {
        let is_partial = |name: &str| {
            name.split_once(".part-").is_some_and(|(name, rest)| {
                let pid = rest.strip_suffix("-db").unwrap_or(rest);
                // In a container, a simulator may get the same process id at every start. Then an
                // incomplete file with this id is from an earlier start.
                let is_own = pid == std::process::id().to_string();
                is_backup(name) && (is_own || !Path::new("/proc").join(pid).exists())
            })
        };
        for file in self.files(is_partial) {
            let _ = std::fs::remove_file(file);
        }
    }

    fn files(&self, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_wanted = |entry: &std::fs::DirEntry| {
            entry.file_name().to_str().is_some_and(&wanted)
                && entry.file_type().is_ok_and(|kind| kind.is_file())
        };
        entries.filter(is_wanted).map(|entry| entry.path()).collect()
    }
}

/// Whether a name is that of a backup, such as `chicane-20260101T000000Z.backup`.
fn is_backup(name: &str) -> bool {
    let stamp = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    stamp.is_some_and(|stamp| {
        stamp.len() == 16 && stamp.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'T' | b'Z'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_folder::TempFolder;
    use chicane_store::Data;

    #[test]
    fn only_the_newest_backups_are_kept_and_other_files_stay() {
        let scratch = TempFolder::new().expect("a folder");
        let (data_dir, folder) = (scratch.path().join("data"), scratch.path().join("backups"));
        drop(Data::open(&data_dir).expect("opens"));
        let args = RollingBackupArgs { backup: Some(folder.clone()), backup_every: 1.0, backup_keep: 2 };
        let rolling = RollingBackup::of(&args, &data_dir).expect("a folder").expect("backups");
        assert_eq!(rolling.first_wait(), Duration::ZERO);
        for name in ["chicane-20200101T000000Z.backup", "chicane-20210101T000000Z.backup", "mine.backup"] {
            std::fs::write(folder.join(name), "").expect("written");
        }
        let partial = folder.join("chicane-20200101T000000Z.backup.part-4294967294");
        std::fs::write(&partial, "").expect("written");
        let made = rolling.make().expect("made");
        assert_eq!(rolling.backups(), [folder.join("chicane-20210101T000000Z.backup"), made]);
        assert!(folder.join("mine.backup").exists() && !partial.exists());
        assert!(rolling.first_wait() > Duration::from_secs(3000), "the newest backup is fresh");
    }
}
