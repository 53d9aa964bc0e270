//! How a session can end. Each ending is a variant, with its name in the API and a reason for
//! people.

use chicane_wire::Outcome;
use serde::{Deserialize, Serialize};

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The script called `sim.finish()`.
    Finished,
    /// The time limit, which counts simulated seconds, passed.
    TimedOut,
    /// The script failed or broke a rule.
    Script(ScriptFault),
    /// The session was stopped from outside, or could not continue.
    Stopped(StopCause),
    /// This simulator can't run the evaluation. The script was not started.
    Unsupported(Unsupported),
}

/// Why a script counts as failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptFault {
    /// The script raised an exception. Holds the last line of the traceback.
    Raised(String),
    /// The script called `sys.exit`. Holds the last line of the traceback.
    Exited(String),
    /// The script's process ended. Holds the exit code, or the negated signal number.
    Ended(i32),
    /// One call used too much processor time.
    CpuTime,
    /// One call did not return in time.
    WallTime,
    /// The script used too much memory. Holds the last line of its traceback, if it raised an
    /// exception.
    Memory(Option<String>),
    /// The script started too many processes. Holds the last line of its traceback, if it raised an
    /// exception.
    Processes(Option<String>),
    /// The script wrote too much to files. Holds the last line of its traceback, if it raised an
    /// exception.
    Files(Option<String>),
    /// The script printed too much.
    Output,
    /// The script wrote to the channel of the harness, or closed it.
    Channel(ChannelFault),
}

/// How a script misused the channel of the harness.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChannelFault {
    /// A line is not a message. Holds the parser's error.
    #[error("not a message ({0})")]
    NotAMessage(String),
    /// A record is too long, or is a number that is not finite.
    #[error("a record that is too long")]
    RecordTooLong,
    /// A line is too long.
    #[error("a line that is too long")]
    LineTooLong,
    /// The channel was closed, or the container ended, and no exit of the script was reported.
    #[error("it was closed")]
    Closed,
    /// A message came that is not allowed at this point.
    #[error("a message out of turn")]
    OutOfTurn,
    /// An answer came without a call.
    #[error("an answer without a call")]
    UnexpectedAnswer,
}

/// Why a session was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// A client or the command line asked to stop the session.
    Asked,
    /// The simulator is shutting down.
    Shutdown,
    /// The simulator was killed during the session. The next start of the simulator closed the
    /// session.
    Restarted,
    /// The simulation panicked. In a run that is judged again, the simulation differs from the
    /// journal.
    WorldLost,
    /// The world could not be made ready. Holds the reason.
    NotPlaced(String),
    /// The judge's container could not be started. Holds the reason.
    NoJudge(String),
    /// The student's program could not be started. Holds the reason.
    NoStudent(String),
    /// The record could not be written to disk. Holds the reason.
    NotKept(String),
    /// The supervisor of the session panicked.
    Unsupervised,
    /// The recorded drive that is judged again is over.
    DriveOver,
    /// The real time of the session ran out. Holds the limit in seconds.
    WallLimit(String),
}

/// Why a session can't be run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsupported {
    /// The evaluation is for another robot.
    Robot {
        /// The robot that the evaluation is for.
        wanted: String,
        /// The robot of this simulator.
        own: String,
    },
    /// The evaluation document has a version that is not supported.
    Version(i64),
}

impl Ending {
    /// The outcome as it is recorded.
    pub fn outcome(&self) -> Outcome {
        match self {
            Ending::Finished => Outcome::Finished,
            Ending::TimedOut => Outcome::Timeout,
            Ending::Script(_) => Outcome::ScriptError,
            Ending::Stopped(_) => Outcome::Stopped,
            Ending::Unsupported(_) => Outcome::Unsupported,
        }
    }

    /// Whether the session ended because the simulator could not run it: the simulation failed, the
    /// world could not be made ready, the judge or the student's program could not be started, the
    /// record could not be written, or the supervisor panicked.
    pub fn is_fault(&self) -> bool {
        use StopCause::{NoJudge, NoStudent, NotKept, NotPlaced, Unsupervised, WorldLost};
        let Ending::Stopped(cause) = self else { return false };
        matches!(cause, WorldLost | NotPlaced(_) | NoJudge(_) | NoStudent(_) | NotKept(_) | Unsupervised)
    }

    /// The reason as one line for people. `None` if the outcome needs no explanation.
    pub fn reason(&self, time_limit_s: f64) -> Option<String> {
        match self {
            Ending::Finished => None,
            Ending::TimedOut => Some(format!("the time limit of {time_limit_s} s passed")),
            Ending::Script(fault) => Some(fault.to_string()),
            Ending::Stopped(cause) => Some(cause.to_string()),
            Ending::Unsupported(why) => Some(why.to_string()),
        }
    }
}

impl std::fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let with = |f: &mut std::fmt::Formatter<'_>, what: &str, line: &Option<String>| match line {
            Some(line) => write!(f, "{what}: {line}"),
            None => f.write_str(what),
        };
        match self {
            ScriptFault::Raised(line) => f.write_str(line),
            ScriptFault::Exited(line) => write!(f, "the script exited: {line}"),
            ScriptFault::Ended(code) if *code < 0 => {
                write!(f, "the script was ended by signal {}", -code)
            }
            ScriptFault::Ended(code) => write!(f, "the script exited with status {code}"),
            ScriptFault::CpuTime => f.write_str("no answer within 2 s of CPU time in one call"),
            ScriptFault::WallTime => f.write_str("no answer within 15 s in one call"),
            ScriptFault::Memory(line) => with(f, "memory limit of 512 MiB", line),
            ScriptFault::Processes(line) => with(f, "process limit of 64", line),
            ScriptFault::Files(line) => with(f, "file limit of 256 MiB", line),
            ScriptFault::Output => f.write_str("output limit of 1 MiB a second"),
            ScriptFault::Channel(what) => write!(f, "the channel of the harness was misused: {what}"),
        }
    }
}

impl std::fmt::Display for StopCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StopCause::Asked => f.write_str("stopped on request"),
            StopCause::Shutdown => f.write_str("simulator shut down"),
            StopCause::Restarted => f.write_str("simulator restarted"),
            StopCause::WorldLost => f.write_str("the simulation failed"),
            StopCause::NotPlaced(why) => write!(f, "the world could not be made ready: {why}"),
            StopCause::NoJudge(why) => write!(f, "the judge could not be started: {why}"),
            StopCause::NoStudent(why) => write!(f, "the student program could not be started: {why}"),
            StopCause::NotKept(why) => write!(f, "the record could not be kept: {why}"),
            StopCause::WallLimit(limit) => write!(f, "wall-clock limit of {limit} s"),
            StopCause::DriveOver => f.write_str("the recorded drive is over"),
            StopCause::Unsupervised => f.write_str("the simulator failed to supervise the session"),
        }
    }
}

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unsupported::Robot { wanted, own } => {
                write!(f, "the evaluation is for robot {wanted}, this simulator is {own}")
            }
            Unsupported::Version(version) => {
                write!(f, "version {version} of the evaluation is not known, only 1 is")
            }
        }
    }
}
