//! A world made ready for drawing: done once, shared by every picture of it.

mod chunk;
mod shadow;

pub(crate) use chunk::{Chunk, Solid};
pub(crate) use shadow::REACH_M as SHADOW_REACH_M;

use crate::decode;
use crate::image::Image;
use crate::looks::{self, Joint};
use crate::texture::{MAX_SIDE, Texture};
use chicane_world::scene::{Instance, Look, Material, Mesh, Owner, Role, Sun, TextureSource};
use chicane_world::{Pose, Profile, Scene, World};
use glam::{DAffine3, DVec3, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of all textures; when they are reached the rest is kept small.
const MAX_TEXTURE_BYTES: usize = 256 << 20;
/// Longest side of those.
const SMALL_SIDE: usize = 64;
/// Triangles of a world; what comes after them is not drawn.
const MAX_TRIANGLES: usize = 4_000_000;

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
        builder.scene(&world.scene);
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

/// From eight-bit-like to linear.
fn linear(v: [f32; 3]) -> Vec3 {
    let v = Vec3::from_array(v).clamp(Vec3::ZERO, Vec3::ONE);
    v * v
}

#[derive(Default)]
struct Builder {
    textures: Vec<Texture>,
    texture_bytes: usize,
    paints: Vec<Paint>,
    solids: Vec<Solid>,
    items: Vec<Item>,
    triangles: usize,
}

impl Builder {
    fn texture(&mut self, image: &Image) -> u32 {
        let side = if self.texture_bytes < MAX_TEXTURE_BYTES { MAX_SIDE } else { SMALL_SIDE };
        let texture = Texture::new(image, side);
        self.texture_bytes += texture.bytes();
        self.textures.push(texture);
        self.textures.len() as u32 - 1
    }

    fn paint(&mut self, paint: Paint) -> u32 {
        self.paints.push(paint);
        self.paints.len() as u32 - 1
    }

    /// A material; its texture's index is counted from `first`, or is missing.
    fn material(&mut self, material: &Material, texture: Option<u32>) -> u32 {
        let [r, g, b, a] = material.colour;
        let holes = texture.is_some_and(|t| self.textures[t as usize].has_holes);
        let opacity = if a.is_finite() { a.clamp(0.0, 1.0) } else { 1.0 };
        self.paint(Paint {
            colour: linear([r, g, b]),
            emissive: linear(material.emissive),
            texture,
            opacity,
            blended: holes,
        })
    }

    fn solid(&mut self, mesh: &Mesh, paint_of: impl Fn(usize) -> u32) -> usize {
        let room = MAX_TRIANGLES.saturating_sub(self.triangles);
        let solid = Solid::new(mesh, room, paint_of);
        self.triangles += solid.triangles();
        self.solids.push(solid);
        self.solids.len() - 1
    }

    fn scene(&mut self, scene: &Scene) {
        let textures: Vec<Option<u32>> = scene
            .textures
            .iter()
            .map(|t| match &t.source {
                TextureSource::BuiltIn(kind) => Some(self.texture(&looks::texture(*kind))),
                TextureSource::File { bytes, .. } => decode::picture(bytes).map(|i| self.texture(&i)),
            })
            .collect();
        let paints: Vec<u32> = scene
            .materials
            .iter()
            .map(|m| self.material(m, m.texture.and_then(|t| textures.get(t).copied().flatten())))
            .collect();
        let plain = self.material(&Material::default(), None);
        let paint_of = |i: usize| paints.get(i).copied().unwrap_or(plain);
        let meshes: Vec<usize> = scene.meshes.iter().map(|m| self.solid(m, paint_of)).collect();
        let mut built_in = BTreeMap::new();
        for instance in &scene.instances {
            let solid = match &instance.look {
                Look::Mesh(i) => meshes.get(*i).copied(),
                Look::BuiltIn(kind, _) => {
                    let known = built_in.get(kind).copied();
                    let solid = known.unwrap_or_else(|| self.model(&looks::object(*kind)));
                    built_in.insert(*kind, solid);
                    Some(solid)
                }
                look => looks::shape(look).map(|mesh| self.solid(&mesh, |_| plain)),
            };
            if let Some(solid) = solid {
                self.instance(instance, solid, instance.material.map(paint_of));
            }
        }
    }

    fn instance(&mut self, instance: &Instance, solid: usize, paint: Option<u32>) {
        let scale = DVec3::from_array(instance.scale);
        let stretch = match &instance.look {
            Look::BuiltIn(_, size) => scale * DVec3::from_array(*size),
            _ => scale,
        };
        let (frame, label) = match instance.owner {
            Owner::Track => (Frame::World, label::TRACK),
            Owner::Scenery => (Frame::World, label::SCENERY),
            Owner::Object(i) => (Frame::Object(i), object_label(i)),
        };
        let shown = match (instance.role, instance.owner) {
            (Role::LampRed, Owner::Object(i)) => Shown::Lamp(i, looks::Lamp::Red),
            (Role::LampGreen, Owner::Object(i)) => Shown::Lamp(i, looks::Lamp::Green),
            _ => Shown::Always,
        };
        let local = affine(&instance.pose) * DAffine3::from_scale(stretch);
        let opacity = instance.opacity as f32;
        if local.is_finite() && opacity > 0.004 {
            self.items.push(Item { solid, frame, local, paint, shown, opacity: opacity.min(1.0), label });
        }
    }

    /// The disc before the screen of every light.
    fn yellow_discs(&mut self, world: &World) {
        for (i, object) in world.objects.iter().enumerate() {
            let Some(panel) = &object.panel else { continue };
            let mesh = looks::shapes::cylinder(panel.lamp_radius, 0.004);
            let paint = self.material(&Material::default(), None);
            let solid = self.solid(&mesh, |_| paint);
            // A cylinder stands along z; the screen faces its own x.
            let turned = Pose::from_xyz_rpy([0.006, 0.0, 0.0], [0.0, std::f64::consts::FRAC_PI_2, 0.0]);
            let local = affine(&panel.pose.then(&turned));
            let (shown, label) = (Shown::Disc(i), object_label(i));
            self.items.push(Item {
                solid,
                frame: Frame::Object(i),
                local,
                paint: None,
                shown,
                opacity: 1.0,
                label,
            });
        }
    }

    fn car(&mut self, profile: &Profile) {
        for part in looks::car(profile) {
            let solid = self.model(&part.model);
            let (frame, local) = (Frame::Car(part.joint), affine(&part.pose));
            let (paint, shown, label) = (None, Shown::Always, label::CAR);
            self.items.push(Item { solid, frame, local, paint, shown, opacity: 1.0, label });
        }
    }

    /// A look with materials and textures of its own.
    fn model(&mut self, model: &looks::Model) -> usize {
        let textures: Vec<u32> = model.textures.iter().map(|t| self.texture(t)).collect();
        let paints: Vec<u32> = model
            .materials
            .iter()
            .map(|m| self.material(m, m.texture.and_then(|t| textures.get(t).copied())))
            .collect();
        let plain = self.material(&Material::default(), None);
        self.solid(&model.mesh, |i| paints.get(i).copied().unwrap_or(plain))
    }
}

fn object_label(i: usize) -> u16 {
    u16::try_from(i).ok().and_then(|i| label::OBJECTS.checked_add(i)).unwrap_or(u16::MAX)
}

pub(crate) fn affine(pose: &Pose) -> DAffine3 {
    DAffine3::from_rotation_translation(pose.rotation, pose.position)
}
