//! The HTTP client that `object_store` uses. It sends requests over the connections of the module
//! `web`.
//!
//! The time to connect, the time for a response, the size of a response and the number of attempts
//! are limited. The first attempt of a retried write may have succeeded although its response was
//! lost. Then the second attempt fails, and the publisher (`Cdn`) reads the object and compares it
//! with the written bytes.

use super::response::{ResponseAction, classify};
use super::settings::{is_local, is_yes};
use crate::web::{ConnectionPool, HttpTarget, USER_AGENT, WebError};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::http::request::Parts;
use hyper::http::{HeaderValue, Request, Response, header};
use object_store::ClientConfigKey;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpService,
};
use std::time::Duration;
use tokio::time::timeout;

/// Maximum number of times that a request is sent.
const ATTEMPTS: u32 = 4;
/// Pause before the second attempt. Each further pause is three times as long as the previous one.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Timeout of a response. The time for sending the request is added to it, see [`MIN_RATE`].
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);
/// Lowest speed at which a request may be sent, in bytes per second.
const MIN_RATE: f64 = 32_768.0;
/// Largest response in bytes. The largest expected response is a page of a list with a thousand
/// names. `Cdn` reads files back in smaller parts.
const MAX_RESPONSE: usize = 4 << 20;

/// Creates clients for `object_store`.
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allow_http = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|v| is_yes(&v));
        Ok(HttpClient::new(BucketClient {
            allow_http,
            response_timeout: RESPONSE_TIMEOUT,
            first_pause: FIRST_PAUSE,
            connections: ConnectionPool::default(),
        }))
    }
}

/// Why a request to a bucket failed. Contains the text for the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct RequestFailed(String);

impl From<RequestFailed> for HttpError {
    fn from(failed: RequestFailed) -> HttpError {
        // `object_store` does not retry errors of this kind. `BucketClient` has already retried the
        // request where this can help.
        HttpError::new(HttpErrorKind::Unknown, failed)
    }
}

#[derive(Debug)]
struct BucketClient {
    /// Whether other machines may be contacted without TLS.
    allow_http: bool,
    /// See [`RESPONSE_TIMEOUT`].
    response_timeout: Duration,
    /// See [`FIRST_PAUSE`].
    first_pause: Duration,
    connections: ConnectionPool,
}

impl HttpService for BucketClient {
    fn call<'a, 'b>(&'a self, request: HttpRequest) -> BoxFuture<'b, Result<HttpResponse, HttpError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(self.send_with_retries(request))
    }
}

impl BucketClient {
    async fn send_with_retries(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let target = HttpTarget::parse(&head.uri.to_string()).map_err(|e| RequestFailed(e.to_string()))?;
        if !target.secure && !self.allow_http && !is_local(&target) {
            let host = &target.authority;
            return Err(RequestFailed(format!("http://{host} is not encrypted: use https://")).into());
        }
        let mut pause = self.first_pause;
        let mut attempt = 1;
        loop {
            let error = match self.send_once(&target, &head, body.clone()).await {
                Ok(response) => match classify(response.status(), response.headers(), response.body()) {
                    ResponseAction::PassOn => return Ok(response.map(Into::into)),
                    ResponseAction::Fail(text) => return Err(RequestFailed(text).into()),
                    ResponseAction::Retry(text) => text,
                },
                Err(e @ (WebError::Unreachable(..) | WebError::NoResponse(..))) => e.to_string(),
                Err(e) => return Err(RequestFailed(e.to_string()).into()),
            };
            if attempt == ATTEMPTS {
                return Err(RequestFailed(format!("{error} (tried {ATTEMPTS} times)")).into());
            }
            tokio::time::sleep(pause).await;
            (attempt, pause) = (attempt + 1, pause * 3);
        }
    }

    /// Sends a request once, and reads the whole response.
    async fn send_once(
        &self,
        target: &HttpTarget,
        head: &Parts,
        body: Bytes,
    ) -> Result<Response<Bytes>, WebError> {
        let time = self.response_timeout + Duration::from_secs_f64(body.len() as f64 / MIN_RATE);
        let failed = |why: &dyn std::fmt::Display| WebError::NoResponse(target.host.clone(), why.to_string());
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = head.method.clone();
        *request.uri_mut() = target.path.parse().map_err(|_| WebError::InvalidUrl)?;
        *request.headers_mut() = head.headers.clone();
        let host = HeaderValue::from_str(&target.authority).map_err(|_| WebError::InvalidUrl)?;
        request.headers_mut().insert(header::HOST, host);
        request.headers_mut().insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        let exchange = async {
            let (response, connection) = self.connections.send(target, request).await?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, MAX_RESPONSE).collect().await;
            let body = body.map_err(|e| match e.is::<LengthLimitError>() {
                true => WebError::TooLarge(target.host.clone()),
                false => failed(&e),
            })?;
            self.connections.give_back(connection);
            Ok(Response::from_parts(head, body.to_bytes()))
        };
        timeout(time, exchange).await.map_err(|_| failed(&format!("timeout after {} s", time.as_secs())))?
    }
}

#[cfg(test)]
mod tests;
