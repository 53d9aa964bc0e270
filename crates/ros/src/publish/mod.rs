//! Converts samples of the robot to the messages of a tick.
//!
//! The topics have different rates in simulated time, and a [`Sample`] contains only the values
//! that are due at its tick. Each transport has a [`Publisher`], which stores the car's constants
//! and the latched messages. A latched message is the last message of its topic. Every new
//! subscriber gets this message at once. Images are not part of a sample, because they are drawn
//! only if a client subscribes to them.

mod frames;
mod sensors;

use crate::messages::{Clock, CompressedImage, Image, Message, TFMessage, Time, UInt64};
use crate::topics::Topic;
use chicane_robot::{Battery, Imu, Joints, ODOM_RATE_HZ, Odom, Scan, Topics};
use chicane_world::Profile;
use chicane_world::readings::sample_at;
use frames::OPTICAL;
use std::sync::Arc;

/// A message and its topic.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The topic.
    pub topic: Topic,
    /// The message.
    pub message: Message,
}

impl Outgoing {
    fn new(topic: Topic, message: impl Into<Message>) -> Outgoing {
        Outgoing { topic, message: message.into() }
    }
}

/// The values that the robot publishes at one tick. A value that is not due at this tick is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// The tick.
    pub tick: u64,
    /// The epoch: a counter that increases when the car is moved by other means than driving.
    pub epoch: u64,
    /// Whether simulated time advanced. Only then is the clock published.
    pub stepped: bool,
    /// Odometry.
    pub odom: Option<Odom>,
    /// Odometry at the tick of the scan.
    pub laser: Option<Odom>,
    /// Joint states.
    pub joints: Option<Joints>,
    /// Laser scan.
    pub scan: Option<Scan>,
    /// Sample of gyro and accelerometer.
    pub imu: Option<Imu>,
    /// State of the battery.
    pub battery: Option<Battery>,
    /// Whether a camera image is due at this tick.
    pub frame: bool,
}

impl Sample {
    /// The values of `newest` that are due at this tick.
    pub fn at(tick: u64, epoch: u64, newest: &Topics, profile: &Profile) -> Sample {
        let due = |rate_hz: u32| sample_at(tick, rate_hz);
        fn fresh<T: Clone>(newest: Option<&T>, sample: impl Fn(&T) -> u64, due: Option<u64>) -> Option<T> {
            newest.filter(|newest| due == Some(sample(newest))).cloned()
        }
        let (lidar, planar) = (due(profile.lidar.rate_hz), due(ODOM_RATE_HZ));
        Sample {
            tick,
            epoch,
            stepped: true,
            odom: fresh(newest.odom.as_ref(), |o| o.sample, planar),
            laser: fresh(newest.laser.as_ref(), |o| o.sample, lidar),
            joints: fresh(newest.joints.as_ref(), |j| j.sample, planar),
            scan: fresh(newest.scan.as_ref(), |s| s.sample, lidar),
            imu: fresh(newest.imu.as_ref(), |i| i.sample, due(profile.imu.rate_hz)),
            battery: fresh(newest.battery.as_ref(), |b| b.sample, due(profile.battery.rate_hz)),
            frame: due(profile.camera.rate_hz).is_some(),
        }
    }

    /// A sample that contains only an epoch, for example because the car was placed elsewhere while
    /// time was paused.
    pub fn epoch_only(tick: u64, epoch: u64) -> Sample {
        Sample { tick, epoch, ..Sample::default() }
    }
}

/// Converts samples to messages.
#[derive(Debug, Clone)]
pub struct Publisher {
    profile: Arc<Profile>,
    /// The transforms of the fixed frames. Every new subscriber gets this message at once.
    fixed: TFMessage,
    /// The last published epoch; `None` before the first message. Every new subscriber gets the
    /// epoch at once.
    epoch: Option<u64>,
    /// The last joint states of this epoch; `None` before the first of them. The velocities of the
    /// servos are computed from these and the next joint states.
    joints: Option<Joints>,
}

impl Publisher {
    /// A publisher that has not published a message yet.
    pub fn new(profile: Arc<Profile>) -> Publisher {
        let fixed = frames::fixed(&profile);
        Publisher { profile, fixed, epoch: None, joints: None }
    }

    /// The messages of a sample, without images. The first call includes the latched messages.
    pub fn messages(&mut self, sample: &Sample) -> Vec<Outgoing> {
        let (profile, stamp) = (&*self.profile, Time::of_tick(sample.tick));
        let mut out = Vec::with_capacity(8);
        if sample.stepped {
            // The clock comes first, so that a subscriber knows the time of the messages that
            // follow.
            out.push(Outgoing::new(Topic::Clock, Clock { clock: stamp }));
        }
        if self.epoch.is_none() {
            out.push(Outgoing::new(Topic::TfStatic, self.fixed.clone()));
        }
        if self.epoch != Some(sample.epoch) {
            self.epoch = Some(sample.epoch);
            self.joints = None;
            out.push(Outgoing::new(Topic::Epoch, UInt64 { data: sample.epoch }));
        }
        if let Some(imu) = &sample.imu {
            out.push(Outgoing::new(Topic::Imu, sensors::imu(imu, stamp, profile)));
        }
        if let Some(scan) = &sample.scan {
            let raw = sensors::scan(scan.ranges.clone(), stamp, profile);
            let filtered = sensors::scan(sensors::median(&scan.ranges), stamp, profile);
            out.push(Outgoing::new(Topic::Scan, raw));
            out.push(Outgoing::new(Topic::ScanFiltered, filtered));
        }
        let moving = frames::moving(sample.odom.as_ref(), sample.joints.as_ref(), stamp, profile);
        if !moving.transforms.is_empty() {
            out.push(Outgoing::new(Topic::Tf, moving));
        }
        if let Some(odom) = &sample.odom {
            out.push(Outgoing::new(Topic::Odom, sensors::odometry(odom, stamp)));
        }
        if let Some(laser) = &sample.laser {
            out.push(Outgoing::new(Topic::OdomLaser, sensors::odometry(laser, stamp)));
        }
        if let Some(joints) = &sample.joints {
            let before = self.joints.replace(*joints);
            out.push(Outgoing::new(Topic::JointStates, sensors::joints(joints, before.as_ref(), stamp)));
        }
        if let Some(battery) = &sample.battery {
            out.push(Outgoing::new(Topic::BatteryState, sensors::battery(battery, stamp)));
        }
        if sample.frame {
            out.push(Outgoing::new(Topic::CameraInfo, sensors::camera_info(stamp, profile)));
        }
        out
    }

    /// The latched messages that were already published. Every new subscriber gets them at once.
    pub fn latched(&self) -> Vec<Outgoing> {
        let Some(epoch) = self.epoch else { return Vec::new() };
        let epoch = Outgoing::new(Topic::Epoch, UInt64 { data: epoch });
        vec![Outgoing::new(Topic::TfStatic, self.fixed.clone()), epoch]
    }
}

/// A camera image as pixels. Each pixel has three bytes, and the top row is first.
pub fn image(tick: u64, [width, height]: [u32; 2], rgb: Vec<u8>) -> Outgoing {
    let header = frames::header(Time::of_tick(tick), OPTICAL);
    let encoding = "rgb8".to_owned();
    let image = Image { header, height, width, encoding, is_bigendian: 0, step: 3 * width, data: rgb };
    Outgoing::new(Topic::ImageRaw, image)
}

/// A camera image as JPEG.
pub fn compressed(tick: u64, jpeg: Vec<u8>) -> Outgoing {
    let header = frames::header(Time::of_tick(tick), OPTICAL);
    let image = CompressedImage { header, format: "jpeg".to_owned(), data: jpeg };
    Outgoing::new(Topic::ImageCompressed, image)
}

#[cfg(test)]
mod tests;
