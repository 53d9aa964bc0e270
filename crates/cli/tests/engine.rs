//! `--judge podman` and `--judge docker`: with a fake engine on every machine, and with podman
//! itself where it is installed.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic, dead_code)]

#[path = "engine/bench.rs"]
mod bench;
#[path = "engine/podman.rs"]
mod podman;
#[path = "durable/program.rs"]
mod program;
#[path = "engine/standing_in.rs"]
mod standing_in;
