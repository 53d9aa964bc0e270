//! Publishes camera frames as ROS image messages, for DDS and for the bridges over WebSockets.

use crate::camera::Camera;
use crate::driver::Exposure;
use chicane_ros::publish::{compressed, image};
use chicane_ros::{Outgoing, Topic};
use std::sync::Arc;

/// A frame to publish.
pub struct FrameToPublish<'a> {
    /// The world at the tick of the frame.
    pub exposure: &'a Arc<Exposure>,
    /// The tick of the frame.
    pub tick: u64,
    /// Every channel of a pixel is multiplied by this factor.
    pub brightness: f64,
}

/// Draws a frame and publishes it on each image topic that has subscribers.
pub async fn publish_frame(
    camera: &Camera,
    frame: FrameToPublish<'_>,
    has_subscribers: impl Fn(Topic) -> bool,
    publish: impl Fn(Outgoing),
) {
    let FrameToPublish { exposure, tick, brightness } = frame;
    let size = camera.size(None, None);
    if has_subscribers(Topic::ImageRaw)
        && let Ok(rgb) = camera.rgb(exposure, size, brightness).await
    {
        publish(image(tick, size.map(|n| n as u32), rgb.bytes.clone()));
    }
    if has_subscribers(Topic::ImageCompressed)
        && let Ok(jpeg) = camera.jpeg(exposure, size, brightness).await
    {
        publish(compressed(tick, jpeg.to_vec()));
    }
}
