//! The page at `/sim` and its files, as `web/` builds them. They are part of the program.

use super::packed::{FOR_EVER, Packed};
use crate::body::Name;
use crate::error::ApiError;
use crate::state::App;
use crate::websocket::{Upgrade, UpgradeError};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;
use chicane_wire::ErrorCode;

include!(concat!(env!("OUT_DIR"), "/viewer.rs"));

/// A browser goes on to the page. A program that opens a WebSocket and names no path, as programs for ROS do,
/// speaks rosbridge.
pub(super) async fn home(State(app): State<App>, upgrade: Result<Upgrade, UpgradeError>) -> Response {
    match upgrade {
        Ok(upgrade) => crate::bridge::open(State(app), upgrade).await,
        Err(UpgradeError::NotRequested) => Redirect::temporary("/sim").into_response(),
        Err(refused) => refused.into_response(),
    }
}

/// The page names its files by their content, so it alone must be asked for again.
pub(super) async fn page(headers: HeaderMap) -> Response {
    file("index.html", &headers)
        .unwrap_or_else(|| ApiError::internal("the viewer is not part of this program").into_response())
}

pub(super) async fn asset(Name(name): Name, headers: HeaderMap) -> Result<Response, ApiError> {
    file(&format!("viewer/{name}"), &headers)
        .ok_or_else(|| ApiError::new(ErrorCode::NotFound, "no such file"))
}

fn file(name: &str, headers: &HeaderMap) -> Option<Response> {
    let plain = embedded(name)?;
    let (kind, keep) = match name.rsplit_once('.')?.1 {
        "html" => ("text/html; charset=utf-8", "no-cache"),
        "js" => ("text/javascript; charset=utf-8", FOR_EVER),
        "css" => ("text/css; charset=utf-8", FOR_EVER),
        "svg" => ("image/svg+xml", "private, max-age=86400"),
        // What a build leaves beside its files is no file of the page.
        _ => return None,
    };
    let gzipped = embedded(&format!("{name}.gz"));
    Some(Packed { kind, keep, plain, gzipped }.answer(headers))
}

fn embedded(name: &str) -> Option<Bytes> {
    let found = FILES.binary_search_by(|(own, _)| (*own).cmp(name)).ok()?;
    Some(Bytes::from_static(FILES[found].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_found_and_none_else() {
        for (name, bytes) in FILES {
            assert_eq!(embedded(name).as_deref(), Some(*bytes), "{name}");
        }
        for none in ["", "viewer/", "viewer/nothing.js", "index.htm"] {
            assert!(file(none, &HeaderMap::new()).is_none(), "{none}");
        }
        let gzipped = FILES.iter().map(|f| f.0).find(|name| name.ends_with(".gz")).expect("packed files");
        assert!(file(gzipped, &HeaderMap::new()).is_none(), "a packed file is no file of its own");
    }
}
