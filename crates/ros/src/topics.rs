//! The topics: name, type, quality of service and direction of each.

use crate::messages::{
    BatteryState, CameraInfo, Clock, CompressedImage, Float64, Image, Imu, JointState, LaserScan, Odometry,
    RosType, TFMessage, Twist, UInt64,
};

/// A topic of the robot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Pictures as pixels.
    ImageRaw,
    /// Pictures as JPEG.
    ImageCompressed,
    /// The camera's optics.
    CameraInfo,
    /// Laser scans.
    Scan,
    /// Laser scans without lone and missing beams.
    ScanFiltered,
    /// Gyro and accelerometer.
    Imu,
    /// Odometry.
    Odom,
    /// Odometry at the scans.
    OdomLaser,
    /// Frames that move.
    Tf,
    /// Frames that do not.
    TfStatic,
    /// Angles of everything that turns.
    JointStates,
    /// The battery.
    BatteryState,
    /// Simulated time.
    Clock,
    /// How often the car was put elsewhere.
    Epoch,
    /// m/s, in.
    Speed,
    /// rad, in.
    Steering,
    /// rad, in.
    Pan,
    /// rad, in.
    Tilt,
    /// m/s and rad/s, in.
    CmdVel,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The robot.
    Out,
    /// Someone else.
    In,
}

/// Whether those who come late get what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// No.
    Volatile,
    /// Yes, what is kept.
    TransientLocal,
}

/// Quality of service. All topics are reliable, so that readers of either kind match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Qos {
    /// Samples that are kept: the last so many.
    pub depth: usize,
    /// Whether those who come late get them.
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

    /// Its name, with the leading slash.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Name of its type, `package/msg/Type`.
    pub const fn type_name(self) -> &'static str {
        self.row().1
    }

    /// Its quality of service.
    pub const fn qos(self) -> Qos {
        let durability = match self {
            Topic::TfStatic | Topic::Epoch => Durability::TransientLocal,
            _ => Durability::Volatile,
        };
        Qos { depth: self.row().2, durability }
    }

    /// Who speaks.
    pub const fn direction(self) -> Direction {
        match self {
            Topic::Speed | Topic::Steering | Topic::Pan | Topic::Tilt | Topic::CmdVel => Direction::In,
            _ => Direction::Out,
        }
    }

    /// The topic of this name, with or without the leading slash.
    pub fn by_name(name: &str) -> Option<Topic> {
        let name = name.strip_prefix('/').unwrap_or(name);
        Topic::ALL.into_iter().find(|topic| topic.name()[1..] == *name)
    }

    /// The table.
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
    fn names_are_found_with_and_without_a_slash_and_are_all_different() {
        for topic in Topic::ALL {
            assert_eq!(Topic::by_name(topic.name()), Some(topic));
            assert_eq!(Topic::by_name(&topic.name()[1..]), Some(topic));
        }
        for other in ["", "/", "//scan", "scan/", "/nothing"] {
            assert_eq!(Topic::by_name(other), None, "{other}");
        }
    }

    #[test]
    fn late_comers_get_what_stays_true() {
        let kept = |t: &Topic| t.qos().durability == Durability::TransientLocal;
        let kept: Vec<&str> = Topic::ALL.iter().filter(|t| kept(t)).map(|t| t.name()).collect();
        assert_eq!(kept, ["/tf_static", "/sim/epoch"]);
    }
}
