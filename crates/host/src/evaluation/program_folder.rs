//! The folder of a program whose files came with the start of its session.

use chicane_wire::ProgramFiles;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Start of the folder's name. The id of the process and the id of the session follow.
const PREFIX: &str = "chicane-program-";

/// A folder with the files of a program. It is removed on drop.
#[derive(Debug)]
pub(super) struct ProgramFolder(PathBuf);

impl ProgramFolder {
    /// Writes the files to a new folder, which only the user of the simulator can read.
    pub(super) fn new(files: &ProgramFiles, session: &str) -> io::Result<ProgramFolder> {
        let parent = std::env::temp_dir();
        remove_orphans(&parent);
        let path = parent.join(format!("{PREFIX}{}-{session}", std::process::id()));
        let private = |path: &Path| DirBuilder::new().mode(0o700).create(path);
        private(&path)?;
        let folder = ProgramFolder(path);
        for (name, text) in files.iter() {
            let file = folder.0.join(name);
            let above: Vec<&Path> = file.ancestors().skip(1).take_while(|above| *above != folder.0).collect();
            for above in above.into_iter().rev().filter(|above| !above.is_dir()) {
                private(above)?;
            }
            File::create_new(file)?.write_all(text.as_bytes())?;
        }
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ProgramFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!("{} can't be removed: {error}", self.0.display());
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
            // A folder of another user can't be removed, and is not ours.
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
        let folder = ProgramFolder::new(&files(r#"{"a.py": "1", "lib/x/b.py": "2", "lib/c": ""}"#), "t1");
        let folder = folder.expect("written");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
        assert_eq!([read("a.py"), read("lib/x/b.py"), read("lib/c")], ["1", "2", ""]);
        let mode = folder.path().metadata().expect("a folder").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn the_folder_of_a_killed_simulator_is_removed() {
        // Process ids are at most 2^22.
        let orphan = std::env::temp_dir().join(format!("{PREFIX}4194999-x"));
        std::fs::create_dir_all(orphan.join("lib")).expect("a folder");
        let kept = ProgramFolder::new(&files(r#"{"a": ""}"#), "t2").expect("written");
        assert!(!orphan.exists() && kept.path().exists());
    }
}
