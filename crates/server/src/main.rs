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
mod progress;
mod projects;
mod publish;
mod script;
mod serve;
mod setup;
mod worlds;

use chicane_store::{FolderBundle, Library, LoadError};
use chicane_world::{Assets, World};
use clap::Parser;
use cli::{Cli, RecordsWhat, What};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.what {
        None => serve::run(&cli.serve),
        Some(What::Serve(serve)) => serve::run(serve),
        Some(What::Check { path }) if Path::new(path).is_file() => projects::check_project(path),
        Some(What::Check { path }) => check::run(path),
        Some(What::Build { project, output }) => projects::build_into(project, output),
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
        Some(What::Jail { part }) => chicane_session::jail::main(part),
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

/// A library that has the world that is asked for by name, or by the path of a folder or a project, and its name there.
/// Names come first; one that is in no library is for others to find or to miss.
fn library(which: &str) -> Result<(Library, String), String> {
    let library = Library::built_in();
    let name = which.strip_suffix(".world").unwrap_or(which);
    if library.entry(name).is_some() || !Path::new(which).exists() {
        return Ok((library, name.to_owned()));
    }
    if Path::new(which).is_dir() {
        let bundle = FolderBundle::new(which);
        let name = World::load(&Assets::of(&bundle)).map_err(|e| e.to_string())?.name;
        return Ok((library.with_bundle(&name, Arc::new(bundle)), name));
    }
    let (bundle, name) = projects::bundle(which)?;
    Ok((library.with_bundle(&name, Arc::new(bundle)), name))
}

/// Loads a world: of a folder, of a project, or one of the program by its name.
fn load(which: &str) -> Result<World, String> {
    let path = Path::new(which);
    if path.is_dir() {
        return World::load(&Assets::of(&FolderBundle::new(which))).map_err(|e| e.to_string());
    }
    if path.is_file() {
        return projects::load(which);
    }
    Library::built_in().load(which).map_err(|error| match error {
        LoadError::NotFound => {
            let names: Vec<String> = Library::built_in().entries().into_iter().map(|e| e.name).collect();
            format!(
                "there is no {which}: a world is a folder that holds worlds/<name>.world, a project <name>.json, or one of {}",
                names.join(", ")
            )
        }
        LoadError::Broken(why) => why.to_string(),
    })
}
