//! The leaderboard: students hand in programs, and a table shows the best verified run of each
//! student in each world of the contest.
//!
//! - [`Leaderboard::hand_in`] checks a submission, stores it, and only then acknowledges it.
//! - One worker thread judges the submissions one after another. Each run has its own process, in a
//!   closed box and in virtual time. A run counts only after it was verified. The leaderboard does
//!   not use the simulator that is running.
//! - A result is first written to a folder of its own in the data folder, and this folder appears
//!   complete or not at all. Then the result is written to the database. After the simulator was
//!   killed and started again, the worker continues with the runs that are not in the database.
//!
//! | Module | Content |
//! |---|---|
//! | `student_name` | names of students, and which names mean the same student |
//! | `pseudonym` | names for anonymous tables |
//! | `rates` | how often a student and an address may hand in |
//! | `standings` | the tables, from the results |
//! | `uploads` | the files of the submissions |
//! | `judging` | one run: starts its process, follows it, stores its result |
//! | `worker` | the queue, and the thread that judges |
//! | `pack` | a folder of a student as a zip file |
//!
//! This crate contains no HTTP and no command line. It uses processes, clocks and files, so the
//! restrictions of the pure crates do not apply.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod contest;
mod error;
mod judging;
mod leaderboard;
pub mod pack;
mod pseudonym;
mod rates;
mod run_result;
mod standings;
mod student_name;
mod uploads;
mod worker;

pub use contest::LeaderboardOptions;
pub use error::{HandInError, RemoveSubmissionError, StartLeaderboardError};
pub use leaderboard::{Admitted, Leaderboard};
pub use run_result::{LAST_LINE_OF_RUN, RunReportLine};
pub use student_name::MAX_NAME;
