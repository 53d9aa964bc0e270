//! Finds the data folders of all simulators of this machine, so that they can be hidden from the
//! programs of students.
//!
//! Each opened data folder is added to a registry in the user's state folder: one file per data
//! folder, which holds the path. A file is replaced by a rename, so that a reader never sees half a
//! path and no lock is needed. The registry also lists folders whose simulator does not run. The
//! folders of running simulators are also found through the database files that these processes
//! have open.

use crate::data::create_private;
use crate::sum::Sum;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// File name of the database of a data folder.
pub(crate) const DATABASE: &str = "chicane.db";
/// Maximum number of folders in the registry. If there are more, those that were opened longest ago
/// are removed.
const MAX_ENTRIES: usize = 512;
/// Maximum length of a path in the registry, bytes.
const MAX_PATH: u64 = 4096;
/// Maximum number of users of `/etc/passwd` that are considered.
const MAX_USERS: usize = 10_000;
/// Maximum number of descriptors of a process that are examined.
const MAX_DESCRIPTORS: usize = 65_536;

/// The default data folder of this user. `None` if the platform's folder is unknown.
pub fn default_data_folder() -> Option<PathBuf> {
    let base = if cfg!(target_os = "windows") {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("chicane"))
}

/// The folder with the registry of data folders. `None` if no state folder is known.
fn registry() -> Option<PathBuf> {
    let base = variable("XDG_STATE_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/state")));
    base.map(|base| base.join("chicane/folders"))
}

/// The path in an environment variable. `None` if the variable is not set, or if the path is not
/// absolute.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Adds an opened data folder to the registry. A failure is only logged, because a simulator
/// without a home folder must be able to run.
pub(crate) fn remember(folder: &Path) {
    let Some(registry) = registry() else { return };
    if let Err(error) = add(&registry, folder) {
        let shown = registry.display();
        tracing::debug!(%error, "the data folder can't be added to {shown}");
    }
}

/// Adds a folder to a registry. Removes entries of folders that are gone, and the oldest entries
/// beyond the limit.
fn add(registry: &Path, folder: &Path) -> std::io::Result<()> {
    // The canonical path is stored, because it still leads to the folder after a symbolic link in
    // `folder` has changed.
    let folder = fs::canonicalize(folder)?;
    create_private(registry)?;
    let path = folder.as_os_str().as_encoded_bytes();
    let name = Sum::of(path).hex();
    let draft = registry.join(format!("{name}.{}.new", std::process::id()));
    fs::write(&draft, path)?;
    fs::rename(&draft, registry.join(&name))?;
    let mut entries = entries(registry);
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.written));
    for (i, entry) in entries.iter().enumerate() {
        if i >= MAX_ENTRIES || !is_data_folder(&entry.folder) {
            let _ = fs::remove_file(&entry.file);
        }
    }
    Ok(())
}

/// A file of the registry.
struct Entry {
    file: PathBuf,
    written: SystemTime,
    /// The data folder that the file names.
    folder: PathBuf,
}

/// The entries of a registry. Files that are not entries, such as drafts of a killed process, are
/// returned with an empty path, so that `add` removes them.
fn entries(registry: &Path) -> Vec<Entry> {
    let files = fs::read_dir(registry).into_iter().flatten().flatten().take(8 * MAX_ENTRIES);
    let entry = |file: fs::DirEntry| {
        let about = file.metadata().ok().filter(|about| about.is_file())?;
        let written = about.modified().ok()?;
        let fresh = written.elapsed().is_ok_and(|age| age.as_secs() < 60);
        let draft = file.file_name().as_encoded_bytes().ends_with(b".new");
        // A fresh draft is left alone, because another process may be about to rename it.
        if draft && fresh {
            return None;
        }
        let bytes = if draft || about.len() > MAX_PATH { Vec::new() } else { fs::read(file.path()).ok()? };
        Some(Entry { file: file.path(), written, folder: path_of(bytes) })
    };
    files.filter_map(entry).collect()
}

/// A path from its bytes.
fn path_of(bytes: Vec<u8>) -> PathBuf {
    #[cfg(unix)]
    return PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes));
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a path leads to a data folder. The root folder does not count, because it can't be
/// hidden.
fn is_data_folder(folder: &Path) -> bool {
    folder.is_absolute() && folder.parent().is_some() && folder.join(DATABASE).is_file()
}

/// All data folders that are known on this machine, and the registries themselves. Blocks for some
/// milliseconds, because every process of the machine is examined.
pub fn known_folders() -> Vec<PathBuf> {
    let mut registries: Vec<PathBuf> = registry().into_iter().collect();
    let mut folders: BTreeSet<PathBuf> = default_data_folder().into_iter().collect();
    // A simulator may have been started with other environment variables, so the default folders in
    // the home folders are searched too. Root can read the home folders of all users.
    for home in homes() {
        registries.push(home.join(".local/state/chicane/folders"));
        folders.insert(home.join(".local/share/chicane"));
    }
    for registry in &registries {
        folders.extend(entries(registry).into_iter().map(|entry| entry.folder).filter(|f| is_data_folder(f)));
    }
    folders.extend(registries);
    folders.extend(folders_in_use());
    let real = folders.iter().filter_map(|folder| fs::canonicalize(folder).ok());
    real.filter(|folder| folder.is_dir() && folder.parent().is_some())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// The home folder of this user according to `/etc/passwd`. For root, the home folders of all
/// users.
fn homes() -> BTreeSet<PathBuf> {
    let Some(own) = own_user() else { return BTreeSet::new() };
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let home = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        let user: u32 = fields.get(2)?.parse().ok()?;
        let home = Path::new(fields.get(5)?);
        (own == 0 || own == user).then(|| home.to_owned()).filter(|home| home.is_absolute())
    };
    passwd.lines().take(MAX_USERS).filter_map(home).collect()
}

/// The effective user id of this process. `None` if the system has no `/proc`.
fn own_user() -> Option<u32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The data folders of the simulators that run now, as far as this user may examine them.
fn folders_in_use() -> BTreeSet<PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes =
        processes.filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit));
    let descriptors = processes.flat_map(|process| {
        let descriptors = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        descriptors.take(MAX_DESCRIPTORS).map(|descriptor| descriptor.path())
    });
    descriptors.filter_map(|descriptor| database_folder(&descriptor)).collect()
}

/// The folder of the database that a descriptor (`/proc/<pid>/fd/<n>`) has open. `None` if the
/// descriptor has another file open, or if the process is in a container and its path of the
/// database does not exist here.
fn database_folder(descriptor: &Path) -> Option<PathBuf> {
    let file = fs::read_link(descriptor).ok()?;
    if file.file_name() != Some(OsStr::new(DATABASE)) {
        return None;
    }
    let folder = file.parent()?.to_owned();
    is_same_file(&file, descriptor).then_some(folder)
}

/// Whether two paths lead to the same file.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |path: &Path| fs::metadata(path).map(|about| (about.dev(), about.ino())).ok();
        id(one).is_some() && id(one) == id(other)
    }
    #[cfg(not(unix))]
    {
        one == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Data;
    use crate::temp_folder::TempFolder;

    fn listed(registry: &Path) -> BTreeSet<PathBuf> {
        entries(registry).into_iter().map(|entry| entry.folder).collect()
    }

    fn data_folder(path: &Path) -> PathBuf {
        fs::create_dir_all(path).expect("made");
        fs::write(path.join(DATABASE), "").expect("written");
        fs::canonicalize(path).expect("a path")
    }

    #[test]
    fn a_folder_stays_listed_until_it_is_gone() {
        let scratch = TempFolder::new();
        let registry = scratch.path().join("state/folders");
        let (one, two) = (data_folder(&scratch.path().join("one")), data_folder(&scratch.path().join("two")));
        add(&registry, &one).expect("added");
        add(&registry, &two).expect("added");
        add(&registry, &one).expect("added again");
        assert_eq!(listed(&registry), BTreeSet::from([one.clone(), two.clone()]));
        fs::remove_dir_all(&one).expect("removed");
        add(&registry, &two).expect("added");
        assert_eq!(listed(&registry), BTreeSet::from([two]));
    }

    #[test]
    fn the_registry_is_bounded() {
        let scratch = TempFolder::new();
        let registry = scratch.path().join("folders");
        for i in 0..MAX_ENTRIES + 8 {
            add(&registry, &data_folder(&scratch.path().join(format!("data-{i}")))).expect("added");
        }
        assert_eq!(listed(&registry).len(), MAX_ENTRIES);
        let last =
            fs::canonicalize(scratch.path().join(format!("data-{}", MAX_ENTRIES + 7))).expect("a path");
        assert!(listed(&registry).contains(&last), "the newest folder was dropped");
    }

    #[test]
    fn an_open_data_folder_is_found_by_its_process() {
        let scratch = TempFolder::new();
        let _data = Data::open(scratch.path()).expect("opens");
        let folder = fs::canonicalize(scratch.path()).expect("a path");
        assert!(folders_in_use().contains(&folder));
        assert!(known_folders().contains(&folder));
    }

    #[test]
    fn a_registry_that_names_no_data_folder_hides_nothing() {
        let scratch = TempFolder::new();
        for (name, text) in [("a", "/"), ("b", "/usr"), ("c", "relative"), ("d", "")] {
            fs::write(scratch.path().join(name), text).expect("written");
        }
        assert!(entries(scratch.path()).iter().all(|entry| !is_data_folder(&entry.folder)));
    }
}
