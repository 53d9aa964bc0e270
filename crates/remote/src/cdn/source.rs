//! Where published worlds come from: any static web server, or a folder of this machine.
//!
//! A server is not trusted: it may be slow, endless or wrong, and may try to lead us elsewhere. What is
//! read is bounded in size and time, redirects stay on its own host, and its token is never sent
//! anywhere else.

use crate::web::{self, Line, Lines, Target, USER_AGENT};
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
/// Bytes a second that a file must come with, on average.
const MIN_RATE: f64 = 4096.0;
/// Bytes read from a file at a time.
const CHUNK: usize = 256 << 10;

/// Where worlds come from.
pub enum Source {
    Web(WebSource),
    Folder(PathBuf),
}

/// A web server.
pub struct WebSource {
    base: Target,
    token: Option<String>,
    /// How long it may be silent.
    patience: Duration,
    lines: Lines,
}

impl Source {
    /// A web server, by its address.
    pub fn web(base: &str, token: Option<String>, patience: Duration) -> Result<Source, String> {
        let mut base = Target::parse(base).map_err(|_| format!("{base} is no address of a CDN"))?;
        let path = base.path.split('?').next().unwrap_or_default();
        base.path = path.trim_end_matches('/').to_owned();
        Ok(Source::Web(WebSource { base, token, patience, lines: Lines::default() }))
    }

    /// A document of at most so many bytes; `None` if there is none for us.
    pub async fn document(&self, path: &str, most: usize) -> Result<Option<Vec<u8>>, InstallError> {
        let Some(mut file) = self.file(path, 0).await? else { return Ok(None) };
        let mut bytes = Vec::new();
        while let Some(chunk) = file.next().await? {
            if bytes.len() + chunk.len() > most {
                let name = path.rsplit('/').next().unwrap_or_default();
                return Err(InstallError::TooLarge(format!("{name} is larger than {} MiB", most >> 20)));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(bytes))
    }

    /// A file, from a byte on; `None` if there is none for us.
    pub async fn file(&self, path: &str, from: u64) -> Result<Option<Arriving<'_>>, InstallError> {
        match self {
            Source::Web(web) => web.file(path, from).await,
            Source::Folder(folder) => {
                let whole = folder.join(path);
                let opened = tokio::task::spawn_blocking(move || {
                    let mut file = File::open(whole)?;
                    file.seek(SeekFrom::Start(from))?;
                    Ok(file)
                });
                match opened.await.map_err(|e| InstallError::Cdn(e.to_string()))? {
                    Ok(file) => Ok(Some(Arriving { from, length: None, bytes: From::Disk(Some(file)) })),
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

/// A file on its way here.
pub struct Arriving<'a> {
    /// Its first byte: what was asked for, or 0.
    pub from: u64,
    /// How many bytes will come, where that is said.
    pub length: Option<u64>,
    bytes: From<'a>,
}

enum From<'a> {
    Web { body: Incoming, line: Option<Line>, web: &'a WebSource, started: Instant, came: u64 },
    Disk(Option<File>),
}

impl Arriving<'_> {
    /// More of it; `None` at its end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, InstallError> {
        match &mut self.bytes {
            From::Web { body, line, web, started, came } => loop {
                let late = || InstallError::Cdn("a file came too slowly".to_owned());
                let frame = timeout(web.patience, body.frame()).await.map_err(|_| late())?;
                let Some(frame) = frame else {
                    web.lines.keep(line.take());
                    return Ok(None);
                };
                let frame = frame.map_err(|_| InstallError::Cdn("a file broke off".to_owned()))?;
                let Ok(data) = frame.into_data() else { continue };
                *came += data.len() as u64;
                if started.elapsed() > web.patience + Duration::from_secs_f64(*came as f64 / MIN_RATE) {
                    return Err(late());
                }
                if !data.is_empty() {
                    return Ok(Some(data));
                }
            },
            From::Disk(file) => {
                let Some(mut own) = file.take() else { return Ok(None) };
                let read = tokio::task::spawn_blocking(move || {
                    let mut bytes = vec![0; CHUNK];
                    let n = own.read(&mut bytes)?;
                    bytes.truncate(n);
                    Ok::<_, std::io::Error>((own, bytes))
                });
                let read = read.await.map_err(|e| InstallError::Cdn(e.to_string()))?;
                let (own, bytes) = read.map_err(|e| InstallError::Cdn(e.to_string()))?;
                *file = Some(own).filter(|_| !bytes.is_empty());
                Ok(Some(Bytes::from(bytes)).filter(|b| !b.is_empty()))
            }
        }
    }
}

impl WebSource {
    async fn file(&self, path: &str, from: u64) -> Result<Option<Arriving<'_>>, InstallError> {
        let (answer, line) = self.ask(path, from).await?;
        let from = match answer.status() {
            StatusCode::OK => 0,
            StatusCode::PARTIAL_CONTENT if from > 0 && starts_at(answer.headers(), from) => from,
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
            // Many hosts say so of what is not there.
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                tracing::warn!(path, %status, "the CDN does not give this; does it want a token (--cdn-token)?");
                return Ok(None);
            }
            status => {
                let code = status.as_u16();
                return Err(InstallError::Cdn(format!("it answered {code} to {path}")));
            }
        };
        let length = web::length(answer.headers());
        let body = answer.into_body();
        Ok(Some(Arriving {
            from,
            length,
            bytes: From::Web { body, line: Some(line), web: self, started: Instant::now(), came: 0 },
        }))
    }

    /// Asks, and follows redirects on the same host.
    async fn ask(&self, path: &str, from: u64) -> Result<(Response<Incoming>, Line), InstallError> {
        let failed = |e: &dyn std::fmt::Display| InstallError::Cdn(e.to_string());
        let mut target = self.base.clone();
        target.path = format!("{}/{path}", self.base.path);
        for _ in 0..=MAX_REDIRECTS {
            let asked = timeout(self.patience, self.send(&target, from)).await;
            let asked = asked.map_err(|_| failed(&format!("no answer came within {:?}", self.patience)))?;
            let (answer, line) = asked?;
            if !answer.status().is_redirection() {
                return Ok((answer, line));
            }
            let to = answer.headers().get(header::LOCATION).and_then(|v| v.to_str().ok()).unwrap_or_default();
            target = target.redirected(to).map_err(|e| failed(&format!("it leads elsewhere: {e}")))?;
            if !self.is_own(&target) {
                return Err(failed(&format!(
                    "it leads to another host, {}, which is not asked",
                    target.authority
                )));
            }
        }
        Err(failed(&"it leads from one address to the next more than 5 times"))
    }

    /// Whether a redirect stays on the CDN's own host.
    fn is_own(&self, to: &Target) -> bool {
        let usual = |t: &Target| t.port == if t.secure { 443 } else { 80 };
        let same_port = to.port == self.base.port && to.secure == self.base.secure;
        to.host.eq_ignore_ascii_case(&self.base.host)
            && (to.secure || !self.base.secure)
            && (same_port || (usual(to) && usual(&self.base)))
    }

    async fn send(&self, target: &Target, from: u64) -> Result<(Response<Incoming>, Line), InstallError> {
        let mut request = Request::get(&target.path)
            .header(header::HOST, &target.authority)
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT_ENCODING, "identity");
        if from > 0 {
            request = request.header(header::RANGE, format!("bytes={from}-"));
        }
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Full::<Bytes>::default());
        let request = request.map_err(|e| InstallError::Cdn(format!("it can't be asked: {e}")))?;
        self.lines.send(target, request).await.map_err(|e| InstallError::Cdn(e.to_string()))
    }
}

/// Whether a partial answer begins where it should.
fn starts_at(headers: &HeaderMap, from: u64) -> bool {
    let range = headers.get(header::CONTENT_RANGE).and_then(|v| v.to_str().ok());
    range.and_then(|r| r.strip_prefix("bytes ")).is_some_and(|r| r.starts_with(&format!("{from}-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_on_the_host() {
        let of = |base: &str| match Source::web(base, None, Duration::from_secs(1)) {
            Ok(Source::Web(web)) => web,
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
            let target = Target::parse(to).expect("an address");
            assert_eq!(of(base).is_own(&target), want, "{base} to {to}");
        }
        assert_eq!(of("http://a.example/cdn/?x=1").base.path, "/cdn");
    }
}
