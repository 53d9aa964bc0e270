//! The tree of all models of a world, including models from other files. The tree consists of
//! scopes with named frames.
//!
//! A scope is the world or a model. Every link, joint, frame and nested model is a frame of its
//! scope. The poses of the frames are resolved in the module [`super::frames`].

use super::library::{IncludeTarget, MAX_INCLUDES, MAX_PARTS, ModelLibrary};
use super::locate::{ErrorSubject, locate};
use super::uri::folder_of;
use crate::bundle::Assets;
use crate::error::{Error, SourceLocation};
use crate::spec::{FrameSpec, IncludeSpec, LightSpec, ModelSpec, PoseSpec, SdfEntry, Spec};
use crate::xml::excerpt;
use std::collections::BTreeMap;

/// Maximum nesting depth of includes.
const MAX_INCLUDE_DEPTH: usize = 16;
/// Maximum nesting depth of models, including models from other files.
const MAX_MODEL_DEPTH: usize = 128;

/// Index of the world's scope.
pub(super) const WORLD: usize = 0;

static ZERO: PoseSpec = PoseSpec { xyz: [0.0; 3], rpy: [0.0; 3], relative_to: String::new() };

/// A scope: the world or a model.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    /// Index of the model's frame, which belongs to the enclosing scope; `None` for the world.
    pub(super) frame: Option<usize>,
    /// The model; `None` for the world.
    pub(super) model: Option<&'a ModelSpec>,
    /// Whether the model never moves. An include can override the flag of the model file.
    pub(super) is_static: bool,
    /// Path of the file that defines the scope.
    pub(super) file: &'a str,
    /// Index of each frame that can be referred to in the scope, by name.
    pub(super) names: BTreeMap<&'a str, usize>,
    /// Indices of the frames of the model's links, in file order.
    pub(super) links: Vec<usize>,
    /// Indices of the scopes of nested models.
    pub(super) children: Vec<usize>,
    /// Whether the content of the scope counts as content of the enclosing model.
    pub(super) merged: bool,
}

/// A frame: a named element with a pose.
#[derive(Debug)]
pub(super) struct FrameNode<'a> {
    pub(super) name: &'a str,
    pub(super) scope: usize,
    pub(super) pose: &'a PoseSpec,
    /// Name of the reference frame that is used if the pose does not name a reference frame. An
    /// empty name means the frame of the scope.
    pub(super) default: &'a str,
    pub(super) kind: FrameKind<'a>,
}

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind<'a> {
    /// A model. `inside` is the index of its scope, and `placement` is the name of its placement
    /// frame.
    Model { inside: usize, placement: &'a str },
    /// A `<frame>` element.
    Named { attached_to: &'a str },
    /// A link, a joint, or an include that is not a model.
    Other,
}

/// A top-level element of the world.
#[derive(Debug)]
pub(super) enum TopLevel<'a> {
    /// A model.
    Model {
        /// Index of the model's scope.
        scope: usize,
        /// Whether the world file itself defines the model. Only in such a model can a link name be
        /// a marker.
        inline: bool,
    },
    /// A light source.
    Light(&'a LightSpec),
    /// The built-in sun.
    Sun,
    /// The built-in ground plane.
    GroundPlane {
        /// Index of the ground plane's frame.
        frame: usize,
    },
}

/// All scopes and frames of a world.
pub(super) struct Tree<'a> {
    /// The files of the world, which are read again to find the location of an error.
    assets: Assets<'a>,
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) frames: Vec<FrameNode<'a>>,
    /// The top-level elements in file order.
    pub(super) tops: Vec<TopLevel<'a>>,
}

impl Tree<'_> {
    /// The location of an element in the file of its scope. Error messages use this location.
    pub(super) fn location(&self, scope: usize, subject: ErrorSubject<'_>) -> SourceLocation {
        let scope = &self.scopes[scope];
        locate(&self.assets, scope.file, scope.model.map(|m| m.name.as_str()), subject)
    }
}

/// A model that is added to the tree. If the model comes from an include, the values that the
/// include overrides are already replaced.
struct NewModel<'a> {
    model: &'a ModelSpec,
    name: &'a str,
    pose: &'a PoseSpec,
    placement: &'a str,
    is_static: bool,
    file: &'a str,
    merged: bool,
}

struct TreeBuilder<'a> {
    tree: Tree<'a>,
    library: &'a ModelLibrary,
    parts: usize,
    includes: usize,
    /// The model files whose includes are being added, from the outermost to the innermost.
    open: Vec<&'a str>,
    depth: usize,
}

/// Builds the tree of a world and of all models that it includes.
pub(super) fn build<'a>(
    spec: &'a Spec,
    file: &'a str,
    assets: &Assets<'a>,
    library: &'a ModelLibrary,
) -> Result<Tree<'a>, Error> {
    let world = Scope {
        frame: None,
        model: None,
        is_static: true,
        file,
        names: BTreeMap::new(),
        links: Vec::new(),
        children: Vec::new(),
        merged: false,
    };
    let tree = Tree { assets: *assets, scopes: vec![world], frames: Vec::new(), tops: Vec::new() };
    let mut b = TreeBuilder { tree, library, parts: 0, includes: 0, open: Vec::new(), depth: 0 };
    for frame in &spec.frames {
        b.named(WORLD, frame)?;
    }
    for entry in &spec.entries {
        let top = match entry {
            SdfEntry::Model(m) => {
                Some(TopLevel::Model { scope: b.model(WORLD, without_overrides(m, file))?, inline: true })
            }
            SdfEntry::Include(i) => b.include(WORLD, i)?,
            SdfEntry::Light(l) => Some(TopLevel::Light(l)),
        };
        b.tree.tops.extend(top);
    }
    Ok(b.tree)
}

/// A model with the values of its own file. No include overrides these values.
fn without_overrides<'a>(model: &'a ModelSpec, file: &'a str) -> NewModel<'a> {
    NewModel {
        model,
        name: &model.name,
        pose: &model.pose,
        placement: &model.placement_frame,
        is_static: model.is_static,
        file,
        merged: false,
    }
}

impl<'a> TreeBuilder<'a> {
    /// Adds `parts` to the number of parts. The result is an error if the number exceeds
    /// `MAX_PARTS`.
    fn count(&mut self, file: &str, parts: usize) -> Result<(), Error> {
        self.parts = self.parts.saturating_add(parts);
        if self.parts > MAX_PARTS {
            return Err(Error::file(file, format!("more than {MAX_PARTS} parts, with includes")));
        }
        Ok(())
    }

    fn frame(&mut self, frame: FrameNode<'a>) -> Result<usize, Error> {
        self.count(self.tree.scopes[frame.scope].file, 1)?;
        let id = self.tree.frames.len();
        // A frame inside a merged model can also be referred to in the enclosing model.
        let mut scope = frame.scope;
        loop {
            // If several frames have the same name, the first one is used.
            self.tree.scopes[scope].names.entry(frame.name).or_insert(id);
            match self.tree.scopes[scope].frame.filter(|_| self.tree.scopes[scope].merged) {
                Some(model) => scope = self.tree.frames[model].scope,
                None => break,
            }
        }
        self.tree.frames.push(frame);
        Ok(id)
    }

    fn named(&mut self, scope: usize, f: &'a FrameSpec) -> Result<usize, Error> {
        let kind = FrameKind::Named { attached_to: &f.attached_to };
        self.frame(FrameNode { name: &f.name, scope, pose: &f.pose, default: &f.attached_to, kind })
    }

    fn model(&mut self, parent: usize, entering: NewModel<'a>) -> Result<usize, Error> {
        let NewModel { model, name, pose, placement, is_static, file, merged } = entering;
        if self.depth >= MAX_MODEL_DEPTH {
            let message = format!("models are nested deeper than {MAX_MODEL_DEPTH}");
            return Err(Error::file(file, message));
        }
        let scope = self.tree.scopes.len();
        let kind = FrameKind::Model { inside: scope, placement };
        let frame = self.frame(FrameNode { name, scope: parent, pose, default: "", kind })?;
        self.tree.scopes.push(Scope {
            frame: Some(frame),
            model: Some(model),
            is_static,
            file,
            names: BTreeMap::new(),
            links: Vec::new(),
            children: Vec::new(),
            merged,
        });
        if parent != WORLD {
            self.tree.scopes[parent].children.push(scope);
        }
        for link in &model.links {
            self.count(file, link.visuals.len() + link.collisions.len())?;
            let (name, pose) = (link.name.as_str(), &link.pose);
            let id = self.frame(FrameNode { name, scope, pose, default: "", kind: FrameKind::Other })?;
            self.tree.scopes[scope].links.push(id);
        }
        for frame in &model.frames {
            self.named(scope, frame)?;
        }
        for joint in &model.joints {
            // If the child of a joint is the world, the pose of the joint is relative to the model.
            let default = if joint.child == "world" { "" } else { joint.child.as_str() };
            self.frame(FrameNode {
                name: &joint.name,
                scope,
                pose: &joint.pose,
                default,
                kind: FrameKind::Other,
            })?;
        }
        self.depth += 1;
        for nested in &model.models {
            self.model(scope, without_overrides(nested, file))?;
        }
        for include in &model.includes {
            self.include(scope, include)?;
        }
        self.depth -= 1;
        Ok(scope)
    }

    fn include(&mut self, scope: usize, include: &'a IncludeSpec) -> Result<Option<TopLevel<'a>>, Error> {
        let file = self.tree.scopes[scope].file;
        self.includes += 1;
        if self.includes > MAX_INCLUDES {
            return Err(Error::file(file, format!("more than {MAX_INCLUDES} includes")));
        }
        let (path, model) = match self.library.get(folder_of(file), include) {
            Ok(found) => found,
            Err(found) => return self.include_without_model(scope, include, found),
        };
        if self.open.contains(&path) {
            let location = self.tree.location(scope, ErrorSubject::Include(&include.uri));
            return Err(Error::at(location, format!("\"{}\" includes itself", excerpt(path))));
        }
        if self.open.len() >= MAX_INCLUDE_DEPTH {
            let location = self.tree.location(scope, ErrorSubject::Include(&include.uri));
            return Err(Error::at(location, format!("includes are nested deeper than {MAX_INCLUDE_DEPTH}")));
        }
        self.open.push(path);
        let placement = match include.placement_frame.as_str() {
            "" => &model.placement_frame,
            other => other,
        };
        let entering = NewModel {
            model,
            name: include.name.as_deref().unwrap_or(&model.name),
            pose: include.pose.as_ref().unwrap_or(&model.pose),
            placement,
            is_static: include.is_static.unwrap_or(model.is_static),
            file: path,
            merged: include.merge && scope != WORLD,
        };
        let scope = self.model(scope, entering)?;
        self.open.pop();
        Ok(Some(TopLevel::Model { scope, inline: false }))
    }

    /// Adds a frame for an include whose target is built-in or missing. The frame is necessary,
    /// because other poses may be relative to the frame. Returns the built-in sun or ground plane,
    /// or `None` if the target is missing.
    fn include_without_model(
        &mut self,
        scope: usize,
        include: &'a IncludeSpec,
        found: IncludeTarget,
    ) -> Result<Option<TopLevel<'a>>, Error> {
        let default_name = match found {
            IncludeTarget::Sun => "sun",
            IncludeTarget::GroundPlane => "ground_plane",
            _ => "",
        };
        let name = include.name.as_deref().unwrap_or(default_name);
        let pose = include.pose.as_ref().unwrap_or(&ZERO);
        let frame = self.frame(FrameNode { name, scope, pose, default: "", kind: FrameKind::Other })?;
        Ok(match found {
            IncludeTarget::Sun => Some(TopLevel::Sun),
            IncludeTarget::GroundPlane => Some(TopLevel::GroundPlane { frame }),
            _ => None,
        })
    }
}
