//! Closed loops: each connection sends its next request as soon as it has received the response to
//! the previous request.

use chicane_bench::BenchError;
use chicane_bench::client::get;
use chicane_bench::report::{Goal, Report};
use chicane_bench::server::Server;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Duration of one closed loop.
const LOOP: Duration = Duration::from_secs(3);

/// Result of a loop: the latencies of all requests, and the number of responses per second.
pub(crate) struct LoopResult {
    pub(crate) times: Vec<Duration>,
    pub(crate) rate: f64,
}

/// Sends a request repeatedly over several connections at once.
pub(crate) async fn closed_loop(
    server: &Server,
    connections: usize,
    request: Vec<u8>,
) -> Result<LoopResult, BenchError> {
    let request: Arc<[u8]> = request.into();
    let mut clients = Vec::new();
    for _ in 0..connections {
        let mut client = server.connect().await?;
        client.ask(&request).await?;
        clients.push(client);
    }
    let started = Instant::now();
    let mut loops = JoinSet::new();
    for mut client in clients {
        let request = Arc::clone(&request);
        loops.spawn(async move {
            let mut times = Vec::with_capacity(1 << 16);
            let mut sent = Instant::now();
            while started.elapsed() < LOOP {
                client.ask(&request).await?;
                let now = Instant::now();
                times.push(now - sent);
                sent = now;
            }
            Ok::<_, BenchError>(times)
        });
    }
    let mut times = Vec::new();
    while let Some(done) = loops.join_next().await {
        times.extend(done??);
    }
    let rate = times.len() as f64 / started.elapsed().as_secs_f64();
    Ok(LoopResult { times, rate })
}

/// Measures `GET /state`.
pub(crate) async fn state(server: &Server, report: &mut Report) -> Result<(), BenchError> {
    let mut best: f64 = 0.0;
    for connections in [1, 8, 64] {
        let LoopResult { mut times, rate } = closed_loop(server, connections, get("/state")).await?;
        best = best.max(rate);
        let name = format!("GET /state, {}", connection_count(connections));
        report.add(format!("{name}, requests a second"), rate, "1/s", Goal::None);
        report.add_times(&name, &mut times, Goal::None);
    }
    report.add("GET /state, requests a second, best", best, "1/s", Goal::AtLeast(15_000.0));
    Ok(())
}

/// Text such as `1 connection` or `8 connections`.
pub(crate) fn connection_count(connections: usize) -> String {
    format!("{connections} connection{}", if connections == 1 { "" } else { "s" })
}
