//! This simulator as a CDN: what was published to its data folder, at `/cdn`.
//!
//! A world is there once its `meta.json` is. Private ones are there for whoever carries the CDN's token,
//! or the simulator's own; for everyone else they don't exist. What lies under a revision never
//! changes, and may be kept for ever; `meta.json` may be kept for a moment.

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

/// Bytes read from a file at a time.
const CHUNK: u64 = 256 << 10;

/// What a path of the CDN stands for.
enum Asked {
    List,
    Meta(WorldId),
    /// A world, its revision, and the path below it.
    File(WorldId, String, String),
}

impl Asked {
    fn parse(path: &str) -> Option<Asked> {
        let rest = path.strip_prefix("worlds")?;
        if rest.is_empty() || rest == "/" {
            return Some(Asked::List);
        }
        let (id, rest) = rest.strip_prefix('/')?.split_once('/')?;
        let id = WorldId::parse(id)?;
        if rest == "meta.json" {
            return Some(Asked::Meta(id));
        }
        let (rev, file) = rest.split_once('/')?;
        let fits = file == "manifest.json" || FilePath::parse(file).is_ok();
        fits.then(|| Asked::File(id, rev.to_owned(), file.to_owned()))
    }
}

/// `GET /cdn/…`
pub(crate) async fn serve(State(app): State<App>, path: RawPathParams, request: Request) -> Response {
    let nothing =
        || ApiError::new(ErrorCode::NotFound, "there is nothing at this path of the CDN").into_response();
    let path = path.iter().next().map(|(_, path)| path.to_owned()).unwrap_or_default();
    let Some(asked) = Asked::parse(&path) else { return nothing() };
    let port = request.extensions().get::<crate::access::LocalAddress>().map_or(0, |a| a.0.port());
    let trusted = app.cdn_keys.fit(request.headers(), port);
    let folder = app.published.clone();
    let found = match asked {
        Asked::List => return list(folder, trusted).await,
        Asked::Meta(id) => tokio::task::spawn_blocking(move || meta(&folder, &id, trusted)).await,
        Asked::File(id, rev, file) => {
            tokio::task::spawn_blocking(move || open(&folder, &id, &rev, &file, trusted)).await
        }
    };
    match found.ok().flatten() {
        Some(found) => found.answer(request.headers()),
        None => nothing(),
    }
}

/// All public worlds; the private and unlisted ones too for whoever has a key.
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

/// Something that is there.
struct Found {
    bytes: Source,
    length: u64,
    tag: String,
    kind: &'static str,
    cache: String,
}

enum Source {
    Memory(Vec<u8>),
    Disk(File),
}

/// The description of a world, if it is there for this one.
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

fn meta(folder: &Path, id: &WorldId, trusted: bool) -> Option<Found> {
    let (meta, bytes) = described(folder, id, trusted)?;
    Some(Found {
        length: bytes.len() as u64,
        tag: format!("\"{}\"", &Sum::of(&bytes).hex()[..24]),
        kind: "application/json",
        cache: format!("{}, max-age=5", scope(&meta)),
        bytes: Source::Memory(bytes),
    })
}

fn open(folder: &Path, id: &WorldId, rev: &str, path: &str, trusted: bool) -> Option<Found> {
    let (meta, _) = described(folder, id, trusted)?;
    let listed = path == "manifest.json" || meta.files.iter().any(|f| f.as_str() == path);
    if meta.rev.as_str() != rev || !listed {
        return None;
    }
    let file = plain_file(&folder.join("worlds").join(id.as_str()).join(rev).join(path))?;
    let length = file.metadata().ok()?.len();
    Some(Found {
        length,
        tag: format!("\"{rev}-{length}\""),
        kind: media_type(path),
        cache: format!("{}, max-age=31536000, immutable", scope(&meta)),
        bytes: Source::Disk(file),
    })
}

/// A file that is one: no link, no folder.
fn plain_file(path: &Path) -> Option<File> {
    std::fs::symlink_metadata(path).ok().filter(|m| m.is_file())?;
    File::open(path).ok()
}

impl Found {
    fn answer(self, headers: &HeaderMap) -> Response {
        let mut response = self.with_range(headers);
        // A page of ours must not run what somebody published.
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
        if text(headers, header::IF_NONE_MATCH).is_some_and(|tags| names(tags, &self.tag)) {
            return (StatusCode::NOT_MODIFIED, common).into_response();
        }
        // A part of another version than the client has is of no use to it.
        let same = text(headers, header::IF_RANGE).is_none_or(|tag| tag == self.tag);
        match text(headers, header::RANGE).filter(|_| same).map(|range| part(range, self.length)) {
            None | Some(Part::Whole) => {
                let length = [(header::CONTENT_LENGTH, self.length.to_string())];
                (common, length, body(self.bytes, 0..self.length)).into_response()
            }
            Some(Part::Of(range)) => {
                let part = [
                    (
                        header::CONTENT_RANGE,
                        format!("bytes {}-{}/{}", range.start, range.end - 1, self.length),
                    ),
                    (header::CONTENT_LENGTH, (range.end - range.start).to_string()),
                ];
                (StatusCode::PARTIAL_CONTENT, common, part, body(self.bytes, range)).into_response()
            }
            Some(Part::Nowhere) => {
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

/// Whether a list of tags names this one.
fn names(tags: &str, own: &str) -> bool {
    tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == own)
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Of(Range<u64>),
    Nowhere,
}

/// Which part of a file is asked for. What can't be understood, or is several parts, is the whole.
fn part(range: &str, length: u64) -> Part {
    let Some((from, to)) = range.strip_prefix("bytes=").and_then(|r| r.trim().split_once('-')) else {
        return Part::Whole;
    };
    let number = |text: &str| -> Option<Option<u64>> {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        if text.is_empty() { Some(None) } else { digits.then(|| text.parse().ok()).flatten().map(Some) }
    };
    match (number(from), number(to)) {
        (Some(Some(from)), Some(to)) => {
            let end = to.map_or(length, |to| to.saturating_add(1).min(length));
            if to.is_some_and(|to| to < from) {
                Part::Whole
            } else if from < length {
                Part::Of(from..end)
            } else {
                Part::Nowhere
            }
        }
        (Some(None), Some(Some(last))) if last > 0 && length > 0 => {
            Part::Of(length.saturating_sub(last)..length)
        }
        (Some(None), Some(Some(_))) => Part::Nowhere,
        _ => Part::Whole,
    }
}

/// The bytes of a range, read from disk as they are wanted.
fn body(source: Source, range: Range<u64>) -> Body {
    let file = match source {
        Source::Memory(bytes) => {
            let part = bytes.get(range.start as usize..range.end as usize).unwrap_or_default();
            return Body::from(part.to_vec());
        }
        Source::Disk(file) => file,
    };
    let stream = futures_util::stream::try_unfold((file, range), |(mut file, range)| async move {
        if range.is_empty() {
            return Ok::<_, std::io::Error>(None);
        }
        let read = tokio::task::spawn_blocking(move || {
            let mut bytes = vec![0; (range.end - range.start).min(CHUNK) as usize];
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
    fn ranges_are_taken_as_browsers_mean_them() {
        for (range, want) in [
            ("bytes=0-9", Part::Of(0..10)),
            ("bytes=10-", Part::Of(10..100)),
            ("bytes=-10", Part::Of(90..100)),
            ("bytes=-1000", Part::Of(0..100)),
            ("bytes=90-1000", Part::Of(90..100)),
            ("bytes=99-99", Part::Of(99..100)),
            ("bytes=0-18446744073709551615", Part::Of(0..100)),
            ("bytes=100-", Part::Nowhere),
            ("bytes=-0", Part::Nowhere),
            ("bytes=5-4", Part::Whole),
            ("bytes=-", Part::Whole),
            ("bytes=a-b", Part::Whole),
            ("bytes=+1-2", Part::Whole),
            ("bytes=0-1,5-6", Part::Whole),
            ("lines=0-1", Part::Whole),
        ] {
            assert_eq!(part(range, 100), want, "{range}");
        }
        assert_eq!(part("bytes=0-", 0), Part::Nowhere);
        assert_eq!(part("bytes=-5", 0), Part::Nowhere);
    }

    #[test]
    fn paths_are_those_of_worlds_alone() {
        let id = "0123456789abcdef0123456789abcdef";
        let kind = |path: &str| match Asked::parse(path) {
            None => "nothing",
            Some(Asked::List) => "list",
            Some(Asked::Meta(_)) => "meta",
            Some(Asked::File(..)) => "file",
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
