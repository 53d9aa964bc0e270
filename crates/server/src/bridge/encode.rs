//! Messages as text: JSON as rosbridge has it, written once for all who subscribe.
//!
//! Byte sequences are base64, what is not a number is null, and a moment is seconds and nanoseconds, as
//! the message itself has it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chicane_ros::{Message, Topic};
use serde::Serialize;
use serde_json::ser::Formatter;
use std::io;
use std::sync::OnceLock;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// What a client calls a topic: with the slash before it or without. It is answered in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) topic: Topic,
    pub(super) slash: bool,
}

impl Name {
    /// The topic of a name, if there is one.
    pub(super) fn read(text: &str) -> Option<Name> {
        Topic::by_name(text).map(|topic| Name { topic, slash: text.starts_with('/') })
    }

    pub(super) fn text(self) -> &'static str {
        let name = self.topic.name();
        if self.slash { name } else { &name[1..] }
    }
}

/// A message on its way to whoever subscribed.
#[derive(Debug)]
pub(super) struct Frame {
    topic: Topic,
    slash: Utf8Bytes,
    bare: OnceLock<Utf8Bytes>,
}

impl Frame {
    /// Writes a message.
    pub(super) fn new(topic: Topic, message: &Message) -> Frame {
        let mut bytes = head(Name { topic, slash: true }).into_bytes();
        let mut json = serde_json::Serializer::with_formatter(&mut bytes, Base64);
        // A vector takes everything, and our messages are plain structs.
        let written = message.serialize(&mut json);
        debug_assert!(written.is_ok());
        bytes.push(b'}');
        let slash = String::from_utf8(bytes).unwrap_or_default().into();
        Frame { topic, slash, bare: OnceLock::new() }
    }

    /// The whole text, for one who calls the topic so.
    pub(super) fn text(&self, slash: bool) -> Utf8Bytes {
        if slash {
            return self.slash.clone();
        }
        let write = || {
            let (long, short) = (
                head(Name { topic: self.topic, slash: true }),
                head(Name { topic: self.topic, slash: false }),
            );
            Utf8Bytes::from(format!("{short}{}", &self.slash[long.len()..]))
        };
        self.bare.get_or_init(write).clone()
    }

    /// Whether it is a picture, of which nobody wants an old one.
    pub(super) fn is_picture(&self) -> bool {
        matches!(self.topic, Topic::ImageRaw | Topic::ImageCompressed)
    }

    /// Bytes of it.
    pub(super) fn len(&self) -> usize {
        self.slash.len()
    }
}

/// What stands before the message.
fn head(name: Name) -> String {
    format!("{{\"op\":\"publish\",\"topic\":\"{}\",\"msg\":", name.text())
}

/// Plain JSON, but for bytes.
struct Base64;

impl Formatter for Base64 {
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

    fn written(topic: Topic, message: impl Into<Message>, slash: bool) -> Value {
        serde_json::from_str(&Frame::new(topic, &message.into()).text(slash)).expect("JSON")
    }

    #[test]
    fn a_frame_is_a_publication() {
        let clock = Clock { clock: Time { sec: 7, nanosec: 5_000_000 } };
        let mut wanted =
            json!({"op": "publish", "topic": "/clock", "msg": {"clock": {"sec": 7, "nanosec": 5000000}}});
        assert_eq!(written(Topic::Clock, clock, true), wanted);
        wanted["topic"] = "clock".into();
        assert_eq!(written(Topic::Clock, clock, false), wanted);
    }

    #[test]
    fn bytes_are_base64_and_what_is_no_number_is_null() {
        let out = chicane_ros::publish::image(1, [1, 1], vec![0, 255, 16]);
        let said = written(out.topic, out.message, true);
        assert_eq!(said["msg"]["data"], "AP8Q");
        assert_eq!(said["msg"]["encoding"], "rgb8");
        let scan = LaserScan { ranges: vec![0.1, f32::INFINITY, 2.5], ..LaserScan::default() };
        assert_eq!(written(Topic::Scan, scan, true)["msg"]["ranges"], json!([0.1, null, 2.5]));
        let battery = BatteryState { temperature: f32::NAN, ..BatteryState::default() };
        assert_eq!(written(Topic::BatteryState, battery, true)["msg"]["temperature"], Value::Null);
    }
}
