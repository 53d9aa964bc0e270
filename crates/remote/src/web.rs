//! Outgoing HTTP requests: parsed URLs, name resolution, connections and TLS.
//!
//! [`resolve`] and [`connect`] are separate functions, so that a caller can check the addresses of
//! a host before a connection is opened.

mod connections;

pub use connections::{Connection, ConnectionPool};

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

/// Maximum number of addresses of a host that are tried before a connection fails.
const MAX_ADDRESSES: usize = 4;
/// `User-Agent` header of every request.
pub const USER_AGENT: &str = concat!("chicane/", env!("CARGO_PKG_VERSION"));

/// Why a request failed. The first text in a variant is the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The URL can't be parsed.
    #[error("url must be an address such as http://example.org/beep.wav")]
    InvalidUrl,
    /// The scheme of the URL is not supported.
    #[error("url must start with http:// or https://")]
    Scheme,
    /// The URL contains credentials.
    #[error("url must not contain a user or a password")]
    Credentials,
    /// The name of the host can't be resolved.
    #[error("host {0} not found")]
    HostNotFound(String),
    /// No connection could be opened. The second text is the reason.
    #[error("{0} can't be reached: {1}")]
    Unreachable(String, String),
    /// The TLS handshake failed. The second text is the reason.
    #[error("no secure connection to {0}: {1}")]
    Tls(String, String),
    /// The connection failed before the response was complete. The second text is the reason.
    #[error("no response from {0}: {1}")]
    NoResponse(String, String),
    /// The response is larger than the caller accepts.
    #[error("the response of {0} is too large")]
    TooLarge(String),
    /// This machine has no root certificates to verify the host with.
    #[error("can't verify {0}: this machine has no root certificates; install ca-certificates")]
    NoCertificates(String),
}

/// A URL, split into the parts that a request needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpTarget {
    /// Whether the connection uses TLS (`https`).
    pub secure: bool,
    /// Host name or IP address; an IPv6 address without brackets.
    pub host: String,
    /// TCP port; 80 or 443 if the URL names none.
    pub port: u16,
    /// Host and port as in the URL, for the `Host` header.
    pub authority: String,
    /// Path and query, beginning with a slash.
    pub path: String,
}

impl HttpTarget {
    /// Parses a URL. Its fragment is dropped, because fragments are not sent to servers.
    pub fn parse(url: &str) -> Result<HttpTarget, WebError> {
        let url = url.split('#').next().unwrap_or_default();
        let secure = match url.split_once("://") {
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") => false,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => true,
            _ => return Err(WebError::Scheme),
        };
        let uri: Uri = url.parse().map_err(|_| WebError::InvalidUrl)?;
        let authority = uri.authority().ok_or(WebError::InvalidUrl)?;
        if authority.as_str().contains('@') {
            return Err(WebError::Credentials);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = match authority.as_str().rsplit_once(':') {
            Some((_, digits)) if !digits.ends_with(']') => {
                digits.parse().map_err(|_| WebError::InvalidUrl)?
            }
            _ if secure => 443,
            _ => 80,
        };
        if host.is_empty() || port == 0 {
            return Err(WebError::InvalidUrl);
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(HttpTarget { secure, host, port, authority: authority.to_string(), path })
    }

    /// Resolves the value of a `Location` header against this target.
    pub fn redirected(&self, location: &str) -> Result<HttpTarget, WebError> {
        let scheme = if self.secure { "https" } else { "http" };
        let path = self.path.split('?').next().unwrap_or("");
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let has_scheme = location.split(['/', '?', '#']).next().is_some_and(|first| first.ends_with(':'));
        let url = match location {
            to if has_scheme => to.to_owned(),
            to if to.starts_with("//") => format!("{scheme}:{to}"),
            to if to.starts_with('/') => format!("{scheme}://{}{to}", self.authority),
            to if to.starts_with('?') => format!("{scheme}://{}{path}{to}", self.authority),
            to => format!("{scheme}://{}{folder}/{to}", self.authority),
        };
        HttpTarget::parse(&url)
    }
}

/// Resolves the host of a target to all of its addresses. The result is not empty.
pub async fn resolve(target: &HttpTarget) -> Result<Vec<SocketAddr>, WebError> {
    let not_found = || WebError::HostNotFound(target.host.clone());
    let found = tokio::net::lookup_host((target.host.as_str(), target.port)).await;
    let found: Vec<SocketAddr> = found.map_err(|_| not_found())?.collect();
    if found.is_empty() { Err(not_found()) } else { Ok(found) }
}

/// Connects to the first reachable address. A background task drives the connection, and ends when
/// the returned sender and the last response are dropped.
pub async fn connect(
    target: &HttpTarget,
    addresses: Vec<SocketAddr>,
) -> Result<SendRequest<Full<Bytes>>, WebError> {
    let unreachable = |e: &dyn std::fmt::Display| WebError::Unreachable(target.host.clone(), e.to_string());
    let mut outcome = Err(WebError::HostNotFound(target.host.clone()));
    for address in addresses.into_iter().take(MAX_ADDRESSES) {
        outcome = TcpStream::connect(address).await.map_err(|e| unreachable(&e));
        if outcome.is_ok() {
            break;
        }
    }
    let stream = outcome?;
    let _ = stream.set_nodelay(true);
    if !target.secure {
        return handshake(stream).await.map_err(|e| unreachable(&e));
    }
    let name = ServerName::try_from(target.host.clone()).map_err(|_| WebError::InvalidUrl)?;
    let config = tls_config().await.ok_or_else(|| WebError::NoCertificates(target.host.clone()))?;
    let failed = |e: std::io::Error| WebError::Tls(target.host.clone(), e.to_string());
    let stream = TlsConnector::from(config).connect(name, stream).await.map_err(failed)?;
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

/// The `Content-Length` header in bytes, if there is a valid one.
pub fn content_length(headers: &hyper::http::HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse().ok())
}

/// The TLS settings with the root certificates of this machine. The certificates are files, so they
/// are read on a blocking thread. Settings with certificates are kept for later calls. `None` if
/// this machine has no certificates.
async fn tls_config() -> Option<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
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
    Some(Arc::clone(CONFIG.get_or_init(|| config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split_into_scheme_host_port_and_path() {
        let target = |url: &str| HttpTarget::parse(url).map(|t| (t.secure, t.host, t.port, t.path));
        let text = |text: &str| text.to_owned();
        assert_eq!(target("http://a.example/b?c=d#e"), Ok((false, text("a.example"), 80, text("/b?c=d"))));
        assert_eq!(target("HTTPS://a.example"), Ok((true, text("a.example"), 443, text("/"))));
        assert_eq!(target("http://[::1]:81/"), Ok((false, text("::1"), 81, text("/"))));
        assert_eq!(target("http://[::1]/"), Ok((false, text("::1"), 80, text("/"))));
        for (url, want) in [
            ("", WebError::Scheme),
            ("beep.wav", WebError::Scheme),
            ("/beep.wav", WebError::Scheme),
            ("ftp://a.example/", WebError::Scheme),
            ("file:///etc/passwd", WebError::Scheme),
            ("http://a.example:0/", WebError::InvalidUrl),
            ("http://a.example:99999/", WebError::InvalidUrl),
            ("http://me:word@a.example/", WebError::Credentials),
            ("http:///x", WebError::InvalidUrl),
            ("http://a b/", WebError::InvalidUrl),
        ] {
            assert_eq!(target(url), Err(want), "{url}");
        }
    }

    #[test]
    fn relative_and_absolute_redirects_are_resolved() {
        let from = HttpTarget::parse("http://example.org/a/b?c=d").expect("a URL");
        for (to, path) in [
            ("/x", "/x"),
            ("x", "/a/x"),
            ("?e=f", "/a/b?e=f"),
            ("/get?u=http://elsewhere.example/", "/get?u=http://elsewhere.example/"),
            ("https://other.example/y", "/y"),
        ] {
            assert_eq!(from.redirected(to).expect("a URL").path, path, "{to}");
        }
        for to in ["file:///etc/passwd", "ftp://example.org/x"] {
            assert!(from.redirected(to).is_err(), "{to}");
        }
    }
}
