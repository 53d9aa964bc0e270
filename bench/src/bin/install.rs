//! Benchmark of published worlds. It measures the time to install the shipped worlds over loopback,
//! and the time to switch to them.
//!
//! Usage: `install [--json <file>] [<path of chicane>]`. The benchmark starts two simulators. One
//! simulator serves as the CDN. The other simulator installs worlds from this CDN.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use chicane_bench::client::{delete, post};
use chicane_bench::options::Options;
use chicane_bench::report::{Goal, Report};
use chicane_bench::server::Server;
use chicane_bench::{BenchError, exit_code};
use chicane_store::Access;
use chicane_testkit::SHIPPED;
use chicane_testkit::cdn::{packed, publish};
use std::path::Path;
use std::process::ExitCode;

/// Repetitions of each operation.
const TIMES: usize = 20;

fn main() -> ExitCode {
    exit_code("install", run())
}

fn run() -> Result<(), BenchError> {
    let options = Options::read(&[])?;
    let program = options.program()?;
    let mut report = Report::default();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(measure(&program, &mut report))?;
    report.print();
    println!("\nCDN, simulator and client shared the machine; all files are on disk before the response.");
    if let Some(file) = &options.json {
        std::fs::write(file, report.json())?;
    }
    Ok(())
}

async fn measure(program: &Path, report: &mut Report) -> Result<(), BenchError> {
    let cdn = Server::start(program).await?;
    let url = format!("http://{}/cdn", cdn.address);
    let server = Server::start_with(program, &["--cdn", &url]).await?;
    let mut client = server.connect().await?;
    for name in SHIPPED {
        let package = packed(name, Access::Public);
        let size: usize = package.files.iter().map(|(_, bytes)| bytes.len()).sum();
        let folder = cdn.data_dir().join("cdn");
        let (id, files) = (package.id.clone(), package.files.len());
        tokio::task::spawn_blocking(move || publish(&package, &folder)).await?;
        report.add(format!("{name}: size of {files} files"), size as f64 / 1e6, "MB", Goal::None);
        let wanted = post("/worlds/install", &format!("{{\"world_id\": \"{id}\"}}"));
        let switch = post("/switch", &format!("{{\"world_id\": \"{id}\"}}"));
        let back = post("/switch", "{\"world\": \"oval.world\"}");
        let gone = delete(&format!("/worlds/custom_{id}"));
        let [mut fresh, mut cached, mut switched] = [const { Vec::new() }; 3];
        for _ in 0..TIMES {
            fresh.push(client.timed(&wanted).await?);
            cached.push(client.timed(&wanted).await?);
            switched.push(client.timed(&switch).await?);
            client.ask(&back).await?;
            client.ask(&gone).await?;
        }
        report.add_times(&format!("{name}: installing"), &mut fresh, Goal::None);
        report.add_times(&format!("{name}: installing again"), &mut cached, Goal::None);
        report.add_times(&format!("{name}: switching"), &mut switched, Goal::None);
    }
    server.stop().await?;
    cdn.stop().await
}
