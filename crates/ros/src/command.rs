//! Converts a message to a command for the robot.

use crate::messages::Message;
use crate::topics::Topic;
use chicane_robot::Command;

/// The reason why a message is not a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageError {
    /// The robot does not subscribe to the topic.
    NotSubscribed,
    /// The message does not have the type of its topic.
    WrongType,
    /// A number is NaN or infinite.
    NotFinite,
}

impl std::fmt::Display for MessageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            MessageError::NotSubscribed => "the robot does not subscribe to this topic",
            MessageError::WrongType => "the topic has another message type",
            MessageError::NotFinite => "the numbers of a command must be finite",
        })
    }
}

impl std::error::Error for MessageError {}

/// Converts a message on a topic to a command. The robot clamps the values to its limits.
pub fn command(topic: Topic, message: &Message) -> Result<Command, MessageError> {
    let (command, values) = match (topic, message) {
        (Topic::Speed, Message::Float64(m)) => (Command::Speed(m.data), [m.data, 0.0]),
        (Topic::Steering, Message::Float64(m)) => (Command::Steering(m.data), [m.data, 0.0]),
        (Topic::Pan, Message::Float64(m)) => (Command::Pan(m.data), [m.data, 0.0]),
        (Topic::Tilt, Message::Float64(m)) => (Command::Tilt(m.data), [m.data, 0.0]),
        (Topic::CmdVel, Message::Twist(m)) => {
            let (linear, angular) = (m.linear.x, m.angular.z);
            (Command::Twist { linear, angular }, [linear, angular])
        }
        (Topic::Speed | Topic::Steering | Topic::Pan | Topic::Tilt | Topic::CmdVel, _) => {
            return Err(MessageError::WrongType);
        }
        _ => return Err(MessageError::NotSubscribed),
    };
    values.iter().all(|v| v.is_finite()).then_some(command).ok_or(MessageError::NotFinite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Float64, Twist};

    #[test]
    fn messages_become_commands() {
        let number = |data| Message::from(Float64 { data });
        assert_eq!(command(Topic::Speed, &number(1.5)), Ok(Command::Speed(1.5)));
        assert_eq!(command(Topic::Steering, &number(-0.1)), Ok(Command::Steering(-0.1)));
        assert_eq!(command(Topic::Pan, &number(0.2)), Ok(Command::Pan(0.2)));
        assert_eq!(command(Topic::Tilt, &number(0.3)), Ok(Command::Tilt(0.3)));
        let mut twist = Twist::default();
        (twist.linear.x, twist.angular.z) = (0.5, 0.25);
        let wanted = Command::Twist { linear: 0.5, angular: 0.25 };
        assert_eq!(command(Topic::CmdVel, &twist.into()), Ok(wanted));
    }

    #[test]
    fn invalid_messages_are_refused() {
        let number = |data| Message::from(Float64 { data });
        assert_eq!(command(Topic::Speed, &number(f64::NAN)), Err(MessageError::NotFinite));
        assert_eq!(command(Topic::Tilt, &number(f64::INFINITY)), Err(MessageError::NotFinite));
        assert_eq!(command(Topic::CmdVel, &number(1.0)), Err(MessageError::WrongType));
        assert_eq!(command(Topic::Scan, &number(1.0)), Err(MessageError::NotSubscribed));
        let mut twist = Twist::default();
        twist.angular.z = f64::NAN;
        assert_eq!(command(Topic::CmdVel, &twist.into()), Err(MessageError::NotFinite));
    }
}
