//! Why podman or docker can't run judging scripts.

use chicane_jail::ask::ClientError;
use rustix::io::Errno;
use std::io;

/// An error of a container engine. The field `engine`, and the only field of `NotInstalled` and
/// `OtherMachine`, is the engine's name on the command line.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The text is not a valid image name.
    #[error("{0:?} is not an image name: give --judge-image a name such as python:3.14-slim")]
    ImageName(String),
    /// There is no such program.
    #[error("{0} is not installed: install it, or start without --judge {0}")]
    NotInstalled(&'static str),
    /// The engine's program could not be started for a short command, or did not end in time.
    #[error("{engine} can't be used: {source}")]
    Client {
        /// The engine.
        engine: &'static str,
        /// The reason.
        source: ClientError,
    },
    /// The engine's program is installed, but its service does not run.
    #[error("no engine answers {engine} ({line}): start it, or start without --judge {engine}")]
    Down {
        /// The engine.
        engine: &'static str,
        /// The last line of the engine's error output.
        line: String,
    },
    /// The image was not pulled.
    #[error("{engine} has no image {image} ({line}): `{engine} pull {image}`")]
    NoImage {
        /// The engine.
        engine: &'static str,
        /// The image.
        image: String,
        /// The last line of the engine's error output.
        line: String,
    },
    /// The pipe or socket of a container could not be created.
    #[error("the pipes of the judge can't be created: {0}")]
    Descriptors(#[source] Errno),
    /// The engine's program could not be started for a new container.
    #[error("{engine} can't be started: {source}")]
    Start {
        /// The engine.
        engine: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The engine reported no process id for its container.
    #[error("{engine} reports no process id for its container ({line})")]
    NoPid {
        /// The engine.
        engine: &'static str,
        /// The last line of the engine's error output.
        line: String,
    },
    /// The container's process id is not a process of this machine.
    #[error(
        "{0} runs its containers on another machine, where no limit can be watched: \
         use one that runs here, or start without --judge {0}"
    )]
    OtherMachine(&'static str),
    /// The container ended before its first process was found.
    #[error("the judge's container is gone already")]
    Gone,
}
