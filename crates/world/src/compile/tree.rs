//! The models of a world with all includes in place, as scopes of named frames.
//!
//! A scope is the world or a model. Every link, joint, frame and nested model is a frame of its
//! scope. Nothing is resolved yet: see [`super::frames`].

use super::library::{Found, Library, MAX_INCLUDES};
use super::place::Sought;
use super::uri::folder_of;
use crate::bundle::Assets;
use crate::error::Error;
use crate::spec::{Entry, FrameSpec, IncludeSpec, LightSpec, ModelSpec, PoseSpec, Spec};
use crate::xml::excerpt;
use std::collections::BTreeMap;

/// Includes inside of includes.
const MAX_INCLUDE_DEPTH: usize = 16;
/// Models inside of models, includes counted too.
const MAX_MODEL_DEPTH: usize = 128;
/// Models, links, joints, frames, visuals and collisions of a world.
pub(super) const MAX_PARTS: usize = 200_000;

/// The scope of the world itself.
pub(super) const WORLD: usize = 0;

static ZERO: PoseSpec = PoseSpec { xyz: [0.0; 3], rpy: [0.0; 3], relative_to: String::new() };

/// The world or a model.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    /// Its frame in the scope around it.
    pub(super) frame: Option<usize>,
    pub(super) model: Option<&'a ModelSpec>,
    /// As the file says, or as the include overrides it.
    pub(super) is_static: bool,
    /// The file it is written in.
    pub(super) file: &'a str,
    pub(super) names: BTreeMap<&'a str, usize>,
    /// Frames of the model's links, in their order.
    pub(super) links: Vec<usize>,
    /// Scopes of nested models.
    pub(super) children: Vec<usize>,
    /// Whether what is in it counts as part of the model around it.
    pub(super) merged: bool,
}

/// Something with a pose and a name.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) name: &'a str,
    pub(super) scope: usize,
    pub(super) pose: &'a PoseSpec,
    /// What the pose is relative to if it does not say; empty: the scope.
    pub(super) default: &'a str,
    pub(super) kind: Kind<'a>,
}

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A model, with its scope and the frame inside of it that the pose places.
    Model { inside: usize, placement: &'a str },
    /// A named frame, and what it is attached to.
    Named { attached_to: &'a str },
    /// A link, a joint, or an include that is not there.
    Other,
}

/// What stands in the world, in file order.
#[derive(Debug)]
pub(super) enum Top<'a> {
    /// A model.
    Model {
        /// Its scope.
        scope: usize,
        /// Whether it is written out in the world file: only then link names are markers.
        inline: bool,
    },
    /// A light source.
    Light(&'a LightSpec),
    /// The built-in sun.
    Sun,
    /// The built-in ground.
    GroundPlane {
        /// Where it is.
        frame: usize,
    },
}

/// All scopes and frames of a world.
pub(super) struct Tree<'a> {
    /// Where the files are, for the places of errors.
    pub(super) assets: Assets<'a>,
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) frames: Vec<Frame<'a>>,
    pub(super) tops: Vec<Top<'a>>,
}

/// A model about to be added.
struct Entering<'a> {
    model: &'a ModelSpec,
    name: &'a str,
    pose: &'a PoseSpec,
    placement: &'a str,
    is_static: bool,
    file: &'a str,
    merged: bool,
}

struct Builder<'a> {
    tree: Tree<'a>,
    library: &'a Library,
    parts: usize,
    includes: usize,
    /// Model files that are being entered, outermost first.
    open: Vec<&'a str>,
    depth: usize,
}

/// Puts all includes in place.
pub(super) fn build<'a>(
    spec: &'a Spec,
    file: &'a str,
    assets: &Assets<'a>,
    library: &'a Library,
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
    let mut b = Builder { tree, library, parts: 0, includes: 0, open: Vec::new(), depth: 0 };
    for frame in &spec.frames {
        b.named(WORLD, frame)?;
    }
    for entry in &spec.entries {
        let top = match entry {
            Entry::Model(m) => Some(Top::Model { scope: b.model(WORLD, own(m, file))?, inline: true }),
            Entry::Include(i) => b.include(WORLD, i)?,
            Entry::Light(l) => Some(Top::Light(l)),
        };
        b.tree.tops.extend(top);
    }
    Ok(b.tree)
}

/// A model as it stands in its file.
fn own<'a>(model: &'a ModelSpec, file: &'a str) -> Entering<'a> {
    Entering {
        model,
        name: &model.name,
        pose: &model.pose,
        placement: &model.placement_frame,
        is_static: model.is_static,
        file,
        merged: false,
    }
}

impl<'a> Builder<'a> {
    fn count(&mut self, file: &str, parts: usize) -> Result<(), Error> {
        self.parts = self.parts.saturating_add(parts);
        if self.parts > MAX_PARTS {
            return Err(Error::file(file, format!("more than {MAX_PARTS} parts, includes counted")));
        }
        Ok(())
    }

    fn frame(&mut self, frame: Frame<'a>) -> Result<usize, Error> {
        self.count(self.tree.scopes[frame.scope].file, 1)?;
        let id = self.tree.frames.len();
        // What is merged is seen in the model around it, too.
        let mut scope = frame.scope;
        loop {
            // Of two with one name the first is meant.
            self.tree.scopes[scope].names.entry(frame.name).or_insert(id);
            match self.tree.scopes[scope].frame.filter(|_| self.tree.scopes[scope].merged) {
                Some(around) => scope = self.tree.frames[around].scope,
                None => break,
            }
        }
        self.tree.frames.push(frame);
        Ok(id)
    }

    fn named(&mut self, scope: usize, f: &'a FrameSpec) -> Result<usize, Error> {
        let kind = Kind::Named { attached_to: &f.attached_to };
        self.frame(Frame { name: &f.name, scope, pose: &f.pose, default: &f.attached_to, kind })
    }

    fn model(&mut self, parent: usize, entering: Entering<'a>) -> Result<usize, Error> {
        let Entering { model, name, pose, placement, is_static, file, merged } = entering;
        if self.depth >= MAX_MODEL_DEPTH {
            let message = format!("models are nested deeper than {MAX_MODEL_DEPTH}");
            return Err(Error::file(file, message));
        }
        let scope = self.tree.scopes.len();
        let kind = Kind::Model { inside: scope, placement };
        let frame = self.frame(Frame { name, scope: parent, pose, default: "", kind })?;
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
            let id = self.frame(Frame { name, scope, pose, default: "", kind: Kind::Other })?;
            self.tree.scopes[scope].links.push(id);
        }
        for frame in &model.frames {
            self.named(scope, frame)?;
        }
        for joint in &model.joints {
            // A joint to the world stands in the model's own frame.
            let default = if joint.child == "world" { "" } else { joint.child.as_str() };
            self.frame(Frame { name: &joint.name, scope, pose: &joint.pose, default, kind: Kind::Other })?;
        }
        self.depth += 1;
        for nested in &model.models {
            self.model(scope, own(nested, file))?;
        }
        for include in &model.includes {
            self.include(scope, include)?;
        }
        self.depth -= 1;
        Ok(scope)
    }

    fn include(&mut self, scope: usize, include: &'a IncludeSpec) -> Result<Option<Top<'a>>, Error> {
        let file = self.tree.scopes[scope].file;
        self.includes += 1;
        if self.includes > MAX_INCLUDES {
            return Err(Error::file(file, format!("more than {MAX_INCLUDES} includes")));
        }
        let (path, model) = match self.library.get(folder_of(file), include) {
            Ok(found) => found,
            Err(found) => return self.stand_in(scope, include, found),
        };
        if self.open.contains(&path) {
            let place = self.tree.place(scope, Sought::Include(&include.uri));
            return Err(Error::at(place, format!("\"{}\" includes itself", excerpt(path))));
        }
        if self.open.len() >= MAX_INCLUDE_DEPTH {
            let place = self.tree.place(scope, Sought::Include(&include.uri));
            return Err(Error::at(place, format!("includes are nested deeper than {MAX_INCLUDE_DEPTH}")));
        }
        self.open.push(path);
        let placement = match include.placement_frame.as_str() {
            "" => &model.placement_frame,
            other => other,
        };
        let entering = Entering {
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
        Ok(Some(Top::Model { scope, inline: false }))
    }

    /// What is built in, or not there, still is a frame that others may be relative to.
    fn stand_in(
        &mut self,
        scope: usize,
        include: &'a IncludeSpec,
        found: Found,
    ) -> Result<Option<Top<'a>>, Error> {
        let default_name = match found {
            Found::Sun => "sun",
            Found::GroundPlane => "ground_plane",
            _ => "",
        };
        let name = include.name.as_deref().unwrap_or(default_name);
        let pose = include.pose.as_ref().unwrap_or(&ZERO);
        let frame = self.frame(Frame { name, scope, pose, default: "", kind: Kind::Other })?;
        Ok(match found {
            Found::Sun => Some(Top::Sun),
            Found::GroundPlane => Some(Top::GroundPlane { frame }),
            _ => None,
        })
    }
}
