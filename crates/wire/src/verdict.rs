//! The enums that describe the progress and the end of a session.

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Defines an enum whose variants are words on the wire. Each word must be the name of its variant
/// in snake case. The macro sets the words on the wire with `rename_all`, because `serde` and
/// `utoipa` both understand that attribute inside a macro.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The value as a word on the wire.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            /// The value of a word; `None` if the word is unknown.
            pub fn from_name(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|value| value.name() == word)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

words! {
    /// The phase of a session.
    Phase {
        /// The world is placed, and the script is loaded and initialized.
        Initializing = "initializing",
        /// The student's program is being started.
        Starting = "starting",
        /// Simulated time runs and the script judges.
        Running = "running",
        /// The session is over.
        Ended = "ended",
    }
}

words! {
    /// How a session ended.
    Outcome {
        /// The script called `sim.finish()`.
        Finished = "finished",
        /// The simulated time limit passed.
        Timeout = "timeout",
        /// The script failed.
        ScriptError = "script_error",
        /// A request, the limit of real time, a shutdown or a fault of the simulator ended the
        /// session, or a recorded drive that is judged again was over.
        Stopped = "stopped",
        /// The evaluation is for another robot generation or format version.
        Unsupported = "unsupported",
    }
}

words! {
    /// Which records are better.
    Better {
        /// A smaller record is better.
        Lower = "lower",
        /// A larger record is better.
        Higher = "higher",
    }
}

words! {
    /// A command that a client sends during a session.
    CommandName {
        /// `POST /reset`.
        Reset = "reset",
        /// `POST /clock`.
        Clock = "clock",
        /// `POST /step`.
        Step = "step",
        /// `POST /pose`.
        Pose = "pose",
        /// `POST /models/<name>/pose`.
        Model = "model",
        /// `POST /traffic_lights/<name>`.
        Light = "light",
        /// `POST /overlay`.
        Overlay = "overlay",
        /// `POST /brightness`.
        Brightness = "brightness",
    }
}

words! {
    /// The kind of isolation that a student's program runs in.
    BoxKind {
        /// A file system of its own with a copy of the workspace, for grading.
        Closed = "closed",
        /// The file system of the host without the simulators' own folders.
        Host = "host",
    }
}

words! {
    /// What a student's program can reach besides the simulator.
    StudentNetwork {
        /// Nothing.
        None = "none",
        /// The internet, but neither this machine nor private networks.
        Internet = "internet",
        /// The network of the host. The simulator then can't recognize the program's requests.
        Host = "host",
    }
}

words! {
    /// How simulated time advances during a judged run.
    Pace {
        /// Time runs at the session's speed, whatever the program does.
        Real = "real",
        /// Time waits for the program.
        Virtual = "virtual",
    }
}

words! {
    /// The sender of a command.
    CommandSource {
        /// A person at the web page.
        Viewer = "viewer",
        /// A client of the HTTP API that is not the page.
        Api = "api",
        /// The program that the session started.
        Student = "student",
        /// The judging script.
        Judge = "judge",
        /// A ROS 2 node, or a client of rosbridge or Foxglove.
        Ros = "ros",
        /// A recorded run that is being replayed.
        Replay = "replay",
    }
}

words! {
    /// A group of paths that a judged program may be allowed to use. The robot's own paths are
    /// always allowed, and so is `POST /evaluation/stop`.
    AllowedGroup {
        /// GET requests below `/sim`, except those that show recordings, replays, programs, the
        /// leaderboard, submissions or projects. The WebSocket `/foxglove` belongs to this group
        /// too.
        State = "state",
        /// `POST /step`.
        Step = "step",
        /// Pose, models, lights, reset, brightness, overlay and clock.
        World = "world",
    }
}

words! {
    /// An output stream of the student's program.
    OutputStream {
        /// Standard output.
        Stdout = "stdout",
        /// Standard error.
        Stderr = "stderr",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_same_in_json_and_in_the_document() {
        fn check<T: Copy + Serialize + utoipa::PartialSchema>(all: &[T], name: impl Fn(T) -> &'static str) {
            let document = serde_json::to_value(T::schema()).expect("JSON");
            let words: Vec<&str> = all.iter().map(|value| name(*value)).collect();
            assert_eq!(document["enum"], serde_json::json!(words));
            assert_eq!(serde_json::to_value(all).expect("JSON"), serde_json::json!(words));
        }
        check(Phase::ALL, Phase::name);
        check(Outcome::ALL, Outcome::name);
        check(Better::ALL, Better::name);
        check(CommandName::ALL, CommandName::name);
        check(OutputStream::ALL, OutputStream::name);
        check(BoxKind::ALL, BoxKind::name);
        check(StudentNetwork::ALL, StudentNetwork::name);
        check(Pace::ALL, Pace::name);
        check(CommandSource::ALL, CommandSource::name);
        check(AllowedGroup::ALL, AllowedGroup::name);
    }

    #[test]
    fn a_word_is_read_back_as_its_value() {
        for outcome in Outcome::ALL {
            assert_eq!(Outcome::from_name(outcome.name()), Some(*outcome));
        }
        assert_eq!(Outcome::from_name("won"), None);
        assert_eq!(format!("{:<12}|", Phase::Ended), "ended       |");
    }
}
