//! Treats a top-level model as one rigid body. The body has the parts of all links and nested
//! models. The pose of each part is in the frame of the top-level model.

use super::frames::Frames;
use crate::error::Error;
use crate::pose::Pose;
use crate::spec::{CollisionSpec, InertialSpec, ModelSpec, VisualSpec};
use crate::world::ObjectType;

/// A collision, visual or inertial of a model, with its pose.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedSpec<'a, T> {
    /// Pose in the model's frame.
    pub(super) pose: Pose,
    pub(super) spec: &'a T,
    /// Path of the file that defines the part. Relative URIs of the part are resolved against the
    /// folder of this file.
    pub(super) file: &'a str,
}

/// A top-level model as one rigid body.
#[derive(Debug)]
pub(super) struct RigidModel<'a> {
    pub(super) name: &'a str,
    /// The object type that the names of the model's links declare. The model's own links are
    /// searched first, then the links of models that are merged into this model. The value is
    /// `None` if no link declares a type.
    pub(super) marker: Option<ObjectType>,
    pub(super) is_static: bool,
    /// Pose of the model's frame in the world.
    pub(super) origin: Pose,
    pub(super) collisions: Vec<PlacedSpec<'a, CollisionSpec>>,
    pub(super) visuals: Vec<PlacedSpec<'a, VisualSpec>>,
    pub(super) inertials: Vec<PlacedSpec<'a, InertialSpec>>,
    pub(super) has_joints: bool,
}

impl<'a> RigidModel<'a> {
    /// Collects the parts of the top-level model with the scope `top`. The result is `None` if
    /// `top` is the scope of the world.
    pub(super) fn collect(frames: &Frames<'a>, top: usize) -> Result<Option<RigidModel<'a>>, Error> {
        let scope = &frames.tree.scopes[top];
        let (Some(_), Some(frame)) = (scope.model, scope.frame) else { return Ok(None) };
        let mut body = RigidModel {
            name: frames.tree.frames[frame].name,
            marker: None,
            is_static: scope.is_static,
            origin: frames.in_world(frame),
            collisions: Vec::new(),
            visuals: Vec::new(),
            inertials: Vec::new(),
            has_joints: false,
        };
        // The scopes to visit. The flag of a scope says whether its links count as links of the
        // top-level model itself.
        let mut todo = vec![(top, true)];
        while let Some((id, own)) = todo.pop() {
            let scope = &frames.tree.scopes[id];
            body.add_parts_of(frames, top, id)?;
            if own {
                body.marker = body.marker.or(scope.model.and_then(ModelSpec::marker));
            }
            todo.extend(scope.children.iter().rev().map(|c| (*c, own && frames.tree.scopes[*c].merged)));
        }
        Ok(Some(body))
    }

    /// Adds the parts of one scope. The parts of its nested models are not added.
    fn add_parts_of(&mut self, frames: &Frames<'a>, top: usize, id: usize) -> Result<(), Error> {
        let scope = &frames.tree.scopes[id];
        let Some(model) = scope.model else { return Ok(()) };
        let file = scope.file;
        let model_pose = frames.model_in(id, top);
        self.has_joints |= !model.joints.is_empty();
        for (link, frame) in model.links.iter().zip(&scope.links) {
            let pose_of = |pose| frames.part(id, *frame, pose).map(|p| model_pose.then(&p));
            for spec in &link.collisions {
                self.collisions.push(PlacedSpec { pose: pose_of(&spec.pose)?, spec, file });
            }
            for spec in &link.visuals {
                self.visuals.push(PlacedSpec { pose: pose_of(&spec.pose)?, spec, file });
            }
            if let Some(spec) = &link.inertial {
                self.inertials.push(PlacedSpec { pose: pose_of(&spec.pose)?, spec, file });
            }
        }
        Ok(())
    }
}
