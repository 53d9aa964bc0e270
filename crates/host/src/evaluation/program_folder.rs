//! The folder of a program whose files came with the request that started its session.

use chicane_wire::{BoxKind, ProgramFiles};
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Start of the folder's name. The process id of the simulator and the id of the session follow.
const PREFIX: &str = "chicane-program-";

/// A folder with the files of a program. The folder is removed when this value is dropped.
#[derive(Debug)]
pub(super) struct ProgramFolder {
    root: PathBuf,
    /// Folder of the program's files, in `root`.
    program: PathBuf,
    /// Folder with the Python package `chicane`, in `root`; `None` if the box of the program
    /// already contains the package.
    package: Option<PathBuf>,
}

impl ProgramFolder {
    /// Writes the files to a new folder that only the user of the simulator can read. For a program
    /// in a host box, also writes the Python package, because a host box does not have the package.
    pub(super) fn new(files: &ProgramFiles, session: &str, kind: BoxKind) -> io::Result<ProgramFolder> {
        let parent = std::env::temp_dir();
        remove_orphans(&parent);
        let path = parent.join(format!("{PREFIX}{}-{session}", std::process::id()));
        let private = |path: &Path| DirBuilder::new().mode(0o700).create(path);
        private(&path)?;
        let package = (kind == BoxKind::Host).then(|| path.join("package"));
        let folder = ProgramFolder { program: path.join("program"), root: path, package };
        private(&folder.program)?;
        if let Some(package) = &folder.package {
            private(package)?;
            chicane_session::jail::package::write(package)?;
        }
        for (name, text) in files.iter() {
            let file = folder.program.join(name);
            let above: Vec<&Path> =
                file.ancestors().skip(1).take_while(|above| *above != folder.program).collect();
            for above in above.into_iter().rev().filter(|above| !above.is_dir()) {
                private(above)?;
            }
            File::create_new(file)?.write_all(text.as_bytes())?;
        }
        Ok(folder)
    }

    /// The folder of the program's files.
    pub(super) fn path(&self) -> &Path {
        &self.program
    }

    /// The value of `PYTHONPATH` for the program; `None` if this folder has no package. `before` is
    /// the value of the variable without the package.
    pub(super) fn python_path(&self, before: Option<&str>) -> Option<String> {
        let package = self.package.as_ref()?.to_str()?;
        Some(
            before
                .filter(|before| !before.is_empty())
                .map_or_else(|| package.to_owned(), |before| format!("{before}:{package}")),
        )
    }
}

impl Drop for ProgramFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.root) {
            tracing::warn!("{} can't be removed: {error}", self.root.display());
        }
    }
}

/// Removes the folders of simulators that were killed.
fn remove_orphans(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let process = rest.split('-').next().and_then(|id| id.parse::<u32>().ok());
        if process.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists()) {
            // The removal fails if the folder belongs to another user. A later simulator of that
            // user can remove the folder.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_wire::{Body, Fields, StartRequest};
    use std::os::unix::fs::PermissionsExt;

    fn files(json: &str) -> ProgramFiles {
        let body = format!(r#"{{"command": "x", "files": {json}}}"#);
        let fields = Fields::read(body.as_bytes()).expect("JSON");
        StartRequest::parse(&fields).expect("valid").files.expect("files")
    }

    #[test]
    fn the_folder_has_the_files_and_is_removed() {
        let files = files(r#"{"a.py": "1", "lib/x/b.py": "2", "lib/c": ""}"#);
        let folder = ProgramFolder::new(&files, "t1", BoxKind::Host).expect("written");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
        assert_eq!([read("a.py"), read("lib/x/b.py"), read("lib/c")], ["1", "2", ""]);
        let mode = folder.path().metadata().expect("a folder").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let package = folder.python_path(None).expect("a package");
        assert!(Path::new(&package).join("chicane/__init__.py").is_file());
        assert_eq!(folder.python_path(Some("/a:/b")), Some(format!("/a:/b:{package}")));
        let closed = ProgramFolder::new(&files, "t3", BoxKind::Closed).expect("written");
        assert_eq!(closed.python_path(Some("/a")), None, "the box has the package");
        let root = folder.path().parent().expect("a folder").to_owned();
        drop(folder);
        assert!(!root.exists());
    }

    #[test]
    fn the_folder_of_a_killed_simulator_is_removed() {
        // Process ids are at most 2^22, so no process has this id.
        let orphan = std::env::temp_dir().join(format!("{PREFIX}4194999-x"));
        std::fs::create_dir_all(orphan.join("lib")).expect("a folder");
        let kept = ProgramFolder::new(&files(r#"{"a": ""}"#), "t2", BoxKind::Closed).expect("written");
        assert!(!orphan.exists() && kept.path().exists());
    }
}
