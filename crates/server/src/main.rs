//! The program `chicane`: what people start.
//!
//! `chicane check <folder>` loads a world and says what is in it; `chicane lap <folder>` drives a
//! lap of it without a window, as fast as the machine can. This crate is the edge: files and
//! clocks live here, not in the crates below.
#![allow(clippy::disallowed_methods)]

mod check;
mod lap;

use chicane_store::FolderBundle;
use chicane_world::{Assets, World};
use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
Chicane, a robot-car simulator for teaching and grading

usage: chicane check <folder>              load the world in a folder and say what is in it
       chicane lap <folder> [--speed m/s]  drive one lap of it, as fast as the machine can
       chicane --version | --help

A folder holds worlds/<name>.world and what it needs, such as worlds/oval in the repository.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["--help" | "-h" | "help"] => {
            println!("{HELP}");
            Ok(())
        }
        ["--version" | "-V"] => {
            println!("chicane {}", env!("CARGO_PKG_VERSION"));
            Ok(())
        }
        ["check", folder] => check::run(folder),
        ["lap", folder] => lap::run(folder, 1.0),
        ["lap", folder, "--speed", speed] => match speed.parse() {
            Ok(speed) if (0.1..=3.0).contains(&speed) => lap::run(folder, speed),
            _ => Err(format!("--speed takes metres a second from 0.1 to 3, not {speed}")),
        },
        [] => Err(format!("say what to do\n\n{HELP}")),
        other => Err(format!("`{}` is not understood; see `chicane --help`", other.join(" "))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("chicane: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Loads the world of a folder.
fn load(folder: &str) -> Result<World, String> {
    if !Path::new(folder).is_dir() {
        return Err(format!("{folder} is not a folder; a world's folder holds worlds/<name>.world"));
    }
    World::load(&Assets::of(&FolderBundle::new(folder))).map_err(|e| e.to_string())
}
