//! Keeps settings: what was acknowledged is on disk.
//!
//! One writer at a time, and what it writes is carried out before the next one's turn: the last state
//! wins on disk as it does in the world. The disk comes first, so that a request that can't be stored
//! changes nothing; one that is refused after all is taken back.

use crate::driver::{Published, Simulator};
use crate::error::ApiError;
use chicane_sim::{Applied, Command, Lamp};
use chicane_store::{Data, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Why a setting was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeepError(String);

impl std::fmt::Display for KeepError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<StoreError> for KeepError {
    fn from(error: StoreError) -> KeepError {
        KeepError(error.to_string())
    }
}

/// Keeps the settings of a simulator.
#[derive(Clone)]
pub(crate) struct Keeper {
    data: Arc<Data>,
    written: Arc<Mutex<Written>>,
}

/// What is on disk, as far as we know.
#[derive(Debug, Default)]
struct Written {
    world: Option<String>,
    red: Option<(String, BTreeMap<String, bool>)>,
}

impl Keeper {
    pub(crate) fn new(data: Arc<Data>) -> Keeper {
        Keeper { data, written: Arc::default() }
    }

    /// Stores the brightness, then has it shown.
    pub(crate) async fn brightness(&self, simulator: &Simulator, value: f64) -> Result<(), ApiError> {
        // Goes on to its end also when nobody waits any more: disk and screen never part.
        let (own, simulator) = (self.clone(), simulator.clone());
        let work = tokio::spawn(async move {
            let _turn = own.written.lock().await;
            own.write(move |data| data.settings().set_brightness(value)).await?;
            simulator.brightness(value).await?;
            Ok(())
        });
        work.await.unwrap_or_else(|e| Err(ApiError::internal(e.to_string())))
    }

    /// Carries out a command that changes lights: stored first, so that nothing is changed if that
    /// fails. Goes on to its end also when nobody waits any more.
    pub(crate) async fn with_lights(
        &self,
        simulator: &Simulator,
        command: Command,
        change: impl FnOnce(&mut BTreeMap<String, bool>) + Send + 'static,
    ) -> Result<(Applied, Arc<Published>), ApiError> {
        let (own, simulator) = (self.clone(), simulator.clone());
        let work = tokio::spawn(async move {
            let mut written = own.written.lock().await;
            if let Some((world, mut red)) = lights(&simulator.now()) {
                change(&mut red);
                own.write_lights(&mut written, world, red).await?;
            }
            let answer = simulator.command_for_sure(command).await;
            if answer.is_err()
                && let Some((world, red)) = lights(&simulator.now())
            {
                own.write_lights(&mut written, world, red).await?;
            }
            Ok(answer?)
        });
        work.await.unwrap_or_else(|e| Err(ApiError::internal(e.to_string())))
    }

    /// Stores which world is about to run, with its lights.
    pub(crate) async fn world(&self, name: &str, red: BTreeMap<String, bool>) -> Result<(), KeepError> {
        let mut written = self.written.lock().await;
        if written.world.as_deref() != Some(name) {
            written.world = None;
            let own = name.to_owned();
            self.write(move |data| data.settings().set_last_world(&own)).await?;
            written.world = Some(name.to_owned());
        }
        self.write_lights(&mut written, name.to_owned(), red).await
    }

    async fn write_lights(
        &self,
        written: &mut Written,
        world: String,
        red: BTreeMap<String, bool>,
    ) -> Result<(), KeepError> {
        if written.red.as_ref().is_some_and(|(w, r)| *w == world && *r == red) {
            return Ok(());
        }
        written.red = None;
        let kept = (world.clone(), red.clone());
        self.write(move |data| data.settings().set_lights(&world, &red)).await?;
        written.red = Some(kept);
        Ok(())
    }

    async fn write(
        &self,
        write: impl FnOnce(&Data) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), KeepError> {
        let data = Arc::clone(&self.data);
        let written = tokio::task::spawn_blocking(move || write(&data)).await;
        written.map_err(|e| KeepError(e.to_string()))?.map_err(KeepError::from)
    }
}

/// The world and which of its lights are red; one that is turning red counts.
fn lights(now: &Published) -> Option<(String, BTreeMap<String, bool>)> {
    let seen = now.running.as_ref()?;
    let lights = seen.snapshot.lights.iter();
    let red = lights.map(|(i, lamp)| (seen.place.names[*i].to_string(), *lamp != Lamp::Green)).collect();
    Some((seen.place.name.to_string(), red))
}
