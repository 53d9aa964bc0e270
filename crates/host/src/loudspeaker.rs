//! What happens to sounds, for whoever plays them: pages, and programs that listen.
//!
//! An event is told after what it did can be seen, with the serial number of what was published: a
//! listener that starts from what plays knows which events that holds already. Every listener has its
//! place in one bounded ring; one that falls behind it is told so, and starts again from what plays.

use bytes::Bytes;
use chicane_robot::audio::AudioEvent;
use std::sync::{Arc, OnceLock};
use tokio::sync::broadcast;

/// Events that are kept for a slow listener.
const BUFFERED_EVENTS: usize = 256;
/// Listeners at a time.
const MAX_LISTENERS: usize = 256;

/// Where the robot's sounds go.
#[derive(Clone)]
pub struct Loudspeaker {
    events: broadcast::Sender<Arc<SoundNotice>>,
}

/// An event, and the bytes it is sent as, written once however many listen.
#[derive(Debug)]
pub struct SoundNotice {
    /// Of the first publication that shows what it did.
    pub serial: u64,
    /// Simulated seconds.
    pub time_s: f64,
    pub event: AudioEvent,
    pub bytes: OnceLock<Bytes>,
}

impl Loudspeaker {
    pub fn new() -> Loudspeaker {
        Loudspeaker { events: broadcast::channel(BUFFERED_EVENTS).0 }
    }

    /// Tells everyone what happened, and when.
    pub fn publish(&self, serial: u64, events: impl IntoIterator<Item = (f64, AudioEvent)>) {
        for (time_s, event) in events {
            // Nobody has to listen.
            let _ = self.events.send(Arc::new(SoundNotice { serial, time_s, event, bytes: OnceLock::new() }));
        }
    }

    /// Everything from now on; `None` if too many listen already.
    pub fn listen(&self) -> Option<broadcast::Receiver<Arc<SoundNotice>>> {
        (self.events.receiver_count() < MAX_LISTENERS).then(|| self.events.subscribe())
    }
}
