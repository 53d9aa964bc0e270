//! The scene: what every visual looks like and where it is drawn.

use super::body::{Body, Part};
use super::colours::script_colour;
use super::extents::Extents;
use super::made::{flat, key_of};
use super::meshes::{MAX_ALL_READ, MeshFound, MeshKey, Meshes, point};
use super::objects::from_z_to;
use super::solids::polyline_extents;
use super::standard::built_in_extents;
use super::textures::Textures;
use super::uri::folder_of;
use crate::bundle::Assets;
use crate::collada;
use crate::error::{Error, Place, Warnings};
use crate::pose::Pose;
use crate::scene::{Group, Instance, Look, Material, Mesh, Owner, Role, Scene};
use crate::spec::{Geometry, MaterialSpec, VisualSpec};
use crate::xml::excerpt;
use glam::DVec3;
use std::collections::BTreeMap;
use std::sync::Arc;

type MaterialKey = ([u32; 4], [u32; 3], Option<usize>);

/// A scene that is being made.
pub(super) struct Looks<'a> {
    scene: Scene,
    textures: Textures<'a>,
    materials: BTreeMap<MaterialKey, usize>,
    /// By what they show and which axes are mirrored.
    meshes: BTreeMap<(MeshKey, [bool; 3]), usize>,
    polylines: BTreeMap<Vec<u64>, usize>,
    /// Corners of all meshes.
    corners: usize,
}

impl<'a> Looks<'a> {
    pub(super) fn new(assets: Assets<'a>) -> Looks<'a> {
        Looks {
            scene: Scene::default(),
            textures: Textures::new(assets),
            materials: BTreeMap::new(),
            meshes: BTreeMap::new(),
            polylines: BTreeMap::new(),
            corners: 0,
        }
    }

    /// The finished scene, still without its lights.
    pub(super) fn finish(mut self) -> Scene {
        self.scene.textures = self.textures.list;
        self.scene
    }

    /// Draws something that no file describes.
    pub(super) fn push(&mut self, instance: Instance) {
        self.scene.instances.push(instance);
    }

    /// Draws all visuals of a model. `extents` is the box round what is solid of it: standard
    /// looks fill it, and it is drawn in place of a mesh that is missing.
    pub(super) fn draw(
        &mut self,
        body: &Body<'_>,
        owner: Owner,
        extents: Option<Extents>,
        is_light: bool,
        meshes: &mut Meshes<'_>,
        warnings: &mut Warnings,
    ) -> Result<(), Error> {
        let mut stood_in = false;
        for part in &body.visuals {
            let material = match &part.spec.material {
                Some(spec) => self.material_of(spec, part, warnings)?,
                None => None,
            };
            let mut scale = [1.0; 3];
            let (pose, look) = match &part.spec.geometry {
                Geometry::Mesh { uri, scale: factors, submesh } => {
                    match meshes.find(uri, submesh.as_ref(), part.file, warnings)? {
                        MeshFound::File(key) => {
                            // Whatever is seen must be within reach, too.
                            meshes.extents(&key, *factors)?;
                            scale = factors.map(f64::abs);
                            let mirrored = factors.map(|f| f < 0.0);
                            (part.pose, Look::Mesh(self.mesh(&key, mirrored, meshes, warnings)?))
                        }
                        MeshFound::BuiltIn(mesh) => {
                            // Only an object is known to be nothing but its look.
                            let (pose, e) = match extents.filter(|_| matches!(owner, Owner::Object(_))) {
                                Some(e) => (Pose::IDENTITY, e),
                                None => (part.pose, built_in_extents(mesh, *factors)),
                            };
                            let position = pose.point(e.centre);
                            (Pose { position, ..pose }, Look::BuiltIn(mesh, e.size.to_array()))
                        }
                        MeshFound::Missing => {
                            let Some(e) = extents.filter(|_| !stood_in) else { continue };
                            stood_in = true;
                            (Pose { position: e.centre, ..Pose::IDENTITY }, Look::Box(e.size.to_array()))
                        }
                    }
                }
                Geometry::Plane { normal, size } => {
                    let rotation = part.pose.rotation * from_z_to(*normal);
                    (Pose { rotation, ..part.pose }, Look::Plane(*size))
                }
                Geometry::Polyline { points, height } => {
                    match self.polyline(points, *height, part, meshes, warnings)? {
                        Some((pose, look)) => (pose, look),
                        None => continue,
                    }
                }
                other => match primitive(other) {
                    Some(look) => (part.pose, look),
                    None => continue,
                },
            };
            // Meshes bring their own materials; a primitive needs one.
            let own = matches!(look, Look::Mesh(_) | Look::BuiltIn(..));
            let material = if own { material } else { Some(material.unwrap_or_else(|| self.plain())) };
            self.scene.instances.push(Instance {
                owner,
                name: part.spec.name.clone(),
                role: if is_light { role_of(&part.spec.name) } else { Role::Plain },
                pose: if matches!(owner, Owner::Object(_)) { pose } else { body.origin.then(&pose) },
                scale,
                look,
                material,
                opacity: (1.0 - part.spec.transparency).clamp(0.0, 1.0),
            });
        }
        Ok(())
    }

    /// The material of what does not say.
    pub(super) fn plain(&mut self) -> usize {
        self.keep(Material::default())
    }

    fn keep(&mut self, material: Material) -> usize {
        let key = (material.colour.map(f32::to_bits), material.emissive.map(f32::to_bits), material.texture);
        let list = &mut self.scene.materials;
        *self.materials.entry(key).or_insert_with(|| {
            list.push(material);
            list.len() - 1
        })
    }

    fn material_of(
        &mut self,
        spec: &MaterialSpec,
        part: &Part<'_, VisualSpec>,
        warnings: &mut Warnings,
    ) -> Result<Option<usize>, Error> {
        let rgba = |c: [f64; 4]| c.map(|x| x.clamp(0.0, 1.0) as f32);
        let mut colour = spec.diffuse.or(spec.ambient).map(rgba);
        if let (None, Some(script)) = (colour, &spec.script) {
            colour = script_colour(script);
            if colour.is_none() {
                let message =
                    format!("script material \"{}\" is not known: a plain look is used", excerpt(script));
                warnings.add(message, || Place::file(part.file));
            }
        }
        let texture = match &spec.albedo_map {
            Some(map) => self.textures.find(map, part.folder(), part.file, warnings)?,
            None => None,
        };
        if colour.is_none() && spec.emissive.is_none() && texture.is_none() {
            return Ok(None);
        }
        // A picture alone is shown as it is.
        let plain = if texture.is_some() { [1.0; 4] } else { Material::default().colour };
        let [r, g, b, _] = rgba(spec.emissive.unwrap_or_default());
        let material = Material { colour: colour.unwrap_or(plain), emissive: [r, g, b], texture };
        Ok(Some(self.keep(material)))
    }

    fn mesh(
        &mut self,
        key: &MeshKey,
        mirrored: [bool; 3],
        meshes: &mut Meshes<'_>,
        warnings: &mut Warnings,
    ) -> Result<usize, Error> {
        let cache_key = (key.clone(), mirrored);
        if let Some(known) = self.meshes.get(&cache_key) {
            return Ok(*known);
        }
        let (shift, corners) = meshes.shift_and_corners(key);
        self.count_corners(corners, &key.path)?;
        let mut mesh = Mesh::default();
        if let Some(file) = meshes.file(key) {
            let mut materials = BTreeMap::new();
            for part in file.parts(key) {
                let base = mesh.positions.len() as u32;
                append(&mut mesh, part, shift, mirrored);
                for group in &part.groups {
                    let material = match materials.get(&group.material) {
                        Some(known) => *known,
                        None => {
                            let own = group.material.and_then(|m| file.model.materials.get(m));
                            let kept = self.mesh_material(own, &key.path, warnings)?;
                            materials.insert(group.material, kept);
                            kept
                        }
                    };
                    let mut indices: Vec<u32> = group.indices.iter().map(|i| i + base).collect();
                    if mirrored.iter().filter(|m| **m).count() % 2 == 1 {
                        // A mirror turns every triangle over: turn it back.
                        indices.chunks_exact_mut(3).for_each(|t| t.swap(1, 2));
                    }
                    mesh.groups.push(Group { material, indices });
                }
            }
        }
        let index = self.scene.meshes.len();
        self.scene.meshes.push(Arc::new(mesh));
        self.meshes.insert(cache_key, index);
        Ok(index)
    }

    /// A polygon with its height, as a mesh of plain material, else as a box.
    fn polyline(
        &mut self,
        points: &[[f64; 2]],
        height: f64,
        part: &Part<'_, VisualSpec>,
        meshes: &mut Meshes<'_>,
        warnings: &mut Warnings,
    ) -> Result<Option<(Pose, Look)>, Error> {
        let key = key_of(points, height);
        if let Some(known) = self.polylines.get(&key) {
            return Ok(Some((part.pose, Look::Mesh(*known))));
        }
        let Some(prism) = meshes.prism(points, height) else {
            warnings.add("a polyline that can't be cut up is drawn as a box", || Place::file(part.file));
            return Ok(polyline_extents(points, height).map(|e| {
                let position = part.pose.point(e.centre);
                (Pose { position, ..part.pose }, Look::Box(e.size.to_array()))
            }));
        };
        self.count_corners(3 * prism.triangles.len(), part.file)?;
        let index = self.scene.meshes.len();
        let plain = self.plain();
        self.scene.meshes.push(Arc::new(flat(&prism, plain)));
        self.polylines.insert(key, index);
        Ok(Some((part.pose, Look::Mesh(index))))
    }

    /// Corners of all meshes are bounded: mirror images and parts of one file are meshes of their
    /// own.
    fn count_corners(&mut self, corners: usize, file: &str) -> Result<(), Error> {
        self.corners += corners;
        if self.corners > MAX_ALL_READ {
            return Err(Error::file(file, format!("more than {MAX_ALL_READ} corners in all that is seen")));
        }
        Ok(())
    }

    fn mesh_material(
        &mut self,
        own: Option<&collada::Material>,
        path: &str,
        warnings: &mut Warnings,
    ) -> Result<usize, Error> {
        let Some(own) = own else { return Ok(self.plain()) };
        let texture = match &own.texture {
            Some(name) => self.textures.find(name, folder_of(path), path, warnings)?,
            None => None,
        };
        Ok(self.keep(Material { colour: own.colour, emissive: own.emissive, texture }))
    }
}

fn append(mesh: &mut Mesh, part: &collada::Part, shift: DVec3, mirrored: [bool; 3]) {
    let flip = |v: [f32; 3]| {
        let mut out = v;
        out.iter_mut().zip(mirrored).filter(|(_, m)| *m).for_each(|(x, _)| *x = -*x);
        out
    };
    let moved =
        |p: &[f32; 3]| if shift == DVec3::ZERO { *p } else { (point(p) + shift).as_vec3().to_array() };
    mesh.positions.extend(part.positions.iter().map(|p| flip(moved(p))));
    mesh.normals.extend(part.normals.iter().map(|n| flip(*n)));
    mesh.uvs.extend(&part.uvs);
    // One of each for every corner, whatever the file left out.
    mesh.normals.resize(mesh.positions.len(), [0.0, 0.0, 1.0]);
    mesh.uvs.resize(mesh.positions.len(), [0.0; 2]);
}

fn role_of(name: &str) -> Role {
    match name {
        "lamp_red" => Role::LampRed,
        "lamp_green" => Role::LampGreen,
        "screen" => Role::Screen,
        _ => Role::Plain,
    }
}

fn primitive(geometry: &Geometry) -> Option<Look> {
    Some(match *geometry {
        Geometry::Box { size } => Look::Box(size),
        Geometry::Cylinder { radius, length } => Look::Cylinder(radius, length),
        Geometry::Sphere { radius } => Look::Sphere(radius),
        Geometry::Capsule { radius, length } => Look::Capsule(radius, length),
        Geometry::Cone { radius, length } => Look::Cone(radius, length),
        Geometry::Ellipsoid { radii } => Look::Ellipsoid(radii),
        _ => return None,
    })
}
