//! The files of the leaderboard in the data folder.
//!
//! ```text
//! leaderboard/worlds/<n>/                a copy of each world of the contest
//! leaderboard/uploads/<id>.zip           what a student handed in (or .py)
//! leaderboard/runs/<id>-<hash>-<seed>/   the result of a run that is not in the database yet
//! leaderboard/scratch/                   emptied at every start
//! ```

use crate::error::{HandInError, StartLeaderboardError};
use chicane_grade::submissions::Submission;
use chicane_grade::{program, unpack};
use chicane_store::{Submissions, create_private};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Largest size of all judged uploads that are kept, in bytes. Beyond this size, the oldest judged
/// uploads are removed.
const MAX_KEPT: u64 = 4 << 30;
/// The first bytes of a zip file with entries, and of a zip file without entries.
const ZIP_MARKS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The folders of a leaderboard.
#[derive(Debug)]
pub(crate) struct Uploads {
    root: PathBuf,
}

impl Uploads {
    /// Creates the folders, and empties the scratch folder.
    pub(crate) fn open(root: PathBuf) -> Result<Uploads, StartLeaderboardError> {
        let uploads = Uploads { root };
        let _ = std::fs::remove_dir_all(uploads.scratch());
        for folder in [uploads.scratch(), uploads.root.join("uploads"), uploads.root.join("runs")] {
            create_private(&folder)
                .map_err(|source| StartLeaderboardError::Write { path: folder, source })?;
        }
        Ok(uploads)
    }

    pub(crate) fn worlds(&self) -> PathBuf {
        self.root.join("worlds")
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        self.root.join("scratch")
    }

    /// The folder with the result of a run. Its name contains the seed and the first digits of the
    /// world's hash. Otherwise a later contest with other settings could take over the result.
    pub(crate) fn run(&self, id: &str, world_sha256: &str, seed: u64) -> PathBuf {
        let world = world_sha256.get(..16).unwrap_or(world_sha256);
        self.root.join("runs").join(format!("{id}-{world}-{seed}"))
    }

    /// Checks that an upload has a program, and stores the upload. Returns the name of its file.
    /// When the call succeeds, the file is on disk.
    pub(crate) fn store(&self, id: &str, bytes: &[u8]) -> Result<String, HandInError> {
        let kind = kind_of(bytes)?;
        let work = self.scratch().join(id);
        let stored = self.check_and_store(id, kind, bytes, &work);
        let _ = std::fs::remove_dir_all(&work);
        stored
    }

    fn check_and_store(
        &self,
        id: &str,
        kind: &str,
        bytes: &[u8],
        work: &Path,
    ) -> Result<String, HandInError> {
        let name = format!("{id}.{kind}");
        create_private(work).map_err(HandInError::Write)?;
        let draft = work.join(&name);
        let mut file = File::create_new(&draft).map_err(HandInError::Write)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(HandInError::Write)?;
        let folder = work.join("program");
        unpack_file(&draft, &folder, &work.join("scratch"))?;
        program::command(&folder, None)?;
        let uploads = self.root.join("uploads");
        std::fs::rename(&draft, uploads.join(&name)).map_err(HandInError::Write)?;
        File::open(&uploads).and_then(|folder| folder.sync_all()).map_err(HandInError::Write)?;
        Ok(name)
    }

    /// Unpacks a stored upload to a new folder. Returns the folder and the command of its program.
    pub(crate) fn unpack(&self, id: &str, file: &str) -> Result<(PathBuf, String), HandInError> {
        let work = self.scratch().join(format!("judged-{id}"));
        let _ = std::fs::remove_dir_all(&work);
        create_private(&work).map_err(HandInError::Write)?;
        let folder = work.join("program");
        unpack_file(&self.root.join("uploads").join(file), &folder, &work.join("scratch"))?;
        let command = program::command(&folder, None)?;
        Ok((folder, command))
    }

    /// Removes the folder that [`Uploads::unpack`] created.
    pub(crate) fn remove_unpacked(&self, id: &str) {
        let _ = std::fs::remove_dir_all(self.scratch().join(format!("judged-{id}")));
    }

    /// Removes an upload whose submission is not in the database or was removed from it.
    pub(crate) fn remove(&self, file: &str) {
        let _ = std::fs::remove_file(self.root.join("uploads").join(file));
    }

    /// Removes the oldest judged uploads if the judged uploads have more than [`MAX_KEPT`] bytes.
    pub(crate) fn trim(&self, submissions: &Submissions) {
        let Ok(ended) = submissions.ended() else { return };
        let mut kept = 0;
        for row in ended.iter().rev() {
            let path = self.root.join("uploads").join(&row.file);
            kept += std::fs::metadata(&path).map_or(0, |found| found.len());
            if kept > MAX_KEPT {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// Removes uploads that are not in the database, for example because the simulator was killed
    /// before it acknowledged them. This function must not run while a submission is being stored,
    /// because it would remove the upload of that submission.
    pub(crate) fn remove_orphans(&self, submissions: &Submissions) {
        for entry in std::fs::read_dir(self.root.join("uploads")).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let id = name.split('.').next().unwrap_or_default();
            if matches!(submissions.find(id), Ok(None)) {
                self.remove(&name);
            }
        }
    }
}

/// The file extension for an upload: `zip` for a zip file, `py` for any other text.
fn kind_of(bytes: &[u8]) -> Result<&'static str, HandInError> {
    if bytes.is_empty() {
        return Err(HandInError::Empty);
    }
    if ZIP_MARKS.iter().any(|mark| bytes.starts_with(mark)) {
        return Ok("zip");
    }
    let is_text =
        std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0') && !text.trim().is_empty());
    if is_text { Ok("py") } else { Err(HandInError::Kind) }
}

fn unpack_file(file: &Path, to: &Path, scratch: &Path) -> Result<(), unpack::UnpackError> {
    let is_zip = file.extension().is_some_and(|extension| extension == "zip");
    let name = if is_zip { "upload.zip" } else { program::MAIN_FILE };
    let parts = vec![(file.to_owned(), name.to_owned())];
    unpack::unpack(&Submission { parts, ..Submission::default() }, to, scratch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_says_what_was_handed_in() {
        assert!(matches!(kind_of(b"PK\x03\x04..."), Ok("zip")));
        assert!(matches!(kind_of("print('é')".as_bytes()), Ok("py")));
        assert!(matches!(kind_of(b""), Err(HandInError::Empty)));
        for wrong in [b"\x7fELF\x02\x00".as_slice(), b"a\0b", b"\xff\xfe", b" \n\t "] {
            assert!(matches!(kind_of(wrong), Err(HandInError::Kind)), "{wrong:?}");
        }
    }
}
