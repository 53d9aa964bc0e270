//! The world as `foxglove.SceneUpdate`, for the 3D panel of the viewer.
//!
//! There are two kinds of messages: one for the parts of the world that do not move, and one for
//! the car and all objects. Every message first deletes what the last message of its channel
//! showed. Therefore a client that misses messages shows nothing outdated. Objects are shown by
//! their collision shapes, because the viewer does not have the materials of this world. Triangle
//! meshes are not shown.

use chicane_sim::{Lamp, Snapshot, VehicleState};
use chicane_world::world::{Object, ObjectKind, ObjectType, Shape, Solid};
use chicane_world::{Pose, Profile, World};
use glam::{DQuat, DVec2, DVec3};
use serde::Serialize;
use std::f64::consts::FRAC_1_SQRT_2;

/// Name of the coordinate frame of all entities.
pub(super) const WORLD_FRAME: &str = "world";

/// Height of lines above the ground, in metres. At height 0 the ground would hide parts of them.
const LINE_HEIGHT_M: f64 = 0.003;
/// Thickness of the lines along both edges of the road, in metres.
const BORDER_M: f64 = 0.03;
/// Thickness of the centre line, in metres.
const CENTRE_M: f64 = 0.01;
/// Thickness of the plate that shows the ground, in metres.
const GROUND_M: f64 = 0.01;
/// Thickness of the screen of a traffic light, in metres.
const PANEL_M: f64 = 0.01;

const GROUND: Color = Color { r: 0.22, g: 0.24, b: 0.26, a: 1.0 };
const WHITE: Color = Color { r: 0.95, g: 0.95, b: 0.95, a: 1.0 };
const YELLOW: Color = Color { r: 0.95, g: 0.8, b: 0.1, a: 1.0 };
const GREY: Color = Color { r: 0.55, g: 0.57, b: 0.6, a: 1.0 };
const BROWN: Color = Color { r: 0.72, g: 0.53, b: 0.32, a: 1.0 };
const ORANGE: Color = Color { r: 1.0, g: 0.45, b: 0.05, a: 1.0 };
const BLUE: Color = Color { r: 0.1, g: 0.4, b: 0.85, a: 1.0 };
const BLACK: Color = Color { r: 0.08, g: 0.08, b: 0.08, a: 1.0 };
const RED: Color = Color { r: 0.9, g: 0.1, b: 0.1, a: 1.0 };
const GREEN: Color = Color { r: 0.1, g: 0.8, b: 0.25, a: 1.0 };

/// An empty list, for a field that this server never fills.
type Unused = [(); 0];

#[derive(Debug, Clone, Serialize)]
pub(super) struct SceneUpdate {
    deletions: [Deletion; 1],
    pub(super) entities: Vec<Entity>,
}

#[derive(Debug, Clone, Serialize)]
struct Deletion {
    timestamp: Time,
    /// The value 1 means all entities of the channel.
    r#type: u8,
    id: &'static str,
}

/// A group of shapes with an id.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Entity {
    timestamp: Time,
    frame_id: &'static str,
    pub(super) id: String,
    /// Zero means that the entity stays until it is deleted.
    lifetime: Time,
    frame_locked: bool,
    metadata: Unused,
    arrows: Unused,
    pub(super) cubes: Vec<Block>,
    pub(super) spheres: Vec<Block>,
    pub(super) cylinders: Vec<Cylinder>,
    pub(super) lines: Vec<Line>,
    triangles: Unused,
    texts: Unused,
    models: Unused,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Time {
    sec: u64,
    nsec: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Color {
    r: f64,
    g: f64,
    b: f64,
    a: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Rotation {
    x: f64,
    y: f64,
    z: f64,
    w: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Placement {
    position: Vector,
    orientation: Rotation,
}

/// A cube or a sphere. `size` has the lengths of the edges or the diameters, in metres.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Block {
    pose: Placement,
    size: Vector,
    color: Color,
}

/// A cylinder or a cone along z.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Cylinder {
    pose: Placement,
    size: Vector,
    bottom_scale: f64,
    top_scale: f64,
    color: Color,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Line {
    /// The value 0 means a line through all points.
    r#type: u8,
    pose: Placement,
    thickness: f64,
    scale_invariant: bool,
    points: Vec<Vector>,
    color: Color,
    colors: Unused,
    indices: Unused,
}

impl From<DVec3> for Vector {
    fn from(DVec3 { x, y, z }: DVec3) -> Vector {
        Vector { x, y, z }
    }
}

impl From<&Pose> for Placement {
    fn from(pose: &Pose) -> Placement {
        let DQuat { x, y, z, w } = pose.rotation;
        Placement { position: pose.position.into(), orientation: Rotation { x, y, z, w } }
    }
}

impl Entity {
    fn new(id: impl Into<String>, timestamp: Time) -> Entity {
        Entity {
            timestamp,
            frame_id: WORLD_FRAME,
            id: id.into(),
            lifetime: Time::default(),
            frame_locked: false,
            metadata: [],
            arrows: [],
            cubes: Vec::new(),
            spheres: Vec::new(),
            cylinders: Vec::new(),
            lines: Vec::new(),
            triangles: [],
            texts: [],
            models: [],
        }
    }

    fn cube(&mut self, pose: &Pose, size: DVec3, color: Color) {
        self.cubes.push(Block { pose: pose.into(), size: size.into(), color });
    }

    fn sphere(&mut self, pose: &Pose, radius: f64, color: Color) {
        self.spheres.push(Block { pose: pose.into(), size: DVec3::splat(2.0 * radius).into(), color });
    }

    /// Adds a cylinder along z, or a cone if `top_scale` is 0.
    fn cylinder(&mut self, pose: &Pose, [radius, half_length]: [f64; 2], top_scale: f64, color: Color) {
        let size = DVec3::new(2.0 * radius, 2.0 * radius, 2.0 * half_length).into();
        self.cylinders.push(Cylinder { pose: pose.into(), size, bottom_scale: 1.0, top_scale, color });
    }

    fn line(&mut self, points: &[DVec2], z: f64, thickness: f64, color: Color) {
        let points = points.iter().map(|p| Vector { x: p.x, y: p.y, z }).collect();
        let pose = Placement::from(&Pose::IDENTITY);
        self.lines.push(Line {
            r#type: 0,
            pose,
            thickness,
            scale_invariant: false,
            points,
            color,
            colors: [],
            indices: [],
        });
    }

    /// Adds a collision shape. `frame` is the pose of the object that has the shape.
    fn solid(&mut self, frame: &Pose, solid: &Solid, color: Color) {
        let pose = frame.then(&solid.pose);
        match solid.shape {
            Shape::Box(half) => self.cube(&pose, half * 2.0, color),
            Shape::Sphere { radius } => self.sphere(&pose, radius, color),
            Shape::Cylinder { radius, half_length } => {
                self.cylinder(&pose, [radius, half_length], 1.0, color);
            }
            Shape::Cone { radius, half_length } => self.cylinder(&pose, [radius, half_length], 0.0, color),
            Shape::Capsule { radius, half_length } => {
                self.cylinder(&pose, [radius, half_length], 1.0, color);
                for end in [half_length, -half_length] {
                    let cap = Pose { position: DVec3::Z * end, ..Pose::IDENTITY };
                    self.sphere(&pose.then(&cap), radius, color);
                }
            }
            Shape::Mesh(_) => {}
        }
    }
}

/// The parts of a world that do not move: ground, road, walls, scenery.
pub(super) fn fixed(world: &World, time_s: f64) -> SceneUpdate {
    let time = timestamp(time_s);
    let mut entities = Vec::new();
    if let Some(bounds) = &world.ground.bounds {
        let mut ground = Entity::new("ground", time);
        let (centre, size) = ((bounds.min + bounds.max) / 2.0, bounds.max - bounds.min);
        let position = centre.extend(world.ground.z - GROUND_M / 2.0);
        ground.cube(&Pose { position, ..Pose::IDENTITY }, size.extend(GROUND_M), GROUND);
        entities.push(ground);
    }
    if let Some(route) = &world.route {
        let mut road = Entity::new("road", time);
        let z = world.ground.z + LINE_HEIGHT_M;
        road.line(&route.centre, z, CENTRE_M, YELLOW);
        if let Some(borders) = &route.borders {
            road.line(&borders.inner, z, BORDER_M, WHITE);
            road.line(&borders.outer, z, BORDER_M, WHITE);
        }
        entities.push(road);
    }
    let mut scenery = Entity::new("scenery", time);
    world.scenery.iter().for_each(|solid| scenery.solid(&Pose::IDENTITY, solid, GREY));
    entities.push(scenery);
    for wall in world.objects.iter().filter(|object| is_wall(object)) {
        entities.push(of_object(wall, &wall.origin, GREY, time));
    }
    update(entities, time)
}

/// The car and all objects except walls.
pub(super) fn moving(world: &World, snapshot: &Snapshot, profile: &Profile) -> SceneUpdate {
    let time = timestamp(snapshot.time_s);
    let mut entities = vec![car(&snapshot.vehicle, profile, time)];
    for (i, (object, pose)) in world.objects.iter().zip(&snapshot.objects).enumerate() {
        if is_wall(object) {
            continue;
        }
        let mut entity = of_object(object, pose, color(object.kind), time);
        let lamp = snapshot.lights.iter().find(|(light, _)| *light == i);
        if let (Some((_, lamp)), Some(panel)) = (lamp, &object.panel) {
            let [width, height] = panel.size;
            entity.cube(&pose.then(&panel.pose), DVec3::new(PANEL_M, width, height), lamp_color(*lamp));
        }
        entities.push(entity);
    }
    update(entities, time)
}

fn update(entities: Vec<Entity>, timestamp: Time) -> SceneUpdate {
    SceneUpdate { deletions: [Deletion { timestamp, r#type: 1, id: "" }], entities }
}

fn timestamp(time_s: f64) -> Time {
    let whole = time_s.max(0.0).floor();
    Time {
        sec: whole as u64,
        nsec: ((time_s - whole).clamp(0.0, 1.0) * 1e9).round().min(999_999_999.0) as u32,
    }
}

fn is_wall(object: &Object) -> bool {
    object.object_type == ObjectType::Wall
}

fn of_object(object: &Object, pose: &Pose, color: Color, time: Time) -> Entity {
    let mut entity = Entity::new(format!("object/{}", object.name), time);
    object.solids.iter().for_each(|solid| entity.solid(pose, solid, color));
    entity
}

fn color(kind: ObjectKind) -> Color {
    match kind {
        ObjectKind::Box | ObjectKind::Cylinder => BROWN,
        ObjectKind::Sphere => RED,
        ObjectKind::Cone => ORANGE,
        ObjectKind::Light | ObjectKind::Wall => GREY,
    }
}

fn lamp_color(lamp: Lamp) -> Color {
    match lamp {
        Lamp::Green => GREEN,
        Lamp::Yellow { .. } => YELLOW,
        Lamp::Red => RED,
    }
}

/// The car: a box for the body, and four wheels.
fn car(vehicle: &VehicleState, profile: &Profile, time: Time) -> Entity {
    let mut car = Entity::new("car", time);
    let at = |xyz: [f64; 3], yaw: f64| vehicle.pose.then(&Pose::from_xyz_yaw(xyz[0], xyz[1], xyz[2], yaw));
    car.cube(&at(profile.body.centre_m, 0.0), DVec3::from_array(profile.body.size_m), BLUE);
    // The wheel is rotated by a quarter turn about x, because the axis of a cylinder is z and the
    // axis of a wheel is y.
    let upright =
        Pose { rotation: DQuat::from_xyzw(FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2), ..Pose::IDENTITY };
    let (x, y) = (profile.wheelbase_m / 2.0, profile.track_m / 2.0);
    let [left, right] = vehicle.front_wheels;
    for (x, y, yaw) in [(x, y, left), (x, -y, right), (-x, y, 0.0), (-x, -y, 0.0)] {
        let wheel = at([x, y, profile.wheel_radius_m], yaw).then(&upright);
        car.cylinder(&wheel, [profile.wheel_radius_m, profile.wheel_width_m / 2.0], 1.0, BLACK);
    }
    car
}

#[cfg(test)]
mod tests;
