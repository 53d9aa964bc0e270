//! A stage is a world that is prepared for drawing. It is prepared once, and all pictures of the
//! world use it.

mod build;
mod built_in;
mod chunk;
mod shadow;

pub(crate) use build::StageBuilder;
pub(crate) use chunk::{Chunk, ChunkedMesh};
pub(crate) use shadow::FADE_HEIGHT_M as SHADOW_FADE_HEIGHT_M;

use crate::looks::{self, Joint, SkyColours};
use crate::texture::Texture;
use chicane_world::scene::Sun;
use chicane_world::{Pose, Profile, World};
use glam::{DAffine3, DMat3, DVec3, Mat3A, Vec3, Vec3A};
use std::sync::Arc;

/// Limit on the corners whose light is stored. The light is stored for each item, so many items
/// with the same large mesh would need much memory.
const MAX_FIXED_LIGHTS: usize = 2_000_000;

/// Values of [`crate::Layers::labels`]. The label of a pixel tells which opaque surface the pixel
/// shows.
pub mod label {
    /// The pixel shows no opaque surface, for example only the sky.
    pub const NOTHING: u16 = 0;
    /// The track.
    pub const TRACK: u16 = 1;
    /// Scenery. It is not in the list of objects.
    pub const SCENERY: u16 = 2;
    /// The car.
    pub const CAR: u16 = 3;
    /// The first object of the world. Object `i` has the label `OBJECTS + i`, but at most
    /// `u16::MAX`.
    pub const OBJECTS: u16 = 16;
}

/// A world and a car prepared for drawing: decoded textures, meshes in chunks, and lights.
pub struct Stage {
    pub(crate) textures: Vec<Texture>,
    pub(crate) paints: Vec<Paint>,
    pub(crate) meshes: Vec<ChunkedMesh>,
    pub(crate) items: Vec<Item>,
    pub(crate) shadows: Vec<shadow::Shadow>,
    pub(crate) shadow_paint: u32,
    /// Height of the ground, m.
    pub(crate) ground_z: f64,
    /// Ambient light, linear RGB.
    pub(crate) ambient: Vec3,
    /// Light of the sun, linear RGB.
    pub(crate) sun: Vec3,
    /// The sun as the world describes it, for drawing the sky.
    pub(crate) sun_in_sky: Sun,
    pub(crate) sky: SkyColours,
    /// Unit vector towards the sun.
    pub(crate) to_sun: Vec3,
    pub(crate) profile: Arc<Profile>,
}

/// A material with linear colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    pub(crate) colour: Vec3,
    pub(crate) emissive: Vec3,
    pub(crate) texture: Option<u32>,
    pub(crate) opacity: f32,
    pub(crate) blended: bool,
}

/// The coordinate frame in which the pose of an item or a shadow is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ParentFrame {
    World,
    Object(usize),
    Car(Joint),
}

/// When an item is drawn, and whether it is a lamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    Always,
    /// A lamp of the traffic light with this object index. The lamp is lit while the traffic light
    /// shows the colour of the lamp.
    Lamp(usize, looks::Lamp),
    /// The yellow disc of the traffic light with this object index. The disc is drawn only while
    /// the traffic light shows yellow.
    Disc(usize),
}

/// A mesh, with its pose and the paint in which the mesh is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// Index in [`Stage::meshes`].
    pub(crate) mesh: usize,
    pub(crate) parent: ParentFrame,
    /// Pose and scale in the parent frame.
    pub(crate) local: DAffine3,
    /// Index of a paint that replaces the paint of every chunk; `None` if the chunks keep their own
    /// paints.
    pub(crate) paint: Option<u32>,
    pub(crate) visibility: Visibility,
    pub(crate) opacity: f32,
    pub(crate) label: u16,
    /// For each chunk of the mesh, the light of its corners as in [`crate::raster::Corner`]. Empty if the
    /// light is computed for each picture, because the item moves or is a lamp, or because
    /// [`MAX_FIXED_LIGHTS`] is reached.
    pub(crate) lights: Vec<Vec<Vec3>>,
}

impl Stage {
    /// Prepares a world and the car with this profile.
    pub fn new(world: &World, profile: Arc<Profile>) -> Stage {
        let mut builder = StageBuilder::default();
        builder.add_scene(&world.scene, |_| true);
        builder.add_yellow_discs(world);
        builder.add_car(&profile);
        let shadow = builder.add_picture(&shadow::picture());
        let shadow_paint = builder.add_paint(Paint {
            colour: Vec3::ZERO,
            emissive: Vec3::ZERO,
            texture: Some(shadow),
            opacity: 1.0,
            blended: true,
        });
        let direction = DVec3::from_array(world.scene.sun.direction).normalize_or(DVec3::NEG_Z);
        let mut stage = Stage {
            textures: builder.textures,
            paints: builder.paints,
            meshes: builder.meshes,
            items: builder.items,
            shadows: shadow::all(world, &profile),
            shadow_paint,
            ground_z: world.ground.z,
            ambient: vec3(world.scene.ambient),
            sun: vec3(world.scene.sun.colour),
            sun_in_sky: world.scene.sun,
            sky: SkyColours::new(world.scene.background, |v| v * v),
            to_sun: -direction.as_vec3(),
            profile,
        };
        stage.store_lights();
        stage
    }

    /// Stores the light of the items that never move, because this light is the same in all
    /// pictures.
    fn store_lights(&mut self) {
        let mut left = MAX_FIXED_LIGHTS;
        let lights: Vec<Vec<Vec<Vec3>>> = self
            .items
            .iter()
            .map(|item| {
                let chunks = &self.meshes[item.mesh].chunks;
                let corners: usize = chunks.iter().map(|chunk| chunk.positions.len()).sum();
                let is_fixed = item.parent == ParentFrame::World && item.visibility == Visibility::Always;
                if !is_fixed || corners > left {
                    return Vec::new();
                }
                left -= corners;
                let normals = normals(&item.local.matrix3);
                let light = |chunk: &Chunk| {
                    let colour = self.paint(item, chunk).colour;
                    chunk.normals.iter().map(|normal| self.light(colour, &normals, *normal)).collect()
                };
                chunks.iter().map(light).collect()
            })
            .collect();
        for (item, lights) in self.items.iter_mut().zip(lights) {
            item.lights = lights;
        }
    }

    /// The paint in which a chunk of an item is drawn.
    pub(crate) fn paint(&self, item: &Item, chunk: &Chunk) -> &Paint {
        &self.paints[item.paint.unwrap_or(chunk.paint) as usize]
    }

    /// Light that a surface of this colour reflects, linear RGB. `normals` transforms the normal to
    /// the world frame.
    pub(crate) fn light(&self, colour: Vec3, normals: &Mat3A, normal: Vec3A) -> Vec3 {
        let normal = Vec3::from((*normals * normal).normalize_or(Vec3A::Z));
        let from_sky = 0.7 + 0.3 * normal.z;
        colour * (self.ambient * from_sky + self.sun * normal.dot(self.to_sun).max(0.0))
    }

    /// Memory of the textures, meshes and lights, bytes. All stages share the built-in textures.
    pub fn bytes(&self) -> usize {
        let textures: usize = self.textures.iter().map(Texture::bytes).sum();
        let lights: usize = self.items.iter().flat_map(|item| &item.lights).map(Vec::len).sum();
        let lights = lights * size_of::<Vec3>();
        textures + self.meshes.iter().map(ChunkedMesh::bytes).sum::<usize>() + lights
    }

    /// Number of triangles of all items.
    pub fn triangles(&self) -> usize {
        self.items.iter().map(|i| self.meshes[i.mesh].triangles()).sum()
    }
}

/// The matrix that transforms the normals of an item: the inverse transpose of `axes`, or the
/// identity if `axes` has no inverse.
pub(crate) fn normals(axes: &DMat3) -> Mat3A {
    let determinant = axes.determinant();
    if determinant.abs() < 1e-18 {
        return Mat3A::IDENTITY;
    }
    Mat3A::from(axes.inverse().transpose().as_mat3())
}

fn vec3(v: [f64; 3]) -> Vec3 {
    DVec3::from_array(v).as_vec3()
}

/// A pose as a transformation matrix.
pub(crate) fn affine(pose: &Pose) -> DAffine3 {
    DAffine3::from_rotation_translation(pose.rotation, pose.position)
}
