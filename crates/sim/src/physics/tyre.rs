//! The model of one tyre. It computes the forces in the contact plane from the slip, limited by a
//! friction circle.
//!
//! The side force comes from a brush model: side motion stretches the tread, and rolling relaxes
//! the tread. The side force of a rolling tyre therefore depends on the slip *angle*, not on the
//! speed. A standing tyre acts as a spring that holds the car in place. Along its heading the tyre
//! transmits the force of the motor up to the friction circle. Beyond the circle the wheel spins or
//! locks, and the force points against the slide.

use serde::{Deserialize, Serialize};

/// Constants of one tyre.
#[derive(Debug, Clone, Copy)]
pub(super) struct TyreModel {
    pub(super) friction: f64,
    pub(super) cornering_stiffness: f64,
    pub(super) slip_stiffness: f64,
    pub(super) relaxation: f64,
    pub(super) radius: f64,
    /// Moment of inertia of the wheel divided by radius², kg.
    pub(super) spin_mass: f64,
    /// Side damping at standstill, divided by the load, s/m.
    pub(super) damping: f64,
}

/// State of a tyre.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct TyreState {
    /// Side stretch of the tread, m.
    pub(super) stretch: f64,
    /// Angular velocity of the wheel, rad/s.
    pub(super) spin: f64,
}

/// Motion of the contact patch over the surface, its load, and the request of the motor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch {
    /// Speed along the wheel's heading, m/s.
    pub(super) forward: f64,
    /// Speed to the left, m/s.
    pub(super) left: f64,
    /// Load, N.
    pub(super) load: f64,
    /// Force that the motor requests, N.
    pub(super) drive: f64,
    /// Speed that the motor tries to reach, m/s.
    pub(super) target: f64,
}

impl Patch {
    /// The patch of a wheel without ground contact.
    pub(super) fn airborne(target: f64) -> Patch {
        Patch { forward: 0.0, left: 0.0, load: 0.0, drive: 0.0, target }
    }
}

impl TyreModel {
    /// Advances the state by `dt` seconds. Returns the force along the heading and to the left, N.
    pub(super) fn force(&self, state: &mut TyreState, patch: Patch, dt: f64) -> [f64; 2] {
        let limit = self.friction * patch.load;
        if limit <= 0.0 {
            state.stretch = 0.0;
            self.spin_free(state, patch.target, dt);
            return [0.0, 0.0];
        }
        let surface = state.spin * self.radius;
        let left = self.side_force(state, patch, surface, limit, dt);
        let most = (limit * limit - left * left).max(0.0).sqrt();
        let forward = patch.drive.clamp(-most, most);
        let excess = patch.drive - forward;
        state.spin = if excess == 0.0 {
            // The wheel rolls. Its slip corresponds to the force `forward`.
            let slip = forward / (self.slip_stiffness * patch.load);
            (patch.forward + slip.clamp(-0.3, 0.3) * patch.forward.abs()) / self.radius
        } else {
            // The wheel slides. The excess force changes the speed of the wheel, which stays
            // between the speed of the contact patch and the target speed.
            let faster = surface + excess / self.spin_mass * dt;
            let (low, high) = (patch.target.min(patch.forward), patch.target.max(patch.forward));
            faster.clamp(low, high) / self.radius
        };
        [forward, left]
    }

    fn side_force(&self, state: &mut TyreState, patch: Patch, surface: f64, limit: f64, dt: f64) -> f64 {
        let rolled = surface.abs().max(patch.forward.abs() * 0.02) * dt / self.relaxation;
        let most = 3.0 * self.friction * self.relaxation / self.cornering_stiffness;
        let stretch = (state.stretch + patch.left * dt) / (1.0 + rolled);
        state.stretch = stretch.clamp(-most, most);
        let linear = self.cornering_stiffness * patch.load * state.stretch / self.relaxation;
        // A rolling tyre needs no damping, but a standing tyre would oscillate without damping.
        let fade = 1.0 / (1.0 + 100.0 * patch.forward * patch.forward);
        let damped = linear_to_brush(linear, limit) + self.damping * patch.load * fade * patch.left;
        let mut force = -damped.clamp(-limit, limit);
        let slide = surface - patch.forward;
        if slide.abs() > 0.1 * patch.forward.abs().max(0.2) {
            // The wheel spins or is locked, so friction points against the direction of the slide.
            let most = limit * patch.left.abs() / libm::hypot(slide, patch.left);
            force = force.clamp(-most, most);
        }
        force
    }

    fn spin_free(&self, state: &mut TyreState, target: f64, dt: f64) {
        let most = 200.0 * dt;
        state.spin += (target / self.radius - state.spin).clamp(-most, most);
    }
}

/// The brush curve. It is linear for small forces and reaches `limit` at `linear` = 3 · `limit`.
fn linear_to_brush(linear: f64, limit: f64) -> f64 {
    let s = (linear.abs() / limit).min(3.0);
    (limit * (s - s * s / 3.0 + s * s * s / 27.0)).copysign(linear)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> TyreModel {
        TyreModel {
            friction: 1.0,
            cornering_stiffness: 25.0,
            slip_stiffness: 30.0,
            relaxation: 0.03,
            radius: 0.0375,
            spin_mass: 0.03,
            damping: 5.0,
        }
    }

    fn steady(forward: f64, left: f64, drive: f64, target: f64) -> ([f64; 2], TyreState) {
        let mut state = TyreState { spin: forward / 0.0375, stretch: 0.0 };
        let patch = Patch { forward, left, load: 8.0, drive, target };
        let mut force = [0.0; 2];
        for _ in 0..4000 {
            force = model().force(&mut state, patch, 0.0025);
        }
        (force, state)
    }

    #[test]
    fn side_force_depends_on_the_slip_angle_not_on_the_speed() {
        let (slow, _) = steady(0.2, 0.2 * 0.01, 0.0, 0.2);
        let (fast, _) = steady(2.0, 2.0 * 0.01, 0.0, 2.0);
        assert!((slow[1] / fast[1] - 1.0).abs() < 0.03, "{slow:?} {fast:?}");
        // The side force is 25 times the load per radian of slip angle. The brush curve reduces the
        // force slightly at this angle.
        assert!((fast[1] / (-25.0 * 8.0 * 0.01) - 1.0).abs() < 0.1, "{fast:?}");
    }

    #[test]
    fn every_force_is_within_the_friction_circle() {
        for i in 0..400 {
            let (f, l) = (f64::from(i % 20) * 0.3 - 3.0, f64::from(i / 20) * 0.3 - 3.0);
            let (force, _) = steady(f, l, 20.0 * f64::from(i % 7 - 3), 1.0);
            assert!(libm::hypot(force[0], force[1]) <= 8.0 + 1e-9, "{f} {l} {force:?}");
        }
    }

    #[test]
    fn a_locked_wheel_slides_straight_on() {
        let (force, state) = steady(2.0, 0.2, -100.0, 0.0);
        assert!(state.spin.abs() < 1e-9);
        assert!(force[0] < -7.9 && force[1].abs() < 0.9, "{force:?}");
    }

    #[test]
    fn a_standing_tyre_is_a_spring() {
        let mut state = TyreState::default();
        let push = Patch { forward: 0.0, left: 0.1, load: 8.0, drive: 0.0, target: 0.0 };
        model().force(&mut state, push, 0.0025);
        let rest = Patch { left: 0.0, ..push };
        let first = model().force(&mut state, rest, 0.0025);
        for _ in 0..10_000 {
            model().force(&mut state, rest, 0.0025);
        }
        assert_eq!(model().force(&mut state, rest, 0.0025), first);
        assert!(first[1] < 0.0);
    }
}
