//! Grades a class: plan, run, report.
//!
//! - *Plan*: [`submissions`] finds what each student handed in, [`unpack`] turns it into a folder,
//!   and [`planning`] writes `plan.json`. A unit of the plan is one student, one world and one
//!   seed. A submission that can't be run stays in the plan with the reason, but has no units.
//! - *Run*: [`runner`] starts one process per unit, a few at a time. A process that succeeds stores
//!   the result of its unit as a folder in the cache. The folder is named after the hash of
//!   everything that the result depends on. The folder appears complete or not at all, so an
//!   interrupted run continues where it stopped.
//! - *Report*: [`grades`] computes the grades from the plan and the cached results. [`report`] and
//!   [`exports`] write them for people and for other programs. None of these modules reads a clock,
//!   so the same results give the same bytes.
//!
//! This crate does not contain the command line, and does not evaluate units: the caller provides
//! the command that evaluates a unit. The crate uses processes, clocks and files, so the
//! restrictions of the pure crates do not apply.
#![allow(clippy::disallowed_methods)]

pub mod archive;
pub mod copy;
pub mod csv;
pub mod exports;
pub mod folder;
pub mod formula;
pub mod grades;
pub mod names;
pub mod plan;
pub mod planning;
pub mod program;
pub mod report;
pub mod roster;
pub mod runner;
pub mod shown_files;
pub mod submissions;
pub mod track;
pub mod unit_result;
pub mod unpack;
