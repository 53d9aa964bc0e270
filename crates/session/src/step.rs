//! The steps of a session: the moments at which an observation was taken or the judging script
//! answered, and the other inputs of the session, such as a line of the student's program, a
//! command, or a stop. A journal holds the steps in the order in which the session took them, so
//! that the session can be judged again with the same events in the same order.

use crate::outcome::StopCause;
use chicane_wire::{CommandName, OutputStream};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A step of a session. The short names keep the journal small, because a run has 50 observations
/// and 50 answers per simulated second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// An observation was taken.
    #[serde(rename = "o")]
    Observed,
    /// The script answered a call, or failed during a call.
    #[serde(rename = "a")]
    Answered,
    /// The student's program was started.
    #[serde(rename = "start")]
    Started,
    /// The student's program wrote a line.
    #[serde(rename = "line")]
    Line {
        /// The stream that the line was written to.
        stream: OutputStream,
        /// The text without the line end.
        text: String,
        /// Whether the line was truncated, or stands for dropped lines.
        cut: bool,
    },
    /// The student's program exited. Holds the exit code, or the negated signal number.
    #[serde(rename = "exit")]
    Exited(i32),
    /// The student's program has reached its memory limit.
    #[serde(rename = "oom")]
    OutOfMemory,
    /// A command that the judging script did not send, and that is not a command to the robot.
    #[serde(rename = "command")]
    Command {
        /// The command.
        command: CommandName,
        /// Parameters of the command.
        detail: Value,
    },
    /// The time limit passed.
    #[serde(rename = "limit")]
    LimitPassed,
    /// The session was stopped.
    #[serde(rename = "stop")]
    Stop {
        /// Why the session was stopped.
        cause: StopCause,
        /// Number of messages and lines that came from the script in the current call before the
        /// stop.
        heard: u32,
    },
    /// The judge was ended. Holds the number of lines of the script that are published right after
    /// this step.
    #[serde(rename = "judge_end")]
    JudgeEnded(usize),
}

/// A line of a stream of steps is not a step.
#[derive(Debug, thiserror::Error)]
#[error("step {number} of the session can't be read: {why}")]
pub struct BadStep {
    number: usize,
    why: serde_json::Error,
}

impl Step {
    /// The step as a line of a journal.
    pub fn line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|line| line + "\n")
    }

    /// Reads all steps of a stream.
    pub fn read_all(bytes: &[u8]) -> Result<Vec<Step>, BadStep> {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let read = |(number, line): (usize, &[u8])| {
            serde_json::from_slice(line).map_err(|why| BadStep { number: number + 1, why })
        };
        lines.enumerate().map(read).collect()
    }
}
