//! Benchmarks of commands that change the world. They measure the time until the response, and the
//! time until another client sees the change.

use crate::requests::{LoopResult, closed_loop, connection_count};
use chicane_bench::BenchError;
use chicane_bench::client::{find, get, post, post_accepting};
use chicane_bench::report::{Goal, Report, quantile};
use chicane_bench::server::Server;
use std::path::Path;
use std::time::Instant;

/// Measures the time from the start of the server process to its ready line. Each start uses a new
/// data folder.
pub(crate) async fn start(program: &Path, report: &mut Report) -> Result<(), BenchError> {
    let mut times = Vec::new();
    for _ in 0..5 {
        let server = Server::start(program).await?;
        times.push(server.start);
        server.stop().await?;
    }
    report.add("start until ready, median of 5", quantile(&mut times, 0.5), "ms", Goal::AtMost(1000.0));
    Ok(())
}

/// Measures `POST /pose`.
pub(crate) async fn pose(server: &Server, report: &mut Report) -> Result<(), BenchError> {
    for connections in [1, 8] {
        let request = post("/pose", r#"{"x":3,"y":1,"yaw":0}"#);
        let LoopResult { mut times, rate } = closed_loop(server, connections, request).await?;
        let name = format!("POST /pose, {}", connection_count(connections));
        report.add(format!("{name}, requests a second"), rate, "1/s", Goal::None);
        report.add_times(&name, &mut times, Goal::AtMost(10.0));
    }
    Ok(())
}

/// Measures the time from a light command to its own response, and to the first response of
/// `GET /state` that shows the yellow light. The `GET /state` requests use another connection than
/// the command.
pub(crate) async fn light(server: &Server, report: &mut Report) -> Result<(), BenchError> {
    let (mut seen, mut answered) = (Vec::new(), Vec::new());
    let mut commander = server.connect().await?;
    let mut watcher = server.connect().await?;
    let (red, reset, state) =
        (post("/traffic_lights/signal1", r#"{"state":"red"}"#), post("/reset", ""), get("/state"));
    for _ in 0..100 {
        let sent = Instant::now();
        let command = async { commander.ask(&red).await.map(|_| sent.elapsed()) };
        let watch = async {
            while find(watcher.ask(&state).await?, br#""state":"yellow""#).is_none() {}
            Ok::<_, BenchError>(sent.elapsed())
        };
        let (command, watch) = tokio::join!(command, watch);
        answered.push(command?);
        seen.push(watch?);
        // A reset makes the light green immediately, without the yellow phase.
        commander.ask(&reset).await?;
    }
    report.add_times("light command until seen in GET /state", &mut seen, Goal::None);
    report.add_times("light command until answered, so on disk", &mut answered, Goal::None);
    Ok(())
}

/// Measures `POST /step`.
pub(crate) async fn steps(server: &Server, report: &mut Report) -> Result<(), BenchError> {
    let raw = "application/octet-stream";
    let lidar = r#"{"steps":1,"observe":["lidar"]}"#;
    let kinds = [
        ("one tick", post("/step", r#"{"steps":1}"#), 2000.0),
        ("one tick, lidar as JSON", post("/step", lidar), 0.0),
        ("one tick, lidar as bytes", post_accepting(raw, "/step", lidar), 0.0),
        ("ten ticks, driving", post("/step", r#"{"steps":10,"speed":1,"steering":0.1}"#), 0.0),
    ];
    for (name, request, wanted) in kinds {
        let LoopResult { mut times, rate } = closed_loop(server, 1, request).await?;
        let target = if wanted > 0.0 { Goal::AtLeast(wanted) } else { Goal::None };
        report.add(format!("POST /step, {name}, requests a second"), rate, "1/s", target);
        report.add_times(&format!("POST /step, {name}"), &mut times, Goal::None);
    }
    server.connect().await?.ask(&post("/clock", r#"{"paused":false}"#)).await?;
    Ok(())
}

/// Measures reset, respawn and switching worlds.
pub(crate) async fn worlds(server: &Server, report: &mut Report) -> Result<(), BenchError> {
    let mut client = server.connect().await?;
    let mut resets = Vec::new();
    for _ in 0..100 {
        resets.push(client.timed(&post("/reset", "")).await?);
    }
    report.add_times("reset, 100 times", &mut resets, Goal::None);
    let mut respawns = Vec::new();
    for _ in 0..20 {
        respawns.push(client.timed(&post("/respawn", "")).await?);
    }
    report.add_times("respawn, 20 times", &mut respawns, Goal::AtMost(300.0));
    let mut switches = Vec::new();
    for _ in 0..10 {
        for world in ["technical", "oval"] {
            let request = post("/switch", &format!(r#"{{"world":"{world}.world"}}"#));
            switches.push(client.timed(&request).await?);
        }
    }
    report.add_times("switch of worlds, 20 times", &mut switches, Goal::AtMost(500.0));
    Ok(())
}
