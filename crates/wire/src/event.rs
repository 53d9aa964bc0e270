//! Story lines of the event stream: output of the student's program and progress of a session.

use crate::num::Num;
use crate::verdict::{CommandName, Outcome, OutputStream, Phase};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// An event that no subscriber may skip.
#[derive(Debug, Clone, PartialEq)]
pub enum StoryEvent {
    /// Event `run`.
    Run(RunEvent),
    /// Event `evaluation`.
    Evaluation(EvaluationEvent),
}

impl StoryEvent {
    /// Name of the event.
    pub fn name(&self) -> &'static str {
        match self {
            StoryEvent::Run(_) => "run",
            StoryEvent::Evaluation(_) => "evaluation",
        }
    }

    /// Data of the event, one line of JSON.
    pub fn data(&self) -> serde_json::Result<String> {
        match self {
            StoryEvent::Run(event) => serde_json::to_string(event),
            StoryEvent::Evaluation(event) => serde_json::to_string(event),
        }
    }
}

/// Start, output and exit of the student's program.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "phase", rename_all = "lowercase")]
pub enum RunEvent {
    /// The program was started.
    Start {
        /// Shell command that started the program.
        command: String,
    },
    /// The program wrote a line.
    Log {
        /// The stream that the line was written to.
        stream: OutputStream,
        /// The line, at most 2,000 characters.
        line: String,
        /// True if the line was cut.
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated: Option<bool>,
    },
    /// The program ended.
    Exit {
        /// Exit code, or the negated number of the signal that ended the program.
        exit_code: i32,
    },
}

/// An event of an evaluation session.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct EvaluationEvent {
    /// Id of the session.
    pub session: String,
    /// Simulated seconds since the phase `running` began.
    pub time: Num,
    /// Type and data of the event.
    #[serde(flatten)]
    pub kind: EvaluationKind,
}

/// An event as a record holds it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RecordedEvent {
    /// Simulated seconds since the phase `running` began.
    pub time: Num,
    /// Type and data of the event.
    #[serde(flatten)]
    pub kind: EvaluationKind,
}

/// Type and data of an event of a session.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum EvaluationKind {
    /// The session was started.
    Start {
        /// Name of the world.
        world: String,
        /// Command of the student's program; null without a program.
        command: Option<String>,
        /// Time limit, simulated seconds.
        time_limit_s: Num,
    },
    /// The session entered a phase.
    Phase {
        /// The phase.
        phase: Phase,
    },
    /// The script called `sim.record`. The value replaces the previous record of the session.
    Record {
        /// Any JSON value.
        record: Value,
    },
    /// The script printed a line.
    Log {
        /// The printed line.
        line: String,
    },
    /// A command to the world, the clock or the display that the judging script did not send. The
    /// record stores this event, and the event stream does not send it.
    Command {
        /// The command.
        command: CommandName,
        /// Parameters of the command.
        #[serde(skip_serializing_if = "Value::is_null")]
        #[schema(value_type = Object)]
        detail: Value,
    },
    /// An event of the student's program. The record stores it in this form, between the events of
    /// the session. The event stream sends an event `run` instead.
    Run {
        /// Fields of the event `run`.
        #[serde(flatten)]
        run: RunEvent,
    },
    /// Further events were dropped, because the events of the session reached the limit of a
    /// record. The record stores this event, and the event stream does not send it.
    Truncated {},
    /// The session ended.
    End {
        /// How the session ended.
        outcome: Outcome,
        /// The last record.
        record: Value,
        /// Why the session ended.
        reason: Option<String>,
    },
}
