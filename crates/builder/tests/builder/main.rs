//! Tests of the public API: documents in, bundles out.
#![allow(clippy::disallowed_methods, clippy::panic)]

mod bundle;
mod check;
mod project;
mod random;
mod support;
mod track_line;
