//! A model as one rigid thing: everything in it, however nested, in the model's own frame.

use super::frames::Frames;
use crate::error::Error;
use crate::pose::Pose;
use crate::spec::{CollisionSpec, InertialSpec, ModelSpec, VisualSpec};
use crate::world::ObjectType;

/// A part of a model and where it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a, T> {
    /// In the model's own frame.
    pub(super) pose: Pose,
    pub(super) spec: &'a T,
    /// The file it is written in: relative paths start from its folder, and messages name it.
    pub(super) file: &'a str,
}

/// A top-level model.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub(super) name: &'a str,
    /// What the names of its links mark it as: its own, then those merged into it.
    pub(super) marker: Option<ObjectType>,
    pub(super) is_static: bool,
    /// Its own frame in the world.
    pub(super) origin: Pose,
    pub(super) collisions: Vec<Part<'a, CollisionSpec>>,
    pub(super) visuals: Vec<Part<'a, VisualSpec>>,
    pub(super) inertials: Vec<Part<'a, InertialSpec>>,
    pub(super) has_joints: bool,
}

impl<'a> Body<'a> {
    /// Gathers a top-level model; `None` if the scope is the world.
    pub(super) fn gather(frames: &Frames<'a>, top: usize) -> Result<Option<Body<'a>>, Error> {
        let scope = &frames.tree.scopes[top];
        let (Some(_), Some(frame)) = (scope.model, scope.frame) else { return Ok(None) };
        let mut body = Body {
            name: frames.tree.frames[frame].name,
            marker: None,
            is_static: scope.is_static,
            origin: frames.in_world(frame),
            collisions: Vec::new(),
            visuals: Vec::new(),
            inertials: Vec::new(),
            has_joints: false,
        };
        // Scopes, and whether their links are the model's own.
        let mut todo = vec![(top, true)];
        while let Some((id, own)) = todo.pop() {
            let scope = &frames.tree.scopes[id];
            body.take(frames, top, id)?;
            if own {
                body.marker = body.marker.or(scope.model.and_then(ModelSpec::marker));
            }
            todo.extend(scope.children.iter().rev().map(|c| (*c, own && frames.tree.scopes[*c].merged)));
        }
        Ok(Some(body))
    }

    fn take(&mut self, frames: &Frames<'a>, top: usize, id: usize) -> Result<(), Error> {
        let scope = &frames.tree.scopes[id];
        let Some(model) = scope.model else { return Ok(()) };
        let file = scope.file;
        let above = frames.model_in(id, top);
        self.has_joints |= !model.joints.is_empty();
        for (link, frame) in model.links.iter().zip(&scope.links) {
            let place = |pose| frames.part(id, *frame, pose).map(|p| above.then(&p));
            for spec in &link.collisions {
                self.collisions.push(Part { pose: place(&spec.pose)?, spec, file });
            }
            for spec in &link.visuals {
                self.visuals.push(Part { pose: place(&spec.pose)?, spec, file });
            }
            if let Some(spec) = &link.inertial {
                self.inertials.push(Part { pose: place(&spec.pose)?, spec, file });
            }
        }
        Ok(())
    }
}
