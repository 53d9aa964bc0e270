//! Tests of `--judge podman` and `--judge docker`. Some tests use a fake container engine and run
//! on every machine. The other tests use podman itself and run only where podman is installed.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic, dead_code)]

#[path = "engine/fake_engine.rs"]
mod fake_engine;
#[path = "engine/podman.rs"]
mod podman;
#[path = "durable/program.rs"]
mod program;
#[path = "engine/served.rs"]
mod served;
