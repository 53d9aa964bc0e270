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
mod readings;
mod save;
mod sim;
mod snapshot;
mod state;

pub use command::{Applied, Command, How, NotMovableWhy, Refusal, Who};
pub use lights::{Lamp, YELLOW_TICKS};
pub use readings::{Drive, ImuSample, Readings, Scan, Wheels};
pub use save::{Digest, RestoreError};
pub use sim::{Event, Sim};
pub use snapshot::{Snapshot, VehicleState};

/// Ticks in a simulated second.
pub const TICKS_PER_SECOND: u64 = 200;
/// Simulated seconds in a tick.
pub const TICK_S: f64 = 1.0 / TICKS_PER_SECOND as f64;

/// Tick of sample `k` of a sensor: `ceil(200·k / rate)`.
pub fn sample_tick(k: u64, rate_hz: u32) -> u64 {
    (TICKS_PER_SECOND * k).div_ceil(u64::from(rate_hz))
}

/// Which sample of a sensor falls on a tick, if any.
pub fn sample_at(tick: u64, rate_hz: u32) -> Option<u64> {
    let k = tick * u64::from(rate_hz) / TICKS_PER_SECOND;
    (sample_tick(k, rate_hz) == tick).then_some(k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_fall_on_the_ticks_of_the_contract() {
        for rate in [1, 10, 15, 30, 50, 200] {
            let ticks: Vec<u64> = (0..=4000).filter(|&t| sample_at(t, rate).is_some()).collect();
            let wanted: Vec<u64> = (0..).map(|k| sample_tick(k, rate)).take_while(|&t| t <= 4000).collect();
            assert_eq!(ticks, wanted, "{rate} Hz");
        }
        assert_eq!(sample_tick(1, 15), 14);
        assert_eq!(sample_tick(3, 15), 40);
    }
}
