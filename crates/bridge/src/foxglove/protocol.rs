//! The messages of the Foxglove WebSocket protocol, version 1.
//!
//! A text message is a JSON object with an `op`. A binary message starts with one byte for the
//! operation, and all numbers are little-endian. For an invalid message, the parser returns an
//! error text of one line for the author of the client.

use crate::rosbridge::quoted;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Longest id of a request in bytes.
const MAX_ID: usize = 256;
/// Longest reason for the refusal of a text message, in bytes. A reason may contain a part of the
/// message, so a longer reason is cut.
const MAX_REASON: usize = 300;

/// Versions of the protocol that the server supports. The messages of this server are the same in
/// both versions. Newer clients offer the first version, older clients the second.
const SUBPROTOCOLS: [&str; 2] = ["foxglove.sdk.v1", "foxglove.websocket.v1"];

/// Chooses a version of the protocol. `offered` are the values of the header
/// `Sec-WebSocket-Protocol`. The error text names the versions of the server.
pub fn choose_subprotocol<'a>(offered: impl Iterator<Item = &'a str>) -> Result<&'static str, String> {
    let offered: Vec<&str> = offered.flat_map(|value| value.split(',')).map(str::trim).collect();
    let chosen = SUBPROTOCOLS.into_iter().find(|own| offered.contains(own));
    chosen.ok_or_else(|| format!("Sec-WebSocket-Protocol must offer {}", SUBPROTOCOLS.join(" or ")))
}

/// Severity of a status message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusLevel {
    Warning = 1,
    Error = 2,
}

/// A response that tells the client why a message was refused, or why it had no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) level: StatusLevel,
    pub(super) text: String,
}

impl Status {
    pub(super) fn error(text: impl Into<String>) -> Status {
        Status { level: StatusLevel::Error, text: text.into() }
    }

    pub(super) fn warning(text: impl Into<String>) -> Status {
        Status { level: StatusLevel::Warning, text: text.into() }
    }
}

/// A text message of a client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum TextMessage {
    Subscribe {
        subscriptions: Vec<SubscriptionRequest>,
    },
    Unsubscribe {
        subscription_ids: Vec<u32>,
    },
    Advertise {
        channels: Vec<ClientChannel>,
    },
    Unadvertise {
        channel_ids: Vec<u32>,
    },
    GetParameters {
        #[serde(default)]
        parameter_names: Vec<String>,
        id: Option<String>,
    },
    SetParameters {
        parameters: Vec<ParameterRequest>,
        id: Option<String>,
    },
    SubscribeParameterUpdates {
        #[serde(default)]
        parameter_names: Vec<String>,
    },
    UnsubscribeParameterUpdates {
        #[serde(default)]
        parameter_names: Vec<String>,
    },
    /// Not supported, as `serverInfo` tells the client.
    SubscribeConnectionGraph,
    /// Not supported, as `serverInfo` tells the client.
    UnsubscribeConnectionGraph,
    /// Not supported, as `serverInfo` tells the client.
    FetchAsset,
}

/// A subscription that a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubscriptionRequest {
    /// The id of the subscription, which the client chooses. Messages to the client contain this
    /// id.
    pub(super) id: u32,
    pub(super) channel_id: u32,
}

/// A channel on which a client publishes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientChannel {
    /// The id of the channel, which the client chooses. Messages of the client contain this id.
    pub(super) id: u32,
    pub(super) topic: String,
    pub(super) encoding: String,
    pub(super) schema_name: String,
}

/// A new value for a parameter. A request without a value asks to remove the parameter.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct ParameterRequest {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: Value,
}

impl TextMessage {
    /// Parses a message.
    pub(super) fn parse(text: &str) -> Result<TextMessage, Status> {
        let message = serde_json::from_str(text).map_err(|error| {
            let reason: String = error.to_string().chars().filter(|c| !c.is_control()).collect();
            let short = &reason[..reason.floor_char_boundary(MAX_REASON)];
            Status::error(format!("the message is not valid: {short}"))
        })?;
        match &message {
            TextMessage::GetParameters { id: Some(id), .. }
            | TextMessage::SetParameters { id: Some(id), .. }
                if id.len() > MAX_ID =>
            {
                Err(Status::error(format!("id may have up to {MAX_ID} bytes")))
            }
            _ => Ok(message),
        }
    }
}

/// A binary message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BinaryMessage {
    /// A message on a channel of the client.
    Publish { channel_id: u32, payload: Bytes },
    /// A service call.
    Call { service_id: u32, call_id: u32, encoding: String, payload: Bytes },
}

impl BinaryMessage {
    /// Parses a message.
    pub(super) fn parse(bytes: &Bytes) -> Result<BinaryMessage, Status> {
        let mut rest = bytes.clone();
        let too_short = || Status::error("a binary message ends before its last field");
        let operation = take(&mut rest, 1).ok_or_else(too_short)?[0];
        match operation {
            1 => {
                let channel_id = take_u32(&mut rest).ok_or_else(too_short)?;
                Ok(BinaryMessage::Publish { channel_id, payload: rest })
            }
            2 => {
                let mut number = || take_u32(&mut rest).ok_or_else(too_short);
                let (service_id, call_id, length) = (number()?, number()?, number()?);
                let encoding = take(&mut rest, length as usize).ok_or_else(too_short)?;
                let encoding = String::from_utf8_lossy(&encoding).into_owned();
                Ok(BinaryMessage::Call { service_id, call_id, encoding, payload: rest })
            }
            other => Err(Status::error(format!(
                "unknown operation {other} of a binary message: 1 is a message, and 2 is a service call"
            ))),
        }
    }
}

fn take(rest: &mut Bytes, length: usize) -> Option<Bytes> {
    (length <= rest.len()).then(|| rest.split_to(length))
}

fn take_u32(rest: &mut Bytes) -> Option<u32> {
    take(rest, 4).and_then(|bytes| Some(u32::from_le_bytes(bytes.as_ref().try_into().ok()?)))
}

/// How a message of a client or a service call is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Cdr,
    Json,
}

impl Encoding {
    const ALL: [Encoding; 2] = [Encoding::Cdr, Encoding::Json];

    pub(super) fn name(self) -> &'static str {
        match self {
            Encoding::Cdr => "cdr",
            Encoding::Json => "json",
        }
    }

    pub(super) fn by_name(name: &str) -> Result<Encoding, String> {
        let found = Encoding::ALL.into_iter().find(|encoding| encoding.name() == name);
        found.ok_or_else(|| format!("unknown encoding {}: use cdr or json", quoted(name)))
    }
}

/// The first message to a client. `session` changes when the simulator is started again.
pub(super) fn server_info(session: &str) -> Utf8Bytes {
    text(&json!({
        "op": "serverInfo",
        "name": "chicane",
        "capabilities": ["clientPublish", "parameters", "parametersSubscribe", "services", "time"],
        "supportedEncodings": Encoding::ALL.map(Encoding::name),
        // With this entry, the viewer also knows the ROS 2 message types that no channel uses.
        "metadata": {"ROS_DISTRO": "jazzy"},
        "sessionId": session,
    }))
}

/// The JSON of a message to a client.
pub(super) fn text(message: &Value) -> Utf8Bytes {
    message.to_string().into()
}

pub(super) fn status(status: &Status) -> Utf8Bytes {
    text(&json!({"op": "status", "level": status.level as u8, "message": status.text}))
}

/// A message on a channel.
pub(super) fn message_data(subscription_id: u32, time_ns: u64, payload: &[u8]) -> Bytes {
    let mut frame = Vec::with_capacity(13 + payload.len());
    frame.push(1);
    frame.extend_from_slice(&subscription_id.to_le_bytes());
    frame.extend_from_slice(&time_ns.to_le_bytes());
    frame.extend_from_slice(payload);
    frame.into()
}

/// The simulated time.
pub(super) fn time(time_ns: u64) -> Bytes {
    [&[2][..], &time_ns.to_le_bytes()].concat().into()
}

/// The response of a service. It has the encoding of the request.
pub(super) fn service_response(service_id: u32, call_id: u32, encoding: Encoding, payload: &[u8]) -> Bytes {
    let name = encoding.name().as_bytes();
    let length = name.len() as u32;
    let numbers = [service_id, call_id, length].map(u32::to_le_bytes);
    [&[3][..], numbers.as_flattened(), name, payload].concat().into()
}

/// Tells a client that a service call was not executed.
pub(super) fn service_failure(service_id: u32, call_id: u32, reason: &str) -> Utf8Bytes {
    text(&json!({
        "op": "serviceCallFailure", "serviceId": service_id, "callId": call_id, "message": reason,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_common_version_is_chosen() {
        let choose = |offered: &[&'static str]| choose_subprotocol(offered.iter().copied());
        assert_eq!(choose(&["foxglove.websocket.v1"]), Ok("foxglove.websocket.v1"));
        assert_eq!(choose(&["foxglove.websocket.v1, foxglove.sdk.v1"]), Ok("foxglove.sdk.v1"));
        assert_eq!(choose(&["a", "foxglove.sdk.v1.1,foxglove.sdk.v1"]), Ok("foxglove.sdk.v1"));
        for none in [&["foxglove.sdk.v2"][..], &["foxglove.sdk.v1.1"], &[]] {
            assert!(choose(none).is_err_and(|text| text.contains("foxglove.websocket.v1")), "{none:?}");
        }
    }

    #[test]
    fn text_messages_are_parsed() {
        let parsed = TextMessage::parse(r#"{"op":"subscribe","subscriptions":[{"id":0,"channelId":3}]}"#);
        let subscriptions = vec![SubscriptionRequest { id: 0, channel_id: 3 }];
        assert_eq!(parsed, Ok(TextMessage::Subscribe { subscriptions }));
        let parsed = TextMessage::parse(r#"{"op":"setParameters","parameters":[{"name":"a"}],"id":"7"}"#);
        let parameters = vec![ParameterRequest { name: "a".to_owned(), value: Value::Null }];
        assert_eq!(parsed, Ok(TextMessage::SetParameters { parameters, id: Some("7".to_owned()) }));
        let parsed = TextMessage::parse(r#"{"op":"fetchAsset","uri":"package://a","requestId":1}"#);
        assert_eq!(parsed, Ok(TextMessage::FetchAsset));
    }

    #[test]
    fn invalid_text_messages_are_refused_in_one_line() {
        let long = format!(r#"{{"op":"{}"}}"#, "x\\n".repeat(5000));
        let long_id = format!(r#"{{"op":"getParameters","id":"{}"}}"#, "i".repeat(257));
        let negative = r#"{"op":"unsubscribe","subscriptionIds":[-1]}"#;
        for bad in ["", "[]", "{}", "{\"op\":1}", "\u{0}", negative, &long, &long_id] {
            let text = TextMessage::parse(bad).expect_err(bad).text;
            assert!(!text.contains('\n') && text.len() < 400, "{text}");
        }
    }

    #[test]
    fn binary_messages_are_parsed() {
        let parse = |bytes: &[u8]| BinaryMessage::parse(&Bytes::copy_from_slice(bytes));
        let payload = Bytes::from_static(b"xy");
        let published = BinaryMessage::Publish { channel_id: 5, payload: payload.clone() };
        assert_eq!(parse(b"\x01\x05\0\0\0xy"), Ok(published));
        let (service_id, call_id, encoding) = (2, 9, "cdr".to_owned());
        let call = BinaryMessage::Call { service_id, call_id, encoding, payload };
        let bytes = b"\x02\x02\0\0\0\x09\0\0\0\x03\0\0\0cdrxy";
        assert_eq!(parse(bytes), Ok(call));
        for end in 0..16 {
            assert!(parse(&bytes[..end]).is_err(), "{end}");
        }
        assert!(parse(b"\x02\x02\0\0\0\x09\0\0\0\xff\xff\xff\xffcdr").is_err());
        assert!(parse(b"\x07").is_err_and(|status| status.text.contains("unknown operation 7")));
    }

    #[test]
    fn binary_messages_are_written() {
        assert_eq!(&message_data(1, 2, b"ab")[..], b"\x01\x01\0\0\0\x02\0\0\0\0\0\0\0ab");
        assert_eq!(&time(258)[..], b"\x02\x02\x01\0\0\0\0\0\0");
        let response = service_response(1, 2, Encoding::Json, b"{}");
        assert_eq!(&response[..], b"\x03\x01\0\0\0\x02\0\0\0\x04\0\0\0json{}");
    }
}
