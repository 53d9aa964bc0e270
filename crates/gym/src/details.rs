//! What a reward function of one environment gets besides the numbers: objects, contacts, lights,
//! waypoints.

use crate::car::Car;
use crate::track::rounded;
use chicane_sim::Lamp;
use chicane_world::world::ObjectKind;

/// An object of the world with its current pose, rounded as in the API.
#[derive(Debug, Clone, PartialEq)]
pub struct Thing {
    /// Name of the object.
    pub name: String,
    /// Kind of the object, as the API names it.
    pub kind: &'static str,
    /// x, y and z in metres, and yaw in rad.
    pub pose: [f64; 4],
    /// Full extents of the object's own bounding box, m.
    pub size: [f64; 3],
    /// Whether physics never moves the object.
    pub is_static: bool,
    /// Whether a client may move the object.
    pub movable: bool,
}

/// What a reward function gets besides the numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// All objects of the world.
    pub objects: Vec<Thing>,
    /// Names of the objects that the car touched in the last step; before the first step, in the
    /// time for which the car stands at the start.
    pub contacts: Vec<String>,
    /// Name and colour of each light, sorted by name.
    pub lights: Vec<(String, &'static str)>,
    /// Points of the centre line, without a repeated first point.
    pub waypoints: Vec<[f64; 2]>,
}

impl Car {
    pub(crate) fn details(&self) -> Details {
        let settings = &self.plan.settings;
        let ticks = if self.episode.steps == 0 { settings.settle_ticks() } else { settings.step_ticks() };
        let since = self.sim.tick().saturating_sub(ticks);
        let (world, now) = (self.sim.world(), self.sim.snapshot());
        let poses = world.objects.iter().zip(&now.objects);
        let objects = poses.map(|(object, pose)| Thing {
            name: object.name.clone(),
            kind: kind_name(object.kind),
            pose: [pose.position.x, pose.position.y, pose.position.z, pose.yaw()].map(rounded),
            size: object.size.to_array().map(rounded),
            is_static: object.is_static,
            movable: object.movable,
        });
        let touched = now.last_contact.iter().map(|last| last.is_some_and(|tick| tick > since));
        let contacts = world.objects.iter().zip(touched).filter(|(_, touched)| *touched);
        let name = |i: usize| world.objects[i].name.clone();
        let mut lights: Vec<_> = now.lights.iter().map(|(i, lamp)| (name(*i), colour(*lamp))).collect();
        lights.sort();
        Details {
            objects: objects.collect(),
            contacts: contacts.map(|(object, _)| object.name.clone()).collect(),
            lights,
            waypoints: self.course.track.waypoints().collect(),
        }
    }
}

fn kind_name(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Box => "box",
        ObjectKind::Cylinder => "cylinder",
        ObjectKind::Sphere => "sphere",
        ObjectKind::Cone => "cone",
        ObjectKind::Light => "light",
        ObjectKind::Wall => "wall",
    }
}

fn colour(lamp: Lamp) -> &'static str {
    match lamp {
        Lamp::Green => "green",
        Lamp::Yellow { .. } => "yellow",
        Lamp::Red => "red",
    }
}
