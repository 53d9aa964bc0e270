//! Recognises requests that a browser sent.

use axum::http::{HeaderMap, header};

/// Whether a browser sent this request. HTTP libraries do not set the headers below by themselves.
pub(crate) fn is_from_browser(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN)
        || headers.contains_key("sec-fetch-site")
        || headers.contains_key(header::REFERER)
}
