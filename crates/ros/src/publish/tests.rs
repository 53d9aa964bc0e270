//! Tests of the rates, times and contents of the published messages.

use super::frames::{BASE, CAMERA, FOOTPRINT, IMU, LIDAR, ODOM};
use super::*;
use crate::messages::{LaserScan, Odometry};
use chicane_world::readings::{ImuSample, Readings, Wheels};
use glam::DVec3;
use std::collections::BTreeMap;

/// A stack that gets artificial readings.
struct Car {
    stack: chicane_robot::Stack,
    profile: Arc<Profile>,
}

impl Car {
    fn new() -> Car {
        let profile = Arc::new(Profile::gen1());
        Car { stack: chicane_robot::Stack::new(Arc::clone(&profile)), profile }
    }

    fn sample(&mut self, tick: u64, epoch: u64) -> Sample {
        let scan = sample_at(tick, 10).map(|sample| Scan { sample, ranges: vec![2.0; 720] });
        let imu = sample_at(tick, 50).map(|sample| ImuSample {
            sample,
            acceleration: DVec3::new(0.0, 0.0, 9.81),
            angular_velocity: DVec3::ZERO,
        });
        let battery = sample_at(tick, 1).map(|sample| Battery {
            sample,
            voltage: 8.4,
            percentage: 100.0,
            current: -0.6,
        });
        let wheels = Wheels { spin: [1.0; 4], steering: 0.1, pan: 0.2, tilt: 0.3 };
        self.stack.sense(&Readings { tick, lidar: scan.as_ref(), imu, wheels, battery });
        Sample::at(tick, epoch, self.stack.topics(), &self.profile)
    }
}

#[test]
fn every_topic_is_published_at_its_rate() {
    let mut car = Car::new();
    let mut publisher = Publisher::new(Arc::clone(&car.profile));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tick in 0..2000 {
        for out in publisher.messages(&car.sample(tick, 1)) {
            assert_eq!(out.message.type_name(), out.topic.type_name());
            *counts.entry(out.topic.name()).or_default() += 1;
        }
    }
    let wanted = [
        ("/battery_state", 10),
        ("/camera/camera_info", 150),
        ("/clock", 2000),
        ("/imu", 500),
        ("/joint_states", 300),
        ("/odom", 300),
        ("/odom/laser", 100),
        ("/scan", 100),
        ("/scan_filtered", 100),
        ("/sim/epoch", 1),
        ("/tf", 300),
        ("/tf_static", 1),
    ];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), wanted);
}

#[test]
fn stamps_are_simulated_time() {
    assert_eq!(Time::of_tick(0), Time { sec: 0, nanosec: 0 });
    assert_eq!(Time::of_tick(201), Time { sec: 1, nanosec: 5_000_000 });
    assert_eq!(Time::of_tick(u64::MAX), Time { sec: i32::MAX, nanosec: 0 });
    let mut car = Car::new();
    let mut publisher = Publisher::new(Arc::clone(&car.profile));
    let all: Vec<Outgoing> = (0..=20).flat_map(|t| publisher.messages(&car.sample(t, 1))).collect();
    let scans: Vec<&LaserScan> = all
        .iter()
        .filter_map(|o| match &o.message {
            Message::LaserScan(scan) if o.topic == Topic::Scan => Some(scan),
            _ => None,
        })
        .collect();
    assert_eq!(scans.len(), 2);
    assert_eq!(scans[1].header.stamp, Time { sec: 0, nanosec: 100_000_000 });
    assert_eq!((scans[1].header.frame_id.as_str(), scans[1].ranges.len()), ("lidar_link", 721));
    let (first, last) = (scans[1].angle_min, scans[1].angle_min + 720.0 * scans[1].angle_increment);
    assert_eq!(scans[1].angle_max, std::f32::consts::PI);
    assert!(
        (first + std::f32::consts::PI).abs() < 1e-6 && (last - scans[1].angle_max).abs() < 1e-5,
        "{last}"
    );
}

#[test]
fn a_new_epoch_is_published_immediately_also_while_time_is_paused() {
    let mut car = Car::new();
    let mut publisher = Publisher::new(Arc::clone(&car.profile));
    assert!(publisher.latched().is_empty());
    publisher.messages(&car.sample(0, 1));
    let epoch = |data| Outgoing::new(Topic::Epoch, UInt64 { data });
    assert_eq!(publisher.messages(&Sample::epoch_only(0, 2)), [epoch(2)]);
    assert_eq!(publisher.messages(&Sample::epoch_only(0, 2)), []);
    let kept = publisher.latched();
    assert_eq!(kept.iter().map(|o| o.topic).collect::<Vec<_>>(), [Topic::TfStatic, Topic::Epoch]);
    assert_eq!(kept[1], epoch(2));
}

#[test]
fn frames_form_one_tree() {
    let mut car = Car::new();
    let mut publisher = Publisher::new(Arc::clone(&car.profile));
    let all = publisher.messages(&car.sample(0, 1));
    let mut parents = BTreeMap::new();
    for out in &all {
        let Message::TFMessage(tf) = &out.message else { continue };
        for t in &tf.transforms {
            let old = parents.insert(t.child_frame_id.clone(), t.header.frame_id.clone());
            assert_eq!(old, None, "{} has one parent", t.child_frame_id);
            let q = t.transform.rotation;
            let length = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
            assert!((length - 1.0).abs() < 1e-12);
        }
    }
    let wanted =
        [(FOOTPRINT, ODOM), (BASE, FOOTPRINT), (LIDAR, BASE), (IMU, BASE), (CAMERA, BASE), (OPTICAL, CAMERA)];
    for (child, parent) in wanted {
        assert_eq!(parents.remove(child).as_deref(), Some(parent), "{child}");
    }
    assert!(parents.is_empty(), "{parents:?}");
}

#[test]
fn the_camera_frame_follows_the_servos() {
    let q = crate::messages::Quaternion::of_pan_tilt(0.4, 0.2);
    let turned = glam::DQuat::from_xyzw(q.x, q.y, q.z, q.w) * DVec3::X;
    let wanted = DVec3::new(libm::cos(0.4) * libm::cos(0.2), libm::sin(0.4) * libm::cos(0.2), libm::sin(0.2));
    assert!(turned.abs_diff_eq(wanted, 1e-12), "{turned}: left and up");
    let fixed = frames::fixed(&Profile::gen1());
    let optical = fixed.transforms.iter().find(|t| t.child_frame_id == OPTICAL).expect("there");
    let q = optical.transform.rotation;
    let optical = glam::DQuat::from_xyzw(q.x, q.y, q.z, q.w);
    assert!((optical * DVec3::Z).abs_diff_eq(DVec3::X, 1e-12), "z is ahead");
    assert!((optical * DVec3::X).abs_diff_eq(-DVec3::Y, 1e-12), "x is right");
    assert!((optical * DVec3::Y).abs_diff_eq(-DVec3::Z, 1e-12), "y is down");
}

#[test]
fn covariances_are_at_the_right_indices() {
    let odom = Odom {
        pose_covariance: [[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]],
        twist_covariance: [[7.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 9.0]],
        ..Odom::default()
    };
    let Odometry { pose, twist, .. } = sensors::odometry(&odom, Time::default());
    let at = |m: &[f64; 36], r: usize, c: usize| m[6 * r + c];
    assert_eq!(
        [at(&pose.covariance, 0, 0), at(&pose.covariance, 0, 5), at(&pose.covariance, 5, 1)],
        [1.0, 3.0, 5.0]
    );
    assert_eq!([at(&twist.covariance, 1, 1), at(&twist.covariance, 5, 5)], [8.0, 9.0]);
    assert!(at(&pose.covariance, 2, 2) > 0.0 && at(&pose.covariance, 3, 3) > 0.0);
}

#[test]
fn the_median_filter_removes_outliers_and_keeps_edges() {
    let inf = f32::INFINITY;
    let ranges = [1.0, 1.0, 9.0, 1.0, 1.0, inf, 1.0, 5.0, 5.0, 5.0, 0.2, 5.0, inf, inf, 1.0];
    let wanted = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 0.0, 0.0, 1.0];
    assert_eq!(sensors::median(&ranges), wanted);
    assert!(sensors::median(&[]).is_empty());
    assert_eq!(sensors::median(&[2.0]), [2.0]);
}

#[test]
fn camera_info_agrees_with_the_profile() {
    let info = sensors::camera_info(Time::default(), &Profile::gen1());
    assert_eq!((info.width, info.height, info.distortion_model.as_str()), (480, 360, "plumb_bob"));
    assert!((info.k[0] - 240.0 / libm::tan(50f64.to_radians())).abs() < 1e-9);
    assert_eq!((info.k[2], info.k[5]), (239.5, 179.5));
    assert_eq!(info.d, [-0.05, 0.008, 0.0, 0.0, 0.0]);
}

#[test]
fn images_have_their_encoding_time_and_frame() {
    let out = image(14, [2, 1], vec![1, 2, 3, 4, 5, 6]);
    let Message::Image(image) = &out.message else { panic!("an image") };
    assert_eq!((image.step, image.encoding.as_str(), out.topic), (6, "rgb8", Topic::ImageRaw));
    assert_eq!((image.header.stamp.nanosec, image.header.frame_id.as_str()), (70_000_000, OPTICAL));
    let out = compressed(14, vec![255, 216]);
    assert_eq!(
        (out.topic, out.message.type_name()),
        (Topic::ImageCompressed, "sensor_msgs/msg/CompressedImage")
    );
}

#[test]
fn joint_states_contain_the_velocities_of_the_servos() {
    let mut car = Car::new();
    let mut publisher = Publisher::new(Arc::clone(&car.profile));
    publisher.messages(&car.sample(0, 1));
    let mut sample = car.sample(7, 1);
    sample.joints.as_mut().expect("on this tick").pan += 0.07;
    let out = publisher.messages(&sample);
    let state = out.iter().find_map(|o| match &o.message {
        Message::JointState(state) => Some(state),
        _ => None,
    });
    let state = state.expect("joint states");
    assert_eq!((state.name.len(), state.position.len(), state.velocity.len()), (8, 8, 8));
    assert!((state.velocity[6] - 2.0).abs() < 1e-9 && state.velocity[7].abs() < 1e-9);
    assert_eq!(state.velocity[0], 1.0);
}

#[test]
fn json_uses_the_names_of_ros_and_missing_fields_are_zero() {
    let json = serde_json::to_value(Message::from(Clock { clock: Time::of_tick(1) })).expect("json");
    assert_eq!(json, serde_json::json!({"clock": {"sec": 0, "nanosec": 5_000_000}}));
    let twist: crate::messages::Twist =
        serde_json::from_str(r#"{"linear": {"x": 1.5}, "angular": {}}"#).expect("read");
    assert_eq!((twist.linear.x, twist.linear.y, twist.angular.z), (1.5, 0.0, 0.0));
    let odom: Odometry = serde_json::from_str(r#"{"child_frame_id": "a"}"#).expect("read");
    assert_eq!(
        serde_json::to_value(&odom).expect("json")["pose"]["covariance"].as_array().map(Vec::len),
        Some(36)
    );
}
