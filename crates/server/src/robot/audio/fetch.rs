//! Files from the web. A name is resolved once, every address it has is checked, and exactly one of
//! these is connected to; a redirect starts anew with the same checks. Size and time are bounded.

use super::MAX_FILE;
use super::address::AddressRule;
use axum::http::{Request, Response, StatusCode, header};
use bytes::Bytes;
use chicane_remote::web::{self, HttpTarget, USER_AGENT, WebError};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use std::time::Duration;

/// From the name to the last byte, all redirects included.
const TIME: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;

/// Why a file could not be fetched.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FetchError {
    #[error(transparent)]
    Web(#[from] WebError),
    #[error("{0} is an address of this machine or its network; only the open internet is asked")]
    Forbidden(String),
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
        let fetching = async { self.follow(HttpTarget::parse(url)?).await };
        tokio::time::timeout(self.time, fetching).await.unwrap_or(Err(FetchError::TooSlow))
    }

    async fn follow(&self, mut target: HttpTarget) -> Result<Vec<u8>, FetchError> {
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

    /// Asks a server, all of whose addresses must be permitted, and gives its answer as soon as its head
    /// has come.
    async fn ask(&self, target: &HttpTarget) -> Result<Response<Incoming>, FetchError> {
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
        // Every part of it was read from a valid address.
        let answer = sender.send_request(request.unwrap_or_default()).await;
        Ok(answer.map_err(|e| WebError::Unreachable(target.host.clone(), e.to_string()))?)
    }

    /// The body, counted while it comes.
    async fn read(&self, answer: Response<Incoming>) -> Result<Vec<u8>, FetchError> {
        let length = web::content_length(answer.headers());
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

#[cfg(test)]
mod tests;
