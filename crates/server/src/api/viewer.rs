//! The pages `/sim`, `/sim/leaderboard` and `/build`, and their files. The build of `web/` makes
//! these files, and the program embeds them.

use super::packed::{CACHE_FOREVER, PackedFile};
use crate::body::PathName;
use crate::caller::Commander;
use crate::error::ApiError;
use crate::state::App;
use crate::websocket::{Upgrade, UpgradeError};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;
use chicane_wire::ErrorCode;

include!(concat!(env!("OUT_DIR"), "/viewer.rs"));

/// `/`: redirects a browser to `/sim`. A WebSocket is connected to rosbridge, because ROS clients
/// usually connect without a path.
pub(super) async fn home(
    State(app): State<App>,
    commander: Commander,
    upgrade: Result<Upgrade, UpgradeError>,
) -> Response {
    match upgrade {
        Ok(upgrade) => crate::bridge::rosbridge(State(app), commander, upgrade).await,
        Err(UpgradeError::NotRequested) => Redirect::temporary("/sim").into_response(),
        Err(refused) => refused.into_response(),
    }
}

/// The page `/sim`. The names of its files contain a hash of their content, so browsers cache these
/// files without expiry and request only the page again.
pub(super) async fn page(headers: HeaderMap) -> Response {
    file("index.html", &headers)
        .unwrap_or_else(|| ApiError::internal("this program was built without the viewer").into_response())
}

/// The page `/sim/leaderboard`.
pub(super) async fn leaderboard(headers: HeaderMap) -> Response {
    file("leaderboard.html", &headers)
        .unwrap_or_else(|| ApiError::internal("this program was built without the viewer").into_response())
}

/// The page `/build`.
pub(super) async fn build(headers: HeaderMap) -> Response {
    file("build.html", &headers)
        .unwrap_or_else(|| ApiError::internal("this program was built without the viewer").into_response())
}

/// `/sim/build`: redirects to `/build` with the same query. A person may expect the page at this
/// address, because the page of the leaderboard is below `/sim` too.
pub(super) async fn build_alias(uri: Uri) -> Redirect {
    match uri.query() {
        Some(query) => Redirect::temporary(&format!("/build?{query}")),
        None => Redirect::temporary("/build"),
    }
}

pub(super) async fn asset(PathName(name): PathName, headers: HeaderMap) -> Result<Response, ApiError> {
    file(&format!("viewer/{name}"), &headers)
        .ok_or_else(|| ApiError::new(ErrorCode::NotFound, "no such file"))
}

fn file(name: &str, headers: &HeaderMap) -> Option<Response> {
    let plain = embedded(name)?;
    let (content_type, cache_control) = match name.rsplit_once('.')?.1 {
        "html" => ("text/html; charset=utf-8", "no-cache"),
        "js" => ("text/javascript; charset=utf-8", CACHE_FOREVER),
        "css" => ("text/css; charset=utf-8", CACHE_FOREVER),
        "svg" => ("image/svg+xml", "private, max-age=86400"),
        // Other files of the build, such as `.gz` files, are not served under their own name.
        _ => return None,
    };
    let gzipped = embedded(&format!("{name}.gz"));
    Some(PackedFile { content_type, cache_control, plain, gzipped }.respond(headers))
}

fn embedded(name: &str) -> Option<Bytes> {
    let found = FILES.binary_search_by(|(own, _)| (*own).cmp(name)).ok()?;
    Some(Bytes::from_static(FILES[found].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_embedded_files_are_found() {
        for (name, bytes) in FILES {
            assert_eq!(embedded(name).as_deref(), Some(*bytes), "{name}");
        }
        for none in ["", "viewer/", "viewer/nothing.js", "index.htm"] {
            assert!(file(none, &HeaderMap::new()).is_none(), "{none}");
        }
        let gzipped = FILES.iter().map(|f| f.0).find(|name| name.ends_with(".gz")).expect("packed files");
        assert!(
            file(gzipped, &HeaderMap::new()).is_none(),
            "a gzipped file is not served under its own name"
        );
    }
}
