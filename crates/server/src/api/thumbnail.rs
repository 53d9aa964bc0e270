//! Small pictures of worlds, for lists.

use super::worlds::entry;
use crate::body::PathName;
use crate::error::ApiError;
use crate::state::App;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chicane_render::thumbnail;
use chicane_wire::{ErrorBody, Octets};
use std::sync::Arc;

/// Largest thumbnail file of a bundle, in bytes. A larger file is ignored.
const MAX_THUMBNAIL_BYTES: usize = 4 << 20;

/// Returns a small picture of a world.
///
/// If the world was published with a picture, that picture is returned. Otherwise the simulator
/// draws a picture of 640 × 480 pixels.
#[utoipa::path(get, path = "/worlds/{name}/thumbnail.png", tag = "World management",
    params(("name" = String, Path, description = "Name of a world", pattern = r"^[A-Za-z0-9_-]+$", example = "oval")), responses(
    (status = 200, body = Octets, content_type = "image/png"),
    (status = 404, body = ErrorBody, description = "No such world"),
    (status = 422, body = ErrorBody, description = "The world can't be loaded"),
))]
pub(super) async fn thumbnail_of(
    State(app): State<App>,
    PathName(name): PathName,
) -> Result<Response, ApiError> {
    let key = (name.clone(), entry(&app, &name).await?.rev);
    // The lock is held while a thumbnail is drawn. Therefore thumbnails are drawn one at a time,
    // and a second request for the same world finds its thumbnail in the cache.
    let mut cache = app.thumbnails.lock().await;
    let cached = cache.get(&key).cloned();
    let png = match cached {
        Some(png) => png,
        None => {
            let (library, profile) = (Arc::clone(&app.loader.library), Arc::clone(&app.profile));
            let draw = move || {
                if let Some(shipped) = library.file(&name, &format!("track_iconography/{name}.png"))
                    && shipped.len() <= MAX_THUMBNAIL_BYTES
                    && shipped.starts_with(b"\x89PNG")
                {
                    return Ok(Bytes::from(shipped));
                }
                library.load(&name).map(|world| Bytes::from(thumbnail(&world, profile)))
            };
            let drawn = tokio::task::spawn_blocking(draw).await;
            let png = drawn.map_err(|e| ApiError::internal(e.to_string()))??;
            // Thumbnails of older revisions are removed, because clients can't request these
            // revisions any more.
            cache.retain(|(name, _), _| *name != key.0);
            cache.insert(key, png.clone());
            png
        }
    };
    drop(cache);
    let headers = [(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, "private, max-age=60")];
    Ok((headers, png).into_response())
}
