//! The pace of an evaluation.

use chicane_wire::Pace;
use clap::ValueEnum;

/// Pace of simulated time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaceName {
    /// Time waits while the student's program computes, so the run repeats exactly
    Virtual,
    /// Time follows the wall clock, as on a physical car
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
