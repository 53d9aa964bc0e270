//! Keeps settings: what was acknowledged is on disk.
//!
//! One writer at a time. Lights are not written as they were asked for but as they are published
//! when the writer's turn comes: the last state wins on disk as it does in the world, and of
//! many commands at once one write serves all.

use crate::driver::{Published, Simulator};
use chicane_sim::Lamp;
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
    pub(crate) async fn brightness(
        &self,
        simulator: &Simulator,
        value: f64,
    ) -> Result<(), crate::error::ApiError> {
        let _turn = self.written.lock().await;
        self.write(move |data| data.settings().set_brightness(value)).await?;
        simulator.brightness(value).await?;
        Ok(())
    }

    /// Stores what the lights show, if that is not what is stored.
    pub(crate) async fn lights(&self, simulator: &Simulator) -> Result<(), KeepError> {
        let mut written = self.written.lock().await;
        let Some((world, red)) = lights(&simulator.now()) else { return Ok(()) };
        if written.red.as_ref().is_some_and(|(w, r)| *w == world && *r == red) {
            return Ok(());
        }
        written.red = None;
        let kept = (world.clone(), red.clone());
        self.write(move |data| data.settings().set_lights(&world, &red)).await?;
        written.red = Some(kept);
        Ok(())
    }

    /// Stores which world runs, with its lights.
    pub(crate) async fn world(&self, simulator: &Simulator) -> Result<(), KeepError> {
        {
            let mut written = self.written.lock().await;
            let Some(world) = simulator.now().running.as_ref().map(|s| s.place.name.to_string()) else {
                return Ok(());
            };
            if written.world.as_ref() != Some(&world) {
                written.world = None;
                let name = world.clone();
                self.write(move |data| data.settings().set_last_world(&name)).await?;
                written.world = Some(world);
            }
        }
        self.lights(simulator).await
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
