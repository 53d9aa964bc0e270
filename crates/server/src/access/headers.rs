//! Headers that restrict what a browser does with a response.

use super::cors::FramedBy;
use axum::http::{HeaderValue, header};
use axum::response::Response;

/// The content security policy of pages. A page loads files from this server only, apart from
/// `data:` and `blob:` addresses that the page makes itself. It runs no inline scripts. The text
/// ends with `frame-ancestors`, so that the origins that may show the page in a frame can be
/// appended.
const PAGE_POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; \
    media-src 'self' blob:; connect-src 'self' blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; \
    form-action 'self'; frame-ancestors ";

/// Adds the security headers to a response. Also adds `Cache-Control: no-store`, unless the handler
/// set a cache policy.
pub(crate) fn add_security_headers(mut response: Response) -> Response {
    let framed_by = response.extensions_mut().remove::<FramedBy>();
    let is_page =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|v| v.as_bytes().starts_with(b"text/html"));
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    set("x-content-type-options", "nosniff");
    // `X-Frame-Options` can't list origins, so it is omitted if `frame-ancestors` lists some.
    if framed_by.is_none() {
        set("x-frame-options", "DENY");
    }
    set("referrer-policy", "no-referrer");
    set("cross-origin-resource-policy", "same-origin");
    if is_page {
        set("cross-origin-opener-policy", "same-origin");
        let pages =
            framed_by.map_or_else(|| "'none'".to_owned(), |FramedBy(origins)| format!("'self' {origins}"));
        let policy = HeaderValue::try_from(format!("{PAGE_POLICY}{pages}"));
        // The command line accepts well-formed origins only, so the conversion normally succeeds.
        // The fallback policy allows nothing.
        let policy = policy.unwrap_or(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
