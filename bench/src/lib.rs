//! What the benchmarks share: the program in a process of its own, a client of it, and a table of figures.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod client;
pub mod report;
pub mod server;

use std::path::PathBuf;

/// What went wrong: the program is broken, not slow.
pub type Broken = Box<dyn std::error::Error + Send + Sync>;

/// The program to measure: as given, or by the environment variable `CHICANE`, or the one beside this one.
pub fn find_program(given: Option<PathBuf>) -> Result<PathBuf, Broken> {
    let given = given.or_else(|| std::env::var_os("CHICANE").map(PathBuf::from));
    let beside = || std::env::current_exe().map(|own| own.with_file_name("chicane"));
    let program = given.map_or_else(beside, Ok)?;
    if !program.is_file() {
        return Err(format!("{} is no program; build it, or give its path", program.display()).into());
    }
    Ok(program)
}
