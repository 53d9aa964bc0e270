//! Code that the benchmarks share. It starts the program as a child process, provides an HTTP
//! client, and prints a table of figures.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod client;
pub mod options;
pub mod report;
pub mod server;

use chicane_render::Rgb;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
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
    let mut bytes = Vec::with_capacity(64 << 10);
    let mut encoder = Encoder::new(&mut bytes, 80);
    encoder.set_sampling_factor(SamplingFactor::R_4_2_0);
    let (width, height) = (picture.width as u16, picture.height as u16);
    encoder.encode(&picture.bytes, width, height, ColorType::Rgb).expect("a Vec accepts every write");
    bytes
}
