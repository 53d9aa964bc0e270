//! Files that browsers cache. They are sent gzipped to clients that accept gzip.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

/// Value of `Cache-Control` for a file whose address changes when its content changes.
pub(super) const CACHE_FOREVER: &str = "private, max-age=31536000, immutable";

/// A file in plain and gzipped form.
#[derive(Debug, Clone)]
pub(super) struct PackedFile {
    /// Value of `Content-Type`.
    pub(super) content_type: &'static str,
    /// Value of `Cache-Control`.
    pub(super) cache_control: &'static str,
    pub(super) plain: Bytes,
    pub(super) gzipped: Option<Bytes>,
}

impl PackedFile {
    /// The response to a request with these headers.
    pub(super) fn respond(self, headers: &HeaderMap) -> Response {
        let gzipped = self.gzipped.filter(|_| accepts_gzip(headers));
        let encoding = gzipped.is_some().then_some("gzip");
        let mut response = gzipped.unwrap_or(self.plain).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(self.cache_control));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(encoding) = encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response
    }
}

/// Whether `Accept-Encoding` allows gzip.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|v| v.to_str().ok());
    values.flat_map(|v| v.split(',')).any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, "q=1"));
        let none = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
        matches!(name.trim().to_ascii_lowercase().as_str(), "gzip" | "*") && !none
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_used_if_accept_encoding_allows_it() {
        let accepts = |value: &'static str| {
            accepts_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]))
        };
        assert!(accepts("gzip") && accepts("br, GZIP;q=0.5") && accepts("*"));
        assert!(!accepts("br") && !accepts("gzip;q=0") && !accepts("") && !accepts_gzip(&HeaderMap::new()));
    }
}
