//! Small changes of the poses of objects that can be pushed.

use super::MovedObject;
use super::draw::{Draw, Item, rounded};
use super::footprint::Footprint;
use super::site::Site;
use chicane_vary::Objects;
use chicane_world::world::{Object, ObjectType};
use chicane_world::{Pose, World};
use std::f64::consts::TAU;

/// Number of poses that are tried. If none of them is free, the object stays at its published pose.
const TRIES: u64 = 16;

/// Draws the new poses. An object that stands beside the road stays beside the road.
pub(super) fn draw(world: &World, site: &mut Site<'_>, bounds: &Objects, draw: Draw) -> Vec<MovedObject> {
    if bounds.jitter <= 0.0 && bounds.turn <= 0.0 {
        return Vec::new();
    }
    let mut moved = Vec::new();
    for (i, object) in world.objects.iter().enumerate().filter(|(_, object)| can_be_pushed(object)) {
        let was_beside = site.is_beside_road(&site.objects[i], 0.0);
        let found = (0..TRIES).find_map(|k| {
            let change = candidate(object, bounds, draw.units(Item::Jitter, i as u64 * TRIES + k));
            let area = Footprint::of(object, &change.pose(&object.origin));
            let free = site.is_free(&area, Some(i)) && (!was_beside || site.is_beside_road(&area, 0.0));
            free.then_some((change, area))
        });
        if let Some((change, area)) = found {
            site.objects[i] = area;
            moved.push(change);
        }
    }
    moved
}

fn can_be_pushed(object: &Object) -> bool {
    object.object_type == ObjectType::Object && object.movable && !object.is_static
}

/// A pose near the published one. All points at most `bounds.jitter` away are equally likely.
fn candidate(object: &Object, bounds: &Objects, [radius, direction, turn, _]: [f64; 4]) -> MovedObject {
    let (distance, angle) = (bounds.jitter * radius.sqrt(), TAU * direction);
    let from = object.origin.position;
    let to = [from.x + distance * libm::cos(angle), from.y + distance * libm::sin(angle)];
    let turn = rounded(bounds.turn * (2.0 * turn - 1.0));
    MovedObject { name: object.name.clone(), to: to.map(rounded), turn }
}

impl MovedObject {
    /// The new pose of an object with this published pose.
    pub(super) fn pose(&self, published: &Pose) -> Pose {
        let turn = Pose::from_xyz_yaw(0.0, 0.0, 0.0, self.turn);
        let [x, y] = self.to;
        let rotation = (turn.rotation * published.rotation).normalize();
        Pose { position: glam::DVec3::new(x, y, published.position.z), rotation }
    }
}
