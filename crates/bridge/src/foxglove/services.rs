//! The services `/reset` and `/respawn`. Both have the type `std_srvs/srv/Trigger`.

use super::Action;
use super::protocol::{self, Encoding};
use crate::socket::SocketMessage;
use chicane_host::Host;
use chicane_host::driver::Simulator;
use chicane_ros::cdr;
use chicane_sim::Command;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The fields of a response, as in the definition of the service.
const RESPONSE: &str = "bool success\nstring message\n";
/// Seed of the simulation after a respawn. It is the same as after a respawn over HTTP without a
/// seed.
const SEED: u64 = 0;

/// A service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    /// Resets the car and all objects, and sets all lights to green. Time continues.
    Reset,
    /// Replaces the simulation by a new one of the same world. Time restarts.
    Respawn,
}

/// The response of a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct TriggerResponse {
    /// Whether the service had an effect.
    success: bool,
    /// Why the service had no effect; empty if it had one.
    message: String,
}

impl Service {
    const ALL: [Service; 2] = [Service::Reset, Service::Respawn];

    fn name(self) -> &'static str {
        match self {
            Service::Reset => "/reset",
            Service::Respawn => "/respawn",
        }
    }

    /// The action for which a client needs permission to call the service.
    pub(super) fn action(self) -> Action {
        match self {
            Service::Reset => Action::Reset,
            Service::Respawn => Action::Respawn,
        }
    }

    pub(super) fn id(self) -> u32 {
        self as u32 + 1
    }

    pub(super) fn by_id(id: u32) -> Result<Service, String> {
        let found = Service::ALL.into_iter().find(|service| service.id() == id);
        found.ok_or_else(|| format!("there is no service with id {id}"))
    }

    fn advertisement(self) -> Value {
        let side = |name: &str, schema: &str| {
            json!({
                "encoding": Encoding::Cdr.name(),
                "schemaName": format!("std_srvs/srv/Trigger_{name}"),
                "schemaEncoding": "ros2msg",
                "schema": schema,
            })
        };
        json!({
            "id": self.id(),
            "name": self.name(),
            "type": "std_srvs/srv/Trigger",
            "request": side("Request", ""),
            "response": side("Response", RESPONSE),
            // Older clients read the schemas from these two fields.
            "requestSchema": "",
            "responseSchema": RESPONSE,
        })
    }

    /// Executes the service.
    async fn execute(self, host: &Host, simulator: &Simulator) -> Result<(), String> {
        match self {
            Service::Reset => {
                let all_green = |lights: &mut BTreeMap<String, bool>| {
                    lights.values_mut().for_each(|red| *red = false);
                };
                let done = host.keeper.with_lights(simulator, Command::Reset, all_green).await;
                done.map(drop).map_err(|error| error.to_string())
            }
            Service::Respawn => {
                host.loader.respawn(SEED).await.map(drop).map_err(|failure| failure.to_string())
            }
        }
    }

    /// Executes the service, and returns the response to the client.
    pub(super) async fn respond(
        self,
        host: &Host,
        simulator: &Simulator,
        call_id: u32,
        encoding: Encoding,
    ) -> SocketMessage {
        let result = self.execute(host, simulator).await;
        let response = TriggerResponse { success: result.is_ok(), message: result.err().unwrap_or_default() };
        let payload = match encoding {
            Encoding::Cdr => cdr::encode(&response),
            Encoding::Json => serde_json::to_vec(&response).unwrap_or_default(),
        };
        SocketMessage::Binary(protocol::service_response(self.id(), call_id, encoding, &payload))
    }
}

/// The message that advertises all services.
pub(super) fn advertise() -> Value {
    json!({"op": "advertiseServices", "services": Service::ALL.map(Service::advertisement)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_found_by_id() {
        for service in Service::ALL {
            assert_eq!(Service::by_id(service.id()), Ok(service));
        }
        assert_eq!(Service::by_id(0), Err("there is no service with id 0".to_owned()));
    }

    #[test]
    fn the_response_matches_its_definition() {
        let response = TriggerResponse { success: true, message: "ok".to_owned() };
        assert_eq!(cdr::encode(&response), b"\0\x01\0\0\x01\0\0\0\x03\0\0\0ok\0");
        let names: Vec<&str> = chicane_ros::definitions::fields(RESPONSE).map(|field| field.name).collect();
        assert_eq!(names, ["success", "message"]);
    }
}
