//! Serves a connection of a student's program in virtual time.

use super::client_stream::{ClientStream, Connection, ConnectionState, Peer};
use super::{CountedConnection, DISCONNECT_GRACE, IDLE_TIMEOUT, MAX_HEAD};
use crate::access::LocalAddress;
use crate::metrics::HttpMetrics;
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use chicane_pace::{Unfinished, VirtualStream, Work};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use tower::ServiceExt;

/// Serves one connection until it ends. Every request counts as work until it has a response, and
/// every response without a known length as a stream.
pub(crate) async fn serve_paced(
    stream: VirtualStream,
    router: Router,
    work: Arc<Work>,
    metrics: Arc<HttpMetrics>,
) {
    let local = stream.local_address();
    let _counted = CountedConnection::new(metrics);
    let state = Arc::new(ConnectionState::default());
    let peer = Peer::new(Connection::Virtual(stream));
    let io = TokioIo::new(ClientStream::new(&peer, Arc::clone(&state)));
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(LocalAddress(local));
        request.extensions_mut().insert(peer.clone());
        state.requests.fetch_add(1, Relaxed);
        let (router, state, peer, work) =
            (router.clone(), Arc::clone(&state), peer.clone(), Arc::clone(&work));
        async move {
            let _unanswered = work.request();
            let disconnected = async {
                peer.disconnected().await;
                tokio::time::sleep(DISCONNECT_GRACE).await;
            };
            let response = tokio::select! {
                biased;
                response = router.oneshot(request.map(Body::new)) => response.unwrap_or_else(|never| match never {}),
                () = disconnected => return Err(io::Error::from(io::ErrorKind::ConnectionAborted)),
            };
            if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                state.upgraded.store(true, Relaxed);
                peer.set_upgraded();
            }
            state.responses.fetch_add(1, Relaxed);
            Ok(with_date(counted(response, &work), &work))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .auto_date_header(false)
        .serve_connection(io, service)
        .with_upgrades();
    let _ = connection.await;
}

/// Adds the virtual date.
fn with_date<B>(mut response: Response<B>, work: &Work) -> Response<B> {
    if let Ok(date) = HeaderValue::from_str(&httpdate::fmt_http_date(work.date())) {
        response.headers_mut().insert(header::DATE, date);
    }
    response
}

/// Counts a response whose length is not known as a stream.
fn counted(response: Response<Body>, work: &Arc<Work>) -> Response<Body> {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    let stream = work.stream();
    response.map(|body| Body::new(CountedBody { body, _stream: stream }))
}

/// A body that counts as a stream until it is dropped.
struct CountedBody {
    body: Body,
    _stream: Unfinished,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
