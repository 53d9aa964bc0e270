//! What the benchmarks share: the program in a process of its own, a client of it, and a table of figures.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod client;
pub mod options;
pub mod report;
pub mod server;

use chicane_render::Rgb;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use std::process::ExitCode;

/// What went wrong: the program is broken, not slow.
pub type Broken = Box<dyn std::error::Error + Send + Sync>;

/// Ends a program as it went.
pub fn end(name: &str, outcome: Result<(), Broken>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A frame as it is sent.
#[allow(clippy::expect_used, clippy::missing_panics_doc)]
pub fn jpeg(picture: &Rgb) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 << 10);
    let mut encoder = Encoder::new(&mut bytes, 80);
    encoder.set_sampling_factor(SamplingFactor::R_4_2_0);
    let (width, height) = (picture.width as u16, picture.height as u16);
    encoder.encode(&picture.bytes, width, height, ColorType::Rgb).expect("memory takes it");
    bytes
}
