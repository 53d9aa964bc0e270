//! Bodies, colliders, and one sub-step of the engine.

use crate::save::erased::Encode;
use chicane_world::Pose;
use glam::DVec3;
use rapier::{ColliderHandle, RigidBodyHandle};
use rapier3d_f64::parry::bounding_volume::BoundingVolume;
use rapier3d_f64::parry::query;
use rapier3d_f64::prelude as rapier;
use serde::{Deserialize, Serialize};

/// Sub-steps of the engine in a tick.
pub(crate) const SUBSTEPS: usize = 2;
/// Simulated seconds in a sub-step.
pub(crate) const SUBSTEP_S: f64 = crate::TICK_S / SUBSTEPS as f64;
/// Two surfaces nearer than this touch.
const TOUCH_M: f64 = 2e-4;

/// Whose state went non-finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Car,
    Object(usize),
}

/// Everything the engine remembers between ticks. Cloning it is how a world is reset.
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
    /// Something was moved or woken from outside, and the engine has not looked at it yet.
    pub(super) unseen: bool,
}

/// What the engine needs to take a step and forgets afterwards.
pub(crate) struct Solver {
    pipeline: rapier::PhysicsPipeline,
    parameters: rapier::IntegrationParameters,
    gravity: DVec3,
}

/// Force and torque of the tyres on the chassis, about its centre of mass.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Push {
    pub(super) force: DVec3,
    pub(super) torque: DVec3,
}

/// What a wheel stands on.
#[derive(Clone, Copy)]
pub(super) struct Footing {
    pub(super) distance: f64,
    pub(super) normal: DVec3,
    pub(super) body: Option<RigidBodyHandle>,
    pub(super) object: Option<usize>,
}

/// Position and velocities of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moving {
    pub(crate) pose: Pose,
    pub(crate) linear: DVec3,
    pub(crate) angular: DVec3,
}

impl Solver {
    pub(crate) fn new(gravity: DVec3) -> Solver {
        let parameters = rapier::IntegrationParameters {
            dt: SUBSTEP_S,
            min_ccd_dt: SUBSTEP_S / 100.0,
            // Things here are decimetres, not metres.
            length_unit: 0.1,
            normalized_prediction_distance: 0.05,
            // Stiff enough that a stack of boxes does not sag by a millimetre.
            contact_softness: rapier::SpringCoefficients { natural_frequency: 90.0, damping_ratio: 5.0 },
            // 0.5 m/s: what was put into something else comes out at a walk.
            normalized_max_corrective_velocity: 5.0,
            // 20 m/s: nothing is ever flung out of the world.
            normalized_max_linear_velocity: 200.0,
            num_solver_iterations: 4,
            ..rapier::IntegrationParameters::default()
        };
        Solver { pipeline: rapier::PhysicsPipeline::new(), parameters, gravity }
    }

    pub(super) fn parameters_mut(&mut self) -> &mut rapier::IntegrationParameters {
        &mut self.parameters
    }
}

pub(super) fn to_engine(pose: &Pose) -> rapier::Pose {
    rapier::Pose::from_parts(pose.position, pose.rotation)
}

pub(super) fn from_engine(pose: &rapier::Pose) -> Pose {
    Pose { position: pose.translation, rotation: pose.rotation }
}

/// Colliders carry whose they are: 0 nobody's, 1 the car's, 2 + i object i's.
pub(super) const USER_NOBODY: u128 = 0;
pub(super) const USER_CAR: u128 = 1;
pub(super) const USER_OBJECT: u128 = 2;

fn object_of(user_data: u128) -> Option<usize> {
    user_data.checked_sub(USER_OBJECT).map(|i| i as usize)
}

impl Engine {
    /// Presses the tyres' forces on the chassis for the next sub-step.
    pub(crate) fn press(&mut self, push: &Push) {
        let chassis = self.chassis_mut();
        chassis.reset_forces(false);
        chassis.reset_torques(false);
        chassis.add_force(push.force, false);
        chassis.add_torque(push.torque, false);
    }

    /// What a wheel does to the thing it stands on: an impulse, because nobody takes standing
    /// forces off objects again.
    pub(super) fn push_back(&mut self, body: RigidBodyHandle, force: DVec3, point: DVec3) {
        let body = &mut self.bodies[body];
        if body.is_dynamic() {
            body.apply_impulse_at_point(force * SUBSTEP_S, point, true);
        }
    }

    /// One sub-step. Appends to `faults` whose state went non-finite; they were put to rest.
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
        self.unseen = false;
        for &handle in solver.pipeline.quarantine().bodies() {
            if handle == self.chassis {
                faults.push(Fault::Car);
            } else if let Some(i) = self.objects.iter().position(|&o| o == handle) {
                faults.push(Fault::Object(i));
            }
        }
    }

    /// Marks the objects that the car's body touches or touched in the last sub-step.
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
        // What was hit may have flown off within the sub-step.
        if pair.total_impulse_magnitude() > 0.0 {
            return true;
        }
        if !pair.has_any_active_contact() {
            return false;
        }
        // The engine keeps old distances of pairs that hardly moved: ask the shapes.
        close(&self.colliders[one], &self.colliders[other])
    }

    /// Asks where colliders are.
    pub(super) fn query<'a>(&'a self, filter: rapier::QueryFilter<'a>) -> rapier::QueryPipeline<'a> {
        let dispatcher = self.narrow_phase.query_dispatcher();
        self.broad_phase.as_query_pipeline(dispatcher, &self.bodies, &self.colliders, filter)
    }

    /// A carried car is no matter of contacts to the engine: ask the shapes around it.
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

    /// What a ray from a wheel meets below it, other than the ground and the car itself.
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
    pub(crate) fn car(&self) -> Moving {
        moving(self.chassis())
    }

    /// Pose of an object.
    pub(crate) fn object_pose(&self, i: usize) -> Pose {
        from_engine(self.bodies[self.objects[i]].position())
    }

    /// Poisons a body, to test that the poison does not spread.
    #[cfg(test)]
    pub(crate) fn poison(&mut self, object: Option<usize>) {
        let handle = object.map_or(self.chassis, |i| self.objects[i]);
        self.bodies[handle].set_linvel(DVec3::splat(f64::NAN), true);
    }

    /// How many bodies physics moves at the moment.
    pub(crate) fn awake(&self) -> usize {
        self.islands.active_bodies().filter(|&h| self.bodies[h].is_dynamic()).count()
    }
}

/// Whether two solids touch, by their shapes.
fn close(a: &rapier::Collider, b: &rapier::Collider) -> bool {
    query::contact(a.position(), a.shape(), b.position(), b.shape(), TOUCH_M)
        .is_ok_and(|c| c.is_some_and(|c| c.dist <= TOUCH_M))
}

fn moving(body: &rapier::RigidBody) -> Moving {
    Moving { pose: from_engine(body.position()), linear: body.linvel(), angular: body.angvel() }
}

impl Engine {
    /// Each part of the engine's state by name.
    pub(crate) fn parts<T>(&self, mut each: impl FnMut(&'static str, &dyn Encode) -> T) -> Vec<T> {
        vec![
            each("bodies", &self.bodies),
            each("colliders", &self.colliders),
            each("islands", &self.islands),
            each("broad phase", &self.broad_phase),
            each("narrow phase", &self.narrow_phase),
            each("ccd", &self.ccd),
            each("unseen", &self.unseen),
        ]
    }
}
