//! A data folder, which only one process can open at a time.

use crate::database;
use crate::held_folder::{FolderReplaced, HeldFolder};
use crate::known_folders::{self, DATABASE};
use crate::open_error::OpenError;
use crate::projects::Projects;
use crate::records::Records;
use crate::salvage;
use crate::settings::Settings;
use crate::submissions::Submissions;
use rusqlite::Connection;
use std::fs::{DirBuilder, File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An open data folder. Other processes can open the folder only after this value is dropped or
/// this process ends.
#[derive(Debug)]
pub struct Data {
    // Fields are dropped in this order, so the databases are closed before the lock is released.
    settings: Settings,
    records: Records,
    submissions: Submissions,
    projects: Projects,
    folder: HeldFolder,
    salvaged: Option<String>,
    _lock: DataLock,
}

impl Data {
    /// Opens a data folder, or creates it. Blocks, because the whole database is checked.
    pub fn open(dir: &Path) -> Result<Data, OpenError> {
        let (dir, file) = database_file(dir)?;
        create_private(&dir).map_err(|e| unwritable(&dir, &e))?;
        let folder = HeldFolder::open(&dir).map_err(|e| unwritable(&dir, &e))?;
        let lock = DataLock::take(&folder)?;
        let (connection, salvaged) = open_or_salvage(&file)?;
        let settings = Settings::new(connection);
        // The records use a second connection, so that a long write of a record does not block a
        // thread that reads the settings.
        let records = Records::new(database::open(&file)?);
        // `open_shared` does not check the content of the file, because `open_or_salvage` has
        // checked it.
        let submissions = Submissions::new(database::open_shared(&file)?);
        let projects = Projects::new(database::open_shared(&file)?);
        // The database was opened by its path and not through the open folder, because SQLite
        // resolves the links of a path. If the folder was replaced meanwhile, the opened database
        // is not in the locked folder.
        folder.check().map_err(|e| OpenError::Unwritable { path: dir.clone(), reason: e.to_string() })?;
        known_folders::remember(&dir);
        Ok(Data { settings, records, submissions, projects, folder, salvaged, _lock: lock })
    }

    /// What was saved from a damaged database when the folder was opened, as a text for people.
    /// `None` if the database was not damaged. The same text is in the log.
    pub fn salvaged(&self) -> Option<&str> {
        self.salvaged.as_deref()
    }

    /// The settings in this folder.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The records of evaluations in this folder.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// The submissions of the leaderboard in this folder.
    pub fn submissions(&self) -> &Submissions {
        &self.submissions
    }

    /// The projects of the world builder in this folder.
    pub fn projects(&self) -> &Projects {
        &self.projects
    }

    /// The folder, as an absolute path.
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// The open folder. Files are opened through it, so that a renamed parent of the folder does
    /// not lead to files of another folder.
    pub fn folder(&self) -> &HeldFolder {
        &self.folder
    }

    /// Fails if the path of the folder no longer leads to the locked folder.
    pub fn check(&self) -> Result<(), FolderReplaced> {
        self.folder.check()
    }
}

/// Opens the database. A damaged database is first replaced by its readable part. Also returns a
/// text about what was saved. The text is `None` if the database was not damaged.
fn open_or_salvage(file: &Path) -> Result<(Connection, Option<String>), OpenError> {
    let (path, reason) = match database::open(file) {
        Err(OpenError::Damaged { path, reason }) => (path, reason),
        result => return result.map(|connection| (connection, None)),
    };
    match salvage::salvage(file) {
        Ok(salvaged) => {
            let file = file.display();
            let text = format!("{file} was damaged ({reason}): {salvaged}. Compare it with a backup");
            tracing::warn!("{text}");
            Ok((database::open(&path)?, Some(text)))
        }
        Err(error) => {
            let reason = format!("{reason}; nothing could be salvaged: {error}");
            Err(OpenError::Damaged { path, reason })
        }
    }
}

/// Number of bytes that this user can still write to the disk of a folder.
pub fn free_space(dir: &Path) -> std::io::Result<u64> {
    let about = rustix::fs::statvfs(dir)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

/// Whether a data folder has a database. Fails if the folder can't be examined.
pub fn has_database(dir: &Path) -> std::io::Result<bool> {
    match std::fs::symlink_metadata(dir.join(DATABASE)) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The absolute path of a data folder and of its database. SQLite may interpret a relative path as
/// a URI, but never an absolute path.
pub(crate) fn database_file(dir: &Path) -> Result<(PathBuf, PathBuf), OpenError> {
    let dir = std::path::absolute(dir).map_err(|e| unwritable(dir, &e))?;
    let file = dir.join(DATABASE);
    Ok((dir, file))
}

pub(crate) fn unwritable(path: &Path, e: &std::io::Error) -> OpenError {
    OpenError::Unwritable { path: path.to_owned(), reason: e.to_string() }
}

/// Creates a folder and its missing parents, with access for this user only.
pub fn create_private(dir: &Path) -> std::io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let parent = dir.parent().unwrap_or(dir);
    if parent != dir {
        create_private(parent)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(dir) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        Err(e) => Err(e),
        Ok(()) => {
            // The parent folder is flushed to disk. Otherwise a power cut could lose the new folder
            // and its files. Errors are ignored, because not every file system supports this call.
            let _ = File::open(parent).and_then(|parent| parent.sync_all());
            Ok(())
        }
    }
}

/// How long to wait for a lock whose owner has ended. A child process of the owner may still hold
/// the lock for a moment.
const ORPHANED_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The lock of a folder. The operating system releases it when the process ends.
#[derive(Debug)]
pub(crate) struct DataLock(File);

impl DataLock {
    /// Takes the lock and writes the id of this process into the lock file.
    pub(crate) fn take(folder: &HeldFolder) -> Result<DataLock, OpenError> {
        let (dir, path) = (folder.path(), folder.join("lock"));
        let failed = |e: std::io::Error| unwritable(&dir.join("lock"), &e);
        // The file is not truncated, because it may hold the process id of another owner.
        let options = File::options().read(true).write(true).create(true).truncate(false).clone();
        let file = options.open(&path).map_err(failed)?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    let pid = owner(&path);
                    // If the owner was killed while it was starting a child process, the child
                    // inherited the open file. The child then holds the lock for a moment.
                    if !pid.is_some_and(is_gone) || began.elapsed() > ORPHANED_LOCK_TIMEOUT {
                        return Err(OpenError::InUse { dir: dir.to_owned(), pid });
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::Error(e)) => return Err(failed(e)),
            }
        }
        let mut lock = DataLock(file);
        lock.0.set_len(0).map_err(failed)?;
        writeln!(lock.0, "{}", std::process::id()).map_err(failed)?;
        Ok(lock)
    }
}

/// The process id in a lock file. `None` if the file can't be read or has no process id.
fn owner(path: &Path) -> Option<u32> {
    let mut pid = String::new();
    File::open(path).ok()?.take(16).read_to_string(&mut pid).ok()?;
    pid.trim().parse().ok()
}

/// Whether a process has ended. False if the system has no `/proc`.
fn is_gone(pid: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{pid}")).exists()
}

impl Drop for DataLock {
    fn drop(&mut self) {
        // Closing the file is not enough, because a child process that is just being started may
        // have the file open too.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_folder::TempFolder;
    use std::collections::BTreeMap;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    const HOLD: &str = "CHICANE_TEST_HOLD";

    #[test]
    fn settings_are_kept_when_the_folder_is_opened_again() {
        let scratch = TempFolder::new();
        let lights = BTreeMap::from([("a".to_owned(), true), ("b".to_owned(), false)]);
        {
            let data = Data::open(scratch.path()).expect("opens");
            assert_eq!(data.dir(), scratch.path());
            data.settings().set_brightness(1.25).expect("set");
            data.settings().set_last_world("oval").expect("set");
            data.settings().set_lights("oval", &lights).expect("set");
        }
        for _ in 0..2 {
            let data = Data::open(scratch.path()).expect("opens again");
            assert_eq!(data.settings().brightness(), Ok(Some(1.25)));
            assert_eq!(data.settings().last_world(), Ok(Some("oval".to_owned())));
            assert_eq!(data.settings().lights("oval"), Ok(lights.clone()));
        }
    }

    #[test]
    fn folders_are_created_for_this_user_only() {
        let scratch = TempFolder::new();
        let deep = scratch.path().join("a/b");
        let data = Data::open(&deep).expect("opens");
        assert_eq!(data.dir(), deep);
        assert!(deep.join(DATABASE).is_file());
        #[cfg(unix)]
        for dir in [scratch.path().join("a"), deep] {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(dir).expect("made").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_named() {
        let scratch = TempFolder::new();
        let file = scratch.path().join("file");
        std::fs::write(&file, "").expect("written");
        for dir in [file.clone(), file.join("deeper")] {
            let e = Data::open(&dir).expect_err("a file opens");
            assert!(matches!(&e, OpenError::Unwritable { path, .. } if *path == dir), "{e:?}");
            assert!(e.to_string().starts_with(&format!("can't write {}: ", dir.display())), "{e}");
        }
    }

    #[test]
    fn a_second_open_in_this_process_is_refused() {
        let scratch = TempFolder::new();
        let data = Data::open(scratch.path()).expect("opens");
        let e = Data::open(scratch.path()).expect_err("opens twice");
        let (dir, pid) = (scratch.path().to_owned(), std::process::id());
        assert_eq!(e, OpenError::InUse { dir: dir.clone(), pid: Some(pid) });
        let expected = format!(
            "data folder {} is in use by another chicane (pid {pid}); \
             stop it, or choose another with --data-dir",
            dir.display()
        );
        assert_eq!(e.to_string(), expected);
        drop(data);
        Data::open(scratch.path()).expect("opens when it is free");
    }

    #[test]
    fn a_lock_file_without_a_process_id_still_locks() {
        let scratch = TempFolder::new();
        let _data = Data::open(scratch.path()).expect("opens");
        for text in ["", "x", "99999999999999999999999999"] {
            std::fs::write(scratch.path().join("lock"), text).expect("written");
            let e = Data::open(scratch.path()).expect_err("opens twice");
            assert!(matches!(e, OpenError::InUse { pid: None, .. }), "{e:?}");
            assert!(e.to_string().contains("another chicane; stop it"), "{e}");
        }
    }

    #[test]
    fn a_lock_of_an_ended_process_is_waited_for() {
        let scratch = TempFolder::new();
        let mut other = Command::new("true").spawn().expect("started");
        other.wait().expect("ended");
        let lock = File::create(scratch.path().join("lock")).expect("made");
        lock.lock().expect("locked");
        std::fs::write(scratch.path().join("lock"), other.id().to_string()).expect("written");
        let began = Instant::now();
        let e = Data::open(scratch.path()).expect_err("it is locked");
        assert!(matches!(e, OpenError::InUse { .. }) && began.elapsed() >= ORPHANED_LOCK_TIMEOUT, "{e:?}");
        // The lock is released before or while `Data::open` waits, so `Data::open` succeeds.
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| Data::open(scratch.path()).map(drop));
            lock.unlock().expect("free");
            assert_eq!(opened.join().expect("no panic"), Ok(()));
        });
    }

    #[test]
    fn a_damaged_database_releases_the_folder() {
        let scratch = TempFolder::new();
        let path = scratch.path().join(DATABASE);
        std::fs::write(&path, "garbage").expect("written");
        for _ in 0..2 {
            let e = Data::open(scratch.path()).expect_err("garbage opens");
            assert!(matches!(e, OpenError::Damaged { .. }), "{e:?}");
        }
        std::fs::rename(&path, scratch.path().join("away")).expect("moved");
        Data::open(scratch.path()).expect("starts again, as the error says");
    }

    #[test]
    fn another_process_locks_the_folder_until_it_is_killed() {
        let scratch = TempFolder::new();
        let mut other = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "data::tests::hold_for_another_process", "--ignored", "--nocapture"])
            .env(HOLD, scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let output = BufReader::new(other.stdout.take().expect("its output")).lines();
        let held = output.map_while(Result::ok).any(|line| line.ends_with("held"));
        let refused = Data::open(scratch.path()).map(drop);
        other.kill().expect("killed");
        other.wait().expect("ended");
        assert!(held, "the other process could not open the folder");
        let (dir, pid) = (scratch.path().to_owned(), Some(other.id()));
        assert_eq!(refused, Err(OpenError::InUse { dir, pid }));
        // The killed process could not clean up, but its setting is stored.
        let data = Data::open(scratch.path()).expect("opens when the other is gone");
        assert_eq!(data.settings().brightness(), Ok(Some(0.5)));
    }

    #[test]
    #[ignore = "the other process of the test above, which starts it"]
    fn hold_for_another_process() {
        let Some(dir) = std::env::var_os(HOLD) else { return };
        let data = Data::open(Path::new(&dir)).expect("opens");
        data.settings().set_brightness(0.5).expect("set");
        println!("held");
        // This read blocks until this process is killed, or until the parent ends and so closes the
        // pipe.
        let _ = std::io::stdin().read(&mut [0]);
    }

    #[test]
    fn data_can_be_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<Data>();
    }
}
