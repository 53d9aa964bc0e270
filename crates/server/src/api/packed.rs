//! Files packed for those who can unpack them, and kept by browsers.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

/// For a file whose address changes with its bytes.
pub(super) const FOR_EVER: &str = "private, max-age=31536000, immutable";

/// A file, and the same gzipped.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    pub(super) kind: &'static str,
    /// How long it may be kept.
    pub(super) keep: &'static str,
    pub(super) plain: Bytes,
    pub(super) gzipped: Option<Bytes>,
}

impl Packed {
    /// The answer to a request with these headers.
    pub(super) fn answer(self, headers: &HeaderMap) -> Response {
        let gzipped = self.gzipped.filter(|_| takes_gzip(headers));
        let encoding = gzipped.is_some().then_some("gzip");
        let mut response = gzipped.unwrap_or(self.plain).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(self.keep));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(encoding) = encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response
    }
}

/// Whether `Accept-Encoding` allows gzip.
fn takes_gzip(headers: &HeaderMap) -> bool {
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
    fn gzip_is_for_those_who_take_it() {
        let takes = |value: &'static str| {
            takes_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]))
        };
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("*"));
        assert!(!takes("br") && !takes("gzip;q=0") && !takes("") && !takes_gzip(&HeaderMap::new()));
    }
}
