//! Serves a connection of a student's program in virtual time.

use super::client_stream::{ClientStream, Connection, ConnectionState, Peer};
use super::{CountedConnection, HttpMetrics, protocol, respond};
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::http::{HeaderValue, Response, header};
use bytes::Bytes;
use chicane_pace::{Unfinished, VirtualStream, Work};
use hyper::body::{Frame, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Serves one connection until it ends. The counts in `work` tell the time keeper which work of the
/// server is unfinished: a request counts until it has a response, and a response without a known
/// length counts as a stream until it ends.
pub async fn serve_paced(stream: VirtualStream, router: Router, work: Arc<Work>, metrics: Arc<HttpMetrics>) {
    let local = stream.local_address();
    let _counted = CountedConnection::new(metrics);
    let state = Arc::new(ConnectionState::default());
    let peer = Peer::new(Connection::Virtual(stream));
    let io = TokioIo::new(ClientStream::new(&peer, Arc::clone(&state)));
    let service = service_fn(|request| {
        let answer = respond(request, local, router.clone(), Arc::clone(&state), peer.clone());
        let work = Arc::clone(&work);
        async move {
            let _unanswered = work.request();
            answer.await.map(|response| with_date(counted(response, &work), &work))
        }
    });
    let connection = protocol().auto_date_header(false).serve_connection(io, service).with_upgrades();
    let _ = connection.await;
}

/// Sets the header `Date` to the date of the virtual clock.
fn with_date<B>(mut response: Response<B>, work: &Work) -> Response<B> {
    if let Ok(date) = HeaderValue::from_str(&httpdate::fmt_http_date(work.date())) {
        response.headers_mut().insert(header::DATE, date);
    }
    response
}

/// Counts a response as a stream if its length is not known.
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
