//! Resolves the pose of every frame relative to its scope, which is the world or a model.
//!
//! In the file, a pose is relative to a reference frame. If a model has a placement frame, the pose
//! in the file is the pose of the placement frame. The pose of the model then also depends on the
//! pose of the placement frame inside the model. The dependencies are resolved with an explicit
//! stack, so that a long chain does not overflow the call stack and a cycle is detected.

use super::locate::ErrorSubject;
use super::tree::{FrameKind, Tree, WORLD};
use crate::error::Error;
use crate::pose::Pose;
use crate::sdf::MAX_METRES;
use crate::spec::PoseSpec;
use crate::xml::excerpt;

/// The reference frame of a pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReferenceFrame {
    /// The frame of the scope itself.
    Scope,
    /// The frame with this index, which belongs to the scope or to a nested scope.
    Frame(usize),
}

/// A tree of frames, with the pose of every frame relative to its scope.
pub(super) struct Frames<'a> {
    pub(super) tree: Tree<'a>,
    local: Vec<Pose>,
}

/// State of a frame during a depth-first search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    New,
    /// The frame is on the current search path: the search has not yet resolved all its
    /// dependencies. If one of these dependencies depends on the frame, there is a cycle.
    Open,
    Done,
}

impl<'a> Frames<'a> {
    /// Resolves all frames of a tree.
    pub(super) fn resolve(tree: Tree<'a>) -> Result<Frames<'a>, Error> {
        check_attachments(&tree)?;
        let count = tree.frames.len();
        let mut frames = Frames { tree, local: vec![Pose::IDENTITY; count] };
        let mut marks = vec![VisitState::New; count];
        let mut stack = Vec::new();
        let mut dependencies = Vec::new();
        for start in 0..count {
            stack.push(start);
            while let Some(id) = stack.pop() {
                match marks[id] {
                    VisitState::Done => {}
                    VisitState::Open => {
                        frames.local[id] = frames.compute(id)?;
                        marks[id] = VisitState::Done;
                    }
                    VisitState::New => {
                        marks[id] = VisitState::Open;
                        stack.push(id);
                        dependencies.clear();
                        frames.dependencies(id, &mut dependencies)?;
                        for dependency in &dependencies {
                            match marks[*dependency] {
                                VisitState::Done => {}
                                VisitState::New => stack.push(*dependency),
                                VisitState::Open => return Err(frames.tree.cycle(*dependency)),
                            }
                        }
                    }
                }
            }
        }
        Ok(frames)
    }

    /// Appends the frames that must be resolved before the frame `id`.
    fn dependencies(&self, id: usize, out: &mut Vec<usize>) -> Result<(), Error> {
        let scope = self.tree.frames[id].scope;
        if let ReferenceFrame::Frame(base) = self.tree.base(id)? {
            out.extend(self.tree.ancestors(base, scope));
        }
        if let FrameKind::Model { inside, .. } = self.tree.frames[id].kind
            && let ReferenceFrame::Frame(placed) = self.tree.placement(id)?
        {
            out.extend(self.tree.ancestors(placed, inside));
        }
        Ok(())
    }

    fn compute(&self, id: usize) -> Result<Pose, Error> {
        let frame = &self.tree.frames[id];
        let own = pose_of(frame.pose);
        let mut pose = match self.tree.base(id)? {
            ReferenceFrame::Scope => own,
            ReferenceFrame::Frame(base) => self.within(base, frame.scope).then(&own),
        };
        if let FrameKind::Model { inside, .. } = frame.kind
            && let ReferenceFrame::Frame(placed) = self.tree.placement(id)?
        {
            pose = pose.then(&self.within(placed, inside).inverse());
        }
        self.tree.checked(frame.scope, frame.name, pose)
    }

    /// Pose of a frame in the frame of an enclosing scope.
    fn within(&self, frame: usize, scope: usize) -> Pose {
        let mut path = self.tree.ancestors(frame, scope);
        let first = path.next().map_or(Pose::IDENTITY, |f| self.local[f]);
        path.fold(first, |pose, f| self.local[f].then(&pose))
    }

    /// Pose of a frame in the world.
    pub(super) fn in_world(&self, frame: usize) -> Pose {
        self.within(frame, WORLD)
    }

    /// Pose of a model in the frame of the world or of an enclosing model. `scope` is the scope of
    /// the model, and `enclosing` is the scope of the world or of the enclosing model. If both are
    /// the same scope, the result is the identity.
    pub(super) fn model_in(&self, scope: usize, enclosing: usize) -> Pose {
        match self.tree.scopes[scope].frame {
            Some(frame) if scope != enclosing => self.within(frame, enclosing),
            _ => Pose::IDENTITY,
        }
    }

    /// Pose of a part of a link, such as a visual, in the frame of the model.
    pub(super) fn part(&self, scope: usize, link: usize, pose: &PoseSpec) -> Result<Pose, Error> {
        self.placed(scope, ReferenceFrame::Frame(link), pose)
    }

    /// Pose of a top-level element that is not a frame, such as a light, in the world.
    pub(super) fn placed_in_world(&self, pose: &PoseSpec) -> Result<Pose, Error> {
        self.placed(WORLD, ReferenceFrame::Scope, pose)
    }

    fn placed(&self, scope: usize, default: ReferenceFrame, pose: &PoseSpec) -> Result<Pose, Error> {
        let own = pose_of(pose);
        let base = match pose.relative_to.as_str() {
            "" => default,
            name => self.tree.lookup(scope, name)?,
        };
        let (placed, name) = match base {
            ReferenceFrame::Scope => (own, ""),
            ReferenceFrame::Frame(frame) => {
                (self.within(frame, scope).then(&own), self.tree.frames[frame].name)
            }
        };
        self.tree.checked(scope, name, placed)
    }
}

impl Frames<'_> {
    /// Full names and world poses of all frames, collisions and visuals. A merged model itself is
    /// left out, but the frames inside the model are included.
    pub(super) fn all(&self) -> Result<Vec<(String, Pose)>, Error> {
        let mut all = Vec::new();
        let visible = (0..self.tree.frames.len()).filter(|id| !self.tree.is_merged(*id));
        all.extend(visible.map(|id| (self.full_name(id), self.in_world(id))));
        for (id, scope) in self.tree.scopes.iter().enumerate() {
            let Some(model) = scope.model else { continue };
            let model_pose = self.model_in(id, WORLD);
            for (link, frame) in model.links.iter().zip(&scope.links) {
                let collisions = link.collisions.iter().map(|c| (&c.name, &c.pose));
                let visuals = link.visuals.iter().map(|v| (&v.name, &v.pose));
                for (name, pose) in collisions.chain(visuals) {
                    let name = format!("{}::{name}", self.full_name(*frame));
                    all.push((name, model_pose.then(&self.part(id, *frame, pose)?)));
                }
            }
        }
        Ok(all)
    }

    fn full_name(&self, frame: usize) -> String {
        let path = self.tree.ancestors(frame, WORLD).filter(|f| !self.tree.is_merged(*f));
        let mut names: Vec<&str> = path.map(|f| self.tree.frames[f].name).collect();
        names.reverse();
        names.join("::")
    }
}

/// Converts the numbers of a pose. The result is still relative to the reference frame.
fn pose_of(spec: &PoseSpec) -> Pose {
    Pose::from_xyz_rpy(spec.xyz, spec.rpy)
}

impl Tree<'_> {
    /// A frame and the frames of the models around it, from the inside out. The frame of `scope` is
    /// not included.
    fn ancestors(&self, frame: usize, scope: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(frame), move |&f| {
            let enclosing = self.frames[f].scope;
            if enclosing == scope { None } else { self.scopes[enclosing].frame }
        })
    }

    /// Whether a frame is the frame of a model that was merged into its enclosing model.
    fn is_merged(&self, id: usize) -> bool {
        matches!(self.frames[id].kind, FrameKind::Model { inside, .. } if self.scopes[inside].merged)
    }

    /// The reference frame to which the pose of the frame `id` is relative.
    fn base(&self, id: usize) -> Result<ReferenceFrame, Error> {
        let frame = &self.frames[id];
        match (frame.pose.relative_to.as_str(), frame.default) {
            ("", "") => Ok(ReferenceFrame::Scope),
            ("", name) | (name, _) => self.lookup(frame.scope, name),
        }
    }

    /// The placement frame of the model with the frame `id`. The result is `Scope` if the model has
    /// no placement frame.
    fn placement(&self, id: usize) -> Result<ReferenceFrame, Error> {
        match self.frames[id].kind {
            FrameKind::Model { inside, placement } if !placement.is_empty() => self.lookup(inside, placement),
            _ => Ok(ReferenceFrame::Scope),
        }
    }

    /// Looks up a name in a scope. The name is `a`, or `a::b` for the frame `b` of the nested model
    /// `a`.
    fn lookup(&self, scope: usize, name: &str) -> Result<ReferenceFrame, Error> {
        let (mut inside, mut rest) = (scope, name);
        loop {
            match rest {
                "__model__" if inside != WORLD => {
                    let own = self.scopes[inside].frame.filter(|_| inside != scope);
                    return Ok(own.map_or(ReferenceFrame::Scope, ReferenceFrame::Frame));
                }
                "world" | "__root__" if inside == WORLD => return Ok(ReferenceFrame::Scope),
                _ => {}
            }
            // Try the whole name first, because a single name can contain `::`. Tools that merge
            // nested models into one model write such names.
            if let Some(found) = self.scopes[inside].names.get(rest) {
                return Ok(ReferenceFrame::Frame(*found));
            }
            let next = rest.split_once("::").and_then(|(first, next)| {
                let model = self.scopes[inside].names.get(first)?;
                match self.frames[*model].kind {
                    FrameKind::Model { inside, .. } => Some((inside, next)),
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
                return Err(Error::at(self.location(scope, ErrorSubject::Reference(name)), message));
            };
            (inside, rest) = (model, next);
        }
    }

    fn cycle(&self, id: usize) -> Error {
        let frame = &self.frames[id];
        let message = format!("the pose of \"{}\" depends on itself", excerpt(frame.name));
        Error::at(self.location(frame.scope, ErrorSubject::Named(frame.name)), message)
    }

    /// Checks the range of a resolved pose. The check is necessary, because a chain of valid poses
    /// can lead to a position that is too far away or not finite.
    fn checked(&self, scope: usize, name: &str, pose: Pose) -> Result<Pose, Error> {
        if pose.is_finite() && pose.position.abs().max_element() <= MAX_METRES {
            return Ok(pose);
        }
        let message = format!("the poses add up to a position farther than {MAX_METRES} m from the origin");
        Err(Error::at(self.location(scope, ErrorSubject::Named(name)), message))
    }
}

/// Checks the `attached_to` of every frame. The result is an error if the named frame does not
/// exist, or if the attachments form a cycle.
fn check_attachments(tree: &Tree<'_>) -> Result<(), Error> {
    let mut marks = vec![VisitState::New; tree.frames.len()];
    let mut path = Vec::new();
    for start in 0..tree.frames.len() {
        let mut next = Some(start);
        while let Some(id) = next {
            match marks[id] {
                VisitState::Done => break,
                VisitState::Open => {
                    let frame = &tree.frames[id];
                    let message = format!("frame \"{}\" is attached to itself", excerpt(frame.name));
                    let subject = ErrorSubject::Named(frame.name);
                    return Err(Error::at(tree.location(frame.scope, subject), message));
                }
                VisitState::New => {}
            }
            marks[id] = VisitState::Open;
            path.push(id);
            next = match tree.frames[id].kind {
                FrameKind::Named { attached_to } if !attached_to.is_empty() => {
                    match tree.lookup(tree.frames[id].scope, attached_to)? {
                        ReferenceFrame::Frame(to) => Some(to),
                        ReferenceFrame::Scope => None,
                    }
                }
                _ => None,
            };
        }
        path.drain(..).for_each(|id| marks[id] = VisitState::Done);
    }
    Ok(())
}
