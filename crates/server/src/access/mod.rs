//! Who may speak to the simulator.
//!
//! A page of any site that a person has open can send requests to this machine. So, on every path:
//! the `Host` must be one of ours (a name that was pointed here by someone else is not), what
//! changes something must not come from another site, and in token mode every request carries the
//! token. No answer ever allows another site to read it.

mod headers;
mod host;
mod origin;
mod path;
mod sign_in;
mod token;

pub(crate) use headers::secure;
pub(crate) use host::Hosts;
pub(crate) use token::is_carried;

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

/// Address of this machine that a connection came in on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalAddress(pub(crate) SocketAddr);

/// The rules of this simulator.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) hosts: Hosts,
    pub(crate) token: Option<Token>,
    /// Opens `/cdn`, and nothing else.
    pub(crate) cdn_token: Option<Token>,
}

/// Lets a request in, or answers why not, in the same shape on every path.
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
        return Err(ApiError::invalid("this server speaks HTTP/1.1"));
    }
    if is_absolute(request.uri()) {
        return Err(ApiError::new(
            ErrorCode::NotAProxy,
            "this is no proxy: ask for a path, not for a whole address",
        ));
    }
    let local = request.extensions().get::<LocalAddress>().map(|a| a.0);
    let host = access.hosts.check(request.headers(), local.map(|l| l.ip()))?;
    path::check(request.uri().path())?;
    origin::check(request.method(), request.headers(), &host)?;
    // Other simulators may have published worlds without being able to control this one.
    let port = local.map_or(0, |l| l.port());
    let for_cdn = access.cdn_token.as_ref().filter(|_| request.uri().path().starts_with("/cdn/"));
    if for_cdn.is_some_and(|token| is_carried(token, request.headers(), port)) {
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
