//! Asking a simulator that runs, for the command line.

use crate::announce::Running;
use crate::web::{self, Target, USER_AGENT};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::http::{Method, Request, header};
use serde_json::Value;
use std::time::Duration;

/// Installing and switching may take a while.
const TIME: Duration = Duration::from_secs(1900);
const MAX_ANSWER: usize = 16 << 20;

/// Asks a simulator for a path under `/sim/api`. Gives its answer, or the text of its refusal.
pub async fn ask(running: &Running, method: &str, path: &str, body: Option<Value>) -> Result<Value, String> {
    let asked = tokio::time::timeout(TIME, send(running, method, path, body)).await;
    asked.unwrap_or_else(|_| Err("the simulator does not answer".to_owned()))
}

async fn send(running: &Running, method: &str, path: &str, body: Option<Value>) -> Result<Value, String> {
    let failed =
        |e: &dyn std::fmt::Display| format!("the simulator at {} can't be asked: {e}", running.address);
    let target =
        Target::parse(&format!("http://{}/sim/api{path}", running.address)).map_err(|e| failed(&e))?;
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
    let answer = sender.send_request(request).await.map_err(|e| failed(&e))?;
    let status = answer.status();
    let bytes =
        Limited::new(answer.into_body(), MAX_ANSWER).collect().await.map_err(|e| failed(&e))?.to_bytes();
    let value: Value = serde_json::from_slice(&bytes).map_err(|e| failed(&e))?;
    if status.is_success() {
        return Ok(value);
    }
    Err(value["error"].as_str().unwrap_or("it refused").to_owned())
}
