//! A small blocking HTTP/1.1 client for tests. Every wait has a timeout. Tests can also send any
//! bytes, so that a request can be malformed.
#![allow(clippy::disallowed_types)]

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Timeout for a response. A test fails when a response takes longer.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);

/// An HTTP response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// Status code.
    pub status: u16,
    /// Header names in lower case with their values, in the order of the response.
    pub headers: Vec<(String, String)>,
    /// The complete body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// The value of the first header with this name; `None` if there is no such header. `name` must
    /// be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The body as text; invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A client with one connection. After an error, or a response with `connection: close`, the next
/// request opens a new connection.
pub struct Client {
    address: SocketAddr,
    host: String,
    headers: Vec<(String, String)>,
    connection: Option<Connection>,
}

impl Client {
    /// A client for the server at this address.
    pub fn new(address: SocketAddr) -> Client {
        Client { address, host: address.to_string(), headers: Vec::new(), connection: None }
    }

    /// Replaces the `host` header.
    pub fn with_host(mut self, host: impl Into<String>) -> Client {
        self.host = host.into();
        self
    }

    /// Adds a header to every request.
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Client {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends a GET request.
    pub fn get(&mut self, path: &str) -> HttpResponse {
        self.request("GET", path, &[], b"")
    }

    /// Sends a POST request with a JSON body.
    pub fn post(&mut self, path: &str, body: &str) -> HttpResponse {
        self.request("POST", path, &[("content-type", "application/json")], body.as_bytes())
    }

    /// Sends a DELETE request.
    pub fn delete(&mut self, path: &str) -> HttpResponse {
        self.request("DELETE", path, &[], b"")
    }

    /// Sends a request and waits for the response. Panics on a connection error or a timeout.
    pub fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> HttpResponse {
        let answer = self.try_request(method, path, headers, body);
        answer.unwrap_or_else(|why| panic!("{method} {path}: {why}"))
    }

    /// Sends a request and waits for the response. Returns an error if the connection fails, or if
    /// the response is late, incomplete or malformed.
    pub fn try_request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<HttpResponse, String> {
        self.try_send(method, path, headers, body)?;
        let connection = self.connection.as_mut().ok_or("no connection")?;
        let answer = connection.answer(method == "HEAD");
        if answer.as_ref().is_ok_and(|a| a.header("connection") == Some("close")) || answer.is_err() {
            self.connection = None;
        }
        answer
    }

    /// Sends a request without waiting for the response. If the client is dropped next, the
    /// connection closes before the response is read.
    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        self.try_send(method, path, headers, body).unwrap_or_else(|why| panic!("{method} {path}: {why}"));
    }

    /// Waits for the response to a request that [`Client::send`] has sent.
    pub fn answer(&mut self) -> HttpResponse {
        let connection = self.connection.as_mut().unwrap_or_else(|| panic!("no request was sent"));
        connection.answer(false).unwrap_or_else(|why| panic!("{why}"))
    }

    fn try_send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<(), String> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.host);
        let own = self.headers.iter().map(|(n, v)| (n.as_str(), v.as_str()));
        for (name, value) in own.chain(headers.iter().copied()) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() || method == "POST" {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        let bytes = [head.as_bytes(), b"\r\n", body].concat();
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::try_open(self.address)?,
        };
        connection.stream.write_all(&bytes).map_err(|e| format!("the request cannot be sent: {e}"))?;
        self.connection = Some(connection);
        Ok(())
    }
}

/// Sends exactly these bytes over a new connection and reads one response.
pub fn raw(address: SocketAddr, bytes: &[u8]) -> HttpResponse {
    let mut connection = Connection::open(address);
    // A write error is ignored, because the server may reject a request and close the connection
    // before it has read all bytes. The test checks the response.
    let _ = connection.stream.write_all(bytes);
    connection.answer(false).unwrap_or_else(|why| panic!("{}: {why}", String::from_utf8_lossy(first(bytes))))
}

/// Sends exactly these bytes and reads until `enough` returns true for the received text, or the
/// server closes the connection.
pub fn raw_until(address: SocketAddr, bytes: &[u8], enough: impl Fn(&str) -> bool) -> String {
    let mut connection = Connection::open(address);
    let _ = connection.stream.write_all(bytes);
    let deadline = Instant::now() + RESPONSE_TIMEOUT;
    loop {
        let text = String::from_utf8_lossy(&connection.bytes).into_owned();
        if enough(&text) {
            return text;
        }
        match connection.more(deadline) {
            Ok(true) => {}
            Ok(false) => return text,
            Err(e) => panic!("{e}, after {:?}", connection.text()),
        }
    }
}

/// Sends exactly these bytes and reads until the server closes the connection or sends nothing for
/// `quiet`.
pub fn raw_until_quiet(address: SocketAddr, bytes: &[u8], quiet: Duration) -> Vec<u8> {
    let mut connection = Connection::open(address);
    let _ = connection.stream.write_all(bytes);
    while let Ok(true) = connection.more(Instant::now() + quiet) {}
    connection.bytes
}

/// The first 200 bytes, for error messages.
fn first(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(200)]
}

/// A connection, and the received bytes that are not parsed yet.
struct Connection {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Connection {
    fn open(address: SocketAddr) -> Connection {
        Connection::try_open(address).unwrap_or_else(|why| panic!("{why}"))
    }

    fn try_open(address: SocketAddr) -> Result<Connection, String> {
        let failed = |e: std::io::Error| format!("{address}: {e}");
        let stream = TcpStream::connect_timeout(&address, RESPONSE_TIMEOUT).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_write_timeout(Some(RESPONSE_TIMEOUT)).map_err(failed)?;
        Ok(Connection { stream, bytes: Vec::new() })
    }

    /// Reads more bytes into the buffer. Returns false at the end of the stream, and an error of
    /// kind `TimedOut` at the deadline.
    fn more(&mut self, deadline: Instant) -> std::io::Result<bool> {
        let mut buffer = [0; 16 << 10];
        loop {
            let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_micros(1));
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(n) => {
                    self.bytes.extend_from_slice(&buffer[..n]);
                    return Ok(true);
                }
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(ErrorKind::TimedOut.into());
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::ConnectionReset => return Ok(false),
                Err(e) => return Err(e),
            }
        }
    }

    /// Reads more bytes. The end of the stream is an error.
    fn need(&mut self, deadline: Instant) -> Result<(), String> {
        match self.more(deadline) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("the server closed the connection after {:?}", self.text())),
            Err(e) => Err(format!("incomplete response: {e}, after {:?}", self.text())),
        }
    }

    /// The first received bytes as text, for error messages.
    fn text(&self) -> String {
        String::from_utf8_lossy(first(&self.bytes)).into_owned()
    }

    /// Takes `n` bytes out of the buffer.
    fn take(&mut self, n: usize, deadline: Instant) -> Result<Vec<u8>, String> {
        while self.bytes.len() < n {
            self.need(deadline)?;
        }
        Ok(self.bytes.drain(..n).collect())
    }

    /// Takes a line out of the buffer. Returns the line without its CRLF.
    fn take_line(&mut self, deadline: Instant) -> Result<String, String> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|w| w == b"\r\n") {
                let line: Vec<u8> = self.bytes.drain(..end + 2).collect();
                return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            self.need(deadline)?;
        }
    }

    /// Reads the status line and the headers. The body of the returned response is empty.
    fn head(&mut self, deadline: Instant) -> Result<HttpResponse, String> {
        let line = self.take_line(deadline)?;
        let code = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|c| c.parse().ok());
        let status = code.ok_or_else(|| format!("not a status line: {line:?}"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.take_line(deadline)?;
            if line.is_empty() {
                return Ok(HttpResponse { status, headers, body: Vec::new() });
            }
            let (name, value) = line.split_once(':').ok_or_else(|| format!("not a header: {line:?}"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// Reads a response. `without_body` is true for responses to HEAD requests.
    fn answer(&mut self, without_body: bool) -> Result<HttpResponse, String> {
        let deadline = Instant::now() + RESPONSE_TIMEOUT;
        let mut answer = self.head(deadline)?;
        if without_body || matches!(answer.status, 204 | 304) {
            return Ok(answer);
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let line = self.take_line(deadline)?;
                let size = usize::from_str_radix(&line, 16).map_err(|e| format!("chunk {line:?}: {e}"))?;
                answer.body.extend(self.take(size, deadline)?);
                self.take(2, deadline)?;
                if size == 0 {
                    return Ok(answer);
                }
            }
        }
        let length = answer.header("content-length").and_then(|v| v.parse().ok());
        answer.body = self.take(length.ok_or("a response without content-length")?, deadline)?;
        Ok(answer)
    }
}

/// A server-sent event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Id of the event; empty for an event without an id.
    pub id: String,
    /// Name of the event; `message` for an event without a name.
    pub event: String,
    /// Data of the event; several lines are joined by line feeds.
    pub data: String,
}

/// The result of waiting for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventWait {
    /// An event arrived.
    Event(SseEvent),
    /// No event arrived before the timeout.
    TimedOut,
    /// The stream has ended.
    End,
}

/// A stream of server-sent events. The iterator ends when the server ends the stream. The iterator
/// panics if no event arrives before the timeout.
pub struct Events {
    /// Status and headers of the response.
    pub head: HttpResponse,
    connection: Connection,
    /// Decoded bytes of the body that are not parsed yet.
    text: Vec<u8>,
    /// Whether the stream has ended.
    over: bool,
    /// Timeout for each event that the iterator waits for.
    within: Duration,
}

impl Events {
    /// Opens a stream with a GET request.
    pub fn open(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Events {
        let mut client = Client::new(address);
        let headers = [&[("accept", "text/event-stream")], headers].concat();
        client.send("GET", path, &headers, b"");
        let mut connection = client.connection.take().expect("a connection");
        let head =
            connection.head(Instant::now() + RESPONSE_TIMEOUT).unwrap_or_else(|why| panic!("{path}: {why}"));
        assert_eq!(head.header("transfer-encoding"), Some("chunked"), "{head:?}");
        Events { head, connection, text: Vec::new(), over: false, within: RESPONSE_TIMEOUT }
    }

    /// Sets the timeout for each event that the iterator waits for.
    pub fn within(mut self, within: Duration) -> Events {
        self.within = within;
        self
    }

    /// Waits for the next event, for at most `within`.
    pub fn hear(&mut self, within: Duration) -> EventWait {
        let deadline = Instant::now() + within;
        loop {
            self.unpack();
            if let Some(event) = self.ready() {
                return EventWait::Event(event);
            }
            if self.over {
                return EventWait::End;
            }
            match self.connection.more(deadline) {
                Ok(true) => {}
                Ok(false) => self.over = true,
                Err(e) if e.kind() == ErrorKind::TimedOut => return EventWait::TimedOut,
                Err(_) => self.over = true,
            }
        }
    }

    /// Waits for the next event with this name. Other events are skipped.
    pub fn next_of(&mut self, name: &str) -> SseEvent {
        let found = self.find(|event| event.event == name);
        found.unwrap_or_else(|| panic!("the stream ended without an event \"{name}\""))
    }

    /// Moves the content of complete HTTP chunks from the connection's buffer to `text`.
    fn unpack(&mut self) {
        let bytes = &mut self.connection.bytes;
        while let Some(end) = bytes.windows(2).position(|w| w == b"\r\n") {
            let size =
                std::str::from_utf8(&bytes[..end]).ok().and_then(|s| usize::from_str_radix(s, 16).ok());
            let size = size
                .unwrap_or_else(|| panic!("not a chunk size: {:?}", String::from_utf8_lossy(first(bytes))));
            if bytes.len() < end + 2 + size + 2 {
                return;
            }
            self.text.extend_from_slice(&bytes[end + 2..end + 2 + size]);
            bytes.drain(..end + 2 + size + 2);
            if size == 0 {
                self.over = true;
                return;
            }
        }
    }

    /// Takes the next complete event out of `text`. Returns `None` if no complete event has arrived
    /// yet. Comments are skipped.
    fn ready(&mut self) -> Option<SseEvent> {
        loop {
            let end = self.text.windows(2).position(|w| w == b"\n\n")?;
            let block: Vec<u8> = self.text.drain(..end + 2).collect();
            let block = String::from_utf8(block).expect("text");
            let field = |name: &str| -> Option<String> {
                let values: Vec<&str> = block.lines().filter_map(|l| l.strip_prefix(name)).collect();
                (!values.is_empty()).then(|| values.join("\n"))
            };
            if let Some(data) = field("data: ") {
                let event = field("event: ").unwrap_or_else(|| "message".to_owned());
                return Some(SseEvent { id: field("id: ").unwrap_or_default(), event, data });
            }
        }
    }
}

impl Iterator for Events {
    type Item = SseEvent;

    fn next(&mut self) -> Option<SseEvent> {
        match self.hear(self.within) {
            EventWait::Event(event) => Some(event),
            EventWait::End => None,
            EventWait::TimedOut => panic!("no event arrived within {:?}", self.within),
        }
    }
}
