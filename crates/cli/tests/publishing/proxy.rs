//! An HTTP proxy in front of a server. Tests use the proxy to drop requests and responses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// A complete request that the proxy received.
pub(crate) struct ProxiedRequest {
    /// The request line.
    pub(crate) line: String,
    pub(crate) body: Vec<u8>,
    head: String,
    to: SocketAddr,
}

impl ProxiedRequest {
    fn read(near: &TcpStream, to: SocketAddr) -> Option<ProxiedRequest> {
        let mut from = BufReader::new(near);
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let start = head.len();
            from.read_line(&mut head).ok().filter(|n| *n > 0)?;
            let line = head[start..].to_ascii_lowercase();
            length = line.strip_prefix("content-length:").map_or(length, |n| n.trim().parse().unwrap_or(0));
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).ok()?;
        Some(ProxiedRequest { line: head.lines().next()?.to_owned(), body, head, to })
    }

    /// Forwards the request and returns the response, or `None` if the connection to the server
    /// fails.
    pub(crate) fn forward(&self) -> Option<Vec<u8>> {
        let mut far = TcpStream::connect(self.to).ok()?;
        far.write_all(&[self.head.as_bytes(), &self.body].concat()).ok()?;
        let mut answer = Vec::new();
        far.read_to_end(&mut answer).ok()?;
        Some(answer)
    }
}

/// Starts a proxy and returns its URL. `pass` returns the response to a request, or `None` to close
/// the connection without a response. The server must close the connection after every response.
pub(crate) fn open_proxy(
    to: SocketAddr,
    pass: impl Fn(&ProxiedRequest) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let pass = Arc::new(pass);
    std::thread::spawn(move || {
        for mut near in listener.incoming().flatten() {
            let pass = Arc::clone(&pass);
            std::thread::spawn(move || {
                let asked = ProxiedRequest::read(&near, to)?;
                if let Some(answer) = pass(&asked) {
                    near.write_all(&answer).ok()?;
                }
                near.shutdown(Shutdown::Both).ok()
            });
        }
    });
    url
}
