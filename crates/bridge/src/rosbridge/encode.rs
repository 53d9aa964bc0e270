//! Encodes messages as JSON text of the rosbridge protocol. Each message is encoded once for all
//! subscribers.
//!
//! Byte arrays are encoded as base64, and NaN and infinities as null. A time is an object with
//! seconds and nanoseconds, as in the ROS message.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chicane_ros::{Message, Topic};
use serde::Serialize;
use serde_json::ser::Formatter;
use std::io;
use std::sync::OnceLock;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// The name of a topic as a client writes it, with or without the leading slash. Messages to that
/// client use the same form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TopicName {
    pub(super) topic: Topic,
    pub(super) has_slash: bool,
}

impl TopicName {
    /// Parses a name. `None` if there is no such topic.
    pub(super) fn parse(text: &str) -> Option<TopicName> {
        Topic::by_name(text).map(|topic| TopicName { topic, has_slash: text.starts_with('/') })
    }

    pub(super) fn text(self) -> &'static str {
        let name = self.topic.name();
        if self.has_slash { name } else { &name[1..] }
    }
}

/// A message as text, for all subscribers of its topic.
#[derive(Debug)]
pub(super) struct EncodedMessage {
    topic: Topic,
    with_slash: Utf8Bytes,
    /// The text without the slash before the name of the topic. It is made when a client first
    /// needs it.
    without_slash: OnceLock<Utf8Bytes>,
}

impl EncodedMessage {
    /// Encodes a message.
    pub(super) fn new(topic: Topic, message: &Message) -> EncodedMessage {
        let mut bytes = prefix(TopicName { topic, has_slash: true }).into_bytes();
        let mut json = serde_json::Serializer::with_formatter(&mut bytes, Base64Formatter);
        // This can't fail: the output is a vector, and the messages are plain structs.
        let written = message.serialize(&mut json);
        debug_assert!(written.is_ok());
        bytes.push(b'}');
        let with_slash = String::from_utf8(bytes).unwrap_or_default().into();
        EncodedMessage { topic, with_slash, without_slash: OnceLock::new() }
    }

    /// The whole text, with or without a slash before the name of the topic.
    pub(super) fn text(&self, has_slash: bool) -> Utf8Bytes {
        if has_slash {
            return self.with_slash.clone();
        }
        let encode = || {
            let with_slash = prefix(TopicName { topic: self.topic, has_slash: true });
            let without_slash = prefix(TopicName { topic: self.topic, has_slash: false });
            Utf8Bytes::from(format!("{without_slash}{}", &self.with_slash[with_slash.len()..]))
        };
        self.without_slash.get_or_init(encode).clone()
    }

    /// Whether the message is an image. Old images are dropped sooner than other messages.
    pub(super) fn is_image(&self) -> bool {
        matches!(self.topic, Topic::ImageRaw | Topic::ImageCompressed)
    }

    /// Length of the text in bytes.
    pub(super) fn len(&self) -> usize {
        self.with_slash.len()
    }
}

/// The text before the message itself.
fn prefix(name: TopicName) -> String {
    format!("{{\"op\":\"publish\",\"topic\":\"{}\",\"msg\":", name.text())
}

/// Formats JSON with byte arrays as base64.
struct Base64Formatter;

impl Formatter for Base64Formatter {
    fn write_byte_array<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: &[u8]) -> io::Result<()> {
        writer.write_all(b"\"")?;
        writer.write_all(STANDARD.encode(value).as_bytes())?;
        writer.write_all(b"\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_ros::messages::{BatteryState, Clock, LaserScan, Time};
    use serde_json::{Value, json};

    fn encoded(topic: Topic, message: impl Into<Message>, has_slash: bool) -> Value {
        serde_json::from_str(&EncodedMessage::new(topic, &message.into()).text(has_slash)).expect("JSON")
    }

    #[test]
    fn a_message_is_encoded_as_a_publish_operation() {
        let clock = Clock { clock: Time { sec: 7, nanosec: 5_000_000 } };
        let mut want =
            json!({"op": "publish", "topic": "/clock", "msg": {"clock": {"sec": 7, "nanosec": 5000000}}});
        assert_eq!(encoded(Topic::Clock, clock, true), want);
        want["topic"] = "clock".into();
        assert_eq!(encoded(Topic::Clock, clock, false), want);
    }

    #[test]
    fn bytes_are_base64_and_not_a_number_is_null() {
        let out = chicane_ros::publish::image(1, [1, 1], vec![0, 255, 16]);
        let image = encoded(out.topic, out.message, true);
        assert_eq!(image["msg"]["data"], "AP8Q");
        assert_eq!(image["msg"]["encoding"], "rgb8");
        let scan = LaserScan { ranges: vec![0.1, f32::INFINITY, 2.5], ..LaserScan::default() };
        assert_eq!(encoded(Topic::Scan, scan, true)["msg"]["ranges"], json!([0.1, null, 2.5]));
        let battery = BatteryState { temperature: f32::NAN, ..BatteryState::default() };
        assert_eq!(encoded(Topic::BatteryState, battery, true)["msg"]["temperature"], Value::Null);
    }
}
