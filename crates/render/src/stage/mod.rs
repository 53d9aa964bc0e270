//! A world made ready for drawing: done once, shared by every picture of it.

mod build;
mod chunk;
mod shadow;

pub(crate) use build::Builder;
pub(crate) use chunk::{Chunk, Solid};
pub(crate) use shadow::REACH_M as SHADOW_REACH_M;

use crate::looks::{self, Joint};
use crate::texture::Texture;
use chicane_world::scene::Sun;
use chicane_world::{Pose, Profile, World};
use glam::{DAffine3, DVec3, Vec3};
use std::sync::Arc;

/// Labels in a label picture: nothing, the track, scenery, the car, then the objects in order.
pub mod label {
    /// Sky.
    pub const NOTHING: u16 = 0;
    /// The track.
    pub const TRACK: u16 = 1;
    /// Scenery that is not in the catalogue.
    pub const SCENERY: u16 = 2;
    /// The car.
    pub const CAR: u16 = 3;
    /// The first object of the catalogue; the next ones follow.
    pub const OBJECTS: u16 = 16;
}

/// A world ready to be drawn.
pub struct Stage {
    pub(crate) textures: Vec<Texture>,
    pub(crate) paints: Vec<Paint>,
    pub(crate) solids: Vec<Solid>,
    pub(crate) items: Vec<Item>,
    pub(crate) shadows: Vec<shadow::Shadow>,
    pub(crate) shadow_paint: u32,
    pub(crate) ground_z: f64,
    pub(crate) ambient: Vec3,
    pub(crate) sun: Vec3,
    pub(crate) sun_in_sky: Sun,
    /// Towards the sun; unit length.
    pub(crate) to_sun: Vec3,
    pub(crate) profile: Arc<Profile>,
}

/// How a surface is painted, colours squared to linear.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    pub(crate) colour: Vec3,
    pub(crate) emissive: Vec3,
    pub(crate) texture: Option<u32>,
    pub(crate) opacity: f32,
    pub(crate) blended: bool,
}

/// Where an item's frame is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Frame {
    World,
    Object(usize),
    Car(Joint),
}

/// When an item is drawn, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Always,
    /// A lamp of the light that is this object: lit while it shows this colour.
    Lamp(usize, looks::Lamp),
    /// The yellow disc of a light: only there while it is yellow.
    Disc(usize),
}

/// A thing that is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) solid: usize,
    pub(crate) frame: Frame,
    pub(crate) local: DAffine3,
    /// Paint of every group instead of its own.
    pub(crate) paint: Option<u32>,
    pub(crate) shown: Shown,
    pub(crate) opacity: f32,
    pub(crate) label: u16,
}

impl Stage {
    /// Makes a world and the robot ready.
    pub fn new(world: &World, profile: Arc<Profile>) -> Stage {
        let mut builder = Builder::default();
        builder.scene(&world.scene, |_| true);
        builder.yellow_discs(world);
        builder.car(&profile);
        let shadow = builder.texture(&shadow::picture());
        let shadow_paint = builder.paint(Paint {
            colour: Vec3::ZERO,
            emissive: Vec3::ZERO,
            texture: Some(shadow),
            opacity: 1.0,
            blended: true,
        });
        let direction = DVec3::from_array(world.scene.sun.direction).normalize_or(DVec3::NEG_Z);
        Stage {
            textures: builder.textures,
            paints: builder.paints,
            solids: builder.solids,
            items: builder.items,
            shadows: shadow::all(world, &profile),
            shadow_paint,
            ground_z: world.ground.z,
            ambient: vec3(world.scene.ambient),
            sun: vec3(world.scene.sun.colour),
            sun_in_sky: world.scene.sun,
            to_sun: -direction.as_vec3(),
            profile,
        }
    }

    /// Bytes that textures and meshes take.
    pub fn bytes(&self) -> usize {
        let textures: usize = self.textures.iter().map(Texture::bytes).sum();
        textures + self.solids.iter().map(Solid::bytes).sum::<usize>()
    }

    /// Triangles of everything.
    pub fn triangles(&self) -> usize {
        self.items.iter().map(|i| self.solids[i.solid].triangles()).sum()
    }
}

fn vec3(v: [f64; 3]) -> Vec3 {
    DVec3::from_array(v).as_vec3()
}

pub(crate) fn affine(pose: &Pose) -> DAffine3 {
    DAffine3::from_rotation_translation(pose.rotation, pose.position)
}
