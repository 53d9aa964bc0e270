//! Tests of the fetcher with a small server on loopback. The fetcher would refuse a loopback
//! address, so the tests permit the address of that server (`AddressRule::and_also`).

use super::*;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server that passes the path of each request to a function, sends the bytes that the function
/// returns, and closes the connection.
struct TestServer {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
}

impl TestServer {
    async fn start(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = stream.read_u8().await else { break };
                    head.push(byte);
                }
                count.fetch_add(1, Relaxed);
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or("");
                let answer = answer(path);
                if answer.is_empty() {
                    // An empty response means: keep the connection open and never respond.
                    tokio::spawn(async move {
                        let _ = stream.read_u8().await;
                    });
                    continue;
                }
                let _ = stream.write_all(&answer).await;
            }
        });
        TestServer { address, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn fetcher(&self) -> Fetcher {
        Fetcher { rule: AddressRule::and_also(self.address), timeout: FETCH_TIMEOUT, max_bytes: 1000 }
    }
}

fn ok(body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

fn redirect(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

#[tokio::test]
async fn a_file_is_fetched_with_and_without_content_length_and_after_redirects() {
    let server = TestServer::start(|path| match path {
        "/a/first" => redirect("second?x=1"),
        "/a/second?x=1" => redirect("/beep.wav"),
        "/open" => b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nopen".to_vec(),
        "/chunked" => b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nch\r\n0\r\n\r\n".to_vec(),
        path => ok(path.as_bytes()),
    })
    .await;
    let fetcher = server.fetcher();
    for (path, want) in [("/a/first#part", "/beep.wav"), ("/open", "open"), ("/chunked", "ch"), ("", "/")] {
        let got = fetcher.fetch(&server.url(path)).await;
        assert_eq!(got.as_deref(), Ok(want.as_bytes()), "{path}");
    }
}

#[tokio::test]
async fn too_large_and_incomplete_files_are_refused() {
    let server = TestServer::start(|path| match path {
        "/said" => b"HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n".to_vec(),
        "/unsaid" => [&b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"[..], &[0; 5000]].concat(),
        "/most" => ok(&[0; 1000]),
        "/short" => b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort".to_vec(),
        "/torn" => b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\nch".to_vec(),
        "/nonsense" => b"hello".to_vec(),
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
    })
    .await;
    let fetcher = server.fetcher();
    for (path, want) in [
        ("/said", FetchError::TooLarge),
        ("/unsaid", FetchError::TooLarge),
        ("/short", FetchError::Incomplete),
        ("/torn", FetchError::Incomplete),
        ("/missing", FetchError::Status("127.0.0.1".to_owned(), 404)),
    ] {
        assert_eq!(fetcher.fetch(&server.url(path)).await, Err(want), "{path}");
    }
    assert!(fetcher.fetch(&server.url("/most")).await.is_ok());
    let nonsense = fetcher.fetch(&server.url("/nonsense")).await;
    assert!(matches!(nonsense, Err(FetchError::Web(WebError::Unreachable(..)))), "{nonsense:?}");
}

#[tokio::test]
async fn a_redirect_is_checked_like_the_first_address() {
    let inner = TcpListener::bind("127.0.0.2:0").await.expect("a port");
    let port = inner.local_addr().expect("an address").port();
    let server = TestServer::start(move |path| match path {
        "/near" => redirect(&format!("http://127.0.0.2:{port}/secret")),
        "/name" => redirect(&format!("//localhost:{port}/secret")),
        "/file" => redirect("file:///etc/passwd"),
        "/user" => redirect("http://me@example.org/"),
        _ => redirect("/again"),
    })
    .await;
    let fetcher = server.fetcher();
    for (path, want) in [
        ("/near", FetchError::Forbidden("127.0.0.2".to_owned())),
        ("/name", FetchError::Forbidden("localhost".to_owned())),
        ("/file", FetchError::Web(WebError::Scheme)),
        ("/user", FetchError::Web(WebError::Credentials)),
        ("/again", FetchError::TooManyRedirects),
    ] {
        assert_eq!(fetcher.fetch(&server.url(path)).await, Err(want), "{path}");
    }
    assert_eq!(server.requests.load(Relaxed), 4 + 1 + MAX_REDIRECTS);
    let waiting = tokio::time::timeout(Duration::ZERO, inner.accept()).await;
    assert!(waiting.is_err(), "the inner server got no connection");
}

#[tokio::test]
async fn a_server_that_never_responds_causes_a_timeout() {
    let server = TestServer::start(|_| Vec::new()).await;
    let fetcher = Fetcher { timeout: Duration::from_millis(100), ..server.fetcher() };
    assert_eq!(fetcher.fetch(&server.url("/")).await, Err(FetchError::TooSlow));
}

#[tokio::test]
async fn an_https_url_is_fetched_with_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let first_byte = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let byte = stream.read_u8().await.expect("a byte");
        stream.write_all(&ok(b"not secure")).await.expect("sent");
        byte
    });
    let fetcher = Fetcher::new(AddressRule::and_also(address));
    match fetcher.fetch(&format!("https://{address}/")).await {
        // 22 is the first byte of a TLS handshake, so the fetcher has tried to use TLS.
        Err(FetchError::Web(WebError::Tls(..))) => {
            assert_eq!(first_byte.await.expect("it ended"), 22)
        }
        answer => assert!(matches!(answer, Err(FetchError::Web(WebError::NoCertificates(_)))), "{answer:?}"),
    }
}
