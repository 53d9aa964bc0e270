//! The upgrade of a request to a WebSocket: the handshake, and limits of message sizes.
//!
//! A handler extracts an [`Upgrade`], which has checked the handshake, and returns the response of
//! [`Upgrade::run`]. That method starts a task, which gets the [`Socket`].

use crate::error::ApiError;
use crate::listen::Peer;
use crate::state::App;
use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::response::{IntoResponse, Response};
use chicane_bridge::{Socket, SocketLimits, derive_accept_key};
use chicane_wire::{Detail, ErrorCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::sync::OwnedSemaphorePermit;

/// Largest received message in bytes, unless [`Upgrade::max_message`] sets another size.
const MAX_MESSAGE: usize = 64 << 10;
/// Size of the send buffer in bytes, unless [`Upgrade::max_sent`] sets another size.
const MAX_SENT: usize = 1 << 20;

/// Why a request can't be upgraded to a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UpgradeError {
    /// The request does not ask for an upgrade.
    #[error("this path is a WebSocket: send Connection: Upgrade and Upgrade: websocket")]
    NotRequested,
    /// The request asks for another version of the protocol.
    #[error("Sec-WebSocket-Version must be 13")]
    Version,
    /// The request has no valid key.
    #[error("Sec-WebSocket-Key must be 16 bytes in base64")]
    Key,
    /// Too many WebSockets are open.
    #[error("too many WebSockets are open; close some and try again")]
    TooMany,
}

impl UpgradeError {
    /// The response header that tells the client the supported protocol. `None` if the protocol is
    /// not the problem.
    fn hint(self) -> Option<(HeaderName, &'static str)> {
        match self {
            UpgradeError::NotRequested => Some((header::UPGRADE, "websocket")),
            UpgradeError::Version => Some((header::SEC_WEBSOCKET_VERSION, "13")),
            UpgradeError::Key | UpgradeError::TooMany => None,
        }
    }
}

impl IntoResponse for UpgradeError {
    fn into_response(self) -> Response {
        let code = match self {
            UpgradeError::NotRequested | UpgradeError::Version => ErrorCode::UpgradeRequired,
            UpgradeError::Key => ErrorCode::InvalidRequest,
            UpgradeError::TooMany => ErrorCode::Busy,
        };
        let body = Detail { detail: self.to_string(), code };
        let mut response = (ApiError::new(code, "").status(), Json(body)).into_response();
        if let Some((name, value)) = self.hint() {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// A request with a valid WebSocket handshake.
pub(crate) struct Upgrade {
    connection: OnUpgrade,
    peer: Option<Peer>,
    accept: String,
    permit: OwnedSemaphorePermit,
    max_message: usize,
    max_sent: usize,
    /// Value of `Sec-WebSocket-Protocol` in the response; `None` for a path without subprotocols.
    subprotocol: Option<&'static str>,
}

impl FromRequestParts<App> for Upgrade {
    type Rejection = UpgradeError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Upgrade, Self::Rejection> {
        let key = key(&parts.method, parts.version, &parts.headers)?;
        let accept = derive_accept_key(key.as_bytes());
        let connection = parts.extensions.remove::<OnUpgrade>().ok_or(UpgradeError::NotRequested)?;
        let permit = app.sockets.clone().try_acquire_owned().map_err(|_| UpgradeError::TooMany)?;
        let peer = parts.extensions.remove::<Peer>();
        let (max_message, max_sent) = (MAX_MESSAGE, MAX_SENT);
        Ok(Upgrade { connection, peer, accept, permit, max_message, max_sent, subprotocol: None })
    }
}

/// Checks the handshake, and returns its key.
fn key(method: &Method, version: Version, headers: &HeaderMap) -> Result<String, UpgradeError> {
    let text = |name: HeaderName| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("").trim();
    let lists = |name: HeaderName, word: &str| {
        let values = headers.get_all(name);
        let all = values.iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(','));
        all.into_iter().any(|v| v.trim().eq_ignore_ascii_case(word))
    };
    let upgrade = lists(header::CONNECTION, "upgrade") && lists(header::UPGRADE, "websocket");
    if method != Method::GET || version != Version::HTTP_11 || !upgrade {
        return Err(UpgradeError::NotRequested);
    }
    if text(header::SEC_WEBSOCKET_VERSION) != "13" {
        return Err(UpgradeError::Version);
    }
    let key = text(header::SEC_WEBSOCKET_KEY);
    let is_key = key.len() == 24 && key.ends_with("==") && key[..22].bytes().all(is_base64);
    if is_key { Ok(key.to_owned()) } else { Err(UpgradeError::Key) }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

impl Upgrade {
    /// Sets the size of the largest received message in bytes.
    pub(crate) fn max_message(mut self, bytes: usize) -> Upgrade {
        self.max_message = bytes;
        self
    }

    /// Sets the size of the send buffer in bytes. The buffer limits the largest sent message.
    pub(crate) fn max_sent(mut self, bytes: usize) -> Upgrade {
        self.max_sent = bytes;
        self
    }

    /// Sets the subprotocol that the server has chosen from the client's offer
    /// (`Sec-WebSocket-Protocol`).
    pub(crate) fn subprotocol(mut self, chosen: &'static str) -> Upgrade {
        self.subprotocol = Some(chosen);
        self
    }

    /// Returns the response that switches protocols, and runs `handle` with the socket in a new
    /// task.
    pub(crate) fn run<F, S>(self, app: &App, handle: F) -> Response
    where
        F: FnOnce(Socket) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let Upgrade { connection, peer, accept, permit, max_message, max_sent, subprotocol } = self;
        let simulator = app.simulator.clone();
        tokio::spawn(async move {
            let _permit = permit;
            // An error means that the client has disconnected before the response.
            let Ok(connection) = connection.await else { return };
            let connection = Box::new(TokioIo::new(connection));
            let peer = peer.map(|peer| Box::new(peer) as Box<dyn chicane_bridge::Peer>);
            let limits = SocketLimits { max_message, max_sent };
            handle(Socket::new(connection, peer, simulator, limits).await).await;
        });
        let headers = [
            (header::CONNECTION, "upgrade".to_owned()),
            (header::UPGRADE, "websocket".to_owned()),
            (header::SEC_WEBSOCKET_ACCEPT, accept),
        ];
        let subprotocol = subprotocol.map(|chosen| [(header::SEC_WEBSOCKET_PROTOCOL, chosen)]);
        (StatusCode::SWITCHING_PROTOCOLS, headers, subprotocol, ()).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handshake(changes: &[(&'static str, &'static str)]) -> Result<String, UpgradeError> {
        let mut headers = HeaderMap::new();
        let valid = [
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        for (name, value) in valid.iter().chain(changes) {
            headers.insert(*name, value.parse().expect("a value"));
        }
        key(&Method::GET, Version::HTTP_11, &headers)
    }

    #[test]
    fn invalid_handshakes_are_refused() {
        let key = handshake(&[]).expect("a key");
        assert_eq!(derive_accept_key(key.as_bytes()), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(handshake(&[("connection", "close")]), Err(UpgradeError::NotRequested));
        assert_eq!(handshake(&[("upgrade", "h2c")]), Err(UpgradeError::NotRequested));
        assert_eq!(handshake(&[("sec-websocket-version", "8")]), Err(UpgradeError::Version));
        for bad in ["", "short", "dGhlIHNhbXBsZSBub25jZQ=?", "dGhlIHNhb\u{e9}BsZSBub25jZQ=="] {
            assert_eq!(handshake(&[("sec-websocket-key", bad)]), Err(UpgradeError::Key), "{bad}");
        }
    }
}
