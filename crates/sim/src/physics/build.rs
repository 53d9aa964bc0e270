//! Builds the bodies and colliders of the engine from a `World`.

use super::engine::{Engine, OWNER_CAR, OWNER_NONE, OWNER_OBJECT, Solver, to_engine};
use super::model::SOLID_WHEEL;
use super::rest::standing;
use chicane_world::world::{MassProperties, Object, ObjectKind, Shape, Solid};
use chicane_world::{Pose, Profile, World};
use glam::{DQuat, DVec3};
use rapier::{ColliderBuilder, RigidBodyBuilder, SharedShape};
use rapier3d_f64::prelude as rapier;

/// Minimum half thickness of a solid in the engine, m. The engine takes seconds for thinner shapes.
const LEAST_HALF_M: f64 = 2.5e-4;
/// Friction coefficient of the car's body.
const BODY_FRICTION: f64 = 0.2;

impl Engine {
    /// Builds the engine of a world, with the car at its spawn pose.
    pub(crate) fn build(world: &World, profile: &Profile, solver: &mut Solver) -> Engine {
        let mut engine = Engine {
            bodies: rapier::RigidBodySet::new(),
            colliders: rapier::ColliderSet::new(),
            islands: rapier::IslandManager::new(),
            broad_phase: rapier::BroadPhaseBvh::new(),
            narrow_phase: rapier::NarrowPhase::new(),
            joints: rapier::ImpulseJointSet::new(),
            multibodies: rapier::MultibodyJointSet::new(),
            soft_bodies: rapier::SoftBodySet::new(),
            ccd: rapier::CCDSolver::new(),
            chassis: rapier::RigidBodyHandle::invalid(),
            objects: Vec::with_capacity(world.objects.len()),
            dirty: false,
        };
        engine.insert_ground(world);
        for solid in &world.scenery {
            if let Some(collider) = collider(solid, OWNER_NONE) {
                engine.colliders.insert(collider);
            }
        }
        engine.insert_car(&world.spawn, profile);
        for (i, object) in world.objects.iter().enumerate() {
            engine.insert_object(i, object);
        }
        engine.register_bodies(solver);
        engine.let_sleep(&standing(world), solver);
        engine
    }

    /// Simulates a step of zero seconds, so that the engine registers every body before the first
    /// tick.
    fn register_bodies(&mut self, solver: &mut Solver) {
        let (dt, mut faults) = (solver.set_dt(0.0), Vec::new());
        self.step(solver, &mut faults);
        solver.set_dt(dt);
    }

    /// Puts the objects that are at rest to sleep. They can't be inserted asleep, because the
    /// engine wakes a body when it first touches the ground. Therefore the engine simulates one
    /// sub-step without gravity, and the objects fall asleep at the start of this sub-step.
    /// Rounding errors of the sub-step would move the other bodies, so the poses of these bodies
    /// are restored afterwards.
    fn let_sleep(&mut self, objects: &[bool], solver: &mut Solver) {
        let at_rest = self.objects.iter().zip(objects).filter(|(_, is_at_rest)| **is_at_rest);
        let at_rest: Vec<rapier::RigidBodyHandle> = at_rest.map(|(handle, _)| *handle).collect();
        if at_rest.is_empty() {
            return;
        }
        let mut threshold = 0.0;
        for &handle in &at_rest {
            let activation = self.bodies[handle].activation_mut();
            activation.time_since_can_sleep = activation.time_until_sleep;
            // The engine compares the present pose of a body with an earlier one. A new body has no
            // earlier pose, so the threshold allows every distance.
            threshold = std::mem::replace(&mut activation.normalized_linear_threshold, f64::MAX);
        }
        let poses: Vec<_> = self.bodies.iter().map(|(handle, body)| (handle, *body.position())).collect();
        let gravity = solver.set_gravity(DVec3::ZERO);
        self.step(solver, &mut Vec::new());
        solver.set_gravity(gravity);
        for &handle in &at_rest {
            self.bodies[handle].activation_mut().normalized_linear_threshold = threshold;
        }
        for (handle, pose) in poses {
            let body = &mut self.bodies[handle];
            if body.is_dynamic() && !body.is_sleeping() {
                body.set_position(pose, false);
                body.set_linvel(DVec3::ZERO, false);
                body.set_angvel(DVec3::ZERO, false);
            }
        }
        self.register_bodies(solver);
    }

    fn insert_ground(&mut self, world: &World) {
        let ground = ColliderBuilder::new(SharedShape::halfspace(DVec3::Z))
            .translation(DVec3::new(0.0, 0.0, world.ground.z))
            .friction(world.ground.friction)
            .user_data(OWNER_NONE);
        self.colliders.insert(ground);
    }

    fn insert_car(&mut self, spawn: &Pose, profile: &Profile) {
        let body = RigidBodyBuilder::dynamic()
            .pose(to_engine(spawn))
            .can_sleep(false)
            .additional_mass_properties(car_mass(profile))
            .build();
        self.chassis = self.bodies.insert(body);
        let half = DVec3::from_array(profile.body.size_m) * 0.5;
        let shell = ColliderBuilder::cuboid(half.x, half.y, half.z)
            .translation(DVec3::from_array(profile.body.centre_m));
        self.insert_car_part(shell);
        let radius = SOLID_WHEEL * profile.wheel_radius_m;
        for i in 0..4 {
            let [x, y] = profile.wheel_position(i);
            let wheel = ColliderBuilder::cylinder(0.5 * profile.wheel_width_m, radius)
                .translation(DVec3::new(x, y, profile.wheel_radius_m));
            self.insert_car_part(wheel);
        }
    }

    fn insert_car_part(&mut self, part: ColliderBuilder) {
        let part = part.density(0.0).friction(BODY_FRICTION).user_data(OWNER_CAR);
        self.colliders.insert_with_parent(part, self.chassis, &mut self.bodies);
    }

    fn insert_object(&mut self, i: usize, object: &Object) {
        let builder = if object.is_static { RigidBodyBuilder::fixed() } else { RigidBodyBuilder::dynamic() };
        // The engine has no rolling resistance, so damping slows objects that can roll.
        let rolls = matches!(object.kind, ObjectKind::Sphere | ObjectKind::Cylinder);
        let body = builder
            .pose(to_engine(&object.origin))
            .additional_mass_properties(mass(&object.mass))
            .linear_damping(if rolls { 0.1 } else { 0.0 })
            .angular_damping(if rolls { 0.6 } else { 0.1 });
        let handle = self.bodies.insert(body);
        self.objects.push(handle);
        for solid in &object.solids {
            if let Some(part) = collider(solid, OWNER_OBJECT + i as u128) {
                self.colliders.insert_with_parent(part, handle, &mut self.bodies);
            }
        }
    }
}

impl Solver {
    /// Sets the length of a sub-step in seconds and returns the previous length.
    fn set_dt(&mut self, dt: f64) -> f64 {
        std::mem::replace(&mut self.parameters_mut().dt, dt)
    }

    /// Sets the gravity in m/s² and returns the previous gravity.
    fn set_gravity(&mut self, gravity: DVec3) -> DVec3 {
        std::mem::replace(self.gravity_mut(), gravity)
    }
}

/// The collider of a solid; `None` for a mesh without triangles.
fn collider(solid: &Solid, user_data: u128) -> Option<ColliderBuilder> {
    let (shape, turn) = shape(&solid.shape)?;
    let pose = Pose { position: solid.pose.position, rotation: solid.pose.rotation * turn };
    let collider = ColliderBuilder::new(shape)
        .position(to_engine(&pose))
        .density(0.0)
        .friction(solid.friction)
        .restitution(solid.restitution)
        .user_data(user_data);
    Some(collider)
}

fn shape(shape: &Shape) -> Option<(SharedShape, DQuat)> {
    let least = |v: &f64| v.max(LEAST_HALF_M);
    let made = match shape {
        Shape::Box(half) => {
            let half = half.max(DVec3::splat(LEAST_HALF_M));
            (SharedShape::cuboid(half.x, half.y, half.z), DQuat::IDENTITY)
        }
        Shape::Sphere { radius } => (SharedShape::ball(least(radius)), DQuat::IDENTITY),
        Shape::Cylinder { radius, half_length } => {
            (SharedShape::cylinder(least(half_length), least(radius)), z_to_y())
        }
        Shape::Capsule { radius, half_length } => {
            (SharedShape::capsule_z(*half_length, least(radius)), DQuat::IDENTITY)
        }
        Shape::Cone { radius, half_length } => {
            (SharedShape::cone(least(half_length), least(radius)), z_to_y())
        }
        Shape::Mesh(mesh) => {
            // The `world` crate has checked the indices, so only a mesh without triangles fails.
            let shape = SharedShape::trimesh(mesh.vertices.clone(), mesh.triangles.clone()).ok()?;
            (shape, DQuat::IDENTITY)
        }
    };
    Some(made)
}

/// Rotation of a cylinder or cone from the y axis to the z axis. The engine places these shapes
/// along y, and a world places them along z.
fn z_to_y() -> DQuat {
    let h = std::f64::consts::FRAC_1_SQRT_2;
    DQuat::from_xyzw(h, 0.0, 0.0, h)
}

fn mass(mass: &MassProperties) -> rapier::MassProperties {
    rapier::MassProperties::with_principal_inertia_frame(
        mass.frame.position,
        mass.mass,
        mass.principal,
        mass.frame.rotation,
    )
}

fn car_mass(profile: &Profile) -> rapier::MassProperties {
    let centre = DVec3::from_array(profile.centre_of_mass_m);
    rapier::MassProperties::new(centre, profile.mass_kg, DVec3::from_array(profile.inertia_kgm2()))
}
