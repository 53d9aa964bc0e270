//! Story lines of the event stream: what a student's program says, and how a session goes on.

use crate::num::Num;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A line that every subscriber is to see.
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

    /// Its data, one line of JSON.
    pub fn data(&self) -> serde_json::Result<String> {
        match self {
            StoryEvent::Run(event) => serde_json::to_string(event),
            StoryEvent::Evaluation(event) => serde_json::to_string(event),
        }
    }
}

/// Output of the student's program.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "phase", rename_all = "lowercase")]
pub enum RunEvent {
    /// It was started.
    Start {
        /// With this command.
        command: String,
    },
    /// It wrote a line.
    Log {
        /// `stdout` or `stderr`.
        stream: &'static str,
        /// At most 2,000 characters.
        line: String,
        /// True when something was left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated: Option<bool>,
    },
    /// It ended.
    Exit {
        /// Negative is a signal.
        exit_code: i32,
    },
}

/// A step of a session.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct EvaluationEvent {
    /// Id of the session.
    pub session: String,
    /// Simulated seconds since it began to run.
    pub time: Num,
    /// What happened.
    #[serde(flatten)]
    pub kind: EvaluationKind,
}

/// What happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum EvaluationKind {
    /// It was started.
    Start {
        /// Name of the world.
        world: String,
        /// The student's command.
        command: Option<String>,
        /// Simulated seconds.
        time_limit_s: Num,
    },
    /// It entered a phase.
    Phase {
        /// Name of the phase.
        phase: String,
    },
    /// The record changed.
    Record {
        /// A number, or any JSON value.
        record: Value,
    },
    /// The script wrote a line.
    Log {
        /// The line.
        line: String,
    },
    /// Somebody did something beside the session; in its record only.
    Command {
        /// `reset`, `clock`, `step`, `pose`, `model` or `light`.
        command: &'static str,
        /// What exactly.
        #[serde(skip_serializing_if = "Value::is_null")]
        #[schema(value_type = Object)]
        detail: Value,
    },
    /// The student's program; in the record only, where events of both kinds are in one list.
    Run {
        /// What happened to it.
        #[serde(flatten)]
        #[schema(value_type = Object)]
        run: Value,
    },
    /// More happened than is kept; in the record only.
    Truncated {},
    /// It is over.
    End {
        /// How.
        outcome: String,
        /// The last record.
        record: Value,
        /// Why.
        reason: Option<String>,
    },
}
