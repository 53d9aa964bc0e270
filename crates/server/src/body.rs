//! Reads request bodies. Checks their size, the time until they are received, their content type
//! and their fields.

use crate::browser::is_from_browser;
use crate::error::{ApiError, BadBody};
use axum::body::HttpBody as _;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use chicane_wire::Fields;
use http_body_util::BodyExt;
use std::ops::Deref;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Largest JSON body in bytes, for all paths without a limit of their own.
const MAX_BODY_BYTES: usize = 1 << 20;
/// The server reads and discards up to this many bytes of a body that the server refuses. Otherwise
/// a client that is still sending the body would not read the response.
const MAX_DRAINED_BYTES: usize = 64 << 20;
/// Longest time for which [`drain`] reads and discards the rest of a refused body.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);
/// A body of at most this many bytes needs no permit of [`BUFFER_PERMITS`] or [`UPLOAD_PERMITS`],
/// so that small requests never wait for memory.
const SMALL_BODY_BYTES: usize = 16 << 10;
/// Largest memory in MiB for all large JSON bodies together. A JSON body is large if it has more
/// than [`SMALL_BODY_BYTES`]. The bodies of [`read_json_without_permit`] do not count. All uploads
/// together may use as much memory again.
const BUFFER_MIB: usize = 64;
/// The permits limit the memory of all large JSON bodies together to [`BUFFER_MIB`]. One permit
/// stands for one MiB. A request waits until enough permits are free.
static BUFFER_PERMITS: Semaphore = Semaphore::const_new(BUFFER_MIB);
/// Longest time to receive a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest time to receive the file of an upload. It is longer than [`BODY_TIMEOUT`], because many
/// students can share a slow network.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(60);
/// The permits limit the memory of all uploads together to [`BUFFER_MIB`]. One permit stands for
/// one MiB. Uploads have their own permits, so that slow uploads do not delay JSON requests.
static UPLOAD_PERMITS: Semaphore = Semaphore::const_new(BUFFER_MIB);

/// Extracts a request of type `T` from a JSON body.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Sync, T: chicane_wire::Body> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<JsonBody<T>, ApiError> {
        Ok(JsonBody(read_json(request).await?))
    }
}

/// Reads a request from a JSON body of at most [`MAX_BODY_BYTES`].
pub(crate) async fn read_json<T: chicane_wire::Body>(request: Request) -> Result<T, BadBody> {
    read_and_parse(request, MAX_BODY_BYTES, Some(&BUFFER_PERMITS)).await
}

/// Reads a request from a JSON body of at most `limit` bytes.
pub(crate) async fn read_large_json<T: chicane_wire::Body>(
    request: Request,
    limit: usize,
) -> Result<T, BadBody> {
    read_and_parse(request, limit, Some(&BUFFER_PERMITS)).await
}

/// Reads a request from a JSON body of at most `limit` bytes, without a permit of
/// [`BUFFER_PERMITS`]. The caller must limit how many such bodies are read at the same time.
pub(crate) async fn read_json_without_permit<T: chicane_wire::Body>(
    request: Request,
    limit: usize,
) -> Result<T, BadBody> {
    read_and_parse(request, limit, None).await
}

async fn read_and_parse<T: chicane_wire::Body>(
    request: Request,
    limit: usize,
    permits: Option<&'static Semaphore>,
) -> Result<T, BadBody> {
    let headers = request.headers().clone();
    let reading = read(request, limit, permits);
    let late = |_| BadBody::Late(BODY_TIMEOUT.as_secs());
    let (body, _permit) = tokio::time::timeout(BODY_TIMEOUT, reading).await.map_err(late)??;
    check_content_type(&headers, &body)?;
    let fields = Fields::read(&body).map_err(BadBody::Invalid)?;
    T::parse(&fields).map_err(BadBody::Invalid)
}

/// The bytes of an uploaded file. This value holds the permits of [`UPLOAD_PERMITS`] for the file,
/// because the file stays in memory until this value is dropped.
pub(crate) struct Upload {
    bytes: Bytes,
    _permit: Option<SemaphorePermit<'static>>,
}

impl Deref for Upload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads an uploaded file of at most `limit` bytes.
pub(crate) async fn read_upload(request: Request, limit: usize) -> Result<Upload, BadBody> {
    // If `Content-Length` exceeds the limit, the body is discarded without waiting for permits.
    if request.body().size_hint().lower() > limit as u64 {
        drain(request).await;
        return Err(BadBody::TooLarge(limit));
    }
    let reading = read(request, limit, Some(&UPLOAD_PERMITS));
    let late = |_| BadBody::Late(UPLOAD_TIMEOUT.as_secs());
    let (bytes, permit) = tokio::time::timeout(UPLOAD_TIMEOUT, reading).await.map_err(late)??;
    Ok(Upload { bytes, _permit: permit })
}

/// Extracts the name in a path. A name that is not UTF-8 becomes U+FFFD. No object has that name,
/// so the lookup fails with 404, but only after the body was checked.
pub(crate) struct PathName(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathName {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<PathName, ApiError> {
        let path: Result<RawPathParams, _> = RawPathParams::from_request_parts(parts, state).await;
        let name = path.ok().and_then(|p| p.iter().next().map(|(_, value)| value.to_owned()));
        Ok(PathName(name.unwrap_or_else(|| "\u{fffd}".to_owned())))
    }
}

/// The bytes of a body, and the permit for their memory.
type Received = (Bytes, Option<SemaphorePermit<'static>>);

async fn read(
    request: Request,
    limit: usize,
    permits: Option<&'static Semaphore>,
) -> Result<Received, BadBody> {
    let mut body = request.into_body();
    let max_size = body.size_hint().upper().map_or(limit, |declared| limit.min(declared as usize));
    let (mut kept, mut received) = (Vec::new(), 0);
    let mut permit = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| BadBody::Incomplete)?;
        let Ok(data) = frame.into_data() else { continue };
        received += data.len();
        if received > MAX_DRAINED_BYTES.max(limit) {
            break;
        }
        if received > limit {
            // The body is too large. Its rest is read and discarded, so the memory and the permits
            // are freed now.
            (kept, permit) = (Vec::new(), None);
            continue;
        }
        if let Some(permits) = permits.filter(|_| received > SMALL_BODY_BYTES && permit.is_none()) {
            // All permits are acquired at once. Otherwise two requests that each hold a part of the
            // permits could deadlock.
            let mib = max_size.div_ceil(1 << 20).clamp(1, BUFFER_MIB);
            permit = permits.acquire_many(mib as u32).await.ok();
        }
        kept.extend_from_slice(&data);
    }
    if received > limit { Err(BadBody::TooLarge(limit)) } else { Ok((Bytes::from(kept), permit)) }
}

/// Reads and discards the rest of a request. Otherwise a client that is still sending would not
/// read the response.
pub(crate) async fn drain(request: Request) {
    let mut body = request.into_body();
    let reading = async {
        let mut received = 0;
        while let Some(Ok(frame)) = body.frame().await {
            received += frame.data_ref().map_or(0, Bytes::len);
            if received > MAX_DRAINED_BYTES {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, reading).await;
}

/// Requires the JSON content type from browsers. Without this rule, a page of another site could
/// make a browser send a form as plain text. Before a browser sends the JSON content type for such
/// a page, it asks this server for permission (CORS preflight).
fn check_content_type(headers: &HeaderMap, body: &Bytes) -> Result<(), BadBody> {
    if body.is_empty() || !is_from_browser(headers) {
        return Ok(());
    }
    let declared = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
    let essence = declared.split(';').next().unwrap_or("").trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(BadBody::NotDeclaredJson)
}
