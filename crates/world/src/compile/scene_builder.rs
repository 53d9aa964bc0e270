//! Builds the scene from the visuals of all models.

use super::built_in_meshes::built_in_extents;
use super::extents::Extents;
use super::generated::{flat_shaded, polygon_key};
use super::materials::Materials;
use super::meshes::{MAX_ALL_READ, MeshKey, MeshTarget, Meshes, point};
use super::objects::from_z_to;
use super::rigid_model::{PlacedSpec, RigidModel};
use super::solids::polyline_extents;
use crate::bundle::Assets;
use crate::collada;
use crate::error::{Error, SourceLocation, Warnings};
use crate::pose::Pose;
use crate::scene::{Group, Instance, Look, Mesh, Owner, Role, WorldScene};
use crate::spec::{Geometry, VisualSpec};
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Pose, shape and scale factors of a scene instance.
type PlacedLook = (Pose, Look, [f64; 3]);

/// A scene while it is being built.
pub(super) struct SceneBuilder<'a> {
    scene: WorldScene,
    pub(super) materials: Materials<'a>,
    /// Index of each mesh in the scene, by mesh and mirrored axes.
    meshes: BTreeMap<(MeshKey, [bool; 3]), usize>,
    /// Index of each extruded polygon's mesh in the scene, by the bits of the polygon's numbers.
    polylines: BTreeMap<Vec<u64>, usize>,
    /// Number of vertices of all meshes together.
    corners: usize,
    /// Indices of the instances that stand for a missing mesh.
    stand_ins: BTreeSet<usize>,
}

impl<'a> SceneBuilder<'a> {
    pub(super) fn new(assets: Assets<'a>) -> SceneBuilder<'a> {
        SceneBuilder {
            scene: WorldScene::default(),
            materials: Materials::new(assets),
            meshes: BTreeMap::new(),
            polylines: BTreeMap::new(),
            corners: 0,
            stand_ins: BTreeSet::new(),
        }
    }

    /// Returns the finished scene, and the indices of the instances that stand for a missing mesh.
    /// The caller must set the sun, the ambient light and the background.
    pub(super) fn finish(mut self) -> (WorldScene, BTreeSet<usize>) {
        (self.scene.materials, self.scene.textures) = self.materials.finish();
        (self.scene, self.stand_ins)
    }

    /// Adds an instance that is not a visual of a model.
    pub(super) fn push(&mut self, instance: Instance) {
        self.scene.instances.push(instance);
    }

    /// Adds all visuals of a model. For an object, `extents` is the bounding box of its collision
    /// shapes. For the track and for scenery, it is the box that is drawn instead of missing meshes.
    /// The built-in mesh of an object is stretched to this box. This box also replaces the first
    /// missing mesh, and further missing meshes are not drawn.
    pub(super) fn add_visuals(
        &mut self,
        body: &RigidModel<'_>,
        owner: Owner,
        extents: Option<Extents>,
        is_light: bool,
        meshes: &mut Meshes<'_>,
        warnings: &mut Warnings,
    ) -> Result<(), Error> {
        let is_object = matches!(owner, Owner::Object(_));
        // The replacement is used once, so that several missing meshes give only one box.
        let mut replacement = extents;
        for part in &body.visuals {
            let material = match &part.spec.material {
                Some(spec) => self.materials.of_visual(spec, part.file, warnings)?,
                None => None,
            };
            let placed = match &part.spec.geometry {
                Geometry::Mesh { uri, scale, submesh } => {
                    match meshes.find(uri, submesh.as_ref(), part.file, warnings)? {
                        MeshTarget::File(key) => {
                            Some(self.scaled_mesh(&key, *scale, part, meshes, warnings)?)
                        }
                        // Only the mesh of an object is stretched to the bounding box, because the
                        // bounding box of scenery may cover several meshes.
                        MeshTarget::BuiltIn(mesh) => Some(match extents.filter(|_| is_object) {
                            Some(e) => boxed(&Pose::IDENTITY, e, |size| Look::BuiltIn(mesh, size)),
                            None => boxed(&part.pose, built_in_extents(mesh, *scale), |size| {
                                Look::BuiltIn(mesh, size)
                            }),
                        }),
                        MeshTarget::Missing => {
                            let box_of_model = replacement.take();
                            self.stand_ins.extend(box_of_model.map(|_| self.scene.instances.len()));
                            box_of_model.map(|e| boxed(&Pose::IDENTITY, e, Look::Box))
                        }
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
            let Some((pose, look, scale)) = placed else { continue };
            // A mesh has materials of its own, but a primitive has none. A primitive therefore gets
            // the default material if its visual defines no material.
            let has_own = matches!(look, Look::Mesh(_) | Look::BuiltIn(..));
            let material =
                if has_own { material } else { Some(material.unwrap_or_else(|| self.materials.plain())) };
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

    /// The mesh of a file, with the scale factors for drawing. If a factor of the visual is
    /// negative, the mesh is a mirrored copy and the factor for drawing is positive.
    fn scaled_mesh(
        &mut self,
        key: &MeshKey,
        factors: [f64; 3],
        part: &PlacedSpec<'_, VisualSpec>,
        meshes: &mut Meshes<'_>,
        warnings: &mut Warnings,
    ) -> Result<PlacedLook, Error> {
        // The bounding box itself is not used. The call returns an error if the scaled mesh is too
        // large.
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
                            let index = self.materials.of_mesh(own, &key.path, warnings)?;
                            materials.insert(group.material, index);
                            index
                        }
                    };
                    let mut indices: Vec<u32> = group.indices.iter().map(|i| i + base).collect();
                    if mirrored.iter().filter(|m| **m).count() % 2 == 1 {
                        // Mirroring reverses the orientation of triangles. The swap restores the
                        // orientation.
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

    /// The mesh of an extruded polygon. If the polygon cannot be triangulated, the bounding box of
    /// the polygon is drawn instead.
    fn polyline(
        &mut self,
        points: &[[f64; 2]],
        height: f64,
        part: &PlacedSpec<'_, VisualSpec>,
        meshes: &mut Meshes<'_>,
        warnings: &mut Warnings,
    ) -> Result<Option<PlacedLook>, Error> {
        let key = polygon_key(points, height);
        if let Some(known) = self.polylines.get(&key) {
            return Ok(Some((part.pose, Look::Mesh(*known), [1.0; 3])));
        }
        let Some(prism) = meshes.prism(points, height) else {
            let message = "a polyline that cannot be triangulated is drawn as a box";
            warnings.add(message, || SourceLocation::file(part.file));
            return Ok(polyline_extents(points, height).map(|e| boxed(&part.pose, e, Look::Box)));
        };
        self.count_corners(3 * prism.triangles.len(), part.file)?;
        let index = self.scene.meshes.len();
        let plain = self.materials.plain();
        self.scene.meshes.push(Arc::new(flat_shaded(&prism, plain)));
        self.polylines.insert(key, index);
        Ok(Some((part.pose, Look::Mesh(index), [1.0; 3])))
    }

    /// Adds `corners` to the number of vertices of all meshes. The result is an error if this
    /// number exceeds its limit. The limit on mesh files is not sufficient, because every mirrored
    /// copy and every submesh of a file is a separate mesh in the scene.
    fn count_corners(&mut self, corners: usize, file: &str) -> Result<(), Error> {
        self.corners += corners;
        if self.corners > MAX_ALL_READ {
            return Err(Error::file(file, format!("more than {MAX_ALL_READ} vertices in all visuals")));
        }
        Ok(())
    }
}

fn append(mesh: &mut Mesh, part: &collada::MeshPart, shift: DVec3, mirrored: [bool; 3]) {
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
    // Every vertex needs a normal and a uv. If a part has no normals or uvs, default values are
    // used.
    mesh.normals.resize(mesh.positions.len(), [0.0, 0.0, 1.0]);
    mesh.uvs.resize(mesh.positions.len(), [0.0; 2]);
}

/// A shape that fills the bounding box `e`. The box is given in the frame with the pose `pose`.
fn boxed(pose: &Pose, e: Extents, look: impl FnOnce([f64; 3]) -> Look) -> PlacedLook {
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
