//! How a bucket is spoken to: the protocol is `object_store`'s, the connections are our own.
//!
//! Everything is bounded: the time to connect, the time for an answer, its bytes, and how often something is
//! tried again. What is tried again may have been done the first time; whoever writes finds out by
//! reading (`Cdn`).

use super::answer::{Verdict, judge};
use super::settings::{is_here, is_yes};
use crate::web::{Lines, Target, USER_AGENT, WebError};
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

/// How often something is tried.
const ATTEMPTS: u32 = 4;
/// Before it is tried for the second time; then ever longer.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// How long an answer may take, beside the time for what is sent.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes a second that are sent at least.
const MIN_RATE: f64 = 32_768.0;
/// Bytes of an answer. A page of a list has a thousand names; files are read back in parts.
const MAX_ANSWER: usize = 4 << 20;

/// Makes clients for `object_store`.
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let plain = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|v| is_yes(&v));
        let lines = Lines::default();
        Ok(HttpClient::new(Client { plain, patience: PATIENCE, first_pause: FIRST_PAUSE, lines }))
    }
}

/// Why nothing came of a request, in words for people.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Trouble(String);

impl From<Trouble> for HttpError {
    fn from(trouble: Trouble) -> HttpError {
        // Of a kind that nobody tries again.
        HttpError::new(HttpErrorKind::Unknown, trouble)
    }
}

#[derive(Debug)]
struct Client {
    /// Whether hosts elsewhere may be spoken to without encryption.
    plain: bool,
    patience: Duration,
    first_pause: Duration,
    lines: Lines,
}

impl HttpService for Client {
    fn call<'a, 'b>(&'a self, request: HttpRequest) -> BoxFuture<'b, Result<HttpResponse, HttpError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(self.ask(request))
    }
}

impl Client {
    async fn ask(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let target = Target::parse(&head.uri.to_string()).map_err(|e| Trouble(e.to_string()))?;
        if !target.secure && !self.plain && !is_here(&target) {
            return Err(
                Trouble(format!("http://{} is not encrypted, and is not asked", target.authority)).into()
            );
        }
        let mut pause = self.first_pause;
        let mut attempt = 1;
        loop {
            let failed = match self.once(&target, &head, body.clone()).await {
                Ok(answer) => match judge(answer.status(), answer.headers(), answer.body()) {
                    Verdict::Answer => return Ok(answer.map(Into::into)),
                    Verdict::Never(words) => return Err(Trouble(words).into()),
                    Verdict::Later(words) => words,
                },
                Err(e @ (WebError::Unreachable(..) | WebError::NoAnswer(..))) => e.to_string(),
                Err(e) => return Err(Trouble(e.to_string()).into()),
            };
            if attempt == ATTEMPTS {
                return Err(Trouble(format!("{failed} (tried {ATTEMPTS} times)")).into());
            }
            tokio::time::sleep(pause).await;
            (attempt, pause) = (attempt + 1, pause * 3);
        }
    }

    /// Asks once, and reads the whole answer.
    async fn once(&self, target: &Target, head: &Parts, body: Bytes) -> Result<Response<Bytes>, WebError> {
        let patience = self.patience + Duration::from_secs_f64(body.len() as f64 / MIN_RATE);
        let failed = |why: &dyn std::fmt::Display| WebError::NoAnswer(target.host.clone(), why.to_string());
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = head.method.clone();
        *request.uri_mut() = target.path.parse().map_err(|_| WebError::NoAddress)?;
        *request.headers_mut() = head.headers.clone();
        let host = HeaderValue::from_str(&target.authority).map_err(|_| WebError::NoAddress)?;
        request.headers_mut().insert(header::HOST, host);
        request.headers_mut().insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        let exchange = async {
            let (answer, line) = self.lines.send(target, request).await?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|e| match e
                .is::<LengthLimitError>()
            {
                true => WebError::TooLarge(target.host.clone()),
                false => failed(&e),
            })?;
            self.lines.keep(Some(line));
            Ok(Response::from_parts(head, body.to_bytes()))
        };
        timeout(patience, exchange)
            .await
            .map_err(|_| failed(&format!("none came within {} s", patience.as_secs())))?
    }
}

#[cfg(test)]
mod tests;
