//! Clients of the robot's own API: an HTTP client and a WebSocket client.

use super::{Simulator, is_code, json, number};
use chicane_testkit::http::{Client, Events, HttpResponse, RESPONSE_TIMEOUT};
use serde_json::Value;
use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpStream};
use tokio_tungstenite::tungstenite::client::{IntoClientRequest, client};
use tokio_tungstenite::tungstenite::handshake::HandshakeError;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket};

/// A JSON client of the robot's API. The paths of this API are at the root of the server. Every
/// response must have the header `x-sim-time`.
pub(crate) struct Robot(pub(crate) Client);

impl Simulator {
    /// A client of the robot's API with its own connection.
    pub(crate) fn robot(&self) -> Robot {
        Robot(self.client())
    }

    /// Opens an event stream of the robot's API.
    pub(crate) fn follow(&self, path: &str) -> Events {
        let events = Events::open(self.address, path, &[]);
        assert_eq!(events.head.status, 200, "{path}");
        assert_eq!(events.head.header("content-type"), Some("text/event-stream"), "{path}");
        assert!(events.head.header("x-sim-time").is_some(), "{path}");
        events
    }

    /// Opens a WebSocket.
    pub(crate) fn socket(&self, path: &str) -> Socket {
        let opened = Socket::try_open(self.address, path, &[]);
        opened.unwrap_or_else(|status| panic!("{path}: {status}"))
    }
}

impl Robot {
    /// Sends a GET request that must succeed, and returns the body.
    pub(crate) fn get(&mut self, path: &str) -> Value {
        self.get_at(path).0
    }

    /// Same as [`Robot::get`], but also returns the simulated time of the response.
    pub(crate) fn get_at(&mut self, path: &str) -> (Value, f64) {
        let answer = self.0.get(path);
        assert_eq!(answer.status, 200, "GET {path}: {}", answer.text());
        (json(&answer), time_of(&answer))
    }

    /// Sends a POST request that must succeed, and returns the body.
    pub(crate) fn post(&mut self, path: &str, body: Value) -> Value {
        self.post_at(path, body).0
    }

    /// Same as [`Robot::post`], but also returns the simulated time of the response.
    pub(crate) fn post_at(&mut self, path: &str, body: Value) -> (Value, f64) {
        let answer = self.0.post(path, &body.to_string());
        assert_eq!(answer.status, 200, "POST {path} {body}: {}", answer.text());
        let done = json(&answer);
        assert_eq!(done["success"], true, "POST {path} {body}: {done}");
        (done, time_of(&answer))
    }

    /// The current actuator command for `speed`, `steering`, `pan` or `tilt`.
    pub(crate) fn commanded(&mut self, axis: &str) -> f64 {
        number(&self.get("/states?include=")["cmd"][axis])
    }
}

fn time_of(answer: &HttpResponse) -> f64 {
    let text = answer.header("x-sim-time").unwrap_or_else(|| panic!("no time: {}", answer.text()));
    assert_eq!(text.split_once('.').map(|(_, decimals)| decimals.len()), Some(3), "{text}");
    text.parse().expect("a time")
}

/// Status and text of an error response of the robot's API.
pub(crate) fn detail(answer: &HttpResponse) -> (u16, String) {
    assert!(answer.status >= 400, "{} {}", answer.status, answer.text());
    let body = json(answer);
    let fields = body.as_object().map(serde_json::Map::len);
    assert!(fields == Some(2) && is_code(&body["code"]), "{body}");
    (answer.status, body["detail"].as_str().unwrap_or_else(|| panic!("a text, not {body}")).to_owned())
}

/// The client side of a WebSocket.
pub(crate) struct Socket(WebSocket<TcpStream>);

/// A message that was received on a WebSocket.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Received {
    /// A text frame, parsed as JSON.
    Text(Value),
    /// A binary frame.
    Binary(Vec<u8>),
    /// A close frame with this code.
    Close(u16),
    /// The connection has ended.
    End,
}

/// Opens sockets until the server refuses one, and returns the status of the refusal. The server may
/// close the first sockets meanwhile if the machine is busy, because they do not answer its pings.
pub(crate) fn status_when_full(sockets: &mut Vec<Socket>, open: impl Fn() -> Result<Socket, u16>) -> u16 {
    loop {
        assert!(sockets.len() < 2000, "the server does not limit the number of sockets");
        match open() {
            Ok(socket) => sockets.push(socket),
            Err(status) => return status,
        }
    }
}

impl Socket {
    /// Opens a WebSocket with additional headers, or returns the status of the refusal.
    pub(crate) fn try_open(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Result<Socket, u16> {
        let stream = TcpStream::connect_timeout(&address, RESPONSE_TIMEOUT).expect("a connection");
        stream.set_read_timeout(Some(RESPONSE_TIMEOUT)).expect("a time limit");
        stream.set_nodelay(true).expect("no delay");
        let mut request = format!("ws://{address}{path}").into_client_request().expect("a request");
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            request.headers_mut().insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        match client(request, stream) {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(HandshakeError::Failure(Error::Http(answer))) => Err(answer.status().as_u16()),
            Err(other) => panic!("{path}: {other}"),
        }
    }

    /// Sends a text frame.
    pub(crate) fn send(&mut self, text: impl ToString) {
        self.0.send(Message::text(text.to_string())).expect("it is sent");
    }

    /// Sends a binary frame.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        // The server may have closed the connection already, after an earlier invalid frame.
        let _ = self.0.send(Message::binary(bytes.to_vec()));
    }

    /// Sends raw bytes on the TCP connection, without a WebSocket frame around them.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).expect("they are sent");
    }

    /// Waits for the next message. Pings are answered and not returned.
    pub(crate) fn receive(&mut self) -> Received {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Received::Text(serde_json::from_str(&text).expect("JSON")),
                Ok(Message::Binary(bytes)) => return Received::Binary(bytes.to_vec()),
                Ok(Message::Close(frame)) => {
                    return Received::Close(frame.map_or(1005, |frame| frame.code.into()));
                }
                Ok(Message::Ping(_)) => self.0.flush().unwrap_or(()),
                Ok(_) => {}
                Err(Error::Io(e)) if matches!(e.kind(), std::io::ErrorKind::WouldBlock) => {
                    panic!("no message within {RESPONSE_TIMEOUT:?}")
                }
                Err(_) => return Received::End,
            }
        }
    }

    /// Closes the WebSocket with a handshake, and waits until the server has ended the connection.
    /// The server has then finished its cleanup for this client.
    pub(crate) fn close(mut self) {
        self.0.close(None).expect("a closed socket");
        while self.receive() != Received::End {}
    }

    /// Closes the connection without a close frame, and waits until the server has ended the
    /// connection too. The server has then finished its cleanup for this client.
    pub(crate) fn disconnect(mut self) {
        self.0.get_ref().shutdown(Shutdown::Write).expect("a closed write half");
        while self.receive() != Received::End {}
    }
}
