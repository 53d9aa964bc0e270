//! Traverses the scene of a mesh file and collects its parts with their transforms and materials.
//!
//! A file can use the same node many times, also inside other nodes. The size of the scene can
//! therefore be exponential in the size of the file. For this reason, the traversal limits the
//! number of its steps and the number of triangles.

use super::geometry::{self, Mesh};
use super::material::Materials;
use super::source::local;
use super::transform::{self, VertexTransform, transformed_part};
use super::{Group, MAX_TRIANGLES, MeshPart, Model};
use crate::error::{Error, Warnings};
use crate::xml::{Document, Element, MAX_MESH, excerpt};
use glam::DAffine3;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Maximum nesting depth of nodes. Nested nodes and instances of nodes both add to the depth.
const MAX_DEPTH: usize = 64;
/// Maximum number of steps of the traversal. A visited element is one step for each of its
/// instances. Every 64 bytes of a reference that is looked up are one more step.
const MAX_STEPS: usize = 500_000;
/// Maximum length of a part's name, in characters. Longer names are truncated.
const MAX_NAME: usize = 200;

/// Reads a mesh file. Unsupported content is ignored, in most cases with a warning.
pub fn read(file: &str, bytes: &[u8], warnings: &mut Warnings) -> Result<Model, Error> {
    let doc = Document::parse(file, bytes, MAX_MESH)?;
    doc.warn_of_tolerated(warnings);
    if doc.root.name != "COLLADA" {
        let message = format!("not a COLLADA file: its root element is <{}>", excerpt(&doc.root.name));
        return Err(doc.error(&doc.root, message));
    }
    let world = transform::of_asset(&doc)?;
    let materials = Materials::read(&doc, warnings)?;
    let mut traversal = Traversal::new(&doc, materials, warnings);
    match scene(&doc.root) {
        Some(scene) => traversal.node(scene, world, 0)?,
        None => {
            for geometry in library(&doc.root, "library_geometries", "geometry") {
                traversal.step(geometry, 1)?;
                traversal.part(geometry, geometry, None, world, None)?;
            }
        }
    }
    if traversal.parts.is_empty() {
        traversal.warnings.add("the mesh has no triangles", || doc.location(&doc.root));
    }
    Ok(Model { parts: traversal.parts, materials: traversal.materials.list })
}

fn library<'a>(
    root: &'a Element,
    library: &'static str,
    item: &'static str,
) -> impl Iterator<Item = &'a Element> {
    root.all(library).flat_map(move |l| l.all(item))
}

/// The scene that the `<scene>` element refers to. If there is no such scene, returns the first
/// scene of the file. The result is `None` if the file has no scene.
fn scene(root: &Element) -> Option<&Element> {
    let named = root.path(&["scene", "instance_visual_scene"]).and_then(|i| local(i.attribute("url")?));
    let mut scenes = library(root, "library_visual_scenes", "visual_scene");
    let first = scenes.next();
    first
        .filter(|s| s.attribute("id") == named)
        .or_else(|| scenes.find(|s| s.attribute("id") == named))
        .or(first)
}

struct Traversal<'a, 'w> {
    doc: &'a Document<'a>,
    warnings: &'w mut Warnings,
    materials: Materials<'a>,
    geometries: BTreeMap<&'a str, &'a Element>,
    controllers: BTreeMap<&'a str, &'a Element>,
    nodes: BTreeMap<&'a str, &'a Element>,
    /// Cache of geometries, by the byte offset of their element in the file.
    meshes: BTreeMap<usize, Rc<Mesh<'a>>>,
    /// Cache of transforms, by the byte offset of their element in the file.
    transforms: BTreeMap<usize, DAffine3>,
    steps: usize,
    triangles: usize,
    parts: Vec<MeshPart>,
}

impl<'a, 'w> Traversal<'a, 'w> {
    fn new(doc: &'a Document<'a>, materials: Materials<'a>, warnings: &'w mut Warnings) -> Traversal<'a, 'w> {
        let by_id = |name: &'static str, item: &'static str| {
            library(&doc.root, name, item).filter_map(|e| Some((e.attribute("id")?, e))).collect()
        };
        let mut nodes = BTreeMap::new();
        for name in ["library_nodes", "library_visual_scenes"] {
            doc.root.all(name).for_each(|l| collect_nodes(l, &mut nodes));
        }
        Traversal {
            doc,
            warnings,
            materials,
            geometries: by_id("library_geometries", "geometry"),
            controllers: by_id("library_controllers", "controller"),
            nodes,
            meshes: BTreeMap::new(),
            transforms: BTreeMap::new(),
            steps: 0,
            triangles: 0,
            parts: Vec::new(),
        }
    }

    /// Adds `steps` to the step counter. The result is an error if the counter exceeds `MAX_STEPS`.
    fn step(&mut self, e: &Element, steps: usize) -> Result<(), Error> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            let message =
                format!("the scene has more than {MAX_STEPS} elements, counting every instance of a node");
            return Err(self.doc.error(e, message));
        }
        Ok(())
    }

    /// Visits a node or a scene with all its descendants.
    fn node(&mut self, node: &'a Element, parent: DAffine3, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            let message =
                format!("nodes are nested deeper than {MAX_DEPTH}; check whether one instances itself");
            return Err(self.doc.error(node, message));
        }
        self.step(node, 1 + node.children.len())?;
        let world = parent * self.transform(node, transform::of_node)?;
        let name = node.attribute("name").or(node.attribute("id"));
        for e in &node.children {
            match e.name.as_str() {
                "node" => self.node(e, world, depth + 1)?,
                "instance_node" => {
                    if let Some(target) = self.target(e, "node", |w| &w.nodes)? {
                        self.node(target, world, depth + 1)?;
                    }
                }
                "instance_geometry" => {
                    if let Some(geometry) = self.target(e, "geometry", |w| &w.geometries)? {
                        self.part(e, geometry, Some(e), world, name)?;
                    }
                }
                "instance_controller" => self.controller(e, world, name)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The transform of an element. The first call for an element computes the transform with
    /// `read`. Later calls return the cached transform.
    fn transform(
        &mut self,
        e: &'a Element,
        read: fn(&Document<'_>, &Element, &mut Warnings) -> Result<DAffine3, Error>,
    ) -> Result<DAffine3, Error> {
        if let Some(known) = self.transforms.get(&e.offset) {
            return Ok(*known);
        }
        let transform = read(self.doc, e, self.warnings)?;
        self.transforms.insert(e.offset, transform);
        Ok(transform)
    }

    /// Adds the geometry of a skin or morph controller in its rest pose.
    fn controller(&mut self, e: &'a Element, world: DAffine3, name: Option<&str>) -> Result<(), Error> {
        let doc = self.doc;
        let Some(controller) = self.target(e, "controller", |w| &w.controllers)? else { return Ok(()) };
        self.warnings.add("an animated mesh is shown in its rest pose", || doc.location(e));
        let skin = controller.child("skin").or(controller.child("morph"));
        self.step(e, controller.children.len() + skin.map_or(0, |s| s.children.len()))?;
        let source = skin.and_then(|s| local(s.attribute("source")?));
        let Some(geometry) = source.and_then(|id| self.geometries.get(id).copied()) else {
            self.warnings.add("a controller without a geometry is ignored", || doc.location(e));
            return Ok(());
        };
        let bind = match skin.and_then(|s| s.child("bind_shape_matrix")) {
            Some(matrix) => self.transform(matrix, |doc, e, _| transform::matrix(doc, e))?,
            None => DAffine3::IDENTITY,
        };
        self.part(e, geometry, Some(e), world * bind, name)
    }

    /// The element that an instance refers to. If this element does not exist, a warning is added
    /// and the result is `None`.
    fn target(
        &mut self,
        e: &'a Element,
        what: &str,
        list: impl Fn(&Self) -> &BTreeMap<&'a str, &'a Element>,
    ) -> Result<Option<&'a Element>, Error> {
        let url = e.attribute("url").unwrap_or("");
        self.step(e, url.len() / 64)?;
        let found = local(url).and_then(|id| list(self).get(id).copied());
        if found.is_none() {
            let message = format!("no {what} '{}' in this file", excerpt(url));
            self.warnings.add(message, || self.doc.location(e));
        }
        Ok(found)
    }

    /// Adds an instance of a geometry. `binding` is the element that contains a `<bind_material>`.
    /// The `<bind_material>` maps the material symbols of the geometry to materials. If `binding`
    /// is `None`, each symbol is used as the id or name of a material.
    fn part(
        &mut self,
        e: &'a Element,
        geometry: &'a Element,
        binding: Option<&'a Element>,
        world: DAffine3,
        name: Option<&str>,
    ) -> Result<(), Error> {
        let mesh = match self.meshes.get(&geometry.offset) {
            Some(mesh) => Rc::clone(mesh),
            None => {
                let mesh = Rc::new(geometry::read(self.doc, geometry, self.warnings)?);
                self.meshes.insert(geometry.offset, Rc::clone(&mesh));
                mesh
            }
        };
        self.triangles += mesh.welded.indices.len() / 3;
        if self.triangles > MAX_TRIANGLES {
            return Err(self.doc.error(e, format!("more than {MAX_TRIANGLES} triangles in total")));
        }
        if mesh.runs.is_empty() {
            return Ok(());
        }
        let transform = VertexTransform::new(world);
        let groups = self.groups(e, &mesh, binding, transform.mirrors)?;
        let mut part = transformed_part(&mesh, groups, &transform)
            .ok_or_else(|| self.doc.error(e, "a transformed vertex of this geometry is out of range"))?;
        let name = name.or(geometry.attribute("name")).or(geometry.attribute("id"));
        part.name = name.unwrap_or("").chars().take(MAX_NAME).collect();
        self.parts.push(part);
        Ok(())
    }

    /// The triangles of a geometry, grouped by material.
    fn groups(
        &mut self,
        e: &'a Element,
        mesh: &Mesh<'a>,
        binding: Option<&'a Element>,
        mirrored: bool,
    ) -> Result<Vec<Group>, Error> {
        let doc = self.doc;
        let mut bound: BTreeMap<&str, &str> = BTreeMap::new();
        let bind = binding.and_then(|b| b.child("bind_material"));
        let technique = bind.and_then(|b| b.child("technique_common"));
        let looked_at = [binding, bind, technique].into_iter().flatten().map(|e| e.children.len()).sum();
        self.step(e, looked_at)?;
        for m in technique.into_iter().flat_map(|t| t.all("instance_material")) {
            if let (Some(symbol), Some(target)) = (m.attribute("symbol"), m.attribute("target")) {
                self.step(m, (symbol.len() + target.len()) / 64)?;
                bound.entry(symbol).or_insert(target);
            }
        }
        self.step(e, mesh.runs.len())?;
        let mut groups: Vec<Group> = Vec::new();
        let mut group_of: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        for (symbol, run) in &mesh.runs {
            self.step(e, symbol.map_or(0, str::len) / 64)?;
            let material = symbol.and_then(|symbol| {
                let target = bound.get(symbol).map_or(symbol, |t| local(t).unwrap_or(t));
                let found = self.materials.find(target);
                if found.is_none() {
                    let message = format!("no material '{}' for a mesh", excerpt(target));
                    self.warnings.add(message, || doc.location(e));
                }
                found
            });
            let group = *group_of.entry(material).or_insert_with(|| {
                groups.push(Group { material, indices: Vec::new() });
                groups.len() - 1
            });
            let corners = &mesh.welded.indices[run.clone()];
            if mirrored {
                groups[group].indices.extend(corners.chunks_exact(3).flat_map(|t| [t[0], t[2], t[1]]));
            } else {
                groups[group].indices.extend(corners);
            }
        }
        Ok(groups)
    }
}

/// Collects all nodes below an element, by id. If several nodes have the same id, the first one is
/// used.
fn collect_nodes<'a>(e: &'a Element, nodes: &mut BTreeMap<&'a str, &'a Element>) {
    for child in &e.children {
        if child.name == "node"
            && let Some(id) = child.attribute("id")
        {
            nodes.entry(id).or_insert(child);
        }
        if matches!(child.name.as_str(), "node" | "visual_scene") {
            collect_nodes(child, nodes);
        }
    }
}
