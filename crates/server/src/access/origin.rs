//! Requests that a page of another site makes a browser send.
//!
//! Browsers say where a request comes from: newer ones in `Sec-Fetch-Site`, all of them in `Origin`
//! when it matters. Programs say neither, and are let in.

use super::host::Host;
use crate::error::ApiError;
use axum::http::{HeaderMap, Method};
use chicane_wire::ErrorCode;

/// Refuses what another site's page asks for.
pub(super) fn check(method: &Method, headers: &HeaderMap, host: &Host) -> Result<(), ApiError> {
    let foreign =
        || ApiError::new(ErrorCode::ForeignSite, "requests from pages of other sites are not allowed");
    let text = |name: &str| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
    let safe = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let same_origin = text("origin").map(|origin| is_same(origin, host));
    match text("sec-fetch-site") {
        // The page itself, or the person: address bar and bookmarks.
        Some("same-origin" | "none") => {}
        // A link to the viewer on another page may be followed; nothing else may be asked for.
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

/// Whether an `Origin` is the host that was asked.
fn is_same(origin: &str, host: &Host) -> bool {
    let (rest, default) = match origin.split_once("://") {
        Some(("http", rest)) => (rest, 80),
        Some(("https", rest)) => (rest, 443),
        _ => return false,
    };
    let Some(from) = Host::parse(rest) else { return false };
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
        check(&method, &map, &Host::parse("localhost:8000").expect("a host")).is_ok()
    }

    #[test]
    fn programs_and_our_own_pages_are_let_in() {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            assert!(allowed(method.clone(), &[]), "a program");
            assert!(allowed(method.clone(), &[("origin", "http://localhost:8000")]));
            let own = [("sec-fetch-site", "same-origin"), ("origin", "http://localhost:8000")];
            assert!(allowed(method, &own));
        }
        assert!(allowed(Method::GET, &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")]));
    }

    #[test]
    fn other_sites_are_not() {
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
    fn a_link_may_be_followed_but_not_a_form_sent() {
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
