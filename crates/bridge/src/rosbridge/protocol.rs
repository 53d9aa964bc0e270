//! The messages of the rosbridge protocol, version 2.
//!
//! A message is a JSON object with an `op`. The parser checks the fields of a message before the
//! message is executed. The content of `msg` and `args` is checked during the execution. For an
//! invalid message, the parser returns a [`StatusMessage`], whose text is one line for the author
//! of the client.

use serde_json::{Map, Value};
use std::time::Duration;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Longest name or id in bytes.
const MAX_NAME: usize = 256;
/// Longest queue of a subscription, in messages. Larger values are clamped.
const MAX_QUEUE: u64 = 1000;
/// Longest throttle time of a subscription, in milliseconds. Larger values are clamped.
const MAX_THROTTLE_MS: f64 = 3_600_000.0;

/// Severity of a status message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StatusLevel {
    Info,
    Warning,
    Error,
    /// A level above the levels of all messages. A client that sets this level gets no status
    /// messages.
    None,
}

impl StatusLevel {
    fn name(self) -> &'static str {
        match self {
            StatusLevel::Info => "info",
            StatusLevel::Warning => "warning",
            StatusLevel::Error => "error",
            StatusLevel::None => "none",
        }
    }
}

/// A response that tells the client why a message was refused, or why the message had no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatusMessage {
    pub(super) level: StatusLevel,
    pub(super) text: String,
}

impl StatusMessage {
    pub(super) fn error(text: impl Into<String>) -> StatusMessage {
        StatusMessage { level: StatusLevel::Error, text: text.into() }
    }

    pub(super) fn warning(text: impl Into<String>) -> StatusMessage {
        StatusMessage { level: StatusLevel::Warning, text: text.into() }
    }
}

/// The operation of a message. `kind` is the field `type` of the message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operation {
    Advertise {
        topic: String,
        kind: Option<String>,
    },
    Unadvertise {
        topic: String,
    },
    Publish {
        topic: String,
        message: Value,
    },
    Subscribe {
        topic: String,
        kind: Option<String>,
        delivery: Delivery,
    },
    Unsubscribe {
        topic: String,
    },
    CallService {
        service: String,
        args: Value,
    },
    SetLevel(StatusLevel),
    /// A goal for an action. It is always refused, because there are no actions.
    SendGoal {
        action: String,
    },
}

/// How the messages of a subscription are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Delivery {
    /// Shortest time between two messages.
    pub(super) throttle: Duration,
    /// How many messages may wait to be sent. 0 selects the default.
    pub(super) queue: usize,
    /// How messages are written.
    pub(super) compression: Compression,
}

/// How the messages of a subscription are encoded. If a client has several subscriptions to one
/// topic with different forms, the last form in the order of this enum is used, as in the original
/// rosbridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Compression {
    /// JSON.
    #[default]
    None,
    /// JSON in the pixels of a PNG picture.
    Png,
    /// CBOR.
    Cbor,
    /// CBOR around the bytes of the ROS message.
    CborRaw,
}

impl Compression {
    pub(super) const ALL: [Compression; 4] =
        [Compression::None, Compression::Png, Compression::Cbor, Compression::CborRaw];

    fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Png => "png",
            Compression::Cbor => "cbor",
            Compression::CborRaw => "cbor-raw",
        }
    }
}

/// The id of a message: a text or a number that the client chose. The response contains the same
/// id.
pub(super) type MessageId = Value;

/// A message from a client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClientMessage {
    pub(super) id: Option<MessageId>,
    pub(super) operation: Result<Operation, StatusMessage>,
}

impl ClientMessage {
    /// Parses a message.
    pub(super) fn parse(text: &str) -> ClientMessage {
        let invalid =
            |reason: String| ClientMessage { id: None, operation: Err(StatusMessage::error(reason)) };
        let fields = match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return invalid(format!("a message must be a JSON object, such as {EXAMPLE}")),
            Err(error) => {
                return invalid(format!("the message is not JSON ({error}); an example is {EXAMPLE}"));
            }
        };
        let id = match fields.get("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if id.len() > MAX_NAME => {
                return invalid(format!("id may have up to {MAX_NAME} bytes"));
            }
            Some(id @ (Value::String(_) | Value::Number(_))) => Some(id.clone()),
            Some(_) => return invalid("id must be a text".to_owned()),
        };
        ClientMessage { id, operation: parse_operation(&Fields(&fields)) }
    }
}

const EXAMPLE: &str = r#"{"op": "subscribe", "topic": "/scan"}"#;

fn parse_operation(fields: &Fields<'_>) -> Result<Operation, StatusMessage> {
    let op = fields.name("op")?;
    Ok(match op.as_str() {
        "advertise" => Operation::Advertise { topic: fields.name("topic")?, kind: fields.text("type")? },
        "unadvertise" => Operation::Unadvertise { topic: fields.name("topic")? },
        "publish" => {
            let message = match fields.get("msg") {
                Some(message @ Value::Object(_)) => message.clone(),
                None => Value::Object(Map::new()),
                Some(_) => {
                    return Err(StatusMessage::error("msg must be an object, such as {\"data\": 0.5}"));
                }
            };
            Operation::Publish { topic: fields.name("topic")?, message }
        }
        "subscribe" => {
            let delivery = Delivery {
                throttle: fields.throttle()?,
                queue: fields.queue()?,
                compression: fields.compression()?,
            };
            Operation::Subscribe { topic: fields.name("topic")?, kind: fields.text("type")?, delivery }
        }
        "unsubscribe" => Operation::Unsubscribe { topic: fields.name("topic")? },
        "call_service" => {
            let args = fields.get("args").cloned().unwrap_or_else(|| Value::Object(Map::new()));
            Operation::CallService { service: fields.name("service")?, args }
        }
        "set_level" => Operation::SetLevel(match fields.name("level")?.as_str() {
            "info" => StatusLevel::Info,
            "warning" => StatusLevel::Warning,
            "error" => StatusLevel::Error,
            "none" => StatusLevel::None,
            other => {
                let text = format!("level must be info, warning, error or none, not {}", quoted(other));
                return Err(StatusMessage::error(text));
            }
        }),
        "send_action_goal" => Operation::SendGoal { action: fields.name("action")? },
        other => return Err(unsupported(other)),
    })
}

/// The status message for an operation that the bridge does not execute.
fn unsupported(op: &str) -> StatusMessage {
    match op {
        "auth" => StatusMessage::warning(
            "auth is not supported: send the token in the handshake, as Authorization: Bearer <token>",
        ),
        "status" => StatusMessage::warning("status messages of clients are ignored"),
        "advertise_service" | "unadvertise_service" | "service_response" => {
            StatusMessage::error(format!("{op}: services of clients are not supported"))
        }
        "advertise_action" | "unadvertise_action" | "cancel_action_goal" | "action_feedback"
        | "action_result" => StatusMessage::error(format!("{op}: actions are not supported")),
        "fragment" | "png" => {
            StatusMessage::error(format!("{op}: send whole messages as text, up to 64 KiB each"))
        }
        other => StatusMessage::error(format!(
            "unknown op {}; use one of advertise, unadvertise, publish, subscribe, unsubscribe, call_service, \
             set_level",
            quoted(other)
        )),
    }
}

/// Fields of a message. A field that is null counts as missing.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// An optional text. `None` if the field is missing.
    fn text(&self, name: &str) -> Result<Option<String>, StatusMessage> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.len() <= MAX_NAME => Ok(Some(text.clone())),
            Some(Value::String(_)) => {
                Err(StatusMessage::error(format!("{name} may have up to {MAX_NAME} bytes")))
            }
            Some(_) => Err(StatusMessage::error(format!("{name} must be a text"))),
        }
    }

    /// A required text. It must not be empty.
    fn name(&self, name: &str) -> Result<String, StatusMessage> {
        let text = self.text(name)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| StatusMessage::error(format!("{name} is missing; an example is {EXAMPLE}")))
    }

    fn throttle(&self) -> Result<Duration, StatusMessage> {
        let Some(value) = self.get("throttle_rate") else { return Ok(Duration::ZERO) };
        match value.as_f64().filter(|ms| *ms >= 0.0) {
            Some(ms) => Ok(Duration::from_secs_f64(ms.min(MAX_THROTTLE_MS) * 1e-3)),
            None => Err(StatusMessage::error(
                "throttle_rate must be the milliseconds between two messages, 0 or more",
            )),
        }
    }

    fn queue(&self) -> Result<usize, StatusMessage> {
        let Some(value) = self.get("queue_length") else { return Ok(0) };
        match value.as_u64() {
            Some(length) => Ok(length.min(MAX_QUEUE) as usize),
            None => Err(StatusMessage::error("queue_length must be a whole number, 0 or more")),
        }
    }

    fn compression(&self) -> Result<Compression, StatusMessage> {
        let given = self.text("compression")?.filter(|name| !name.is_empty());
        let Some(given) = given else { return Ok(Compression::None) };
        let known = Compression::ALL.into_iter().find(|one| one.name() == given);
        known.ok_or_else(|| {
            let names = Compression::ALL.map(Compression::name).join(", ");
            StatusMessage::error(format!("compression must be one of {names}, not {}", quoted(&given)))
        })
    }
}

/// Quotes a text from a client, for a status message. A long text is cut.
pub(crate) fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// The JSON of a status message.
pub(super) fn status(status: &StatusMessage, id: Option<&MessageId>) -> Utf8Bytes {
    let response = serde_json::json!({"op": "status", "level": status.level.name(), "msg": status.text});
    with_id(response, id)
}

/// The JSON of the response to a service call.
pub(super) fn service_response(
    service: &str,
    outcome: Result<Value, String>,
    id: Option<&MessageId>,
) -> Utf8Bytes {
    let result = outcome.is_ok();
    let values = outcome.unwrap_or_else(Value::String);
    let response =
        serde_json::json!({"op": "service_response", "service": service, "values": values, "result": result});
    with_id(response, id)
}

/// The JSON of the response to an action goal. The goal is aborted, because there are no actions.
pub(super) fn goal_aborted(action: &str, id: Option<&MessageId>) -> Utf8Bytes {
    /// `STATUS_ABORTED` of action_msgs/msg/GoalStatus.
    const ABORTED: u8 = 6;
    let text = "actions are not supported";
    let response = serde_json::json!({
        "op": "action_result", "action": action, "values": {"message": text}, "status": ABORTED, "result": false
    });
    with_id(response, id)
}

fn with_id(mut response: Value, id: Option<&MessageId>) -> Utf8Bytes {
    if let Some(id) = id {
        response["id"] = id.clone();
    }
    Utf8Bytes::from(response.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        ClientMessage::parse(text).operation.expect_err(text).text
    }

    #[test]
    fn a_subscription_is_parsed() {
        let text = r#"{"op": "subscribe", "id": "subscribe:/scan:1", "type": "sensor_msgs/LaserScan",
            "topic": "/scan", "compression": "none", "throttle_rate": 100, "queue_length": 5, "fragment_size": null}"#;
        let ClientMessage { id, operation } = ClientMessage::parse(text);
        assert_eq!(id, Some(Value::from("subscribe:/scan:1")));
        let delivery = Delivery { throttle: Duration::from_millis(100), queue: 5, ..Delivery::default() };
        let kind = Some("sensor_msgs/LaserScan".to_owned());
        assert_eq!(operation, Ok(Operation::Subscribe { topic: "/scan".to_owned(), kind, delivery }));
        let bare = ClientMessage::parse(r#"{"op": "subscribe", "topic": "scan", "queue_length": 5000000}"#);
        let Ok(Operation::Subscribe { kind: None, delivery, .. }) = bare.operation else {
            panic!("{bare:?}")
        };
        assert_eq!(delivery, Delivery { queue: 1000, ..Delivery::default() });
        for compression in Compression::ALL {
            let text =
                format!(r#"{{"op": "subscribe", "topic": "a", "compression": "{}"}}"#, compression.name());
            let Ok(Operation::Subscribe { delivery, .. }) = ClientMessage::parse(&text).operation else {
                panic!("{text}")
            };
            assert_eq!(delivery.compression, compression);
        }
    }

    #[test]
    fn invalid_messages_are_refused_with_the_reason() {
        for (text, word) in [
            ("", "not JSON"),
            ("[]", "JSON object"),
            ("{}", "op is missing"),
            (r#"{"op": 1}"#, "op must be a text"),
            (r#"{"op": "sing"}"#, "unknown op \"sing\"; use one of advertise"),
            (r#"{"op": "subscribe"}"#, "topic is missing"),
            (
                r#"{"op": "subscribe", "topic": "a", "compression": "zip"}"#,
                "none, png, cbor, cbor-raw, not \"zip\"",
            ),
            (r#"{"op": "subscribe", "topic": "a", "throttle_rate": -1}"#, "milliseconds"),
            (r#"{"op": "subscribe", "topic": "a", "queue_length": 1.5}"#, "whole number"),
            (r#"{"op": "publish", "topic": "a", "msg": 3}"#, "msg must be an object"),
            (r#"{"op": "set_level", "level": "loud"}"#, "info, warning, error or none"),
            (r#"{"op": "advertise_service", "service": "a"}"#, "not supported"),
            (r#"{"op": "cancel_action_goal"}"#, "actions are not supported"),
            (r#"{"op": "fragment"}"#, "64 KiB"),
            (r#"{"op": "subscribe", "id": {}, "topic": "a"}"#, "id must be a text"),
        ] {
            let status = refusal(text);
            assert!(status.contains(word) && !status.contains('\n'), "{text}: {status}");
        }
        let long = format!(r#"{{"op": "{}"}}"#, "x".repeat(250));
        assert!(refusal(&long).len() < 300);
        assert!(refusal(&format!(r#"{{"op": "{}"}}"#, "x".repeat(300))).contains("up to 256 bytes"));
    }

    #[test]
    fn responses_repeat_the_id() {
        let id = Value::from("call:1");
        let response = service_response("/rosapi/topics", Err("no".to_owned()), Some(&id));
        let response: Value = serde_json::from_str(&response).expect("JSON");
        let want = serde_json::json!(
            {"op": "service_response", "id": "call:1", "service": "/rosapi/topics", "values": "no", "result": false});
        assert_eq!(response, want);
        let response = status(&StatusMessage::error("bad"), None);
        assert!(!response.contains("\"id\""));
    }
}
