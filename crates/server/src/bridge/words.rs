//! The words of the rosbridge protocol, version 2: what a client may say, and what it is answered.
//!
//! A message is a JSON object with an `op`. It is read in full before anything is done; what makes no sense
//! becomes a [`Trouble`], one line for the person who wrote the program.

use serde_json::{Map, Value};
use std::time::Duration;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Longest name of anything, bytes.
const MAX_NAME: usize = 256;
/// Longest queue of a subscription.
const MAX_QUEUE: u64 = 1000;
/// Longest time between two messages that may be asked for.
const MAX_THROTTLE_MS: f64 = 3_600_000.0;

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Info,
    Warning,
    Error,
    /// Nothing is so bad.
    None,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
            Level::None => "none",
        }
    }
}

/// Why a message was not followed, or not in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) level: Level,
    pub(super) text: String,
}

impl Trouble {
    pub(super) fn error(text: impl Into<String>) -> Trouble {
        Trouble { level: Level::Error, text: text.into() }
    }

    pub(super) fn warning(text: impl Into<String>) -> Trouble {
        Trouble { level: Level::Warning, text: text.into() }
    }
}

/// What a client wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
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
        wish: Wish,
    },
    Unsubscribe {
        topic: String,
    },
    CallService {
        service: String,
        args: Value,
    },
    SetLevel(Level),
    /// A goal for an action, of which there are none.
    SendGoal {
        action: String,
    },
}

/// How a subscription is to be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Wish {
    /// From message to message, at least.
    pub(super) throttle: Duration,
    /// Messages that wait for that; 0: none.
    pub(super) queue: usize,
}

/// What a client calls a request, a text or a number. It is given back as it came.
pub(super) type Id = Value;

/// A message, read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    pub(super) id: Option<Id>,
    pub(super) op: Result<Op, Trouble>,
}

impl Request {
    /// Reads a message.
    pub(super) fn read(text: &str) -> Request {
        let nothing = |why: String| Request { id: None, op: Err(Trouble::error(why)) };
        let fields = match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return nothing(format!("a message is a JSON object, such as {EXAMPLE}")),
            Err(why) => return nothing(format!("this is not JSON ({why}); send such as {EXAMPLE}")),
        };
        let id = match fields.get("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if id.len() > MAX_NAME => {
                return nothing(format!("id may have up to {MAX_NAME} bytes"));
            }
            Some(id @ (Value::String(_) | Value::Number(_))) => Some(id.clone()),
            Some(_) => return nothing("id must be a text".to_owned()),
        };
        Request { id, op: read(&Fields(&fields)) }
    }
}

const EXAMPLE: &str = r#"{"op": "subscribe", "topic": "/scan"}"#;

fn read(fields: &Fields<'_>) -> Result<Op, Trouble> {
    let op = fields.name("op")?;
    Ok(match op.as_str() {
        "advertise" => Op::Advertise { topic: fields.name("topic")?, kind: fields.text("type")? },
        "unadvertise" => Op::Unadvertise { topic: fields.name("topic")? },
        "publish" => {
            let message = match fields.get("msg") {
                Some(message @ Value::Object(_)) => message.clone(),
                None => Value::Object(Map::new()),
                Some(_) => return Err(Trouble::error("msg must be an object, such as {\"data\": 0.5}")),
            };
            Op::Publish { topic: fields.name("topic")?, message }
        }
        "subscribe" => {
            fields.no_compression()?;
            let wish = Wish { throttle: fields.throttle()?, queue: fields.queue()? };
            Op::Subscribe { topic: fields.name("topic")?, kind: fields.text("type")?, wish }
        }
        "unsubscribe" => Op::Unsubscribe { topic: fields.name("topic")? },
        "call_service" => {
            let args = fields.get("args").cloned().unwrap_or_else(|| Value::Object(Map::new()));
            Op::CallService { service: fields.name("service")?, args }
        }
        "set_level" => Op::SetLevel(match fields.name("level")?.as_str() {
            "info" => Level::Info,
            "warning" => Level::Warning,
            "error" => Level::Error,
            "none" => Level::None,
            other => {
                let text = format!("level must be info, warning, error or none, not {}", short(other));
                return Err(Trouble::error(text));
            }
        }),
        "send_action_goal" => Op::SendGoal { action: fields.name("action")? },
        "auth" => {
            let text =
                "auth is not used here: the token goes into the handshake, as Authorization: Bearer <token>";
            return Err(Trouble::warning(text));
        }
        "status" => return Err(Trouble::warning("nobody here reads the status of a client")),
        "advertise_service" | "unadvertise_service" | "service_response" => {
            return Err(Trouble::error(format!("{op}: services of clients are not offered here")));
        }
        "advertise_action" | "unadvertise_action" | "cancel_action_goal" | "action_feedback"
        | "action_result" => return Err(Trouble::error(format!("{op}: actions are not offered here"))),
        "fragment" | "png" => {
            let text = format!("{op}: send whole messages as text, up to 64 KiB each");
            return Err(Trouble::error(text));
        }
        other => {
            let text = format!(
                "there is no op {}; there are advertise, unadvertise, publish, subscribe, unsubscribe, \
                 call_service and set_level",
                short(other)
            );
            return Err(Trouble::error(text));
        }
    })
}

/// Fields of a message. One that is null is not there.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text that may be missing.
    fn text(&self, name: &str) -> Result<Option<String>, Trouble> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.len() <= MAX_NAME => Ok(Some(text.clone())),
            Some(Value::String(_)) => Err(Trouble::error(format!("{name} may have up to {MAX_NAME} bytes"))),
            Some(_) => Err(Trouble::error(format!("{name} must be a text"))),
        }
    }

    /// A text that must be there.
    fn name(&self, name: &str) -> Result<String, Trouble> {
        let text = self.text(name)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| Trouble::error(format!("{name} is missing, send such as {EXAMPLE}")))
    }

    fn throttle(&self) -> Result<Duration, Trouble> {
        let Some(value) = self.get("throttle_rate") else { return Ok(Duration::ZERO) };
        match value.as_f64().filter(|ms| *ms >= 0.0) {
            Some(ms) => Ok(Duration::from_secs_f64(ms.min(MAX_THROTTLE_MS) * 1e-3)),
            None => {
                Err(Trouble::error("throttle_rate must be milliseconds from message to message, 0 or more"))
            }
        }
    }

    fn queue(&self) -> Result<usize, Trouble> {
        let Some(value) = self.get("queue_length") else { return Ok(0) };
        match value.as_u64() {
            Some(length) => Ok(length.min(MAX_QUEUE) as usize),
            None => Err(Trouble::error("queue_length must be a whole number, 0 or more")),
        }
    }

    fn no_compression(&self) -> Result<(), Trouble> {
        match self.text("compression")?.as_deref() {
            None | Some("" | "none") => Ok(()),
            Some(other) => {
                let text = format!("compression {} is not offered here: use none", short(other));
                Err(Trouble::error(text))
            }
        }
    }
}

/// What someone sent, in quotes, and not too much of it.
pub(super) fn short(text: &str) -> String {
    const ENOUGH: usize = 60;
    match text.char_indices().nth(ENOUGH) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Says how something went.
pub(super) fn status(trouble: &Trouble, id: Option<&Id>) -> Utf8Bytes {
    let mut said = serde_json::json!({"op": "status", "level": trouble.level.word(), "msg": trouble.text});
    with_id(&mut said, id)
}

/// Answers a call.
pub(super) fn service_response(service: &str, answer: Result<Value, String>, id: Option<&Id>) -> Utf8Bytes {
    let result = answer.is_ok();
    let values = answer.unwrap_or_else(Value::String);
    let mut said =
        serde_json::json!({"op": "service_response", "service": service, "values": values, "result": result});
    with_id(&mut said, id)
}

/// Answers a goal that nobody will reach.
pub(super) fn no_action(action: &str, id: Option<&Id>) -> Utf8Bytes {
    /// `STATUS_ABORTED` of action_msgs/msg/GoalStatus.
    const ABORTED: u8 = 6;
    let text = "there are no actions here";
    let mut said = serde_json::json!({
        "op": "action_result", "action": action, "values": {"message": text}, "status": ABORTED, "result": false
    });
    with_id(&mut said, id)
}

fn with_id(said: &mut Value, id: Option<&Id>) -> Utf8Bytes {
    if let Some(id) = id {
        said["id"] = id.clone();
    }
    Utf8Bytes::from(said.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(text: &str) -> String {
        Request::read(text).op.expect_err(text).text
    }

    #[test]
    fn subscriptions_are_read() {
        let text = r#"{"op": "subscribe", "id": "subscribe:/scan:1", "type": "sensor_msgs/LaserScan",
            "topic": "/scan", "compression": "none", "throttle_rate": 100, "queue_length": 5, "fragment_size": null}"#;
        let Request { id, op } = Request::read(text);
        assert_eq!(id, Some(Value::from("subscribe:/scan:1")));
        let wish = Wish { throttle: Duration::from_millis(100), queue: 5 };
        let kind = Some("sensor_msgs/LaserScan".to_owned());
        assert_eq!(op, Ok(Op::Subscribe { topic: "/scan".to_owned(), kind, wish }));
        let bare = Request::read(r#"{"op": "subscribe", "topic": "scan", "queue_length": 5000000}"#);
        let Ok(Op::Subscribe { kind: None, wish, .. }) = bare.op else { panic!("{bare:?}") };
        assert_eq!(wish, Wish { throttle: Duration::ZERO, queue: 1000 });
    }

    #[test]
    fn what_makes_no_sense_is_told_in_words() {
        for (text, word) in [
            ("", "not JSON"),
            ("[]", "JSON object"),
            ("{}", "op is missing"),
            (r#"{"op": 1}"#, "op must be a text"),
            (r#"{"op": "sing"}"#, "no op \"sing\"; there are advertise"),
            (r#"{"op": "subscribe"}"#, "topic is missing"),
            (r#"{"op": "subscribe", "topic": "a", "compression": "cbor"}"#, "\"cbor\" is not offered"),
            (r#"{"op": "subscribe", "topic": "a", "throttle_rate": -1}"#, "milliseconds"),
            (r#"{"op": "subscribe", "topic": "a", "queue_length": 1.5}"#, "whole number"),
            (r#"{"op": "publish", "topic": "a", "msg": 3}"#, "msg must be an object"),
            (r#"{"op": "set_level", "level": "loud"}"#, "info, warning, error or none"),
            (r#"{"op": "advertise_service", "service": "a"}"#, "not offered"),
            (r#"{"op": "cancel_action_goal"}"#, "actions are not offered"),
            (r#"{"op": "fragment"}"#, "64 KiB"),
            (r#"{"op": "subscribe", "id": {}, "topic": "a"}"#, "id must be a text"),
        ] {
            let said = trouble(text);
            assert!(said.contains(word) && !said.contains('\n'), "{text}: {said}");
        }
        let long = format!(r#"{{"op": "{}"}}"#, "x".repeat(250));
        assert!(trouble(&long).len() < 300);
        assert!(trouble(&format!(r#"{{"op": "{}"}}"#, "x".repeat(300))).contains("up to 256 bytes"));
    }

    #[test]
    fn answers_carry_the_id_they_were_asked_with() {
        let id = Value::from("call:1");
        let said = service_response("/rosapi/topics", Err("no".to_owned()), Some(&id));
        let said: Value = serde_json::from_str(&said).expect("JSON");
        let wanted = serde_json::json!(
            {"op": "service_response", "id": "call:1", "service": "/rosapi/topics", "values": "no", "result": false});
        assert_eq!(said, wanted);
        let said = status(&Trouble::error("bad"), None);
        assert!(!said.contains("\"id\""));
    }
}
