//! Worlds as small pictures, for lists.

use super::worlds::entry;
use crate::body::Name;
use crate::error::ApiError;
use crate::state::App;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chicane_render::thumbnail;
use chicane_wire::{ErrorBody, Octets};
use std::sync::Arc;

/// A picture that ships with a world and is larger is not a thumbnail.
const MAX_FILE: usize = 4 << 20;

/// A picture of a world, 640 × 480: the one that its publisher made, else one that is drawn here.
#[utoipa::path(get, path = "/worlds/{name}/thumbnail.png", tag = "World management",
    params(("name" = String, Path, description = "Name of a world", pattern = r"^[A-Za-z0-9_-]+$", example = "oval")), responses(
    (status = 200, body = Octets, content_type = "image/png"),
    (status = 404, body = ErrorBody, description = "No such world"),
    (status = 422, body = ErrorBody, description = "The world can't be loaded"),
))]
pub(super) async fn thumbnail_of(State(app): State<App>, Name(name): Name) -> Result<Response, ApiError> {
    let key = (name.clone(), entry(&app, &name).await?.rev);
    // One is drawn at a time; whoever wants the same one finds it made.
    let mut made = app.thumbnails.lock().await;
    let known = made.get(&key).cloned();
    let png = match known {
        Some(png) => png,
        None => {
            let (library, profile) = (Arc::clone(&app.loader.library), Arc::clone(&app.profile));
            let draw = move || {
                if let Some(shipped) = library.file(&name, &format!("track_iconography/{name}.png"))
                    && shipped.len() <= MAX_FILE
                    && shipped.starts_with(b"\x89PNG")
                {
                    return Ok(Bytes::from(shipped));
                }
                library.load(&name).map(|world| Bytes::from(thumbnail(&world, profile)))
            };
            let drawn = tokio::task::spawn_blocking(draw).await;
            let png = drawn.map_err(|e| ApiError::internal(e.to_string()))??;
            // Another revision of the same world won't come back.
            made.retain(|(name, _), _| *name != key.0);
            made.insert(key, png.clone());
            png
        }
    };
    drop(made);
    let headers = [(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, "private, max-age=60")];
    Ok((headers, png).into_response())
}
