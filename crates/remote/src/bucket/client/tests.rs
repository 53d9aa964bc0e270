use super::*;
use object_store::client::HttpRequestBody;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Starts a server that sends `response(k)` to request k, or nothing if this is `None`. The server
/// keeps its connections open. Returns its URL, and the counts of connections and of requests.
async fn server(
    response: impl Fn(usize) -> Option<&'static str> + Send + Sync + 'static,
) -> (String, Arc<[AtomicUsize; 2]>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/bucket/key", listener.local_addr().expect("an address"));
    let counts = Arc::<[AtomicUsize; 2]>::default();
    let (counts_of_server, response) = (Arc::clone(&counts), Arc::new(response));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counts_of_server[0].fetch_add(1, Relaxed);
            let (counts, response) = (Arc::clone(&counts_of_server), Arc::clone(&response));
            tokio::spawn(async move {
                let mut received = Vec::new();
                loop {
                    // Every request of these tests ends with this text.
                    while !received.ends_with(b"the end") {
                        if !matches!(stream.read_buf(&mut received).await, Ok(1..)) {
                            return;
                        }
                    }
                    received.clear();
                    match response(counts[1].fetch_add(1, Relaxed)) {
                        Some(response) if stream.write_all(response.as_bytes()).await.is_ok() => {}
                        Some(_) => return,
                        None => std::future::pending().await,
                    }
                }
            });
        }
    });
    (url, counts)
}

fn client() -> BucketClient {
    with_timeout(RESPONSE_TIMEOUT)
}

fn with_timeout(response_timeout: Duration) -> BucketClient {
    let (first_pause, connections) = (Duration::from_millis(1), ConnectionPool::default());
    BucketClient { allow_http: false, response_timeout, first_pause, connections }
}

async fn put(client: &BucketClient, url: &str) -> Result<(u16, Bytes), String> {
    let mut request = Request::new(HttpRequestBody::from(Bytes::from_static(b"the end")));
    *request.method_mut() = hyper::http::Method::PUT;
    *request.uri_mut() = url.parse().expect("a URL");
    let response = client.call(request).await.map_err(|e| match std::error::Error::source(&e) {
        Some(inner) => inner.to_string(),
        None => e.to_string(),
    })?;
    Ok((response.status().as_u16(), response.into_body().bytes().await.expect("a body")))
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const BUSY: &str = "HTTP/1.1 503 Busy\r\ncontent-length: 21\r\n\r\n<Code>SlowDown</Code>";

#[tokio::test]
async fn temporary_errors_are_retried_on_the_same_connection() {
    let (url, counts) = server(|k| Some(if k < 2 { BUSY } else { OK })).await;
    let client = client();
    for _ in 0..5 {
        assert_eq!(put(&client, &url).await, Ok((200, Bytes::from_static(b"ok"))));
    }
    assert_eq!(counts[1].load(Relaxed), 2 + 5, "requests");
    assert_eq!(counts[0].load(Relaxed), 1, "connections");
}

#[tokio::test]
async fn a_request_fails_after_the_last_attempt() {
    let (url, counts) = server(|_| Some(BUSY)).await;
    assert_eq!(
        put(&client(), &url).await,
        Err("the server responded with status 503 (SlowDown) (tried 4 times)".to_owned())
    );
    assert_eq!(counts[1].load(Relaxed), ATTEMPTS as usize);
    let (url, counts) = server(|_| None).await;
    let silent = put(&with_timeout(Duration::from_millis(200)), &url).await.expect_err("silence");
    assert!(silent.contains("no response from 127.0.0.1: timeout after 0 s (tried 4 times)"), "{silent}");
    // The last request may arrive at the server after the client has given up, so the test waits
    // for it.
    let all = async {
        while counts[1].load(Relaxed) < ATTEMPTS as usize {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(RESPONSE_TIMEOUT, all).await.expect("every attempt");
    let truncated = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no";
    let (url, _) = server(move |_| Some(truncated)).await;
    let error = put(&with_timeout(Duration::from_millis(200)), &url).await;
    assert!(error.expect_err("truncated").contains("no response from"));
}

#[tokio::test]
async fn permanent_errors_are_not_retried() {
    for status in [400, 401, 403, 501] {
        let text: &'static str = format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n").leak();
        let (url, counts) = server(move |_| Some(text)).await;
        put(&client(), &url).await.expect_err("refused");
        assert_eq!(counts[1].load(Relaxed), 1, "{status}");
    }
    // The client passes these statuses on to `object_store`.
    for status in [404, 412] {
        let text: &'static str = format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n").leak();
        let (url, _) = server(move |_| Some(text)).await;
        assert_eq!(put(&client(), &url).await, Ok((status, Bytes::new())));
    }
}

#[tokio::test]
async fn other_machines_are_not_contacted_without_tls() {
    let refused = put(&client(), "http://minio.example.org/bucket/key").await.expect_err("refused");
    assert_eq!(refused, "http://minio.example.org is not encrypted: use https://");
}
