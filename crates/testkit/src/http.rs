//! A small blocking HTTP/1.1 client for tests: it waits for nothing without a limit, and it can send
//! exactly the bytes that it is given.
#![allow(clippy::disallowed_types)]

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// No answer takes longer than this, or the test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Names in lower case, and values, in their order.
    pub headers: Vec<(String, String)>,
    /// The body, whole.
    pub body: Vec<u8>,
}

impl Answer {
    /// The first header of a name, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Speaks to a server over one connection, which it opens anew when the server has closed it.
pub struct Client {
    address: SocketAddr,
    host: String,
    headers: Vec<(String, String)>,
    line: Option<Line>,
}

impl Client {
    /// A client of a server on this machine.
    pub fn new(address: SocketAddr) -> Client {
        Client { address, host: address.to_string(), headers: Vec::new(), line: None }
    }

    /// Says another `Host`.
    pub fn with_host(mut self, host: impl Into<String>) -> Client {
        self.host = host.into();
        self
    }

    /// Sends a header with every request.
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Client {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Where the server is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reads a path.
    pub fn get(&mut self, path: &str) -> Answer {
        self.request("GET", path, &[], b"")
    }

    /// Sends a JSON body.
    pub fn post(&mut self, path: &str, body: &str) -> Answer {
        self.request("POST", path, &[("content-type", "application/json")], body.as_bytes())
    }

    /// Deletes a path.
    pub fn delete(&mut self, path: &str) -> Answer {
        self.request("DELETE", path, &[], b"")
    }

    /// Any request.
    pub fn request(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let answer = self.try_request(method, path, headers, body);
        answer.unwrap_or_else(|why| panic!("{method} {path}: {why}"))
    }

    /// Any request to a server that may be gone.
    pub fn try_request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, String> {
        self.try_send(method, path, headers, body)?;
        let line = self.line.as_mut().ok_or("no connection")?;
        let answer = line.answer(method == "HEAD");
        if answer.as_ref().is_ok_and(|a| a.header("connection") == Some("close")) || answer.is_err() {
            self.line = None;
        }
        answer
    }

    /// Sends a request and does not wait for its answer. Dropping the client hangs up.
    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        self.try_send(method, path, headers, body).unwrap_or_else(|why| panic!("{method} {path}: {why}"));
    }

    /// Waits for the answer to what was sent.
    pub fn answer(&mut self) -> Answer {
        let line = self.line.as_mut().unwrap_or_else(|| panic!("nothing was sent"));
        line.answer(false).unwrap_or_else(|why| panic!("{why}"))
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
        let mut line = match self.line.take() {
            Some(line) => line,
            None => Line::try_open(self.address)?,
        };
        line.stream.write_all(&bytes).map_err(|e| format!("it can't be sent: {e}"))?;
        self.line = Some(line);
        Ok(())
    }
}

/// Sends exactly these bytes over a connection of its own and reads one answer.
pub fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut line = Line::open(address);
    // A server that has seen enough may hang up before all is sent; its answer counts.
    let _ = line.stream.write_all(bytes);
    line.answer(false).unwrap_or_else(|why| panic!("{}: {why}", String::from_utf8_lossy(first(bytes))))
}

/// Sends exactly these bytes and reads until there is enough, or the server hangs up.
pub fn raw_until(address: SocketAddr, bytes: &[u8], enough: impl Fn(&str) -> bool) -> String {
    let mut line = Line::open(address);
    let _ = line.stream.write_all(bytes);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = String::from_utf8_lossy(&line.bytes).into_owned();
        if enough(&text) {
            return text;
        }
        match line.more(deadline) {
            Ok(true) => {}
            Ok(false) => return text,
            Err(e) => panic!("{e}, after {:?}", line.text()),
        }
    }
}

/// Sends exactly these bytes and reads until the server hangs up, or says nothing for a while.
pub fn raw_until_quiet(address: SocketAddr, bytes: &[u8], quiet: Duration) -> Vec<u8> {
    let mut line = Line::open(address);
    let _ = line.stream.write_all(bytes);
    while let Ok(true) = line.more(Instant::now() + quiet) {}
    line.bytes
}

fn first(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(200)]
}

/// A connection, and what came over it and was not taken yet.
struct Line {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Line {
    fn open(address: SocketAddr) -> Line {
        Line::try_open(address).unwrap_or_else(|why| panic!("{why}"))
    }

    fn try_open(address: SocketAddr) -> Result<Line, String> {
        let failed = |e: std::io::Error| format!("{address}: {e}");
        let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        Ok(Line { stream, bytes: Vec::new() })
    }

    /// Reads some more; false at the end of the stream. An error of kind `TimedOut` at the deadline.
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

    fn need(&mut self, deadline: Instant) -> Result<(), String> {
        match self.more(deadline) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("the server hung up after {:?}", self.text())),
            Err(e) => Err(format!("no whole answer: {e}, after {:?}", self.text())),
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(first(&self.bytes)).into_owned()
    }

    fn take(&mut self, n: usize, deadline: Instant) -> Result<Vec<u8>, String> {
        while self.bytes.len() < n {
            self.need(deadline)?;
        }
        Ok(self.bytes.drain(..n).collect())
    }

    fn take_line(&mut self, deadline: Instant) -> Result<String, String> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|w| w == b"\r\n") {
                let line: Vec<u8> = self.bytes.drain(..end + 2).collect();
                return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            self.need(deadline)?;
        }
    }

    /// Status and headers.
    fn head(&mut self, deadline: Instant) -> Result<Answer, String> {
        let line = self.take_line(deadline)?;
        let code = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|c| c.parse().ok());
        let status = code.ok_or_else(|| format!("this is no answer: {line:?}"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.take_line(deadline)?;
            if line.is_empty() {
                return Ok(Answer { status, headers, body: Vec::new() });
            }
            let (name, value) = line.split_once(':').ok_or_else(|| format!("no header: {line:?}"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    fn answer(&mut self, without_body: bool) -> Result<Answer, String> {
        let deadline = Instant::now() + PATIENCE;
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
        answer.body = self.take(length.ok_or("an answer without a length")?, deadline)?;
        Ok(answer)
    }
}

/// A server-sent event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its id, as text.
    pub id: String,
    /// Its name; `message` if it has none.
    pub event: String,
    /// Its data.
    pub data: String,
}

/// What came of waiting for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// An event.
    Event(Event),
    /// Nothing within the time.
    Silence,
    /// The stream is over.
    End,
}

/// A stream of server-sent events. An iterator that ends with the stream, and fails the test when
/// nothing comes within the time given.
pub struct Events {
    /// Status and headers of the answer.
    pub head: Answer,
    line: Line,
    text: Vec<u8>,
    over: bool,
    within: Duration,
}

impl Events {
    /// Opens a stream.
    pub fn open(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Events {
        let mut client = Client::new(address);
        let headers = [&[("accept", "text/event-stream")], headers].concat();
        client.send("GET", path, &headers, b"");
        let mut line = client.line.take().expect("a connection");
        let head = line.head(Instant::now() + PATIENCE).unwrap_or_else(|why| panic!("{path}: {why}"));
        assert_eq!(head.header("transfer-encoding"), Some("chunked"), "{head:?}");
        Events { head, line, text: Vec::new(), over: false, within: PATIENCE }
    }

    /// How long the iterator waits for each event.
    pub fn within(mut self, within: Duration) -> Events {
        self.within = within;
        self
    }

    /// Waits for an event.
    pub fn hear(&mut self, within: Duration) -> Heard {
        let deadline = Instant::now() + within;
        loop {
            self.unpack();
            if let Some(event) = self.ready() {
                return Heard::Event(event);
            }
            if self.over {
                return Heard::End;
            }
            match self.line.more(deadline) {
                Ok(true) => {}
                Ok(false) => self.over = true,
                Err(e) if e.kind() == ErrorKind::TimedOut => return Heard::Silence,
                Err(_) => self.over = true,
            }
        }
    }

    /// The next event of a name; others are skipped.
    pub fn next_of(&mut self, name: &str) -> Event {
        let found = self.find(|event| event.event == name);
        found.unwrap_or_else(|| panic!("the stream ended before an event {name}"))
    }

    /// Takes whole chunks out of what came.
    fn unpack(&mut self) {
        let bytes = &mut self.line.bytes;
        while let Some(end) = bytes.windows(2).position(|w| w == b"\r\n") {
            let size =
                std::str::from_utf8(&bytes[..end]).ok().and_then(|s| usize::from_str_radix(s, 16).ok());
            let size =
                size.unwrap_or_else(|| panic!("no chunk: {:?}", String::from_utf8_lossy(first(bytes))));
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

    /// An event that came whole. Comments are skipped.
    fn ready(&mut self) -> Option<Event> {
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
                return Some(Event { id: field("id: ").unwrap_or_default(), event, data });
            }
        }
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        match self.hear(self.within) {
            Heard::Event(event) => Some(event),
            Heard::End => None,
            Heard::Silence => panic!("no event came within {:?}", self.within),
        }
    }
}
