//! A client of `/foxglove`.

use super::{Received, Simulator, Socket};
use chicane_ros::cdr;
use chicane_testkit::http::RESPONSE_TIMEOUT;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;

/// The header with which a client offers the Foxglove protocol in the handshake.
pub(crate) const FOXGLOVE_V1: (&str, &str) = ("sec-websocket-protocol", "foxglove.sdk.v1");

/// A Foxglove client.
pub(crate) struct Foxglove {
    pub(crate) socket: Socket,
    pub(crate) info: Value,
    /// The advertised channels, by topic.
    pub(crate) channels: BTreeMap<String, Value>,
    /// The advertised services, by name.
    pub(crate) services: BTreeMap<String, Value>,
    /// Topics of the subscriptions, by subscription id.
    subscriptions: BTreeMap<u32, String>,
    next_id: u32,
}

/// A message from the server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    Text(Value),
    Message { topic: String, time_ns: u64, payload: Vec<u8> },
    Time(u64),
    Response { service: u32, call: u32, encoding: String, payload: Vec<u8> },
    Close(u16),
    End,
}

impl Event {
    /// The payload as a ROS message.
    pub(crate) fn cdr<M: DeserializeOwned>(&self) -> M {
        let (Event::Message { payload, .. } | Event::Response { payload, .. }) = self else {
            panic!("{self:?}")
        };
        cdr::decode(payload).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The payload as JSON.
    pub(crate) fn json(&self) -> Value {
        let (Event::Message { payload, .. } | Event::Response { payload, .. }) = self else {
            panic!("{self:?}")
        };
        serde_json::from_slice(payload).expect("JSON")
    }

    /// The simulated time of a message, in seconds.
    pub(crate) fn time_s(&self) -> f64 {
        let Event::Message { time_ns, .. } = self else { panic!("{self:?}") };
        *time_ns as f64 * 1e-9
    }
}

impl Simulator {
    /// Opens a connection.
    pub(crate) fn foxglove(&self) -> Foxglove {
        self.try_foxglove(&[]).unwrap_or_else(|status| panic!("/foxglove: {status}"))
    }

    /// Opens a connection with additional headers, or returns the status of the refusal.
    pub(crate) fn try_foxglove(&self, headers: &[(&str, &str)]) -> Result<Foxglove, u16> {
        let headers = [&[FOXGLOVE_V1], headers].concat();
        let mut socket = Socket::try_open(self.address, "/foxglove", &headers)?;
        let mut hello = ["serverInfo", "advertise", "advertiseServices"].map(|op| match socket.receive() {
            Received::Text(message) if message["op"] == op => message,
            other => panic!("{op}, not {other:?}"),
        });
        let by = |list: &Value, key: &str| {
            let all = list.as_array().expect("a list").iter();
            all.map(|one| (one[key].as_str().expect("a name").to_owned(), one.clone())).collect()
        };
        let (channels, services) = (by(&hello[1]["channels"], "topic"), by(&hello[2]["services"], "name"));
        let info = hello[0].take();
        Ok(Foxglove { socket, info, channels, services, subscriptions: BTreeMap::new(), next_id: 7 })
    }
}

impl Foxglove {
    pub(crate) fn send(&mut self, message: Value) {
        self.socket.send(message);
    }

    /// Waits for the next message.
    pub(crate) fn receive(&mut self) -> Event {
        match self.socket.receive() {
            Received::Text(message) => Event::Text(message),
            Received::Close(code) => Event::Close(code),
            Received::End => Event::End,
            Received::Binary(bytes) => self.binary(&bytes),
        }
    }

    fn binary(&self, bytes: &[u8]) -> Event {
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        match bytes[0] {
            1 => {
                let topic = self.subscriptions.get(&u32_at(1)).cloned();
                let topic = topic.unwrap_or_else(|| panic!("no subscription has the id {}", u32_at(1)));
                Event::Message { topic, time_ns: u64_at(5), payload: bytes[13..].to_vec() }
            }
            2 => Event::Time(u64_at(1)),
            3 => {
                let (name, payload) = bytes[13..].split_at(u32_at(9) as usize);
                let encoding = String::from_utf8(name.to_vec()).expect("UTF-8");
                Event::Response { service: u32_at(1), call: u32_at(5), encoding, payload: payload.to_vec() }
            }
            other => panic!("unknown operation {other}"),
        }
    }

    /// Waits for the first message for which `wanted` returns a value. Other messages are skipped.
    pub(crate) fn find<T>(&mut self, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
        let deadline = Instant::now() + RESPONSE_TIMEOUT;
        loop {
            let event = self.receive();
            assert!(!matches!(event, Event::Close(_) | Event::End), "{event:?}");
            assert!(Instant::now() < deadline, "no such message within {RESPONSE_TIMEOUT:?}");
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
    }

    /// Waits for the next text message with this `op`. Other messages are skipped.
    pub(crate) fn next_of(&mut self, op: &str) -> Value {
        self.find(|event| match event {
            Event::Text(message) if message["op"] == op => Some(message.clone()),
            _ => None,
        })
    }

    /// Waits for the next message on a topic. Other messages are skipped.
    pub(crate) fn next_on(&mut self, wanted: &str) -> Event {
        self.find(|event| match event {
            Event::Message { topic, .. } if topic == wanted => Some(event.clone()),
            _ => None,
        })
    }

    /// Subscribes to a topic and returns the id of the subscription.
    pub(crate) fn subscribe(&mut self, topic: &str) -> u32 {
        let id = self.next_id;
        self.next_id += 1;
        self.subscriptions.insert(id, topic.to_owned());
        let channel = self.channels[topic]["id"].clone();
        self.send(json!({"op": "subscribe", "subscriptions": [{"id": id, "channelId": channel}]}));
        id
    }

    /// Waits until the server has opened its tap of the robot's ticks, so that this client misses
    /// no later message.
    pub(crate) fn wait_until_tapped(&mut self) {
        self.subscribe("/sim/epoch");
        self.next_on("/sim/epoch");
    }

    /// Advertises a channel and publishes a message on it.
    pub(crate) fn publish(&mut self, topic: &str, kind: &str, encoding: &str, payload: &[u8]) {
        let id = self.next_id;
        self.next_id += 1;
        let channel = json!({"id": id, "topic": topic, "encoding": encoding, "schemaName": kind});
        self.send(json!({"op": "advertise", "channels": [channel]}));
        self.socket.send_bytes(&[&[1][..], &id.to_le_bytes(), payload].concat());
    }

    /// Sends a service call.
    pub(crate) fn send_call(&mut self, service: u32, call: u32, encoding: &str, payload: &[u8]) {
        let length = encoding.len() as u32;
        let numbers = [service, call, length].map(u32::to_le_bytes).concat();
        self.socket.send_bytes(&[&[2][..], &numbers, encoding.as_bytes(), payload].concat());
    }

    /// Calls a service with JSON and returns the JSON of the response.
    pub(crate) fn call(&mut self, name: &str) -> Value {
        let id = self.services[name]["id"].as_u64().expect("an id") as u32;
        self.send_call(id, 5, "json", b"{}");
        self.find(|event| match event {
            Event::Response { service, call: 5, encoding, .. } if *service == id && encoding == "json" => {
                Some(event.json())
            }
            _ => None,
        })
    }

    /// The values of parameters by name. An empty list of names means all.
    pub(crate) fn parameters(&mut self, names: &[&str]) -> Value {
        self.send(json!({"op": "getParameters", "parameterNames": names, "id": "get"}));
        self.values_with("get")
    }

    /// Sets parameters and returns their values afterwards.
    pub(crate) fn set(&mut self, parameters: Value) -> Value {
        self.send(json!({"op": "setParameters", "parameters": parameters, "id": "set"}));
        self.values_with("set")
    }

    /// Waits for the parameters of the response with this id. Returns their values by name.
    fn values_with(&mut self, id: &str) -> Value {
        self.find(|event| match event {
            Event::Text(message) if message["op"] == "parameterValues" && message["id"] == id => {
                let all = message["parameters"].as_array().expect("a list").iter();
                let name = |one: &Value| one["name"].as_str().expect("a name").to_owned();
                Some(all.map(|one| (name(one), one["value"].clone())).collect())
            }
            _ => None,
        })
    }

    /// Sends a message that must be refused, and returns the text of the status message.
    pub(crate) fn refused(&mut self, message: impl ToString) -> String {
        self.socket.send(message);
        self.next_refusal()
    }

    /// Waits for a status message about an error, and returns its text.
    pub(crate) fn next_refusal(&mut self) -> String {
        let status = self.next_of("status");
        assert_eq!(status["level"], 2, "{status}");
        let text = status["message"].as_str().unwrap_or_else(|| panic!("a text: {status}"));
        assert!(!text.contains('\n') && text.len() < 400, "one line: {text}");
        text.to_owned()
    }
}
