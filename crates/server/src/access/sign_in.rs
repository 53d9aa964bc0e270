//! The sign-in page, where a person enters the token. The form requests the same path again with
//! the token, such as `/sim?token=…`, and the response to that request sets the cookie. Programs do
//! not send `Accept: text/html`, so they get the same error as on every other path.

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// Whether a path belongs to a page at which a person can sign in.
pub(super) fn is_page(path: &str) -> bool {
    matches!(path, "/sim" | "/sim/" | "/sim/leaderboard" | "/build")
}

/// Largest number of parameters of the address that the sign-in page keeps.
const MAX_KEPT: usize = 16;
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
    let hidden = if tried || status == StatusCode::TOO_MANY_REQUESTS { "" } else { "hidden" };
    let html = PAGE.replace("{hidden}", hidden).replace("{wrong}", message);
    let html = html.replace("{kept}", &kept(uri)).replace("{action}", uri.path());
    Some((status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response())
}

/// Hidden fields with the parameters of the address, so that the page opens the same world, project or
/// run after the sign-in. Only parameters of letters, digits and `_-.` are kept, because other
/// characters can have a meaning in HTML or in an address. The limit keeps the page small.
fn kept(uri: &Uri) -> String {
    let is_plain = |v: &str| v.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    let pairs = uri.query().unwrap_or("").split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs
        .filter(|(name, value)| !matches!(*name, "" | "token") && is_plain(name) && is_plain(value))
        .take(MAX_KEPT)
        .map(|(name, value)| format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">"))
        .collect()
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

    #[test]
    fn the_project_of_a_link_was_lost_at_the_sign_in() {
        let fields = |path: &str| kept(&path.parse().expect("an address"));
        let project = "<input type=\"hidden\" name=\"project\" value=\"0123456789abcdef\">";
        assert_eq!(fields("/build?project=0123456789abcdef&token=wrong"), project);
        let world = "<input type=\"hidden\" name=\"world\" value=\"oval\">";
        assert_eq!(
            fields("/sim?world=oval&run=7"),
            format!("{world}{}", world.replace("world", "run").replace("oval", "7"))
        );
        assert_eq!(fields("/sim?tour"), "<input type=\"hidden\" name=\"tour\" value=\"\">");
        assert_eq!(fields("/sim?world=%22%3E&%3Cb=1&=&="), "");
        assert_eq!(fields(&format!("/sim?{}", "a=1&".repeat(100))).matches("name=\"a\"").count(), MAX_KEPT);
        assert_eq!(fields("/sim"), "");
    }
}
