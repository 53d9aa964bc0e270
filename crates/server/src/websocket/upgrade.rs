//! From a request to an open socket: the handshake, and what a socket may carry.

use super::Socket;
use crate::error::ApiError;
use crate::listen::Peer;
use crate::state::App;
use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};
use chicane_wire::{Detail, ErrorCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::sync::OwnedSemaphorePermit;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// Largest message, unless a path takes larger ones.
const MAX_MESSAGE: usize = 64 << 10;
/// Largest message that is sent, unless a path sends larger ones.
const MAX_SENT: usize = 1 << 20;

/// Why a request does not become a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoSocket {
    /// It does not ask for one.
    #[error("this path is a WebSocket: ask with Connection: Upgrade and Upgrade: websocket")]
    NotAsked,
    /// It asks for a protocol that is not spoken here.
    #[error("Sec-WebSocket-Version must be 13")]
    Version,
    /// It has no key.
    #[error("Sec-WebSocket-Key must be 16 bytes in base64")]
    Key,
    /// Too many are open.
    #[error("too many WebSockets are open; close some and try again")]
    TooMany,
}

impl NoSocket {
    /// A header that says what would be right.
    fn hint(self) -> Option<(HeaderName, &'static str)> {
        match self {
            NoSocket::NotAsked => Some((header::UPGRADE, "websocket")),
            NoSocket::Version => Some((header::SEC_WEBSOCKET_VERSION, "13")),
            NoSocket::Key | NoSocket::TooMany => None,
        }
    }
}

impl IntoResponse for NoSocket {
    fn into_response(self) -> Response {
        let code = match self {
            NoSocket::NotAsked | NoSocket::Version => ErrorCode::UpgradeRequired,
            NoSocket::Key => ErrorCode::InvalidRequest,
            NoSocket::TooMany => ErrorCode::Busy,
        };
        let body = Detail { detail: self.to_string(), code };
        let mut response = (ApiError::new(code, "").status(), Json(body)).into_response();
        if let Some((name, value)) = self.hint() {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// A request that may become a socket.
pub(crate) struct Upgrade {
    connection: OnUpgrade,
    peer: Option<Peer>,
    accept: String,
    place: OwnedSemaphorePermit,
    max_message: usize,
    max_sent: usize,
}

impl FromRequestParts<App> for Upgrade {
    type Rejection = NoSocket;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Upgrade, Self::Rejection> {
        let key = key(&parts.method, parts.version, &parts.headers)?;
        let accept = derive_accept_key(key.as_bytes());
        let connection = parts.extensions.remove::<OnUpgrade>().ok_or(NoSocket::NotAsked)?;
        let place = app.sockets.clone().try_acquire_owned().map_err(|_| NoSocket::TooMany)?;
        let peer = parts.extensions.remove::<Peer>();
        Ok(Upgrade { connection, peer, accept, place, max_message: MAX_MESSAGE, max_sent: MAX_SENT })
    }
}

/// The key of a handshake that is as it should be.
fn key(method: &Method, version: Version, headers: &HeaderMap) -> Result<String, NoSocket> {
    let text = |name: HeaderName| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("").trim();
    let says = |name: HeaderName, word: &str| {
        let values = headers.get_all(name);
        let all = values.iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(','));
        all.into_iter().any(|v| v.trim().eq_ignore_ascii_case(word))
    };
    let upgrade = says(header::CONNECTION, "upgrade") && says(header::UPGRADE, "websocket");
    if method != Method::GET || version != Version::HTTP_11 || !upgrade {
        return Err(NoSocket::NotAsked);
    }
    if text(header::SEC_WEBSOCKET_VERSION) != "13" {
        return Err(NoSocket::Version);
    }
    let key = text(header::SEC_WEBSOCKET_KEY);
    let is_key = key.len() == 24 && key.ends_with("==") && key[..22].bytes().all(is_base64);
    if is_key { Ok(key.to_owned()) } else { Err(NoSocket::Key) }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

impl Upgrade {
    /// Takes messages up to so many bytes.
    pub(crate) fn max_message(mut self, bytes: usize) -> Upgrade {
        self.max_message = bytes;
        self
    }

    /// Sends messages up to so many bytes.
    pub(crate) fn max_sent(mut self, bytes: usize) -> Upgrade {
        self.max_sent = bytes;
        self
    }

    /// Answers that the connection is a socket from now on, and runs what speaks over it.
    pub(crate) fn run<F, S>(self, app: &App, speak: F) -> Response
    where
        F: FnOnce(Socket) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let Upgrade { connection, peer, accept, place, max_message, max_sent } = self;
        let simulator = app.simulator.clone();
        tokio::spawn(async move {
            let _place = place;
            // A client that goes before the answer is nobody's loss.
            let Ok(connection) = connection.await else { return };
            let config = WebSocketConfig::default()
                .read_buffer_size(16 << 10)
                .write_buffer_size(0)
                .max_write_buffer_size(max_sent)
                .max_message_size(Some(max_message))
                .max_frame_size(Some(max_message));
            let io = TokioIo::new(connection);
            let stream = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
            speak(Socket::new(stream, peer, simulator)).await;
        });
        let headers = [
            (header::CONNECTION, "upgrade".to_owned()),
            (header::UPGRADE, "websocket".to_owned()),
            (header::SEC_WEBSOCKET_ACCEPT, accept),
        ];
        (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handshake(changes: &[(&'static str, &'static str)]) -> Result<String, NoSocket> {
        let mut headers = HeaderMap::new();
        let right = [
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        for (name, value) in right.iter().chain(changes) {
            headers.insert(*name, value.parse().expect("a value"));
        }
        key(&Method::GET, Version::HTTP_11, &headers)
    }

    #[test]
    fn a_handshake_is_checked() {
        let key = handshake(&[]).expect("a key");
        assert_eq!(derive_accept_key(key.as_bytes()), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(handshake(&[("connection", "close")]), Err(NoSocket::NotAsked));
        assert_eq!(handshake(&[("upgrade", "h2c")]), Err(NoSocket::NotAsked));
        assert_eq!(handshake(&[("sec-websocket-version", "8")]), Err(NoSocket::Version));
        for bad in ["", "short", "dGhlIHNhbXBsZSBub25jZQ=?", "dGhlIHNhb\u{e9}BsZSBub25jZQ=="] {
            assert_eq!(handshake(&[("sec-websocket-key", bad)]), Err(NoSocket::Key), "{bad}");
        }
    }
}
