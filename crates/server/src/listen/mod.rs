//! Connections: taking them in, bounding them, ending them.

mod line;

use crate::access::LocalAddress;
use crate::metrics::HttpMetrics;
use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use chicane_wire::ErrorCode;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
pub(crate) use line::Peer;
use line::{Line, Progress, bare_error};
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;
use tower::ServiceExt;

/// Connections at a time; one more is told so.
const MAX_CONNECTIONS: usize = 12_000;
/// Connections that are told so at a time; more are just closed.
const MAX_TURNED_AWAY: usize = 64;
/// Largest head of a request; also what a reader that does not read is written ahead.
const MAX_HEAD: usize = 32 << 10;
/// A connection may rest this long between requests.
const REST: Duration = Duration::from_secs(600);
/// A reader that takes nothing for this long is gone.
const STALLED: Duration = Duration::from_secs(60);
/// What the system may keep for a reader that does not read.
const SEND_BUFFER: usize = 128 << 10;
/// A client that hangs up while it is owed an answer gets it if it is ready by then. The HTTP library is
/// quicker, but sees nothing behind bytes that come after the request.
const OWED: Duration = Duration::from_millis(100);
/// Answers that are being written at the end have this long.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Binds a listening address.
pub(crate) fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(4096)
}

/// Takes connections in until told to stop; then ends them.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    metrics: Arc<HttpMetrics>,
    mut stop: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let turned_away = Arc::new(Semaphore::new(MAX_TURNED_AWAY));
    let mut warned: Option<Instant> = None;
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Most likely no descriptor is left; some will be closed.
                    if warned.is_none_or(|at| at.elapsed() > Duration::from_secs(1)) {
                        tracing::warn!(%error, "connections can't be taken in");
                        warned = Some(Instant::now());
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            },
            () = stopped(&mut stop) => break,
        };
        match Arc::clone(&places).try_acquire_owned() {
            Ok(place) => {
                tokio::spawn(converse(stream, router.clone(), Arc::clone(&metrics), stop.clone(), place));
            }
            Err(_) => {
                if let Ok(place) = Arc::clone(&turned_away).try_acquire_owned() {
                    tokio::spawn(turn_away(stream, place));
                }
            }
        }
    }
    drop(listener);
    // When every place is free again, every connection has ended.
    let _ = timeout(LAST_WORDS, places.acquire_many(MAX_CONNECTIONS as u32)).await;
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // Whoever could tell us to stop and is gone meant it.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// One connection, from its first request to its end.
async fn converse(
    stream: TcpStream,
    router: Router,
    metrics: Arc<HttpMetrics>,
    mut stop: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
) {
    let Ok(local) = stream.local_addr() else { return };
    prepare(&stream);
    let _open = Open::new(metrics);
    let progress = Arc::new(Progress::default());
    let peer = Peer::new(stream);
    let io = TokioIo::new(Line::new(&peer, Arc::clone(&progress)));
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(LocalAddress(local));
        request.extensions_mut().insert(peer.clone());
        progress.requests.fetch_add(1, Relaxed);
        let (router, progress, peer) = (router.clone(), Arc::clone(&progress), peer.clone());
        async move {
            let gone = async {
                peer.hung_up().await;
                tokio::time::sleep(OWED).await;
            };
            let answer = tokio::select! {
                biased;
                answer = router.oneshot(request.map(Body::new)) => answer.unwrap_or_else(|never| match never {}),
                // What was asked for goes with it.
                () = gone => return Err(io::Error::from(io::ErrorKind::ConnectionAborted)),
            };
            let upgraded = answer.status() == StatusCode::SWITCHING_PROTOCOLS;
            progress.upgraded.fetch_or(upgraded, Relaxed);
            progress.answers.fetch_add(1, Relaxed);
            Ok(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REST)
        .max_buf_size(MAX_HEAD)
        .serve_connection(io, service)
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = stopped(&mut stop) => None,
    };
    if ended.is_none() {
        connection.as_mut().graceful_shutdown();
        // What is not written by then stays unwritten.
        let _ = timeout(LAST_WORDS, connection).await;
    }
}

/// Counted while it is open.
struct Open(Arc<HttpMetrics>);

impl Open {
    fn new(metrics: Arc<HttpMetrics>) -> Open {
        metrics.connections.fetch_add(1, Relaxed);
        Open(metrics)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}

/// Small answers go out at once; a peer that is gone is noticed; one that does not read costs little.
fn prepare(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let keepalive =
        TcpKeepalive::new().with_time(Duration::from_secs(30)).with_interval(Duration::from_secs(10));
    // A system that does not know one of these serves as well as it can.
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_keepalive(&keepalive);
    let _ = socket.set_send_buffer_size(SEND_BUFFER);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(STALLED));
}

/// Says that there is no place, and hangs up.
async fn turn_away(stream: TcpStream, _place: OwnedSemaphorePermit) {
    let answer = bare_error(
        "503 Service Unavailable",
        ErrorCode::Busy,
        "too many connections; close some and try again",
    );
    let talk = async {
        stream.writable().await?;
        stream.try_write(&answer)?;
        // What was asked is read, or hanging up would take the answer back.
        stream.readable().await?;
        let mut asked = [0; 4096];
        stream.try_read(&mut asked)
    };
    let _ = timeout(Duration::from_secs(1), talk).await;
}
