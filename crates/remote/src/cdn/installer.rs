//! Installs published worlds. One flight for each id: who asks for the same world meanwhile gets the
//! same answer. A flight goes on to its end when nobody waits any more, and ends with the program.

use super::download::{Download, blocking};
use super::source::Source;
use chicane_store::{
    InstallError, InstallPlan, InstalledRecord, Library, MAX_MANIFEST, MAX_META, Manifest, Meta, Staging,
};
use chicane_wire::WorldId;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// Worlds that are installed at a time; others wait.
const FLIGHTS: usize = 4;
/// Worlds that may wait to be installed.
const MAX_WAITING: usize = 64;
/// Files of a world that are fetched at a time.
const AT_ONCE: usize = 8;
/// An installation ends here.
const MAX_TIME: Duration = Duration::from_secs(1800);
/// How often we look whether another program is done with the same world.
const LOOK: Duration = Duration::from_millis(50);
/// Share of the progress that is fetching; the rest is checking.
const FETCHING: f64 = 0.9;

/// Told how far a world is, 0 to 1; `None` when that is over.
pub type Report = Arc<dyn Fn(&WorldId, Option<f64>) + Send + Sync>;

/// What came of an installation.
#[derive(Debug, Clone, PartialEq)]
pub struct Installed {
    /// What is installed.
    pub record: InstalledRecord,
    /// It was there already.
    pub cached: bool,
    /// What was passed over while it was loaded.
    pub warnings: Vec<String>,
}

type Outcome = Result<Installed, InstallError>;
type Flights = BTreeMap<WorldId, watch::Receiver<Option<Outcome>>>;

/// Installs worlds.
#[derive(Clone)]
pub struct Installer {
    own: Arc<Own>,
}

struct Own {
    library: Arc<Library>,
    source: Arc<Source>,
    /// Refuse what its id does not prove.
    require_verified: bool,
    report: Report,
    flights: Mutex<Flights>,
    places: Semaphore,
    /// Worlds are loaded one at a time: they may be large.
    loading: Arc<Semaphore>,
    /// True when the program ends.
    stop: watch::Receiver<bool>,
}

impl Installer {
    pub fn new(
        library: Arc<Library>,
        source: Source,
        require_verified: bool,
        report: Report,
        stop: watch::Receiver<bool>,
    ) -> Installer {
        let (places, loading) = (Semaphore::new(FLIGHTS), Arc::new(Semaphore::new(1)));
        let (source, flights) = (Arc::new(source), Mutex::default());
        Installer {
            own: Arc::new(Own { library, source, require_verified, report, flights, places, loading, stop }),
        }
    }

    /// Installs a world, or waits for whoever does so already.
    pub async fn install(&self, id: &WorldId) -> Outcome {
        let mut flight = self.flight(id)?;
        let outcome = match flight.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => None,
        };
        outcome
            .unwrap_or_else(|| Err(InstallError::Disk("installing it failed; the log says more".to_owned())))
    }

    /// Joins the flight of a world, or starts it.
    fn flight(&self, id: &WorldId) -> Result<watch::Receiver<Option<Outcome>>, InstallError> {
        let mut flights = self.own.flights();
        if let Some(flight) = flights.get(id) {
            return Ok(flight.clone());
        }
        if flights.len() >= MAX_WAITING {
            return Err(InstallError::Busy);
        }
        let (end, flight) = watch::channel(None);
        flights.insert(id.clone(), flight.clone());
        drop(flights);
        let (own, id) = (Arc::clone(&self.own), id.clone());
        tokio::spawn(async move {
            // However it ends, the next one who asks starts anew.
            let ended = Ended { own: Arc::clone(&own), id: id.clone() };
            let outcome = own.until_stopped(&id).await;
            drop(ended);
            end.send_replace(Some(outcome));
        });
        Ok(flight)
    }
}

struct Ended {
    own: Arc<Own>,
    id: WorldId,
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.own.flights().remove(&self.id);
        (self.own.report)(&self.id, None);
    }
}

impl Own {
    fn flights(&self) -> std::sync::MutexGuard<'_, Flights> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn until_stopped(&self, id: &WorldId) -> Outcome {
        let mut stop = self.stop.clone();
        let work = async {
            let _place = self.places.acquire().await.map_err(|_| InstallError::Stopping)?;
            (self.report)(id, Some(0.0));
            self.install(id).await
        };
        tokio::select! {
            done = tokio::time::timeout(MAX_TIME, work) => {
                done.unwrap_or_else(|_| Err(InstallError::Cdn("it took longer than 30 minutes".to_owned())))
            }
            _ = stop.wait_for(|stop| *stop) => Err(InstallError::Stopping),
        }
    }

    async fn install(&self, id: &WorldId) -> Outcome {
        let meta = self.source.document(&format!("worlds/{id}/meta.json"), MAX_META).await?;
        let meta = Meta::read(id, &meta.ok_or(InstallError::NotPublished)?)?;
        if let Some(there) = self.there(id, &meta).await? {
            return Ok(there);
        }
        let path = format!("worlds/{id}/{}/manifest.json", meta.rev.as_str());
        let manifest = match self.source.document(&path, MAX_MANIFEST).await? {
            Some(bytes) => Some(Manifest::read(id, &meta.rev, &bytes)?),
            None => None,
        };
        self.check_verified(id, manifest.is_some())?;
        let plan = InstallPlan::new(id, meta, manifest)?;
        let staging = loop {
            let (shelf, again) = (self.shelf()?, plan.clone());
            match blocking(move || Staging::open(&shelf, again)).await? {
                Some(staging) => break Arc::new(staging),
                None => tokio::time::sleep(LOOK).await,
            }
        };
        // Another program may have been faster.
        if let Some(there) = self.there(id, &plan.meta).await? {
            discard(staging).await;
            return Ok(there);
        }
        let done = self.bring(&staging).await;
        // A CDN that failed may do better next time; what came so far is kept for then.
        if !matches!(done, Err(InstallError::Cdn(_))) || !plan.verified() {
            discard(staging).await;
        }
        done
    }

    /// The world, if it is installed already and whole.
    async fn there(&self, id: &WorldId, meta: &Meta) -> Result<Option<Installed>, InstallError> {
        let (library, shelf) = (Arc::clone(&self.library), self.shelf()?);
        let (own, meta) = (id.clone(), meta.clone());
        let there = blocking(move || {
            library.refresh();
            let Some(record) = library.installed(&own).filter(|r| r.rev == meta.rev.as_str()) else {
                return Ok(None);
            };
            if !shelf.is_intact(&record) {
                return Ok(None);
            }
            // Its publisher may have changed its name. One that can't be stored is no reason to fail.
            if let Err(e) = library.rename(&own, &meta.name) {
                tracing::warn!(id = %own, "the new name of a world could not be stored: {e}");
            }
            Ok(library.installed(&own))
        });
        let Some(record) = there.await? else { return Ok(None) };
        if self.require_verified && !record.verified {
            return Err(unverified());
        }
        Ok(Some(Installed { record, cached: true, warnings: Vec::new() }))
    }

    fn check_verified(&self, id: &WorldId, verified: bool) -> Result<(), InstallError> {
        if verified {
            return Ok(());
        }
        if self.require_verified {
            return Err(unverified());
        }
        if self.library.installed(id).is_some_and(|record| record.verified) {
            let text = "the installed world is proven by its id, and the one on the CDN is not: it has no manifest.json";
            return Err(InstallError::Rule(text.to_owned()));
        }
        Ok(())
    }

    async fn bring(&self, staging: &Arc<Staging>) -> Outcome {
        let plan = staging.plan();
        let (id, total) = (&plan.id, plan.total());
        let (report, own) = (Arc::clone(&self.report), id.clone());
        let by_bytes = move |bytes: u64| {
            if let Some(total) = total {
                report(&own, Some((bytes as f64 / total.max(1) as f64).min(1.0) * FETCHING));
            }
        };
        let download = Arc::new(Download {
            source: Arc::clone(&self.source),
            staging: Arc::clone(staging),
            came: AtomicU64::new(0),
            tell: Box::new(by_bytes),
        });
        let jobs = plan.files.clone().into_iter().map(|file| {
            let download = Arc::clone(&download);
            async move { download.file(&file).await }.boxed()
        });
        let mut jobs = futures_util::stream::iter(jobs.collect::<Vec<_>>()).buffer_unordered(AT_ONCE);
        let mut done = 0;
        while let Some(()) = jobs.try_next().await? {
            done += 1;
            if total.is_none() {
                (self.report)(id, Some(f64::from(done) / plan.files.len() as f64 * FETCHING));
            }
        }
        drop((jobs, download));
        (self.report)(id, Some(FETCHING));
        let place = Arc::clone(&self.loading).acquire_owned().await.map_err(|_| InstallError::Stopping)?;
        let (library, staging) = (Arc::clone(&self.library), Arc::clone(staging));
        let checking = tokio::task::spawn_blocking(move || {
            let _place = place;
            let checked = staging.check()?;
            library.admit(&staging, &checked)?;
            Ok(checked)
        });
        let checked = checking.await.unwrap_or_else(|_| {
            Err(InstallError::Rule("the world can't be loaded: loading it failed".to_owned()))
        })?;
        (self.report)(id, Some(1.0));
        let warnings = checked.warnings.iter().map(ToString::to_string).collect();
        Ok(Installed { record: checked.record, cached: false, warnings })
    }

    fn shelf(&self) -> Result<chicane_store::InstalledWorlds, InstallError> {
        let none = || InstallError::Disk("there is no data folder".to_owned());
        self.library.installed_worlds().cloned().ok_or_else(none)
    }
}

fn unverified() -> InstallError {
    InstallError::Rule(
        "the world is not proven by its id, which this simulator asks for (--require-verified)".to_owned(),
    )
}

/// Throws away what was staged, when the last who works on it is done.
async fn discard(staging: Arc<Staging>) {
    // Writes that were under way when another failed.
    for _ in 0..1000 {
        if Arc::strong_count(&staging) == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    if let Some(staging) = Arc::into_inner(staging) {
        let _ = tokio::task::spawn_blocking(move || staging.discard()).await;
    }
}
