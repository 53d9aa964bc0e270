//! What stands on a field, as inline models: the marker is the link's name.

use chicane_world::spec::{
    CollisionSpec, Geometry, InertialSpec, LinkSpec, MaterialSpec, ModelSpec, PoseSpec, VisualSpec,
};

/// Size of the box that ships.
const CUBE: [f64; 3] = [0.3, 0.2, 0.2];
/// 29.7 cm around, 21 cm tall: a sheet of paper rolled up.
const CAN_RADIUS: f64 = 0.047_269;
const CAN_HEIGHT: f64 = 0.21;
const BALL_RADIUS: f64 = 0.11;
const CONE: [f64; 3] = [0.135, 0.135, 0.23];
/// Width and height of a traffic light's screen.
const SCREEN: [f64; 2] = [0.18, 0.32];
/// How far it leans back, rad.
const LEAN: f64 = 0.261_799_387_799_149_4;

/// A model in the world file.
pub(super) struct Thing {
    pub(super) model: ModelSpec,
}

fn at(xyz: [f64; 3], rpy: [f64; 3]) -> PoseSpec {
    PoseSpec { xyz, rpy, relative_to: String::new() }
}

fn up(z: f64) -> PoseSpec {
    at([0.0, 0.0, z], [0.0; 3])
}

fn paint(rgb: [f64; 3]) -> Option<MaterialSpec> {
    let [r, g, b] = rgb;
    Some(MaterialSpec {
        ambient: Some([r, g, b, 1.0]),
        diffuse: Some([r, g, b, 1.0]),
        ..MaterialSpec::default()
    })
}

fn mesh(name: &str) -> Geometry {
    Geometry::Mesh { uri: format!("model://meshes/{name}/{name}.dae"), scale: [1.0; 3], submesh: None }
}

fn model(name: &str, x: f64, y: f64, yaw_degrees: f64, is_static: bool, link: LinkSpec) -> Thing {
    let pose = at([x, y, 0.0], [0.0, 0.0, yaw_degrees.to_radians()]);
    Thing {
        model: ModelSpec {
            name: name.to_owned(),
            pose,
            is_static,
            links: vec![link],
            ..ModelSpec::default()
        },
    }
}

/// An obstacle: one solid, one look, a mass.
fn obstacle(collision: &str, solid: Geometry, look: Geometry, height: f64, mass: f64) -> LinkSpec {
    let pose = up(0.5 * height);
    LinkSpec {
        name: "object".to_owned(),
        inertial: Some(InertialSpec { mass: Some(mass), pose: pose.clone(), inertia: None }),
        collisions: vec![CollisionSpec {
            name: collision.to_owned(),
            pose: pose.clone(),
            geometry: solid,
            friction: Some(0.6),
            restitution: None,
        }],
        visuals: vec![VisualSpec {
            name: "visual".to_owned(),
            pose,
            geometry: look,
            ..VisualSpec::default()
        }],
        ..LinkSpec::default()
    }
}

impl Thing {
    pub(super) fn cube(name: &str, x: f64, y: f64, yaw: f64) -> Thing {
        let link =
            obstacle("collision", Geometry::Box { size: CUBE }, mesh("vehicle_box_obstacle"), CUBE[2], 0.5);
        model(name, x, y, yaw, false, link)
    }

    pub(super) fn can(name: &str, x: f64, y: f64, yaw: f64) -> Thing {
        let shape = Geometry::Cylinder { radius: CAN_RADIUS, length: CAN_HEIGHT };
        let mut link = obstacle("collision", shape.clone(), shape, CAN_HEIGHT, 0.3);
        link.visuals[0].material = paint([0.93, 0.91, 0.85]);
        model(name, x, y, yaw, false, link)
    }

    pub(super) fn ball(name: &str, x: f64, y: f64, yaw: f64) -> Thing {
        let link = obstacle(
            "collision",
            Geometry::Sphere { radius: BALL_RADIUS },
            mesh("vehicle_ball"),
            2.0 * BALL_RADIUS,
            0.2,
        );
        model(name, x, y, yaw, false, link)
    }

    pub(super) fn cone(name: &str, x: f64, y: f64, yaw: f64) -> Thing {
        let link = obstacle("cone", Geometry::Box { size: CONE }, mesh("vehicle_cone"), CONE[2], 0.25);
        model(name, x, y, yaw, false, link)
    }

    /// A traffic light; its screen looks along `yaw`.
    pub(super) fn light(name: &str, x: f64, y: f64, yaw: f64) -> Thing {
        let [width, height] = SCREEN;
        let (s, c) = (libm::sin(LEAN), libm::cos(LEAN));
        // In the frame of the leaning screen: `ahead` of its middle, `above` it.
        let on_screen = |ahead: f64, above: f64| {
            let (x, z) = (ahead * c - above * s, 0.03 + 0.5 * height * c + above * c + ahead * s);
            [x, 0.0, z]
        };
        let disc = |name: &str, above: f64, rgb: [f64; 3]| VisualSpec {
            name: name.to_owned(),
            pose: at(on_screen(0.007, above), [0.0, std::f64::consts::FRAC_PI_2 - LEAN, 0.0]),
            geometry: Geometry::Cylinder { radius: 0.055, length: 0.004 },
            material: paint(rgb),
            ..VisualSpec::default()
        };
        let slab = |name: &str, pose: PoseSpec, size: [f64; 3], rgb: [f64; 3]| VisualSpec {
            name: name.to_owned(),
            pose,
            geometry: Geometry::Box { size },
            material: paint(rgb),
            ..VisualSpec::default()
        };
        let screen = at(on_screen(0.0, 0.0), [0.0, -LEAN, 0.0]);
        let link = LinkSpec {
            name: "light".to_owned(),
            collisions: vec![CollisionSpec {
                name: "collision".to_owned(),
                pose: up(0.17),
                geometry: Geometry::Box { size: [0.12, width, 0.34] },
                ..CollisionSpec::default()
            }],
            visuals: vec![
                slab("stand", up(0.015), [0.12, width, 0.03], [0.2, 0.2, 0.22]),
                slab("screen", screen, [0.01, width, height], [0.06, 0.06, 0.07]),
                disc("lamp_red", 0.08, [0.25, 0.03, 0.03]),
                disc("lamp_green", -0.08, [0.05, 0.85, 0.2]),
            ],
            ..LinkSpec::default()
        };
        model(name, x, y, yaw, true, link)
    }

    /// One side of the fence; it is seen as part of the track.
    pub(super) fn wall(index: usize, centre: [f64; 2], size: [f64; 3]) -> Thing {
        let link = LinkSpec {
            name: "wall".to_owned(),
            collisions: vec![CollisionSpec {
                name: "collision".to_owned(),
                pose: up(0.5 * size[2]),
                geometry: Geometry::Box { size },
                ..CollisionSpec::default()
            }],
            ..LinkSpec::default()
        };
        model(&format!("wall_{index}"), centre[0], centre[1], 0.0, true, link)
    }
}
