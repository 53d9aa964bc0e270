//! The web API, as its contract has it. Every test starts a simulator of its own in this process, on
//! a free port and an empty data folder.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

mod access;
mod audio;
mod audio_events;
mod audio_sources;
mod audio_streams;
mod bridge;
mod bridge_hostile;
mod bridge_protocol;
mod camera;
mod clock;
mod display;
mod docs;
mod errors;
mod evaluation;
mod evaluation_hostile;
mod evaluation_same;
mod evaluation_script;
mod evaluation_student;
mod events;
mod examples;
mod hostile_cdn;
mod installing;
mod installing_crowd;
mod lights;
mod metrics;
mod objects;
mod pose;
mod print;
mod robot_commands;
mod robot_docs;
mod robot_holds;
mod robot_sensors;
mod robot_sockets;
mod robot_streams;
mod scene;
mod state;
mod status;
mod step;
mod stopping;
mod support;
mod switch;
mod token;
mod world;
mod worlds;
