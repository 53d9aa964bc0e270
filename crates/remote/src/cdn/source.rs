//! Reads published worlds from a static web server or from a folder of this machine.
//!
//! A web server is not trusted: it may be slow, send endless data, or redirect to another host.
//! Therefore sizes and times are limited, redirects must stay on the CDN's own host, and the token
//! is never sent to another host.

use super::CdnError;
use crate::web::{self, Connection, ConnectionPool, HttpTarget, USER_AGENT};
use bytes::Bytes;
use chicane_store::InstallError;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::http::{HeaderMap, Request, Response, StatusCode, header};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::time::timeout;

const MAX_REDIRECTS: usize = 5;
/// Lowest average speed of the download of a file, in bytes per second. A download fails if it
/// takes longer than it would take at this speed, plus the timeout of the source.
const MIN_RATE: f64 = 4096.0;
/// Maximum number of bytes that are read from a file at a time.
const CHUNK: usize = 256 << 10;

/// Where an [`Installer`](super::Installer) reads published worlds from.
pub enum CdnSource {
    /// A web server.
    Web(WebSource),
    /// A folder that worlds were published to.
    Folder(PathBuf),
}

/// A web server with published worlds.
pub struct WebSource {
    /// The URL of the CDN. Its path has no query and no slash at the end.
    base: HttpTarget,
    token: Option<String>,
    /// How long the server may send nothing before a request fails.
    timeout: Duration,
    connections: ConnectionPool,
}

impl CdnSource {
    /// A web server at the URL `base`. A request fails if the server sends nothing for the time
    /// `timeout`.
    pub fn web(base: &str, token: Option<String>, timeout: Duration) -> Result<CdnSource, CdnError> {
        let mut base = HttpTarget::parse(base).map_err(|_| CdnError::InvalidUrl(base.to_owned()))?;
        let path = base.path.split('?').next().unwrap_or_default();
        base.path = path.trim_end_matches('/').to_owned();
        Ok(CdnSource::Web(WebSource { base, token, timeout, connections: ConnectionPool::default() }))
    }

    /// Reads a whole document of at most `max` bytes. `None` if the CDN does not have the
    /// document, or requires another token for it.
    pub(super) async fn document(&self, path: &str, max: usize) -> Result<Option<Vec<u8>>, InstallError> {
        let Some(mut file) = self.file(path, 0).await? else { return Ok(None) };
        let mut bytes = Vec::new();
        while let Some(chunk) = file.next().await? {
            if bytes.len() + chunk.len() > max {
                let name = path.rsplit('/').next().unwrap_or_default();
                return Err(InstallError::TooLarge(format!("{name} is larger than {} MiB", max >> 20)));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(bytes))
    }

    /// Opens a file at the byte `start`. `None` if the CDN does not have the file, or requires
    /// another token for it.
    pub(super) async fn file(
        &self,
        path: &str,
        start: u64,
    ) -> Result<Option<ArrivingFile<'_>>, InstallError> {
        match self {
            CdnSource::Web(web) => web.file(path, start).await,
            CdnSource::Folder(folder) => {
                let file_path = folder.join(path);
                let opened = tokio::task::spawn_blocking(move || {
                    let mut file = File::open(file_path)?;
                    file.seek(SeekFrom::Start(start))?;
                    Ok(file)
                });
                match opened.await.map_err(|e| InstallError::Cdn(e.to_string()))? {
                    Ok(file) => {
                        Ok(Some(ArrivingFile { start, length: None, bytes: ByteStream::Disk(Some(file)) }))
                    }
                    Err(e) if is_absent(&e) => Ok(None),
                    Err(e) => Err(InstallError::Cdn(format!("{path}: {e}"))),
                }
            }
        }
    }
}

fn is_absent(e: &std::io::Error) -> bool {
    matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// A file that is being read from a CDN.
pub(super) struct ArrivingFile<'a> {
    /// Offset of the first byte that will arrive: the requested offset, or 0 if the server ignored
    /// the request for an offset.
    pub(super) start: u64,
    /// How many bytes will arrive, if the server sent the length.
    pub(super) length: Option<u64>,
    bytes: ByteStream<'a>,
}

enum ByteStream<'a> {
    Web {
        body: Incoming,
        connection: Option<Connection>,
        web: &'a WebSource,
        started: Instant,
        received: u64,
    },
    /// `None` after the end of the file.
    Disk(Option<File>),
}

impl ArrivingFile<'_> {
    /// The next bytes of the file; `None` at its end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, InstallError> {
        match &mut self.bytes {
            ByteStream::Web { body, connection, web, started, received } => loop {
                let too_slow = || InstallError::Cdn("a file arrived too slowly".to_owned());
                let frame = timeout(web.timeout, body.frame()).await.map_err(|_| too_slow())?;
                let Some(frame) = frame else {
                    if let Some(connection) = connection.take() {
                        web.connections.give_back(connection);
                    }
                    return Ok(None);
                };
                let frame = frame.map_err(|_| {
                    InstallError::Cdn("the connection was closed before the end of a file".to_owned())
                })?;
                let Ok(data) = frame.into_data() else { continue };
                *received += data.len() as u64;
                // Without this check, a server that sends single bytes would keep the request alive
                // for ever, because each byte restarts the timeout.
                let allowed = web.timeout + Duration::from_secs_f64(*received as f64 / MIN_RATE);
                if started.elapsed() > allowed {
                    return Err(too_slow());
                }
                if !data.is_empty() {
                    return Ok(Some(data));
                }
            },
            ByteStream::Disk(slot) => {
                let Some(mut file) = slot.take() else { return Ok(None) };
                let read = tokio::task::spawn_blocking(move || {
                    let mut bytes = vec![0; CHUNK];
                    let n = file.read(&mut bytes)?;
                    bytes.truncate(n);
                    Ok::<_, std::io::Error>((file, bytes))
                });
                let read = read.await.map_err(|e| InstallError::Cdn(e.to_string()))?;
                let (file, bytes) = read.map_err(|e| InstallError::Cdn(e.to_string()))?;
                *slot = Some(file).filter(|_| !bytes.is_empty());
                Ok(Some(Bytes::from(bytes)).filter(|b| !b.is_empty()))
            }
        }
    }
}

impl WebSource {
    async fn file(&self, path: &str, start: u64) -> Result<Option<ArrivingFile<'_>>, InstallError> {
        let (response, connection) = self.get(path, start).await?;
        let start = match response.status() {
            StatusCode::OK => 0,
            StatusCode::PARTIAL_CONTENT if start > 0 && starts_at(response.headers(), start) => start,
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
            // These statuses are treated as a missing file, because many servers send them for
            // files that do not exist.
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                tracing::warn!(path, %status, "the CDN refused a file; if it is private, set --cdn-token");
                return Ok(None);
            }
            status => {
                let code = status.as_u16();
                return Err(InstallError::Cdn(format!("it responded with status {code} to {path}")));
            }
        };
        let length = web::content_length(response.headers());
        let bytes = ByteStream::Web {
            body: response.into_body(),
            connection: Some(connection),
            web: self,
            started: Instant::now(),
            received: 0,
        };
        Ok(Some(ArrivingFile { start, length, bytes }))
    }

    /// Sends a request, and follows redirects on the same host.
    async fn get(&self, path: &str, start: u64) -> Result<(Response<Incoming>, Connection), InstallError> {
        let failed = InstallError::Cdn;
        let mut target = self.base.clone();
        target.path = format!("{}/{path}", self.base.path);
        for _ in 0..=MAX_REDIRECTS {
            let sent = timeout(self.timeout, self.send(&target, start)).await;
            let (response, connection) =
                sent.map_err(|_| failed(format!("no response within {:?}", self.timeout)))??;
            if !response.status().is_redirection() {
                return Ok((response, connection));
            }
            let location = response.headers().get(header::LOCATION);
            let location = location.and_then(|v| v.to_str().ok()).unwrap_or_default();
            target = target.redirected(location).map_err(|e| failed(format!("invalid redirect: {e}")))?;
            if !self.is_own(&target) {
                let host = &target.authority;
                return Err(failed(format!("the redirect to another host, {host}, is not followed")));
            }
        }
        Err(failed(format!("it redirected more than {MAX_REDIRECTS} times")))
    }

    /// Whether a redirect stays on the CDN's own host. A redirect from `https` to `http` is
    /// refused. A redirect from `http` to `https` is accepted only between the standard ports of
    /// the two. Otherwise the port has to stay the same.
    fn is_own(&self, to: &HttpTarget) -> bool {
        let standard_port = |t: &HttpTarget| t.port == if t.secure { 443 } else { 80 };
        let same_port = to.port == self.base.port && to.secure == self.base.secure;
        to.host.eq_ignore_ascii_case(&self.base.host)
            && (to.secure || !self.base.secure)
            && (same_port || (standard_port(to) && standard_port(&self.base)))
    }

    async fn send(
        &self,
        target: &HttpTarget,
        start: u64,
    ) -> Result<(Response<Incoming>, Connection), InstallError> {
        let mut request = Request::get(&target.path)
            .header(header::HOST, &target.authority)
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT_ENCODING, "identity");
        if start > 0 {
            request = request.header(header::RANGE, format!("bytes={start}-"));
        }
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Full::<Bytes>::default());
        let request = request.map_err(|e| InstallError::Cdn(format!("invalid request: {e}")))?;
        self.connections.send(target, request).await.map_err(|e| InstallError::Cdn(e.to_string()))
    }
}

/// Whether a partial response begins at the byte `start`.
fn starts_at(headers: &HeaderMap, start: u64) -> bool {
    let range = headers.get(header::CONTENT_RANGE).and_then(|v| v.to_str().ok());
    range.and_then(|r| r.strip_prefix("bytes ")).is_some_and(|r| r.starts_with(&format!("{start}-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_redirects_on_the_same_host_are_followed() {
        let source = |base: &str| match CdnSource::web(base, None, Duration::from_secs(1)) {
            Ok(CdnSource::Web(web)) => web,
            _ => panic!("{base}"),
        };
        for (base, to, want) in [
            ("http://a.example/cdn", "http://a.example/other", true),
            ("http://a.example/cdn", "https://a.example/cdn", true),
            ("https://a.example/cdn", "http://a.example/cdn", false),
            ("http://a.example/cdn", "http://a.example:81/cdn", false),
            ("http://127.0.0.1:5000", "http://127.0.0.1:5000/x", true),
            ("http://127.0.0.1:5000", "http://127.0.0.1:5001/x", false),
            ("http://127.0.0.1:5000", "https://127.0.0.1:5000/x", false),
            ("http://a.example", "http://a.example.org/", false),
            ("http://a.example", "http://b.example/", false),
        ] {
            let target = HttpTarget::parse(to).expect("a URL");
            assert_eq!(source(base).is_own(&target), want, "{base} to {to}");
        }
        assert_eq!(source("http://a.example/cdn/?x=1").base.path, "/cdn");
    }
}
