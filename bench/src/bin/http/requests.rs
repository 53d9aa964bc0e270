//! Closed loops: each connection asks again as soon as it was answered.

use chicane_bench::Broken;
use chicane_bench::client::get;
use chicane_bench::report::{Report, Target};
use chicane_bench::server::Server;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How long a loop goes on.
const LOOP: Duration = Duration::from_secs(3);

/// Latencies of one loop, and how many answers a second there were.
pub(crate) struct Loop {
    pub(crate) times: Vec<Duration>,
    pub(crate) rate: f64,
}

/// Sends a request over so many connections, again and again.
pub(crate) async fn closed_loop(
    server: &Server,
    connections: usize,
    request: Vec<u8>,
) -> Result<Loop, Broken> {
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
            Ok::<_, Broken>(times)
        });
    }
    let mut times = Vec::new();
    while let Some(done) = loops.join_next().await {
        times.extend(done??);
    }
    let rate = times.len() as f64 / started.elapsed().as_secs_f64();
    Ok(Loop { times, rate })
}

/// The live state.
pub(crate) async fn state(server: &Server, report: &mut Report) -> Result<(), Broken> {
    let mut best: f64 = 0.0;
    for connections in [1, 8, 64] {
        let Loop { mut times, rate } = closed_loop(server, connections, get("/state")).await?;
        best = best.max(rate);
        let name = format!("GET /state, {}", in_words(connections));
        report.add(format!("{name}, requests a second"), rate, "1/s", Target::None);
        report.add_times(&name, &mut times, Target::None);
    }
    report.add("GET /state, requests a second, best", best, "1/s", Target::AtLeast(15_000.0));
    Ok(())
}

/// `1 connection`, `8 connections`.
pub(crate) fn in_words(connections: usize) -> String {
    format!("{connections} connection{}", if connections == 1 { "" } else { "s" })
}
