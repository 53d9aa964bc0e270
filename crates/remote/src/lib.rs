//! Connections to other machines: an HTTP client, S3 buckets, and installation of published worlds.
//!
//! This crate opens connections and never accepts one. It also contains the tokens that give access
//! to a simulator, because the web server and the command line both need them. It does not depend
//! on the sim thread: an [`Installer`](cdn::Installer) reports its progress through a callback, and
//! the caller decides where to show it.
//!
//! | Module | Content |
//! |---|---|
//! | `web` | connections to other machines: names, TLS, connection pool |
//! | `bucket` | an S3 bucket: address, settings, requests, classification of errors |
//! | `cdn` | installs published worlds: `source`, `download`, `installer` |
//! | `json_request` | a request to a simulator at any address |
//! | `running` | the file that names the simulator of a data folder |
//! | `simulator` | requests to a running simulator from the command line |
//! | `token` | the secret of a simulator or a CDN |
//! | `tokens` | the tokens of a simulator, with their roles |
//! | `wrong_tokens` | counts the wrong tokens from each address, to slow down guessing |
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod bucket;
pub mod cdn;
mod json_request;
mod running;
mod simulator;
mod token;
mod tokens;
pub mod web;
mod wrong_tokens;

pub use bucket::{BucketError, open_bucket};
pub use json_request::{JsonResponse, request_json};
pub use running::RunningSimulator;
pub use simulator::{SimulatorError, call_simulator};
pub use token::{BadToken, Token};
pub use tokens::{BadTokens, Tokens};
pub use wrong_tokens::{Verdict, WrongTokens};
