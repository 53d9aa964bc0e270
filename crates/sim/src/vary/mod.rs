//! What a seed changes in a world.
//!
//! [`Overlay::draw`] is a pure function of a published world, a document `vary` and a seed. The
//! same arguments give the same overlay on every machine, and seed 0 gives an empty overlay. The
//! published world stays unchanged: [`Overlay::world`] and [`Overlay::profile`] make changed
//! copies, and [`crate::Sim::varied`] simulates them.
//!
//! Every number has a random stream of its own, so a new field in the document does not change the
//! numbers of the other fields.

mod apply;
mod draw;
mod footprint;
mod jitter;
mod scatter;
mod site;
mod start;

use crate::encode::Encode;
use chicane_vary::{Range, Vary};
use chicane_world::World;
use chicane_world::readings::TICKS_PER_SECOND;
use draw::{Draw, Item};
use serde::Serialize;
use site::Site;

pub use scatter::ScatteredKind;

/// What one seed changes in one world. A part that is `None` or empty is as published.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Overlay {
    /// Shift of the start pose.
    pub start: Option<StartShift>,
    /// Objects with another pose.
    pub moved: Vec<MovedObject>,
    /// Additional objects.
    pub scattered: Vec<ScatteredObject>,
    /// Lights that are red at the start.
    pub red_lights: Vec<RedLight>,
    /// Factor of the picture's brightness at the start.
    pub brightness: Option<f64>,
    /// Factor of the grip of the tyres. It includes the grip of the road surface that the seed
    /// selects.
    pub friction: Option<f64>,
    /// Factor of the car's mass.
    pub mass: Option<f64>,
    /// Factor of the lidar's noise.
    pub lidar_noise: Option<f64>,
    /// Factor of the noise of gyro and accelerometer.
    pub imu_noise: Option<f64>,
    /// Factor of the camera's noise.
    pub camera_noise: Option<f64>,
    /// Delay of every drive command, in ticks.
    pub latency_ticks: u32,
    /// The colour by which the colour of the road is multiplied, RGB 0..1.
    pub road_tint: Option<[f32; 3]>,
}

/// Shift of the start pose.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct StartShift {
    /// Along the road, m; positive is forward.
    pub along: f64,
    /// Across the road, m; positive is left.
    pub across: f64,
    /// Turn of the car, rad; positive is left.
    pub yaw: f64,
}

/// An object with another pose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MovedObject {
    /// Name of the object.
    pub name: String,
    /// New x and y, m.
    pub to: [f64; 2],
    /// Turn about z relative to the published pose, rad; positive is left.
    pub turn: f64,
}

/// An additional object beside the road.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScatteredObject {
    /// Name of the object. No other object of the world has this name.
    pub name: String,
    /// Kind of the object.
    pub kind: ScatteredKind,
    /// x and y, m.
    pub at: [f64; 2],
    /// Heading, rad.
    pub yaw: f64,
}

/// A light that is red at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RedLight {
    /// Name of the light.
    pub name: String,
    /// Ticks until the light turns green; at least 1.
    pub ticks: u32,
}

impl Overlay {
    /// What a seed changes in a published world. Seed 0 changes nothing.
    pub fn draw(world: &World, vary: &Vary, seed: u64) -> Overlay {
        if seed == 0 || vary.is_empty() {
            return Overlay::default();
        }
        let draw = Draw::new(seed);
        let mut site = Site::of(world);
        let start = start::draw(world, &site, &vary.start, draw);
        site.keep_start_free(world, start.as_ref());
        let moved = jitter::draw(world, &mut site, &vary.objects, draw);
        let scattered = scatter::draw(world, &mut site, vary.objects.scatter, draw);
        let number = |item: Item, range: Option<Range>| range.map(|range| draw.number(item, 0, range));
        let surface = draw.one_of(Item::Surface, &vary.surface);
        let grip = surface.map(|surface| surface.grip());
        let friction = number(Item::Friction, vary.friction);
        Overlay {
            start,
            moved,
            scattered,
            red_lights: red_lights(world, vary.lights, draw),
            brightness: number(Item::Brightness, vary.brightness),
            friction: friction.map(|factor| factor * grip.unwrap_or(1.0)).or(grip),
            mass: number(Item::Mass, vary.mass),
            lidar_noise: number(Item::LidarNoise, vary.noise.lidar),
            imu_noise: number(Item::ImuNoise, vary.noise.imu),
            camera_noise: number(Item::CameraNoise, vary.noise.camera),
            latency_ticks: number(Item::Latency, vary.latency).map_or(0, ticks),
            road_tint: surface.map(|surface| surface.tint()),
        }
    }

    /// Whether the overlay changes nothing.
    pub fn is_none(&self) -> bool {
        *self == Overlay::default()
    }

    /// The overlay as bytes. Equal overlays give equal bytes on every machine.
    pub fn bytes(&self) -> Vec<u8> {
        self.encode()
    }

    /// Whether the overlay changes something that the renderer prepares once for a world: the list
    /// of objects, the colour of the road, or the noise of the camera. Poses of objects and the
    /// brightness do not count, because the renderer applies them to each picture.
    pub fn changes_scene(&self) -> bool {
        !self.scattered.is_empty() || self.road_tint.is_some() || self.camera_noise.is_some()
    }
}

/// Draws the time for which each light is red. A light whose time rounds to 0 ticks is green from
/// the start.
fn red_lights(world: &World, phase: Option<Range>, draw: Draw) -> Vec<RedLight> {
    let Some(phase) = phase else { return Vec::new() };
    let red = world.lights().map(|(_, light)| &light.name).enumerate().map(|(i, name)| RedLight {
        name: name.clone(),
        ticks: ticks(draw.number(Item::Light, i as u64, phase)),
    });
    red.filter(|light| light.ticks > 0).collect()
}

/// The nearest number of ticks.
fn ticks(seconds: f64) -> u32 {
    (seconds * TICKS_PER_SECOND as f64).round() as u32
}
