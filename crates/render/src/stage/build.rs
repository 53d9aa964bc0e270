//! Turns a scene into items: decodes textures, converts materials to paints, and splits meshes into
//! chunks. Textures and triangles are limited, because worlds are untrusted input.

use super::{ChunkedMesh, Item, Paint, ParentFrame, Visibility, affine, built_in, label};
use crate::decode;
use crate::image::Image;
use crate::looks;
use crate::texture::{MAX_SIDE, Texture};
use chicane_world::scene::{
    BuiltInMesh, BuiltInTexture, Instance, Look, Material, Mesh, Owner, Role, TextureSource,
};
use chicane_world::{Pose, Profile, World, WorldScene};
use glam::{DAffine3, DVec3, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// Memory limit of the textures, bytes. Once the limit is reached, further textures are scaled down
/// to [`SMALL_SIDE`].
const MAX_TEXTURE_BYTES: usize = 128 << 20;
/// Longest side of a texture that is added after the memory limit is reached, texels.
const SMALL_SIDE: usize = 64;
/// Limit on the triangles of all meshes of a stage. Triangles beyond the limit are dropped.
const MAX_TRIANGLES: usize = 4_000_000;

/// Collects the parts of a stage.
#[derive(Default)]
pub(crate) struct StageBuilder {
    pub(crate) textures: Vec<Texture>,
    texture_bytes: usize,
    pub(crate) paints: Vec<Paint>,
    pub(crate) meshes: Vec<ChunkedMesh>,
    pub(crate) items: Vec<Item>,
    triangles: usize,
}

impl StageBuilder {
    pub(super) fn add_picture(&mut self, image: &Image) -> u32 {
        let side = if self.is_full() { SMALL_SIDE } else { MAX_SIDE };
        self.add_texture(Texture::new(image, side))
    }

    fn add_built_in_texture(&mut self, kind: BuiltInTexture) -> u32 {
        if self.is_full() {
            return self.add_picture(&looks::texture(kind));
        }
        self.add_texture(built_in::texture(kind))
    }

    fn add_texture(&mut self, texture: Texture) -> u32 {
        self.texture_bytes += texture.bytes();
        self.textures.push(texture);
        self.textures.len() as u32 - 1
    }

    /// Whether the memory limit of the textures is reached.
    fn is_full(&self) -> bool {
        self.texture_bytes >= MAX_TEXTURE_BYTES
    }

    pub(super) fn add_paint(&mut self, paint: Paint) -> u32 {
        self.paints.push(paint);
        self.paints.len() as u32 - 1
    }

    /// Adds a material as a paint, and returns the index of the paint. `texture` is the index of
    /// the texture of the material, or `None` if the material has no texture or the texture cannot
    /// be decoded.
    fn add_material(&mut self, material: &Material, texture: Option<u32>) -> u32 {
        let [r, g, b, a] = material.colour;
        let blended = texture.is_some_and(|t| self.textures[t as usize].has_transparency);
        let opacity = if a.is_finite() { a.clamp(0.0, 1.0) } else { 1.0 };
        self.add_paint(Paint {
            colour: linear([r, g, b]),
            emissive: linear(material.emissive),
            texture,
            opacity,
            blended,
        })
    }

    fn add_mesh(&mut self, mesh: &Mesh, paint_of: impl Fn(usize) -> u32) -> usize {
        let room = MAX_TRIANGLES.saturating_sub(self.triangles);
        let chunked = ChunkedMesh::new(mesh, room, paint_of);
        self.triangles += chunked.triangles();
        self.meshes.push(chunked);
        self.meshes.len() - 1
    }

    /// Adds the instances that `wanted` selects. Adds only the meshes and textures that these
    /// instances use.
    pub(crate) fn add_scene(&mut self, scene: &WorldScene, wanted: impl Fn(&Instance) -> bool) {
        let instances: Vec<&Instance> = scene.instances.iter().filter(|i| wanted(i)).collect();
        let used = used_textures(scene, &instances);
        let textures: Vec<Option<u32>> = scene
            .textures
            .iter()
            .enumerate()
            .map(|(i, t)| match &t.source {
                _ if !used.contains(&i) => None,
                TextureSource::BuiltIn(kind) => Some(self.add_built_in_texture(*kind)),
                TextureSource::File { bytes, .. } => decode::picture(bytes).map(|i| self.add_picture(&i)),
            })
            .collect();
        let paints: Vec<u32> = scene
            .materials
            .iter()
            .map(|m| self.add_material(m, m.texture.and_then(|t| textures.get(t).copied().flatten())))
            .collect();
        let plain = self.add_material(&Material::default(), None);
        let paint_of = |i: usize| paints.get(i).copied().unwrap_or(plain);
        let (mut meshes, mut built_in) = (BTreeMap::new(), BTreeMap::new());
        for instance in instances {
            let mesh = match &instance.look {
                Look::Mesh(i) => scene
                    .meshes
                    .get(*i)
                    .map(|mesh| *meshes.entry(*i).or_insert_with(|| self.add_mesh(mesh, paint_of))),
                Look::BuiltIn(kind, _) => {
                    let known = built_in.get(kind).copied();
                    let mesh = known.unwrap_or_else(|| self.add_built_in_model(*kind));
                    built_in.insert(*kind, mesh);
                    Some(mesh)
                }
                look => looks::shape(look).map(|mesh| self.add_mesh(&mesh, |_| plain)),
            };
            if let Some(mesh) = mesh {
                self.add_instance(instance, mesh, instance.material.map(paint_of));
            }
        }
    }

    fn add_instance(&mut self, instance: &Instance, mesh: usize, paint: Option<u32>) {
        let scale = DVec3::from_array(instance.scale);
        let stretch = match &instance.look {
            Look::BuiltIn(_, size) => scale * DVec3::from_array(*size),
            _ => scale,
        };
        let (parent, label) = match instance.owner {
            Owner::Track => (ParentFrame::World, label::TRACK),
            Owner::Scenery => (ParentFrame::World, label::SCENERY),
            Owner::Object(i) => (ParentFrame::Object(i), object_label(i)),
        };
        let visibility = match (instance.role, instance.owner) {
            (Role::LampRed, Owner::Object(i)) => Visibility::Lamp(i, looks::Lamp::Red),
            (Role::LampGreen, Owner::Object(i)) => Visibility::Lamp(i, looks::Lamp::Green),
            _ => Visibility::Always,
        };
        let local = affine(&instance.pose) * DAffine3::from_scale(stretch);
        let opacity = instance.opacity as f32;
        if local.is_finite() && opacity > 0.004 {
            self.items.push(Item {
                mesh,
                parent,
                local,
                paint,
                visibility,
                opacity: opacity.min(1.0),
                label,
                lights: Vec::new(),
            });
        }
    }

    /// Adds a yellow disc in front of the screen of every traffic light.
    pub(super) fn add_yellow_discs(&mut self, world: &World) {
        for (i, object) in world.objects.iter().enumerate() {
            let Some(panel) = &object.panel else { continue };
            let disc = looks::cylinder(panel.lamp_radius, 0.004);
            let paint = self.add_material(&Material::default(), None);
            let mesh = self.add_mesh(&disc, |_| paint);
            // The disc is a flat cylinder. The axis of a cylinder is z, but the normal of the
            // screen is x.
            let turned = Pose::from_xyz_rpy([0.006, 0.0, 0.0], [0.0, std::f64::consts::FRAC_PI_2, 0.0]);
            let local = affine(&panel.pose.then(&turned));
            let (visibility, label) = (Visibility::Disc(i), object_label(i));
            self.items.push(Item {
                mesh,
                parent: ParentFrame::Object(i),
                local,
                paint: None,
                visibility,
                opacity: 1.0,
                label,
                lights: Vec::new(),
            });
        }
    }

    pub(super) fn add_car(&mut self, profile: &Profile) {
        for part in looks::car(profile) {
            let mesh = self.add_model(&part.model);
            let (parent, local) = (ParentFrame::Car(part.joint), affine(&part.pose));
            let (paint, visibility, label) = (None, Visibility::Always, label::CAR);
            let lights = Vec::new();
            self.items.push(Item { mesh, parent, local, paint, visibility, opacity: 1.0, label, lights });
        }
    }

    /// Adds the built-in model of an object. Returns the index of its mesh.
    fn add_built_in_model(&mut self, kind: BuiltInMesh) -> usize {
        if self.is_full() {
            return self.add_model(&looks::object(kind));
        }
        let model = built_in::model(kind);
        let textures: Vec<u32> = model.textures.iter().map(|t| self.add_texture(t.clone())).collect();
        self.add_with_materials(&model.mesh, &model.materials, &textures)
    }

    /// Adds a model with its own materials and textures. Returns the index of its mesh.
    fn add_model(&mut self, model: &looks::Model) -> usize {
        let textures: Vec<u32> = model.textures.iter().map(|image| self.add_picture(image)).collect();
        self.add_with_materials(&model.mesh, &model.materials, &textures)
    }

    /// Adds a mesh and its materials, whose textures have these indices.
    fn add_with_materials(&mut self, mesh: &Mesh, materials: &[Material], textures: &[u32]) -> usize {
        let paints: Vec<u32> = materials
            .iter()
            .map(|m| self.add_material(m, m.texture.and_then(|t| textures.get(t).copied())))
            .collect();
        let plain = self.add_material(&Material::default(), None);
        self.add_mesh(mesh, |i| paints.get(i).copied().unwrap_or(plain))
    }
}

/// Indices of the textures that these instances use.
fn used_textures(scene: &WorldScene, instances: &[&Instance]) -> BTreeSet<usize> {
    let mut meshes = BTreeSet::new();
    let mut used = BTreeSet::new();
    let mut note = |material: usize| used.extend(scene.materials.get(material).and_then(|m| m.texture));
    for instance in instances {
        match (instance.material, &instance.look) {
            (Some(material), _) => note(material),
            (None, Look::Mesh(i)) if meshes.insert(*i) => {
                let groups = scene.meshes.get(*i).map(|m| m.groups.iter());
                groups.into_iter().flatten().for_each(|g| note(g.material));
            }
            _ => {}
        }
    }
    used
}

fn object_label(i: usize) -> u16 {
    u16::try_from(i).ok().and_then(|i| label::OBJECTS.checked_add(i)).unwrap_or(u16::MAX)
}

/// Converts a display colour, 0..1, to linear light.
fn linear(v: [f32; 3]) -> Vec3 {
    let v = Vec3::from_array(v).clamp(Vec3::ZERO, Vec3::ONE);
    v * v
}
