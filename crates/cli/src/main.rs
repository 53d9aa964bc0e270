//! The program `chicane`: the command line of the simulator.
//!
//! `args` defines the commands and options. Each command is a module of `commands`, except commands
//! whose work is one call. A module of `commands` imports the shared modules of this crate, but not
//! the module of another command. The only exception is that `repeat` and `judge_run` call
//! `evaluate::job`. The modules define error types, and [`CliError`] joins these types. `exit`
//! turns the result of a command into the exit status.
#![allow(clippy::disallowed_methods)]

mod args;
mod cdn_target;
mod cluster;
mod colour;
mod commands;
mod data_dir;
mod drive_file;
mod error;
mod evaluation;
mod exit;
mod file_error;
mod film;
mod grading;
mod judge_script;
mod judge_setting;
mod log;
mod mcap;
mod memory;
mod progress;
mod project;
mod robot;
mod rolling_backup;
mod root_warning;
mod run_file;
mod runtime;
mod stop_signal;
mod temp_folder;
mod terminal_text;
mod tokens;
mod unit_runs;
mod version;
mod workspace;
mod world_folder;
mod world_source;

use args::{Cli, Command, RecordsCommand};
use clap::FromArgMatches;
use colour::Tone;
use error::CliError;
use exit::Ended;
use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = args::command().try_get_matches();
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(usage) => return exit::print_usage(&usage),
    };
    let result = run(&cli);
    if let Err(error) = &result {
        eprintln!("{} {error}", Tone::Bad.paint("chicane:", colour::on_stderr()));
    }
    exit::code(&result)
}

fn run(cli: &Cli) -> Result<Ended, CliError> {
    match cli.command.as_ref() {
        None => commands::serve::run(&cli.serve)?,
        Some(Command::Serve(args)) => commands::serve::run(args)?,
        Some(Command::Check(args)) => commands::check::run(args)?,
        Some(Command::Build(args)) => commands::build::run(args)?,
        Some(Command::Publish(args)) => commands::publish::run(args)?,
        Some(Command::Worlds(args)) => commands::worlds::run(args)?,
        Some(Command::New(args)) => commands::new::run(args)?,
        Some(Command::Print(args)) => commands::print::run(args)?,
        Some(Command::Lap(args)) => commands::lap::run(args)?,
        Some(Command::Evaluate(args)) => match args.command.as_deref().filter(|_| args.explains_box()) {
            Some(command) => println!("{}", commands::explain::describe(args, command)?),
            None => return Ok(Ended::Evaluated(commands::evaluate::run(args)?)),
        },
        Some(Command::Repeat(args)) => return Ok(Ended::Evaluated(commands::repeat::run(args)?)),
        Some(Command::Grade(args)) => commands::grade::run(args)?,
        Some(Command::Report(args)) => commands::report::run(args)?,
        Some(Command::GradeUnit(args)) => commands::grade_unit::run(args)?,
        Some(Command::Judge(args)) => return Ok(Ended::Evaluated(commands::judge::run(args)?)),
        Some(Command::Verify(args)) => commands::verify::run(args)?,
        Some(Command::Replay(args)) => commands::replay::run(args)?,
        Some(Command::Rejudge(args)) => return Ok(Ended::Evaluated(commands::rejudge::run(args)?)),
        Some(Command::Records { command: RecordsCommand::Export(args) }) => commands::records::run(args)?,
        Some(Command::Submit(args)) => {
            let failed = commands::submit::run(args)?;
            return Ok(failed.map_or(Ended::Done, Ended::Evaluated));
        }
        Some(Command::JudgeRun(args)) => commands::judge_run::run(args)?,
        Some(Command::Setup) => commands::setup::run()?,
        Some(Command::Package { folder }) => commands::package::run(folder)?,
        Some(Command::Doctor(args)) => {
            return Ok(if commands::doctor::run(args)? { Ended::Done } else { Ended::Failed });
        }
        Some(Command::Backup(args)) => commands::backup::run(args)?,
        Some(Command::Restore(args)) => commands::backup::run_restore(args)?,
        Some(Command::Jail { part }) => chicane_session::jail::main(part)?,
        Some(Command::Openapi { robot: true }) => println!("{}", chicane_server::robot_openapi()),
        Some(Command::Openapi { robot: false }) => println!("{}", chicane_server::openapi()),
    }
    Ok(Ended::Done)
}
