//! Accepts connections, limits them, and closes them when the server stops.
//!
//! This crate knows no route. It passes each request to a router, together with the address of the
//! connection.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod client_stream;
mod paced;

use axum::Router;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use chicane_wire::ErrorCode;
pub use client_stream::Peer;
use client_stream::{ClientStream, Connection, ConnectionState, error_response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
pub use paced::serve_paced;
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;
use tower::ServiceExt;

/// How many connections may be open at a time. Further connections are refused with status 503.
const MAX_CONNECTIONS: usize = 12_000;
/// How many refusals may be sent at a time. Further connections are closed without a response.
const MAX_REFUSALS: usize = 64;
/// Largest request head in bytes. `hyper` also buffers at most this many bytes of a response for a
/// client that does not read.
const MAX_HEAD: usize = 32 << 10;
/// An idle connection is closed when no request comes for this long.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);
/// Time after which the system closes a connection whose client does not acknowledge data.
const UNACKNOWLEDGED_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes that the system buffers for a client that does not read.
const SEND_BUFFER: usize = 128 << 10;
/// How long the handling of a request continues after [`Peer`] has detected that the client closed
/// its side of the connection. A client that closed only its sending side still gets a response
/// that is ready within this time. This applies only if bytes after the request are unread.
/// Otherwise `hyper` itself detects the disconnect, and cancels the request at once.
const DISCONNECT_GRACE: Duration = Duration::from_millis(100);
/// Longest time to complete the responses that are being written when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(300);

/// How long the server tries to bind an address that is in use. If a simulator is killed between
/// the fork and the exec of a helper process, that process has inherited the listening socket. The
/// process holds the address until its exec.
const BIND_TIMEOUT: Duration = Duration::from_secs(1);
/// Pause between two attempts to bind an address.
const BIND_PAUSE: Duration = Duration::from_millis(10);

/// The address of this machine at which the connection arrived. It is an extension of each request.
#[derive(Debug, Clone, Copy)]
pub struct LocalAddress(pub SocketAddr);

/// Counters of connections and responses.
#[derive(Debug, Default)]
pub struct HttpMetrics {
    /// Open connections.
    pub connections: AtomicI64,
    /// Number of responses by the first digit of their status. Index 0 counts the statuses 1xx.
    pub answers: [AtomicU64; 5],
}

/// Binds a listening address. If the address is in use, tries again for up to one second.
pub async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let deadline = Instant::now() + BIND_TIMEOUT;
    loop {
        match bind_once(address) {
            Err(e) if e.kind() == io::ErrorKind::AddrInUse && Instant::now() < deadline => {
                tokio::time::sleep(BIND_PAUSE).await;
            }
            done => return done,
        }
    }
}

fn bind_once(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(4096)
}

/// A limit of open connections. Several listeners can share the same limit.
#[derive(Debug, Clone)]
pub struct ConnectionLimit(Arc<Semaphore>, u32);

/// Creates a limit of this many open connections.
pub fn connection_limit(connections: usize) -> ConnectionLimit {
    ConnectionLimit(Arc::new(Semaphore::new(connections)), connections as u32)
}

/// Accepts connections until `stop` is set. Then closes all connections.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    metrics: Arc<HttpMetrics>,
    stop: watch::Receiver<bool>,
) {
    serve_limited(listener, router, metrics, stop, connection_limit(MAX_CONNECTIONS)).await;
}

/// Accepts connections within a limit until `stop` is set. Then closes all connections.
pub async fn serve_limited(
    listener: TcpListener,
    router: Router,
    metrics: Arc<HttpMetrics>,
    mut stop: watch::Receiver<bool>,
    ConnectionLimit(permits, limit): ConnectionLimit,
) {
    let refusal_permits = Arc::new(Semaphore::new(MAX_REFUSALS));
    let mut warned: Option<Instant> = None;
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Most likely the limit of open files is reached. The server tries again after
                    // a pause, because other connections may close and free file descriptors.
                    if warned.is_none_or(|at| at.elapsed() > Duration::from_secs(1)) {
                        tracing::warn!(%error, "can't accept connections");
                        warned = Some(Instant::now());
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            },
            () = stopped(&mut stop) => break,
        };
        match Arc::clone(&permits).try_acquire_owned() {
            Ok(permit) => {
                let (router, metrics) = (router.clone(), Arc::clone(&metrics));
                tokio::spawn(serve_connection(stream, router, metrics, stop.clone(), permit));
            }
            Err(_) => {
                if let Ok(permit) = Arc::clone(&refusal_permits).try_acquire_owned() {
                    tokio::spawn(refuse(stream, permit));
                }
            }
        }
    }
    // A helper process that is being started may still have a copy of the socket, which would keep
    // the address in use. This call frees the address nevertheless.
    let _ = SockRef::from(&listener).shutdown(Shutdown::Both);
    drop(listener);
    // All permits can be acquired once all connections have ended.
    let _ = timeout(SHUTDOWN_TIMEOUT, permits.acquire_many(limit)).await;
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that the channel is closed. A closed channel counts as a stop.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Serves one connection until it ends.
async fn serve_connection(
    stream: TcpStream,
    router: Router,
    metrics: Arc<HttpMetrics>,
    mut stop: watch::Receiver<bool>,
    _permit: OwnedSemaphorePermit,
) {
    let Ok(local) = stream.local_addr() else { return };
    prepare(&stream);
    let _counted = CountedConnection::new(metrics);
    let state = Arc::new(ConnectionState::default());
    let peer = Peer::new(Connection::Tcp(stream));
    let io = TokioIo::new(ClientStream::new(&peer, Arc::clone(&state)));
    let service =
        service_fn(|request| respond(request, local, router.clone(), Arc::clone(&state), peer.clone()));
    let connection = protocol().serve_connection(io, service).with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = stopped(&mut stop) => None,
    };
    if ended.is_none() {
        connection.as_mut().graceful_shutdown();
        // After the timeout the connection is dropped, and the rest of the response is lost.
        let _ = timeout(SHUTDOWN_TIMEOUT, connection).await;
    }
}

/// The settings of HTTP for a connection.
fn protocol() -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(IDLE_TIMEOUT).max_buf_size(MAX_HEAD);
    protocol
}

/// Passes a request of a connection to the router. Returns an error if the client disconnects
/// before the response is ready. The error makes `hyper` close the connection.
async fn respond(
    mut request: hyper::Request<Incoming>,
    local: SocketAddr,
    router: Router,
    state: Arc<ConnectionState>,
    peer: Peer,
) -> io::Result<Response<Body>> {
    request.extensions_mut().insert(LocalAddress(local));
    request.extensions_mut().insert(peer.clone());
    state.requests.fetch_add(1, Relaxed);
    let disconnected = async {
        peer.disconnected().await;
        tokio::time::sleep(DISCONNECT_GRACE).await;
    };
    let response = tokio::select! {
        biased;
        response = router.oneshot(request.map(Body::new)) => response.unwrap_or_else(|never| match never {}),
        // This cancels the request, because `select!` drops the handler.
        () = disconnected => return Err(io::Error::from(io::ErrorKind::ConnectionAborted)),
    };
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        state.upgraded.store(true, Relaxed);
        peer.set_upgraded();
    }
    state.responses.fetch_add(1, Relaxed);
    Ok(response)
}

/// Counts a connection in the metrics while it is open.
struct CountedConnection(Arc<HttpMetrics>);

impl CountedConnection {
    fn new(metrics: Arc<HttpMetrics>) -> CountedConnection {
        metrics.connections.fetch_add(1, Relaxed);
        CountedConnection(metrics)
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}

/// Sets the socket options: small responses are sent without delay, a dead client is detected, and
/// the send buffer is limited.
fn prepare(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let keepalive =
        TcpKeepalive::new().with_time(Duration::from_secs(30)).with_interval(Duration::from_secs(10));
    // Errors are ignored, because the server works without these options too.
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_keepalive(&keepalive);
    let _ = socket.set_send_buffer_size(SEND_BUFFER);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED_TIMEOUT));
}

/// Responds that there are too many connections, and closes the connection.
async fn refuse(stream: TcpStream, _permit: OwnedSemaphorePermit) {
    let response = error_response(
        "503 Service Unavailable",
        ErrorCode::Busy,
        "too many connections; close some and try again",
    );
    let exchange = async {
        stream.writable().await?;
        stream.try_write(&response)?;
        // The request is read before the socket is closed. Otherwise the system would discard the
        // response because of the unread bytes.
        stream.readable().await?;
        let mut request = [0; 4096];
        stream.try_read(&mut request)
    };
    let _ = timeout(Duration::from_secs(1), exchange).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::Poll;

    /// Polls a future once.
    async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
    }

    #[tokio::test]
    async fn a_restart_failed_while_an_orphan_held_the_address() {
        let holder = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let address = holder.local_addr().expect("an address");
        let mut binding = Box::pin(bind(address));
        assert!(poll_once(&mut binding).await.is_pending(), "the address is held");
        drop(holder);
        assert_eq!(binding.await.expect("bound").local_addr().expect("an address"), address);
    }

    #[tokio::test]
    async fn an_address_that_stays_in_use_is_an_error() {
        let holder = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let refused = bind(holder.local_addr().expect("an address")).await.expect_err("bound twice");
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
    }

    #[tokio::test]
    async fn a_copy_of_the_socket_held_the_address_after_the_server_had_stopped() {
        let listener = bind_once("127.0.0.1:0".parse().expect("an address")).expect("bound");
        let address = listener.local_addr().expect("an address");
        let _copy = SockRef::from(&listener).try_clone().expect("a copy");
        let (_stop, stopped) = watch::channel(true);
        serve(listener, Router::new(), Arc::default(), stopped).await;
        bind_once(address).expect("the address is free");
    }
}
