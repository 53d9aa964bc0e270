//! The program as clients see it: a real `chicane serve` in a process of its own, asked over TCP.
//!
//! `http [--json <file>] [--quick] [--only <part>]… [<path of chicane>]`; the path may also be given by the
//! environment variable `CHICANE`. Clients run in this process and share the machine's cores with the
//! server, so rates are what both together manage. A slow machine misses targets but fails nothing.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod chunks;
mod commands;
mod events;
mod memory;
mod requests;

use chicane_bench::options::Options;
use chicane_bench::report::Report;
use chicane_bench::server::Server;
use chicane_bench::{Broken, end};
use std::path::Path;
use std::process::ExitCode;

const PARTS: [&str; 6] = ["start", "requests", "steps", "worlds", "memory", "events"];

fn main() -> ExitCode {
    end("http", run())
}

fn run() -> Result<(), Broken> {
    let options = Options::read(&PARTS)?;
    let program = options.program()?;
    raise_descriptor_limit();
    let mut report = Report::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(&options, &program, &mut report))?;
    report.print();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\nClients and server shared {cores} cores; memory is the server's own, without the system's.");
    if let Some(file) = &options.json {
        std::fs::write(file, report.json())?;
    }
    Ok(())
}

async fn measure(options: &Options, program: &Path, report: &mut Report) -> Result<(), Broken> {
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
            // A fresh process: memory that earlier subscribers left behind does not count.
            let server = Server::start(program).await?;
            events::subscribers(&server, *subscribers, options.quick, report).await?;
            server.stop().await?;
        }
    }
    Ok(())
}

/// Thousands of subscribers need thousands of descriptors.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        eprintln!("http: the limit of open files could not be raised: {error}");
    }
}
