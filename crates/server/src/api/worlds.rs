//! The available worlds: list, switch, publication, waypoints.

use super::world::served;
use crate::body::{JsonBody, PathName};
use crate::error::ApiError;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chicane_store::{LibraryEntry, Summary};
use chicane_wire::{
    ErrorBody, ErrorCode, Num, Octets, Publication, SwitchRequest, SwitchRequestBody, Switched, WorldEntry,
    Worlds,
};
use chicane_world::World;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Lists all worlds that can be switched to: first the worlds that can't be deleted, then the
/// others.
#[utoipa::path(get, path = "/worlds", tag = "World management", responses((status = 200, body = Worlds)))]
pub(super) async fn list(State(app): State<App>) -> Json<Worlds> {
    let entries = summarised(&app).await;
    let worlds = entries.into_iter().map(|(summary, entry)| WorldEntry {
        file: format!("{}.world", entry.name),
        name: entry.name,
        display: entry.display,
        world_id: entry.world_id,
        size: summary.map_or([0.0; 2], |s| s.size).map(Num),
        official: entry.official,
        evaluation: summary.is_some_and(|s| s.evaluation),
        deletable: entry.deletable,
        verified: entry.verified,
    });
    let current = app.simulator.now().current().map(|name| name.to_string());
    Json(Worlds { worlds: worlds.collect(), current })
}

/// All worlds with their summaries. A blocking thread makes each missing summary, unless another
/// request has already started such a thread. A world whose summary is not ready after one second
/// is listed with the size 0 and without an evaluation.
async fn summarised(app: &App) -> Vec<(Option<Summary>, LibraryEntry)> {
    const SUMMARY_TIMEOUT: Duration = Duration::from_secs(1);
    let library = &app.loader.library;
    app.loader.refresh().await;
    let entries = library.entries();
    // A world that was removed meanwhile never gets a summary, so the loop below must not wait for
    // that summary.
    let unknown =
        |e: &&LibraryEntry| library.entry(&e.name).is_some() && library.known_summary(&e.name).is_none();
    for entry in entries.iter().filter(unknown) {
        let is_new =
            app.summarising.lock().unwrap_or_else(PoisonError::into_inner).insert(entry.name.clone());
        if is_new {
            let (library, summarising) = (Arc::clone(library), Arc::clone(&app.summarising));
            let name = entry.name.clone();
            tokio::task::spawn_blocking(move || {
                // The library keeps the summary, so the returned copy is not needed.
                let _ = library.summary(&name);
                summarising.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
            });
        }
    }
    let deadline = Instant::now() + SUMMARY_TIMEOUT;
    while entries.iter().any(|e| unknown(&e)) && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    entries.into_iter().map(|e| (library.known_summary(&e.name).and_then(Result::ok), e)).collect()
}

/// Switches to another world. The response comes when that world is ready.
///
/// If the world can't be loaded, the old world continues.
#[utoipa::path(post, path = "/switch", tag = "World management", request_body = SwitchRequestBody, responses(
    (status = 200, body = Switched),
    (status = 400, body = ErrorBody),
    (status = 404, body = ErrorBody, description = "No such world"),
    (status = 409, body = ErrorBody, description = "A world is being loaded, or an evaluation is in progress"),
    (status = 422, body = ErrorBody, description = "The world can't be loaded; the old one continues"),
))]
pub(super) async fn switch(
    State(app): State<App>,
    JsonBody(request): JsonBody<SwitchRequest>,
) -> Result<Json<Switched>, ApiError> {
    let name = match request {
        SwitchRequest::Name(name) => name,
        SwitchRequest::Id(id) => {
            let installed = app.loader.find(&format!("custom_{id}")).await;
            installed.ok_or_else(|| ApiError::new(ErrorCode::NoSuchWorld, "world not installed"))?.name
        }
    };
    app.loader.switch(&name).await?;
    Ok(Json(Switched { ok: true, world: format!("{name}.world") }))
}

/// Returns id and revision of the running world, and the CDN that worlds are installed from.
#[utoipa::path(get, path = "/worldpub", tag = "World management", responses(
    (status = 200, body = Publication),
    (status = 404, body = ErrorBody, description = "No world runs"),
))]
pub(super) async fn publication(State(app): State<App>) -> Result<Json<Publication>, ApiError> {
    let served = served(&app)?;
    Ok(Json(Publication {
        world: served.name.to_string(),
        world_id: served.entry.world_id.clone(),
        rev: served.entry.rev.clone(),
        assets_rev: app.loader.library.assets_rev().to_owned(),
        cdn: app.cdn.clone(),
    }))
}

/// Returns the waypoints of a world as a NumPy array.
///
/// Each row contains x and y of the centre line, of the inner border and of the outer border.
#[utoipa::path(get, path = "/worlds/{name}/waypoints.npy", tag = "World management",
    params(("name" = String, Path, description = "Name of a world", pattern = r"^[A-Za-z0-9_-]+$", example = "oval")), responses(
    (status = 200, body = Octets, content_type = "application/octet-stream"),
    (status = 404, body = ErrorBody, description = "No such world, or it has no route"),
    (status = 422, body = ErrorBody, description = "The world can't be loaded"),
))]
pub(super) async fn waypoints(
    State(app): State<App>,
    PathName(name): PathName,
) -> Result<Response, ApiError> {
    // The key contains the revision, because another revision of the world may be installed later.
    let key = (name.clone(), entry(&app, &name).await?.rev);
    let mut cache = app.waypoints.lock().await;
    let cached = cache.get(&key).cloned();
    let npy = match cached {
        Some(npy) => npy,
        None => {
            let (library, file) = (app.loader.library.clone(), name.clone());
            let npy_of = |world: World| world.published_route().map(|r| Bytes::from(r.to_npy()));
            let load = move || library.load(&file).map(npy_of);
            let loaded = tokio::task::spawn_blocking(load).await;
            let npy = loaded.map_err(|e| ApiError::internal(e.to_string()))??;
            cache.retain(|(other, _), _| *other != name);
            cache.insert(key, npy.clone());
            npy
        }
    };
    drop(cache);
    let npy = npy.ok_or_else(|| ApiError::new(ErrorCode::NoRoute, "route not available"))?;
    let attachment = format!("attachment; filename=\"{name}.npy\"");
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, attachment),
    ];
    Ok((headers, npy).into_response())
}

/// The entry of a world in the library.
pub(super) async fn entry(app: &App, name: &str) -> Result<LibraryEntry, ApiError> {
    app.loader.find(name).await.ok_or_else(|| ApiError::new(ErrorCode::NoSuchWorld, "world not found"))
}
