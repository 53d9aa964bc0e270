//! A world that is being put together, in a folder beside those that are installed.

use super::writing::{Adding, Writing};
use super::{About, Checked, InstallError, Plan, Wanted, check};
use crate::claim::Claim;
use crate::package::{Need, proves};
use crate::rules;
use crate::shelf::{Kept, Shelf, sum_of};
use crate::sum::{Sum, Summing, neutral};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A world that is being put together, beside those that are installed. One for each id, among all
/// processes.
#[derive(Debug)]
pub struct Staging {
    shelf: Shelf,
    plan: Plan,
    folder: PathBuf,
    _claim: Claim,
}

/// What there is of a file already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Have {
    /// All of it, and right.
    All,
    /// So many of its first bytes, maybe right.
    Some(u64),
}

impl Staging {
    /// Begins, or goes on where it was left. `None` while somebody else is at work on the same world.
    pub fn open(shelf: &Shelf, plan: Plan) -> Result<Option<Staging>, InstallError> {
        shelf.trim_staged();
        let folder = shelf.staging.join(plan.id.as_str());
        let Some(claim) = Claim::try_take(&folder)? else { return Ok(None) };
        let staging = Staging { shelf: shelf.clone(), plan, folder, _claim: claim };
        if let Err(e) = staging.make_ready() {
            staging.discard();
            return Err(e.into());
        }
        Ok(Some(staging))
    }

    /// Files of another revision, and of none that can be checked, are of no use.
    fn make_ready(&self) -> std::io::Result<()> {
        let mark = self.folder.join("rev");
        let rev = self.plan.meta.rev.as_str();
        let same = std::fs::read_to_string(&mark).is_ok_and(|text| text == rev);
        // We make no links: where there is one, somebody else was at it.
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

    fn at(&self, file: &Wanted) -> PathBuf {
        self.files().join(file.local.as_str())
    }

    /// What is being installed.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What there is of a file. Blocks.
    pub fn have(&self, file: &Wanted) -> Have {
        let path = self.at(file);
        let Some((size, sum)) = file.said else { return Have::Some(0) };
        match std::fs::symlink_metadata(&path) {
            Ok(m) if m.is_file() && m.len() == size && sum_of(&path).is_ok_and(|s| s == sum) => Have::All,
            Ok(m) if m.is_file() && m.len() < size => Have::Some(m.len()),
            _ => Have::Some(0),
        }
    }

    /// Begins to write a file, behind so many bytes that are there. Blocks.
    pub fn write(&self, file: &Wanted, behind: u64) -> Result<Writing, InstallError> {
        let path = self.at(file);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let options = File::options().read(true).write(true).create(true).truncate(false).clone();
        let mut to = options.open(&path)?;
        to.set_len(behind)?;
        let mut summing = Summing::default();
        if behind > 0 {
            std::io::copy(&mut to, &mut Adding(&mut summing))?;
            to.seek(SeekFrom::Start(behind))?;
        }
        Ok(Writing::new(to, file.clone(), summing, behind))
    }

    /// Checks the whole, and loads the world for real. Blocks, for as long as that takes.
    pub fn check(&self) -> Result<Checked, InstallError> {
        let mut kept = Vec::with_capacity(self.plan.files.len());
        let mut sums = Vec::with_capacity(self.plan.files.len());
        for file in &self.plan.files {
            let bytes = std::fs::read(self.at(file))?;
            let sum = Sum::of(&bytes);
            if file.said.is_some_and(|said| said != (bytes.len() as u64, sum)) {
                return Err(InstallError::Disk(format!("{} is not what was written", file.local)));
            }
            let bare = neutral(&bytes, self.plan.id.as_str());
            sums.push(bare);
            let path = file.local.to_string();
            kept.push(Kept { path, size: bytes.len() as u64, sha256: sum.hex() });
        }
        rules::check_sizes(self.plan.files.iter().zip(&kept).map(|(f, k)| (&f.local, k.size)))?;
        if let Some(manifest) = &self.plan.manifest
            && !proves(manifest, &self.plan.id, &sums)
        {
            let text = "the files are not those of this world_id: it is not the sum of them";
            return Err(InstallError::Rule(text.to_owned()));
        }
        let meta = &self.plan.meta;
        let about = About { id: &self.plan.id, rev: meta.rev.as_str(), name: &meta.name };
        check(&self.files(), &about, self.plan.verified(), kept, Need::Track)
    }

    /// Puts a world into place that was checked.
    pub(crate) fn place(&self, checked: &Checked) -> std::io::Result<()> {
        self.shelf.place(&self.files(), &checked.record)
    }

    /// Throws away what was staged.
    pub fn discard(self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Whether there is a link in a folder, at any depth.
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
