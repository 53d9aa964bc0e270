//! The on-board stack. It receives readings, and gives topics and actuator commands.
//!
//! A [`Stack`] is the software that would run on the physical car. It receives the [`Readings`] of
//! each tick, stores the newest message of every topic, and computes the actuator commands. The
//! stack uses no clock, thread, file or network. It never receives the true pose, and this crate
//! does not depend on the simulator.
//!
//! [`Readings`]: chicane_world::readings::Readings
//!
//! # Example
//!
//! ```
//! use chicane_robot::{Command, Stack};
//! use chicane_sim::Sim;
//! use chicane_testkit::shipped_world;
//! use chicane_world::Profile;
//! use std::sync::Arc;
//!
//! let profile = Arc::new(Profile::gen1());
//! let mut sim = Sim::new(Arc::new(shipped_world("oval")), Arc::clone(&profile), 0);
//! let mut stack = Stack::new(profile);
//!
//! // One simulated second: commands and readings go in.
//! for _ in 0..200 {
//!     stack.apply(Command::Drive { speed: Some(1.0), steering: Some(0.0) })?;
//!     let readings = sim.step(stack.drive());
//!     stack.sense(&readings);
//! }
//!
//! // Topics come out. The odometry is an estimate from lidar and IMU.
//! let topics = stack.topics();
//! let odom = topics.odom.expect("the stack publishes odometry 30 times a second");
//! assert!((odom.forward - 1.0).abs() < 0.1 && odom.x > 0.7);
//! assert_eq!(topics.scan.as_ref().map(|scan| scan.ranges.len()), Some(720));
//! # Ok::<(), chicane_robot::Refusal>(())
//! ```

mod attitude;
pub mod audio;
mod drive;
mod odometry;
mod stack;
mod topics;

pub use drive::{Axis, Drive, Hold};
pub use stack::{Command, Done, Refusal, Stack};
pub use topics::{Battery, Imu, Joints, ODOM_RATE_HZ, Odom, Scan, Topics};
