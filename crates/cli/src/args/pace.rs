//! The pace of an evaluation.

use chicane_wire::Pace;
use clap::ValueEnum;

/// Pace of simulated time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaceName {
    /// The student's program: time waits while the program computes, so the run repeats exactly
    Virtual,
    /// The wall clock, as on a physical car
    Real,
}

impl From<PaceName> for Pace {
    fn from(name: PaceName) -> Pace {
        match name {
            PaceName::Virtual => Pace::Virtual,
            PaceName::Real => Pace::Real,
        }
    }
}
