//! The deterministic core: `World` + `State` + `Command` → `Snapshot` + `Readings`.
//!
//! [`Sim`] is a value. It has one door in ([`Sim::apply`], between ticks), one way on
//! ([`Sim::step`], one tick of 5 ms) and one window out ([`Sim::snapshot`]). It knows no clock,
//! thread, file or network: pacing, sensors' consumers and HTTP live elsewhere.
//!
//! Same world, profile, seed and commands by tick give the same bytes, on every machine.

mod apply;
mod chance;
mod command;
mod imu;
mod lidar;
mod lights;
mod motion;
mod physics;
mod rays;
mod save;
mod sim;
mod snapshot;
mod state;

pub use chicane_world::readings::{
    BatterySample, Drive, ImuSample, Readings, Scan, TICK_S, TICKS_PER_SECOND, Wheels, sample_at, sample_tick,
};
pub use command::{Applied, Command, How, NotMovableWhy, Refusal, Who};
pub use lights::{Lamp, YELLOW_S};
pub use save::{Digest, RestoreError};
pub use sim::{Event, Sim};
pub use snapshot::{Snapshot, VehicleState};
