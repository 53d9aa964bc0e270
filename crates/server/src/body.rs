//! Reading the body of a request: its size, its time, its type, its fields.

use crate::browser::is_from_browser;
use crate::error::{ApiError, BadBody};
use axum::body::HttpBody as _;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use chicane_wire::Fields;
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Largest body, unless a path takes larger ones.
pub(crate) const MAX_BODY: usize = 1 << 20;
/// A body that is too large is read up to here before the answer, so that a client that is still
/// sending gets to read it.
const MAX_DRAINED: usize = 64 << 20;
/// And no longer than this.
const DRAIN_TIME: Duration = Duration::from_secs(3);
/// Up to here a body needs no room of its own.
const SMALL_BODY: usize = 16 << 10;
/// Room for larger bodies that are on their way in, MiB; those that find none wait.
const ROOM_MIB: usize = 64;
static ROOM: Semaphore = Semaphore::const_new(ROOM_MIB);
/// A body must have come by then.
const BODY_TIME: Duration = Duration::from_secs(20);

/// A request read from a JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Sync, T: chicane_wire::Body> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Body<T>, ApiError> {
        Ok(Body(read_json(request, MAX_BODY).await?))
    }
}

/// Reads a request from a JSON body of at most so many bytes.
pub(crate) async fn read_json<T: chicane_wire::Body>(request: Request, limit: usize) -> Result<T, BadBody> {
    read_in(request, limit, Some(&ROOM)).await
}

/// The same without a share of the room for all: the caller takes only a few at a time.
pub(crate) async fn read_json_apart<T: chicane_wire::Body>(
    request: Request,
    limit: usize,
) -> Result<T, BadBody> {
    read_in(request, limit, None).await
}

async fn read_in<T: chicane_wire::Body>(
    request: Request,
    limit: usize,
    room: Option<&Semaphore>,
) -> Result<T, BadBody> {
    let headers = request.headers().clone();
    let reading = read(request, limit, room);
    let body = tokio::time::timeout(BODY_TIME, reading).await.map_err(|_| BadBody::Late)??;
    check_type(&headers, &body)?;
    let fields = Fields::read(&body).map_err(BadBody::Invalid)?;
    T::parse(&fields).map_err(BadBody::Invalid)
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

async fn read(request: Request, limit: usize, all: Option<&Semaphore>) -> Result<Bytes, BadBody> {
    let mut body = request.into_body();
    let most = body.size_hint().upper().map_or(limit, |said| limit.min(said as usize));
    let (mut kept, mut came) = (Vec::new(), 0);
    let mut room = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| BadBody::Torn)?;
        let Ok(data) = frame.into_data() else { continue };
        came += data.len();
        if came > MAX_DRAINED.max(limit) {
            break;
        }
        if came > limit {
            // It is read, but not kept.
            (kept, room) = (Vec::new(), None);
            continue;
        }
        if let Some(all) = all.filter(|_| came > SMALL_BODY && room.is_none()) {
            // All that it may need at once: two that wait for each other would wait for ever.
            room = all.acquire_many(most.div_ceil(1 << 20).clamp(1, ROOM_MIB) as u32).await.ok();
        }
        kept.extend_from_slice(&data);
    }
    if came > limit { Err(BadBody::TooLarge(limit)) } else { Ok(Bytes::from(kept)) }
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
fn check_type(headers: &HeaderMap, body: &Bytes) -> Result<(), BadBody> {
    if body.is_empty() || !is_from_browser(headers) {
        return Ok(());
    }
    let said = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
    let essence = said.split(';').next().unwrap_or("").trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(BadBody::NotSaidToBeJson)
}
