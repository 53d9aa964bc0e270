//! The async runtime of commands that use the network or run a simulator.

use tokio::runtime::{Builder, Runtime};

/// The system could not provide threads or an event queue.
#[derive(Debug, thiserror::Error)]
#[error("can't start the async runtime: {0}")]
pub(crate) struct RuntimeError(std::io::Error);

/// A runtime with one worker thread per core.
pub(crate) fn start() -> Result<Runtime, RuntimeError> {
    Builder::new_multi_thread().enable_all().build().map_err(RuntimeError)
}

/// A runtime with a fixed number of worker threads.
pub(crate) fn start_with_workers(workers: usize) -> Result<Runtime, RuntimeError> {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().map_err(RuntimeError)
}
