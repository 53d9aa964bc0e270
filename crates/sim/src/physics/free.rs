//! The car alone: nothing near it, nothing else awake.
//!
//! Most ticks of most runs are like that, and then all the engine would do is integrate one
//! body. We do that ourselves, six times as fast and without a heap allocation; the engine
//! learns of it when it is next needed. Which way a tick goes depends on the state alone.

use super::car::{CarModel, Push};
use super::engine::{Engine, Moving, SUBSTEP_S, from_engine, to_engine};
use chicane_world::Pose;
use glam::{DQuat, DVec3};
use rapier3d_f64::prelude as rapier;

/// What must be free around the car, beyond its own size: two sub-steps at full speed and more.
const MARGIN_M: f64 = 0.05;
/// Height of the car's solids above the ground below which the engine watches them.
const CLEARANCE_M: f64 = 0.003;
/// Inner steps of a sub-step; as many as the engine's solver takes.
const INNER: usize = 4;

impl Engine {
    /// Whether nothing but the car can be concerned by the next tick.
    pub(crate) fn is_alone(&self, model: &CarModel) -> bool {
        if self.unseen || self.islands.active_bodies().any(|h| h != self.chassis) {
            return false;
        }
        let (centre, radius) = model.hull();
        let reach = DVec3::splat(radius + MARGIN_M);
        let centre = from_engine(self.chassis().position()).point(centre);
        let near = rapier::Aabb::new(centre - reach, centre + reach);
        let query = self.broad_phase.as_query_pipeline(
            self.narrow_phase.query_dispatcher(),
            &self.bodies,
            &self.colliders,
            rapier::QueryFilter::new(),
        );
        let is_other = |c: &rapier::Collider| c.parent() != Some(self.chassis) && c.shape().as_halfspace().is_none();
        !query.intersect_aabb_conservative(near).any(|(_, c)| is_other(c))
    }

    /// Whether only the tyres touch the ground.
    pub(crate) fn is_on_wheels(&self, model: &CarModel) -> bool {
        self.chassis().is_enabled() && model.clearance(&self.car().pose) > CLEARANCE_M
    }

    /// One sub-step of the car alone; `false` when its state would not be finite.
    #[must_use]
    pub(crate) fn coast(&mut self, push: &Push, gravity: DVec3) -> bool {
        let body = self.chassis();
        let mass = body.mass_properties().local_mprops;
        let (centre, inverse_mass, inertia) = (mass.local_com, mass.inv_mass, mass.principal_inertia());
        let Moving { pose, mut linear, mut angular } = self.car();
        let mut at = pose.point(centre);
        let mut rotation = pose.rotation;
        let acceleration = push.force * inverse_mass + gravity;
        let h = SUBSTEP_S / INNER as f64;
        for _ in 0..INNER {
            linear += acceleration * h;
            let spin = rotation.conjugate() * angular;
            let torque = rotation.conjugate() * push.torque - spin.cross(inertia * spin);
            angular += rotation * (torque / inertia) * h;
            at += linear * h;
            rotation = turned(rotation, angular, h);
        }
        let pose = Pose { position: at - rotation * centre, rotation };
        if !(pose.is_finite() && linear.is_finite() && angular.is_finite()) {
            return false;
        }
        let body = self.chassis_mut();
        body.set_position(to_engine(&pose), false);
        body.set_linvel(linear, false);
        body.set_angvel(angular, false);
        true
    }
}

/// A rotation that goes on at an angular velocity for a short time.
fn turned(q: DQuat, angular: DVec3, h: f64) -> DQuat {
    let w = angular * (0.5 * h);
    (q + DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * q).normalize()
}
