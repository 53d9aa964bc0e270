//! A world that is being installed, in a folder beside the installed worlds.

use super::check::{CheckedWorld, Identity, check};
use super::error::InstallError;
use super::plan::{InstallPlan, PlannedFile};
use super::writer::{StagedFileWriter, SumWriter};
use crate::folder_lock::FolderLock;
use crate::installed_worlds::{InstalledFile, InstalledWorlds, sum_of};
use crate::package::{Need, proves};
use crate::rules;
use crate::sum::{RunningSum, Sum, neutral};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A world that is being installed. For each id, all processes together have at most one `Staging`.
#[derive(Debug)]
pub struct Staging {
    installed: InstalledWorlds,
    plan: InstallPlan,
    folder: PathBuf,
    lock: FolderLock,
}

/// How much of a file is staged already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staged {
    /// The whole file, with the right checksum.
    All,
    /// Only the first bytes of the file. Holds their number. Their content is not checked.
    Some(u64),
}

impl Staging {
    /// Starts an installation, or continues an interrupted one. `None` while another process or
    /// thread installs the same world.
    pub fn open(installed: &InstalledWorlds, plan: InstallPlan) -> Result<Option<Staging>, InstallError> {
        installed.trim_staged();
        let folder = installed.staging.join(plan.id.as_str());
        let Some(lock) = FolderLock::try_take(&folder)? else { return Ok(None) };
        let staging = Staging { installed: installed.clone(), plan, folder, lock };
        if let Err(e) = staging.prepare() {
            staging.discard();
            return Err(e.into());
        }
        Ok(Some(staging))
    }

    /// Creates the folder. Removes the files of an interrupted installation if they are of another
    /// revision, have no checksums, or include a link.
    fn prepare(&self) -> std::io::Result<()> {
        let mark = self.folder.join("rev");
        let rev = self.plan.meta.rev.as_str();
        let same = std::fs::read_to_string(&mark).is_ok_and(|text| text == rev);
        // The simulator creates no links, so a link means that another program changed the folder.
        if !same || !self.plan.verified() || has_link(&self.files()) {
            match std::fs::remove_dir_all(self.files()) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        std::fs::create_dir_all(self.files())?;
        std::fs::write(mark, rev)
    }

    fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    fn path_of(&self, file: &PlannedFile) -> PathBuf {
        self.files().join(file.local.as_str())
    }

    /// The plan of this installation.
    pub fn plan(&self) -> &InstallPlan {
        &self.plan
    }

    /// How much of a file is staged. Blocks.
    pub fn staged(&self, file: &PlannedFile) -> Staged {
        let path = self.path_of(file);
        let Some((size, sum)) = file.expected else { return Staged::Some(0) };
        match std::fs::symlink_metadata(&path) {
            Ok(m) if m.is_file() && m.len() == size && sum_of(&path).is_ok_and(|s| s == sum) => Staged::All,
            Ok(m) if m.is_file() && m.len() < size => Staged::Some(m.len()),
            _ => Staged::Some(0),
        }
    }

    /// Opens a file to append to its first `start` bytes, which are staged already. Blocks.
    pub fn write(&self, file: &PlannedFile, start: u64) -> Result<StagedFileWriter, InstallError> {
        let path = self.path_of(file);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let options = File::options().read(true).write(true).create(true).truncate(false).clone();
        let mut to = options.open(&path)?;
        to.set_len(start)?;
        let mut sum = RunningSum::default();
        if start > 0 {
            std::io::copy(&mut to, &mut SumWriter(&mut sum))?;
            to.seek(SeekFrom::Start(start))?;
        }
        Ok(StagedFileWriter::new(to, file.clone(), sum, start))
    }

    /// Checks the sizes of all files, and loads the world. If there is a manifest, the checksums of
    /// the files are compared with the manifest and with the id. Blocks.
    pub fn check(&self) -> Result<CheckedWorld, InstallError> {
        let mut kept = Vec::with_capacity(self.plan.files.len());
        let mut sums = Vec::with_capacity(self.plan.files.len());
        for file in &self.plan.files {
            let bytes = std::fs::read(self.path_of(file))?;
            let sum = Sum::of(&bytes);
            if file.expected.is_some_and(|expected| expected != (bytes.len() as u64, sum)) {
                return Err(InstallError::Disk(format!("{} changed after it was written", file.local)));
            }
            sums.push(neutral(&bytes, self.plan.id.as_str()));
            let path = file.local.to_string();
            kept.push(InstalledFile { path, size: bytes.len() as u64, sha256: sum.hex() });
        }
        rules::check_sizes(self.plan.files.iter().zip(&kept).map(|(f, k)| (&f.local, k.size)))?;
        if let Some(manifest) = &self.plan.manifest
            && !proves(manifest, &self.plan.id, &sums)
        {
            let text = "the files do not match their world_id: the id is not the sum of these files";
            return Err(InstallError::Rule(text.to_owned()));
        }
        let meta = &self.plan.meta;
        let identity = Identity { id: &self.plan.id, rev: meta.rev.as_str(), name: &meta.name };
        check(&self.files(), &identity, self.plan.verified(), kept, Need::Track)
    }

    /// Moves the checked files into the installed worlds.
    pub(crate) fn place(&self, checked: &CheckedWorld) -> std::io::Result<()> {
        self.installed.place(&self.files(), &checked.record)
    }

    /// Removes all staged files.
    pub fn discard(self) {
        self.lock.remove_folder();
    }
}

/// Whether a folder contains a symbolic link, at any depth.
fn has_link(folder: &Path) -> bool {
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        match std::fs::symlink_metadata(&folder) {
            Ok(found) if found.is_symlink() => return true,
            Ok(found) if found.is_dir() => {
                pending.extend(std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()));
            }
            _ => {}
        }
    }
    false
}
