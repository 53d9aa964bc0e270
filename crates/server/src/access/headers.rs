//! Headers that restrict what a browser does with a response.

use axum::http::{HeaderValue, header};
use axum::response::Response;

/// The content security policy of pages. A page loads files from this server only and runs no
/// inline scripts. No page can be embedded in a frame.
const PAGE_POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; \
    media-src 'self' blob:; connect-src 'self' blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; \
    form-action 'self'; frame-ancestors 'none'";

/// Adds the security headers to a response. Also adds `Cache-Control: no-store`, unless the handler
/// set a cache policy.
pub(crate) fn add_security_headers(mut response: Response) -> Response {
    let is_page =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|v| v.as_bytes().starts_with(b"text/html"));
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    set("x-content-type-options", "nosniff");
    set("x-frame-options", "DENY");
    set("referrer-policy", "no-referrer");
    set("cross-origin-resource-policy", "same-origin");
    if is_page {
        set("content-security-policy", PAGE_POLICY);
        set("cross-origin-opener-policy", "same-origin");
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
