//! A client of the bridge. This module executes the client's messages and queues the responses.

use super::definitions;
use super::encode::TopicName;
use super::hub::HubMember;
use super::protocol::{self, ClientMessage, MessageId, Operation, StatusLevel, StatusMessage, quoted};
use super::services;
use crate::Bridge;
use crate::commands::Commands;
use crate::socket::SocketMessage;
use chicane_host::Source;
use chicane_ros::definitions::short_type;
use chicane_ros::messages::{Float64, Twist};
use chicane_ros::{Direction, Message, RosType, Topic};
use serde_json::Value;
use std::collections::VecDeque;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// The connection is closed after this many messages in a row that failed with an error.
const MAX_CONSECUTIVE_ERRORS: u32 = 100;
/// How many responses may wait to be sent. While this many responses wait, nothing is read from the
/// client.
const MAX_RESPONSES: usize = 64;

/// A client of the bridge.
pub(super) struct Client {
    bridge: Bridge,
    pub(super) member: HubMember,
    pub(super) commands: Commands<Option<MessageId>>,
    /// Responses that wait to be sent.
    pub(super) responses: VecDeque<Utf8Bytes>,
    /// Status messages below this level are not sent.
    level: StatusLevel,
    /// Number of messages that failed with an error since the last message that succeeded. A
    /// message that fails with a warning does not change the number.
    consecutive_errors: u32,
}

impl Client {
    pub(super) fn new(bridge: Bridge, source: Source) -> Client {
        let member = bridge.rosbridge.join();
        let commands = Commands::new(bridge.host.simulator.acting_at(source, "/rosbridge"));
        Client {
            bridge,
            member,
            commands,
            responses: VecDeque::new(),
            level: StatusLevel::Error,
            consecutive_errors: 0,
        }
    }

    /// Whether the next message may be read. It may not be read while too many responses wait to be
    /// sent.
    pub(super) fn can_receive(&self) -> bool {
        self.responses.len() < MAX_RESPONSES
    }

    /// Whether the connection has to be closed, because of too many invalid messages in a row.
    pub(super) fn has_too_many_errors(&self) -> bool {
        self.consecutive_errors >= MAX_CONSECUTIVE_ERRORS
    }

    /// Executes a message. If the execution fails, responds with a status message.
    pub(super) fn handle(&mut self, message: &SocketMessage) {
        let message = match message {
            SocketMessage::Text(text) => ClientMessage::parse(text),
            SocketMessage::Binary(_) => ClientMessage {
                id: None,
                operation: Err(StatusMessage::error("send text frames: binary frames are not supported")),
            },
        };
        let ClientMessage { id, operation } = message;
        match operation.and_then(|operation| self.execute(operation, id.as_ref())) {
            Err(status) => {
                self.consecutive_errors += u32::from(status.level == StatusLevel::Error);
                self.send_status(&status, id.as_ref());
            }
            Ok(()) => self.consecutive_errors = 0,
        }
    }

    /// Queues a status message, unless its level is below the level that the client has set.
    pub(super) fn send_status(&mut self, status: &StatusMessage, id: Option<&MessageId>) {
        if status.level >= self.level {
            self.responses.push_back(protocol::status(status, id));
        }
    }

    /// The current tick, 0 while no world runs.
    fn tick(&self) -> u64 {
        self.bridge.host.simulator.now().running.as_ref().map_or(0, |seen| seen.snapshot.tick)
    }

    fn execute(&mut self, operation: Operation, id: Option<&MessageId>) -> Result<(), StatusMessage> {
        match operation {
            Operation::Subscribe { topic, kind, delivery } => {
                let name = topic_name(&topic)?;
                check_type(name.topic, kind.as_deref())?;
                self.member.subscribe(name, id.cloned(), delivery)
            }
            Operation::Unsubscribe { topic } => self.member.unsubscribe(topic_name(&topic)?, id),
            Operation::Advertise { topic, kind } => check_type(command_topic(&topic)?, kind.as_deref()),
            // Advertisements are only checked and not stored, so there is nothing to remove.
            Operation::Unadvertise { topic } => command_topic(&topic).map(drop),
            Operation::Publish { topic, message } => {
                let topic = command_topic(&topic)?;
                let message = parse_message(topic, message)?;
                let command = chicane_ros::command(topic, &message);
                let command =
                    command.map_err(|why| StatusMessage::error(format!("{}: {why}", topic.name())))?;
                self.bridge.rosbridge.publish(topic, &message, self.tick());
                self.commands.add(topic, command, id.cloned());
                Ok(())
            }
            Operation::CallService { service, args } => {
                let outcome = services::call(&service, &args, self.tick());
                self.responses.push_back(protocol::service_response(&service, outcome, id));
                Ok(())
            }
            Operation::SetLevel(level) => {
                self.level = level;
                Ok(())
            }
            Operation::SendGoal { action } => {
                self.responses.push_back(protocol::goal_aborted(&action, id));
                let text = format!("unknown action {}: actions are not supported", quoted(&action));
                Err(StatusMessage::error(text))
            }
        }
    }
}

fn topic_name(text: &str) -> Result<TopicName, StatusMessage> {
    TopicName::parse(text).ok_or_else(|| {
        StatusMessage::error(format!("unknown topic {}; /rosapi/topics lists all topics", quoted(text)))
    })
}

/// The topic with this name, if the robot subscribes to it. Otherwise an error.
fn command_topic(text: &str) -> Result<Topic, StatusMessage> {
    let topic = topic_name(text)?.topic;
    if topic.direction() == Direction::In {
        return Ok(topic);
    }
    let all = Topic::ALL.into_iter().filter(|t| t.direction() == Direction::In);
    let known: Vec<&str> = all.map(Topic::name).collect();
    let text =
        format!("only the robot publishes {}; a client can publish on {}", topic.name(), known.join(", "));
    Err(StatusMessage::error(text))
}

/// Refuses a type that differs from the type of the topic. A missing type, an empty type and `*`
/// are accepted.
fn check_type(topic: Topic, kind: Option<&str>) -> Result<(), StatusMessage> {
    match kind {
        None | Some("" | "*") => Ok(()),
        Some(kind) if short_type(kind) == short_type(topic.type_name()) => Ok(()),
        Some(kind) => {
            let text = format!("{} has type {}, not {}", topic.name(), topic.type_name(), quoted(kind));
            Err(StatusMessage::error(text))
        }
    }
}

/// Parses the message of a topic that the robot subscribes to.
pub(super) fn parse_message(topic: Topic, value: Value) -> Result<Message, StatusMessage> {
    let kind = topic.type_name();
    definitions::check(kind, &value)?;
    let parsed = match kind {
        Float64::NAME => serde_json::from_value::<Float64>(value).map(Message::from),
        Twist::NAME => serde_json::from_value::<Twist>(value).map(Message::from),
        other => return Err(StatusMessage::error(format!("messages of type {other} are not supported"))),
    };
    parsed.map_err(|error| StatusMessage::error(format!("msg is not a valid {kind}: {error}")))
}
