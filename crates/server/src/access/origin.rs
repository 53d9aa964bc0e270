//! Refuses requests that a page of another site makes a browser send.
//!
//! Newer browsers state in `Sec-Fetch-Site` whether a page of another site sent the request. All
//! browsers name the site in `Origin` if the request can change something. Programs send neither
//! header, so their requests are allowed.

use super::host::HostHeader;
use crate::error::ApiError;
use axum::http::{HeaderMap, Method};
use chicane_wire::ErrorCode;
use std::sync::Once;

/// Longest origin that an error repeats, in characters.
const MAX_SHOWN_ORIGIN: usize = 100;

/// Whether a request opens `/foxglove`. The apps of Foxglove are pages of other sites, which the
/// operator can allow.
pub(super) fn is_foxglove(path: &str, headers: &HeaderMap) -> bool {
    path == crate::bridge::FOXGLOVE && headers.contains_key("upgrade")
}

/// Whether the page that sent a request has one of these origins.
pub(super) fn is_listed(origins: &[String], headers: &HeaderMap) -> bool {
    let sent = headers.get("origin").and_then(|v| v.to_str().ok());
    sent.is_some_and(|sent| origins.iter().any(|own| own.eq_ignore_ascii_case(sent)))
}

/// The error for a page that may not open `/foxglove`. The app does not show the error, so the
/// first error is also logged.
pub(super) fn foxglove_error(headers: &HeaderMap) -> ApiError {
    static WARNED: Once = Once::new();
    let origin = headers.get("origin").and_then(|v| v.to_str().ok()).unwrap_or("?");
    let origin: String = origin.chars().take(MAX_SHOWN_ORIGIN).collect();
    let text = format!(
        "pages of {origin} may not use /foxglove; to allow it, start the simulator with --foxglove-origin {origin}"
    );
    WARNED.call_once(|| tracing::warn!("{text}"));
    ApiError::new(ErrorCode::ForeignSite, text)
}

/// Refuses a request from a page of another site.
pub(super) fn check(method: &Method, headers: &HeaderMap, host: &HostHeader) -> Result<(), ApiError> {
    let foreign =
        || ApiError::new(ErrorCode::ForeignSite, "requests from pages of other sites are not allowed");
    let text = |name: &str| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
    let safe = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let same_origin = text("origin").map(|origin| is_same(origin, host));
    match text("sec-fetch-site") {
        // The request comes from a page of this server, or the person typed the address or opened a
        // bookmark.
        Some("same-origin" | "none") => {}
        // A page of another site may link to this server, but may not send other requests.
        Some(_) if safe && is_navigation(headers) => return Ok(()),
        Some(_) => return Err(foreign()),
        None => {}
    }
    match same_origin {
        Some(false) => Err(foreign()),
        Some(true) | None => Ok(()),
    }
}

fn is_navigation(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|v| v.as_bytes() == value.as_bytes());
    is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

/// Whether an `Origin` header names the same host and port as the `Host` header.
fn is_same(origin: &str, host: &HostHeader) -> bool {
    let (rest, default) = match origin.split_once("://") {
        Some(("http", rest)) => (rest, 80),
        Some(("https", rest)) => (rest, 443),
        _ => return false,
    };
    let Some(from) = HostHeader::parse(rest) else { return false };
    from.name == host.name && from.port.unwrap_or(default) == host.port.unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(method: Method, headers: &[(&'static str, &'static str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().expect("a value"));
        }
        check(&method, &map, &HostHeader::parse("localhost:8000").expect("a host")).is_ok()
    }

    #[test]
    fn programs_and_own_pages_are_allowed() {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            assert!(allowed(method.clone(), &[]), "a program");
            assert!(allowed(method.clone(), &[("origin", "http://localhost:8000")]));
            let own = [("sec-fetch-site", "same-origin"), ("origin", "http://localhost:8000")];
            assert!(allowed(method, &own));
        }
        assert!(allowed(Method::GET, &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")]));
    }

    #[test]
    fn requests_from_other_sites_are_refused() {
        let origins = [
            "http://evil.example",
            "http://localhost:3000",
            "http://localhost",
            "http://127.0.0.1:8000",
            "null",
            "http://localhost:8000.evil.example",
            "http://localhost:8000@evil.example",
            "file://",
            "chrome-extension://localhost:8000",
        ];
        for method in [Method::GET, Method::POST] {
            for origin in origins {
                assert!(!allowed(method.clone(), &[("origin", origin)]), "{method} {origin}");
            }
            for site in ["cross-site", "same-site", "strange"] {
                assert!(!allowed(method.clone(), &[("sec-fetch-site", site)]), "{method} {site}");
            }
        }
    }

    #[test]
    fn another_site_may_link_here_but_not_send_a_form() {
        let link = [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert!(allowed(Method::GET, &link));
        assert!(!allowed(Method::POST, &link));
        let frame =
            [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
        assert!(!allowed(Method::GET, &frame));
    }
}
