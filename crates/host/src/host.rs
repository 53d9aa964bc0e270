//! Starts and stops the running simulator.

use crate::camera::Camera;
use crate::driver::{DriveAt, InitialState, Simulator};
use crate::evaluation::{EvaluationParts, Evaluations, NewOutput, StartEvaluationError, records};
use crate::feed::Feed;
use crate::keeper::{Keeper, RedLights};
use crate::loader::{LoadFailure, Loader};
use crate::loudspeaker::Loudspeaker;
use crate::metrics::Metrics;
use crate::options::{HostOptions, StartHostError, StudentAccess};
use chicane_pace::PaceReport;
use chicane_session::{StopCause, TrialError};
use chicane_store::{Data, Library, SessionRow, StoreError, StoredRun};
use chicane_wire::{CurrentSession, Num, Record, Role, StartRequest, Transition, TransitionKind};
use chicane_world::Profile;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// The default world: the first world of a new data folder, and the fallback if the last world is
/// unknown or can't be loaded.
const FIRST_WORLD: &str = "oval";
/// Limit of each of the two waits of [`Host::finish`]: for the end of the sim thread, and then for
/// the last user of the data folder.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Time between two checks that the data folder was not replaced.
const FOLDER_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Why the first world was not loaded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BootError {
    /// The world can't be loaded.
    #[error("world {name} can't be loaded: {reason}")]
    Broken {
        /// Name of the world.
        name: String,
        /// Why the files of the world can't be used.
        reason: String,
    },
    /// The world was not found or could not be stored as the last world, or the sim thread refused
    /// the world.
    #[error(transparent)]
    Failed(LoadFailure),
    /// The simulator was stopped while it loaded the world.
    #[error("the simulator was stopped")]
    Stopped,
}

/// Why [`Host::find_judge`] found no way to run judging scripts.
#[derive(Debug, thiserror::Error)]
pub enum FindJudgeError {
    /// Judging scripts can't be run. The error is the reason.
    #[error(transparent)]
    Setting(#[from] TrialError),
    /// The test panicked.
    #[error(transparent)]
    Panicked(#[from] tokio::task::JoinError),
}

/// The parts of a running simulator.
pub struct Host {
    /// The sim thread.
    pub simulator: Simulator,
    /// Loads worlds.
    pub loader: Loader,
    /// Stores settings.
    pub keeper: Keeper,
    /// The event stream.
    pub feed: Feed,
    /// Draws frames of the on-board camera.
    pub camera: Camera,
    /// The sound output of the robot.
    pub loudspeaker: Loudspeaker,
    /// Starts and stops evaluations.
    pub evaluations: Arc<Evaluations>,
    /// The data folder.
    pub data: Arc<Data>,
    /// Folder that student programs run in.
    pub workspace: PathBuf,
    /// Metrics for operators.
    pub metrics: Arc<Metrics>,
    /// Profile of the car.
    pub profile: Arc<Profile>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The result of loading the first world; `None` while this world is being loaded.
    boot: watch::Receiver<Option<Result<(), BootError>>>,
}

/// A simulator that is not started yet. Its data folder is open and its first world is known.
///
/// A web server opens its listening socket between [`Prepared::new`] and [`Prepared::start`],
/// because student programs get the address of the socket in their environment.
pub struct Prepared {
    options: HostOptions,
    data: Arc<Data>,
    /// Name of the first world.
    name: String,
    /// Whether the options name the first world.
    chosen: bool,
    /// The stored lights of the first world.
    red: RedLights,
    /// The stored brightness. Every channel of a pixel is multiplied by this factor.
    brightness: f64,
}

impl Prepared {
    /// Opens the data folder, closes sessions that were active when the simulator was killed, and
    /// finds the first world.
    pub fn new(mut options: HostOptions) -> Result<Prepared, StartHostError> {
        let data = Arc::new(Data::open(&options.data_dir)?);
        let settings = data.settings();
        options.library = options.library.with_installed_within(data.folder());
        records::close_unfinished(&data)?;
        let last = settings.last_world()?;
        place_driven_project(&options.library, &data, last.as_deref())?;
        let (name, chosen) = first_world(&options, last)?;
        let red = settings.lights(&name)?;
        let brightness = settings.brightness()?.unwrap_or(1.0);
        Ok(Prepared { options, data, name, chosen, red, brightness })
    }

    /// Name of the first world.
    pub fn first_world(&self) -> &str {
        &self.name
    }

    /// Starts the simulator. The first world is loaded in the background.
    pub fn start(self, access: StudentAccess) -> Result<Arc<Host>, StartHostError> {
        let Prepared { options, data, name, chosen, red, brightness } = self;
        let metrics = Arc::new(Metrics::default());
        let loudspeaker = Loudspeaker::new();
        let status = Arc::default();
        let transition = Transition {
            kind: TransitionKind::Boot,
            target: Arc::from(format!("{name}.world")),
            progress: Num(0.0),
        };
        let start = InitialState {
            speed: options.speed,
            only_sessions: options.only_sessions,
            brightness,
            status: Arc::clone(&status),
            transition,
        };
        let (simulator, thread) = Simulator::start(&start, Arc::clone(&metrics), loudspeaker.clone())
            .map_err(StartHostError::Thread)?;
        let profile = Arc::new(options.profile);
        let keeper = Keeper::new(Arc::clone(&data));
        let loader = Loader {
            simulator: simulator.clone(),
            library: Arc::new(options.library),
            keeper: keeper.clone(),
            choice_lock: Arc::default(),
            profile: Arc::clone(&profile),
        };
        let feed = Feed::start(simulator.clone(), Arc::clone(&metrics));
        let evaluations = Arc::new(Evaluations::new(EvaluationParts {
            simulator: simulator.clone(),
            choice_lock: Arc::clone(&loader.choice_lock),
            keeper: keeper.clone(),
            feed: feed.clone(),
            data: Arc::clone(&data),
            library: Arc::clone(&loader.library),
            profile: Arc::clone(&profile),
            status,
            workspace: options.workspace.clone(),
            environment: access.environment,
            options: options.judge,
            version: options.version,
            loopback_only: access.loopback_only,
            port: access.port,
            metrics: Arc::clone(&metrics),
            gate: access.gate,
        }));
        let camera = Camera::new(Arc::clone(&profile), Arc::clone(simulator.work()));
        let (booted, boot) = watch::channel(None);
        tokio::spawn(load_first_world(loader.clone(), name, red, chosen, booted));
        tokio::spawn(reload_lost_worlds(loader.clone()));
        tokio::spawn(watch_data_folder(Arc::downgrade(&data)));
        Ok(Arc::new(Host {
            simulator,
            loader,
            keeper,
            feed,
            camera,
            loudspeaker,
            evaluations,
            data,
            workspace: options.workspace,
            metrics,
            profile,
            thread: Mutex::new(Some(thread)),
            boot,
        }))
    }
}

/// Adds the last world to the library if it was built from a project, because such a world is not
/// in the library after a restart. The simulator can then start with this world again.
fn place_driven_project(library: &Library, data: &Data, last: Option<&str>) -> Result<(), StoreError> {
    let Some(name) = last.filter(|name| library.entry(name).is_none()) else { return Ok(()) };
    if let Some(driven) = data.projects().driven(name)? {
        library.place(name, &driven.display, &driven.rev, driven.bundle);
    }
    Ok(())
}

impl Host {
    /// Waits until the first world is ready.
    pub async fn ready(&self) -> Result<(), BootError> {
        let mut boot = self.boot.clone();
        let outcome = match boot.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone(),
            Err(_) => None,
        };
        outcome.unwrap_or(Err(BootError::Stopped))
    }

    /// Tests how judging scripts can be run on this machine, and describes the result in one line.
    pub async fn find_judge(&self) -> Result<String, FindJudgeError> {
        let finder = Arc::clone(self.evaluations.finder());
        let found = tokio::task::spawn_blocking(move || finder.setting()).await;
        let (setting, isolation) = found??;
        Ok(setting.describe(isolation))
    }

    /// Starts an evaluation and returns the id of its session. `drive` is a recorded drive, or
    /// empty.
    pub async fn evaluate(
        &self,
        request: StartRequest,
        drive: Vec<DriveAt>,
    ) -> Result<String, StartEvaluationError> {
        self.evaluations.start(request, drive.into(), Role::Teacher).await.map(|session| session.id)
    }

    /// The active session, or else the last one.
    pub fn session(&self) -> CurrentSession {
        self.evaluations.current().response()
    }

    /// Waits for the end of the active session, if there is one.
    pub async fn session_ended(&self) {
        self.evaluations.wait_until_ended().await;
    }

    /// Ends the active session, if there is one.
    pub async fn stop_session(&self) {
        self.evaluations.stop(StopCause::Asked).await;
    }

    /// The output of the student's program and of the judging script, in order, from line number
    /// `from` on (0 is the first line of the session).
    pub fn output(&self, from: u64) -> NewOutput {
        self.evaluations.current().output(from)
    }

    /// Whether a fault of the simulator ended the last session or left its record incomplete on
    /// disk. Neither the student's program nor the judging script is to blame for such an end.
    pub fn simulator_failed(&self) -> bool {
        self.evaluations.current().simulator_failed()
    }

    /// What the last session spent its time on. `None` in real time, and before the end of the
    /// session.
    pub fn pace_report(&self) -> Option<PaceReport> {
        self.evaluations.current().pace_report()
    }

    /// The record of a session; `None` if there is no such session.
    pub fn record(&self, session: &str) -> Result<Option<Record>, StoreError> {
        self.evaluations.record(Some(session), None)
    }

    /// Why the simulator can't evaluate or can't keep records now; `None` if it can.
    pub fn fault(&self) -> Option<String> {
        self.evaluations.fault()
    }

    /// A stored session with its events, each a JSON object; `None` if there is no such session.
    pub fn stored_session(&self, id: &str) -> Result<Option<(SessionRow, Vec<String>)>, StoreError> {
        self.evaluations.stored(id)
    }

    /// The journal of a stored session and the files of its world.
    pub fn stored_run(&self, row: &SessionRow) -> Result<StoredRun, StoreError> {
        self.evaluations.stored_run(row)
    }

    /// Ends the session, the sim thread and the event stream. Orders that wait for a reply are
    /// refused with [`Refused::Stopping`](crate::driver::Refused::Stopping).
    pub async fn stop(&self) {
        // The session is ended first, because the session needs the sim thread to stop the car.
        self.evaluations.shut_down().await;
        self.simulator.stop();
        self.feed.close();
    }

    /// Waits for the sim thread after [`Host::stop`], then drops the host and waits until no other
    /// user of the data folder is left. Each of the two waits lasts at most `STOP_TIMEOUT`.
    pub async fn finish(self: Arc<Host>) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let joined = tokio::task::spawn_blocking(move || thread.join());
            let _ = tokio::time::timeout(STOP_TIMEOUT, joined).await;
        }
        let data = Arc::clone(&self.data);
        drop(self);
        let unused = async {
            while Arc::strong_count(&data) > 1 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let _ = tokio::time::timeout(STOP_TIMEOUT, unused).await;
    }
}

/// The name of the first world, and whether the options name this world.
fn first_world(options: &HostOptions, last: Option<String>) -> Result<(String, bool), StartHostError> {
    let library = &options.library;
    if let Some(name) = &options.world {
        let name = name.strip_suffix(".world").unwrap_or(name);
        if library.entry(name).is_none() {
            let known: Vec<String> = library.entries().into_iter().map(|e| e.name).collect();
            return Err(StartHostError::NoSuchWorld { name: name.to_owned(), known: known.join(", ") });
        }
        return Ok((name.to_owned(), true));
    }
    let known = last.filter(|name| library.entry(name).is_some());
    Ok((known.unwrap_or_else(|| FIRST_WORLD.to_owned()), false))
}

/// Loads the first world. If the last used world can't be loaded, the default world is loaded
/// instead.
async fn load_first_world(
    loader: Loader,
    mut name: String,
    red: RedLights,
    chosen: bool,
    booted: watch::Sender<Option<Result<(), BootError>>>,
) {
    let mut outcome = loader.boot(&name, red).await;
    if let Err(LoadFailure::Broken(why)) = &outcome
        && !chosen
        && name != FIRST_WORLD
    {
        tracing::warn!(world = name, "the last world can't be loaded, so the default world is loaded: {why}");
        outcome = loader.boot(FIRST_WORLD, Default::default()).await;
        name = FIRST_WORLD.to_owned();
    }
    if outcome.is_err() {
        let _ = loader.simulator.abort_transition().await;
    }
    let outcome = outcome.map_err(|failure| match failure {
        LoadFailure::Broken(reason) => BootError::Broken { name, reason },
        other => BootError::Failed(other),
    });
    booted.send_replace(Some(outcome));
}

/// Logs an error once if the data folder is replaced. Returns after that, or when the folder is
/// closed.
async fn watch_data_folder(data: Weak<Data>) {
    let mut interval = tokio::time::interval(FOLDER_CHECK_INTERVAL);
    loop {
        interval.tick().await;
        let Some(checked) = data.upgrade().map(|data| data.check()) else { return };
        if let Err(error) = checked {
            tracing::error!("{error}");
            return;
        }
    }
}

/// Loads a world again whenever its simulation panicked. Returns when the sim thread ends.
async fn reload_lost_worlds(loader: Loader) {
    let mut lost = loader.simulator.watch_lost();
    while lost.wait_for(|lost| *lost).await.is_ok() {
        if let Err(failure) = loader.respawn(0).await {
            tracing::error!(?failure, "a world whose simulation failed could not be loaded again");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}
