//! Sends the robot's sound events to listeners: pages that play the sounds, and programs.
//!
//! A sound event is sent after its effect is published. The event carries the serial number of the
//! published value that first includes the effect. A new listener subscribes first and then reads
//! the published value, so no event is lost between the two. The listener skips the events whose
//! effect this value already includes. All listeners read from one bounded ring buffer. A listener
//! that falls behind gets an error, and has to subscribe and read the published value again.

use bytes::Bytes;
use chicane_robot::audio::AudioEvent;
use std::sync::{Arc, OnceLock};
use tokio::sync::broadcast;

/// Number of events in the ring buffer.
const BUFFERED_EVENTS: usize = 256;
/// Maximum number of listeners.
const MAX_LISTENERS: usize = 256;

/// The output of the robot's sounds. Clones share the listeners.
#[derive(Clone)]
pub struct Loudspeaker {
    events: broadcast::Sender<Arc<SoundNotice>>,
}

/// A sound event as listeners get it.
#[derive(Debug)]
pub struct SoundNotice {
    /// Serial number of the first published value that includes the effect of the event.
    pub serial: u64,
    /// Simulated time of the event, s.
    pub time_s: f64,
    /// The event.
    pub event: AudioEvent,
    /// The event as it is sent, encoded once for all listeners.
    pub bytes: OnceLock<Bytes>,
}

impl Loudspeaker {
    /// A loudspeaker without listeners.
    pub(crate) fn new() -> Loudspeaker {
        Loudspeaker { events: broadcast::channel(BUFFERED_EVENTS).0 }
    }

    /// Sends events, each with its simulated time in seconds, to all listeners. `serial` is the
    /// serial number of the published value that includes the events.
    pub(crate) fn publish(&self, serial: u64, events: impl IntoIterator<Item = (f64, AudioEvent)>) {
        for (time_s, event) in events {
            // The send fails if there is no listener.
            let _ = self.events.send(Arc::new(SoundNotice { serial, time_s, event, bytes: OnceLock::new() }));
        }
    }

    /// A receiver of all events from now on; `None` if the maximum number of listeners is reached.
    pub fn listen(&self) -> Option<broadcast::Receiver<Arc<SoundNotice>>> {
        (self.events.receiver_count() < MAX_LISTENERS).then(|| self.events.subscribe())
    }
}
