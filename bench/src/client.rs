//! An HTTP client with little overhead. The client sends prepared bytes and reads one response at a
//! time over a persistent connection.

use crate::BenchError;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A GET request; `path` is relative to `/sim/api`.
pub fn get(path: &str) -> Vec<u8> {
    format!("GET /sim/api{path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

/// A DELETE request.
pub fn delete(path: &str) -> Vec<u8> {
    format!("DELETE /sim/api{path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

/// A POST request with a JSON body.
pub fn post(path: &str, body: &str) -> Vec<u8> {
    post_accepting("application/json", path, body)
}

/// A POST request with a JSON body and this `Accept` header.
pub fn post_accepting(accept: &str, path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /sim/api{path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A client with one connection.
pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    /// Connects to a server.
    pub async fn connect(address: SocketAddr) -> Result<Client, BenchError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, buffer: Vec::with_capacity(64 << 10) })
    }

    /// Sends a request and returns the body of the response. A status other than 200 is an error.
    pub async fn ask(&mut self, request: &[u8]) -> Result<&[u8], BenchError> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            self.read().await?;
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
        };
        let length = content_length(&self.buffer[..head]).ok_or("a response without content-length")?;
        while self.buffer.len() < head + length {
            self.read().await?;
        }
        if !self.buffer.starts_with(b"HTTP/1.1 200 ") || self.buffer.len() > head + length {
            return Err(format!("unexpected response: {}", String::from_utf8_lossy(&self.buffer)).into());
        }
        Ok(&self.buffer[head..])
    }

    /// Sends a request and returns the time until its response was complete.
    pub async fn timed(&mut self, request: &[u8]) -> Result<Duration, BenchError> {
        let sent = Instant::now();
        self.ask(request).await?;
        Ok(sent.elapsed())
    }

    async fn read(&mut self) -> Result<(), BenchError> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err("the server closed the connection".into()),
            _ => Ok(()),
        }
    }
}

fn content_length(head: &[u8]) -> Option<usize> {
    let name = b"content-length: ";
    let value = &head[find(head, name)? + name.len()..];
    Some(number(value)? as usize)
}

/// Parses the decimal number at the start of `bytes`. Returns `None` if there is no number.
pub fn number(bytes: &[u8]) -> Option<u64> {
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()
}

/// The position of the first occurrence of `wanted` in `bytes`, or `None` if there is no
/// occurrence.
pub fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted.first()?;
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|b| b == first) {
        if bytes[from + at..].starts_with(wanted) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}
