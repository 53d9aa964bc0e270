//! The lamps of a traffic light.

/// A lamp of a traffic light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lamp {
    /// The red lamp: stop.
    Red,
    /// The yellow lamp: wait.
    Yellow,
    /// The green lamp: go.
    Green,
}

/// Colours of a lamp, linear RGB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LampColours {
    /// Surface colour of the lamp. The lamp reflects light like any other surface.
    pub unlit: [f32; 3],
    /// Light that the lamp emits while it is lit. The lighting of the world does not change this
    /// light.
    pub lit: [f32; 3],
}

/// The colours of a lamp. The hues of the three lit lamps are very different, so that programs can
/// distinguish the lamps in a camera picture.
pub fn lamp_colours(lamp: Lamp) -> LampColours {
    match lamp {
        Lamp::Red => LampColours { unlit: [0.075, 0.008, 0.007], lit: [1.0, 0.035, 0.02] },
        Lamp::Yellow => LampColours { unlit: [0.085, 0.05, 0.006], lit: [1.0, 0.62, 0.03] },
        Lamp::Green => LampColours { unlit: [0.006, 0.055, 0.02], lit: [0.03, 0.9, 0.18] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lit_is_far_brighter_than_unlit() {
        for lamp in [Lamp::Red, Lamp::Yellow, Lamp::Green] {
            let LampColours { unlit, lit } = lamp_colours(lamp);
            let peak = |c: [f32; 3]| c.into_iter().fold(0.0, f32::max);
            assert!(peak(lit) > 8.0 * peak(unlit) && peak(lit) <= 1.0);
        }
    }
}
