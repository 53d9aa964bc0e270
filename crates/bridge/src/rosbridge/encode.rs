//! Encodes messages of the rosbridge protocol, in the form that a client asks for. Each form of a
//! message is encoded once for all subscribers.
//!
//! In JSON, byte arrays are encoded as base64, and NaN and infinities as null. A time is an object
//! with seconds and nanoseconds, as in the ROS message.

use super::cbor::Cbor;
use super::png;
use super::protocol::Compression;
use crate::socket::SocketMessage;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chicane_ros::messages::Time;
use chicane_ros::{Message, Topic};
use serde::Serialize;
use serde_json::ser::Formatter;
use std::cell::OnceCell;
use std::io;

/// The name of a topic as a client writes it in a subscription, with or without the leading slash.
/// The messages of the subscription have the name in the same form.
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

/// A message for all subscribers of its topic. Each form is written once, and only if a subscriber
/// needs it.
#[derive(Debug)]
pub(super) struct EncodedMessage<'a> {
    topic: Topic,
    message: &'a Message,
    /// Time of the message. Only the form [`Compression::CborRaw`] contains it.
    time: Time,
    forms: [[OnceCell<SocketMessage>; 2]; Compression::ALL.len()],
}

impl<'a> EncodedMessage<'a> {
    /// A message that is not encoded yet. `tick` is the tick of its publication.
    pub(super) fn new(topic: Topic, message: &'a Message, tick: u64) -> EncodedMessage<'a> {
        EncodedMessage { topic, message, time: Time::of_tick(tick), forms: Default::default() }
    }

    /// The encoded message, with or without a slash before the name of the topic.
    pub(super) fn form(&self, compression: Compression, has_slash: bool) -> SocketMessage {
        let cell = &self.forms[compression as usize][usize::from(has_slash)];
        cell.get_or_init(|| self.write(compression, TopicName { topic: self.topic, has_slash })).clone()
    }

    fn write(&self, compression: Compression, name: TopicName) -> SocketMessage {
        match compression {
            Compression::None => SocketMessage::Text(self.json(name).into()),
            Compression::Png => {
                let json = self.json(name);
                // Packing fails only for more than 4 billion pixels in a row, which no message
                // needs.
                let picture = png::pack(json.as_bytes()).unwrap_or_default();
                let text = format!("{{\"op\":\"png\",\"data\":\"{}\"}}", STANDARD.encode(picture));
                SocketMessage::Text(text.into())
            }
            Compression::Cbor => self.cbor(name, Cbor::of(self.message).unwrap_or(Cbor::Null)),
            Compression::CborRaw => {
                let message = vec![
                    ("secs", Cbor::Unsigned(u64::try_from(self.time.sec).unwrap_or(0))),
                    ("nsecs", Cbor::Unsigned(self.time.nanosec.into())),
                    ("bytes", Cbor::Bytes(chicane_ros::cdr::encode(self.message))),
                ];
                self.cbor(name, Cbor::Map(message))
            }
        }
    }

    fn json(&self, name: TopicName) -> String {
        let mut bytes = prefix(name).into_bytes();
        let mut json = serde_json::Serializer::with_formatter(&mut bytes, Base64Formatter);
        // Writing the message can't fail, because the output is a vector and the messages are plain
        // structs.
        let written = self.message.serialize(&mut json);
        debug_assert!(written.is_ok());
        bytes.push(b'}');
        String::from_utf8(bytes).unwrap_or_default()
    }

    fn cbor(&self, name: TopicName, message: Cbor) -> SocketMessage {
        let fields = vec![
            ("op", Cbor::Text("publish".to_owned())),
            ("topic", Cbor::Text(name.text().to_owned())),
            ("msg", message),
        ];
        let mut bytes = Vec::new();
        Cbor::Map(fields).write(&mut bytes);
        SocketMessage::Binary(bytes.into())
    }

    /// Whether the message is an image. Old images are dropped sooner than other messages.
    pub(super) fn is_image(&self) -> bool {
        matches!(self.topic, Topic::ImageRaw | Topic::ImageCompressed)
    }
}

/// Length of a message in bytes.
pub(super) fn length(message: &SocketMessage) -> usize {
    match message {
        SocketMessage::Text(text) => text.len(),
        SocketMessage::Binary(bytes) => bytes.len(),
    }
}

/// The text of a publish operation before the value of `msg`.
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
    use chicane_ros::messages::{BatteryState, Clock, LaserScan};
    use serde_json::{Value, json};

    fn form(
        topic: Topic,
        message: impl Into<Message>,
        compression: Compression,
        has_slash: bool,
    ) -> SocketMessage {
        EncodedMessage::new(topic, &message.into(), 401).form(compression, has_slash)
    }

    fn encoded(topic: Topic, message: impl Into<Message>, has_slash: bool) -> Value {
        match form(topic, message, Compression::None, has_slash) {
            SocketMessage::Text(text) => serde_json::from_str(&text).expect("JSON"),
            SocketMessage::Binary(_) => panic!("a text"),
        }
    }

    #[test]
    fn cbor_contains_the_fields_or_the_bytes_of_the_message() {
        let clock = Clock { clock: Time { sec: 7, nanosec: 5 } };
        let SocketMessage::Binary(bytes) = form(Topic::Clock, clock, Compression::Cbor, true) else {
            panic!("bytes")
        };
        let text =
            b"\xa3\x62op\x67publish\x65topic\x66/clock\x63msg\xa1\x65clock\xa2\x63sec\x07\x67nanosec\x05";
        assert_eq!(bytes, text.as_slice());
        let SocketMessage::Binary(bytes) = form(Topic::Clock, clock, Compression::CborRaw, false) else {
            panic!("bytes")
        };
        let head = b"\xa3\x62op\x67publish\x65topic\x65clock\x63msg\xa3\x64secs\x02\x65nsecs\x1a\x00\x4c\x4b\x40\x65bytes";
        let raw = chicane_ros::cdr::encode(&clock);
        assert_eq!(bytes, [head.as_slice(), &[0x40 | raw.len() as u8], &raw].concat());
    }

    #[test]
    fn a_picture_contains_the_json() {
        let clock = Clock { clock: Time { sec: 7, nanosec: 5 } };
        let SocketMessage::Text(text) = form(Topic::Clock, clock, Compression::Png, true) else {
            panic!("a text")
        };
        let outer: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(outer["op"], "png");
        let file = STANDARD.decode(outer["data"].as_str().expect("a text")).expect("base64");
        let pixels = image::load_from_memory(&file).expect("a picture").to_rgb8().into_raw();
        let inner: Value = serde_json::from_slice(&pixels).expect("JSON");
        assert_eq!(inner, encoded(Topic::Clock, clock, true));
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
