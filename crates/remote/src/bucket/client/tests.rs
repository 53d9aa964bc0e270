use super::*;
use object_store::client::HttpRequestBody;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server that answers request k as it is told (nothing: silence), and keeps its connections.
async fn server(
    answer: impl Fn(usize) -> Option<&'static str> + Send + Sync + 'static,
) -> (String, Arc<[AtomicUsize; 2]>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/bucket/key", listener.local_addr().expect("an address"));
    let counts = Arc::<[AtomicUsize; 2]>::default();
    let (own, answer) = (Arc::clone(&counts), Arc::new(answer));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            own[0].fetch_add(1, Relaxed);
            let (own, answer) = (Arc::clone(&own), Arc::clone(&answer));
            tokio::spawn(async move {
                let mut heard = Vec::new();
                loop {
                    // Requests of the tests end with these words.
                    while !heard.ends_with(b"the end") {
                        if !matches!(stream.read_buf(&mut heard).await, Ok(1..)) {
                            return;
                        }
                    }
                    heard.clear();
                    match answer(own[1].fetch_add(1, Relaxed)) {
                        Some(answer) if stream.write_all(answer.as_bytes()).await.is_ok() => {}
                        Some(_) => return,
                        None => std::future::pending().await,
                    }
                }
            });
        }
    });
    (url, counts)
}

fn client() -> Client {
    with_patience(PATIENCE)
}

fn with_patience(patience: Duration) -> Client {
    Client { plain: false, patience, first_pause: Duration::from_millis(1), lines: Lines::default() }
}

async fn put(client: &Client, url: &str) -> Result<(u16, Bytes), String> {
    let mut request = Request::new(HttpRequestBody::from(Bytes::from_static(b"the end")));
    *request.method_mut() = hyper::http::Method::PUT;
    *request.uri_mut() = url.parse().expect("an address");
    let answer = client.call(request).await.map_err(|e| match std::error::Error::source(&e) {
        Some(inner) => inner.to_string(),
        None => e.to_string(),
    })?;
    Ok((answer.status().as_u16(), answer.into_body().bytes().await.expect("a body")))
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const BUSY: &str = "HTTP/1.1 503 Busy\r\ncontent-length: 21\r\n\r\n<Code>SlowDown</Code>";

#[tokio::test]
async fn what_passes_is_tried_again_and_connections_are_kept() {
    let (url, counts) = server(|k| Some(if k < 2 { BUSY } else { OK })).await;
    let client = client();
    for _ in 0..5 {
        assert_eq!(put(&client, &url).await, Ok((200, Bytes::from_static(b"ok"))));
    }
    assert_eq!(counts[1].load(Relaxed), 2 + 5, "requests");
    assert_eq!(counts[0].load(Relaxed), 1, "connections");
}

#[tokio::test]
async fn what_does_not_pass_has_an_end() {
    let (url, counts) = server(|_| Some(BUSY)).await;
    assert_eq!(put(&client(), &url).await, Err("it answered 503 (SlowDown) (tried 4 times)".to_owned()));
    assert_eq!(counts[1].load(Relaxed), ATTEMPTS as usize);
    let (url, counts) = server(|_| None).await;
    let silent = put(&with_patience(Duration::from_millis(200)), &url).await.expect_err("silence");
    assert!(silent.contains("127.0.0.1 gave no answer: none came within 0 s (tried 4 times)"), "{silent}");
    // What was sent too late to be waited for is there in the end.
    let all = async {
        while counts[1].load(Relaxed) < ATTEMPTS as usize {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(PATIENCE, all).await.expect("every attempt");
    let torn = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no";
    let (url, _) = server(move |_| Some(torn)).await;
    let torn = put(&with_patience(Duration::from_millis(200)), &url).await;
    assert!(torn.expect_err("torn").contains("gave no answer"));
}

#[tokio::test]
async fn what_is_refused_is_asked_once() {
    for status in [400, 401, 403, 501] {
        let text: &'static str = format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n").leak();
        let (url, counts) = server(move |_| Some(text)).await;
        put(&client(), &url).await.expect_err("refused");
        assert_eq!(counts[1].load(Relaxed), 1, "{status}");
    }
    // And these are answers.
    for status in [404, 412] {
        let text: &'static str = format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n").leak();
        let (url, _) = server(move |_| Some(text)).await;
        assert_eq!(put(&client(), &url).await, Ok((status, Bytes::new())));
    }
}

#[tokio::test]
async fn nobody_elsewhere_is_asked_without_encryption() {
    let refused = put(&client(), "http://minio.example.org/bucket/key").await.expect_err("refused");
    assert_eq!(refused, "http://minio.example.org is not encrypted, and is not asked");
}
