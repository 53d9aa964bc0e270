//! Waiting for several file descriptors at once, and a channel whose receiver can be one of them.
//!
//! The channel is an `mpsc` channel with an eventfd: `send` makes the eventfd readable, so `poll`
//! returns.

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The sender of the channel. Sending never blocks.
#[derive(Debug)]
pub struct Notes<T> {
    queue: Sender<T>,
    event: Arc<OwnedFd>,
}

/// The receiver of the channel.
#[derive(Debug)]
pub struct NotesOut<T> {
    queue: Receiver<T>,
    event: Arc<OwnedFd>,
}

impl<T> Clone for Notes<T> {
    fn clone(&self) -> Notes<T> {
        Notes { queue: self.queue.clone(), event: Arc::clone(&self.event) }
    }
}

/// Creates a channel.
pub fn notes<T>() -> std::io::Result<(Notes<T>, NotesOut<T>)> {
    let event = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let (send, receive) = channel();
    Ok((Notes { queue: send, event: Arc::clone(&event) }, NotesOut { queue: receive, event }))
}

impl<T> Notes<T> {
    /// Sends a note. False if the receiver was dropped.
    pub fn send(&self, note: T) -> bool {
        let taken = self.queue.send(note).is_ok();
        // The write fails only when the counter is at its maximum, and then the eventfd is
        // readable.
        let _ = rustix::io::write(&*self.event, &1u64.to_ne_bytes());
        taken
    }
}

impl<T> NotesOut<T> {
    /// The next note, if there is one. Resets the eventfd if there is none.
    pub fn take(&self) -> Option<T> {
        if let Ok(note) = self.queue.try_recv() {
            return Some(note);
        }
        let _ = rustix::io::read(&*self.event, &mut [0u8; 8]);
        // A note may have been sent before the eventfd was reset, so the queue is read again.
        self.queue.try_recv().ok()
    }

    /// The descriptor to poll: it is readable while there may be a note.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// Polls descriptors until one is ready or the timeout passes. Returns for each descriptor whether
/// it is ready.
pub fn wait_for(all: &[(BorrowedFd<'_>, PollFlags)], timeout: Duration) -> Vec<bool> {
    let mut fds: Vec<PollFd<'_>> = all.iter().map(|(fd, flags)| PollFd::new(fd, *flags)).collect();
    let time = Timespec { tv_sec: timeout.as_secs().cast_signed(), tv_nsec: timeout.subsec_nanos().into() };
    let _ = poll(&mut fds, Some(&time));
    fds.iter().map(|fd| !fd.revents().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_whose_senders_were_dropped_was_ready_for_ever() {
        let (send, receive) = notes().expect("a channel");
        assert!(send.send(1) && send.clone().send(2));
        drop(send);
        let is_ready = || wait_for(&[(receive.descriptor(), PollFlags::IN)], Duration::ZERO);
        assert_eq!(is_ready(), [true]);
        assert_eq!([receive.take(), receive.take(), receive.take()], [Some(1), Some(2), None]);
        assert_eq!(is_ready(), [false]);
    }
}
