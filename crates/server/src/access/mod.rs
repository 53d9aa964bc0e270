//! Access rules of every path.
//!
//! Any page that is open in a person's browser can send requests to this machine. Therefore three
//! rules apply to every request. The `Host` header must name this machine; a foreign DNS name that
//! points to this machine is refused. A request from a page of another site is refused, except when
//! the person follows a link. If a token is set, the request must carry the token. No response
//! contains CORS headers, so a page of another site can't read a response.

mod headers;
mod host;
mod origin;
mod path;
mod sign_in;
mod token;

pub(crate) use headers::add_security_headers;
pub(crate) use host::HostRules;
pub(crate) use token::has_token;

use crate::body::drain;
use crate::error::ApiError;
use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chicane_remote::Token;
use chicane_wire::ErrorCode;
use std::net::SocketAddr;
use std::sync::Arc;

/// The address of this machine at which the connection arrived. The listener adds this address to
/// each request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalAddress(pub(crate) SocketAddr);

/// The access rules of this simulator.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) hosts: HostRules,
    /// Token that gives access to all paths. `None`: no token is needed.
    pub(crate) token: Option<Token>,
    /// A further token that gives access to `/cdn` only.
    pub(crate) cdn_token: Option<Token>,
}

/// Passes an allowed request to its handler. A refused request gets an error, which has the same
/// format on every path.
pub(crate) async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let refused = match check(&access, &request) {
        Ok(Decision::Admit) => return next.run(request).await,
        Ok(Decision::Redirect(answer)) => return answer,
        Err(error) if error.status() == StatusCode::UNAUTHORIZED => {
            let page = sign_in::page(request.method(), request.uri(), request.headers());
            let answer = page.unwrap_or_else(|| error.into_response());
            ([("www-authenticate", "Bearer")], answer).into_response()
        }
        Err(error) => error.into_response(),
    };
    drain(request).await;
    refused
}

enum Decision {
    Admit,
    Redirect(Response),
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
    origin::check(request.method(), request.headers(), &host)?;
    // The CDN has its own token. With that token, other simulators can install worlds from this
    // simulator but can't control this simulator.
    let port = local.map_or(0, |l| l.port());
    let for_cdn = access.cdn_token.as_ref().filter(|_| request.uri().path().starts_with("/cdn/"));
    if for_cdn.is_some_and(|token| has_token(token, request.headers(), port)) {
        return Ok(Decision::Admit);
    }
    match &access.token {
        None => Ok(Decision::Admit),
        Some(token) => match token::check(token, request.uri(), request.headers(), port)? {
            None => Ok(Decision::Admit),
            Some(answer) => Ok(Decision::Redirect(answer)),
        },
    }
}

fn is_absolute(uri: &Uri) -> bool {
    uri.scheme().is_some() || uri.authority().is_some()
}
