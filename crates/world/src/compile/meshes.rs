//! Finds, reads and measures the mesh files of a world. Each file is parsed once.

use super::built_in_meshes::built_in;
use super::extents::Extents;
use super::generated::{GeneratedMeshes, ellipsoid};
use super::uri::{UriResolution, UriTarget, folder_of, join, resolve_uri};
use crate::bundle::{Assets, normalise};
use crate::collada;
use crate::error::{Error, SourceLocation, Warnings};
use crate::scene::BuiltInMesh;
use crate::sdf::MAX_METRES;
use crate::spec::{Geometry, Submesh};
use crate::world::TriangleMesh;
use crate::xml::excerpt;
use crate::{obj, stl};
use glam::DVec3;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Maximum number of triangles of a collision mesh. A larger mesh is replaced by its bounding box.
const MAX_SOLID_TRIANGLES: usize = 200_000;
/// Maximum number of triangles and vertices of all collision meshes together. A mesh counts once
/// per use.
const MAX_ALL_SOLID: usize = 4_000_000;
/// Maximum number of triangles and vertices of all mesh files together. A single file has at most
/// 2,000,000 triangles and 6,000,000 vertices, so it never exceeds this limit.
pub(super) const MAX_ALL_READ: usize = 9_000_000;

/// Identifies a mesh. A mesh is one part of a mesh file, or all parts of the file together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MeshKey {
    pub(super) path: String,
    /// Name of the part; `None` means all parts of the file.
    pub(super) part: Option<String>,
    /// Whether the mesh is moved so that the centre of its bounding box is at the origin.
    pub(super) centred: bool,
}

/// The target of a mesh URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MeshTarget {
    File(MeshKey),
    BuiltIn(BuiltInMesh),
    /// There is no readable mesh. A warning was already added.
    Missing,
}

/// A mesh file.
pub(super) struct MeshFile {
    pub(super) model: collada::Model,
    /// Indices of all parts.
    all: Vec<usize>,
    /// Indices of the parts, by the name of the part.
    named: BTreeMap<String, Vec<usize>>,
}

impl MeshFile {
    fn new(model: collada::Model) -> MeshFile {
        let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i, part) in model.parts.iter().enumerate() {
            named.entry(part.name.clone()).or_default().push(i);
        }
        MeshFile { all: (0..model.parts.len()).collect(), model, named }
    }

    /// The parts of the file that `key` selects.
    pub(super) fn parts(&self, key: &MeshKey) -> impl Iterator<Item = &collada::MeshPart> {
        let chosen = match &key.part {
            None => Some(&self.all),
            Some(name) => self.named.get(name),
        };
        chosen.into_iter().flatten().map(|i| &self.model.parts[*i])
    }
}

/// The bounding box of a mesh, and the numbers of its triangles and vertices. `Meshes` caches these
/// values.
#[derive(Debug, Clone, Copy)]
struct Measures {
    extents: Option<Extents>,
    /// Offset that is added to every vertex.
    shift: DVec3,
    triangles: usize,
    /// Number of vertices.
    corners: usize,
}

/// All meshes of a world.
pub(super) struct Meshes<'a> {
    assets: Assets<'a>,
    /// Cache: the target of each reference, by referring file, URI and submesh.
    known: BTreeMap<(String, String, Option<Submesh>), MeshTarget>,
    /// Mesh files by path.
    files: BTreeMap<String, Rc<MeshFile>>,
    measures: BTreeMap<MeshKey, Measures>,
    /// Cache of collision meshes, by mesh and by the bits of the scale factors.
    solids: BTreeMap<(MeshKey, [u64; 3]), Arc<TriangleMesh>>,
    generated: GeneratedMeshes,
    /// Number of triangles and vertices of all files that were read so far.
    read: usize,
    /// Number of triangles and vertices of all collision meshes that were returned so far.
    solid: usize,
}

impl<'a> Meshes<'a> {
    pub(super) fn new(assets: Assets<'a>) -> Meshes<'a> {
        Meshes {
            assets,
            known: BTreeMap::new(),
            files: BTreeMap::new(),
            measures: BTreeMap::new(),
            solids: BTreeMap::new(),
            generated: GeneratedMeshes::default(),
            read: 0,
            solid: 0,
        }
    }

    /// Finds and reads the mesh with the URI `uri`. `file` is the path of the file that contains
    /// the URI.
    pub(super) fn find(
        &mut self,
        uri: &str,
        part: Option<&Submesh>,
        file: &str,
        warnings: &mut Warnings,
    ) -> Result<MeshTarget, Error> {
        let key = (file.to_owned(), uri.to_owned(), part.cloned());
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
        part: Option<&Submesh>,
        file: &str,
        warnings: &mut Warnings,
    ) -> Result<MeshTarget, Error> {
        let shown = excerpt(uri);
        let message = match resolve_uri(uri, folder_of(file), UriTarget::Asset) {
            UriResolution::Network => {
                format!("mesh \"{shown}\" is ignored: the simulator does not download files")
            }
            UriResolution::Unsupported => format!("mesh \"{shown}\" is ignored: use a model:// URI"),
            UriResolution::Paths(paths) => {
                if let Some(path) = self.read_first(&paths, warnings)? {
                    return Ok(self.key_of(path, part, file, warnings));
                }
                if let Some(built_in) = built_in(uri) {
                    return Ok(MeshTarget::BuiltIn(built_in));
                }
                let is_other = |p: &String| MeshFormat::of(p).is_none() && self.assets.read(p).is_some();
                if paths.iter().any(is_other) {
                    format!("mesh \"{shown}\" is replaced by a plain shape: use COLLADA (.dae), STL or OBJ")
                } else {
                    format!("mesh \"{shown}\" was not found and is replaced by a plain shape")
                }
            }
        };
        warnings.add(message, || SourceLocation::file(file));
        Ok(MeshTarget::Missing)
    }

    fn read_first(&mut self, paths: &[String], warnings: &mut Warnings) -> Result<Option<String>, Error> {
        for (path, format) in paths.iter().filter_map(|p| Some((p, MeshFormat::of(p)?))) {
            // Use the normalised path for the lookup, because different URIs can refer to the same
            // file.
            if let Some(known) = normalise(path).filter(|p| self.files.contains_key(p)) {
                return Ok(Some(known));
            }
            let Some((path, bytes)) = self.assets.read(path) else { continue };
            if self.files.contains_key(&path) {
                return Ok(Some(path));
            }
            let model = self.parsed(format, &path, &bytes, warnings)?;
            let triangles = model.parts.iter().flat_map(|p| &p.groups).map(|g| g.indices.len() / 3);
            let corners = model.parts.iter().map(|p| p.positions.len());
            self.read += triangles.chain(corners).sum::<usize>();
            if self.read > MAX_ALL_READ {
                let message = format!("more than {MAX_ALL_READ} triangles and vertices in all meshes");
                return Err(Error::file(&path, message));
            }
            self.files.insert(path.clone(), Rc::new(MeshFile::new(model)));
            return Ok(Some(path));
        }
        Ok(None)
    }

    fn parsed(
        &self,
        format: MeshFormat,
        path: &str,
        bytes: &[u8],
        warnings: &mut Warnings,
    ) -> Result<collada::Model, Error> {
        match format {
            MeshFormat::Collada => collada::read(path, bytes, warnings),
            MeshFormat::Stl => stl::read(path, bytes, warnings),
            MeshFormat::Obj => {
                let mut open = |name: &str| {
                    let found = self.assets.read(&join(folder_of(path), &name.replace('\\', "/")));
                    found.map(|(_, bytes)| bytes.into_owned())
                };
                obj::read(path, bytes, &mut open, warnings)
            }
        }
    }

    fn key_of(
        &self,
        path: String,
        part: Option<&Submesh>,
        file: &str,
        warnings: &mut Warnings,
    ) -> MeshTarget {
        let known = |part: &&Submesh| self.files.get(&path).is_some_and(|f| f.named.contains_key(&part.name));
        let found = part.filter(known);
        if let (Some(part), None) = (part, found) {
            let (name, path) = (excerpt(&part.name), excerpt(&path));
            let message = format!("no submesh \"{name}\" in \"{path}\": the whole mesh is used");
            warnings.add(message, || SourceLocation::file(file));
        }
        let centred = found.is_some_and(|p| p.centred);
        MeshTarget::File(MeshKey { part: found.map(|p| p.name.clone()), centred, path })
    }

    /// The file of a mesh. The result is `None` if the file was not found.
    pub(super) fn file(&self, key: &MeshKey) -> Option<Rc<MeshFile>> {
        self.files.get(&key.path).cloned()
    }

    fn measures(&mut self, key: &MeshKey) -> Measures {
        if let Some(known) = self.measures.get(key) {
            return *known;
        }
        let file = self.file(key);
        let parts = || file.iter().flat_map(|f| f.parts(key));
        let mut extents = Extents::of_points(parts().flat_map(|p| p.positions.iter().map(point)));
        let mut shift = DVec3::ZERO;
        if let Some(e) = extents.as_mut().filter(|_| key.centred) {
            (shift, e.centre) = (-e.centre, DVec3::ZERO);
        }
        let triangles = parts().flat_map(|p| &p.groups).map(|g| g.indices.len() / 3).sum();
        let corners = parts().map(|p| p.positions.len()).sum();
        *self.measures.entry(key.clone()).or_insert(Measures { extents, shift, triangles, corners })
    }

    /// The offset that is added to every vertex of a mesh, and the number of vertices of the mesh.
    pub(super) fn shift_and_corners(&mut self, key: &MeshKey) -> (DVec3, usize) {
        let Measures { shift, corners, .. } = self.measures(key);
        (shift, corners)
    }

    /// The bounding box of a scaled mesh. The result is `None` if the mesh is empty.
    pub(super) fn extents(&mut self, key: &MeshKey, scale: [f64; 3]) -> Result<Option<Extents>, Error> {
        let scale = DVec3::from_array(scale);
        let extents = self.measures(key).extents;
        let scaled = extents.map(|e| Extents { centre: e.centre * scale, size: e.size * scale.abs() });
        let inside = |p: DVec3| p.abs().max_element() <= MAX_METRES;
        match scaled {
            Some(e) if !(inside(e.min()) && inside(e.max())) => {
                Err(Error::file(&key.path, format!("the mesh is larger than {MAX_METRES} m")))
            }
            other => Ok(other),
        }
    }

    /// The collision mesh of a scaled mesh. The result is `None` in three cases: the mesh has no
    /// triangles, the mesh has too many triangles, or the limit on all collision meshes would be
    /// exceeded.
    pub(super) fn triangles(&mut self, key: &MeshKey, scale: [f64; 3]) -> Option<Arc<TriangleMesh>> {
        let Measures { triangles, corners, shift, .. } = self.measures(key);
        if triangles == 0 || triangles > MAX_SOLID_TRIANGLES || !self.reserve_solid(triangles + corners) {
            return None;
        }
        let file = self.file(key)?;
        let mesh = self.solids.entry((key.clone(), scale.map(f64::to_bits)));
        let make = || Arc::new(triangles_of(file.parts(key), shift, DVec3::from_array(scale)));
        Some(mesh.or_insert_with(make).clone())
    }

    /// Tries to add `more` to the number of triangles and vertices of all collision meshes. If the
    /// number would exceed its limit, returns false and adds nothing.
    fn reserve_solid(&mut self, more: usize) -> bool {
        let fits = self.solid + more <= MAX_ALL_SOLID;
        self.solid += if fits { more } else { 0 };
        fits
    }

    /// The collision mesh of a polyline or an ellipsoid. The result is `None` in three cases: the
    /// shape is neither a polyline nor an ellipsoid, `prism` gives no mesh for the polyline, or the
    /// mesh would exceed the limit on all collision meshes.
    pub(super) fn generated_solid(&mut self, geometry: &Geometry) -> Option<Arc<TriangleMesh>> {
        let mesh = match geometry {
            Geometry::Polyline { points, height } => self.prism(points, *height)?,
            Geometry::Ellipsoid { radii } => Arc::new(ellipsoid(DVec3::from_array(*radii))),
            _ => return None,
        };
        self.reserve_solid(mesh.triangles.len() + mesh.vertices.len()).then_some(mesh)
    }

    /// The mesh of an extruded polygon. The result is `None` if the polygon cannot be triangulated
    /// or has too many corners (see [`GeneratedMeshes::prism`]).
    pub(super) fn prism(&mut self, points: &[[f64; 2]], height: f64) -> Option<Arc<TriangleMesh>> {
        self.generated.prism(points, height)
    }
}

fn triangles_of<'m>(
    parts: impl Iterator<Item = &'m collada::MeshPart>,
    shift: DVec3,
    scale: DVec3,
) -> TriangleMesh {
    let mirrored = scale.x * scale.y * scale.z < 0.0;
    let mut mesh = TriangleMesh { vertices: Vec::new(), triangles: Vec::new() };
    for part in parts {
        let base = mesh.vertices.len() as u32;
        mesh.vertices.extend(part.positions.iter().map(|v| (point(v) + shift) * scale));
        for corners in part.groups.iter().flat_map(|g| g.indices.chunks_exact(3)) {
            let [a, b, c] = [corners[0] + base, corners[1] + base, corners[2] + base];
            let [pa, pb, pc] = [a, b, c].map(|i| mesh.vertices[i as usize]);
            // Skip triangles without area, because they have no normal, but physics needs a normal.
            if (pb - pa).cross(pc - pa).length_squared() > 0.0 {
                mesh.triangles.push(if mirrored { [a, c, b] } else { [a, b, c] });
            }
        }
    }
    mesh
}

/// Converts a position to double precision.
pub(super) fn point(v: &[f32; 3]) -> DVec3 {
    DVec3::new(f64::from(v[0]), f64::from(v[1]), f64::from(v[2]))
}

/// The format of a mesh file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MeshFormat {
    Collada,
    Stl,
    Obj,
}

impl MeshFormat {
    /// The format that the extension of a file declares. The result is `None` if the format is not
    /// supported.
    fn of(path: &str) -> Option<MeshFormat> {
        match path.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "dae" => Some(MeshFormat::Collada),
            "stl" | "stlb" | "stla" => Some(MeshFormat::Stl),
            "obj" => Some(MeshFormat::Obj),
            _ => None,
        }
    }
}
