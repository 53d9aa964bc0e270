//! The receiving end of the sim thread's order channel.

use super::order::Envelope;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Orders that wait for the sim thread.
pub(super) struct Inbox {
    orders: Receiver<Envelope>,
    /// An order that `has_next` has taken from the channel; `None` if there is none.
    next: Option<Envelope>,
}

impl Inbox {
    pub(super) fn new(orders: Receiver<Envelope>) -> Inbox {
        Inbox { orders, next: None }
    }

    /// The next order, if one waits.
    pub(super) fn try_next(&mut self) -> Option<Envelope> {
        self.next.take().or_else(|| self.orders.try_recv().ok())
    }

    /// Whether an order waits. The order stays in the inbox.
    pub(super) fn has_next(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.orders.try_recv().ok();
        }
        self.next.is_some()
    }

    /// Waits for an order, at most for `timeout`, or without limit if `timeout` is `None`.
    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> Result<Option<Envelope>, Disconnected> {
        if let Some(order) = self.next.take() {
            return Ok(Some(order));
        }
        match timeout {
            None => self.orders.recv().map(Some).map_err(|_| Disconnected),
            Some(Duration::ZERO) => Ok(self.orders.try_recv().ok()),
            Some(timeout) => match self.orders.recv_timeout(timeout) {
                Ok(order) => Ok(Some(order)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(Disconnected),
            },
        }
    }
}

/// Every sender of the inbox is gone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disconnected;
