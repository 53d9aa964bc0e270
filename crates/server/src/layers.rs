//! Middleware of every path: access rules, metrics, the handling of panics, security headers.

use crate::access::{Access, HostRules, add_security_headers, guard};
use crate::api;
use crate::error_response::panic_response;
use crate::metrics::HttpMetrics;
use crate::state::App;
use crate::student;
use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use chicane_remote::WrongTokens;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// All routes with the middleware.
pub(crate) fn with_layers(app: App, access: Access) -> Router {
    let metrics = Arc::clone(&app.http_metrics);
    api::router(app)
        .layer(from_fn_with_state(Arc::new(access), guard))
        .layer(from_fn(move |request: Request, next: Next| observe(Arc::clone(&metrics), request, next)))
}

/// All routes with the middleware, for the requests of a judged program. These requests need no
/// token, because they come through the sockets of the program's session.
pub(crate) fn with_student_layers(app: App, hosts: HostRules) -> Router {
    let metrics = Arc::clone(&app.http_metrics);
    let access = Access {
        hosts,
        foxglove_origins: Vec::new(),
        allowed_origins: Vec::new(),
        tokens: None,
        cdn_token: None,
        wrong_tokens: WrongTokens::default(),
    };
    api::router(app.clone())
        .layer(from_fn_with_state(app, student::guard))
        .layer(from_fn_with_state(Arc::new(access), guard))
        .layer(from_fn(move |request: Request, next: Next| observe(Arc::clone(&metrics), request, next)))
}

/// Runs the handler, catches a panic, adds the security headers, counts and logs the response.
async fn observe(metrics: Arc<HttpMetrics>, request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let started = Instant::now();
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let response = add_security_headers(answered.unwrap_or_else(|_| {
        tracing::error!(%method, path, "a handler panicked");
        panic_response(&path)
    }));
    let status = response.status().as_u16();
    if let Some(count) = metrics.answers.get(usize::from(status / 100).wrapping_sub(1)) {
        count.fetch_add(1, Relaxed);
    }
    let us = started.elapsed().as_micros() as u64;
    if status >= 500 {
        tracing::warn!(%method, path, status, us, "answered");
    } else {
        tracing::debug!(%method, path, status, us, "answered");
    }
    response
}
