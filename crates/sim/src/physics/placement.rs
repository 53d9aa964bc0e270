//! Commands that move bodies: a body is placed immediately, or a motion carries it.

use super::engine::{Engine, to_engine};
use chicane_world::Pose;
use glam::DVec3;
use rapier::{RigidBodyHandle, RigidBodyType};
use rapier3d_f64::parry::bounding_volume::BoundingVolume;
use rapier3d_f64::prelude as rapier;

impl Engine {
    /// Places the car at rest.
    pub(crate) fn put_car(&mut self, pose: &Pose) {
        self.put(self.chassis, pose, RigidBodyType::Dynamic);
    }

    /// Places an object at rest.
    pub(crate) fn put_object(&mut self, i: usize, pose: &Pose, is_static: bool) {
        let resting = if is_static { RigidBodyType::Fixed } else { RigidBodyType::Dynamic };
        self.put(self.objects[i], pose, resting);
    }

    fn put(&mut self, handle: RigidBodyHandle, pose: &Pose, kind: RigidBodyType) {
        self.dirty = true;
        self.wake_neighbours(handle);
        let body = &mut self.bodies[handle];
        body.set_enabled(true);
        if body.body_type() != kind {
            body.set_body_type(kind, true);
        }
        body.set_linvel(DVec3::ZERO, true);
        body.set_angvel(DVec3::ZERO, true);
        body.reset_forces(true);
        body.reset_torques(true);
        body.set_position(to_engine(pose), true);
        self.wake_around(handle);
    }

    /// Copies the body of the car from another engine of the same world. The two engines must be
    /// equal in everything else, and both must have the car in their lists of changed bodies.
    pub(crate) fn copy_car(&mut self, from: &Engine) {
        let car = from.chassis().clone();
        *self.chassis_mut() = car;
    }

    /// Copies all bodies and the lists of changed bodies from another engine of the same world. The
    /// two engines must be equal in everything else.
    pub(crate) fn copy_bodies(&mut self, from: &Engine) {
        self.bodies.clone_from(&from.bodies);
    }

    /// Makes a body kinematic, so that a motion can carry it. `None` is the car.
    pub(crate) fn start_carrying(&mut self, object: Option<usize>) {
        let handle = object.map_or(self.chassis, |i| self.objects[i]);
        self.dirty = true;
        self.wake_neighbours(handle);
        let body = &mut self.bodies[handle];
        body.set_linvel(DVec3::ZERO, true);
        body.set_angvel(DVec3::ZERO, true);
        body.reset_forces(true);
        body.reset_torques(true);
        body.set_body_type(RigidBodyType::KinematicPositionBased, true);
    }

    /// Sets the pose that a carried body has after the next sub-step. `None` is the car.
    pub(crate) fn carry_to(&mut self, object: Option<usize>, pose: &Pose) {
        let handle = object.map_or(self.chassis, |i| self.objects[i]);
        self.bodies[handle].set_next_kinematic_position(to_engine(pose));
    }

    /// Wakes the bodies in contact with a body that is about to move, because these bodies may lose
    /// their support.
    fn wake_neighbours(&mut self, handle: RigidBodyHandle) {
        let mut wake: Vec<RigidBodyHandle> = Vec::new();
        for &collider in self.bodies[handle].colliders() {
            for pair in self.narrow_phase.contact_pairs_with(collider) {
                let other = if pair.collider1 == collider { pair.collider2 } else { pair.collider1 };
                wake.extend(self.colliders[other].parent());
            }
        }
        self.wake(&wake);
    }

    /// Wakes the bodies around the new position of a placed body, because the placed body may
    /// overlap with them.
    fn wake_around(&mut self, handle: RigidBodyHandle) {
        let body = &self.bodies[handle];
        let pose = *body.position();
        let mut boxes = Vec::new();
        for &c in body.colliders() {
            let collider = &self.colliders[c];
            let local = collider.position_wrt_parent().copied().unwrap_or_default();
            boxes.push(collider.shape().compute_aabb(&(pose * local)).loosened(0.02));
        }
        let query = self.query(rapier::QueryFilter::only_dynamic().exclude_rigid_body(handle));
        let mut wake: Vec<RigidBodyHandle> = Vec::new();
        for aabb in boxes {
            wake.extend(query.intersect_aabb_conservative(aabb).filter_map(|(_, c)| c.parent()));
        }
        self.wake(&wake);
    }

    fn wake(&mut self, handles: &[RigidBodyHandle]) {
        for &handle in handles {
            let body = &mut self.bodies[handle];
            if body.is_dynamic() {
                body.wake_up(true);
            }
        }
    }
}
