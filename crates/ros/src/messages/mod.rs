//! The messages of our topics, written from the ROS 2 definitions: same fields, same order.
//!
//! The order is the wire format of DDS, the names are that of rosbridge. A field that is missing in
//! JSON is zero, as rosbridge has it. Byte sequences go through `serde_bytes`, so that a picture is
//! copied and not counted out byte by byte.

mod array;
mod geometry;
mod nav;
mod sensor;
mod standard;

pub use geometry::{
    Point, Pose, PoseWithCovariance, Quaternion, TFMessage, Transform, TransformStamped, Twist,
    TwistWithCovariance, Vector3,
};
pub use nav::Odometry;
pub use sensor::{
    BatteryState, CameraInfo, CompressedImage, Image, Imu, JointState, LaserScan, RegionOfInterest,
};
pub use standard::{Clock, Float64, Header, Time, UInt64};

use serde::Serialize;

/// A message type and its name.
pub trait RosType {
    /// As ROS 2 says it, `package/msg/Type`.
    const NAME: &'static str;
}

/// Says the names of types, and makes one message of them all.
macro_rules! messages {
    ($($variant:ident $name:literal)*) => {
        $(impl RosType for $variant { const NAME: &'static str = $name; })*

        /// A message of any of our topics. It is written as the message itself.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        // A handful of them is alive at a time.
        #[allow(missing_docs, clippy::large_enum_variant)]
        pub enum Message {
            $($variant($variant),)*
        }

        impl Message {
            /// Name of its type, `package/msg/Type`.
            pub fn type_name(&self) -> &'static str {
                match self { $(Message::$variant(_) => $variant::NAME,)* }
            }
        }

        $(impl From<$variant> for Message {
            fn from(message: $variant) -> Message { Message::$variant(message) }
        })*
    };
}

messages! {
    BatteryState "sensor_msgs/msg/BatteryState"
    CameraInfo "sensor_msgs/msg/CameraInfo"
    Clock "rosgraph_msgs/msg/Clock"
    CompressedImage "sensor_msgs/msg/CompressedImage"
    Float64 "std_msgs/msg/Float64"
    Image "sensor_msgs/msg/Image"
    Imu "sensor_msgs/msg/Imu"
    JointState "sensor_msgs/msg/JointState"
    LaserScan "sensor_msgs/msg/LaserScan"
    Odometry "nav_msgs/msg/Odometry"
    TFMessage "tf2_msgs/msg/TFMessage"
    Twist "geometry_msgs/msg/Twist"
    UInt64 "std_msgs/msg/UInt64"
}
