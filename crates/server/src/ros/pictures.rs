//! Pictures of the camera: drawn only while someone subscribes, and the newest ones if they come too fast.

use super::dds::Dds;
use crate::camera::Camera;
use crate::driver::{Moment, Tap};
use chicane_ros::Topic;
use chicane_ros::publish::{compressed, image};
use std::sync::Arc;
use tokio::sync::watch;

/// Frames that may wait to be drawn: half a second. A machine that is busy for a moment loses none.
const WAITING: usize = 8;

/// Draws frame after frame, until the end.
pub(super) async fn draw(dds: Arc<Dds>, camera: Camera, tap: Tap, mut stopped: watch::Receiver<bool>) {
    loop {
        let moments = tokio::select! {
            moments = tap.take() => moments,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        let frames: Vec<&Arc<Moment>> = moments.iter().filter(|moment| moment.frame.is_some()).collect();
        for moment in frames.iter().skip(frames.len().saturating_sub(WAITING)) {
            say(&dds, &camera, moment).await;
        }
    }
}

async fn say(dds: &Dds, camera: &Camera, moment: &Moment) {
    let Some((of, brightness)) = &moment.frame else { return };
    let (size, tick) = (camera.size(None, None), moment.sample.tick);
    if dds.is_heard(Topic::ImageRaw)
        && let Ok(rgb) = camera.rgb(of, size, *brightness).await
    {
        dds.say(image(tick, size.map(|n| n as u32), rgb.bytes.clone()), moment.at);
    }
    if dds.is_heard(Topic::ImageCompressed)
        && let Ok(jpeg) = camera.jpeg(of, size, *brightness).await
    {
        dds.say(compressed(tick, jpeg.to_vec()), moment.at);
    }
}
