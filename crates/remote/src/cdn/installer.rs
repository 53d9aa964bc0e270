//! Installs published worlds.
//!
//! There is at most one job for each world id. A second request for the same world waits for the
//! running job and gets the same result. A job continues even if its requests were cancelled, and
//! stops when the program stops.
//!
//! `meta.json` names the revision. If that revision is installed and complete, the job ends.
//! Otherwise an `InstallPlan` lists the files. Up to eight files are downloaded at a time, to a
//! `Staging` folder; all processes share one such folder for each id. At the end the world is
//! loaded as a test.
//!
//! If the CDN has a `manifest.json`, it states the size and the checksum of each file. Each file is
//! hashed while it arrives, the `Staging` folder keeps downloaded files across restarts, and at the
//! end the id has to match the checksums of all files. Without a manifest, the files can't be
//! verified. Then every installation starts with an empty folder, and the record says that the
//! world is not verified.

use super::download::{WorldDownload, blocking};
use super::source::CdnSource;
use chicane_store::{
    InstallError, InstallPlan, InstalledRecord, Library, MAX_MANIFEST, MAX_META, Manifest, Meta, Staging,
};
use chicane_wire::WorldId;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// Maximum number of worlds that are installed at a time. Further jobs wait.
const MAX_PARALLEL_INSTALLS: usize = 4;
/// Maximum number of jobs that run or wait. Further requests for other worlds are refused.
const MAX_JOBS: usize = 64;
/// Maximum number of files of a world that are downloaded at a time.
const MAX_PARALLEL_FILES: usize = 8;
/// Time limit of a job.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(1800);
/// Time between attempts to open a staging folder that another process uses.
const STAGING_RETRY_PAUSE: Duration = Duration::from_millis(50);
/// Timeout for the remaining disk writes of a failed installation.
const MAX_WRITE: Duration = Duration::from_secs(60);
/// Fraction of the progress that counts as downloading; the rest is checking.
const DOWNLOAD_SHARE: f64 = 0.9;

/// Called with the finished fraction of an installation, from 0 to 1, and with `None` at its end.
pub type ProgressCallback = Arc<dyn Fn(&WorldId, Option<f64>) + Send + Sync>;

/// Result of a successful installation.
#[derive(Debug, Clone, PartialEq)]
pub struct Installed {
    /// The installed world.
    pub record: InstalledRecord,
    /// Whether the world was already installed, so that none of its files were downloaded.
    pub cached: bool,
    /// Warnings about the parts of the world that were ignored while it was loaded.
    pub warnings: Vec<String>,
}

type InstallResult = Result<Installed, InstallError>;
/// The running jobs. The channel of a job holds `None` until the job ends.
type InstallJobs = BTreeMap<WorldId, watch::Receiver<Option<InstallResult>>>;

/// Installs worlds from one CDN into one library.
#[derive(Clone)]
pub struct Installer {
    shared: Arc<InstallerState>,
}

/// The state that an installer shares with its jobs.
struct InstallerState {
    library: Arc<Library>,
    source: Arc<CdnSource>,
    /// Whether worlds are refused if their files can't be verified against their id.
    require_verified: bool,
    progress: ProgressCallback,
    jobs: Mutex<InstallJobs>,
    /// One permit for each world that may be installed at a time.
    install_permits: Semaphore,
    /// A single permit to load a world. Worlds are loaded one at a time, because a loaded world may
    /// need much memory.
    load_permit: Arc<Semaphore>,
    /// Becomes true when the program stops.
    stop: watch::Receiver<bool>,
}

impl Installer {
    /// Creates an installer. If `require_verified` is true, the installer refuses worlds whose
    /// files can't be verified against their id. Jobs end when `stop` becomes true or its sender is
    /// dropped.
    pub fn new(
        library: Arc<Library>,
        source: CdnSource,
        require_verified: bool,
        progress: ProgressCallback,
        stop: watch::Receiver<bool>,
    ) -> Installer {
        let shared = InstallerState {
            library,
            source: Arc::new(source),
            require_verified,
            progress,
            jobs: Mutex::default(),
            install_permits: Semaphore::new(MAX_PARALLEL_INSTALLS),
            load_permit: Arc::new(Semaphore::new(1)),
            stop,
        };
        Installer { shared: Arc::new(shared) }
    }

    /// Installs a world, or waits for the job that is installing it.
    pub async fn install(&self, id: &WorldId) -> InstallResult {
        let mut job = self.job(id)?;
        let result = match job.wait_for(Option::is_some).await {
            Ok(result) => result.clone(),
            // The job panicked, so its sender was dropped.
            Err(_) => None,
        };
        result.unwrap_or_else(|| {
            Err(InstallError::Disk("the installation failed; the log has the reason".to_owned()))
        })
    }

    /// Returns the running job of a world, or starts one.
    fn job(&self, id: &WorldId) -> Result<watch::Receiver<Option<InstallResult>>, InstallError> {
        let mut jobs = self.shared.jobs();
        if let Some(job) = jobs.get(id) {
            return Ok(job.clone());
        }
        if jobs.len() >= MAX_JOBS {
            return Err(InstallError::Busy);
        }
        let (sender, job) = watch::channel(None);
        jobs.insert(id.clone(), job.clone());
        drop(jobs);
        let (shared, id) = (Arc::clone(&self.shared), id.clone());
        tokio::spawn(async move {
            // `cleanup` removes the job from the list when it is dropped, even after a panic. The
            // next request for this world then starts a new job.
            let cleanup = JobCleanup { shared: Arc::clone(&shared), id: id.clone() };
            let result = shared.install_until_stopped(&id).await;
            drop(cleanup);
            sender.send_replace(Some(result));
        });
        Ok(job)
    }
}

/// Removes a job when it ends.
struct JobCleanup {
    shared: Arc<InstallerState>,
    id: WorldId,
}

impl Drop for JobCleanup {
    fn drop(&mut self) {
        self.shared.jobs().remove(&self.id);
        (self.shared.progress)(&self.id, None);
    }
}

impl InstallerState {
    fn jobs(&self) -> std::sync::MutexGuard<'_, InstallJobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn install_until_stopped(&self, id: &WorldId) -> InstallResult {
        let mut stop = self.stop.clone();
        let work = async {
            let _permit = self.install_permits.acquire().await.map_err(|_| InstallError::Stopping)?;
            (self.progress)(id, Some(0.0));
            self.install(id).await
        };
        let too_long = || InstallError::Cdn("the installation took longer than 30 minutes".to_owned());
        tokio::select! {
            done = tokio::time::timeout(INSTALL_TIMEOUT, work) => {
                done.unwrap_or_else(|_| Err(too_long()))
            }
            _ = stop.wait_for(|stop| *stop) => Err(InstallError::Stopping),
        }
    }

    async fn install(&self, id: &WorldId) -> InstallResult {
        let meta = self.source.document(&format!("worlds/{id}/meta.json"), MAX_META).await?;
        let meta = Meta::read(id, &meta.ok_or(InstallError::NotPublished)?)?;
        if let Some(installed) = self.already_installed(id, &meta).await? {
            return Ok(installed);
        }
        let path = format!("worlds/{id}/{}/manifest.json", meta.rev.as_str());
        let manifest = match self.source.document(&path, MAX_MANIFEST).await? {
            Some(bytes) => Some(Manifest::read(id, &meta.rev, &bytes)?),
            None => None,
        };
        self.check_verified(id, manifest.is_some())?;
        let plan = InstallPlan::new(id, meta, manifest)?;
        let staging = loop {
            let (shelf, own_plan) = (self.shelf()?, plan.clone());
            match blocking(move || Staging::open(&shelf, own_plan)).await? {
                Some(staging) => break Arc::new(staging),
                None => tokio::time::sleep(STAGING_RETRY_PAUSE).await,
            }
        };
        // Another process may have installed the world while this job waited for the folder.
        if let Some(installed) = self.already_installed(id, &plan.meta).await? {
            discard(staging).await;
            return Ok(installed);
        }
        let result = self.download_and_admit(&staging).await;
        // The downloaded files are kept for the next attempt if the CDN failed. Without a manifest
        // they are discarded, because they could not be verified later.
        if !matches!(result, Err(InstallError::Cdn(_))) || !plan.verified() {
            discard(staging).await;
        }
        result
    }

    /// The installed world. `None` if this revision is not installed or not complete.
    async fn already_installed(&self, id: &WorldId, meta: &Meta) -> Result<Option<Installed>, InstallError> {
        let (library, shelf) = (Arc::clone(&self.library), self.shelf()?);
        let (id, meta) = (id.clone(), meta.clone());
        let record = blocking(move || {
            library.refresh();
            let Some(record) = library.installed(&id).filter(|r| r.rev == meta.rev.as_str()) else {
                return Ok(None);
            };
            if !shelf.is_intact(&record) {
                return Ok(None);
            }
            // The publisher may have renamed the world. The world is usable with its old name too,
            // so an error is only logged.
            if let Err(e) = library.rename(&id, &meta.name) {
                tracing::warn!(%id, "can't store the new name of a world: {e}");
            }
            Ok(library.installed(&id))
        });
        let Some(record) = record.await? else { return Ok(None) };
        if self.require_verified && !record.verified {
            return Err(unverified());
        }
        Ok(Some(Installed { record, cached: true, warnings: Vec::new() }))
    }

    /// Refuses an unverified world if all worlds must be verified, or if the unverified world would
    /// replace a verified one.
    fn check_verified(&self, id: &WorldId, verified: bool) -> Result<(), InstallError> {
        if verified {
            return Ok(());
        }
        if self.require_verified {
            return Err(unverified());
        }
        if self.library.installed(id).is_some_and(|record| record.verified) {
            let text = "the CDN has no manifest.json for this world, and an unverified world must not replace the \
                        verified one that is installed";
            return Err(InstallError::Rule(text.to_owned()));
        }
        Ok(())
    }

    async fn download_and_admit(&self, staging: &Arc<Staging>) -> InstallResult {
        self.download(staging).await?;
        let id = &staging.plan().id;
        (self.progress)(id, Some(DOWNLOAD_SHARE));
        let permit = Arc::clone(&self.load_permit).acquire_owned().await;
        let permit = permit.map_err(|_| InstallError::Stopping)?;
        let (library, own_staging) = (Arc::clone(&self.library), Arc::clone(staging));
        let checking = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let checked = own_staging.check()?;
            library.admit(&own_staging, &checked)?;
            Ok(checked)
        });
        let checked = checking.await.unwrap_or_else(|_| {
            Err(InstallError::Rule("the world can't be loaded; the log has the reason".to_owned()))
        })?;
        (self.progress)(id, Some(1.0));
        let warnings = checked.warnings.iter().map(ToString::to_string).collect();
        Ok(Installed { record: checked.record, cached: false, warnings })
    }

    /// Downloads all files of a plan. The progress is measured in bytes if a manifest states the
    /// sizes of the files, otherwise in files.
    async fn download(&self, staging: &Arc<Staging>) -> Result<(), InstallError> {
        let plan = staging.plan();
        let (id, total) = (&plan.id, plan.total());
        let (progress, own_id) = (Arc::clone(&self.progress), id.clone());
        let on_received = move |bytes: u64| {
            if let Some(total) = total {
                let share = (bytes as f64 / total.max(1) as f64).min(1.0);
                progress(&own_id, Some(share * DOWNLOAD_SHARE));
            }
        };
        let download = Arc::new(WorldDownload {
            source: Arc::clone(&self.source),
            staging: Arc::clone(staging),
            received: AtomicU64::new(0),
            on_received: Box::new(on_received),
        });
        let downloads = plan.files.clone().into_iter().map(|file| {
            let download = Arc::clone(&download);
            async move { download.file(&file).await }.boxed()
        });
        let downloads = futures_util::stream::iter(downloads.collect::<Vec<_>>());
        let mut downloads = downloads.buffer_unordered(MAX_PARALLEL_FILES);
        let mut files = 0;
        while let Some(()) = downloads.try_next().await? {
            files += 1;
            if total.is_none() {
                let share = f64::from(files) / plan.files.len() as f64;
                (self.progress)(id, Some(share * DOWNLOAD_SHARE));
            }
        }
        Ok(())
    }

    fn shelf(&self) -> Result<chicane_store::InstalledWorlds, InstallError> {
        let none = || InstallError::Disk("there is no data folder".to_owned());
        self.library.installed_worlds().cloned().ok_or_else(none)
    }
}

fn unverified() -> InstallError {
    InstallError::Rule(
        "the files of this world can't be verified against its id, which --require-verified demands"
            .to_owned(),
    )
}

/// Removes a staging folder once no other task uses it. If a task still uses it after
/// [`MAX_WRITE`], the folder is not removed.
async fn discard(staging: Arc<Staging>) {
    // When a download fails, disk writes of other downloads may still run on blocking threads. A
    // write ends with a `sync_all`, which takes seconds on a busy disk.
    let deadline = Instant::now() + MAX_WRITE;
    while Arc::strong_count(&staging) > 1 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    if let Some(staging) = Arc::into_inner(staging) {
        let _ = tokio::task::spawn_blocking(move || staging.discard()).await;
    }
}
