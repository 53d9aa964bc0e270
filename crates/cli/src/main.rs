//! The program `chicane`: what people start.
//!
//! `chicane serve` runs the simulator; `chicane check <world>` loads a world and says what is in
//! it; `chicane lap <world>` drives a lap of it without a window, as fast as the machine can.
//! `chicane new`, `chicane check` and `chicane build` make worlds of builder projects, `chicane print` their floor. `chicane
//! evaluate` and `chicane judge` run an evaluation without a window; `chicane setup` prepares what judging scripts need.
//! `chicane publish` and `chicane worlds` bring worlds to others, and here.
#![allow(clippy::disallowed_methods)]

mod check;
mod cli;
mod export;
mod headless;
mod lap;
mod log;
mod memory;
mod progress;
mod projects;
mod publish;
mod script;
mod serve;
mod setup;
mod which;
mod worlds;

use clap::Parser;
use cli::{Cli, RecordsWhat, What};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.what {
        None => serve::run(&cli.serve),
        Some(What::Serve(serve)) => serve::run(serve),
        Some(What::Check { path, judge }) if Path::new(path).is_file() => {
            projects::check_project(path, judge)
        }
        Some(What::Check { path, judge }) => check::run(path, judge),
        Some(What::Build { project, output, judge }) => projects::build_into(project, output, judge),
        Some(What::Publish(wanted)) => publish::run(wanted),
        Some(What::Worlds(wanted)) => worlds::run(wanted),
        Some(What::New(new)) => projects::new(new),
        Some(What::Print { world, output, dpi }) => projects::print(world, output, *dpi),
        Some(What::Lap { world, speed }) => lap::run(world, *speed),
        Some(What::Evaluate(asked)) => return exit(headless::evaluate(asked)),
        Some(What::Judge(asked)) => return exit(headless::judge(asked)),
        Some(What::Records { what: RecordsWhat::Export(asked) }) => {
            serve::data_dir(asked.data_dir.as_deref()).and_then(|folder| export::run(asked, &folder))
        }
        Some(What::Setup) => setup::run(),
        Some(What::Jail { part }) => chicane_session::jail::main(part).map_err(|e| e.to_string()),
        Some(What::Openapi { robot }) => {
            println!("{}", if *robot { chicane_server::robot_openapi() } else { chicane_server::openapi() });
            Ok(())
        }
    };
    exit(done.map(|()| 0))
}

/// What is left to say at the end.
fn exit(done: Result<u8, String>) -> ExitCode {
    match done {
        Ok(status) => ExitCode::from(status),
        Err(message) => {
            eprintln!("chicane: {message}");
            ExitCode::FAILURE
        }
    }
}
