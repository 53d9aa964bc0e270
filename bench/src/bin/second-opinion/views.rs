//! The worlds and the views in which the two renderers are compared.

use crate::fixture;
use chicane_render::looks::Lamp;
use chicane_render::{CarMoment, Moment};
use chicane_testkit::{SHIPPED, shipped_world};
use chicane_world::{Pose, Profile, World};
use glam::DVec3;

/// A camera pose and a moment.
pub(crate) struct View {
    pub(crate) name: &'static str,
    pub(crate) camera: Pose,
    pub(crate) fov_rad: f64,
    /// Distance of the near clipping plane, m. No surface is nearer to the camera.
    pub(crate) near: f64,
    pub(crate) moment: Moment,
}

/// The shipped worlds, and the world of `fixture`.
pub(crate) fn worlds() -> Vec<(&'static str, World)> {
    let mut all: Vec<_> = SHIPPED.into_iter().map(|name| (name, shipped_world(name))).collect();
    all.push(("fixture", fixture::world()));
    all
}

/// The views of a world.
pub(crate) fn of(name: &str, world: &World, profile: &Profile) -> Vec<View> {
    let look = |name, from: [f64; 3], to: [f64; 3], fov_degrees: f64, moment: &Moment| View {
        name,
        camera: looking(from, to),
        fov_rad: fov_degrees.to_radians(),
        near: 0.05,
        moment: moment.clone(),
    };
    let red = moment(world, Lamp::Red);
    let green = moment(world, Lamp::Green);
    let [x, y, _] = world.spawn.position.to_array();
    let car = [x, y, 0.06];
    match name {
        "oval" => vec![
            on_board(profile, &red),
            look("above", [4.0, 3.0, 7.0], [4.0, 3.0, 0.0], 64.0, &red),
            look("car-front", [x + 0.5, y + 0.32, 0.28], car, 50.0, &red),
            look("car-behind", [x - 0.4, y - 0.3, 0.12], car, 55.0, &turned(&red)),
            look("light-red", [4.6, 0.55, 0.2], [5.3, 0.42, 0.18], 45.0, &red),
            look("outside", [-1.0, -1.2, 2.6], [4.0, 3.0, 0.0], 60.0, &red),
        ],
        "technical" => vec![
            on_board(profile, &green),
            look("above", [4.0, 3.0, 7.0], [4.0, 3.0, 0.0], 64.0, &green),
            look("light-green", [4.7, 0.5, 0.3], [5.5, 0.22, 0.17], 40.0, &green),
            look("ball-and-box", [5.2, 4.15, 0.35], [5.8, 4.55, 0.1], 60.0, &green),
            look("cone", [1.75, 2.0, 0.25], [2.1, 2.35, 0.1], 50.0, &green),
            look("box-in-the-air", [5.7, 0.9, 0.6], [6.3, 1.5, 0.25], 45.0, &lifted(world, &green)),
            look("along", [2.6, 3.2, 0.5], [7.0, 4.6, 0.1], 80.0, &green),
        ],
        "field" => vec![
            on_board(profile, &green),
            look("above", [5.0, 5.0, 9.5], [5.0, 5.0, 0.0], 72.0, &green),
            look("car-above", [x - 0.1, y - 0.1, 0.7], car, 45.0, &turned(&green)),
            look("things", [4.0, 4.0, 2.5], [9.2, 9.2, 0.0], 70.0, &green),
            look("can", [8.7, 0.5, 0.3], [9.2, 0.8, 0.1], 45.0, &green),
        ],
        _ => vec![
            look("front", [1.6, -2.2, 1.5], [1.6, 1.0, 0.35], 60.0, &red),
            look("back", [1.6, 4.2, 1.1], [1.6, 1.0, 0.35], 60.0, &red),
            look("above", [1.6, 1.0, 3.6], [1.6, 1.0, 0.0], 60.0, &red),
        ],
    }
}

/// The initial state of a world, with this lamp lit on all lights.
fn moment(world: &World, lamp: Lamp) -> Moment {
    let lights = world.objects.iter().enumerate().filter(|(_, o)| o.panel.is_some());
    Moment {
        car: CarMoment { pose: world.spawn, tilt: -0.2, ..CarMoment::default() },
        objects: world.objects.iter().map(|o| o.origin).collect(),
        lamps: lights.map(|(i, _)| (i, lamp)).collect(),
    }
}

/// The same moment, but with every joint of the car rotated by a different angle.
fn turned(still: &Moment) -> Moment {
    let mut moment = still.clone();
    moment.car.front_wheels = [0.42, 0.35];
    moment.car.wheel_angles = [0.3, 0.9, 1.7, 2.6];
    (moment.car.pan, moment.car.tilt) = (0.7, 0.35);
    moment
}

/// The same moment, but with the object `box1` rotated and in the air.
fn lifted(world: &World, still: &Moment) -> Moment {
    let mut moment = still.clone();
    if let Some(i) = world.object("box1") {
        moment.objects[i] = Pose::from_xyz_rpy([6.3, 1.5, 0.15], [0.5, -0.4, 1.1]);
    }
    moment
}

/// The view of the on-board camera, without lens distortion.
fn on_board(profile: &Profile, moment: &Moment) -> View {
    View {
        name: "on-board",
        camera: moment.car.camera(profile),
        fov_rad: profile.camera.horizontal_fov_rad,
        near: 0.02,
        moment: moment.clone(),
    }
}

/// The pose of a camera at `from` that looks at `to`.
fn looking(from: [f64; 3], to: [f64; 3]) -> Pose {
    let along = DVec3::from_array(to) - DVec3::from_array(from);
    let flat = libm::hypot(along.x, along.y);
    let yaw = if flat > 0.0 { libm::atan2(along.y, along.x) } else { 0.0 };
    Pose::from_xyz_rpy(from, [0.0, libm::atan2(-along.z, flat), yaw])
}
