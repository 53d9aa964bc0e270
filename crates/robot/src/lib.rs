//! The on-board stack: readings in, topics and actuator commands out.
//!
//! A [`Stack`] is what would run on the physical car. It takes the [`Readings`] of a tick, keeps the
//! newest of every topic, and says what the actuators are to do. It knows no clock, thread, file or
//! network, it never learns the true pose, and it does not know that it is in a simulator.
//!
//! [`Readings`]: chicane_world::readings::Readings

pub mod audio;
mod drive;
mod odometry;
mod stack;
mod topics;

pub use drive::{Axis, Drive, Hold};
pub use stack::{Command, Done, Refusal, Stack};
pub use topics::{Battery, Imu, Joints, ODOM_RATE_HZ, Odom, Scan, Topics};
