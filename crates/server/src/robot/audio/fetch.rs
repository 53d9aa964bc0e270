//! Files from the web. A name is resolved once, every address it has is checked, and exactly one of
//! these is connected to; a redirect starts anew with the same checks. Size and time are bounded.

use super::MAX_FILE;
use super::address::AddressRule;
use axum::http::{Request, Response, StatusCode, Uri, header};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// From the name to the last byte, all redirects included.
const TIME: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;
/// Addresses of a name that are tried.
const MAX_TRIED: usize = 4;

/// Why a file could not be fetched.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FetchError {
    #[error("url must be an address such as http://example.org/beep.wav")]
    NoAddress,
    #[error("url must start with http:// or https://")]
    Scheme,
    #[error("url must not hold a user or a password")]
    User,
    #[error("{0} is not found")]
    NoSuchHost(String),
    #[error("{0} is an address of this machine or its network; only the open internet is asked")]
    Forbidden(String),
    #[error("{0} can't be reached: {1}")]
    Unreachable(String, String),
    #[error("no certificates are found to check {0} with; install ca-certificates")]
    NoCertificates(String),
    #[error("{0} answered with status {1}")]
    Status(String, u16),
    #[error("url leads from one address to the next more than 5 times")]
    TooManyRedirects,
    #[error("the file is larger than 16 MiB")]
    TooLarge,
    #[error("the file broke off on its way here")]
    BrokeOff,
    #[error("the file did not come within 10 s")]
    TooSlow,
}

/// Fetches files.
#[derive(Debug, Clone)]
pub(super) struct Fetcher {
    rule: AddressRule,
    time: Duration,
    max: usize,
}

impl Default for Fetcher {
    fn default() -> Fetcher {
        Fetcher { rule: AddressRule::default(), time: TIME, max: MAX_FILE }
    }
}

impl Fetcher {
    /// The bytes at an address.
    pub(super) async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchError> {
        let fetching = async { self.follow(Target::parse(url)?).await };
        tokio::time::timeout(self.time, fetching).await.unwrap_or(Err(FetchError::TooSlow))
    }

    async fn follow(&self, mut target: Target) -> Result<Vec<u8>, FetchError> {
        for _ in 0..=MAX_REDIRECTS {
            let answer = self.ask(&target).await?;
            match answer.status() {
                StatusCode::OK => return self.read(answer).await,
                status if status.is_redirection() => {
                    let to = answer.headers().get(header::LOCATION).and_then(|v| v.to_str().ok());
                    let to = to.ok_or(FetchError::Status(target.host.clone(), status.as_u16()))?;
                    target = target.redirected(to)?;
                }
                status => return Err(FetchError::Status(target.host, status.as_u16())),
            }
        }
        Err(FetchError::TooManyRedirects)
    }

    /// Asks a server, and gives its answer as soon as its head has come.
    async fn ask(&self, target: &Target) -> Result<Response<Incoming>, FetchError> {
        let unreachable =
            |e: &dyn std::fmt::Display| FetchError::Unreachable(target.host.clone(), e.to_string());
        let stream = self.connect(target).await?;
        if !target.secure {
            return exchange(stream, target).await.map_err(|e| unreachable(&e));
        }
        let name = ServerName::try_from(target.host.clone()).map_err(|_| FetchError::NoAddress)?;
        let config = certificates().await.ok_or_else(|| FetchError::NoCertificates(target.host.clone()))?;
        let stream = TlsConnector::from(config).connect(name, stream).await.map_err(|e| unreachable(&e))?;
        exchange(stream, target).await.map_err(|e| unreachable(&e))
    }

    /// Connects to one of the addresses of a name, all of which must be permitted.
    async fn connect(&self, target: &Target) -> Result<TcpStream, FetchError> {
        let found = tokio::net::lookup_host((target.host.as_str(), target.port)).await;
        let addresses: Vec<SocketAddr> = found.map(Iterator::collect).unwrap_or_default();
        if addresses.iter().any(|address| !self.rule.permits(*address)) {
            return Err(FetchError::Forbidden(target.host.clone()));
        }
        let mut outcome = Err(FetchError::NoSuchHost(target.host.clone()));
        for address in addresses.into_iter().take(MAX_TRIED) {
            let tried = TcpStream::connect(address).await;
            outcome = tried.map_err(|e| FetchError::Unreachable(target.host.clone(), e.to_string()));
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    /// The body, counted while it comes.
    async fn read(&self, answer: Response<Incoming>) -> Result<Vec<u8>, FetchError> {
        let length = answer.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<u64>().ok());
        if length.is_some_and(|length| length > self.max as u64) {
            return Err(FetchError::TooLarge);
        }
        let mut body = answer.into_body();
        let mut file = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| FetchError::BrokeOff)?.into_data() else { continue };
            if file.len() + data.len() > self.max {
                return Err(FetchError::TooLarge);
            }
            file.extend_from_slice(&data);
        }
        Ok(file)
    }
}

/// Whom to ask for what.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    secure: bool,
    /// Without brackets.
    host: String,
    port: u16,
    /// As the `Host` header has it.
    authority: String,
    path: String,
}

impl Target {
    fn parse(url: &str) -> Result<Target, FetchError> {
        // What follows a hash is not for the server.
        let url = url.split('#').next().unwrap_or_default();
        let secure = match url.split_once("://") {
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") => false,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => true,
            _ => return Err(FetchError::Scheme),
        };
        let uri: Uri = url.parse().map_err(|_| FetchError::NoAddress)?;
        let authority = uri.authority().ok_or(FetchError::NoAddress)?;
        if authority.as_str().contains('@') {
            return Err(FetchError::User);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = match authority.as_str().rsplit_once(':') {
            Some((_, digits)) if !digits.ends_with(']') => {
                digits.parse().map_err(|_| FetchError::NoAddress)?
            }
            _ if secure => 443,
            _ => 80,
        };
        if host.is_empty() || port == 0 {
            return Err(FetchError::NoAddress);
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Target { secure, host, port, authority: authority.to_string(), path })
    }

    /// Where a `Location` header leads from here.
    fn redirected(&self, to: &str) -> Result<Target, FetchError> {
        let scheme = if self.secure { "https" } else { "http" };
        let path = self.path.split('?').next().unwrap_or("");
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let has_scheme = to.split(['/', '?', '#']).next().is_some_and(|first| first.ends_with(':'));
        let url = match to {
            to if has_scheme => to.to_owned(),
            to if to.starts_with("//") => format!("{scheme}:{to}"),
            to if to.starts_with('/') => format!("{scheme}://{}{to}", self.authority),
            to if to.starts_with('?') => format!("{scheme}://{}{path}{to}", self.authority),
            to => format!("{scheme}://{}{folder}/{to}", self.authority),
        };
        Target::parse(&url)
    }
}

/// Sends the request over a connection that is there already.
async fn exchange<S>(stream: S, target: &Target) -> hyper::Result<Response<Incoming>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // It ends with the body: with its last byte, or when nobody wants it any more.
    tokio::spawn(connection);
    let request = Request::get(&target.path)
        .header(header::HOST, &target.authority)
        .header(header::USER_AGENT, concat!("chicane/", env!("CARGO_PKG_VERSION")))
        .header(header::ACCEPT, "audio/*, */*;q=0.5")
        .header(header::CONNECTION, "close")
        .body(Empty::<Bytes>::new());
    // Every part of it was read from a valid address.
    let request = request.unwrap_or_default();
    sender.send_request(request).await
}

/// The certificates that this machine trusts, read once.
async fn certificates() -> Option<Arc<ClientConfig>> {
    static FOUND: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = FOUND.get() {
        return Some(Arc::clone(config));
    }
    let loaded = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await.ok()?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(loaded.certs);
    if roots.is_empty() {
        return None;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    Some(Arc::clone(FOUND.get_or_init(|| config)))
}

#[cfg(test)]
mod tests;
