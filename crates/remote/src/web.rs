//! What every request to another machine needs: an address taken apart, a connection, TLS.
//!
//! A name is resolved by one step and connected to by another, so that whoever asks can look at the
//! addresses in between.

mod lines;

pub use lines::{Line, Lines};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use hyper::http::{Uri, header};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Addresses of a name that are tried.
const MAX_TRIED: usize = 4;
/// Who asks.
pub const USER_AGENT: &str = concat!("chicane/", env!("CARGO_PKG_VERSION"));

/// Why nobody could be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    #[error("url must be an address such as http://example.org/beep.wav")]
    NoAddress,
    #[error("url must start with http:// or https://")]
    Scheme,
    #[error("url must not hold a user or a password")]
    User,
    #[error("{0} is not found")]
    NoSuchHost(String),
    #[error("{0} can't be reached: {1}")]
    Unreachable(String, String),
    #[error("no secure connection to {0}: {1}")]
    Insecure(String, String),
    #[error("{0} gave no answer: {1}")]
    NoAnswer(String, String),
    #[error("the answer of {0} is too large")]
    TooLarge(String),
    #[error("no certificates are found to check {0} with; install ca-certificates")]
    NoCertificates(String),
}

/// Whom to ask for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub secure: bool,
    /// Without brackets.
    pub host: String,
    pub port: u16,
    /// As the `Host` header has it.
    pub authority: String,
    pub path: String,
}

impl Target {
    pub fn parse(url: &str) -> Result<Target, WebError> {
        // What follows a hash is not for the server.
        let url = url.split('#').next().unwrap_or_default();
        let secure = match url.split_once("://") {
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") => false,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => true,
            _ => return Err(WebError::Scheme),
        };
        let uri: Uri = url.parse().map_err(|_| WebError::NoAddress)?;
        let authority = uri.authority().ok_or(WebError::NoAddress)?;
        if authority.as_str().contains('@') {
            return Err(WebError::User);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = match authority.as_str().rsplit_once(':') {
            Some((_, digits)) if !digits.ends_with(']') => digits.parse().map_err(|_| WebError::NoAddress)?,
            _ if secure => 443,
            _ => 80,
        };
        if host.is_empty() || port == 0 {
            return Err(WebError::NoAddress);
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Target { secure, host, port, authority: authority.to_string(), path })
    }

    /// Where a `Location` header leads from here.
    pub fn redirected(&self, to: &str) -> Result<Target, WebError> {
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

/// All addresses of a name.
pub async fn resolve(target: &Target) -> Result<Vec<SocketAddr>, WebError> {
    let found = tokio::net::lookup_host((target.host.as_str(), target.port)).await;
    let found: Vec<SocketAddr> = found.map_err(|_| WebError::NoSuchHost(target.host.clone()))?.collect();
    if found.is_empty() { Err(WebError::NoSuchHost(target.host.clone())) } else { Ok(found) }
}

/// Connects to one of these addresses. What is sent there goes on until the returned end of it, and the
/// last answer, are dropped.
pub async fn connect(
    target: &Target,
    addresses: Vec<SocketAddr>,
) -> Result<SendRequest<Full<Bytes>>, WebError> {
    let unreachable = |e: &dyn std::fmt::Display| WebError::Unreachable(target.host.clone(), e.to_string());
    let mut outcome = Err(WebError::NoSuchHost(target.host.clone()));
    for address in addresses.into_iter().take(MAX_TRIED) {
        let tried = TcpStream::connect(address).await;
        outcome = tried.map_err(|e| unreachable(&e));
        if outcome.is_ok() {
            break;
        }
    }
    let stream = outcome?;
    let _ = stream.set_nodelay(true);
    if !target.secure {
        return handshake(stream).await.map_err(|e| unreachable(&e));
    }
    let name = ServerName::try_from(target.host.clone()).map_err(|_| WebError::NoAddress)?;
    let config = certificates().await.ok_or_else(|| WebError::NoCertificates(target.host.clone()))?;
    let insecure = |e: std::io::Error| WebError::Insecure(target.host.clone(), e.to_string());
    let stream = TlsConnector::from(config).connect(name, stream).await.map_err(insecure)?;
    handshake(stream).await.map_err(|e| unreachable(&e))
}

async fn handshake<S>(stream: S) -> hyper::Result<SendRequest<Full<Bytes>>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// How long a body is said to be.
pub fn length(headers: &hyper::http::HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse().ok())
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
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let target = |url: &str| Target::parse(url).map(|t| (t.secure, t.host, t.port, t.path));
        let path = |path: &str| path.to_owned();
        assert_eq!(target("http://a.example/b?c=d#e"), Ok((false, path("a.example"), 80, path("/b?c=d"))));
        assert_eq!(target("HTTPS://a.example"), Ok((true, path("a.example"), 443, path("/"))));
        assert_eq!(target("http://[::1]:81/"), Ok((false, path("::1"), 81, path("/"))));
        assert_eq!(target("http://[::1]/"), Ok((false, path("::1"), 80, path("/"))));
        for (url, want) in [
            ("", WebError::Scheme),
            ("beep.wav", WebError::Scheme),
            ("/beep.wav", WebError::Scheme),
            ("ftp://a.example/", WebError::Scheme),
            ("file:///etc/passwd", WebError::Scheme),
            ("http://a.example:0/", WebError::NoAddress),
            ("http://a.example:99999/", WebError::NoAddress),
            ("http://me:word@a.example/", WebError::User),
            ("http:///x", WebError::NoAddress),
            ("http://a b/", WebError::NoAddress),
        ] {
            assert_eq!(target(url), Err(want), "{url}");
        }
    }

    #[test]
    fn a_redirect_leads_where_it_says() {
        let from = Target::parse("http://example.org/a/b?c=d").expect("an address");
        for (to, path) in [
            ("/x", "/x"),
            ("x", "/a/x"),
            ("?e=f", "/a/b?e=f"),
            ("/get?u=http://elsewhere.example/", "/get?u=http://elsewhere.example/"),
            ("https://other.example/y", "/y"),
        ] {
            assert_eq!(from.redirected(to).expect("an address").path, path, "{to}");
        }
        for to in ["file:///etc/passwd", "ftp://example.org/x"] {
            assert!(from.redirected(to).is_err(), "{to}");
        }
    }
}
