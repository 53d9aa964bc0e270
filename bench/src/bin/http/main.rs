//! The program as clients see it: a real `chicane serve` in a process of its own, asked over TCP.
//!
//! `http [--json <file>] [--only <part>]… [<path of chicane>]`; the path may also be given by the
//! environment variable `CHICANE`. Clients run in this process and share the machine's cores with the
//! server, so rates are what both together manage. A slow machine misses targets but fails nothing.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod chunks;
mod commands;
mod events;
mod requests;

use chicane_bench::report::Report;
use chicane_bench::server::Server;
use chicane_bench::{Broken, find_program};
use std::path::PathBuf;
use std::process::ExitCode;

const PARTS: [&str; 5] = ["start", "requests", "steps", "worlds", "events"];

struct Options {
    program: PathBuf,
    json: Option<PathBuf>,
    /// Parts to measure; all of them if empty.
    only: Vec<String>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("http: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Broken> {
    let options = options()?;
    raise_descriptor_limit();
    let mut report = Report::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(&options, &mut report))?;
    report.print();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("\nClients and server shared {cores} cores; memory is the server's own, without the system's.");
    if let Some(file) = &options.json {
        std::fs::write(file, report.json())?;
    }
    Ok(())
}

async fn measure(options: &Options, report: &mut Report) -> Result<(), Broken> {
    let wanted = |part: &str| options.only.is_empty() || options.only.iter().any(|o| o == part);
    if wanted("start") {
        commands::start(&options.program, report).await?;
    }
    let server = Server::start(&options.program).await?;
    if wanted("requests") {
        requests::state(&server, report).await?;
        commands::pose(&server, report).await?;
        commands::light(&server, report).await?;
    }
    if wanted("steps") {
        commands::steps(&server, report).await?;
    }
    if wanted("worlds") {
        commands::worlds(&server, report).await?;
    }
    server.stop().await?;
    if wanted("events") {
        for subscribers in [1000, 5000] {
            // A fresh process: memory that earlier subscribers left behind does not count.
            let server = Server::start(&options.program).await?;
            events::subscribers(&server, subscribers, report).await?;
            server.stop().await?;
        }
    }
    Ok(())
}

fn options() -> Result<Options, Broken> {
    let mut path = None;
    let (mut json, mut only) = (None, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => json = Some(words.next().ok_or("--json takes a file")?.into()),
            "--only" => {
                let part = words.next().unwrap_or_default();
                if !PARTS.contains(&part.as_str()) {
                    return Err(format!("--only takes one of {}", PARTS.join(", ")).into());
                }
                only.push(part);
            }
            option if option.starts_with('-') => {
                return Err(format!("there is no option {option}; there are --json and --only").into());
            }
            word => path = Some(word.into()),
        }
    }
    Ok(Options { program: find_program(path)?, json, only })
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
