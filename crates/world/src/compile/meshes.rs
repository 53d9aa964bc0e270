//! Mesh files: found, read once each, and measured.

use super::extents::Extents;
use super::uri::{Leads, Wanted, folder_of, leads, stem_of};
use crate::bundle::{Assets, normalise};
use crate::collada;
use crate::error::{Error, Place, Warnings};
use crate::scene::BuiltInMesh;
use crate::sdf::MAX_METRES;
use crate::world::TriangleMesh;
use crate::xml::excerpt;
use glam::DVec3;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Triangles of a solid mesh; beyond, its box is solid.
const MAX_SOLID_TRIANGLES: usize = 200_000;
/// Triangles and corners of all solid meshes together, however often one is used.
const MAX_ALL_SOLID: usize = 4_000_000;

/// One or all parts of a mesh file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MeshKey {
    pub(super) path: String,
    /// The one part; `None`: all.
    pub(super) part: Option<String>,
}

/// What a mesh URI leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MeshFound {
    File(MeshKey),
    BuiltIn(BuiltInMesh),
    /// Nothing that can be drawn; a warning was given.
    Missing,
}

/// All meshes of a world.
pub(super) struct Meshes<'a> {
    assets: Assets<'a>,
    /// By the file they are named in, and the names of mesh and part.
    known: BTreeMap<(String, String, Option<String>), MeshFound>,
    files: BTreeMap<String, Rc<collada::Model>>,
    extents: BTreeMap<MeshKey, Option<Extents>>,
    solids: BTreeMap<(MeshKey, [u64; 3]), Arc<TriangleMesh>>,
    /// Triangles and corners handed out so far.
    solid: usize,
}

impl<'a> Meshes<'a> {
    pub(super) fn new(assets: Assets<'a>) -> Meshes<'a> {
        let (known, files) = (BTreeMap::new(), BTreeMap::new());
        Meshes { assets, known, files, extents: BTreeMap::new(), solids: BTreeMap::new(), solid: 0 }
    }

    /// Finds and reads a mesh that is named in a file.
    pub(super) fn find(
        &mut self,
        uri: &str,
        part: Option<&str>,
        file: &str,
        warnings: &mut Warnings,
    ) -> Result<MeshFound, Error> {
        let key = (file.to_owned(), uri.to_owned(), part.map(str::to_owned));
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let found = self.search(uri, part, file, warnings)?;
        self.known.insert(key, found.clone());
        Ok(found)
    }

    fn search(
        &mut self,
        uri: &str,
        part: Option<&str>,
        file: &str,
        warnings: &mut Warnings,
    ) -> Result<MeshFound, Error> {
        let shown = excerpt(uri);
        let message = match leads(uri, folder_of(file), Wanted::Asset) {
            Leads::Network => format!("mesh \"{shown}\" is missing: nothing is ever fetched from a network"),
            Leads::Nowhere => format!("mesh \"{shown}\" is missing: model:// is what is understood"),
            Leads::Paths(paths) => {
                if let Some(path) = self.read_first(&paths, warnings)? {
                    return Ok(self.key_of(path, part, file, warnings));
                }
                if let Some(built_in) = built_in(uri) {
                    return Ok(MeshFound::BuiltIn(built_in));
                }
                let other = paths.iter().any(|p| !is_collada(p) && self.assets.read(p).is_some());
                if other {
                    format!("mesh \"{shown}\" gets a plain look: only COLLADA (.dae) is read")
                } else {
                    format!("mesh \"{shown}\" was not found and gets a plain look")
                }
            }
        };
        warnings.add(message, || Place::file(file));
        Ok(MeshFound::Missing)
    }

    fn read_first(&mut self, paths: &[String], warnings: &mut Warnings) -> Result<Option<String>, Error> {
        for path in paths.iter().filter(|p| is_collada(p)) {
            // A mesh that goes by many names is still read once.
            if let Some(known) = normalise(path).filter(|p| self.files.contains_key(p)) {
                return Ok(Some(known));
            }
            let Some((path, bytes)) = self.assets.read(path) else { continue };
            let model = collada::read(&path, &bytes, warnings)?;
            self.files.insert(path.clone(), Rc::new(model));
            return Ok(Some(path));
        }
        Ok(None)
    }

    fn key_of(&self, path: String, part: Option<&str>, file: &str, warnings: &mut Warnings) -> MeshFound {
        let known =
            |name: &&str| self.files.get(&path).is_some_and(|m| m.parts.iter().any(|p| p.name == *name));
        let found = part.filter(known);
        if let (Some(part), None) = (part, found) {
            let message =
                format!("no submesh \"{}\" in \"{}\": all of it is used", excerpt(part), excerpt(&path));
            warnings.add(message, || Place::file(file));
        }
        MeshFound::File(MeshKey { part: found.map(str::to_owned), path })
    }

    /// The file of a mesh; `None` if it was never found.
    pub(super) fn model(&self, key: &MeshKey) -> Option<Rc<collada::Model>> {
        self.files.get(&key.path).cloned()
    }

    /// The box round a mesh, scaled; `None` if there is nothing in it.
    pub(super) fn extents(&mut self, key: &MeshKey, scale: [f64; 3]) -> Result<Option<Extents>, Error> {
        let extents = match self.extents.get(key) {
            Some(known) => *known,
            None => {
                let model = self.model(key);
                let parts = model.iter().flat_map(|m| parts_of(m, key));
                let found = Extents::of_points(parts.flat_map(|p| p.positions.iter().map(point)));
                *self.extents.entry(key.clone()).or_insert(found)
            }
        };
        let scale = DVec3::from_array(scale);
        let scaled = extents.map(|e| Extents { centre: e.centre * scale, size: e.size * scale.abs() });
        match scaled {
            Some(e)
                if !(e.max().abs().max_element() <= MAX_METRES
                    && e.min().abs().max_element() <= MAX_METRES) =>
            {
                Err(Error::file(&key.path, format!("mesh is larger than {MAX_METRES} m")))
            }
            other => Ok(other),
        }
    }

    /// The triangles of a mesh, scaled; `None` where there are too many, or none.
    pub(super) fn triangles(&mut self, key: &MeshKey, scale: [f64; 3]) -> Option<Arc<TriangleMesh>> {
        let model = self.model(key)?;
        let parts: Vec<_> = parts_of(&model, key).collect();
        let count: usize = parts.iter().flat_map(|p| &p.groups).map(|g| g.indices.len() / 3).sum();
        let corners: usize = parts.iter().map(|p| p.positions.len()).sum();
        let all = self.solid.saturating_add(count).saturating_add(corners);
        if count == 0 || count > MAX_SOLID_TRIANGLES || all > MAX_ALL_SOLID {
            return None;
        }
        self.solid = all;
        let cache_key = (key.clone(), scale.map(f64::to_bits));
        let mesh = self.solids.entry(cache_key);
        Some(mesh.or_insert_with(|| Arc::new(triangles_of(&parts, DVec3::from_array(scale)))).clone())
    }
}

/// The parts of a file that a key means.
pub(super) fn parts_of<'m>(
    model: &'m collada::Model,
    key: &'m MeshKey,
) -> impl Iterator<Item = &'m collada::Part> {
    model.parts.iter().filter(|p| key.part.as_ref().is_none_or(|name| p.name == *name))
}

fn triangles_of(parts: &[&collada::Part], scale: DVec3) -> TriangleMesh {
    let mirrored = scale.x * scale.y * scale.z < 0.0;
    let mut mesh = TriangleMesh { vertices: Vec::new(), triangles: Vec::new() };
    for part in parts {
        let base = mesh.vertices.len() as u32;
        mesh.vertices.extend(part.positions.iter().map(|v| point(v) * scale));
        for corners in part.groups.iter().flat_map(|g| g.indices.chunks_exact(3)) {
            let [a, b, c] = [corners[0] + base, corners[1] + base, corners[2] + base];
            let [pa, pb, pc] = [a, b, c].map(|i| mesh.vertices[i as usize]);
            // A triangle without area is of no use to physics, and trouble for some of it.
            if (pb - pa).cross(pc - pa).length_squared() > 0.0 {
                mesh.triangles.push(if mirrored { [a, c, b] } else { [a, b, c] });
            }
        }
    }
    mesh
}

/// A corner in double precision.
pub(super) fn point(v: &[f32; 3]) -> DVec3 {
    DVec3::new(f64::from(v[0]), f64::from(v[1]), f64::from(v[2]))
}

fn is_collada(path: &str) -> bool {
    path.len() >= 4
        && path.is_char_boundary(path.len() - 4)
        && path[path.len() - 4..].eq_ignore_ascii_case(".dae")
}

/// The standard look that a mesh of another publisher is known by: `<brand>_cone` and so on, as
/// the name of the file or of its folder.
fn built_in(uri: &str) -> Option<BuiltInMesh> {
    let folder = folder_of(uri).rsplit('/').next().unwrap_or("");
    [stem_of(uri), folder].into_iter().find_map(|name| {
        let has = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
        match name {
            _ if has("_box_obstacle") => Some(BuiltInMesh::BoxObstacle),
            _ if has("_ball") => Some(BuiltInMesh::Ball),
            _ if has("_cone") => Some(BuiltInMesh::Cone),
            _ => None,
        }
    })
}

/// The size of a standard look where nothing else says it; it stands on its origin.
pub(super) fn built_in_extents(mesh: BuiltInMesh, scale: [f64; 3]) -> Extents {
    let size = match mesh {
        BuiltInMesh::BoxObstacle => DVec3::new(0.3, 0.2, 0.2),
        BuiltInMesh::Ball => DVec3::splat(0.22),
        BuiltInMesh::Cone => DVec3::new(0.135, 0.135, 0.23),
    };
    let size = size * DVec3::from_array(scale).abs();
    Extents { centre: DVec3::new(0.0, 0.0, size.z * 0.5), size }
}
