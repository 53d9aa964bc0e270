//! The scene: what every visual looks like and where it is drawn.

use super::body::{Body, Part};
use super::extents::Extents;
use super::made::{flat, key_of};
use super::meshes::{MAX_ALL_READ, MeshFound, MeshKey, Meshes, point};
use super::objects::from_z_to;
use super::paint::MaterialKey;
use super::solids::polyline_extents;
use super::standard::built_in_extents;
use super::textures::Textures;
use crate::bundle::Assets;
use crate::collada;
use crate::error::{Error, Place, Warnings};
use crate::pose::Pose;
use crate::scene::{Group, Instance, Look, Mesh, Owner, Role, Scene};
use crate::spec::{Geometry, VisualSpec};
use glam::DVec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where something is drawn, what, and by which factors.
type Placed = (Pose, Look, [f64; 3]);

/// A scene that is being made.
pub(super) struct Looks<'a> {
    pub(super) scene: Scene,
    pub(super) textures: Textures<'a>,
    pub(super) materials: BTreeMap<MaterialKey, usize>,
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
        let is_object = matches!(owner, Owner::Object(_));
        let mut stand_in = extents;
        for part in &body.visuals {
            let material = match &part.spec.material {
                Some(spec) => self.material_of(spec, part, warnings)?,
                None => None,
            };
            let found = match &part.spec.geometry {
                Geometry::Mesh { uri, scale, submesh } => {
                    match meshes.find(uri, submesh.as_ref(), part.file, warnings)? {
                        MeshFound::File(key) => Some(self.scaled_mesh(&key, *scale, part, meshes, warnings)?),
                        // Only an object is known to be nothing but its look.
                        MeshFound::BuiltIn(mesh) => Some(match extents.filter(|_| is_object) {
                            Some(e) => boxed(&Pose::IDENTITY, e, |size| Look::BuiltIn(mesh, size)),
                            None => boxed(&part.pose, built_in_extents(mesh, *scale), |size| {
                                Look::BuiltIn(mesh, size)
                            }),
                        }),
                        MeshFound::Missing => stand_in.take().map(|e| boxed(&Pose::IDENTITY, e, Look::Box)),
                    }
                }
                Geometry::Plane { normal, size } => {
                    let rotation = part.pose.rotation * from_z_to(*normal);
                    Some((Pose { rotation, ..part.pose }, Look::Plane(*size), [1.0; 3]))
                }
                Geometry::Polyline { points, height } => {
                    self.polyline(points, *height, part, meshes, warnings)?
                }
                other => primitive(other).map(|look| (part.pose, look, [1.0; 3])),
            };
            let Some((pose, look, scale)) = found else { continue };
            // Meshes bring their own materials; a primitive needs one.
            let own = matches!(look, Look::Mesh(_) | Look::BuiltIn(..));
            let material = if own { material } else { Some(material.unwrap_or_else(|| self.plain())) };
            self.scene.instances.push(Instance {
                owner,
                name: part.spec.name.clone(),
                role: if is_light { role_of(&part.spec.name) } else { Role::Plain },
                pose: if is_object { pose } else { body.origin.then(&pose) },
                scale,
                look,
                material,
                opacity: (1.0 - part.spec.transparency).clamp(0.0, 1.0),
            });
        }
        Ok(())
    }

    /// A mesh file, as it is or mirrored.
    fn scaled_mesh(
        &mut self,
        key: &MeshKey,
        factors: [f64; 3],
        part: &Part<'_, VisualSpec>,
        meshes: &mut Meshes<'_>,
        warnings: &mut Warnings,
    ) -> Result<Placed, Error> {
        // Whatever is seen must be within reach, too.
        meshes.extents(key, factors)?;
        let mesh = self.mesh(key, factors.map(|f| f < 0.0), meshes, warnings)?;
        Ok((part.pose, Look::Mesh(mesh), factors.map(f64::abs)))
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
    ) -> Result<Option<Placed>, Error> {
        let key = key_of(points, height);
        if let Some(known) = self.polylines.get(&key) {
            return Ok(Some((part.pose, Look::Mesh(*known), [1.0; 3])));
        }
        let Some(prism) = meshes.prism(points, height) else {
            warnings.add("a polyline that can't be cut up is drawn as a box", || Place::file(part.file));
            return Ok(polyline_extents(points, height).map(|e| boxed(&part.pose, e, Look::Box)));
        };
        self.count_corners(3 * prism.triangles.len(), part.file)?;
        let index = self.scene.meshes.len();
        let plain = self.plain();
        self.scene.meshes.push(Arc::new(flat(&prism, plain)));
        self.polylines.insert(key, index);
        Ok(Some((part.pose, Look::Mesh(index), [1.0; 3])))
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

/// A look that fills a box in a frame.
fn boxed(pose: &Pose, e: Extents, look: impl FnOnce([f64; 3]) -> Look) -> Placed {
    (Pose { position: pose.point(e.centre), ..*pose }, look(e.size.to_array()), [1.0; 3])
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
