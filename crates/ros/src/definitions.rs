//! The definitions of the message types, as text.
//!
//! Each line of a definition has a type and a name, as in a `.msg` file. A test compares the
//! definitions with the message structs of the program.

/// The message types, each with the lines of its fields.
const DEFINITIONS: [(&str, &str); 25] = [
    ("builtin_interfaces/Time", "int32 sec\nuint32 nanosec"),
    ("geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z"),
    ("geometry_msgs/Pose", "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation"),
    ("geometry_msgs/PoseWithCovariance", "geometry_msgs/Pose pose\nfloat64[36] covariance"),
    ("geometry_msgs/Quaternion", "float64 x\nfloat64 y\nfloat64 z\nfloat64 w"),
    ("geometry_msgs/Transform", "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation"),
    (
        "geometry_msgs/TransformStamped",
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform",
    ),
    ("geometry_msgs/Twist", "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular"),
    ("geometry_msgs/TwistWithCovariance", "geometry_msgs/Twist twist\nfloat64[36] covariance"),
    ("geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z"),
    (
        "nav_msgs/Odometry",
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n\
         geometry_msgs/TwistWithCovariance twist",
    ),
    ("rosgraph_msgs/Clock", "builtin_interfaces/Time clock"),
    (
        "sensor_msgs/BatteryState",
        "std_msgs/Header header\nfloat32 voltage\nfloat32 temperature\nfloat32 current\nfloat32 charge\n\
         float32 capacity\nfloat32 design_capacity\nfloat32 percentage\nuint8 power_supply_status\n\
         uint8 power_supply_health\nuint8 power_supply_technology\nbool present\nfloat32[] cell_voltage\n\
         float32[] cell_temperature\nstring location\nstring serial_number",
    ),
    (
        "sensor_msgs/CameraInfo",
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\n\
         float64[9] k\nfloat64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\n\
         sensor_msgs/RegionOfInterest roi",
    ),
    ("sensor_msgs/CompressedImage", "std_msgs/Header header\nstring format\nuint8[] data"),
    (
        "sensor_msgs/Image",
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\n\
         uint32 step\nuint8[] data",
    ),
    (
        "sensor_msgs/Imu",
        "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n\
         geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n\
         geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance",
    ),
    (
        "sensor_msgs/JointState",
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort",
    ),
    (
        "sensor_msgs/LaserScan",
        "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\n\
         float32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\nfloat32[] ranges\n\
         float32[] intensities",
    ),
    (
        "sensor_msgs/RegionOfInterest",
        "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify",
    ),
    ("std_msgs/Float64", "float64 data"),
    ("std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id"),
    ("std_msgs/UInt64", "uint64 data"),
    ("tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms"),
    // The type in which the services of rosapi return definitions.
    (
        "rosapi_msgs/TypeDef",
        "string type\nstring[] fieldnames\nstring[] fieldtypes\nint32[] fieldarraylen\nstring[] examples\n\
         string[] constnames\nstring[] constvalues",
    ),
];

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// Name of the field.
    pub name: &'a str,
    /// Type of the field. If the field is an array, this is the type of the elements.
    pub kind: &'a str,
    /// Length of an array. 0 means any length, and −1 means that the field is not an array.
    pub length: i32,
}

/// The short form of a type, `package/Type` for `package/msg/Type`.
pub fn short_type(kind: &str) -> String {
    kind.replacen("/msg/", "/", 1)
}

/// The lines of a type's definition. `kind` is the short form of the type. `None` if the type is
/// unknown.
pub fn lines(kind: &str) -> Option<&'static str> {
    DEFINITIONS.iter().find(|(name, _)| *name == kind).map(|(_, lines)| *lines)
}

/// Parses the lines of a definition.
pub fn fields(lines: &str) -> impl Iterator<Item = Field<'_>> {
    lines.lines().filter_map(|line| line.split_once(' ')).map(|(kind, name)| match kind.split_once('[') {
        None => Field { name, kind, length: -1 },
        Some((kind, length)) => {
            Field { name, kind, length: length.trim_end_matches(']').parse().unwrap_or(0) }
        }
    })
}

/// The definitions of a type and of all types of its fields, in the text format that ROS recorders
/// and viewers read. `None` if a type is unknown.
pub fn full_text(kind: &str) -> Option<String> {
    let kind = short_type(kind);
    let all = with_field_types(&kind, lines(&kind)?)?;
    let mut text = String::new();
    for (i, (kind, lines)) in all.iter().enumerate() {
        if i > 0 {
            text.push_str(&format!("\n{}\nMSG: {kind}\n", "=".repeat(80)));
        }
        text.push_str(lines);
    }
    text.push('\n');
    Some(text)
}

/// The type `kind`, whose definition has the lines `own`, and the types of its fields and of their
/// fields, each with the lines of its definition. `None` if the type of a field is unknown.
pub fn with_field_types(kind: &str, own: &'static str) -> Option<Vec<(String, &'static str)>> {
    let mut all = vec![(kind.to_owned(), own)];
    let mut next = 0;
    while let Some((_, lines_of)) = all.get(next) {
        for field in fields(lines_of).filter(|f| f.kind.contains('/')) {
            if !all.iter().any(|(known, _)| known == field.kind) {
                all.push((field.kind.to_owned(), lines(field.kind)?));
            }
        }
        next += 1;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::*;
    use crate::{Message, Topic};
    use serde_json::Value;

    /// Compares a definition with the JSON of a message, recursively. All elements of an array are
    /// compared.
    fn assert_matches(kind: &str, value: &Value) {
        let Some(lines) = lines(kind) else {
            let fits = match kind {
                "string" => value.is_string(),
                "bool" => value.is_boolean(),
                "float32" | "float64" => value.is_f64() || value.is_null(),
                _ => value.is_u64() || value.is_i64(),
            };
            return assert!(fits, "{kind}: {value}");
        };
        let Value::Object(given) = value else { panic!("{kind}: {value}") };
        let names: Vec<&str> = fields(lines).map(|f| f.name).collect();
        assert_eq!(given.len(), names.len(), "{kind}");
        for field in fields(lines) {
            let value = given.get(field.name).unwrap_or_else(|| panic!("{kind} has {}", field.name));
            match field.length {
                -1 => assert_matches(field.kind, value),
                length => {
                    let all = value.as_array().unwrap_or_else(|| panic!("{kind}.{}", field.name));
                    assert!(length == 0 || all.len() == length as usize, "{kind}.{}", field.name);
                    all.iter().for_each(|one| assert_matches(field.kind, one));
                }
            }
        }
    }

    #[test]
    fn definitions_match_the_messages() {
        let transforms = TFMessage { transforms: vec![TransformStamped::default()] };
        let all: [Message; 13] = [
            BatteryState::default().into(),
            CameraInfo::default().into(),
            Clock::default().into(),
            CompressedImage::default().into(),
            Float64::default().into(),
            Image::default().into(),
            Imu::default().into(),
            JointState::default().into(),
            LaserScan::default().into(),
            Odometry::default().into(),
            transforms.into(),
            Twist::default().into(),
            UInt64::default().into(),
        ];
        for message in &all {
            assert_matches(&short_type(message.type_name()), &serde_json::to_value(message).expect("JSON"));
        }
        for topic in Topic::ALL {
            assert!(all.iter().any(|m| m.type_name() == topic.type_name()), "{}", topic.name());
            assert!(full_text(topic.type_name()).is_some());
        }
    }

    #[test]
    fn the_text_of_a_definition_includes_the_types_of_its_fields() {
        let text = full_text("std_msgs/msg/Header").expect("known");
        assert!(text.starts_with("builtin_interfaces/Time stamp\nstring frame_id\n====="), "{text}");
        assert!(text.ends_with("MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"), "{text}");
        assert_eq!(full_text("std_msgs/String"), None);
    }
}
