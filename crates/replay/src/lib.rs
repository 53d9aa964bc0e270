//! Simulates recorded runs again from their journals, to verify, judge or show them.
//!
//! A [`RecordedRun`] contains everything that a new simulation needs: journal, record and world.
//! [`Rerun`] simulates it. [`verify`] judges it again and compares every hash, every event and the
//! record. [`Rejudging`] judges the same drive with another script. [`Tracks`] contains the drive
//! as numbers for viewers, and [`Messages`] the messages of every tick for files of other formats.
//! [`Replays`] caches the runs that viewers look at.
//!
//! This crate starts judges and reads clocks, so the restrictions of the pure crates do not apply.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod difference;
mod film;
mod filming;
mod import;
mod judge_again;
mod messages;
mod program;
mod recorded_run;
mod rejudge;
mod replays;
mod simulation;
mod tracks;
mod verify;

pub use difference::Difference;
pub use film::Film;
pub use filming::{Filming, SeekError};
pub use import::import;
pub use messages::{Messages, MessagesError, TickMessages};
pub use program::add_program;
pub use recorded_run::{RecordedRun, RunError};
pub use rejudge::{Rejudged, Rejudging, StopRejudging};
pub use replays::{ReplayError, Replays};
pub use simulation::Rerun;
pub use tracks::Tracks;
pub use verify::{NotVerified, Verified, verify};
