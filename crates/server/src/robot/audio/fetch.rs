//! Fetches sound files from the web.
//!
//! A host name is resolved once, all its addresses are checked, and the connection goes to one of
//! the checked addresses. A second lookup could give an address that was not checked. The same
//! checks apply to the target of a redirect. Size and time are limited.

use axum::http::{Request, Response, StatusCode, header};
use bytes::Bytes;
use chicane_host::fetch_address::AddressRule;
use chicane_host::workspace_files::MAX_FILE_BYTES;
use chicane_remote::web::{self, HttpTarget, USER_AGENT, WebError};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use std::time::Duration;

/// Longest time from the DNS lookup to the last byte. It includes all redirects.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;

/// Why a file could not be fetched.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FetchError {
    #[error(transparent)]
    Web(#[from] WebError),
    #[error(
        "{0} is an address of this machine or its network; for this client, files are fetched from public addresses only"
    )]
    Forbidden(String),
    #[error("{0} answered with status {1}")]
    Status(String, u16),
    #[error("url is redirected more than 5 times")]
    TooManyRedirects,
    #[error("the file is larger than 16 MiB")]
    TooLarge,
    #[error("the connection ended before the end of the file")]
    Incomplete,
    #[error("the file did not arrive within 10 s")]
    TooSlow,
}

/// Fetches files over HTTP and HTTPS.
#[derive(Debug, Clone)]
pub(super) struct Fetcher {
    rule: AddressRule,
    timeout: Duration,
    max_bytes: usize,
}

impl Fetcher {
    /// A fetcher that connects to addresses that `rule` permits.
    pub(super) fn new(rule: AddressRule) -> Fetcher {
        Fetcher { rule, timeout: FETCH_TIMEOUT, max_bytes: MAX_FILE_BYTES }
    }

    /// Fetches the file at a URL.
    pub(super) async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchError> {
        let fetching = async { self.follow(HttpTarget::parse(url)?).await };
        tokio::time::timeout(self.timeout, fetching).await.unwrap_or(Err(FetchError::TooSlow))
    }

    async fn follow(&self, mut target: HttpTarget) -> Result<Vec<u8>, FetchError> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.request(&target).await?;
            match response.status() {
                StatusCode::OK => return self.read(response).await,
                status if status.is_redirection() => {
                    let to = response.headers().get(header::LOCATION).and_then(|v| v.to_str().ok());
                    let to = to.ok_or(FetchError::Status(target.host.clone(), status.as_u16()))?;
                    target = target.redirected(to)?;
                }
                status => return Err(FetchError::Status(target.host, status.as_u16())),
            }
        }
        Err(FetchError::TooManyRedirects)
    }

    /// Sends a request and returns the response as soon as its headers have arrived. All addresses
    /// of the server must be permitted.
    async fn request(&self, target: &HttpTarget) -> Result<Response<Incoming>, FetchError> {
        let addresses = web::resolve(target).await?;
        if addresses.iter().any(|address| !self.rule.permits(*address)) {
            return Err(FetchError::Forbidden(target.host.clone()));
        }
        let mut sender = web::connect(target, addresses).await?;
        let request = Request::get(&target.path)
            .header(header::HOST, &target.authority)
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT, "audio/*, */*;q=0.5")
            .header(header::CONNECTION, "close")
            .body(Full::<Bytes>::default());
        // Building the request can't fail, because all parts come from a parsed URL.
        let response = sender.send_request(request.unwrap_or_default()).await;
        Ok(response.map_err(|e| WebError::Unreachable(target.host.clone(), e.to_string()))?)
    }

    /// Reads the body, up to the size limit.
    async fn read(&self, response: Response<Incoming>) -> Result<Vec<u8>, FetchError> {
        let length = web::content_length(response.headers());
        if length.is_some_and(|length| length > self.max_bytes as u64) {
            return Err(FetchError::TooLarge);
        }
        let mut body = response.into_body();
        let mut file = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| FetchError::Incomplete)?.into_data() else { continue };
            if file.len() + data.len() > self.max_bytes {
                return Err(FetchError::TooLarge);
            }
            file.extend_from_slice(&data);
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests;
