//! The car alone: nothing near it, nothing else awake.
//!
//! Most ticks of most runs are like that, and then all the engine would do is integrate one
//! body. We do that ourselves, six times as fast and without a heap allocation; the engine
//! learns of it when it is next needed. Which way a tick goes depends on the state alone.

use super::engine::{Engine, Moving, Push, SUBSTEP_S, to_engine};
use super::model::CarModel;
use chicane_world::Pose;
use glam::{DQuat, DVec3};
use rapier3d_f64::parry::bounding_volume::BoundingVolume;
use rapier3d_f64::parry::query;
use rapier3d_f64::prelude as rapier;

/// What must be free around the car, beyond what it can cover in a tick and a half.
const MARGIN_M: f64 = 0.01;
/// Height of the car's solids above the ground below which the engine watches them.
const CLEARANCE_M: f64 = 0.003;
/// Cosine of the lean past which the engine watches the car.
const UPRIGHT: f64 = 0.9;
/// Inner steps of a sub-step; as many as the engine's solver takes.
const INNER: usize = 4;

impl Engine {
    /// Whether nothing but the car can be concerned by the next tick.
    pub(crate) fn is_alone(&self, model: &CarModel) -> bool {
        if self.unseen || self.islands.active_bodies().any(|h| h != self.chassis) {
            return false;
        }
        let car = self.chassis();
        let margin = MARGIN_M
            + 1.5 * crate::TICK_S * (car.linvel().length() + model.hull.1.length() * car.angvel().length());
        if !margin.is_finite() {
            return false;
        }
        let hull = car.position() * rapier::Pose::from_translation(model.hull.0);
        let shape = rapier::Cuboid::new(model.hull.1);
        let around = shape.aabb(&hull).loosened(margin);
        let near = self.query(rapier::QueryFilter::new());
        let is_near = |other: &rapier::Collider| {
            if other.parent() == Some(self.chassis) || other.shape().as_halfspace().is_some() {
                return false;
            }
            // What can't be measured is taken for near.
            !query::distance(&hull, &shape, other.position(), other.shape())
                .is_ok_and(|d| d.distance > margin)
        };
        !near.intersect_aabb_conservative(around).any(|(_, c)| is_near(c))
    }

    /// Whether nothing but the tyres can touch the ground.
    pub(crate) fn is_on_wheels(&self, model: &CarModel) -> bool {
        let pose = self.car().pose;
        let upright = (pose.rotation * DVec3::Z).z > UPRIGHT;
        upright && self.chassis().is_enabled() && model.clearance(&pose) > CLEARANCE_M
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
