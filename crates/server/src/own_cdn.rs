//! The simulator's own CDN at `/cdn`: worlds that were published to its data folder.
//!
//! A world is published once its `meta.json` exists. A request without the token of the CDN or the
//! teacher's token gets "not found" for private worlds. Files below a revision never change, so
//! clients may cache them without expiry. Clients may cache `meta.json` for five seconds.

use crate::error::ApiError;
use crate::state::App;
use axum::body::Body;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chicane_store::{Access, Cdn, FilePath, MAX_META, Meta, Sum, media_type};
use chicane_wire::{ErrorCode, WorldId};
use serde_json::json;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes that are read from a file at a time.
const CHUNK_BYTES: u64 = 256 << 10;

/// A parsed path below `/cdn`.
enum CdnPath {
    /// `worlds`: the list of all worlds.
    List,
    /// `worlds/<id>/meta.json`.
    Meta(WorldId),
    /// `worlds/<id>/<revision>/<file>`: the id, the revision, and the path of the file.
    File(WorldId, String, String),
}

impl CdnPath {
    fn parse(path: &str) -> Option<CdnPath> {
        let rest = path.strip_prefix("worlds")?;
        if rest.is_empty() || rest == "/" {
            return Some(CdnPath::List);
        }
        let (id, rest) = rest.strip_prefix('/')?.split_once('/')?;
        let id = WorldId::parse(id)?;
        if rest == "meta.json" {
            return Some(CdnPath::Meta(id));
        }
        let (rev, file) = rest.split_once('/')?;
        let fits = file == "manifest.json" || FilePath::parse(file).is_ok();
        fits.then(|| CdnPath::File(id, rev.to_owned(), file.to_owned()))
    }
}

/// `GET /cdn/…`
pub(crate) async fn serve(State(app): State<App>, path: RawPathParams, request: Request) -> Response {
    let not_found =
        || ApiError::new(ErrorCode::NotFound, "nothing is published at this path").into_response();
    let path = path.iter().next().map(|(_, path)| path.to_owned()).unwrap_or_default();
    let Some(cdn_path) = CdnPath::parse(&path) else { return not_found() };
    let port = request.extensions().get::<crate::access::LocalAddress>().map_or(0, |a| a.0.port());
    let trusted = app.cdn_tokens.admit(request.headers(), port);
    let folder = app.published.clone();
    let found = match cdn_path {
        CdnPath::List => return list(folder, trusted).await,
        CdnPath::Meta(id) => tokio::task::spawn_blocking(move || meta(&folder, &id, trusted)).await,
        CdnPath::File(id, rev, file) => {
            tokio::task::spawn_blocking(move || open(&folder, &id, &rev, &file, trusted)).await
        }
    };
    match found.ok().flatten() {
        Some(found) => found.answer(request.headers()),
        None => not_found(),
    }
}

/// Lists all public worlds. If the request carries a token (`trusted`), also lists the private and
/// unlisted worlds.
async fn list(folder: PathBuf, trusted: bool) -> Response {
    let worlds = match Cdn::reading(&folder) {
        Some(cdn) => cdn.worlds().await,
        None => Ok(Vec::new()),
    };
    let worlds = match worlds {
        Ok(worlds) => worlds,
        Err(e) => return ApiError::internal(e.to_string()).into_response(),
    };
    let listed = worlds.iter().filter(|(_, meta)| trusted || meta.access == Access::Public);
    let body = json!({"v": 1, "worlds": listed.map(|(id, meta)| meta.json(id)).collect::<Vec<_>>()});
    let headers = [(header::CACHE_CONTROL, "private, max-age=5")];
    (headers, axum::Json(body)).into_response()
}

/// A published file, with the response headers that belong to it.
struct PublishedFile {
    bytes: FileContent,
    /// Length in bytes.
    length: u64,
    /// Value of `ETag`, with quotes.
    tag: String,
    /// Value of `Content-Type`.
    kind: &'static str,
    /// Value of `Cache-Control`.
    cache: String,
}

enum FileContent {
    Memory(Vec<u8>),
    /// A file that is read while the response is sent.
    Disk(File),
}

/// Reads `meta.json` of a world. `None` if the world has no valid `meta.json`, or if the world is
/// private and the request carries no token (`trusted` is false).
fn described(folder: &Path, id: &WorldId, trusted: bool) -> Option<(Meta, Vec<u8>)> {
    let mut bytes = Vec::new();
    let path = folder.join("worlds").join(id.as_str()).join("meta.json");
    plain_file(&path)?.take(MAX_META as u64 + 1).read_to_end(&mut bytes).ok()?;
    let meta = Meta::read(id, &bytes).ok()?;
    (trusted || meta.access != Access::Private).then_some((meta, bytes))
}

fn scope(meta: &Meta) -> &'static str {
    if meta.access == Access::Private { "private" } else { "public" }
}

fn meta(folder: &Path, id: &WorldId, trusted: bool) -> Option<PublishedFile> {
    let (meta, bytes) = described(folder, id, trusted)?;
    Some(PublishedFile {
        length: bytes.len() as u64,
        tag: format!("\"{}\"", &Sum::of(&bytes).hex()[..24]),
        kind: "application/json",
        cache: format!("{}, max-age=5", scope(&meta)),
        bytes: FileContent::Memory(bytes),
    })
}

fn open(folder: &Path, id: &WorldId, rev: &str, path: &str, trusted: bool) -> Option<PublishedFile> {
    let (meta, _) = described(folder, id, trusted)?;
    let listed = path == "manifest.json" || meta.files.iter().any(|f| f.as_str() == path);
    if meta.rev.as_str() != rev || !listed {
        return None;
    }
    let file = plain_file(&folder.join("worlds").join(id.as_str()).join(rev).join(path))?;
    let length = file.metadata().ok()?.len();
    Some(PublishedFile {
        length,
        tag: format!("\"{rev}-{length}\""),
        kind: media_type(path),
        cache: format!("{}, max-age=31536000, immutable", scope(&meta)),
        bytes: FileContent::Disk(file),
    })
}

/// Opens a regular file. `None` for a link or a folder, or if the file can't be opened.
fn plain_file(path: &Path) -> Option<File> {
    std::fs::symlink_metadata(path).ok().filter(|m| m.is_file())?;
    File::open(path).ok()
}

impl PublishedFile {
    fn answer(self, headers: &HeaderMap) -> Response {
        let mut response = self.with_range(headers);
        // Published files come from other people. This policy keeps a browser from running such a
        // file as a page of this site.
        let sandbox = HeaderValue::from_static("sandbox; default-src 'none'");
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, sandbox);
        response
    }

    fn with_range(self, headers: &HeaderMap) -> Response {
        let common = [
            (header::ETAG, self.tag.clone()),
            (header::CACHE_CONTROL, self.cache.clone()),
            (header::ACCEPT_RANGES, "bytes".to_owned()),
            (header::CONTENT_TYPE, self.kind.to_owned()),
        ];
        if text(headers, header::IF_NONE_MATCH).is_some_and(|tags| contains_tag(tags, &self.tag)) {
            return (StatusCode::NOT_MODIFIED, common).into_response();
        }
        // A client that has a part of the file sends the tag of its version in `If-Range`. If the
        // file now has another tag, the response contains the whole file.
        let same = text(headers, header::IF_RANGE).is_none_or(|tag| tag == self.tag);
        match text(headers, header::RANGE).filter(|_| same).map(|range| parse_range(range, self.length)) {
            None | Some(RequestedRange::Whole) => {
                let length = [(header::CONTENT_LENGTH, self.length.to_string())];
                (common, length, body(self.bytes, 0..self.length)).into_response()
            }
            Some(RequestedRange::Bytes(range)) => {
                let range_headers = [
                    (
                        header::CONTENT_RANGE,
                        format!("bytes {}-{}/{}", range.start, range.end - 1, self.length),
                    ),
                    (header::CONTENT_LENGTH, (range.end - range.start).to_string()),
                ];
                (StatusCode::PARTIAL_CONTENT, common, range_headers, body(self.bytes, range)).into_response()
            }
            Some(RequestedRange::Unsatisfiable) => {
                let length = [(header::CONTENT_RANGE, format!("bytes */{}", self.length))];
                let error = ApiError::new(ErrorCode::RangeNotSatisfiable, "the file ends before this range");
                (length, error).into_response()
            }
        }
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|v| v.to_str().ok())
}

/// Whether a list of entity tags contains `own`.
fn contains_tag(tags: &str, own: &str) -> bool {
    tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == own)
}

/// The part of a file that a `Range` header selects.
#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    /// The complete file.
    Whole,
    /// One range of bytes.
    Bytes(Range<u64>),
    /// The range contains no byte of the file.
    Unsatisfiable,
}

/// Parses a `Range` header for a file of `length` bytes. A malformed header or several ranges
/// select the whole file, as RFC 9110 allows.
fn parse_range(range: &str, length: u64) -> RequestedRange {
    let Some((from, to)) = range.strip_prefix("bytes=").and_then(|r| r.trim().split_once('-')) else {
        return RequestedRange::Whole;
    };
    let number = |text: &str| -> Option<Option<u64>> {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        if text.is_empty() { Some(None) } else { digits.then(|| text.parse().ok()).flatten().map(Some) }
    };
    match (number(from), number(to)) {
        (Some(Some(from)), Some(to)) => {
            let end = to.map_or(length, |to| to.saturating_add(1).min(length));
            if to.is_some_and(|to| to < from) {
                RequestedRange::Whole
            } else if from < length {
                RequestedRange::Bytes(from..end)
            } else {
                RequestedRange::Unsatisfiable
            }
        }
        (Some(None), Some(Some(last))) if last > 0 && length > 0 => {
            RequestedRange::Bytes(length.saturating_sub(last)..length)
        }
        (Some(None), Some(Some(_))) => RequestedRange::Unsatisfiable,
        _ => RequestedRange::Whole,
    }
}

/// A body with the bytes of a range. A file on disk is read in chunks while the body is sent.
fn body(source: FileContent, range: Range<u64>) -> Body {
    let file = match source {
        FileContent::Memory(bytes) => {
            let part = bytes.get(range.start as usize..range.end as usize).unwrap_or_default();
            return Body::from(part.to_vec());
        }
        FileContent::Disk(file) => file,
    };
    let stream = futures_util::stream::try_unfold((file, range), |(mut file, range)| async move {
        if range.is_empty() {
            return Ok::<_, std::io::Error>(None);
        }
        let read = tokio::task::spawn_blocking(move || {
            let mut bytes = vec![0; (range.end - range.start).min(CHUNK_BYTES) as usize];
            file.seek(SeekFrom::Start(range.start))?;
            file.read_exact(&mut bytes)?;
            let rest = range.start + bytes.len() as u64..range.end;
            Ok((Bytes::from(bytes), (file, rest)))
        });
        read.await.unwrap_or_else(|e| Err(std::io::Error::other(e))).map(Some)
    });
    Body::from_stream(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_headers_are_parsed() {
        for (range, want) in [
            ("bytes=0-9", RequestedRange::Bytes(0..10)),
            ("bytes=10-", RequestedRange::Bytes(10..100)),
            ("bytes=-10", RequestedRange::Bytes(90..100)),
            ("bytes=-1000", RequestedRange::Bytes(0..100)),
            ("bytes=90-1000", RequestedRange::Bytes(90..100)),
            ("bytes=99-99", RequestedRange::Bytes(99..100)),
            ("bytes=0-18446744073709551615", RequestedRange::Bytes(0..100)),
            ("bytes=100-", RequestedRange::Unsatisfiable),
            ("bytes=-0", RequestedRange::Unsatisfiable),
            ("bytes=5-4", RequestedRange::Whole),
            ("bytes=-", RequestedRange::Whole),
            ("bytes=a-b", RequestedRange::Whole),
            ("bytes=+1-2", RequestedRange::Whole),
            ("bytes=0-1,5-6", RequestedRange::Whole),
            ("lines=0-1", RequestedRange::Whole),
        ] {
            assert_eq!(parse_range(range, 100), want, "{range}");
        }
        assert_eq!(parse_range("bytes=0-", 0), RequestedRange::Unsatisfiable);
        assert_eq!(parse_range("bytes=-5", 0), RequestedRange::Unsatisfiable);
    }

    #[test]
    fn only_paths_of_worlds_are_valid() {
        let id = "0123456789abcdef0123456789abcdef";
        let kind = |path: &str| match CdnPath::parse(path) {
            None => "nothing",
            Some(CdnPath::List) => "list",
            Some(CdnPath::Meta(_)) => "meta",
            Some(CdnPath::File(..)) => "file",
        };
        for (path, want) in [
            ("worlds", "list"),
            ("worlds/", "list"),
            (&format!("worlds/{id}/meta.json"), "meta"),
            (&format!("worlds/{id}/abcd1234/manifest.json"), "file"),
            (&format!("worlds/{id}/abcd1234/worlds/a.world"), "file"),
            (&format!("worlds/{id}/abcd1234/../x"), "nothing"),
            (&format!("worlds/{id}/abcd1234/worlds/a#1"), "nothing"),
            (&format!("worlds/{id}"), "nothing"),
            ("lock", "nothing"),
            ("", "nothing"),
            ("worlds/../lock", "nothing"),
        ] {
            assert_eq!(kind(path), want, "{path}");
        }
    }
}
