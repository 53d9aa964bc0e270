//! Converts objects and walls to models of the world file. The loader recognises an object, a light
//! or a wall by the name of the model's link.

use crate::project::{Colour, Fence, Object, ObjectShape, ObstacleBody};
use chicane_world::spec::{
    CollisionSpec, Geometry, InertialSpec, LinkSpec, MaterialSpec, ModelSpec, PoseSpec, VisualSpec,
};
use glam::DVec2;

/// Height of a light's stand, m.
const STAND_M: f64 = 0.03;
/// Minimum depth of a light, m.
const LIGHT_DEPTH_M: f64 = 0.12;
/// Default colour of a cylinder: the colour of paper.
const PAPER: [f64; 3] = [0.93, 0.91, 0.85];

/// Size of an object's collision shape along the axes of the object, m.
pub(crate) fn size_of(kind: &ObjectShape) -> [f64; 3] {
    match *kind {
        ObjectShape::Box { size, .. } => size,
        ObjectShape::Cylinder { radius, height, .. } => [2.0 * radius, 2.0 * radius, height],
        ObjectShape::Sphere { radius, .. } => [2.0 * radius; 3],
        ObjectShape::Cone { base, height, .. } => [base, base, height],
        ObjectShape::Light { width, tilt } => {
            let tall = screen_height(width);
            let depth = (tall * libm::sin(tilt) + 0.03).max(LIGHT_DEPTH_M);
            [depth, width, STAND_M + tall * libm::cos(tilt)]
        }
    }
}

/// Height of a light's screen. The ratio of its width to its height is 9:16.
fn screen_height(width: f64) -> f64 {
    width * 16.0 / 9.0
}

/// Whether an object needs its own mesh. An object with a picture needs one, because the standard
/// meshes and plain shapes cannot show a picture of the project. A coloured cone needs one, because
/// the colour of the standard cone cannot be changed.
pub(crate) fn has_mesh(kind: &ObjectShape) -> bool {
    !kind.pictures().is_empty()
        || matches!(kind, ObjectShape::Cone { body: ObstacleBody { colour: Some(_), .. }, .. })
}

/// The model of an object. `mesh` is the URI of the object's own mesh; `None` if the object uses a
/// standard mesh or a plain shape.
pub(crate) fn model(object: &Object, mesh: Option<String>) -> ModelSpec {
    let (link, is_static) = match &object.kind {
        ObjectShape::Light { width, tilt } => (light(*width, *tilt, size_of(&object.kind)), true),
        ObjectShape::Box { body, .. }
        | ObjectShape::Cylinder { body, .. }
        | ObjectShape::Sphere { body, .. }
        | ObjectShape::Cone { body, .. } => (obstacle(&object.kind, body, mesh), body.is_static),
    };
    named(&object.name, [object.x, object.y], object.yaw, is_static, link)
}

/// The link of an obstacle: one collision, one visual and a mass.
fn obstacle(kind: &ObjectShape, body: &ObstacleBody, own: Option<String>) -> LinkSpec {
    let size = size_of(kind);
    let middle = up(0.5 * size[2]);
    let (solid, standard) = match *kind {
        ObjectShape::Box { size, .. } => (Geometry::Box { size }, Some("vehicle_box_obstacle")),
        ObjectShape::Cylinder { radius, height, .. } => (Geometry::Cylinder { radius, length: height }, None),
        ObjectShape::Sphere { radius, .. } => (Geometry::Sphere { radius }, Some("vehicle_ball")),
        ObjectShape::Cone { .. } | ObjectShape::Light { .. } => {
            (Geometry::Box { size }, Some("vehicle_cone"))
        }
    };
    let mesh = |uri: String| Geometry::Mesh { uri, scale: [1.0; 3], submesh: None };
    // The origin of an object's own mesh is on the ground. The origin of a standard mesh or a plain
    // shape is in its centre.
    let (pose, look, material) = match (own, body.colour, standard) {
        (Some(uri), _, _) => (up(0.0), mesh(uri), None),
        (None, None, Some(name)) => (middle.clone(), mesh(format!("model://meshes/{name}/{name}.dae")), None),
        (None, colour, _) => {
            (middle.clone(), solid.clone(), flat_material(colour.map_or(PAPER, Colour::rgb)))
        }
    };
    LinkSpec {
        name: "object".to_owned(),
        inertial: Some(InertialSpec { mass: Some(body.mass), pose: middle.clone(), inertia: None }),
        collisions: vec![CollisionSpec {
            name: if matches!(kind, ObjectShape::Cone { .. }) { "cone" } else { "collision" }.to_owned(),
            pose: middle,
            geometry: solid,
            friction: Some(0.6),
            restitution: None,
        }],
        visuals: vec![visual("visual", pose, look, material)],
        ..LinkSpec::default()
    }
}

/// The link of a traffic light: a stand and an inclined screen with two lamps. The screen faces +x.
fn light(width: f64, tilt: f64, size: [f64; 3]) -> LinkSpec {
    let tall = screen_height(width);
    let (s, c) = libm::sincos(tilt);
    // Returns the position of a point near the inclined screen. From the centre of the screen, go
    // `above` metres up along the screen, then `ahead` metres forward at a right angle to the
    // screen.
    let on_screen =
        |ahead: f64, above: f64| [ahead * c - above * s, 0.0, STAND_M + (0.5 * tall + above) * c + ahead * s];
    let lamp = |name: &str, above: f64, rgb: [f64; 3]| {
        let pose = at(on_screen(0.007, above), [0.0, std::f64::consts::FRAC_PI_2 - tilt, 0.0]);
        visual(name, pose, Geometry::Cylinder { radius: 0.17 * tall, length: 0.004 }, flat_material(rgb))
    };
    let screen = at(on_screen(0.0, 0.0), [0.0, -tilt, 0.0]);
    let slab = |name: &str, pose: PoseSpec, size: [f64; 3], rgb: [f64; 3]| {
        visual(name, pose, Geometry::Box { size }, flat_material(rgb))
    };
    LinkSpec {
        name: "light".to_owned(),
        collisions: vec![CollisionSpec {
            name: "collision".to_owned(),
            pose: up(0.5 * size[2]),
            geometry: Geometry::Box { size },
            ..CollisionSpec::default()
        }],
        visuals: vec![
            slab("stand", up(0.5 * STAND_M), [size[0], width, STAND_M], [0.2, 0.2, 0.22]),
            slab("screen", screen, [0.01, width, tall], [0.06, 0.06, 0.07]),
            lamp("lamp_red", 0.25 * tall, [0.25, 0.03, 0.03]),
            lamp("lamp_green", -0.25 * tall, [0.05, 0.85, 0.2]),
        ],
        ..LinkSpec::default()
    }
}

/// One side of the fence. It has no visual, because the mesh of the track contains the fence.
pub(crate) fn wall(index: usize, (low, high): (DVec2, DVec2), fence: &Fence) -> ModelSpec {
    let [x, y] = (high - low).to_array();
    let link = LinkSpec {
        name: "wall".to_owned(),
        collisions: vec![CollisionSpec {
            name: "collision".to_owned(),
            pose: up(0.5 * fence.height),
            geometry: Geometry::Box { size: [x, y, fence.height] },
            ..CollisionSpec::default()
        }],
        ..LinkSpec::default()
    };
    named(&format!("wall_{index}"), (0.5 * (low + high)).to_array(), 0.0, true, link)
}

fn named(name: &str, [x, y]: [f64; 2], yaw: f64, is_static: bool, link: LinkSpec) -> ModelSpec {
    let pose = at([x, y, 0.0], [0.0, 0.0, yaw]);
    ModelSpec { name: name.to_owned(), pose, is_static, links: vec![link], ..ModelSpec::default() }
}

fn visual(name: &str, pose: PoseSpec, geometry: Geometry, material: Option<MaterialSpec>) -> VisualSpec {
    VisualSpec { name: name.to_owned(), pose, geometry, material, ..VisualSpec::default() }
}

fn at(xyz: [f64; 3], rpy: [f64; 3]) -> PoseSpec {
    PoseSpec { xyz, rpy, relative_to: String::new() }
}

fn up(z: f64) -> PoseSpec {
    at([0.0, 0.0, z], [0.0; 3])
}

fn flat_material([r, g, b]: [f64; 3]) -> Option<MaterialSpec> {
    let colour = Some([r, g, b, 1.0]);
    Some(MaterialSpec { ambient: colour, diffuse: colour, ..MaterialSpec::default() })
}
