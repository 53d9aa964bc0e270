//! Waiting for many things at once: descriptors, and a queue that has one.

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

/// The way in. Sending never waits.
#[derive(Debug)]
pub struct Notes<T> {
    queue: Sender<T>,
    bell: Arc<OwnedFd>,
}

/// The way out.
#[derive(Debug)]
pub struct NotesOut<T> {
    queue: Receiver<T>,
    bell: Arc<OwnedFd>,
}

impl<T> Clone for Notes<T> {
    fn clone(&self) -> Notes<T> {
        Notes { queue: self.queue.clone(), bell: Arc::clone(&self.bell) }
    }
}

/// A new queue.
pub fn notes<T>() -> std::io::Result<(Notes<T>, NotesOut<T>)> {
    let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let (send, receive) = channel();
    Ok((Notes { queue: send, bell: Arc::clone(&bell) }, NotesOut { queue: receive, bell }))
}

impl<T> Notes<T> {
    /// Puts something in. False when nobody will take it out.
    pub fn send(&self, note: T) -> bool {
        let taken = self.queue.send(note).is_ok();
        // A bell that can't count higher rings already.
        let _ = rustix::io::write(&*self.bell, &1u64.to_ne_bytes());
        taken
    }
}

impl<T> NotesOut<T> {
    /// The next note, if there is one. Quietens the bell when there is none.
    pub(crate) fn take(&self) -> Option<T> {
        match self.queue.try_recv() {
            Ok(note) => return Some(note),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {}
        }
        let _ = rustix::io::read(&*self.bell, &mut [0u8; 8]);
        // One may have come before the bell was quietened.
        self.queue.try_recv().ok()
    }

    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

/// Waits until one of the descriptors has something, or the time is over. Which of them have.
pub(crate) fn wait_for(all: &[(BorrowedFd<'_>, PollFlags)], most: Duration) -> Vec<bool> {
    let mut fds: Vec<PollFd<'_>> = all.iter().map(|(fd, flags)| PollFd::new(fd, *flags)).collect();
    let time = Timespec { tv_sec: most.as_secs().cast_signed(), tv_nsec: most.subsec_nanos().into() };
    let _ = poll(&mut fds, Some(&time));
    fds.iter().map(|fd| !fd.revents().is_empty()).collect()
}
