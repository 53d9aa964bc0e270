//! Checks the token of a request: in a header, in a cookie, or in the address of the page.

use super::{Access, Grant};
use crate::error::ApiError;
use crate::listen::Peer;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use chicane_remote::{Token, Tokens, Verdict};
use chicane_wire::ErrorCode;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

/// How many tokens in the headers of one request are checked. A request can have several tokens,
/// because a browser may send two cookies with the same name.
const MAX_TOKENS: usize = 4;

/// The result of a check.
pub(super) enum Found {
    /// The request carries no token.
    Nothing,
    /// The address of the page carries a right token. The response moves the token to a cookie and
    /// redirects the browser to the address without the token.
    SignIn(Response),
    /// The request carries a right token.
    Grant(Grant),
}

/// Whether a request carries the token, in a header or a cookie.
pub(crate) fn has_token(token: &Token, headers: &HeaderMap, port: u16) -> bool {
    sent(headers, &cookie_name(port)).any(|text| token.matches(text))
}

/// The error for a request without a right token.
pub(super) fn needed() -> ApiError {
    ApiError::new(
        ErrorCode::TokenNeeded,
        "a token is needed: open the address that was printed at start, or send Authorization: Bearer <token>",
    )
}

/// Finds the first right token of a request. Every wrong token before the right one counts as a
/// failed attempt of the client's address.
pub(super) fn check(
    access: &Access,
    tokens: &Tokens,
    request: &Request,
    port: u16,
) -> Result<Found, ApiError> {
    let (uri, cookie) = (request.uri(), cookie_name(port));
    let from = request.extensions().get::<Peer>().and_then(Peer::address);
    let from = from.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    // The CDN has its own token. With that token, other simulators can install worlds from this
    // simulator but can't control this simulator.
    let is_cdn = uri.path().starts_with("/cdn/");
    let mut failure = None;
    let mut right = |text: &str| {
        let of_cdn = access.cdn_token.as_ref().and_then(|token| token.matches(text).then_some(Grant::Cdn));
        let found = tokens.role(text).map(Grant::Role).or(of_cdn);
        match access.wrong_tokens.judge(from, text, found, Instant::now()) {
            Verdict::Right(grant) if is_cdn || grant != Grant::Cdn => return Some(grant),
            Verdict::Right(_) | Verdict::Wrong => failure = failure.take().or_else(|| Some(needed())),
            Verdict::TooMany => failure = Some(too_many()),
        }
        None
    };
    // The token in the address is checked before the cookie. Otherwise a person who has signed in
    // could not sign in again with the token of another role.
    if let Some(text) = token_of_page(uri)
        && right(text).is_some()
    {
        return Ok(Found::SignIn(signed_in(uri, &cookie, text)));
    }
    let grant = sent(request.headers(), &cookie).find_map(right);
    match (grant, failure) {
        (Some(grant), _) => Ok(Found::Grant(grant)),
        (None, Some(failure)) => Err(failure),
        (None, None) => Ok(Found::Nothing),
    }
}

fn too_many() -> ApiError {
    ApiError::new(
        ErrorCode::TooManyAttempts,
        "too many wrong tokens came from this address; wait a second and try again",
    )
}

/// The token in the address of a page: `/sim?token=…`.
fn token_of_page(uri: &Uri) -> Option<&str> {
    let query = uri.query().filter(|_| super::sign_in::is_page(uri.path()))?;
    query.split('&').find_map(|pair| pair.strip_prefix("token=")).filter(|text| !text.is_empty())
}

/// The response to a right token in the address of a page. It stores the token in a cookie and
/// redirects the browser, for example from `/sim?token=…` to `/sim`.
fn signed_in(uri: &Uri, cookie: &str, token: &str) -> Response {
    let pairs = uri.query().unwrap_or("").split('&');
    let rest: Vec<&str> = pairs.filter(|pair| !pair.starts_with("token=")).collect();
    let blank = if rest.is_empty() { "" } else { "?" };
    let to = format!("{}{blank}{}", uri.path(), rest.join("&"));
    let cookie = format!("{cookie}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000");
    let headers = [(header::LOCATION, to), (header::SET_COOKIE, cookie)];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// The tokens in the headers of a request.
fn sent<'a>(headers: &'a HeaderMap, cookie: &'a str) -> impl Iterator<Item = &'a str> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).and_then(bearer);
    bearer.into_iter().chain(cookies(headers, cookie)).filter(|text| !text.is_empty()).take(MAX_TOKENS)
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
