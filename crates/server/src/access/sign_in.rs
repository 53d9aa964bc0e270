//! The sign-in page, where a person enters the token. The form requests the same path again with
//! the token, such as `/sim?token=…`, and the response to that request sets the cookie. Programs do
//! not send `Accept: text/html`, so they get the same error as on every other path.

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// Whether a path belongs to a page at which a person can sign in.
pub(super) fn is_page(path: &str) -> bool {
    matches!(path, "/sim" | "/sim/" | "/sim/leaderboard" | "/build")
}

const PAGE: &str = include_str!("../../assets/sign-in.html");

/// Returns the sign-in page if a browser opens one of the pages without a right token. Returns
/// `None` for every other request, and for an error `status` that is not about tokens.
pub(super) fn page(status: StatusCode, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
    let message = match status {
        StatusCode::UNAUTHORIZED => "This token is wrong.",
        StatusCode::TOO_MANY_REQUESTS => "Too many wrong tokens. Wait a second and try again.",
        _ => return None,
    };
    let accepts = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or("");
    if *method != Method::GET || !is_page(uri.path()) || !accepts.contains("text/html") {
        return None;
    }
    let pairs = || uri.query().unwrap_or("").split('&').filter_map(|pair| pair.split_once('='));
    let tried = pairs().any(|(name, value)| name == "token" && !value.is_empty());
    // The form keeps the world that the link names, so that the viewer opens this world after the
    // sign-in.
    let plain = |v: &str| v.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let world = pairs().find(|(name, value)| *name == "world" && plain(value)).map_or("", |(_, value)| value);
    let hidden = if tried || status == StatusCode::TOO_MANY_REQUESTS { "" } else { "hidden" };
    let html = PAGE.replace("{hidden}", hidden).replace("{wrong}", message).replace("{world}", world);
    let html = html.replace("{action}", uri.path());
    Some((status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, accept: &'static str) -> Option<u16> {
        let headers = HeaderMap::from_iter([(header::ACCEPT, header::HeaderValue::from_static(accept))]);
        page(StatusCode::UNAUTHORIZED, &Method::GET, &path.parse().expect("an address"), &headers)
            .map(|r| r.status().as_u16())
    }

    #[test]
    fn only_a_browser_that_opens_the_viewer_gets_the_page() {
        assert_eq!(shown("/sim", "text/html,*/*;q=0.8"), Some(401));
        assert_eq!(shown("/sim/?world=oval", "text/html"), Some(401));
        assert_eq!(shown("/sim/leaderboard", "text/html"), Some(401));
        assert_eq!(shown("/build?project=0123456789abcdef", "text/html"), Some(401));
        for (path, accept) in [("/sim", "*/*"), ("/sim/api/status", "text/html"), ("/", "text/html")] {
            assert_eq!(shown(path, accept), None, "{path} {accept}");
        }
    }
}
