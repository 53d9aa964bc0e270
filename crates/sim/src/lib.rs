//! The deterministic core: `World` + `State` + `Command` → `Snapshot` + `Readings`.
//!
//! [`Sim`] is a plain value. [`Sim::apply`] carries out a [`Command`] between two ticks,
//! [`Sim::step`] simulates one tick of 5 ms, and [`Sim::snapshot`] returns the visible state.
//! This crate uses no clock, thread, file or network: the callers pace the simulation, consume the
//! sensor readings and serve HTTP.
//!
//! The same world, profile, seed and commands per tick give the same bytes on every machine.
//!
//! # Example
//!
//! ```
//! use chicane_sim::{Applied, Command, Drive, How, Sim, Who};
//! use chicane_testkit::Yard;
//! use chicane_world::Profile;
//! use std::sync::Arc;
//!
//! // A flat world with one box at x = 2 m. `Yard` builds small worlds for tests.
//! let world = Yard::new().block("box1", [2.0, 0.0, 0.1], [0.2; 3], 0.5).build();
//! let mut sim = Sim::new(world, Arc::new(Profile::gen1()), 42);
//!
//! // Place the vehicle 1 m to the left. The other coordinates keep their values.
//! let command =
//!     Command::Place { who: Who::Vehicle, x: None, y: Some(1.0), z: None, yaw: None, how: How::AtOnce };
//! let applied = sim.apply(command)?;
//! assert!(matches!(applied, Applied::Placed(pose) if pose.position.y == 1.0));
//!
//! // Drive at 1 m/s for 200 ticks, which is one simulated second.
//! let mut scans = 0;
//! for _ in 0..200 {
//!     let readings = sim.step(Drive { speed: 1.0, ..Drive::default() });
//!     scans += usize::from(readings.lidar.is_some());
//! }
//! assert_eq!(scans, 10, "the lidar measures ten times a second");
//!
//! let snapshot = sim.snapshot();
//! assert_eq!((snapshot.tick, snapshot.time_s), (200, 1.0));
//! assert!(snapshot.vehicle.pose.position.x > 0.8 && snapshot.contacts.is_empty());
//! # Ok::<(), chicane_sim::Refusal>(())
//! ```

mod apply;
mod checkpoint;
mod command;
mod encode;
mod imu;
mod lidar;
mod lights;
mod motion;
mod noise;
mod physics;
mod rays;
mod save;
mod sim;
mod snapshot;
mod state;
pub mod vary;

pub use checkpoint::Checkpoint;
pub use chicane_world::readings::{
    BatterySample, Drive, ImuSample, Readings, Scan, TICK_S, TICKS_PER_SECOND, Wheels, sample_at, sample_tick,
};
pub use command::{Applied, Command, How, NotMovableWhy, Refusal, Who};
pub use lights::{Lamp, YELLOW_S};
pub use save::{Digest, RestoreError};
pub use sim::{Sim, SimEvent};
pub use snapshot::{Snapshot, VehicleState};
pub use vary::Overlay;
