//! The hash of everything that boxes show besides a submission: the files of `--student-path` and
//! the values of `--student-env`. This hash is part of each unit's hash, so the units run again if
//! a file or a value changes.

use chicane_session::jail::workspace_copy::{MAX_ENTRIES, Workspace, WorkspaceLimits};
use chicane_store::Sum;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Maximum number of bytes that are read below one path. If the files are larger, only the path
/// itself is part of a unit's hash, because reading the files would delay every start of a grading.
const MAX_BYTES: u64 = 4 << 30;

/// The hash of the files below `paths` and of the values of the variables in `environment`; `None`
/// if both are empty. `value` returns the value of a variable.
pub fn sha256(
    paths: &[PathBuf],
    environment: &[String],
    value: impl Fn(&str) -> Option<Vec<u8>>,
) -> Option<String> {
    if paths.is_empty() && environment.is_empty() {
        return None;
    }
    let files: Vec<Option<String>> = paths.iter().map(|path| of_path(path)).collect();
    let values: Vec<Option<Vec<u8>>> = environment.iter().map(|name| value(name)).collect();
    // The serialisation of optional texts and numbers cannot fail.
    Some(Sum::of(&serde_json::to_vec(&(files, values)).unwrap_or_default()).hex())
}

/// The hash of a file or of the files of a folder, without the folders `.git` and `__pycache__`. If
/// the files of a folder are too large or can't all be read, caches and virtual environments are
/// left out too. `None` if the rest is too large or can't be read. A missing path is not an error
/// here: the box of each unit refuses it and names the reason.
fn of_path(path: &Path) -> Option<String> {
    if path.is_dir() {
        let limits = WorkspaceLimits { bytes: MAX_BYTES, entries: MAX_ENTRIES };
        let whole = Workspace::scan_shown(path, limits).and_then(|files| files.read(None));
        // A large virtual environment must not hide a change of the other files.
        let files =
            whole.or_else(|_| Workspace::scan(path, limits, &[], &[]).and_then(|files| files.read(None)));
        return Some(files.ok()?.sha256);
    }
    let metadata = path.metadata().ok()?;
    // Only regular files are opened. Opening a named pipe would block until another process opens
    // it for writing.
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    Some(Sum::of_reader(File::open(path).ok()?).ok()?.hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_or_variable_kept_the_old_grade() {
        let folder = std::env::temp_dir().join(format!("chicane-shown-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("model/venv")).expect("a folder");
        std::fs::write(folder.join("model/venv/pyvenv.cfg"), "").expect("a file");
        let (model, map) = (folder.join("model/weights"), folder.join("map.csv"));
        let paths = [folder.join("model"), map.clone(), folder.join("missing")];
        let names = ["MODE".to_owned()];
        let hash = |mode: &[u8]| sha256(&paths, &names, |_| Some(mode.to_vec())).expect("a hash");
        let mut all = Vec::new();
        for (weights, points) in [("1", "0,0"), ("2", "0,0"), ("2", "1,0")] {
            std::fs::write(&model, weights).expect("a file");
            std::fs::write(&map, points).expect("a file");
            all.push(hash(b"fast"));
            assert_eq!(hash(b"fast"), all[all.len() - 1]);
        }
        all.push(hash(b"slow"));
        // A box shows the virtual environments in a shown folder too.
        std::fs::write(folder.join("model/venv/package.py"), "1").expect("a file");
        all.push(hash(b"slow"));
        for (i, one) in all.iter().enumerate() {
            assert!(!all[..i].contains(one), "{i}");
        }
        assert_eq!(sha256(&[], &[], |_| None), None);
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
