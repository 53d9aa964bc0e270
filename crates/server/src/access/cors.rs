//! Pages of other origins that the operator allows: they may call the API, and show the viewer in a
//! frame.
//!
//! Before a page of another origin may send JSON, the browser sends a preflight request (CORS). The
//! page may read a response only if `Access-Control-Allow-Origin` names its origin. No response has
//! `Access-Control-Allow-Credentials`, so the page can't use the token in a cookie. A page that
//! needs a token sends the token in `Authorization`.

use super::origin::is_listed;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Methods that an allowed page may use.
const METHODS: &str = "GET, HEAD, POST, PUT, DELETE";
/// Headers that an allowed page may send.
const REQUEST_HEADERS: &str = "authorization, content-type, accept, last-event-id";
/// Headers of responses that an allowed page may read.
const RESPONSE_HEADERS: &str = "x-sim-time, allow, location, retry-after, content-disposition";
/// For how many seconds a browser may keep the response to a preflight request.
const MAX_AGE_S: &str = "600";

/// Response extension: pages of these origins may show the response in a frame. Holds the origins,
/// separated by spaces, for the directive `frame-ancestors`.
#[derive(Debug, Clone)]
pub(super) struct FramedBy(pub(super) String);

/// The origin of the page that sent a request, if the operator allows this origin.
pub(super) fn allowed_origin(allowed: &[String], headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(header::ORIGIN).filter(|_| is_listed(allowed, headers)).cloned()
}

/// Whether a browser requests the viewer in order to show the viewer in a frame. Such a request
/// does not name the origin of the page around the frame. Therefore the browser checks that origin,
/// with the directive `frame-ancestors` of the response.
pub(super) fn is_frame(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|v| v.as_bytes() == value.as_bytes());
    *method == Method::GET
        && is_viewer(path)
        && is("sec-fetch-mode", "navigate")
        && (is("sec-fetch-dest", "iframe") || is("sec-fetch-dest", "frame"))
}

fn is_viewer(path: &str) -> bool {
    matches!(path, "/sim" | "/sim/")
}

/// The response to a preflight request. `None` if the request is not a preflight request. The
/// caller checks the origin.
pub(super) fn preflight(request: &Request) -> Option<Response> {
    let asks = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if *request.method() != Method::OPTIONS || !asks {
        return None;
    }
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, MAX_AGE_S),
        // A browser requires this header before a page of a public site may use a private address
        // (Private Network Access).
        (HeaderName::from_static("access-control-allow-private-network"), "true"),
    ];
    Some((StatusCode::NO_CONTENT, headers).into_response())
}

/// Lets the page of `origin` read a response.
pub(super) fn permit(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

/// Lets pages of these origins show the viewer in a frame.
pub(super) fn permit_frames(response: &mut Response, path: &str, allowed: &[String]) {
    if is_viewer(path) && !allowed.is_empty() {
        response.extensions_mut().insert(FramedBy(allowed.join(" ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_viewer_is_shown_in_a_frame() {
        let headers = |dest: &'static str| {
            let pairs = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", dest)];
            pairs
                .into_iter()
                .map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v)))
                .collect()
        };
        assert!(is_frame(&Method::GET, "/sim", &headers("iframe")));
        assert!(!is_frame(&Method::POST, "/sim", &headers("iframe")));
        assert!(!is_frame(&Method::GET, "/sim/api/state", &headers("iframe")));
        assert!(!is_frame(&Method::GET, "/sim", &headers("image")));
    }
}
