//! Pictures of the camera: drawn only while someone subscribes, and the newest ones if they come too fast.

use super::dds::Dds;
use crate::camera::Camera;
use crate::driver::{Exposure, Moment, Tap};
use chicane_ros::publish::{compressed, image};
use chicane_ros::{Outgoing, Topic};
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
            let Some((of, brightness)) = &moment.frame else { continue };
            let frame = (of, moment.sample.tick, *brightness);
            let say = |out| dds.say(out, moment.at);
            say_frame(&camera, frame, |topic| dds.is_heard(topic), say).await;
        }
    }
}

/// Says a frame (the world, the tick, how bright) in each form that someone wants.
pub(super) async fn say_frame(
    camera: &Camera,
    (of, tick, brightness): (&Arc<Exposure>, u64, f64),
    is_heard: impl Fn(Topic) -> bool,
    say: impl Fn(Outgoing),
) {
    let size = camera.size(None, None);
    if is_heard(Topic::ImageRaw)
        && let Ok(rgb) = camera.rgb(of, size, brightness).await
    {
        say(image(tick, size.map(|n| n as u32), rgb.bytes.clone()));
    }
    if is_heard(Topic::ImageCompressed)
        && let Ok(jpeg) = camera.jpeg(of, size, brightness).await
    {
        say(compressed(tick, jpeg.to_vec()));
    }
}
