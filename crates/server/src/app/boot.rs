//! The first world of a simulator, and worlds whose simulation failed.

use super::{App, Options, StartError};
use crate::error;
use crate::loader::{LoadFailure, SEED};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::watch;

/// The world that a new data folder starts with.
const FIRST_WORLD: &str = "oval";

/// The world to start with, and whether a person chose it.
pub(super) fn first_world(options: &Options, last: Option<String>) -> Result<(String, bool), StartError> {
    let library = &options.library;
    if let Some(name) = &options.world {
        let name = name.strip_suffix(".world").unwrap_or(name);
        if library.entry(name).is_none() {
            let known: Vec<String> = library.entries().into_iter().map(|e| e.name).collect();
            return Err(StartError::NoSuchWorld { name: name.to_owned(), known: known.join(", ") });
        }
        return Ok((name.to_owned(), true));
    }
    let known = last.filter(|name| library.entry(name).is_some());
    Ok((known.unwrap_or_else(|| FIRST_WORLD.to_owned()), false))
}

/// Loads the first world; where a last one fails that nobody chose today, the default one.
pub(super) async fn bring_first_world(
    app: App,
    name: String,
    red: BTreeMap<String, bool>,
    chosen: bool,
    booted: watch::Sender<Option<Result<(), String>>>,
) {
    let mut outcome = app.loader.boot(&name, red).await;
    if let Err(LoadFailure::Broken(why)) = &outcome
        && !chosen
        && name != FIRST_WORLD
    {
        tracing::warn!(world = name, "the last world can't be loaded, so the default one is: {why}");
        outcome = app.loader.boot(FIRST_WORLD, Default::default()).await;
    }
    if outcome.is_err() {
        let _ = app.simulator.abort().await;
    }
    let outcome = outcome.map_err(|failure| match failure {
        LoadFailure::Broken(why) => format!("world {name} can't be loaded: {why}"),
        other => error::ApiError::from(other).text.into_owned(),
    });
    booted.send_replace(Some(outcome));
}

/// A world whose simulation failed is loaded again.
pub(super) async fn bring_back_lost_worlds(app: App) {
    let mut view = app.simulator.watch();
    while view.wait_for(|now| now.lost.is_some()).await.is_ok() {
        if let Err(failure) = app.loader.respawn(SEED).await {
            tracing::error!(?failure, "a lost world could not be loaded again");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}
