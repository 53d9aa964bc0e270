//! The enums that describe the progress and the end of a session.

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Defines an enum whose variants are words on the wire. Each word is the name of its variant in
/// snake case, because inside of a macro both `serde` and `utoipa` understand `rename_all`.
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
        /// A person, a shutdown or a fault of the simulator ended the session.
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
