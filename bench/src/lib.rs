//! Code that the benchmarks share. It starts the program as a child process, provides an HTTP
//! client, and prints a table of figures.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod client;
pub mod options;
pub mod report;
pub mod server;

use chicane_render::{Jpeg, Rgb};
use std::process::ExitCode;

/// An error that ends a benchmark. A missed goal is not an error.
pub type BenchError = Box<dyn std::error::Error + Send + Sync>;

/// Prints the error of a benchmark, if there is one, and returns the exit code of the process.
pub fn exit_code(name: &str, outcome: Result<(), BenchError>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Encodes a camera frame as JPEG, with the same settings as the server.
#[allow(clippy::expect_used, clippy::missing_panics_doc)]
pub fn jpeg(picture: &Rgb) -> Vec<u8> {
    Jpeg::new(80).encode(picture).expect("the size of a camera frame")
}
