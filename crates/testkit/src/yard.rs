//! Small worlds made in code: a flat yard with objects.

use chicane_world::world::{
    FixedName, Ground, MassProperties, Object, ObjectKind, ObjectType, Shape, Solid, TriangleMesh,
};
use chicane_world::{Pose, World, WorldScene};
use glam::DVec3;
use std::sync::Arc;

/// Builds a world step by step. The caller chooses the names of the objects.
pub struct Yard {
    world: World,
}

impl Default for Yard {
    fn default() -> Self {
        Yard::new()
    }
}

impl Yard {
    /// An empty yard. The car is at the origin and faces +x.
    pub fn new() -> Yard {
        Yard {
            world: World {
                name: "yard".to_owned(),
                gravity: DVec3::new(0.0, 0.0, -9.81),
                ground: Ground { z: 0.0, bounds: None, friction: 0.6 },
                route: None,
                route_rows: None,
                spawn: Pose::IDENTITY,
                objects: Vec::new(),
                scenery: Vec::new(),
                fixed_names: vec![FixedName { name: "racetrack".to_owned(), is_track: true }],
                scene: WorldScene::default(),
                evaluation: None,
                warnings: Vec::new(),
            },
        }
    }

    /// Sets the start pose of the car.
    pub fn spawn(mut self, x: f64, y: f64, yaw: f64) -> Yard {
        self.world.spawn = Pose::from_xyz_yaw(x, y, 0.0, yaw);
        self
    }

    /// Adds a box with this centre (m), these edge lengths (m) and this mass (kg).
    pub fn block(self, name: &str, at: [f64; 3], size: [f64; 3], mass: f64) -> Yard {
        let half = DVec3::from_array(size) * 0.5;
        self.object(
            name,
            ObjectKind::Box,
            Pose::from_xyz_yaw(at[0], at[1], at[2], 0.0),
            Shape::Box(half),
            Some(mass),
        )
    }

    /// Adds a static box at any pose. The physics never moves a static object.
    pub fn fixed_block(self, name: &str, pose: Pose, size: [f64; 3]) -> Yard {
        self.object(name, ObjectKind::Box, pose, Shape::Box(DVec3::from_array(size) * 0.5), None)
    }

    /// Adds a ball with this centre (m), radius (m) and mass (kg).
    pub fn ball(self, name: &str, at: [f64; 3], radius: f64, mass: f64) -> Yard {
        let pose = Pose::from_xyz_yaw(at[0], at[1], at[2], 0.0);
        self.object(name, ObjectKind::Sphere, pose, Shape::Sphere { radius }, Some(mass))
    }

    /// Adds an upright cylinder with this centre, radius and height (m) and this mass (kg).
    pub fn post(self, name: &str, at: [f64; 3], radius: f64, height: f64, mass: f64) -> Yard {
        let pose = Pose::from_xyz_yaw(at[0], at[1], at[2], 0.0);
        let shape = Shape::Cylinder { radius, half_length: 0.5 * height };
        self.object(name, ObjectKind::Cylinder, pose, shape, Some(mass))
    }

    /// Adds a wall with this centre (m), heading (rad), length, thickness and height (m).
    pub fn wall(self, name: &str, at: [f64; 2], yaw: f64, length: f64, thickness: f64, height: f64) -> Yard {
        let pose = Pose::from_xyz_yaw(at[0], at[1], 0.5 * height, yaw);
        let half = 0.5 * DVec3::new(length, thickness, height);
        self.object(name, ObjectKind::Wall, pose, Shape::Box(half), None)
    }

    /// Adds four walls around the rectangle from (0, 0) to (width, depth), like the fence of a
    /// world.
    pub fn fence(self, width: f64, depth: f64) -> Yard {
        let (t, h) = (0.03, 0.25);
        let turn = std::f64::consts::FRAC_PI_2;
        self.wall("wall_0", [0.5 * width, 0.0], 0.0, width, t, h)
            .wall("wall_1", [width, 0.5 * depth], turn, depth, t, h)
            .wall("wall_2", [0.5 * width, depth], 0.0, width, t, h)
            .wall("wall_3", [0.0, 0.5 * depth], turn, depth, t, h)
    }

    /// Adds a traffic light: a thin upright board on the ground.
    pub fn light(self, name: &str, x: f64, y: f64, yaw: f64) -> Yard {
        let pose = Pose::from_xyz_yaw(x, y, 0.16, yaw);
        self.object(name, ObjectKind::Light, pose, Shape::Box(DVec3::new(0.02, 0.09, 0.16)), None)
    }

    /// Adds static triangles as scenery. Scenery is not in the list of objects.
    pub fn scenery_mesh(mut self, vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Yard {
        let shape = Shape::Mesh(Arc::new(TriangleMesh { vertices, triangles }));
        self.world.scenery.push(Solid { pose: Pose::IDENTITY, shape, friction: 0.4, restitution: 0.0 });
        self
    }

    /// Adds an object. An object without a mass is static.
    pub fn object(
        mut self,
        name: &str,
        kind: ObjectKind,
        pose: Pose,
        shape: Shape,
        mass: Option<f64>,
    ) -> Yard {
        let half = match &shape {
            Shape::Box(half) => *half,
            Shape::Sphere { radius } => DVec3::splat(*radius),
            Shape::Cylinder { radius, half_length } | Shape::Cone { radius, half_length } => {
                DVec3::new(*radius, *radius, *half_length)
            }
            Shape::Capsule { radius, half_length } => DVec3::new(*radius, *radius, half_length + radius),
            Shape::Mesh(_) => panic!("an object is not a mesh"),
        };
        let object_type = match kind {
            ObjectKind::Wall => ObjectType::Wall,
            ObjectKind::Light => ObjectType::Light,
            _ => ObjectType::Object,
        };
        let m = mass.unwrap_or(0.5);
        let principal = match shape {
            Shape::Sphere { radius } => DVec3::splat(0.4 * m * radius * radius),
            Shape::Cylinder { radius, half_length } => {
                let side = m * (3.0 * radius * radius + 4.0 * half_length * half_length) / 12.0;
                DVec3::new(side, side, 0.5 * m * radius * radius)
            }
            _ => {
                let s = half * half;
                DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (m / 3.0)
            }
        };
        self.world.objects.push(Object {
            name: name.to_owned(),
            object_type,
            kind,
            is_static: mass.is_none(),
            movable: object_type != ObjectType::Wall,
            origin: pose,
            size: half * 2.0,
            centre: DVec3::ZERO,
            mass: MassProperties { mass: m, frame: Pose::IDENTITY, principal },
            solids: vec![Solid { pose: Pose::IDENTITY, shape, friction: 0.6, restitution: 0.0 }],
            panel: None,
        });
        self
    }

    /// Adds `n` resting boxes, cylinders and balls on a grid with ten objects per row. The first
    /// object is at (0.5 m, 1.5 m). A row runs along x with 0.55 m between two objects, and the
    /// rows are 0.6 m apart in y.
    pub fn clutter(mut self, n: usize) -> Yard {
        for i in 0..n {
            let (x, y) = ((i % 10) as f64 * 0.55 + 0.5, 1.5 + (i / 10) as f64 * 0.6);
            let name = format!("thing{i}");
            self = match i % 3 {
                0 => self.block(&name, [x, y, 0.1], [0.2, 0.2, 0.2], 0.5),
                1 => self.post(&name, [x, y, 0.105], 0.047, 0.21, 0.3),
                _ => self.ball(&name, [x, y, 0.11], 0.11, 0.2),
            };
        }
        self
    }

    /// Returns the world.
    pub fn build(self) -> Arc<World> {
        Arc::new(self.world)
    }
}
