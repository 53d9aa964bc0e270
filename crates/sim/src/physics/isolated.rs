//! The isolated car: no collider except the ground is near the car, and no other body is awake.
//!
//! The car is isolated in most ticks. In such a tick, the engine would integrate only the body of
//! the car. This module integrates this body six times as fast as the engine, and without a heap
//! allocation. The engine reads the new pose in its next step. Whether the car is isolated depends
//! on the state only, so the result is deterministic.

use super::engine::{BodyState, ChassisForce, Engine, SUBSTEP_S, to_engine};
use super::model::CarModel;
use chicane_world::Pose;
use glam::{DQuat, DVec3};
use rapier3d_f64::parry::bounding_volume::{Aabb, BoundingVolume};
use rapier3d_f64::parry::query;
use rapier3d_f64::parry::shape::TriMesh;
use rapier3d_f64::prelude as rapier;

/// Minimum distance from an isolated car to the nearest collider, m. The travel of the car in one
/// and a half ticks is added to this distance.
const MARGIN_M: f64 = 0.01;
/// A box is enlarged by this distance, m, because after a rotation its corners have rounding errors.
const ROUNDING_M: f64 = 1e-9;
/// Minimum height of the car's colliders above the ground in this module, m. The engine simulates a
/// lower car even if it is isolated, because its colliders may touch the ground.
const CLEARANCE_M: f64 = 0.003;
/// Minimum cosine of the car's lean angle in this module. The engine simulates a car that leans
/// more even if it is isolated.
const UPRIGHT: f64 = 0.9;
/// Inner steps per sub-step. The number is equal to the engine's number of solver iterations.
const INNER: usize = 4;

impl Engine {
    /// Whether the next tick can only affect the car and no other body.
    pub(crate) fn is_car_isolated(&self, model: &CarModel) -> bool {
        if self.dirty || self.islands.active_bodies().any(|h| h != self.chassis) {
            return false;
        }
        let car = self.chassis();
        let margin = MARGIN_M
            + 1.5
                * chicane_world::readings::TICK_S
                * (car.linvel().length() + model.hull.1.length() * car.angvel().length());
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
            // Most large meshes have no triangle near the car. Testing such a mesh against the box
            // around the car is much faster than computing the exact distance.
            if other.shape().as_trimesh().is_some_and(|mesh| is_apart(mesh, other.position(), &around)) {
                return false;
            }
            // If the distance cannot be computed, the collider counts as near.
            !query::distance(&hull, &shape, other.position(), other.shape())
                .is_ok_and(|d| d.distance > margin)
        };
        !near.intersect_aabb_conservative(around).any(|(_, c)| is_near(c))
    }

    /// Whether the car is so upright, and its colliders so high above the ground, that only its
    /// tyres can touch the ground.
    pub(crate) fn is_on_wheels(&self, model: &CarModel) -> bool {
        let pose = self.car().pose;
        let upright = (pose.rotation * DVec3::Z).z > UPRIGHT;
        upright && self.chassis().is_enabled() && model.clearance(&pose) > CLEARANCE_M
    }

    /// Simulates one sub-step of the isolated car. Returns `false` and changes nothing if the new
    /// state is not finite.
    #[must_use]
    pub(crate) fn integrate_car(&mut self, push: &ChassisForce, gravity: DVec3) -> bool {
        let body = self.chassis();
        let mass = body.mass_properties().local_mprops;
        let (centre, inverse_mass, inertia) = (mass.local_com, mass.inv_mass, mass.principal_inertia());
        let BodyState { pose, mut linear, mut angular } = self.car();
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

/// Whether no triangle of a mesh can intersect a box. The box is given in world coordinates, and
/// `pose` is the pose of the mesh.
fn is_apart(mesh: &TriMesh, pose: &rapier::Pose, around: &Aabb) -> bool {
    let local = around.transform_by(&pose.inverse()).loosened(ROUNDING_M);
    mesh.bvh().intersect_aabb(&local).next().is_none()
}

/// Integrates a rotation over `h` seconds at an angular velocity.
fn turned(q: DQuat, angular: DVec3, h: f64) -> DQuat {
    let w = angular * (0.5 * h);
    (q + DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * q).normalize()
}
