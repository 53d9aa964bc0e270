//! Memory of the program without clients and under load.

use chicane_bench::BenchError;
use chicane_bench::client::{Client, get, post};
use chicane_bench::report::{Goal, Report};
use chicane_bench::server::Server;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Duration of the idle and of the busy phase.
const SPAN: Duration = Duration::from_secs(2);
/// Number of subscribers of the event stream in the busy phase.
const SUBSCRIBERS: usize = 100;

/// Measures resident memory on the technical track, idle and busy.
pub(crate) async fn measure(program: &Path, report: &mut Report) -> Result<(), BenchError> {
    let server = Server::start_with(program, &["--world", "technical"]).await?;
    tokio::time::sleep(SPAN).await;
    report.add("memory, idle", server.memory()? / 1e6, "MB", Goal::None);
    let mut readers = JoinSet::new();
    for _ in 0..SUBSCRIBERS {
        let mut stream = TcpStream::connect(server.address).await?;
        stream.write_all(&get("/events")).await?;
        readers.spawn(async move {
            let mut buffer = vec![0; 16 << 10];
            while stream.read(&mut buffer).await.is_ok_and(|n| n > 0) {}
        });
    }
    let mut client = server.connect().await?;
    client.ask(&post("/clock", r#"{"speed": 0}"#)).await?;
    let mut most = 0.0_f64;
    let begun = Instant::now();
    while begun.elapsed() < SPAN {
        camera(&mut client).await?;
        most = most.max(server.memory()?);
    }
    let name = format!("memory, busy: camera, as fast as it can, {SUBSCRIBERS} subscribers");
    report.add(name, most / 1e6, "MB", Goal::None);
    readers.shutdown().await;
    server.stop().await
}

/// Fetches the newest camera frame.
async fn camera(client: &mut Client) -> Result<(), BenchError> {
    client.ask(b"GET /camera HTTP/1.1\r\nHost: localhost\r\n\r\n").await.map(|_| ())
}
