//! The builder from the outside: documents in, bundles out.
#![allow(clippy::disallowed_methods, clippy::panic)]

mod bundle;
mod check;
mod line;
mod project;
mod random;
mod support;
