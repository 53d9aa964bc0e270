//! Mesh files: found, read once each, and measured.

use super::extents::Extents;
use super::made::{Made, ellipsoid};
use super::standard::built_in;
use super::uri::{Leads, Wanted, folder_of, leads};
use crate::bundle::{Assets, normalise};
use crate::collada;
use crate::error::{Error, Place, Warnings};
use crate::scene::BuiltInMesh;
use crate::sdf::MAX_METRES;
use crate::spec::{Geometry, Submesh};
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
/// Triangles and corners of all mesh files together: a little more than one file may hold.
pub(super) const MAX_ALL_READ: usize = 9_000_000;

/// One or all parts of a mesh file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MeshKey {
    pub(super) path: String,
    /// The one part; `None`: all.
    pub(super) part: Option<String>,
    /// Whether the middle of its box is moved to the origin.
    pub(super) centred: bool,
}

/// What a mesh URI leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MeshFound {
    File(MeshKey),
    BuiltIn(BuiltInMesh),
    /// Nothing that can be drawn; a warning was given.
    Missing,
}

/// A mesh file that was read.
pub(super) struct MeshFile {
    pub(super) model: collada::Model,
    /// Indices of all parts, and of those of a name.
    all: Vec<usize>,
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

    /// The parts that a key means.
    pub(super) fn parts(&self, key: &MeshKey) -> impl Iterator<Item = &collada::Part> {
        let chosen = match &key.part {
            None => Some(&self.all),
            Some(name) => self.named.get(name),
        };
        chosen.into_iter().flatten().map(|i| &self.model.parts[*i])
    }
}

/// What is known of a mesh without a look at every corner.
#[derive(Debug, Clone, Copy)]
struct Measures {
    extents: Option<Extents>,
    /// What is added to every corner.
    shift: DVec3,
    triangles: usize,
    corners: usize,
}

/// All meshes of a world.
pub(super) struct Meshes<'a> {
    assets: Assets<'a>,
    /// By the file they are named in, the name, and the part.
    known: BTreeMap<(String, String, Option<Submesh>), MeshFound>,
    files: BTreeMap<String, Rc<MeshFile>>,
    measures: BTreeMap<MeshKey, Measures>,
    solids: BTreeMap<(MeshKey, [u64; 3]), Arc<TriangleMesh>>,
    made: Made,
    /// Triangles and corners read so far, and handed out as solids so far.
    read: usize,
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
            made: Made::default(),
            read: 0,
            solid: 0,
        }
    }

    /// Finds and reads a mesh that is named in a file.
    pub(super) fn find(
        &mut self,
        uri: &str,
        part: Option<&Submesh>,
        file: &str,
        warnings: &mut Warnings,
    ) -> Result<MeshFound, Error> {
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
            let triangles = model.parts.iter().flat_map(|p| &p.groups).map(|g| g.indices.len() / 3);
            let corners = model.parts.iter().map(|p| p.positions.len());
            self.read += triangles.chain(corners).sum::<usize>();
            if self.read > MAX_ALL_READ {
                let message = format!("more than {MAX_ALL_READ} triangles and corners in all meshes");
                return Err(Error::file(&path, message));
            }
            self.files.insert(path.clone(), Rc::new(MeshFile::new(model)));
            return Ok(Some(path));
        }
        Ok(None)
    }

    fn key_of(&self, path: String, part: Option<&Submesh>, file: &str, warnings: &mut Warnings) -> MeshFound {
        let known = |part: &&Submesh| self.files.get(&path).is_some_and(|f| f.named.contains_key(&part.name));
        let found = part.filter(known);
        if let (Some(part), None) = (part, found) {
            let (name, path) = (excerpt(&part.name), excerpt(&path));
            let message = format!("no submesh \"{name}\" in \"{path}\": all of it is used");
            warnings.add(message, || Place::file(file));
        }
        let centred = found.is_some_and(|p| p.centred);
        MeshFound::File(MeshKey { part: found.map(|p| p.name.clone()), centred, path })
    }

    /// The file of a mesh; `None` if it was never found.
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

    /// What moves the corners of a mesh to where they are meant to be, and how many there are.
    pub(super) fn shift_and_corners(&mut self, key: &MeshKey) -> (DVec3, usize) {
        let Measures { shift, corners, .. } = self.measures(key);
        (shift, corners)
    }

    /// The box round a mesh, scaled; `None` if there is nothing in it.
    pub(super) fn extents(&mut self, key: &MeshKey, scale: [f64; 3]) -> Result<Option<Extents>, Error> {
        let scale = DVec3::from_array(scale);
        let extents = self.measures(key).extents;
        let scaled = extents.map(|e| Extents { centre: e.centre * scale, size: e.size * scale.abs() });
        let inside = |p: DVec3| p.abs().max_element() <= MAX_METRES;
        match scaled {
            Some(e) if !(inside(e.min()) && inside(e.max())) => {
                Err(Error::file(&key.path, format!("mesh is larger than {MAX_METRES} m")))
            }
            other => Ok(other),
        }
    }

    /// The triangles of a mesh, scaled; `None` where there are too many, or none.
    pub(super) fn triangles(&mut self, key: &MeshKey, scale: [f64; 3]) -> Option<Arc<TriangleMesh>> {
        let Measures { triangles, corners, shift, .. } = self.measures(key);
        if triangles == 0 || triangles > MAX_SOLID_TRIANGLES || !self.afford(triangles + corners) {
            return None;
        }
        let file = self.file(key)?;
        let mesh = self.solids.entry((key.clone(), scale.map(f64::to_bits)));
        let make = || Arc::new(triangles_of(file.parts(key), shift, DVec3::from_array(scale)));
        Some(mesh.or_insert_with(make).clone())
    }

    /// Counts what is solid; whether there is room for it.
    fn afford(&mut self, more: usize) -> bool {
        let fits = self.solid + more <= MAX_ALL_SOLID;
        self.solid += if fits { more } else { 0 };
        fits
    }

    /// The triangles of a shape that has no file; `None` where there are too many, or none.
    pub(super) fn made_solid(&mut self, geometry: &Geometry) -> Option<Arc<TriangleMesh>> {
        let mesh = match geometry {
            Geometry::Polyline { points, height } => self.prism(points, *height)?,
            Geometry::Ellipsoid { radii } => Arc::new(ellipsoid(DVec3::from_array(*radii))),
            _ => return None,
        };
        self.afford(mesh.triangles.len() + mesh.vertices.len()).then_some(mesh)
    }

    /// A polygon with its height; `None` where it can't be cut up.
    pub(super) fn prism(&mut self, points: &[[f64; 2]], height: f64) -> Option<Arc<TriangleMesh>> {
        self.made.prism(points, height)
    }
}

fn triangles_of<'m>(
    parts: impl Iterator<Item = &'m collada::Part>,
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
