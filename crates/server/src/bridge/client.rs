//! What one client is, and what is done about what it says.

use super::commands::Commands;
use super::definitions;
use super::encode::Name;
use super::hub::Member;
use super::services;
use super::words::{self, Id, Level, Op, Request, Trouble, short};
use crate::state::App;
use crate::websocket::Said;
use chicane_host::Source;
use chicane_ros::messages::{Float64, Twist};
use chicane_ros::{Direction, Message, RosType, Topic};
use serde_json::Value;
use std::collections::VecDeque;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Messages without sense, one after the other, before it is given up.
const PATIENCE: u32 = 100;
/// Answers that may wait for their reader; until some are taken nothing more is read.
const MAX_ANSWERS: usize = 64;

/// A client.
pub(super) struct Client {
    app: App,
    pub(super) member: Member,
    pub(super) commands: Commands,
    pub(super) answers: VecDeque<Utf8Bytes>,
    /// What is less bad than this is not told.
    level: Level,
    /// Messages without sense since the last one with.
    nonsense: u32,
}

impl Client {
    pub(super) fn new(app: App) -> Client {
        let (member, commands) = (app.bridge.join(), Commands::new(app.simulator.acting_as(Source::Ros)));
        Client { app, member, commands, answers: VecDeque::new(), level: Level::Error, nonsense: 0 }
    }

    /// Whether it may say more.
    pub(super) fn is_heard(&self) -> bool {
        self.answers.len() < MAX_ANSWERS
    }

    /// Whether it said so much nonsense that nothing else is to be expected.
    pub(super) fn is_hopeless(&self) -> bool {
        self.nonsense >= PATIENCE
    }

    /// Follows a message, or says why not.
    pub(super) fn hear(&mut self, said: &Said) {
        let request = match said {
            Said::Text(text) => Request::read(text),
            Said::Binary(_) => Request {
                id: None,
                op: Err(Trouble::error("send text frames: binary ones are not read here")),
            },
        };
        let Request { id, op } = request;
        let done = op.and_then(|op| self.follow(op, id.as_ref()));
        match done {
            Err(trouble) => {
                self.nonsense += u32::from(trouble.level == Level::Error);
                self.complain(&trouble, id.as_ref());
            }
            Ok(()) => self.nonsense = 0,
        }
    }

    /// Tells that something went wrong.
    pub(super) fn complain(&mut self, trouble: &Trouble, id: Option<&Id>) {
        if trouble.level >= self.level {
            self.answers.push_back(words::status(trouble, id));
        }
    }

    fn follow(&mut self, op: Op, id: Option<&Id>) -> Result<(), Trouble> {
        match op {
            Op::Subscribe { topic, kind, wish } => {
                let name = named(&topic)?;
                is_of(name.topic, kind.as_deref())?;
                self.member.subscribe(name, id.cloned(), wish)
            }
            Op::Unsubscribe { topic } => self.member.unsubscribe(named(&topic)?, id),
            Op::Advertise { topic, kind } => is_of(heard(&topic)?, kind.as_deref()),
            // Nothing is kept of an advertisement, so that there is nothing to take back.
            Op::Unadvertise { topic } => heard(&topic).map(drop),
            Op::Publish { topic, message } => {
                let topic = heard(&topic)?;
                let message = message_of(topic, message)?;
                let command = chicane_ros::command(topic, &message);
                let command = command.map_err(|why| Trouble::error(format!("{}: {why}", topic.name())))?;
                self.app.bridge.say(topic, &message);
                self.commands.add(topic, command, id.cloned());
                Ok(())
            }
            Op::CallService { service, args } => {
                let tick = self.app.simulator.now().running.as_ref().map_or(0, |seen| seen.snapshot.tick);
                let answer = services::call(&service, &args, tick);
                self.answers.push_back(words::service_response(&service, answer, id));
                Ok(())
            }
            Op::SetLevel(level) => {
                self.level = level;
                Ok(())
            }
            Op::SendGoal { action } => {
                self.answers.push_back(words::no_action(&action, id));
                Err(Trouble::error(format!(
                    "there is no action {}: actions are not offered here",
                    short(&action)
                )))
            }
        }
    }
}

fn named(text: &str) -> Result<Name, Trouble> {
    Name::read(text).ok_or_else(|| {
        Trouble::error(format!("there is no topic {}; /rosapi/topics lists what there is", short(text)))
    })
}

/// A topic that the robot listens to.
fn heard(text: &str) -> Result<Topic, Trouble> {
    let topic = named(text)?.topic;
    if topic.direction() == Direction::In {
        return Ok(topic);
    }
    let all = Topic::ALL.into_iter().filter(|t| t.direction() == Direction::In);
    let known: Vec<&str> = all.map(Topic::name).collect();
    let text = format!("{} is the robot's to publish; publish on {}", topic.name(), known.join(", "));
    Err(Trouble::error(text))
}

/// Checks the type that someone believes a topic to have, if they say.
fn is_of(topic: Topic, kind: Option<&str>) -> Result<(), Trouble> {
    match kind {
        None | Some("" | "*") => Ok(()),
        Some(kind) if definitions::plain(kind) == definitions::plain(topic.type_name()) => Ok(()),
        Some(kind) => {
            let text = format!("{} has type {}, not {}", topic.name(), topic.type_name(), short(kind));
            Err(Trouble::error(text))
        }
    }
}

/// The message of a topic that the robot listens to.
fn message_of(topic: Topic, value: Value) -> Result<Message, Trouble> {
    let kind = topic.type_name();
    definitions::check(kind, &value)?;
    let read = match kind {
        Float64::NAME => serde_json::from_value::<Float64>(value).map(Message::from),
        Twist::NAME => serde_json::from_value::<Twist>(value).map(Message::from),
        other => return Err(Trouble::error(format!("messages of type {other} are not read here"))),
    };
    read.map_err(|why| Trouble::error(format!("msg is no {kind}: {why}")))
}
