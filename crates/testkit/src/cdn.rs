//! Published worlds for tests, and a web server that serves them correctly or with faults.
#![allow(clippy::disallowed_types)]

use crate::shipped_bundle;
use chicane_store::{Access, Cdn, IdPlaceholder, Label, Need, Package};
use chicane_wire::WorldId;
use chicane_world::MemoryBundle;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Packs the files of a shipped world.
pub fn packed(name: &str, access: Access) -> Package {
    packed_bundle(&shipped_bundle(name), &format!("The {name}"), access)
}

/// Packs a bundle as a world with this display name.
pub fn packed_bundle(bundle: &MemoryBundle, name: &str, access: Access) -> Package {
    let label = Label { name: name.to_owned(), access };
    let stand = IdPlaceholder::new().expect("random numbers");
    Package::new(bundle, &stand, &label, Need::Track).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Publishes a package into a folder.
pub fn publish(package: &Package, folder: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let cdn = Cdn::folder(folder).expect("a folder");
    runtime.block_on(cdn.publish(package, |_| ())).unwrap_or_else(|e| panic!("{e}"));
}

/// Publishes a shipped world into a folder.
pub fn publish_shipped(name: &str, folder: &Path) -> WorldId {
    let package = packed(name, Access::Public);
    publish(&package, folder);
    package.id
}

/// A request that the server received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// Path, with the leading slash.
    pub path: String,
    /// First byte of the requested range; `None` for a request of the whole file.
    pub from: Option<u64>,
    /// Bearer token of the request; `None` for a request without a token.
    pub token: Option<String>,
}

/// The response of the server, or the fault that the server simulates.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A correct response with these bytes. If the request has a range, the server sends only the
    /// bytes from the start of the range to the end of the file.
    File(Vec<u8>),
    /// A status with an empty body.
    Status(u16),
    /// A redirect to this URL.
    Redirect(String),
    /// The server announces this `content-length`, which is larger than the number of bytes. It
    /// sends the bytes and closes the connection.
    Short(Vec<u8>, usize),
    /// An endless body.
    Endless,
    /// The server sends one byte at a time, with a pause after each byte.
    Drip(Duration),
    /// The server sends exactly these bytes. It adds no status line and no headers.
    Raw(Vec<u8>),
    /// The server sends no response, and waits until the client closes the connection.
    Silence,
}

/// Computes the response to a request.
type Handler = dyn Fn(&ReceivedRequest) -> Reply + Send + Sync;

/// A web server for one test, on loopback, with one thread per connection.
pub struct WebServer {
    /// Address that the server listens on.
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
    over: Arc<AtomicBool>,
}

impl WebServer {
    /// Starts a server that responds to each request with `answer`.
    pub fn start(answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> WebServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (asked, over) = (Arc::<Mutex<Vec<ReceivedRequest>>>::default(), Arc::<AtomicBool>::default());
        let answer: Arc<Handler> = Arc::new(answer);
        let (own, ended) = (Arc::clone(&asked), Arc::clone(&over));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let (answer, asked, ended) = (Arc::clone(&answer), Arc::clone(&own), Arc::clone(&ended));
                std::thread::spawn(move || serve(stream, &*answer, &asked, &ended));
            }
        });
        WebServer { address, asked, over }
    }

    /// Starts a server for the files of a folder.
    pub fn of(folder: &Path) -> WebServer {
        let folder = folder.to_owned();
        WebServer::start(move |asked| file_response(&folder, asked))
    }

    /// URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests since the start or since [`WebServer::forget`], in the order of arrival.
    pub fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().expect("a list").clone()
    }

    /// Clears the list of requests.
    pub fn forget(&self) {
        self.asked.lock().expect("a list").clear();
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // The listening thread waits for a connection. This connection wakes the thread, which then
        // sees `over` and ends.
        let _ = TcpStream::connect(self.address);
    }
}

/// The correct response to a request for a file of a folder: the file, or status 404.
pub fn file_response(folder: &Path, asked: &ReceivedRequest) -> Reply {
    match std::fs::read(file(folder, asked)) {
        Ok(bytes) => Reply::File(bytes),
        Err(_) => Reply::Status(404),
    }
}

fn file(folder: &Path, asked: &ReceivedRequest) -> PathBuf {
    folder.join(asked.path.trim_start_matches('/'))
}

/// Serves one connection until it closes.
fn serve(stream: TcpStream, answer: &Handler, asked: &Mutex<Vec<ReceivedRequest>>, over: &AtomicBool) {
    let _ = stream.set_nodelay(true);
    let Ok(mut to) = stream.try_clone() else { return };
    let mut from = BufReader::new(stream);
    while let Some(request) = read_head(&mut from) {
        asked.lock().expect("a list").push(request.clone());
        let keep = send(&mut to, answer(&request), &request, over);
        if !matches!(keep, Ok(true)) {
            // `shutdown` closes the connection at once, even while `from` still holds the stream.
            let _ = to.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

/// Reads the request line and the headers of a request. Returns `None` if the client has closed the
/// connection or if the request is malformed.
fn read_head(from: &mut impl BufRead) -> Option<ReceivedRequest> {
    let mut line = String::new();
    from.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut asked = ReceivedRequest { path, from: None, token: None };
    loop {
        let mut line = String::new();
        from.read_line(&mut line).ok().filter(|n| *n > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Some(asked) };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "range" => asked.from = value.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok(),
            "authorization" => asked.token = value.strip_prefix("Bearer ").map(str::to_owned),
            _ => {}
        }
    }
}

/// Sends a response. Returns whether the connection can be used for another request.
fn send(
    to: &mut TcpStream,
    reply: Reply,
    asked: &ReceivedRequest,
    over: &AtomicBool,
) -> std::io::Result<bool> {
    match reply {
        Reply::File(bytes) => {
            let head = match asked.from {
                Some(from) if from < bytes.len() as u64 => {
                    let (last, all) = (bytes.len() - 1, bytes.len());
                    let rest = all as u64 - from;
                    format!(
                        "206 Partial Content\r\ncontent-range: bytes {from}-{last}/{all}\r\ncontent-length: {rest}"
                    )
                }
                Some(_) => "416 Range Not Satisfiable\r\ncontent-length: 0".to_owned(),
                None => format!("200 OK\r\ncontent-length: {}", bytes.len()),
            };
            let from = asked.from.map_or(0, |f| bytes.len().min(f as usize));
            to.write_all(&[format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), &bytes[from..]].concat())?;
            Ok(true)
        }
        Reply::Status(status) => {
            to.write_all(format!("HTTP/1.1 {status} As asked\r\ncontent-length: 0\r\n\r\n").as_bytes())?;
            Ok(true)
        }
        Reply::Redirect(place) => {
            let head = format!("HTTP/1.1 302 Found\r\nlocation: {place}\r\ncontent-length: 0\r\n\r\n");
            to.write_all(head.as_bytes())?;
            Ok(true)
        }
        Reply::Short(bytes, said) => {
            to.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {said}\r\n\r\n").as_bytes())?;
            to.write_all(&bytes)?;
            Ok(false)
        }
        Reply::Endless => {
            to.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            let bytes = vec![b' '; 256 << 10];
            while !over.load(Ordering::Relaxed) {
                to.write_all(&bytes)?;
            }
            Ok(false)
        }
        Reply::Drip(pause) => {
            to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")?;
            while !over.load(Ordering::Relaxed) {
                to.write_all(b" ")?;
                std::thread::sleep(pause);
            }
            Ok(false)
        }
        Reply::Raw(bytes) => {
            to.write_all(&bytes)?;
            Ok(false)
        }
        Reply::Silence => {
            let _ = to.read(&mut [0]);
            Ok(false)
        }
    }
}
