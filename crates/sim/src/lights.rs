//! Traffic lights. A green light that is switched to red is yellow for three simulated seconds
//! first. A red light turns green without delay.

use serde::{Deserialize, Serialize};

/// Length of the yellow phase in ticks: 3 simulated seconds.
const YELLOW_TICKS: u32 = 3 * chicane_world::readings::TICKS_PER_SECOND as u32;
/// Length of the yellow phase, simulated seconds.
pub const YELLOW_S: f64 = YELLOW_TICKS as f64 / chicane_world::readings::TICKS_PER_SECOND as f64;

/// State of a traffic light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Lamp {
    /// Vehicles may pass.
    #[default]
    Green,
    /// Transition from green to red.
    Yellow {
        /// Ticks until the light turns red.
        ticks_left: u32,
    },
    /// Vehicles must stop.
    Red,
}

/// Error: a command for a light arrived during its yellow phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InYellowPhase;

impl Lamp {
    /// Requests red or green and returns the new state.
    pub(crate) fn request(self, red: bool) -> Result<Lamp, InYellowPhase> {
        match (self, red) {
            (Lamp::Yellow { .. }, _) => Err(InYellowPhase),
            (Lamp::Green, true) => Ok(Lamp::Yellow { ticks_left: YELLOW_TICKS }),
            (Lamp::Red, false) => Ok(Lamp::Green),
            (same, _) => Ok(same),
        }
    }

    /// The state after one tick.
    pub(crate) fn tick(self) -> Lamp {
        match self {
            Lamp::Yellow { ticks_left: 0 | 1 } => Lamp::Red,
            Lamp::Yellow { ticks_left } => Lamp::Yellow { ticks_left: ticks_left - 1 },
            same => same,
        }
    }

    /// The state after the world was loaded again: yellow becomes red.
    pub(crate) fn after_respawn(self) -> Lamp {
        match self {
            Lamp::Yellow { .. } => Lamp::Red,
            same => same,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yellow_lasts_exactly_three_seconds() {
        let mut lamp = Lamp::Green.request(true).expect("the light is green");
        for _ in 0..599 {
            lamp = lamp.tick();
            assert!(matches!(lamp, Lamp::Yellow { .. }));
            assert_eq!(lamp.request(true), Err(InYellowPhase));
            assert_eq!(lamp.request(false), Err(InYellowPhase));
        }
        lamp = lamp.tick();
        assert_eq!(lamp, Lamp::Red);
        assert_eq!(lamp.request(true), Ok(Lamp::Red));
        assert_eq!(lamp.request(false), Ok(Lamp::Green));
        assert_eq!(Lamp::Green.request(false), Ok(Lamp::Green));
    }
}
