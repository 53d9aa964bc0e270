//! Stores settings (brightness, last world, lights) on disk.
//!
//! A change is written before it is applied. Therefore an acknowledged change survives `kill -9`,
//! and a change that can't be stored has no effect.
//!
//! After the sim thread has applied or refused a command, the keeper writes the published state
//! again. The first write is wrong if the command was refused, or if an HTTP client and a judging
//! script changed a setting at the same time. The keeper reads the published state while it holds
//! the lock `disk`, so the last write has the newest state.
//!
//! Only one HTTP handler at a time changes a setting. A judging script does not wait for that
//! handler. Otherwise the two could wait for each other, because the handler may wait for the sim
//! thread, and the sim thread waits for the script.

use crate::driver::{Answer, Published, Refused, Simulator};
use chicane_session::SessionHostError;
use chicane_sim::{Applied, Command, Lamp};
use chicane_store::{Data, StoreError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Why a setting was not stored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KeepError {
    /// The database failed.
    #[error("the setting could not be stored: {0}")]
    Store(#[from] StoreError),
    /// The task that writes to the database panicked. The text is the message of the panic.
    #[error("the setting could not be stored: {0}")]
    Panicked(String),
}

/// Why a change of a stored setting failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ChangeError {
    /// The new value could not be stored.
    #[error(transparent)]
    NotKept(#[from] KeepError),
    /// The sim thread refused the change.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The task that carries out the change panicked. The text is the message of the panic.
    #[error("the change failed: {0}")]
    Panicked(String),
}

/// The lights of a world by name: `true` is red, `false` is green.
pub type RedLights = BTreeMap<String, bool>;

/// Stores the settings of a simulator. Clones share the locks.
#[derive(Clone)]
pub struct Keeper {
    data: Arc<Data>,
    /// Every change, except that of a judging script, holds this lock from its first write to its
    /// last.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// The change of a judging script holds this lock from its first write to its last. Any other
    /// change holds the lock only during each of its writes.
    disk: Arc<Mutex<OnDisk>>,
}

/// The values on disk. A value is `None` if it is unknown.
#[derive(Debug, Default)]
struct OnDisk {
    world: Option<String>,
    red: Option<(String, RedLights)>,
    brightness: Option<f64>,
}

impl Keeper {
    /// A keeper for this data folder.
    pub(crate) fn new(data: Arc<Data>) -> Keeper {
        Keeper { data, turn: Arc::default(), disk: Arc::default() }
    }

    /// Stores the brightness, then applies it.
    pub async fn brightness(&self, simulator: &Simulator, value: f64) -> Result<(), ChangeError> {
        let (own, simulator) = (self.clone(), simulator.clone());
        // The work is spawned, so that a cancelled request cannot leave a stored setting that
        // differs from the applied setting.
        finished(tokio::spawn(async move {
            let _turn = own.turn.lock().await;
            own.blocking(move |own| own.put_brightness(&mut own.disk(), value)).await?;
            let answer = simulator.brightness(value).await;
            let view = simulator.clone();
            let shown = own.blocking(move |own| own.put_shown_brightness(&mut own.disk(), &view)).await;
            answer?;
            warn_if_not_kept(shown);
            Ok(())
        }))
        .await
    }

    /// Stores the changed lights, then applies a command that changes lights. `change` computes the
    /// lights after the command.
    pub async fn with_lights(
        &self,
        simulator: &Simulator,
        command: Command,
        change: impl FnOnce(&mut RedLights) + Send + 'static,
    ) -> Result<(Applied, Arc<Published>), ChangeError> {
        let (own, simulator) = (self.clone(), simulator.clone());
        // The work is spawned, so that a cancelled request cannot leave a stored setting that
        // differs from the applied setting.
        finished(tokio::spawn(async move {
            let _turn = own.turn.lock().await;
            let view = simulator.clone();
            own.blocking(move |own| own.put_changed_lights(&mut own.disk(), &view, change)).await?;
            let answer: Answer<Applied> = simulator.command_when_free(command).await;
            let view = simulator.clone();
            let shown = own.blocking(move |own| own.put_shown_lights(&mut own.disk(), &view)).await;
            let answer = answer?;
            warn_if_not_kept(shown);
            Ok(answer)
        }))
        .await
    }

    /// Stores a light command of a judging script, then calls `apply` to apply the command. Blocks.
    pub(crate) fn light_of_script(
        &self,
        simulator: &Simulator,
        (name, red): (&str, bool),
        apply: impl FnOnce() -> Result<(), SessionHostError>,
    ) -> Result<(), SessionHostError> {
        // The lock is held while the command is applied. The sim thread never takes this lock, so
        // it can apply the command.
        let mut disk = self.disk();
        let change = |all: &mut RedLights| {
            if let Some(is_red) = all.get_mut(name) {
                *is_red = red;
            }
        };
        self.put_changed_lights(&mut disk, simulator, change).map_err(not_kept)?;
        let applied = apply();
        warn_if_not_kept(self.put_shown_lights(&mut disk, simulator));
        applied
    }

    /// Stores a brightness that a judging script set, then calls `apply` to apply the brightness.
    /// Blocks.
    pub(crate) fn brightness_of_script(
        &self,
        simulator: &Simulator,
        value: f64,
        apply: impl FnOnce() -> Result<(), SessionHostError>,
    ) -> Result<(), SessionHostError> {
        let mut disk = self.disk();
        self.put_brightness(&mut disk, value).map_err(not_kept)?;
        let applied = apply();
        warn_if_not_kept(self.put_shown_brightness(&mut disk, simulator));
        applied
    }

    /// Stores the name of the world that is about to run, and its lights.
    pub(crate) async fn world(&self, name: &str, red: RedLights) -> Result<(), KeepError> {
        let _turn = self.turn.lock().await;
        let name = name.to_owned();
        self.blocking(move |own| {
            let mut disk = own.disk();
            own.put_world(&mut disk, &name)?;
            own.put_lights(&mut disk, name, red)
        })
        .await
    }

    fn put_world(&self, disk: &mut OnDisk, name: &str) -> Result<(), KeepError> {
        if disk.world.as_deref() != Some(name) {
            disk.world = None;
            self.data.settings().set_last_world(name)?;
            disk.world = Some(name.to_owned());
        }
        Ok(())
    }

    /// Applies `change` to a copy of the published lights, and writes the changed lights.
    fn put_changed_lights(
        &self,
        disk: &mut OnDisk,
        simulator: &Simulator,
        change: impl FnOnce(&mut RedLights),
    ) -> Result<(), KeepError> {
        let Some((world, mut red)) = lights(&simulator.now()) else { return Ok(()) };
        change(&mut red);
        self.put_lights(disk, world, red)
    }

    /// Writes the lights of the published state.
    fn put_shown_lights(&self, disk: &mut OnDisk, simulator: &Simulator) -> Result<(), KeepError> {
        self.put_changed_lights(disk, simulator, |_| {})
    }

    fn put_lights(&self, disk: &mut OnDisk, world: String, red: RedLights) -> Result<(), KeepError> {
        if disk.red.as_ref().is_some_and(|(w, r)| *w == world && *r == red) {
            return Ok(());
        }
        // The value is `None` during the write, so that the next call repeats a failed write.
        disk.red = None;
        self.data.settings().set_lights(&world, &red)?;
        disk.red = Some((world, red));
        Ok(())
    }

    /// Writes the brightness of the published state. A brightness that the seed of the running world
    /// has drawn is not a setting, so it is not written.
    fn put_shown_brightness(&self, disk: &mut OnDisk, simulator: &Simulator) -> Result<(), KeepError> {
        self.put_brightness(disk, simulator.now().usual_brightness)
    }

    fn put_brightness(&self, disk: &mut OnDisk, value: f64) -> Result<(), KeepError> {
        if disk.brightness == Some(value) {
            return Ok(());
        }
        disk.brightness = None;
        self.data.settings().set_brightness(value)?;
        disk.brightness = Some(value);
        Ok(())
    }

    fn disk(&self) -> std::sync::MutexGuard<'_, OnDisk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` on a thread that may block on the disk.
    async fn blocking(
        &self,
        work: impl FnOnce(&Keeper) -> Result<(), KeepError> + Send + 'static,
    ) -> Result<(), KeepError> {
        let own = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&own)).await;
        done.unwrap_or_else(|e| Err(KeepError::Panicked(e.to_string())))
    }
}

/// Logs that the published state could not be stored after a change. The client gets no error,
/// because the change itself was stored before it was applied.
fn warn_if_not_kept(result: Result<(), KeepError>) {
    if let Err(error) = result {
        tracing::warn!(%error, "the settings on disk may differ from the published state");
    }
}

fn not_kept(error: KeepError) -> SessionHostError {
    SessionHostError::Refused(error.to_string())
}

/// Waits for a spawned change and returns its result.
async fn finished<T>(work: tokio::task::JoinHandle<Result<T, ChangeError>>) -> Result<T, ChangeError> {
    work.await.unwrap_or_else(|e| Err(ChangeError::Panicked(e.to_string())))
}

/// The name of the running world and its lights; `None` if no world runs. A yellow light counts as
/// red, because it turns red next.
fn lights(now: &Published) -> Option<(String, RedLights)> {
    let seen = now.running.as_ref()?;
    let lights = seen.snapshot.lights.iter();
    let red = lights.map(|(i, lamp)| (seen.served.names[*i].to_string(), *lamp != Lamp::Green)).collect();
    Some((seen.served.name.to_string(), red))
}
