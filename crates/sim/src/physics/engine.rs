//! Bodies and colliders of the physics engine, and the simulation of one sub-step.

use crate::encode::Encode;
use chicane_world::Pose;
use glam::DVec3;
use rapier::{ColliderHandle, RigidBodyHandle};
use rapier3d_f64::parry::bounding_volume::BoundingVolume;
use rapier3d_f64::parry::query;
use rapier3d_f64::prelude as rapier;
use serde::{Deserialize, Serialize};

/// Number of engine sub-steps per tick.
pub(crate) const SUBSTEPS: usize = 2;
/// Simulated seconds per sub-step.
pub(crate) const SUBSTEP_S: f64 = chicane_world::readings::TICK_S / SUBSTEPS as f64;
/// Two surfaces touch if their distance is not larger than this, m.
const TOUCH_M: f64 = 2e-4;

/// A body whose state became non-finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Car,
    Object(usize),
}

/// All data of the engine that persists between ticks. A reset goes back to the initial engine.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Engine {
    pub(super) bodies: rapier::RigidBodySet,
    pub(super) colliders: rapier::ColliderSet,
    pub(super) islands: rapier::IslandManager,
    pub(super) broad_phase: rapier::BroadPhaseBvh,
    pub(super) narrow_phase: rapier::NarrowPhase,
    pub(super) joints: rapier::ImpulseJointSet,
    pub(super) multibodies: rapier::MultibodyJointSet,
    pub(super) soft_bodies: rapier::SoftBodySet,
    pub(super) ccd: rapier::CCDSolver,
    pub(super) chassis: RigidBodyHandle,
    pub(super) objects: Vec<RigidBodyHandle>,
    /// Whether code outside the engine, for example a command, moved or woke a body since the last
    /// step of the engine. The moves of the isolated car do not count.
    pub(super) dirty: bool,
}

/// Data that the engine needs for a step, but that is not part of the simulation's state.
pub(crate) struct Solver {
    pipeline: rapier::PhysicsPipeline,
    parameters: rapier::IntegrationParameters,
    gravity: DVec3,
}

/// Force (N) and torque (Nm) of the tyres on the chassis. The torque is about the chassis's centre
/// of mass.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChassisForce {
    pub(super) force: DVec3,
    pub(super) torque: DVec3,
}

/// The surface under a wheel: its distance from the mount (the origin of the wheel's ray) and its
/// normal. `body` and `object` are `None` if the surface is the ground or scenery.
#[derive(Clone, Copy)]
pub(super) struct Footing {
    pub(super) distance: f64,
    pub(super) normal: DVec3,
    pub(super) body: Option<RigidBodyHandle>,
    pub(super) object: Option<usize>,
}

/// Pose, linear velocity (m/s) and angular velocity (rad/s) of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyState {
    pub(crate) pose: Pose,
    pub(crate) linear: DVec3,
    pub(crate) angular: DVec3,
}

impl Solver {
    pub(crate) fn new(gravity: DVec3) -> Solver {
        let parameters = rapier::IntegrationParameters {
            dt: SUBSTEP_S,
            min_ccd_dt: SUBSTEP_S / 100.0,
            // The objects have sizes of decimetres, so a decimetre is the unit of length.
            length_unit: 0.1,
            normalized_prediction_distance: 0.05,
            // The contacts are stiff enough that a stack of boxes sags by less than a millimetre.
            contact_softness: rapier::SpringCoefficients { natural_frequency: 90.0, damping_ratio: 5.0 },
            // This is 0.5 m/s (5.0 · `length_unit`), so that two overlapping bodies separate
            // slowly.
            normalized_max_corrective_velocity: 5.0,
            // This is 20 m/s (200.0 · `length_unit`), so that no impact throws a body out of the
            // world.
            normalized_max_linear_velocity: 200.0,
            num_solver_iterations: 4,
            ..rapier::IntegrationParameters::default()
        };
        Solver { pipeline: rapier::PhysicsPipeline::new(), parameters, gravity }
    }

    pub(super) fn parameters_mut(&mut self) -> &mut rapier::IntegrationParameters {
        &mut self.parameters
    }

    pub(super) fn gravity_mut(&mut self) -> &mut DVec3 {
        &mut self.gravity
    }
}

pub(super) fn to_engine(pose: &Pose) -> rapier::Pose {
    rapier::Pose::from_parts(pose.position, pose.rotation)
}

pub(super) fn from_engine(pose: &rapier::Pose) -> Pose {
    Pose { position: pose.translation, rotation: pose.rotation }
}

/// The `user_data` of a collider identifies its owner: 0 for none, 1 for the car, 2 + i for object
/// i.
pub(super) const OWNER_NONE: u128 = 0;
pub(super) const OWNER_CAR: u128 = 1;
pub(super) const OWNER_OBJECT: u128 = 2;

fn object_of(user_data: u128) -> Option<usize> {
    user_data.checked_sub(OWNER_OBJECT).map(|i| i as usize)
}

impl Engine {
    /// Applies the forces of the tyres to the chassis for the next sub-step.
    pub(crate) fn apply_tyre_force(&mut self, push: &ChassisForce) {
        let chassis = self.chassis_mut();
        chassis.reset_forces(false);
        chassis.reset_torques(false);
        chassis.add_force(push.force, false);
        chassis.add_torque(push.torque, false);
    }

    /// Applies the reaction of a wheel to the body under it, as an impulse, because a force would
    /// stay on the body after this sub-step.
    pub(super) fn apply_reaction(&mut self, body: RigidBodyHandle, force: DVec3, point: DVec3) {
        let body = &mut self.bodies[body];
        if body.is_dynamic() {
            body.apply_impulse_at_point(force * SUBSTEP_S, point, true);
        }
    }

    /// Simulates one sub-step. Appends the bodies whose state became non-finite to `faults`. The
    /// physics engine has already disabled these bodies.
    pub(crate) fn step(&mut self, solver: &mut Solver, faults: &mut Vec<Fault>) {
        solver.pipeline.step(
            solver.gravity,
            &solver.parameters,
            &mut self.islands,
            &mut self.broad_phase,
            &mut self.narrow_phase,
            &mut self.bodies,
            &mut self.colliders,
            &mut self.joints,
            &mut self.multibodies,
            &mut self.soft_bodies,
            &mut self.ccd,
            &(),
            &(),
        );
        self.dirty = false;
        for &handle in solver.pipeline.quarantine().bodies() {
            if handle == self.chassis {
                faults.push(Fault::Car);
            } else if let Some(i) = self.objects.iter().position(|&o| o == handle) {
                faults.push(Fault::Object(i));
            }
        }
    }

    /// Marks the objects that the car touches now, and the objects that the car touched during the
    /// last sub-step.
    pub(crate) fn mark_touched(&self, touched: &mut [bool]) {
        if self.chassis().is_kinematic() {
            return self.mark_overlapped(touched);
        }
        for &collider in self.bodies[self.chassis].colliders() {
            for pair in self.narrow_phase.contact_pairs_with(collider) {
                let other = if pair.collider1 == collider { pair.collider2 } else { pair.collider1 };
                let Some(object) = object_of(self.colliders[other].user_data) else {
                    continue;
                };
                if !touched[object] && self.touches(pair, collider, other) {
                    touched[object] = true;
                }
            }
        }
    }

    fn touches(&self, pair: &rapier::ContactPair, one: ColliderHandle, other: ColliderHandle) -> bool {
        // An impulse counts as a contact, because an object that was hit may have left the car
        // again within the sub-step.
        if pair.total_impulse_magnitude() > 0.0 {
            return true;
        }
        if !pair.has_any_active_contact() {
            return false;
        }
        // The distance is measured again, because the engine caches the distances of pairs that
        // hardly moved.
        close(&self.colliders[one], &self.colliders[other])
    }

    /// A spatial query over the colliders.
    pub(super) fn query<'a>(&'a self, filter: rapier::QueryFilter<'a>) -> rapier::QueryPipeline<'a> {
        let dispatcher = self.narrow_phase.query_dispatcher();
        self.broad_phase.as_query_pipeline(dispatcher, &self.bodies, &self.colliders, filter)
    }

    /// Marks the objects that the car overlaps while a motion carries the car. The engine computes
    /// no contacts for a carried car, so the shapes are compared directly.
    fn mark_overlapped(&self, touched: &mut [bool]) {
        let query = self.query(rapier::QueryFilter::new().exclude_rigid_body(self.chassis));
        for part in self.chassis().colliders().iter().map(|&c| &self.colliders[c]) {
            for (_, other) in query.intersect_aabb_conservative(part.compute_aabb().loosened(TOUCH_M)) {
                if let Some(object) = object_of(other.user_data)
                    && close(part, other)
                {
                    touched[object] = true;
                }
            }
        }
    }

    /// The first surface that a ray from a wheel hits, other than the ground and the car itself;
    /// `None` if the ray hits no such surface within `reach` metres.
    pub(super) fn footing(&self, origin: DVec3, direction: DVec3, reach: f64) -> Option<Footing> {
        let solid = |_: ColliderHandle, c: &rapier::Collider| c.shape().as_halfspace().is_none();
        let filter = rapier::QueryFilter::new().exclude_rigid_body(self.chassis).predicate(&solid);
        let ray = rapier::Ray::new(origin, direction);
        let (handle, hit) = self.query(filter).cast_ray_and_get_normal(&ray, reach, true)?;
        let collider = &self.colliders[handle];
        Some(Footing {
            distance: hit.time_of_impact,
            normal: hit.normal,
            body: collider.parent(),
            object: object_of(collider.user_data),
        })
    }

    pub(super) fn chassis(&self) -> &rapier::RigidBody {
        &self.bodies[self.chassis]
    }

    pub(super) fn chassis_mut(&mut self) -> &mut rapier::RigidBody {
        &mut self.bodies[self.chassis]
    }

    /// State of the chassis.
    pub(crate) fn car(&self) -> BodyState {
        moving(self.chassis())
    }

    /// Pose of an object.
    pub(crate) fn object_pose(&self, i: usize) -> Pose {
        from_engine(self.bodies[self.objects[i]].position())
    }

    /// Sets a body's velocity to NaN. Tests use this function to check that the fault does not
    /// spread.
    #[cfg(test)]
    pub(crate) fn set_nan_velocity(&mut self, object: Option<usize>) {
        let handle = object.map_or(self.chassis, |i| self.objects[i]);
        self.bodies[handle].set_linvel(DVec3::splat(f64::NAN), true);
        self.dirty = true;
    }

    /// Number of dynamic bodies that are awake.
    pub(crate) fn awake(&self) -> usize {
        self.islands.active_bodies().filter(|&h| self.bodies[h].is_dynamic()).count()
    }
}

/// Whether two colliders touch. The distance between their shapes is measured.
fn close(a: &rapier::Collider, b: &rapier::Collider) -> bool {
    query::contact(a.position(), a.shape(), b.position(), b.shape(), TOUCH_M)
        .is_ok_and(|c| c.is_some_and(|c| c.dist <= TOUCH_M))
}

fn moving(body: &rapier::RigidBody) -> BodyState {
    BodyState { pose: from_engine(body.position()), linear: body.linvel(), angular: body.angvel() }
}

/// The colliders as they are hashed. The shape of a collider never changes, and a mesh can have
/// hundreds of thousands of triangles. In a world with meshes, the shapes are therefore left out.
struct HashedColliders<'a>(&'a rapier::ColliderSet);

impl Serialize for HashedColliders<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.iter().all(|(_, collider)| collider.shape().as_trimesh().is_none()) {
            return self.0.serialize(serializer);
        }
        let places: Vec<(ColliderHandle, Pose, bool)> =
            self.0.iter().map(|(handle, c)| (handle, from_engine(c.position()), c.is_enabled())).collect();
        places.serialize(serializer)
    }
}

impl Engine {
    /// Calls `each` with the name and value of every part of the engine that can change.
    pub(crate) fn parts<T>(&self, mut each: impl FnMut(&'static str, &dyn Encode) -> T) -> Vec<T> {
        vec![
            each("bodies", &self.bodies),
            each("colliders", &HashedColliders(&self.colliders)),
            each("islands", &self.islands),
            each("broad phase", &self.broad_phase),
            each("narrow phase", &self.narrow_phase),
            each("ccd", &self.ccd),
            each("dirty", &self.dirty),
        ]
    }
}
