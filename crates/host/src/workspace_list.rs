//! Lists the files of the workspace for a person who chooses a program.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

/// Maximum number of files in a list.
pub const MAX_LISTED: usize = 500;
/// Maximum number of folder entries that a list looks at. The limit bounds the time, because a
/// workspace may contain an installation with very many files.
const MAX_SEEN: usize = 20_000;
/// Maximum depth of a listed file below the workspace.
const MAX_DEPTH: usize = 4;
/// Folders whose files no person has written.
const SKIPPED: [&str; 5] = ["node_modules", "__pycache__", "venv", "target", "site-packages"];

/// A file of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedFile {
    /// Path relative to the workspace. Its names are separated by `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// The regular files of a workspace, files of upper folders first, and whether the limit
/// [`MAX_LISTED`] or `MAX_SEEN` cut off the list. Hidden files, links, files with a name that is
/// not UTF-8, files in `SKIPPED` folders and files deeper than `MAX_DEPTH` are not listed. Blocks
/// the calling thread.
pub fn list(workspace: &Path) -> io::Result<(Vec<ListedFile>, bool)> {
    let mut files = Vec::new();
    let mut seen = 0;
    let mut folders = VecDeque::from([(workspace.to_owned(), String::new(), 1)]);
    while let Some((folder, above, depth)) = folders.pop_front() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if above.is_empty() => return Err(error),
            // Other users may have folders here that the simulator can't read.
            Err(_) => continue,
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_SEEN {
                break;
            }
            if let Ok(name) = entry.file_name().into_string()
                && !name.starts_with('.')
            {
                found.push((name, entry));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, entry) in found {
            let Ok(kind) = entry.file_type() else { continue };
            let path = format!("{above}{name}");
            if kind.is_dir() && depth < MAX_DEPTH && !SKIPPED.contains(&&*name) {
                folders.push_back((entry.path(), format!("{path}/"), depth + 1));
            } else if kind.is_file() {
                if files.len() == MAX_LISTED {
                    return Ok((files, true));
                }
                let bytes = entry.metadata().map_or(0, |data| data.len());
                files.push(ListedFile { path, bytes });
            }
        }
        if seen > MAX_SEEN {
            return Ok((files, true));
        }
    }
    Ok((files, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_are_listed_without_hidden_ones_links_and_installations() {
        let folder = std::env::temp_dir().join(format!("chicane-list-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for path in ["b.py", "a/main.py", ".git/x", "__pycache__/b.pyc", "a/b/c/d.py", "a/b/c/d/e.py"] {
            let file = folder.join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
            std::fs::write(file, "1234").expect("written");
        }
        symlink("/etc/passwd", folder.join("link")).expect("a link");
        symlink("/etc", folder.join("folder")).expect("a link");
        let (files, more) = list(&folder).expect("listed");
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["b.py", "a/main.py", "a/b/c/d.py"]);
        assert!(files.iter().all(|file| file.bytes == 4) && !more);
        for i in 0..MAX_LISTED {
            std::fs::write(folder.join(format!("{i:04}")), "").expect("written");
        }
        let (files, more) = list(&folder).expect("listed");
        assert!(files.len() == MAX_LISTED && more);
        std::fs::remove_dir_all(&folder).expect("removed");
        assert!(list(&folder).is_err());
    }
}
