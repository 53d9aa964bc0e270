//! `builtin_interfaces`, `std_msgs`, `rosgraph_msgs`.

use chicane_world::readings::TICKS_PER_SECOND;
use serde::{Deserialize, Serialize};

/// A moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Time {
    /// Whole seconds.
    pub sec: i32,
    /// The rest.
    pub nanosec: u32,
}

impl Time {
    /// The moment of a tick. After 68 years it stands still.
    pub fn of_tick(tick: u64) -> Time {
        let (sec, ticks) = (tick / TICKS_PER_SECOND, tick % TICKS_PER_SECOND);
        match i32::try_from(sec) {
            Ok(sec) => Time { sec, nanosec: (ticks * (1_000_000_000 / TICKS_PER_SECOND)) as u32 },
            Err(_) => Time { sec: i32::MAX, nanosec: 0 },
        }
    }
}

/// When and where.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// When.
    pub stamp: Time,
    /// In which frame.
    pub frame_id: String,
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Float64 {
    /// The number.
    pub data: f64,
}

/// A count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UInt64 {
    /// The count.
    pub data: u64,
}

/// The time of the simulation, for `use_sim_time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// The time.
    pub clock: Time,
}
