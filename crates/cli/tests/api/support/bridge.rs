//! A client of `/rosbridge`.

use super::{Received, Simulator, Socket};
use serde_json::{Value, json};

/// A rosbridge client.
pub(crate) struct Bridge(pub(crate) Socket);

impl Simulator {
    /// Opens a connection to the bridge.
    pub(crate) fn bridge(&self) -> Bridge {
        Bridge(self.socket("/rosbridge"))
    }
}

impl Bridge {
    pub(crate) fn send(&mut self, message: Value) {
        self.0.send(message);
    }

    /// Waits for the next message.
    pub(crate) fn receive(&mut self) -> Value {
        match self.0.receive() {
            Received::Text(reply) => reply,
            other => panic!("a message, not {other:?}"),
        }
    }

    /// Waits for the next message with this `op`. Other messages are skipped.
    pub(crate) fn next_of(&mut self, op: &str) -> Value {
        loop {
            let reply = self.receive();
            if reply["op"] == op {
                return reply;
            }
        }
    }

    /// Waits for the next message on a topic. Other messages are skipped.
    pub(crate) fn next_on(&mut self, topic: &str) -> Value {
        loop {
            let reply = self.next_of("publish");
            if reply["topic"] == topic {
                return reply["msg"].clone();
            }
        }
    }

    pub(crate) fn subscribe(&mut self, topic: &str) {
        self.send(json!({"op": "subscribe", "topic": topic, "queue_length": 1000}));
    }

    pub(crate) fn publish(&mut self, topic: &str, message: Value) {
        self.send(json!({"op": "publish", "topic": topic, "msg": message}));
    }

    /// Calls a service. The call must succeed. Returns the values of the response.
    pub(crate) fn call(&mut self, service: &str, args: Value) -> Value {
        let answer = self.try_call(service, args);
        assert_eq!(answer["result"], true, "{answer}");
        answer["values"].clone()
    }

    /// Calls a service and returns the whole response.
    pub(crate) fn try_call(&mut self, service: &str, args: Value) -> Value {
        self.send(json!({"op": "call_service", "id": "a call", "service": service, "args": args}));
        let answer = self.next_of("service_response");
        assert_eq!((&answer["id"], &answer["service"]), (&json!("a call"), &json!(service)));
        answer
    }

    /// Sends a message that must be refused, and returns the error text.
    pub(crate) fn refused(&mut self, message: impl ToString) -> String {
        self.0.send(message);
        let reply = self.next_of("status");
        assert_eq!(reply["level"], "error", "{reply}");
        let text = reply["msg"].as_str().unwrap_or_else(|| panic!("a text: {reply}"));
        assert!(!text.contains('\n') && text.len() < 400, "one line: {text}");
        text.to_owned()
    }

    /// Waits until the bridge has opened its tap of the robot's ticks, so that this client misses
    /// no later message. Returns the epoch.
    pub(crate) fn wait_until_tapped(&mut self) -> u64 {
        self.subscribe("/sim/epoch");
        self.next_on("/sim/epoch")["data"].as_u64().expect("a number")
    }
}

/// Converts a ROS time to seconds.
pub(crate) fn seconds(time: &Value) -> f64 {
    let part = |name: &str| time[name].as_f64().unwrap_or_else(|| panic!("a time, not {time}"));
    part("sec") + part("nanosec") * 1e-9
}
