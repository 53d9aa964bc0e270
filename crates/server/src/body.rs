//! Reading the body of a request: its size, its time, its type, its fields.

use crate::access::is_from_browser;
use crate::error::ApiError;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use chicane_wire::Fields;
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Largest body.
pub(crate) const MAX_BODY: usize = 1 << 20;
/// A body that is too large is read up to here before the answer, so that a client that is still
/// sending gets to read it.
const MAX_DRAINED: usize = 64 << 20;
/// And no longer than this.
const DRAIN_TIME: Duration = Duration::from_secs(3);
/// Up to here a body needs no room of its own.
const SMALL_BODY: usize = 16 << 10;
/// Larger bodies that may be on their way in at a time; more wait.
static LARGE_BODIES: Semaphore = Semaphore::const_new(64);
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
    let mut body = request.into_body();
    let (mut kept, mut came) = (Vec::new(), 0);
    let mut room = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::bad_request("the body ended before its time"))?;
        let Ok(data) = frame.into_data() else { continue };
        came += data.len();
        if came > MAX_DRAINED {
            break;
        }
        if came > MAX_BODY {
            // It is read, but not kept.
            (kept, room) = (Vec::new(), None);
            continue;
        }
        if came > SMALL_BODY && room.is_none() {
            room = LARGE_BODIES.acquire().await.ok();
        }
        kept.extend_from_slice(&data);
    }
    if came > MAX_BODY { Err(too_large()) } else { Ok(Bytes::from(kept)) }
}

/// Reads and forgets what is still coming, so that a client that is still sending gets to read the
/// answer.
pub(crate) async fn drain(request: Request) {
    let mut body = request.into_body();
    let reading = async {
        let mut came = 0;
        while let Some(Ok(frame)) = body.frame().await {
            came += frame.data_ref().map_or(0, Bytes::len);
            if came > MAX_DRAINED {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(DRAIN_TIME, reading).await;
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
