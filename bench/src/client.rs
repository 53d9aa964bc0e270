//! A client that costs little: prepared bytes out, one answer in, over a connection that is kept.

use crate::Broken;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A request without a body; the path is one below `/sim/api`.
pub fn get(path: &str) -> Vec<u8> {
    format!("GET /sim/api{path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

/// A request to delete something.
pub fn delete(path: &str) -> Vec<u8> {
    format!("DELETE /sim/api{path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

/// A request with a body of JSON.
pub fn post(path: &str, body: &str) -> Vec<u8> {
    post_accepting("application/json", path, body)
}

/// The same, with the type that the answer is to have.
pub fn post_accepting(accept: &str, path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /sim/api{path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// One connection.
pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    /// Opens one.
    pub async fn connect(address: SocketAddr) -> Result<Client, Broken> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, buffer: Vec::with_capacity(64 << 10) })
    }

    /// Sends a request and gives the body of its answer, which must be 200.
    pub async fn ask(&mut self, request: &[u8]) -> Result<&[u8], Broken> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = loop {
            self.read().await?;
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
        };
        let length = content_length(&self.buffer[..head]).ok_or("an answer without a length")?;
        while self.buffer.len() < head + length {
            self.read().await?;
        }
        if !self.buffer.starts_with(b"HTTP/1.1 200 ") || self.buffer.len() > head + length {
            return Err(format!("unexpected answer: {}", String::from_utf8_lossy(&self.buffer)).into());
        }
        Ok(&self.buffer[head..])
    }

    /// How long a request takes, with its answer.
    pub async fn timed(&mut self, request: &[u8]) -> Result<Duration, Broken> {
        let sent = Instant::now();
        self.ask(request).await?;
        Ok(sent.elapsed())
    }

    async fn read(&mut self) -> Result<(), Broken> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err("the server closed a connection".into()),
            _ => Ok(()),
        }
    }
}

fn content_length(head: &[u8]) -> Option<usize> {
    let name = b"content-length: ";
    let value = &head[find(head, name)? + name.len()..];
    Some(number(value)? as usize)
}

/// The whole number that bytes begin with.
pub fn number(bytes: &[u8]) -> Option<u64> {
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()
}

/// Where a few bytes occur first.
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
