//! The message types of our topics. They have the same fields in the same order as in ROS 2.
//!
//! The order of the fields defines the wire format of DDS, and the names define the JSON of
//! rosbridge. A field that is missing in JSON gets its default, as in rosbridge: zero, an empty
//! text or list, or the identity for a rotation. Byte sequences use `serde_bytes`, because it
//! copies a whole image instead of serializing every byte.

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
    /// Name in ROS 2, `package/msg/Type`.
    const NAME: &'static str;
}

/// Implements `RosType` for all types, and defines the enum `Message` with a variant for each type.
macro_rules! messages {
    ($($variant:ident $name:literal)*) => {
        $(impl RosType for $variant { const NAME: &'static str = $name; })*

        /// A message of any of our topics. It is serialized without the name of the variant.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        // Large variants are acceptable, because only a few messages exist at the same time.
        #[allow(missing_docs, clippy::large_enum_variant)]
        pub enum Message {
            $($variant($variant),)*
        }

        impl Message {
            /// Name of the message type, `package/msg/Type`.
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
