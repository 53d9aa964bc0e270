//! The token: who has it may do everything.

use crate::error::ApiError;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

const MIN_LENGTH: usize = 8;
const MAX_LENGTH: usize = 256;

/// A secret that every request carries.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

// A secret is not for logs.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// A token that a person chose. It must fit into a cookie and an address.
    pub fn parse(text: &str) -> Result<Token, String> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
        if (MIN_LENGTH..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(fits) {
            return Ok(Token(text.to_owned()));
        }
        Err("a token has 8 to 256 letters, digits, - _ . or ~".to_owned())
    }

    /// A token of 128 random bits.
    pub fn random() -> Result<Token, String> {
        chicane_store::random_hex().map(Token).map_err(|e| e.to_string())
    }

    /// The secret itself.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Whether a request carries it, as a header or a cookie.
    pub(crate) fn is_carried(&self, headers: &HeaderMap, port: u16) -> bool {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).and_then(bearer);
        bearer.is_some_and(|t| self.is(t)) || cookies(headers, &cookie_name(port)).any(|t| self.is(t))
    }

    /// Lets a request in that carries the token. A page asked for with the token in its address is
    /// answered here: with a cookie, and with its address without the token.
    pub(super) fn check(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
        port: u16,
    ) -> Result<Option<Response>, ApiError> {
        let cookie = cookie_name(port);
        if self.is_carried(headers, port) {
            return Ok(self.without_token(uri, &cookie));
        }
        let page = matches!(uri.path(), "/sim" | "/sim/");
        match self.without_token(uri, &cookie).filter(|_| page) {
            Some(answer) => Ok(Some(answer)),
            None => Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                "a token is needed: open the address that was printed at start, or send Authorization: Bearer <token>",
            )),
        }
    }

    /// The way from `/sim?token=…` to `/sim`, if that is the right token.
    fn without_token(&self, uri: &Uri, cookie: &str) -> Option<Response> {
        if !matches!(uri.path(), "/sim" | "/sim/") {
            return None;
        }
        let query = uri.query()?;
        let (with, rest): (Vec<&str>, Vec<&str>) = query.split('&').partition(|p| p.starts_with("token="));
        if !with.iter().any(|p| self.is(&p["token=".len()..])) {
            return None;
        }
        let blank = if rest.is_empty() { "" } else { "?" };
        let to = format!("{}{blank}{}", uri.path(), rest.join("&"));
        let cookie = format!("{cookie}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000", self.0);
        let headers = [(header::LOCATION, to), (header::SET_COOKIE, cookie)];
        Some((StatusCode::SEE_OTHER, headers).into_response())
    }

    /// Compares without telling by its time how much is right.
    fn is(&self, text: &str) -> bool {
        let (a, b) = (self.0.as_bytes(), text.as_bytes());
        a.len() == b.len() && a.iter().zip(b).fold(0, |all, (x, y)| all | (x ^ y)) == 0
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Cookies know no ports: two simulators on one machine need two names.
fn cookie_name(port: u16) -> String {
    format!("chicane_token_{port}")
}

/// Values of the cookies of a name. Cookies of others may hold any bytes.
fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let pairs = headers.get_all(header::COOKIE).iter().flat_map(|v| v.as_bytes().split(|b| *b == b';'));
    pairs
        .filter_map(|pair| std::str::from_utf8(pair).ok()?.trim().split_once('='))
        .filter_map(move |(own, value)| (own == name).then_some(value))
}
