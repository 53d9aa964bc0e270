//! The topics, each with its name, type, quality of service and direction.

use crate::messages::{
    BatteryState, CameraInfo, Clock, CompressedImage, Float64, Image, Imu, JointState, LaserScan, Odometry,
    RosType, TFMessage, Twist, UInt64,
};

/// A topic of the robot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Camera images as pixels.
    ImageRaw,
    /// Camera images as JPEG.
    ImageCompressed,
    /// Intrinsic parameters of the camera.
    CameraInfo,
    /// Laser scans.
    Scan,
    /// Laser scans after a median filter.
    ScanFiltered,
    /// Samples of gyro and accelerometer.
    Imu,
    /// Odometry.
    Odom,
    /// Odometry at the ticks of the scans.
    OdomLaser,
    /// Transforms of moving frames.
    Tf,
    /// Transforms of fixed frames.
    TfStatic,
    /// Angles and velocities of the joints.
    JointStates,
    /// State of the battery.
    BatteryState,
    /// Simulated time.
    Clock,
    /// The epoch: a counter that increases when the car is moved by other means than driving.
    Epoch,
    /// Speed command, m/s.
    Speed,
    /// Steering command, rad.
    Steering,
    /// Camera pan command, rad.
    Pan,
    /// Camera tilt command, rad.
    Tilt,
    /// Velocity command, m/s and rad/s.
    CmdVel,
}

/// The direction of a topic, seen from the robot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The robot publishes the topic.
    Out,
    /// The robot subscribes to the topic.
    In,
}

/// Whether a late subscriber gets earlier messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A late subscriber gets new messages only.
    Volatile,
    /// A late subscriber gets the last messages, at most as many as the depth of the history.
    TransientLocal,
}

/// Quality of service of a topic. All topics are reliable. A publisher of the robot therefore
/// matches both reliable and best-effort subscribers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Qos {
    /// Number of messages in the history.
    pub depth: usize,
    /// Whether a late subscriber gets the history.
    pub durability: Durability,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Topic; 19] = [
        Topic::ImageRaw,
        Topic::ImageCompressed,
        Topic::CameraInfo,
        Topic::Scan,
        Topic::ScanFiltered,
        Topic::Imu,
        Topic::Odom,
        Topic::OdomLaser,
        Topic::Tf,
        Topic::TfStatic,
        Topic::JointStates,
        Topic::BatteryState,
        Topic::Clock,
        Topic::Epoch,
        Topic::Speed,
        Topic::Steering,
        Topic::Pan,
        Topic::Tilt,
        Topic::CmdVel,
    ];

    /// Name of the topic, with the leading slash.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Name of the message type, `package/msg/Type`.
    pub const fn type_name(self) -> &'static str {
        self.row().1
    }

    /// Quality of service of the topic.
    pub const fn qos(self) -> Qos {
        let durability = match self {
            Topic::TfStatic | Topic::Epoch => Durability::TransientLocal,
            _ => Durability::Volatile,
        };
        Qos { depth: self.row().2, durability }
    }

    /// Direction of the topic, seen from the robot.
    pub const fn direction(self) -> Direction {
        match self {
            Topic::Speed | Topic::Steering | Topic::Pan | Topic::Tilt | Topic::CmdVel => Direction::In,
            _ => Direction::Out,
        }
    }

    /// The topic with this name; `None` if no topic has this name. The leading slash may be
    /// missing.
    pub fn by_name(name: &str) -> Option<Topic> {
        let name = name.strip_prefix('/').unwrap_or(name);
        Topic::ALL.into_iter().find(|topic| topic.name()[1..] == *name)
    }

    /// Name, message type and history depth of the topic.
    const fn row(self) -> (&'static str, &'static str, usize) {
        match self {
            Topic::ImageRaw => ("/camera/image_raw", Image::NAME, 2),
            Topic::ImageCompressed => ("/camera/image_raw/compressed", CompressedImage::NAME, 2),
            Topic::CameraInfo => ("/camera/camera_info", CameraInfo::NAME, 2),
            Topic::Scan => ("/scan", LaserScan::NAME, 5),
            Topic::ScanFiltered => ("/scan_filtered", LaserScan::NAME, 5),
            Topic::Imu => ("/imu", Imu::NAME, 10),
            Topic::Odom => ("/odom", Odometry::NAME, 10),
            Topic::OdomLaser => ("/odom/laser", Odometry::NAME, 10),
            Topic::Tf => ("/tf", TFMessage::NAME, 100),
            Topic::TfStatic => ("/tf_static", TFMessage::NAME, 1),
            Topic::JointStates => ("/joint_states", JointState::NAME, 10),
            Topic::BatteryState => ("/battery_state", BatteryState::NAME, 10),
            Topic::Clock => ("/clock", Clock::NAME, 10),
            Topic::Epoch => ("/sim/epoch", UInt64::NAME, 1),
            Topic::Speed => ("/speed", Float64::NAME, 10),
            Topic::Steering => ("/steering", Float64::NAME, 10),
            Topic::Pan => ("/camera/pan", Float64::NAME, 10),
            Topic::Tilt => ("/camera/tilt", Float64::NAME, 10),
            Topic::CmdVel => ("/cmd_vel", Twist::NAME, 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_found_by_name_with_and_without_a_slash() {
        for topic in Topic::ALL {
            assert_eq!(Topic::by_name(topic.name()), Some(topic));
            assert_eq!(Topic::by_name(&topic.name()[1..]), Some(topic));
        }
        for other in ["", "/", "//scan", "scan/", "/nothing"] {
            assert_eq!(Topic::by_name(other), None, "{other}");
        }
    }

    #[test]
    fn late_subscribers_get_static_frames_and_the_epoch() {
        let kept = |t: &Topic| t.qos().durability == Durability::TransientLocal;
        let kept: Vec<&str> = Topic::ALL.iter().filter(|t| kept(t)).map(|t| t.name()).collect();
        assert_eq!(kept, ["/tf_static", "/sim/epoch"]);
    }
}
