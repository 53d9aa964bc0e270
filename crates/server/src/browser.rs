//! Requests that a browser sent.

use axum::http::{HeaderMap, header};

/// Whether a browser sent this request. Programs set none of these headers.
pub(crate) fn is_from_browser(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN)
        || headers.contains_key("sec-fetch-site")
        || headers.contains_key(header::REFERER)
}
