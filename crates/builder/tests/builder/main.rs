//! Tests of the public API, which reads project documents and builds bundles.
#![allow(clippy::disallowed_methods, clippy::panic)]

mod bundle;
mod check;
mod preview;
mod project;
mod random;
mod support;
mod track_line;
