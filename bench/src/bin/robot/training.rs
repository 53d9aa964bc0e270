//! Benchmark of training: a client steps the simulator 15 times per simulated second and reads the
//! observations.

use chicane_bench::BenchError;
use chicane_bench::client::{Client, post, post_accepting};
use chicane_bench::report::{Goal, Report};
use chicane_bench::server::Server;
use std::path::Path;
use std::time::Instant;

/// Number of steps of one measurement.
const STEPS: usize = 600;
const BYTES: &str = "application/octet-stream";
const JSON: &str = "application/json";

/// The kinds of observations that are measured: name, `observe` option, `Accept` header, and the
/// goal in steps per second (0 for no goal).
const KINDS: [(&str, &str, &str, f64); 8] = [
    ("nothing", "", JSON, 0.0),
    ("lidar as bytes", r#","observe":["lidar"]"#, BYTES, 1000.0),
    ("lidar as JSON", r#","observe":["lidar"]"#, JSON, 0.0),
    ("lidar, IMU and odometry as bytes", r#","observe":["lidar","imu","odom"]"#, BYTES, 0.0),
    ("camera 160×120 as bytes", r#","observe":["camera"],"camera_width":160"#, BYTES, 400.0),
    ("camera 160×120 as JSON", r#","observe":["camera"],"camera_width":160"#, JSON, 0.0),
    ("camera 480×360 as bytes", r#","observe":["camera"]"#, BYTES, 0.0),
    (
        "everything, camera 160×120, as bytes",
        r#","observe":["camera","lidar","imu","odom"],"camera_width":160"#,
        BYTES,
        0.0,
    ),
];

/// Measures training steps per second.
pub(super) async fn measure(program: &Path, report: &mut Report) -> Result<(), BenchError> {
    let server = Server::start(program).await?;
    let mut client = server.connect().await?;
    client.ask(&post("/switch", r#"{"world":"technical.world"}"#)).await?;
    for (name, observe, accept, wanted) in KINDS {
        let rate = steps(&mut client, observe, accept).await?;
        let target = if wanted > 0.0 { Goal::AtLeast(wanted) } else { Goal::None };
        report.add(format!("training steps a second, {name}"), rate, "1/s", target);
    }
    server.stop().await
}

async fn steps(client: &mut Client, observe: &str, accept: &str) -> Result<f64, BenchError> {
    client.ask(&post("/reset", "{}")).await?;
    // At 15 Hz, camera frames are 14, 13 and 13 ticks apart. Each request steps from one frame to
    // the next.
    let requests = [14, 13, 13].map(|ticks| {
        let body = format!(r#"{{"steps":{ticks},"speed":0.5,"steering":0.3{observe}}}"#);
        post_accepting(accept, "/step", &body)
    });
    let mut best: f64 = 0.0;
    for _ in 0..3 {
        let start = Instant::now();
        for i in 0..STEPS {
            client.ask(&requests[i % 3]).await?;
        }
        best = best.max(STEPS as f64 / start.elapsed().as_secs_f64());
    }
    Ok(best)
}
