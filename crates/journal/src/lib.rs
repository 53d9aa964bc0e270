//! The journal of a judged run.
//!
//! A journal contains everything that a run depends on. Its [`Head`] names the world and contains
//! the profile of the car, the seed and the judging script. Two streams follow. The stream of the
//! simulation ([`Change`]) has every applied command with its tick and sender, every observation of
//! the judge, and the hashes of the whole state for every simulated second. The stream of the
//! session has the inputs from outside the simulation: output and exit of the student's program,
//! and the end. The crate `session` defines the content of the second stream.
//!
//! A reader that has the world can simulate the run again from its journal and compare every hash.
//! The streams contain no real time. In virtual time they contain no measured real-time factor
//! either, so two runs of a repeatable program have equal journals.
//!
//! A [`Recorder`] writes the first stream, and [`Entries`] reads it. This crate uses no files and
//! no threads. The host stores the bytes.

mod change;
mod entries;
mod head;
mod journal;
mod recorder;
mod robot_order;
mod state_hash;

pub use change::{Change, Sender, SenderKind};
pub use entries::{Damaged, Entries, Entry};
pub use head::{FORMAT, Head};
pub use journal::{Journal, NotAJournal};
pub use recorder::{MAX_BYTES, Recorder, Sink};
pub use robot_order::{RobotOrder, UnknownFile};
pub use state_hash::{part_names, state_hashes};
