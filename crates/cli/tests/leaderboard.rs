//! The leaderboard: programs are handed in, judged one after another, verified and ranked. Every
//! test starts the program with a data folder of its own.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[path = "leaderboard/contest.rs"]
mod contest;
#[path = "leaderboard/hostile.rs"]
mod hostile;
#[path = "leaderboard/killed.rs"]
mod killed;
#[path = "leaderboard/roles.rs"]
mod roles;
#[path = "leaderboard/support.rs"]
mod support;

#[allow(dead_code, reason = "another test uses the rest")]
#[path = "durable/program.rs"]
mod program;
