//! A request from the command line to a simulator at any address. The response is JSON.

use crate::web::{self, HttpTarget, USER_AGENT, WebError};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::http::{Method, Request, header};
use serde_json::Value;
use std::time::Duration;

/// Timeout of a request. It is long, because the largest upload may take a minute.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Largest response body that is accepted, in bytes.
const MAX_RESPONSE: usize = 4 << 20;

/// A response.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonResponse {
    /// Status code.
    pub status: u16,
    /// The header `Retry-After`, in seconds.
    pub retry_after_s: Option<u64>,
    /// The body; null if it is not JSON.
    pub body: Value,
}

impl JsonResponse {
    /// Whether the request succeeded.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The error text in the body; a text with the status if the body has none.
    pub fn error(&self) -> String {
        let text = self.body["error"].as_str().map(str::to_owned);
        text.unwrap_or_else(|| format!("the simulator responded with status {}", self.status))
    }
}

/// Sends a POST request if there is a body, with its content type. Otherwise sends a GET request.
pub async fn request_json(
    url: &str,
    token: Option<&str>,
    body: Option<(&str, Bytes)>,
) -> Result<JsonResponse, WebError> {
    let target = HttpTarget::parse(url)?;
    let late = |_| WebError::NoResponse(target.host.clone(), "the request took too long".to_owned());
    tokio::time::timeout(TIMEOUT, send(&target, token, body)).await.map_err(late)?
}

async fn send(
    target: &HttpTarget,
    token: Option<&str>,
    body: Option<(&str, Bytes)>,
) -> Result<JsonResponse, WebError> {
    let failed = |e: &dyn std::fmt::Display| WebError::NoResponse(target.host.clone(), e.to_string());
    let mut sender = web::connect(target, web::resolve(target).await?).await?;
    let method = if body.is_some() { Method::POST } else { Method::GET };
    let mut request = Request::builder()
        .method(method)
        .uri(&target.path)
        .header(header::HOST, &target.authority)
        .header(header::USER_AGENT, USER_AGENT);
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    if let Some((content_type, _)) = &body {
        request = request.header(header::CONTENT_TYPE, *content_type);
    }
    let body = body.map(|(_, bytes)| bytes).unwrap_or_default();
    let request = request.body(Full::new(body)).map_err(|e| failed(&e))?;
    let response = sender.send_request(request).await.map_err(|e| failed(&e))?;
    let retry_after = response.headers().get(header::RETRY_AFTER);
    let retry_after_s = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
    let status = response.status().as_u16();
    let body = Limited::new(response.into_body(), MAX_RESPONSE).collect().await.map_err(|e| failed(&e))?;
    let body = serde_json::from_slice(&body.to_bytes()).unwrap_or(Value::Null);
    Ok(JsonResponse { status, retry_after_s, body })
}
