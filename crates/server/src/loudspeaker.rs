//! What happens to sounds, for whoever plays them: pages, and programs that listen.
//!
//! Every listener has its place in one bounded ring; one that falls behind it is told so, and starts
//! again from what plays.

use bytes::Bytes;
use chicane_robot::Stack;
use chicane_robot::audio::Event;
use std::sync::{Arc, OnceLock};
use tokio::sync::broadcast;

/// Events that are kept for a slow listener.
const KEPT: usize = 256;

/// Where the robot's sounds go.
#[derive(Clone)]
pub(crate) struct Loudspeaker {
    events: broadcast::Sender<Arc<Told>>,
}

/// An event, and the bytes it is sent as, written once however many listen.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) event: Event,
    pub(crate) bytes: OnceLock<Bytes>,
}

impl Loudspeaker {
    pub(crate) fn new() -> Loudspeaker {
        Loudspeaker { events: broadcast::channel(KEPT).0 }
    }

    /// Tells everyone what happened since.
    pub(crate) fn tell(&self, stack: &mut Stack) {
        for event in stack.take_audio_events() {
            // Nobody has to listen.
            let _ = self.events.send(Arc::new(Told { event, bytes: OnceLock::new() }));
        }
    }

    /// Everything from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Arc<Told>> {
        self.events.subscribe()
    }
}
