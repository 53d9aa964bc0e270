//! When a world is loaded, finds the objects that stand on the ground and touch no other object.
//!
//! The engine puts a body to sleep half a second after its last movement. Until then the engine has
//! to simulate every tick. That is several times slower than the code in `isolated.rs`, which moves
//! only the car. A training resets its simulations often. Therefore an object that stands on the
//! ground, with a gap to every other body, sleeps from the start.

use chicane_world::world::{Object, Shape, Solid};
use chicane_world::{Pose, World};
use glam::{DMat3, DVec3};

/// Largest distance between the ground and the lowest point of an object that stands on it, m.
const GAP_M: f64 = 5e-4;
/// The cosine of the lean angle of an upright object is not lower than this.
const UPRIGHT: f64 = 1.0 - 1e-9;
/// Width of the inner part of a base, as a share of the width of the base. The centre of mass of a
/// standing object must be above the inner part of its base.
const INNER_BASE: f64 = 0.9;
/// Largest horizontal distance between the centre of a ball and its centre of mass, m.
const BALANCED_M: f64 = 1e-6;
/// Minimum distance between two bodies that are apart, m. The engine may push closer bodies away
/// from each other.
const APART_M: f64 = 1e-3;

/// A box whose edges are parallel to the axes of the world.
#[derive(Clone, Copy)]
struct Bounds {
    low: DVec3,
    high: DVec3,
}

impl Bounds {
    /// The bounds of a box. `at` is the pose of its centre, and `half` has its half edge lengths.
    fn of_box(at: &Pose, half: DVec3) -> Bounds {
        let turn = DMat3::from_quat(at.rotation);
        let reach = turn.x_axis.abs() * half.x + turn.y_axis.abs() * half.y + turn.z_axis.abs() * half.z;
        Bounds { low: at.position - reach, high: at.position + reach }
    }

    fn of_object(object: &Object) -> Bounds {
        let centre = Pose { position: object.origin.point(object.centre), rotation: object.origin.rotation };
        Bounds::of_box(&centre, 0.5 * object.size)
    }

    /// The bounds of a solid of the scenery. `None` for a mesh without vertices.
    fn of_solid(solid: &Solid) -> Option<Bounds> {
        let half = match &solid.shape {
            Shape::Box(half) => *half,
            Shape::Sphere { radius } => DVec3::splat(*radius),
            Shape::Cylinder { radius, half_length } | Shape::Cone { radius, half_length } => {
                DVec3::new(*radius, *radius, *half_length)
            }
            Shape::Capsule { radius, half_length } => DVec3::new(*radius, *radius, radius + half_length),
            Shape::Mesh(mesh) => {
                let points = mesh.vertices.iter().map(|vertex| solid.pose.point(*vertex));
                let bounds = points.map(|at| Bounds { low: at, high: at });
                return bounds.reduce(|a, b| Bounds { low: a.low.min(b.low), high: a.high.max(b.high) });
            }
        };
        Some(Bounds::of_box(&solid.pose, half))
    }

    fn is_apart(&self, other: &Bounds) -> bool {
        (self.low - APART_M).cmpgt(other.high).any() || (other.low - APART_M).cmpgt(self.high).any()
    }
}

/// Returns, for each object, whether the object stands on the ground, with a gap to every other
/// object and to the scenery above the ground. The result for a static object is false.
pub(super) fn standing(world: &World) -> Vec<bool> {
    let ground = world.ground.z;
    let objects: Vec<Bounds> = world.objects.iter().map(Bounds::of_object).collect();
    // A road or a floor in the plane of the ground carries an object like the ground does, so this
    // scenery is left out.
    let scenery = world.scenery.iter().filter_map(Bounds::of_solid);
    let scenery: Vec<Bounds> = scenery.filter(|bounds| bounds.high.z > ground + GAP_M).collect();
    let is_apart = |i: usize| {
        let others = objects.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, bounds)| bounds);
        others.chain(&scenery).all(|other| objects[i].is_apart(other))
    };
    let all = world.objects.iter().enumerate();
    all.map(|(i, object)| !object.is_static && stands(object, ground) && is_apart(i)).collect()
}

/// Whether an object is upright, touches the ground and does not tip over.
fn stands(object: &Object, ground: f64) -> bool {
    let lowest = object.centre.z - 0.5 * object.size.z;
    let is_upright = (object.origin.rotation * DVec3::Z).z >= UPRIGHT;
    let touches = (object.origin.position.z + lowest - ground).abs() <= GAP_M;
    is_upright && touches && object.solids.iter().any(|solid| carries(solid, object, lowest))
}

/// Whether a solid is the base of an upright object: the solid reaches down to the lowest point of
/// the object, and the vertical line through the object's centre of mass passes through the inner
/// part of the solid's base ([`INNER_BASE`]).
fn carries(solid: &Solid, object: &Object, lowest: f64) -> bool {
    let up = (solid.pose.rotation * DVec3::Z).z;
    let centre = solid.pose.rotation.conjugate() * (object.mass.frame.position - solid.pose.position);
    let (x, y) = (centre.x.abs(), centre.y.abs());
    let aside = (x * x + y * y).sqrt();
    let (half_height, is_above) = match &solid.shape {
        Shape::Box(half) => {
            (half.z, up.abs() >= UPRIGHT && x <= INNER_BASE * half.x && y <= INNER_BASE * half.y)
        }
        Shape::Cylinder { radius, half_length } => {
            (*half_length, up.abs() >= UPRIGHT && aside <= INNER_BASE * radius)
        }
        Shape::Cone { radius, half_length } => (*half_length, up >= UPRIGHT && aside <= INNER_BASE * radius),
        Shape::Sphere { radius } => (*radius, aside <= BALANCED_M),
        Shape::Capsule { .. } | Shape::Mesh(_) => return false,
    };
    is_above && (solid.pose.position.z - half_height - lowest).abs() <= GAP_M
}

#[cfg(test)]
mod tests {
    use super::standing;
    use crate::{Command, Drive, How, Sim, Who};
    use chicane_testkit::Yard;
    use chicane_world::{Pose, Profile};
    use std::sync::Arc;

    #[test]
    fn objects_that_stand_alone_on_the_ground_are_found() {
        let half_metre = [0.5; 3];
        let world = Yard::new()
            .block("standing", [1.0, 1.0, 0.1], [0.2; 3], 0.5)
            .ball("ball", [2.0, 1.0, 0.11], 0.11, 0.2)
            .post("post", [3.0, 1.0, 0.3], 0.05, 0.6, 0.5)
            .block("hovering", [1.0, 2.0, 0.11], [0.2; 3], 0.5)
            .block("sunk", [2.0, 2.0, 0.09], [0.2; 3], 0.5)
            .block("under", [3.0, 2.0, 0.1], [0.2; 3], 0.5)
            .block("on top", [3.0, 2.0, 0.3], [0.2; 3], 0.5)
            .fixed_block("table", Pose::from_xyz_yaw(5.0, 5.0, 0.25, 0.0), half_metre)
            .block("beside the table", [5.35, 5.0, 0.1], [0.2; 3], 0.5)
            .build();
        let names = world.objects.iter().zip(standing(&world)).filter(|(_, stands)| *stands);
        let names: Vec<&str> = names.map(|(object, _)| object.name.as_str()).collect();
        assert_eq!(names, ["standing", "ball", "post"]);
    }

    #[test]
    fn the_objects_of_the_shipped_worlds_sleep_from_the_start() {
        for name in chicane_testkit::SHIPPED {
            let world = chicane_testkit::shipped_world(name);
            let awake = world.objects.iter().zip(standing(&world));
            let awake = awake.filter(|(object, stands)| !object.is_static && !stands);
            let awake: Vec<String> = awake.map(|(object, _)| format!("{object:?}")).collect();
            assert_eq!(awake, [""; 0], "{name}");
            let mut sim = Sim::new(Arc::new(world), Arc::new(Profile::gen1()), 1);
            assert_eq!(sim.awake(), 1, "{name}");
            for (i, object) in sim.world().objects.iter().enumerate() {
                assert_eq!(sim.object_pose(i), Some(object.origin), "{name}: {}", object.name);
            }
            let how = How::AtOnce;
            let place = Command::Place { who: Who::Vehicle, x: Some(1.0), y: None, z: None, yaw: None, how };
            sim.apply(place).expect("the car can be placed");
            for _ in 0..3 {
                sim.step(Drive::default());
            }
            assert_eq!(sim.awake(), 1, "{name}, after the car was placed");
        }
    }
}
