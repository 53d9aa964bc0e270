//! Requests of the command line to a running simulator.

use crate::RunningSimulator;
use crate::web::{self, HttpTarget, USER_AGENT};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::http::{Method, Request, header};
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;

/// Timeout of a request. It is longer than the time limit of an installation, which the simulator
/// itself enforces.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1900);
/// Largest response body that is accepted, in bytes.
const MAX_RESPONSE: usize = 16 << 20;

/// Why a running simulator did not do what the command line requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimulatorError {
    /// No response arrived in time.
    #[error("the simulator does not respond")]
    Timeout,
    /// The request could not be sent, or its response could not be read.
    #[error("the request to the simulator at {address} failed: {reason}")]
    Failed {
        /// Address of the simulator.
        address: SocketAddr,
        /// Error of the connection or of the response.
        reason: String,
    },
    /// The simulator refused the request. Holds the simulator's text.
    #[error("{0}")]
    Refused(String),
}

/// Sends a request for a path under `/sim/api`, and returns the JSON of its response.
pub async fn call_simulator(
    running: &RunningSimulator,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> Result<Value, SimulatorError> {
    let response = tokio::time::timeout(RESPONSE_TIMEOUT, send(running, method, path, body)).await;
    response.unwrap_or(Err(SimulatorError::Timeout))
}

async fn send(
    running: &RunningSimulator,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> Result<Value, SimulatorError> {
    let failed = |e: &dyn std::fmt::Display| SimulatorError::Failed {
        address: running.address,
        reason: e.to_string(),
    };
    let url = format!("http://{}/sim/api{path}", running.address);
    let target = HttpTarget::parse(&url).map_err(|e| failed(&e))?;
    let mut sender = web::connect(&target, vec![running.address]).await.map_err(|e| failed(&e))?;
    let method = Method::from_bytes(method.as_bytes()).map_err(|e| failed(&e))?;
    let mut request = Request::builder()
        .method(method)
        .uri(&target.path)
        .header(header::HOST, &target.authority)
        .header(header::USER_AGENT, USER_AGENT)
        .header(header::CONTENT_TYPE, "application/json");
    if let Some(token) = &running.token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let body = body.map(|b| Bytes::from(b.to_string())).unwrap_or_default();
    let request = request.body(Full::new(body)).map_err(|e| failed(&e))?;
    let response = sender.send_request(request).await.map_err(|e| failed(&e))?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_RESPONSE).collect().await.map_err(|e| failed(&e))?;
    let value: Value = serde_json::from_slice(&body.to_bytes()).map_err(|e| failed(&e))?;
    if status.is_success() {
        return Ok(value);
    }
    let text = value["error"]
        .as_str()
        .map_or_else(|| format!("the simulator responded with {status}"), str::to_owned);
    Err(SimulatorError::Refused(text))
}
