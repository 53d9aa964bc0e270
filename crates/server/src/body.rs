//! Reading the body of a request: its size, its time, its type, its fields.

use crate::access::is_from_browser;
use crate::error::ApiError;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use chicane_wire::Fields;
use http_body_util::{BodyExt, Limited};
use std::time::Duration;

/// Largest body.
pub(crate) const MAX_BODY: usize = 1 << 20;
/// A body that is too large is read up to here before the answer, so that a client that is still
/// sending gets to read it.
const MAX_DRAINED: usize = 16 << 20;
/// A body must have come by then.
const BODY_TIME: Duration = Duration::from_secs(20);

/// A request read from a JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Sync, T: chicane_wire::Body> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Body<T>, ApiError> {
        let headers = request.headers().clone();
        let body = tokio::time::timeout(BODY_TIME, read(request))
            .await
            .map_err(|_| ApiError::new(StatusCode::REQUEST_TIMEOUT, "the body did not come within 20 s"))??;
        check_type(&headers, &body)?;
        let fields = Fields::read(&body)?;
        Ok(Body(T::parse(&fields)?))
    }
}

/// The name in a path. One that is no text is nobody's name, and is refused as such where it is
/// looked up, after the body was checked.
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Name, ApiError> {
        let path: Result<RawPathParams, _> = RawPathParams::from_request_parts(parts, state).await;
        let name = path.ok().and_then(|p| p.iter().next().map(|(_, value)| value.to_owned()));
        Ok(Name(name.unwrap_or_else(|| "\u{fffd}".to_owned())))
    }
}

async fn read(request: Request) -> Result<Bytes, ApiError> {
    let too_large = || ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body is larger than 1 MiB");
    let limited = Limited::new(request.into_body(), MAX_DRAINED);
    let body = limited.collect().await.map_err(|e| {
        if e.is::<http_body_util::LengthLimitError>() {
            too_large()
        } else {
            ApiError::bad_request("the body ended before its time")
        }
    })?;
    let body = body.to_bytes();
    if body.len() > MAX_BODY { Err(too_large()) } else { Ok(body) }
}

/// A page can make a browser send a form as plain text to any address without asking: what comes
/// from a browser must say that it is JSON.
fn check_type(headers: &HeaderMap, body: &Bytes) -> Result<(), ApiError> {
    if body.is_empty() || !is_from_browser(headers) {
        return Ok(());
    }
    let said = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
    let essence = said.split(';').next().unwrap_or("").trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::forbidden("a browser must send the body as application/json"))
}
