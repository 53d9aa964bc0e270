//! Message types of `builtin_interfaces`, `std_msgs` and `rosgraph_msgs`.

use chicane_world::readings::TICKS_PER_SECOND;
use serde::{Deserialize, Serialize};

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Time {
    /// Whole seconds.
    pub sec: i32,
    /// Nanoseconds within the second.
    pub nanosec: u32,
}

impl Time {
    /// The simulated time of a tick. The seconds saturate after 68 years.
    pub fn of_tick(tick: u64) -> Time {
        let (sec, ticks) = (tick / TICKS_PER_SECOND, tick % TICKS_PER_SECOND);
        match i32::try_from(sec) {
            Ok(sec) => Time { sec, nanosec: (ticks * (1_000_000_000 / TICKS_PER_SECOND)) as u32 },
            Err(_) => Time { sec: i32::MAX, nanosec: 0 },
        }
    }
}

/// Time and frame of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// The time.
    pub stamp: Time,
    /// Name of the frame.
    pub frame_id: String,
}

/// A floating-point number.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Float64 {
    /// The number.
    pub data: f64,
}

/// An unsigned integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UInt64 {
    /// The number.
    pub data: u64,
}

/// Simulated time, for nodes with the parameter `use_sim_time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// The time.
    pub clock: Time,
}
