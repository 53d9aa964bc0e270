//! Publishes camera frames on the image topics. A frame is drawn only while an image topic has
//! subscribers.

use crate::connection::Connection;
use chicane_host::camera::Camera;
use chicane_host::driver::{Tap, TappedTick};
use chicane_host::image_topics::{FrameToPublish, publish_frame};
use std::sync::Arc;
use tokio::sync::watch;

/// Maximum number of frames that wait to be drawn: enough for half a second at 15 frames per
/// second, so that no frame is lost in a short load peak.
const MAX_WAITING_FRAMES: usize = 8;

/// Draws frames until `stopped` is set. If frames arrive too fast, the oldest are skipped.
pub(super) async fn draw(
    connection: Arc<Connection>,
    camera: Camera,
    tap: Tap,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        let moments = tokio::select! {
            moments = tap.take() => moments,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        let frames: Vec<&Arc<TappedTick>> = moments.iter().filter(|moment| moment.frame.is_some()).collect();
        for moment in frames.iter().skip(frames.len().saturating_sub(MAX_WAITING_FRAMES)) {
            let Some((exposure, brightness)) = &moment.frame else { continue };
            let frame = FrameToPublish { exposure, tick: moment.sample.tick, brightness: *brightness };
            let publish = |out| connection.publish(out, moment.at);
            publish_frame(&camera, frame, |topic| connection.has_subscribers(topic), publish).await;
        }
    }
}
