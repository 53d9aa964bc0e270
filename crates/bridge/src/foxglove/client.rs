//! A client of the protocol. This module executes the client's messages and queues the responses.

use super::channels::{self, Channel};
use super::hub::HubMember;
use super::mailbox::NextMessage;
use super::parameters::{Parameter, ParameterSet};
use super::protocol::{
    self, BinaryMessage, ClientChannel, Encoding, ParameterRequest, Status, StatusLevel, TextMessage,
};
use super::services::{self, Service};
use super::{Action, Caller};
use crate::Bridge;
use crate::commands::Commands;
use crate::rosbridge::{message_from_json, quoted};
use crate::socket::SocketMessage;
use bytes::Bytes;
use chicane_host::driver::Simulator;
use chicane_ros::definitions::short_type;
use chicane_ros::messages::{Float64, Twist};
use chicane_ros::{Direction, Message, RosType, Topic, cdr};
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;

/// The connection is closed after this many messages in a row that failed with an error.
const MAX_CONSECUTIVE_ERRORS: u32 = 100;
/// How many responses and requests may wait. While this many or more wait, nothing is read from the
/// client.
const MAX_RESPONSES: usize = 64;
/// How many channels a client may publish on.
const MAX_CHANNELS: usize = 64;

/// A request that waits for the simulator. The future returns the responses.
pub(super) type Request = Pin<Box<dyn Future<Output = Vec<SocketMessage>> + Send>>;

/// A client of the protocol.
pub(super) struct Client {
    bridge: Bridge,
    caller: Caller,
    simulator: Simulator,
    pub(super) member: HubMember,
    pub(super) commands: Commands<()>,
    /// Requests that are executed one after the other.
    pub(super) requests: VecDeque<Request>,
    /// Responses that wait to be sent.
    pub(super) responses: VecDeque<SocketMessage>,
    /// The channels on which the client publishes, by the id that the client chose.
    channels: BTreeMap<u32, (Topic, Encoding)>,
    /// Number of messages that failed with an error since the last message that succeeded. A
    /// message that fails with a warning does not change the number.
    consecutive_errors: u32,
}

impl Client {
    /// Creates a client, and queues the advertisements as the first messages to it.
    pub(super) fn new(bridge: Bridge, caller: Caller, member: HubMember) -> Client {
        let acting = |source| bridge.host.simulator.acting_at(source, "/foxglove");
        let (simulator, commands) = (acting(caller.source), Commands::new(acting(caller.driver)));
        let hello = [
            protocol::server_info(&bridge.foxglove.session),
            protocol::text(&channels::advertise()),
            protocol::text(&services::advertise()),
        ];
        Client {
            bridge,
            caller,
            simulator,
            member,
            commands,
            requests: VecDeque::new(),
            responses: hello.map(SocketMessage::Text).into(),
            channels: BTreeMap::new(),
            consecutive_errors: 0,
        }
    }

    /// Whether the next message may be read. It may not be read while too many responses and
    /// requests wait.
    pub(super) fn can_receive(&self) -> bool {
        self.responses.len() + self.requests.len() < MAX_RESPONSES
    }

    /// Whether the connection has to be closed, because of too many invalid messages in a row.
    pub(super) fn has_too_many_errors(&self) -> bool {
        self.consecutive_errors >= MAX_CONSECUTIVE_ERRORS
    }

    /// The next message to the client: a response, or else a message of the mailbox. `None` if
    /// nothing waits.
    pub(super) fn next_message(&mut self) -> Option<SocketMessage> {
        let response = self.responses.pop_front();
        response.or_else(|| match self.member.mailbox.next()? {
            NextMessage::Binary(frame) => Some(SocketMessage::Binary(frame)),
            NextMessage::Parameters(names) => {
                Some(SocketMessage::Text(names.values(&self.simulator.now(), None)))
            }
        })
    }

    /// Executes a message. If the execution fails, responds with a status message.
    pub(super) fn handle(&mut self, message: &SocketMessage) {
        let done = match message {
            SocketMessage::Text(text) => TextMessage::parse(text).and_then(|text| self.execute(text)),
            SocketMessage::Binary(bytes) => {
                BinaryMessage::parse(bytes).and_then(|binary| self.execute_binary(binary))
            }
        };
        match done {
            Ok(()) => self.consecutive_errors = 0,
            Err(status) => {
                self.consecutive_errors += u32::from(status.level == StatusLevel::Error);
                self.send_status(&status);
            }
        }
    }

    /// Queues a status message.
    pub(super) fn send_status(&mut self, status: &Status) {
        self.responses.push_back(SocketMessage::Text(protocol::status(status)));
    }

    fn execute(&mut self, message: TextMessage) -> Result<(), Status> {
        match message {
            TextMessage::Subscribe { subscriptions } => self.each(subscriptions, |client, wanted| {
                let channel = Channel::by_id(wanted.channel_id).ok_or_else(|| {
                    Status::error(format!("there is no channel with id {}", wanted.channel_id))
                })?;
                client.member.subscribe(wanted.id, channel)
            }),
            TextMessage::Unsubscribe { subscription_ids } => {
                self.each(subscription_ids, |client, id| client.member.unsubscribe(id))
            }
            TextMessage::Advertise { channels } => self.each(channels, Client::advertise),
            TextMessage::Unadvertise { channel_ids } => self.each(channel_ids, |client, id| {
                let removed = client.channels.remove(&id);
                removed.map(drop).ok_or_else(|| Status::warning(no_client_channel(id)))
            }),
            TextMessage::GetParameters { parameter_names, id } => {
                let (names, unknown) = ParameterSet::named(&parameter_names);
                let values = names.values(&self.simulator.now(), id.as_deref());
                self.responses.push_back(SocketMessage::Text(values));
                first_error(unknown)
            }
            TextMessage::SetParameters { parameters, id } => self.set_parameters(parameters, id),
            TextMessage::SubscribeParameterUpdates { parameter_names } => {
                let (names, unknown) = ParameterSet::named(&parameter_names);
                self.member.mailbox.watch_parameters(names, true);
                first_error(unknown)
            }
            TextMessage::UnsubscribeParameterUpdates { parameter_names } => {
                let (names, unknown) = ParameterSet::named(&parameter_names);
                self.member.mailbox.watch_parameters(names, false);
                first_error(unknown)
            }
            TextMessage::SubscribeConnectionGraph | TextMessage::UnsubscribeConnectionGraph => {
                Err(Status::warning("the connection graph is not supported"))
            }
            TextMessage::FetchAsset => Err(Status::warning("assets are not supported")),
        }
    }

    fn execute_binary(&mut self, message: BinaryMessage) -> Result<(), Status> {
        match message {
            BinaryMessage::Publish { channel_id, payload } => self.publish(channel_id, &payload),
            BinaryMessage::Call { service_id, call_id, encoding, payload } => {
                let called = self.call(service_id, call_id, &encoding, &payload);
                called.map_err(|reason| {
                    let failure = protocol::service_failure(service_id, call_id, &reason);
                    self.responses.push_back(SocketMessage::Text(failure));
                    Status::error(reason)
                })
            }
        }
    }

    /// Executes all items of a list. Returns the last error.
    ///
    /// For each earlier error, a status message is queued, but at most [`MAX_RESPONSES`] of them,
    /// because a list can be long.
    fn each<T>(
        &mut self,
        items: Vec<T>,
        mut execute: impl FnMut(&mut Client, T) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let mut last = Ok(());
        let mut sent = 0;
        for item in items {
            if let Err(status) = execute(self, item)
                && let Err(before) = std::mem::replace(&mut last, Err(status))
                && sent < MAX_RESPONSES
            {
                sent += 1;
                self.send_status(&before);
            }
        }
        last
    }

    /// Adds a channel on which the client publishes.
    fn advertise(&mut self, wanted: ClientChannel) -> Result<(), Status> {
        let ClientChannel { id, topic, encoding, schema_name } = wanted;
        let topic = command_topic(&topic)?;
        let encoding = Encoding::by_name(&encoding).map_err(Status::error)?;
        if !schema_name.is_empty() && short_type(&schema_name) != short_type(topic.type_name()) {
            let (own, given) = (topic.type_name(), quoted(&schema_name));
            return Err(Status::error(format!("{} has type {own}, not {given}", topic.name())));
        }
        if self.channels.len() >= MAX_CHANNELS && !self.channels.contains_key(&id) {
            return Err(Status::error(format!("a client may publish on up to {MAX_CHANNELS} channels")));
        }
        self.channels.insert(id, (topic, encoding));
        Ok(())
    }

    /// Passes a message of the client to the robot.
    fn publish(&mut self, channel_id: u32, payload: &Bytes) -> Result<(), Status> {
        let channel = self.channels.get(&channel_id).copied();
        let (topic, encoding) = channel.ok_or_else(|| Status::error(no_client_channel(channel_id)))?;
        (self.caller.permits)(Action::Drive).map_err(Status::error)?;
        let refused = |why: String| Status::error(format!("{}: {why}", topic.name()));
        let message = match encoding {
            Encoding::Cdr => message_from_cdr(topic, payload),
            Encoding::Json => serde_json::from_slice(payload)
                .map_err(|error| format!("the message is not JSON: {error}"))
                .and_then(|value| message_from_json(topic, value)),
        };
        let command = chicane_ros::command(topic, &message.map_err(refused)?);
        self.commands.add(topic, command.map_err(|why| refused(why.to_string()))?, ());
        Ok(())
    }

    /// Queues a request that changes parameters. If the message of the client has an `id`, the
    /// request then responds with the values of these parameters. Unknown parameters, and
    /// parameters that the client may not change, are left out.
    fn set_parameters(&mut self, wanted: Vec<ParameterRequest>, id: Option<String>) -> Result<(), Status> {
        let mut changes = Vec::new();
        let checked = self.each(wanted, |client, ParameterRequest { name, value }| {
            let parameter = Parameter::by_name(&name).map_err(Status::error)?;
            (client.caller.permits)(parameter.action()).map_err(Status::error)?;
            // If a request names a parameter several times, the last value counts.
            changes.retain(|(other, _)| *other != parameter);
            changes.push((parameter, value));
            Ok(())
        });
        let (host, simulator) = (self.bridge.host.clone(), self.simulator.clone());
        self.requests.push_back(Box::pin(async move {
            let names: ParameterSet = changes.iter().map(|(parameter, _)| *parameter).collect();
            let mut responses = Vec::new();
            for (parameter, value) in changes {
                if let Err(why) = parameter.set(&host, &simulator, value).await {
                    responses.push(SocketMessage::Text(protocol::status(&Status::error(why))));
                }
            }
            if let Some(id) = id {
                responses.push(SocketMessage::Text(names.values(&simulator.now(), Some(&id))));
            }
            responses
        }));
        checked
    }

    /// Queues the call of a service.
    fn call(&mut self, id: u32, call_id: u32, encoding: &str, payload: &Bytes) -> Result<(), String> {
        let service = Service::by_id(id)?;
        let encoding = Encoding::by_name(encoding)?;
        // The request of each service has no fields. In CDR the payload may still contain padding,
        // so only JSON is checked.
        if encoding == Encoding::Json && !payload.is_empty() {
            serde_json::from_slice::<serde_json::Map<_, _>>(payload)
                .map_err(|error| format!("the request must be a JSON object: {error}"))?;
        }
        (self.caller.permits)(service.action())?;
        let (host, simulator) = (self.bridge.host.clone(), self.simulator.clone());
        self.requests.push_back(Box::pin(async move {
            vec![service.respond(&host, &simulator, call_id, encoding).await]
        }));
        Ok(())
    }
}

/// Executes the next request. Waits forever if there is no request. If this future is dropped, no
/// request is lost.
pub(super) async fn run_next_request(requests: &mut VecDeque<Request>) -> Vec<SocketMessage> {
    let Some(request) = requests.front_mut() else { return std::future::pending().await };
    let responses = request.await;
    requests.pop_front();
    responses
}

fn no_client_channel(id: u32) -> String {
    format!("there is no client channel with id {id}: advertise it first")
}

fn first_error(texts: Vec<String>) -> Result<(), Status> {
    texts.into_iter().next().map_or(Ok(()), |text| Err(Status::error(text)))
}

/// The topic with this name, if the robot subscribes to it. Otherwise an error.
fn command_topic(name: &str) -> Result<Topic, Status> {
    let is_command = |topic: &Topic| topic.direction() == Direction::In;
    Topic::by_name(name).filter(is_command).ok_or_else(|| {
        let known: Vec<&str> = Topic::ALL.into_iter().filter(is_command).map(Topic::name).collect();
        Status::error(format!("a client can't publish {}, only {}", quoted(name), known.join(", ")))
    })
}

/// Parses the message of a topic that the robot subscribes to.
fn message_from_cdr(topic: Topic, payload: &[u8]) -> Result<Message, String> {
    let message = match topic.type_name() {
        Float64::NAME => cdr::decode::<Float64>(payload).map(Message::from),
        Twist::NAME => cdr::decode::<Twist>(payload).map(Message::from),
        other => return Err(format!("messages of type {other} are not supported")),
    };
    message.map_err(|error| error.to_string())
}
