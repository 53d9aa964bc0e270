//! Checks the token of a request: in a header, in a cookie, or in the address of the page.

use crate::error::ApiError;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use chicane_remote::Token;
use chicane_wire::ErrorCode;

/// Whether a request carries the token, in a header or a cookie.
pub(crate) fn has_token(token: &Token, headers: &HeaderMap, port: u16) -> bool {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).and_then(bearer);
    bearer.is_some_and(|t| token.matches(t)) || cookies(headers, &cookie_name(port)).any(|t| token.matches(t))
}

/// Admits a request that carries the token. If the address of the page carries the token, the
/// response moves the token to a cookie and redirects the browser to the address without the token.
pub(super) fn check(
    token: &Token,
    uri: &Uri,
    headers: &HeaderMap,
    port: u16,
) -> Result<Option<Response>, ApiError> {
    let cookie = cookie_name(port);
    if has_token(token, headers, port) {
        return Ok(without_token(token, uri, &cookie));
    }
    let page = matches!(uri.path(), "/sim" | "/sim/");
    match without_token(token, uri, &cookie).filter(|_| page) {
        Some(answer) => Ok(Some(answer)),
        None => Err(ApiError::new(
            ErrorCode::TokenNeeded,
            "a token is needed: open the address that was printed at start, or send Authorization: Bearer <token>",
        )),
    }
}

/// The redirect from `/sim?token=…` to `/sim`. `None` if the request has another path, or no
/// correct token.
fn without_token(token: &Token, uri: &Uri, cookie: &str) -> Option<Response> {
    if !matches!(uri.path(), "/sim" | "/sim/") {
        return None;
    }
    let query = uri.query()?;
    let (with, rest): (Vec<&str>, Vec<&str>) = query.split('&').partition(|p| p.starts_with("token="));
    if !with.iter().any(|p| token.matches(&p["token=".len()..])) {
        return None;
    }
    let blank = if rest.is_empty() { "" } else { "?" };
    let to = format!("{}{blank}{}", uri.path(), rest.join("&"));
    let cookie = format!("{cookie}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000", token.secret());
    let headers = [(header::LOCATION, to), (header::SET_COOKIE, cookie)];
    Some((StatusCode::SEE_OTHER, headers).into_response())
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The name of the cookie. It contains the port, because browsers share cookies between the ports
/// of a machine, and two simulators may run on one machine.
fn cookie_name(port: u16) -> String {
    format!("chicane_token_{port}")
}

/// Values of all cookies with this name. Cookies of other programs may contain any bytes, so a
/// cookie that is not UTF-8 is skipped.
fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let pairs = headers.get_all(header::COOKIE).iter().flat_map(|v| v.as_bytes().split(|b| *b == b';'));
    pairs
        .filter_map(|pair| std::str::from_utf8(pair).ok()?.trim().split_once('='))
        .filter_map(move |(own, value)| (own == name).then_some(value))
}
