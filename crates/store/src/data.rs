//! A data folder, held by one process.

use crate::database;
use crate::records::Records;
use crate::settings::Settings;
use std::fs::{DirBuilder, File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Why a data folder can't be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The folder, or a file in it, can't be made or written.
    #[error(
        "can't write {}: {reason}; make it writable, or choose another folder with --data-dir",
        path.display()
    )]
    Unwritable {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Another process holds the folder.
    #[error(
        "data folder {} is in use by another chicane{}; stop it, or choose another with --data-dir",
        dir.display(), named(*pid)
    )]
    InUse {
        /// The folder.
        dir: PathBuf,
        /// Who holds it, where it says so.
        pid: Option<u32>,
    },
    /// The database is not one, or is torn.
    #[error(
        "{} is not a database that chicane can read: move it away and start again; {reason}",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The database has a form that is not known yet.
    #[error(
        "{} was made by a newer chicane (database version {found}, this one knows {known}): \
         start that one, or choose another folder with --data-dir",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: i64,
        /// The newest version that is known.
        known: usize,
    },
}

/// A data folder. Nobody else can open it before this is dropped, or its process ends in any way.
#[derive(Debug)]
pub struct Data {
    // Closed before the lock goes: fields are dropped in this order.
    settings: Settings,
    records: Records,
    dir: PathBuf,
    _lock: Lock,
}

impl Data {
    /// Opens a data folder, or makes it. Blocks: it reads all that is stored.
    pub fn open(dir: &Path) -> Result<Data, OpenError> {
        // An absolute path is never taken for a URI by SQLite.
        let dir = std::path::absolute(dir).map_err(|e| unwritable(dir, &e))?;
        make(&dir).map_err(|e| unwritable(&dir, &e))?;
        let lock = Lock::take(&dir)?;
        let file = dir.join("chicane.db");
        let settings = Settings::new(database::open(&file)?);
        // A way of its own: whoever writes a long record keeps no setting waiting for a lock.
        let records = Records::new(database::open(&file)?);
        Ok(Data { settings, records, dir, _lock: lock })
    }

    /// The settings kept here.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The records of evaluations kept here.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// The folder, as an absolute path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

fn unwritable(path: &Path, e: &std::io::Error) -> OpenError {
    OpenError::Unwritable { path: path.to_owned(), reason: e.to_string() }
}

fn named(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
}

/// Makes a folder, and those above it, for this user alone.
pub fn make(dir: &Path) -> std::io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let parent = dir.parent().unwrap_or(dir);
    if parent != dir {
        make(parent)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(dir) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        Err(e) => Err(e),
        Ok(()) => {
            // Else a power cut could take the folder, and with it what was stored. Not every
            // system can do this, or lets us.
            let _ = File::open(parent).and_then(|parent| parent.sync_all());
            Ok(())
        }
    }
}

/// How long a lock outlives the process that had it, at most.
const LAST_BREATH: Duration = Duration::from_secs(2);

/// The lock of a folder. The system lets go of it when the process ends.
#[derive(Debug)]
struct Lock(File);

impl Lock {
    /// Takes the lock and signs it.
    fn take(dir: &Path) -> Result<Lock, OpenError> {
        let path = dir.join("lock");
        let failed = |e: std::io::Error| unwritable(&path, &e);
        // Not truncated: it may be signed by another.
        let options = File::options().read(true).write(true).create(true).truncate(false).clone();
        let file = options.open(&path).map_err(failed)?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    let pid = signed(&path);
                    // One that was killed may have been starting a program, which has the file too, for a moment.
                    if !pid.is_some_and(is_gone) || began.elapsed() > LAST_BREATH {
                        return Err(OpenError::InUse { dir: dir.to_owned(), pid });
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::Error(e)) => return Err(failed(e)),
            }
        }
        let mut lock = Lock(file);
        lock.0.set_len(0).map_err(failed)?;
        writeln!(lock.0, "{}", std::process::id()).map_err(failed)?;
        Ok(lock)
    }
}

/// Who signed a lock.
fn signed(path: &Path) -> Option<u32> {
    let mut pid = String::new();
    File::open(path).ok()?.take(16).read_to_string(&mut pid).ok()?;
    pid.trim().parse().ok()
}

/// Whether there is no such process any more, as far as the system tells.
fn is_gone(pid: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{pid}")).exists()
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a program that we are just starting has the file too, for a moment.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::collections::BTreeMap;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    const HOLD: &str = "CHICANE_TEST_HOLD";

    #[test]
    fn what_is_set_is_there_when_opened_again() {
        let scratch = Scratch::new();
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
    fn folders_are_made_for_this_user_alone() {
        let scratch = Scratch::new();
        let deep = scratch.path().join("a/b");
        let data = Data::open(&deep).expect("opens");
        assert_eq!(data.dir(), deep);
        assert!(deep.join("chicane.db").is_file());
        #[cfg(unix)]
        for dir in [scratch.path().join("a"), deep] {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(dir).expect("made").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let scratch = Scratch::new();
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
        let scratch = Scratch::new();
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
    fn a_lock_without_a_name_is_a_lock() {
        let scratch = Scratch::new();
        let _data = Data::open(scratch.path()).expect("opens");
        for text in ["", "x", "99999999999999999999999999"] {
            std::fs::write(scratch.path().join("lock"), text).expect("written");
            let e = Data::open(scratch.path()).expect_err("opens twice");
            assert!(matches!(e, OpenError::InUse { pid: None, .. }), "{e:?}");
            assert!(e.to_string().contains("another chicane; stop it"), "{e}");
        }
    }

    #[test]
    fn a_lock_of_the_dead_is_waited_for() {
        let scratch = Scratch::new();
        let mut other = Command::new("true").spawn().expect("started");
        other.wait().expect("ended");
        let lock = File::create(scratch.path().join("lock")).expect("made");
        lock.lock().expect("locked");
        std::fs::write(scratch.path().join("lock"), other.id().to_string()).expect("written");
        let began = Instant::now();
        let e = Data::open(scratch.path()).expect_err("it is locked");
        assert!(matches!(e, OpenError::InUse { .. }) && began.elapsed() >= LAST_BREATH, "{e:?}");
        // Let go of meanwhile, it opens, and nobody had to try again.
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| Data::open(scratch.path()).map(drop));
            lock.unlock().expect("free");
            assert_eq!(opened.join().expect("no panic"), Ok(()));
        });
    }

    #[test]
    fn a_damaged_database_lets_go_of_the_folder() {
        let scratch = Scratch::new();
        let path = scratch.path().join("chicane.db");
        std::fs::write(&path, "garbage").expect("written");
        for _ in 0..2 {
            let e = Data::open(scratch.path()).expect_err("garbage opens");
            assert!(matches!(e, OpenError::Damaged { .. }), "{e:?}");
        }
        std::fs::rename(&path, scratch.path().join("away")).expect("moved");
        Data::open(scratch.path()).expect("starts again, as the error says");
    }

    #[test]
    fn another_process_keeps_us_out_until_it_is_killed() {
        let scratch = Scratch::new();
        let mut other = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "data::tests::hold_for_another_process", "--ignored", "--nocapture"])
            .env(HOLD, scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let said = BufReader::new(other.stdout.take().expect("its output")).lines();
        let held = said.map_while(Result::ok).any(|line| line.ends_with("held"));
        let refused = Data::open(scratch.path()).map(drop);
        other.kill().expect("killed");
        other.wait().expect("ended");
        assert!(held, "the other process could not open the folder");
        let (dir, pid) = (scratch.path().to_owned(), Some(other.id()));
        assert_eq!(refused, Err(OpenError::InUse { dir, pid }));
        // It had no time to tidy up, and what it had set is there.
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
        // Until killed; or until the one who waits is gone, which closes this.
        let _ = std::io::stdin().read(&mut [0]);
    }

    #[test]
    fn it_can_be_shared() {
        fn shared<T: Send + Sync>() {}
        shared::<Data>();
    }
}
