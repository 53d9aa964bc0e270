//! From what a CDN says to an installed world: a plan, files in a staging folder, checks, and the move
//! into place. Where the bytes come from is somebody else's business.

use crate::claim::Claim;
use crate::manifest::{Manifest, Meta};
use crate::package::{Need, Package, load, proves};
use crate::rules::{self, FilePath, MAX_FILE, Unfit};
use crate::shelf::{Kept, Record, Shelf, sum_of, sync_folder};
use crate::sum::{Sum, Summing, neutral, random_hex};
use crate::{FolderBundle, library};
use chicane_wire::WorldId;
use chicane_world::Warning;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Why a world was not installed. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstallError {
    /// There is no such world for us.
    #[error("world not published")]
    NotPublished,
    /// More than there may be.
    #[error("{0}")]
    TooLarge(String),
    /// A rule is broken, or the files are not what the id promises.
    #[error("{0}")]
    Rule(String),
    /// The CDN did not give what it should.
    #[error("the CDN failed: {0}")]
    Cdn(String),
    /// Our own disk.
    #[error("the world can't be stored: {0}")]
    Disk(String),
    /// Too many worlds are being installed.
    #[error("too many worlds are being installed; try again")]
    Busy,
    /// The program ends.
    #[error("the simulator stops")]
    Stopping,
}

impl From<Unfit> for InstallError {
    fn from(unfit: Unfit) -> InstallError {
        match unfit {
            Unfit::TooLarge(text) => InstallError::TooLarge(text),
            Unfit::Rule(text) => InstallError::Rule(text),
        }
    }
}

impl From<std::io::Error> for InstallError {
    fn from(e: std::io::Error) -> InstallError {
        InstallError::Disk(e.to_string())
    }
}

/// A file to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Where the CDN has it.
    pub remote: FilePath,
    /// Where it is installed.
    local: FilePath,
    /// Bytes and their sum, where a manifest says so.
    pub said: Option<(u64, Sum)>,
}

impl Wanted {
    /// The most bytes it may have.
    pub fn most(&self) -> u64 {
        self.said.map_or(MAX_FILE, |(size, _)| size)
    }

    /// Refuses more bytes than there may be.
    pub fn check_size(&self, size: u64) -> Result<(), InstallError> {
        let path = &self.remote;
        match self.said {
            _ if size <= self.most() => Ok(()),
            Some(_) => Err(InstallError::Rule(format!("{path} is larger than its manifest says"))),
            None => Err(InstallError::TooLarge(format!("{path} is larger than 64 MiB"))),
        }
    }
}

/// What is to be installed.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Id of the world.
    pub id: WorldId,
    /// Its description.
    pub meta: Meta,
    /// What its id should be the sum of.
    manifest: Option<Manifest>,
    /// All files.
    pub files: Vec<Wanted>,
}

impl Plan {
    /// Makes a plan of what a CDN says, if that can be a world.
    pub fn new(id: &WorldId, meta: Meta, manifest: Option<Manifest>) -> Result<Plan, InstallError> {
        let listed: Vec<(&FilePath, Option<(u64, Sum)>)> = match &manifest {
            Some(manifest) => manifest.files.iter().map(|f| (&f.path, Some((f.size, f.sum)))).collect(),
            None => meta.files.iter().map(|path| (path, None)).collect(),
        };
        rules::check_paths(listed.iter().map(|(path, _)| *path))?;
        rules::check_sizes(listed.iter().map(|(path, said)| (*path, said.map_or(0, |(size, _)| size))))?;
        if manifest.is_some() {
            let sorted = |mut paths: Vec<&FilePath>| {
                paths.sort();
                paths.into_iter().cloned().collect::<Vec<_>>()
            };
            let promised = sorted(listed.iter().map(|(path, _)| *path).collect());
            if promised != sorted(meta.files.iter().collect()) {
                let text = "meta.json and manifest.json name different files";
                return Err(InstallError::Rule(text.to_owned()));
            }
        }
        let stem = rules::world_stem(listed.iter().map(|(path, _)| *path))?;
        if !listed.iter().any(|(path, _)| is_model(path)) {
            let text = "there is no track model, models/<name>/model.config";
            return Err(InstallError::Rule(text.to_owned()));
        }
        let name = format!("custom_{id}");
        let wanted = |(path, said): &(&FilePath, Option<(u64, Sum)>)| {
            let local = rules::renamed(path, &stem, &name);
            Wanted { remote: (*path).clone(), local, said: *said }
        };
        let files: Vec<Wanted> = listed.iter().map(wanted).collect();
        rules::check_paths(files.iter().map(|f| &f.local))?;
        Ok(Plan { id: id.clone(), meta, manifest, files })
    }

    /// Whether the id will prove the files.
    pub fn verified(&self) -> bool {
        self.manifest.is_some()
    }

    /// Bytes in all, where they are known.
    pub fn total(&self) -> Option<u64> {
        self.files.iter().map(|f| f.said.map(|(size, _)| size)).sum()
    }
}

fn is_model(path: &FilePath) -> bool {
    let names: Vec<&str> = path.as_str().split('/').collect();
    matches!(names[..], ["models", _, "model.config"])
}

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
        Ok(Writing { to, file: file.clone(), summing, written: behind })
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

/// A world that is ready to be put into place.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What will be installed.
    pub record: Record,
    /// What was passed over while it was loaded.
    pub warnings: Vec<Warning>,
}

struct About<'a> {
    id: &'a WorldId,
    rev: &'a str,
    name: &'a str,
}

fn check(
    staged: &Path,
    about: &About<'_>,
    verified: bool,
    files: Vec<Kept>,
    need: Need,
) -> Result<Checked, InstallError> {
    drop_strangers(staged, &files)?;
    let world = load(&FolderBundle::new(staged), need)?;
    let summary = library::summary_of(&world);
    let unique = random_hex().map_err(InstallError::Disk)?;
    let record = Record {
        v: 1,
        world_id: about.id.to_string(),
        rev: about.rev.to_owned(),
        name: about.name.to_owned(),
        verified,
        size: summary.size,
        evaluation: summary.evaluation,
        folder: format!("{}-{}", about.rev, &unique[..8]),
        files,
    };
    Ok(Checked { record, warnings: world.warnings })
}

impl Shelf {
    /// Installs a package that was made on this machine.
    pub fn install(&self, package: &Package) -> Result<Checked, InstallError> {
        let folder = self.staging.join(package.id.as_str());
        // The id is new: nobody else can have it.
        let claim = Claim::try_take(&folder)?;
        let staged = folder.join("files");
        let done = self.install_from(&staged, package);
        let _ = std::fs::remove_dir_all(&folder);
        drop(claim);
        done
    }

    fn install_from(&self, staged: &Path, package: &Package) -> Result<Checked, InstallError> {
        let mut files = Vec::with_capacity(package.files.len());
        for (path, bytes) in &package.files {
            let whole = staged.join(path.as_str());
            if let Some(folder) = whole.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let mut file = File::create(&whole)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            let (path, size, sha256) = (path.to_string(), bytes.len() as u64, Sum::of(bytes).hex());
            files.push(Kept { path, size, sha256 });
        }
        let meta = &package.meta;
        let about = About { id: &package.id, rev: meta.rev.as_str(), name: &meta.name };
        let checked = check(staged, &about, true, files, Need::World)?;
        self.place(staged, &checked.record)?;
        Ok(checked)
    }
}

/// Removes what does not belong to the world, such as files of an interrupted installation, and has the
/// folders on disk.
fn drop_strangers(staged: &Path, files: &[Kept]) -> std::io::Result<()> {
    let mut pending = vec![staged.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if std::fs::symlink_metadata(&path)?.is_dir() {
                pending.push(path);
                continue;
            }
            let name = path.strip_prefix(staged).ok().and_then(Path::to_str);
            if !files.iter().any(|f| Some(f.path.as_str()) == name) {
                std::fs::remove_file(&path)?;
            }
        }
        sync_folder(&folder);
    }
    Ok(())
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

/// Sums what is written to it.
struct Adding<'a>(&'a mut Summing);

impl Write for Adding<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A file on its way in.
pub struct Writing {
    to: File,
    file: Wanted,
    summing: Summing,
    written: u64,
}

impl Writing {
    /// More bytes. Refused beyond what was said, or what there may be.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), InstallError> {
        self.written += bytes.len() as u64;
        self.file.check_size(self.written)?;
        self.summing.add(bytes);
        Ok(self.to.write_all(bytes)?)
    }

    /// Bytes so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The end of the file: it is on disk, and as was said.
    pub fn end(self) -> Result<(), InstallError> {
        self.to.sync_all()?;
        let path = &self.file.remote;
        match self.file.said {
            Some((size, _)) if size != self.written => {
                Err(InstallError::Rule(format!("{path} is smaller than its manifest says")))
            }
            Some((_, sum)) if sum != self.summing.end() => {
                Err(InstallError::Rule(format!("{path} is not what its manifest says: its sha256 differs")))
            }
            _ => Ok(()),
        }
    }
}
