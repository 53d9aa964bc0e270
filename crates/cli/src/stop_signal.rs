//! The events that stop a running command: Ctrl-C, SIGTERM, and the end of standard input if
//! `chicane serve` has the option `--lifeline`.

use tokio::sync::oneshot;

/// The program can't receive signals.
#[derive(Debug, thiserror::Error)]
#[error("can't listen for signals: {0}")]
pub(crate) struct SignalError(std::io::Error);

/// Waits for the first event that stops the command.
pub(crate) struct StopSignal {
    /// Completes when standard input ends. `None` without the option `--lifeline`.
    lifeline: Option<oneshot::Receiver<()>>,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl StopSignal {
    #[cfg(unix)]
    pub(crate) fn new(lifeline: bool) -> Result<StopSignal, SignalError> {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).map_err(SignalError);
        Ok(StopSignal {
            lifeline: lifeline.then(end_of_input),
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    #[cfg(unix)]
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            () = ended(&mut self.lifeline) => {}
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn new(lifeline: bool) -> Result<StopSignal, SignalError> {
        Ok(StopSignal { lifeline: lifeline.then(end_of_input) })
    }

    #[cfg(not(unix))]
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            () = ended(&mut self.lifeline) => {}
            // If `ctrl_c` fails, the program stops too, because Ctrl-C could not stop the program
            // later.
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}

/// Reads standard input and discards the data. The returned receiver completes at the end of the
/// input.
fn end_of_input() -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();
    // The read runs on its own thread, because a blocked read of standard input can't be cancelled.
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = sender.send(());
    });
    receiver
}

/// Completes when standard input has ended. Never completes if `lifeline` is `None`.
async fn ended(lifeline: &mut Option<oneshot::Receiver<()>>) {
    match lifeline {
        Some(receiver) => {
            let _ = receiver.await;
            // A receiver must not be polled again after it has completed.
            *lifeline = None;
        }
        None => std::future::pending().await,
    }
}
