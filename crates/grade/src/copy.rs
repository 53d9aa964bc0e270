//! Copies the folder of a submission. The copy has only files, folders, and links that stay inside.

use crate::archive::{self, Limits};
use std::path::{Path, PathBuf};

/// Deepest nesting of folders.
const MAX_DEPTH: usize = 32;

/// Why a folder is refused.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// There are too many files and folders.
    #[error("the submission has more than {0} files")]
    TooMany(usize),
    /// The files are too large.
    #[error("the submission has more than {} MiB of files", .0 >> 20)]
    TooLarge(u64),
    /// Folders are nested too deeply.
    #[error("{} is more than {MAX_DEPTH} folders deep", .0.display())]
    TooDeep(PathBuf),
    /// A symbolic link leads out of the folder.
    #[error("the symbolic link {} leads out of the submission", .0.display())]
    Link(PathBuf),
    /// A file can't be read or copied.
    #[error("{} can't be copied: {source}", path.display())]
    File {
        /// The file, relative to the submission.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// Copies a folder to a folder that does not exist.
pub fn folder(from: &Path, to: &Path, limits: Limits) -> Result<(), CopyError> {
    let mut copy = Copy { from, to, limits, entries: 0, bytes: 0 };
    copy.folder(Path::new(""), 0)
}

/// Copies one file to the path `to`, which must not exist.
pub fn file(from: &Path, to: &Path, limits: Limits) -> Result<(), CopyError> {
    let name = to.file_name().map(PathBuf::from).unwrap_or_default();
    let (from_folder, to_folder) = (from.parent().unwrap_or(from), to.parent().unwrap_or(to));
    let mut copy = Copy { from: from_folder, to: to_folder, limits, entries: 0, bytes: 0 };
    // A symbolic link is followed. Only the teacher's list of submissions can name one here, so no
    // student can make a link lead to a file of the teacher.
    let metadata = std::fs::metadata(from).map_err(failed(&name))?;
    copy.file(from, &name, &metadata)
}

/// Checks that no symbolic link in a copied folder leads out of that folder.
pub fn check_links(folder: &Path) -> Result<(), CopyError> {
    let mut waiting = vec![PathBuf::new()];
    while let Some(at) = waiting.pop() {
        for entry in std::fs::read_dir(folder.join(&at)).map_err(failed(&at))? {
            let entry = entry.map_err(failed(&at))?;
            let path = at.join(entry.file_name());
            let kind = entry.file_type().map_err(failed(&path))?;
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).map_err(failed(&path))?;
                if !archive::stays_inside(&path, &target) {
                    return Err(CopyError::Link(path));
                }
            }
        }
    }
    Ok(())
}

struct Copy<'a> {
    from: &'a Path,
    to: &'a Path,
    limits: Limits,
    entries: usize,
    bytes: u64,
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> CopyError {
    move |source| CopyError::File { path: path.to_owned(), source }
}

impl Copy<'_> {
    fn folder(&mut self, at: &Path, depth: usize) -> Result<(), CopyError> {
        if depth > MAX_DEPTH {
            return Err(CopyError::TooDeep(at.to_owned()));
        }
        std::fs::create_dir(self.to.join(at)).map_err(failed(at))?;
        for entry in std::fs::read_dir(self.from.join(at)).map_err(failed(at))? {
            let entry = entry.map_err(failed(at))?;
            let path = at.join(entry.file_name());
            self.entries += 1;
            if self.entries > self.limits.entries {
                return Err(CopyError::TooMany(self.limits.entries));
            }
            // For a symbolic link, `DirEntry::metadata` describes the link and not its target.
            let metadata = entry.metadata().map_err(failed(&path))?;
            if metadata.is_dir() {
                self.folder(&path, depth + 1)?;
            } else if metadata.is_symlink() {
                self.link(&path)?;
            } else if metadata.is_file() {
                self.file(&entry.path(), &path, &metadata)?;
            }
        }
        Ok(())
    }

    fn link(&self, path: &Path) -> Result<(), CopyError> {
        let target = std::fs::read_link(self.from.join(path)).map_err(failed(path))?;
        if !archive::stays_inside(path, &target) {
            return Err(CopyError::Link(path.to_owned()));
        }
        std::os::unix::fs::symlink(target, self.to.join(path)).map_err(failed(path))
    }

    fn file(&mut self, from: &Path, path: &Path, metadata: &std::fs::Metadata) -> Result<(), CopyError> {
        use std::io::Read;
        use std::os::unix::fs::PermissionsExt;
        let left = self.limits.bytes.saturating_sub(self.bytes);
        if metadata.len() > left {
            return Err(CopyError::TooLarge(self.limits.bytes));
        }
        let input = std::fs::File::open(from).map_err(failed(path))?;
        let executable = metadata.permissions().mode() & 0o100 != 0;
        let mut out = archive::new_file(&self.to.join(path), executable).map_err(failed(path))?;
        // If the file grows while it is copied, only its first `metadata.len()` bytes are copied,
        // so that the limit holds.
        self.bytes += std::io::copy(&mut input.take(metadata.len()), &mut out).map_err(failed(path))?;
        archive::set_time(&out).map_err(failed(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A temporary folder that is removed on drop.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("chicane-copy-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir(&path).expect("a folder");
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_link_inside_of_an_archive_led_out_of_the_folder_of_the_program() {
        let scratch = Scratch::new("links");
        let race = scratch.0.join("race");
        std::fs::create_dir_all(race.join("lib")).expect("folders");
        symlink("../main.py", race.join("lib/inside")).expect("a link");
        check_links(&race).expect("the link stays inside");
        symlink("../y", race.join("x")).expect("a link");
        check_links(&scratch.0).expect("the link stays inside of the archive");
        let error = check_links(&race).expect_err("the link leads out");
        assert_eq!(error.to_string(), "the symbolic link x leads out of the submission");
    }

    #[test]
    fn a_program_that_a_list_named_by_a_link_was_cut_off() {
        let scratch = Scratch::new("listed");
        let text = "print('a program that is longer than the name of its link')\n".repeat(20);
        std::fs::write(scratch.0.join("final.py"), &text).expect("written");
        symlink("final.py", scratch.0.join("bo.py")).expect("a link");
        let to = scratch.0.join("main.py");
        file(&scratch.0.join("bo.py"), &to, archive::SUBMISSION).expect("copied");
        assert_eq!(std::fs::read_to_string(to).expect("a file"), text);
    }
}
