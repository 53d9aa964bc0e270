//! Traffic lights: green → yellow for three seconds → red; red → green at once.

use serde::{Deserialize, Serialize};

/// Length of the yellow phase: 3.0 simulated seconds.
const YELLOW_TICKS: u32 = 3 * crate::TICKS_PER_SECOND as u32;
/// Length of the yellow phase, simulated seconds.
pub const YELLOW_S: f64 = YELLOW_TICKS as f64 / crate::TICKS_PER_SECOND as f64;

/// What a light shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Lamp {
    /// Drive.
    #[default]
    Green,
    /// Turning red.
    Yellow {
        /// Ticks until it is red.
        ticks_left: u32,
    },
    /// Stop.
    Red,
}

/// A command came in the yellow phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InYellowPhase;

impl Lamp {
    /// Asks for red (or green); gives what is shown next.
    pub(crate) fn ask(self, red: bool) -> Result<Lamp, InYellowPhase> {
        match (self, red) {
            (Lamp::Yellow { .. }, _) => Err(InYellowPhase),
            (Lamp::Green, true) => Ok(Lamp::Yellow { ticks_left: YELLOW_TICKS }),
            (Lamp::Red, false) => Ok(Lamp::Green),
            (same, _) => Ok(same),
        }
    }

    /// One tick on.
    pub(crate) fn tick(self) -> Lamp {
        match self {
            Lamp::Yellow { ticks_left: 0 | 1 } => Lamp::Red,
            Lamp::Yellow { ticks_left } => Lamp::Yellow { ticks_left: ticks_left - 1 },
            same => same,
        }
    }

    /// What is left of it in a world that was loaded anew.
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
    fn yellow_lasts_three_seconds_to_the_tick() {
        let mut lamp = Lamp::Green.ask(true).expect("green takes red");
        for _ in 0..599 {
            lamp = lamp.tick();
            assert!(matches!(lamp, Lamp::Yellow { .. }));
            assert_eq!(lamp.ask(true), Err(InYellowPhase));
            assert_eq!(lamp.ask(false), Err(InYellowPhase));
        }
        lamp = lamp.tick();
        assert_eq!(lamp, Lamp::Red);
        assert_eq!(lamp.ask(true), Ok(Lamp::Red));
        assert_eq!(lamp.ask(false), Ok(Lamp::Green));
        assert_eq!(Lamp::Green.ask(false), Ok(Lamp::Green));
    }
}
