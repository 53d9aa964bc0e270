//! Access rules of every path.
//!
//! Any page that is open in a person's browser can send requests to this machine. Therefore three
//! rules apply to every request:
//!
//! - The `Host` header must name this machine, or a host that the operator allows. Any other DNS
//!   name is refused, even if the name leads to this machine.
//! - A request from a page of another site is refused, unless the person follows a link or the
//!   operator allows the origin of that page.
//! - If tokens are set, each request must carry a token that permits the request. The exceptions
//!   are `GET /health` and the preflight request of a page whose origin the operator allows.
//!
//! A page of another site can't read a response, because no response contains CORS headers. The
//! only exception is a page whose origin the operator allows (module `cors`).

mod cors;
mod headers;
mod host;
mod origin;
mod path;
mod role;
mod sign_in;
mod token;

pub(crate) use chicane_listen::LocalAddress;
pub(crate) use headers::add_security_headers;
pub(crate) use host::HostRules;
pub(crate) use role::{check_post, refusal};
pub(crate) use token::has_token;

use crate::body::drain;
use crate::error::ApiError;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, Uri, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chicane_remote::{Token, Tokens, WrongTokens};
use chicane_wire::{ErrorCode, Role};
use std::sync::Arc;

/// The access rules of this simulator.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) hosts: HostRules,
    /// Origins of pages of other sites that may open `/foxglove`, as in the header `Origin`.
    pub(crate) foxglove_origins: Vec<String>,
    /// Origins of pages that may use the API and show the viewer in a frame.
    pub(crate) allowed_origins: Vec<String>,
    /// Tokens that give access to all paths, each with a role. `None`: no token is needed.
    pub(crate) tokens: Option<Tokens>,
    /// A further token that gives access to `/cdn` only.
    pub(crate) cdn_token: Option<Token>,
    pub(crate) wrong_tokens: WrongTokens<Grant>,
}

/// What a token gives access to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grant {
    /// What the role permits.
    Role(Role),
    /// The paths below `/cdn`.
    Cdn,
}

/// Passes an allowed request to its handler. The extension [`Role`] of the request is the role of
/// its token, or [`Role::Teacher`] if no tokens are set. A `GET /health` without a token has no
/// role. A refused request gets an error, which has the same format on every path. But a browser
/// that opens a page without a right token gets the sign-in page.
pub(crate) async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let origin = cors::allowed_origin(&access.allowed_origins, request.headers());
    let path = request.uri().path().to_owned();
    let mut response = admit(&access, request, next).await;
    if let Some(origin) = origin {
        cors::permit(&mut response, origin);
    }
    cors::permit_frames(&mut response, &path, &access.allowed_origins);
    response
}

async fn admit(access: &Access, mut request: Request, next: Next) -> Response {
    let refused = match check(access, &request) {
        Ok(Decision::Admit(role)) => {
            request.extensions_mut().insert(role);
            return next.run(request).await;
        }
        Ok(Decision::AdmitWithoutRole) => return next.run(request).await,
        Ok(Decision::Answer(answer)) => return answer,
        Err(error) => {
            let status = error.status();
            let page = sign_in::page(status, request.method(), request.uri(), request.headers());
            let answer = page.unwrap_or_else(|| error.into_response());
            match status {
                StatusCode::UNAUTHORIZED => ([("www-authenticate", "Bearer")], answer).into_response(),
                StatusCode::TOO_MANY_REQUESTS => ([("retry-after", "1")], answer).into_response(),
                _ => answer,
            }
        }
    };
    drain(request).await;
    refused
}

enum Decision {
    Admit(Role),
    /// For `GET /health` without a token.
    AdmitWithoutRole,
    /// A response that needs no handler: the response to a preflight request, or the redirect that
    /// removes a token from the address.
    Answer(Response),
}

fn check(access: &Access, request: &Request) -> Result<Decision, ApiError> {
    if request.version() > Version::HTTP_11 {
        return Err(ApiError::invalid("this server supports HTTP/1.0 and HTTP/1.1 only"));
    }
    if is_absolute(request.uri()) {
        return Err(ApiError::new(
            ErrorCode::NotAProxy,
            "this server is not a proxy; send the path only, not a complete URL",
        ));
    }
    let local = request.extensions().get::<LocalAddress>().map(|a| a.0);
    let host = access.hosts.check(request.headers(), local.map(|l| l.ip()))?;
    path::check(request.uri().path())?;
    let is_allowed = cors::allowed_origin(&access.allowed_origins, request.headers()).is_some();
    // A browser sends a preflight request without a token. Therefore the request is answered before
    // the token is checked. Its response contains only the CORS headers.
    if let Some(answer) = cors::preflight(request).filter(|_| is_allowed) {
        return Ok(Decision::Answer(answer));
    }
    let is_frame = !access.allowed_origins.is_empty()
        && cors::is_frame(request.method(), request.uri().path(), request.headers());
    let is_foxglove = origin::is_foxglove(request.uri().path(), request.headers());
    let is_listed = is_foxglove && origin::is_listed(&access.foxglove_origins, request.headers());
    if !(is_listed || is_allowed || is_frame) {
        let checked = origin::check(request.method(), request.headers(), &host);
        checked
            .map_err(|error| if is_foxglove { origin::foxglove_error(request.headers()) } else { error })?;
    }
    let Some(tokens) = &access.tokens else { return Ok(Decision::Admit(Role::Teacher)) };
    match token::check(access, tokens, request, local.map_or(0, |l| l.port()))? {
        token::Found::Nothing if is_health(request) => Ok(Decision::AdmitWithoutRole),
        token::Found::Nothing => Err(token::needed()),
        token::Found::SignIn(answer) => Ok(Decision::Answer(answer)),
        // A CDN token is valid below `/cdn` only. The role of a spectator suffices there, because
        // clients of the CDN only read.
        token::Found::Grant(Grant::Cdn) => Ok(Decision::Admit(Role::Spectator)),
        token::Found::Grant(Grant::Role(role)) => {
            role::check(role, request.method(), request.uri().path(), request.headers())?;
            Ok(Decision::Admit(role))
        }
    }
}

/// Whether a request is `GET /health` or `HEAD /health` without a query. Monitors may send this
/// request without a token. A request for a stream of `/health` needs a token.
fn is_health(request: &Request) -> bool {
    let accepts = request.headers().get("accept").map_or(&b""[..], |v| v.as_bytes());
    matches!(*request.method(), Method::GET | Method::HEAD)
        && request.uri().path() == "/health"
        && request.uri().query().is_none()
        && !accepts.windows(12).any(|part| part == b"event-stream")
}

fn is_absolute(uri: &Uri) -> bool {
    uri.scheme().is_some() || uri.authority().is_some()
}
