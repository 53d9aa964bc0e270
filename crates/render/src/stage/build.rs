//! Scenes to items: textures decoded, materials to paints, meshes to chunks, each within limits.

use super::{Frame, Item, Paint, Shown, Solid, affine, label};
use crate::decode;
use crate::image::Image;
use crate::looks;
use crate::texture::{MAX_SIDE, Texture};
use chicane_world::scene::{Instance, Look, Material, Mesh, Owner, Role, TextureSource};
use chicane_world::{Pose, Profile, World, WorldScene};
use glam::{DAffine3, DVec3, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of all textures; when they are reached the rest is kept small.
const MAX_TEXTURE_BYTES: usize = 256 << 20;
/// Longest side of those.
const SMALL_SIDE: usize = 64;
/// Triangles of a world; what comes after them is not drawn.
const MAX_TRIANGLES: usize = 4_000_000;

/// What is being made ready.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) textures: Vec<Texture>,
    texture_bytes: usize,
    pub(crate) paints: Vec<Paint>,
    pub(crate) solids: Vec<Solid>,
    pub(crate) items: Vec<Item>,
    triangles: usize,
}

impl Builder {
    pub(super) fn texture(&mut self, image: &Image) -> u32 {
        let side = if self.texture_bytes < MAX_TEXTURE_BYTES { MAX_SIDE } else { SMALL_SIDE };
        let texture = Texture::new(image, side);
        self.texture_bytes += texture.bytes();
        self.textures.push(texture);
        self.textures.len() as u32 - 1
    }

    pub(super) fn paint(&mut self, paint: Paint) -> u32 {
        self.paints.push(paint);
        self.paints.len() as u32 - 1
    }

    /// A material with its texture, if it has one that can be read.
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

    /// The instances that are wanted, with the meshes and textures that they need and no others.
    pub(crate) fn scene(&mut self, scene: &WorldScene, wanted: impl Fn(&Instance) -> bool) {
        let instances: Vec<&Instance> = scene.instances.iter().filter(|i| wanted(i)).collect();
        let used = used_textures(scene, &instances);
        let textures: Vec<Option<u32>> = scene
            .textures
            .iter()
            .enumerate()
            .map(|(i, t)| match &t.source {
                _ if !used.contains(&i) => None,
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
        let (mut meshes, mut built_in) = (BTreeMap::new(), BTreeMap::new());
        for instance in instances {
            let solid = match &instance.look {
                Look::Mesh(i) => scene
                    .meshes
                    .get(*i)
                    .map(|mesh| *meshes.entry(*i).or_insert_with(|| self.solid(mesh, paint_of))),
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
    pub(super) fn yellow_discs(&mut self, world: &World) {
        for (i, object) in world.objects.iter().enumerate() {
            let Some(panel) = &object.panel else { continue };
            let mesh = looks::cylinder(panel.lamp_radius, 0.004);
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

    pub(super) fn car(&mut self, profile: &Profile) {
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

/// Textures that some instances show.
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

/// From eight-bit-like to linear.
fn linear(v: [f32; 3]) -> Vec3 {
    let v = Vec3::from_array(v).clamp(Vec3::ZERO, Vec3::ONE);
    v * v
}
