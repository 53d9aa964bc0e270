//! Recordings: MCAP files with the robot's ROS 2 topics and the state of the simulator.
//!
//! | Module | Content |
//! |---|---|
//! | `writer` | [`McapWriter`]: converts ticks to the bytes of an MCAP file |
//! | `channels` | message definitions and quality of service, as MCAP stores them |
//! | `options` | folder and limits |
//! | `folder` | names of files, removal of old files, free space |
//! | `recorder` | [`Recorder`]: starts and stops the recording of a running simulator |
//! | `session` | the thread of one recording |
//! | `images` | draws camera frames for a recording |
//! | `status` | status of the current or last recording |
//!
//! [`McapWriter`] reads no clock, so that equal ticks give equal bytes. Replays use it too. The
//! recorder reads a tap of the sim thread, which never waits for the recorder.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod channels;
mod folder;
mod images;
mod options;
mod recorder;
mod session;
mod status;
mod writer;

pub use channels::STATE_TOPIC;
pub use folder::FolderError;
pub use options::RecordingOptions;
pub use recorder::{Recorder, StartRecordingError};
pub use writer::{McapWriter, WriteMcapError};
