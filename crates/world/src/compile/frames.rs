//! Poses of frames: every pose is brought from "relative to whatever the file says" to its scope.
//!
//! The pose of a frame in its scope depends on that of the frame it is relative to, and, for a
//! model placed by one of its own frames, on that frame inside the model. The dependencies are
//! walked with a stack of our own, so that a chain of any length is fine and a loop is found.

use super::place::Sought;
use super::tree::{Kind, Tree, WORLD};
use crate::error::Error;
use crate::pose::Pose;
use crate::sdf::MAX_METRES;
use crate::spec::PoseSpec;
use crate::xml::excerpt;

/// What a name in a scope stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The scope itself.
    Scope,
    /// A frame of the scope or of a scope inside it.
    Frame(usize),
}

/// A tree with the pose of every frame in its scope.
pub(super) struct Frames<'a> {
    pub(super) tree: Tree<'a>,
    local: Vec<Pose>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

impl<'a> Frames<'a> {
    /// Resolves every frame of a tree.
    pub(super) fn resolve(tree: Tree<'a>) -> Result<Frames<'a>, Error> {
        check_attachments(&tree)?;
        let count = tree.frames.len();
        let mut frames = Frames { tree, local: vec![Pose::IDENTITY; count] };
        let mut marks = vec![Mark::New; count];
        let mut stack = Vec::new();
        let mut needs = Vec::new();
        for start in 0..count {
            stack.push(start);
            while let Some(id) = stack.pop() {
                match marks[id] {
                    Mark::Done => {}
                    Mark::Open => {
                        frames.local[id] = frames.compute(id)?;
                        marks[id] = Mark::Done;
                    }
                    Mark::New => {
                        marks[id] = Mark::Open;
                        stack.push(id);
                        needs.clear();
                        frames.needs(id, &mut needs)?;
                        for need in &needs {
                            match marks[*need] {
                                Mark::Done => {}
                                Mark::New => stack.push(*need),
                                Mark::Open => return Err(frames.tree.cycle(*need)),
                            }
                        }
                    }
                }
            }
        }
        Ok(frames)
    }

    /// The frames that must be known before this one.
    fn needs(&self, id: usize, out: &mut Vec<usize>) -> Result<(), Error> {
        let scope = self.tree.frames[id].scope;
        if let Base::Frame(base) = self.tree.base(id)? {
            out.extend(self.tree.way_up(base, scope));
        }
        if let Kind::Model { inside, .. } = self.tree.frames[id].kind
            && let Base::Frame(placed) = self.tree.placement(id)?
        {
            out.extend(self.tree.way_up(placed, inside));
        }
        Ok(())
    }

    fn compute(&self, id: usize) -> Result<Pose, Error> {
        let frame = &self.tree.frames[id];
        let own = pose_of(frame.pose);
        let mut pose = match self.tree.base(id)? {
            Base::Scope => own,
            Base::Frame(base) => self.within(base, frame.scope).then(&own),
        };
        if let Kind::Model { inside, .. } = frame.kind
            && let Base::Frame(placed) = self.tree.placement(id)?
        {
            pose = pose.then(&self.within(placed, inside).inverse());
        }
        self.tree.checked(frame.scope, frame.name, pose)
    }

    /// Pose of a frame in a scope around it.
    fn within(&self, frame: usize, scope: usize) -> Pose {
        let mut way = self.tree.way_up(frame, scope);
        let first = way.next().map_or(Pose::IDENTITY, |f| self.local[f]);
        way.fold(first, |pose, f| self.local[f].then(&pose))
    }

    /// Pose of a frame in the world.
    pub(super) fn in_world(&self, frame: usize) -> Pose {
        self.within(frame, WORLD)
    }

    /// Pose of a model's own frame in one of the models around it.
    pub(super) fn model_in(&self, scope: usize, around: usize) -> Pose {
        match self.tree.scopes[scope].frame {
            Some(frame) if scope != around => self.within(frame, around),
            _ => Pose::IDENTITY,
        }
    }

    /// Pose, in the model, of something that stands in one of its links.
    pub(super) fn part(&self, scope: usize, link: usize, pose: &PoseSpec) -> Result<Pose, Error> {
        self.placed(scope, Base::Frame(link), pose)
    }

    /// Pose of something in the world that is no frame itself.
    pub(super) fn placed_in_world(&self, pose: &PoseSpec) -> Result<Pose, Error> {
        self.placed(WORLD, Base::Scope, pose)
    }

    fn placed(&self, scope: usize, default: Base, pose: &PoseSpec) -> Result<Pose, Error> {
        let own = pose_of(pose);
        let base = match pose.relative_to.as_str() {
            "" => default,
            name => self.tree.lookup(scope, name)?,
        };
        let (placed, name) = match base {
            Base::Scope => (own, ""),
            Base::Frame(frame) => (self.within(frame, scope).then(&own), self.tree.frames[frame].name),
        };
        self.tree.checked(scope, name, placed)
    }
}

impl Frames<'_> {
    /// Names and poses in the world of all frames, collisions and visuals.
    pub(super) fn all(&self) -> Result<Vec<(String, Pose)>, Error> {
        let mut all = Vec::new();
        let seen = (0..self.tree.frames.len()).filter(|id| !self.tree.is_merged(*id));
        all.extend(seen.map(|id| (self.full_name(id), self.in_world(id))));
        for (id, scope) in self.tree.scopes.iter().enumerate() {
            let Some(model) = scope.model else { continue };
            let above = self.model_in(id, WORLD);
            for (link, frame) in model.links.iter().zip(&scope.links) {
                let collisions = link.collisions.iter().map(|c| (&c.name, &c.pose));
                let visuals = link.visuals.iter().map(|v| (&v.name, &v.pose));
                for (name, pose) in collisions.chain(visuals) {
                    let name = format!("{}::{name}", self.full_name(*frame));
                    all.push((name, above.then(&self.part(id, *frame, pose)?)));
                }
            }
        }
        Ok(all)
    }

    fn full_name(&self, frame: usize) -> String {
        let way = self.tree.way_up(frame, WORLD).filter(|f| !self.tree.is_merged(*f));
        let mut names: Vec<&str> = way.map(|f| self.tree.frames[f].name).collect();
        names.reverse();
        names.join("::")
    }
}

/// A pose as written, without what it is relative to.
fn pose_of(spec: &PoseSpec) -> Pose {
    Pose::from_xyz_rpy(spec.xyz, spec.rpy)
}

impl Tree<'_> {
    /// A frame and the models around it, up to and without `scope`.
    fn way_up(&self, frame: usize, scope: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(frame), move |&f| {
            let around = self.frames[f].scope;
            if around == scope { None } else { self.scopes[around].frame }
        })
    }

    /// Whether a frame is that of a model which was merged into the one around it.
    fn is_merged(&self, id: usize) -> bool {
        matches!(self.frames[id].kind, Kind::Model { inside, .. } if self.scopes[inside].merged)
    }

    fn base(&self, id: usize) -> Result<Base, Error> {
        let frame = &self.frames[id];
        match (frame.pose.relative_to.as_str(), frame.default) {
            ("", "") => Ok(Base::Scope),
            ("", name) | (name, _) => self.lookup(frame.scope, name),
        }
    }

    fn placement(&self, id: usize) -> Result<Base, Error> {
        match self.frames[id].kind {
            Kind::Model { inside, placement } if !placement.is_empty() => self.lookup(inside, placement),
            _ => Ok(Base::Scope),
        }
    }

    /// Finds a name as seen from inside a scope: `a`, or `a::b` for `b` inside the model `a`.
    fn lookup(&self, scope: usize, name: &str) -> Result<Base, Error> {
        let (mut inside, mut rest) = (scope, name);
        loop {
            match rest {
                "__model__" if inside != WORLD => {
                    let own = self.scopes[inside].frame.filter(|_| inside != scope);
                    return Ok(own.map_or(Base::Scope, Base::Frame));
                }
                "world" | "__root__" if inside == WORLD => return Ok(Base::Scope),
                _ => {}
            }
            // Flattened models carry names with the scope written into them.
            if let Some(found) = self.scopes[inside].names.get(rest) {
                return Ok(Base::Frame(*found));
            }
            let next = rest.split_once("::").and_then(|(first, next)| {
                let model = self.scopes[inside].names.get(first)?;
                match self.frames[*model].kind {
                    Kind::Model { inside, .. } => Some((inside, next)),
                    _ => None,
                }
            });
            let Some((model, next)) = next else {
                let message = match self.scopes[scope].frame {
                    Some(own) => format!(
                        "no frame named \"{}\" in model \"{}\"",
                        excerpt(name),
                        excerpt(self.frames[own].name)
                    ),
                    None => format!("no frame named \"{}\" in the world", excerpt(name)),
                };
                return Err(Error::at(self.place(scope, Sought::Reference(name)), message));
            };
            (inside, rest) = (model, next);
        }
    }

    fn cycle(&self, id: usize) -> Error {
        let frame = &self.frames[id];
        let message = format!("the pose of \"{}\" depends on itself", excerpt(frame.name));
        Error::at(self.place(frame.scope, Sought::Named(frame.name)), message)
    }

    /// Poses add up; what they add up to must still be a place.
    fn checked(&self, scope: usize, name: &str, pose: Pose) -> Result<Pose, Error> {
        if pose.is_finite() && pose.position.abs().max_element() <= MAX_METRES {
            return Ok(pose);
        }
        let message = format!("poses add up to a place farther away than {MAX_METRES} m");
        Err(Error::at(self.place(scope, Sought::Named(name)), message))
    }
}

/// What a frame is attached to must exist, and not be attached to the frame in turn.
fn check_attachments(tree: &Tree<'_>) -> Result<(), Error> {
    let mut marks = vec![Mark::New; tree.frames.len()];
    let mut way = Vec::new();
    for start in 0..tree.frames.len() {
        let mut next = Some(start);
        while let Some(id) = next {
            match marks[id] {
                Mark::Done => break,
                Mark::Open => {
                    let frame = &tree.frames[id];
                    let message = format!("frame \"{}\" is attached to itself", excerpt(frame.name));
                    return Err(Error::at(tree.place(frame.scope, Sought::Named(frame.name)), message));
                }
                Mark::New => {}
            }
            marks[id] = Mark::Open;
            way.push(id);
            next = match tree.frames[id].kind {
                Kind::Named { attached_to } if !attached_to.is_empty() => {
                    match tree.lookup(tree.frames[id].scope, attached_to)? {
                        Base::Frame(to) => Some(to),
                        Base::Scope => None,
                    }
                }
                _ => None,
            };
        }
        way.drain(..).for_each(|id| marks[id] = Mark::Done);
    }
    Ok(())
}
