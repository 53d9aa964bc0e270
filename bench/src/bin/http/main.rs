//! Benchmark of the HTTP interface. It starts `chicane serve` in a child process, and connects
//! clients over TCP.
//!
//! Usage: `http [--json <file>] [--quick] [--only <part>]… [<path of chicane>]`. The environment
//! variable `CHICANE` can also give the path. The clients run in this process and share the
//! machine's cores with the server, so the clients lower the measured rates. A missed goal is not a
//! failure.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod chunks;
mod commands;
mod events;
mod memory;
mod requests;

use chicane_bench::options::Options;
use chicane_bench::report::Report;
use chicane_bench::server::Server;
use chicane_bench::{BenchError, exit_code};
use std::path::Path;
use std::process::ExitCode;

const PARTS: [&str; 6] = ["start", "requests", "steps", "worlds", "memory", "events"];

fn main() -> ExitCode {
    exit_code("http", run())
}

fn run() -> Result<(), BenchError> {
    let options = Options::read(&PARTS)?;
    let program = options.program()?;
    raise_descriptor_limit();
    let mut report = Report::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(&options, &program, &mut report))?;
    report.print();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\nClients and server shared {cores} cores; memory is that of the server process alone.");
    if let Some(file) = &options.json {
        std::fs::write(file, report.json())?;
    }
    Ok(())
}

async fn measure(options: &Options, program: &Path, report: &mut Report) -> Result<(), BenchError> {
    if options.wants("start") {
        commands::start(program, report).await?;
    }
    let server = Server::start(program).await?;
    if options.wants("requests") {
        requests::state(&server, report).await?;
        commands::pose(&server, report).await?;
        commands::light(&server, report).await?;
    }
    if options.wants("steps") {
        commands::steps(&server, report).await?;
    }
    if options.wants("worlds") {
        commands::worlds(&server, report).await?;
    }
    server.stop().await?;
    if options.wants("memory") {
        memory::measure(program, report).await?;
    }
    if options.wants("events") {
        let counts: &[usize] = if options.quick { &[1000] } else { &[1000, 5000] };
        for subscribers in counts {
            // Start a new server, so that the measurement does not include the memory of earlier
            // subscribers.
            let server = Server::start(program).await?;
            events::subscribers(&server, *subscribers, options.quick, report).await?;
            server.stop().await?;
        }
    }
    Ok(())
}

/// Raises the limit of open files, because each subscriber needs a file descriptor.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        eprintln!("http: cannot raise the limit of open files: {error}");
    }
}
