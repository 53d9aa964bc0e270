//! Stand-ins for meshes that cannot be read. One box is drawn for all missing visual meshes of a
//! model of the track or of scenery. A model of scenery also gets a box as its collision shape if
//! collision meshes are missing and the model has no other collision shape.

use super::extents::Extents;
use super::meshes::{MeshTarget, Meshes};
use super::objects::box_of;
use super::rigid_model::RigidModel;
use crate::error::{Error, Warnings};
use crate::spec::Geometry;
use crate::world::{Shape, Solid};
use glam::DVec3;

/// Edge length of the box for a model whose size is unknown, in metres.
const UNKNOWN_M: f64 = 1.0;
/// Thickness of the plate that replaces a track whose size is unknown, in metres.
const PLATE_M: f64 = 0.01;

/// What replaces the missing meshes of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StandIn {
    /// The box that is drawn; `None` if no visual is missing. The value is also `None` if other
    /// visuals of the model are drawn and no primitive collision shape gives the size of the
    /// missing visual.
    pub(super) drawn: Option<Extents>,
    /// The box that becomes a collision shape; `None` if the model needs no such box.
    pub(super) solid: Option<Extents>,
}

/// The stand-in of a model of the track or of scenery. `solids` are the collision shapes that the
/// model has.
pub(super) fn stand_in(
    body: &RigidModel<'_>,
    is_track: bool,
    solids: &[Solid],
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Result<StandIn, Error> {
    let mut missing_collision = false;
    for part in &body.collisions {
        missing_collision |= is_missing(&part.spec.geometry, part.file, meshes, warnings)?;
    }
    let (mut missing_visual, mut boxes) = (false, Vec::new());
    for part in &body.visuals {
        missing_visual |= is_missing(&part.spec.geometry, part.file, meshes, warnings)?;
        if let Some((pose, shape)) = box_of(&part.pose, part.spec, part.file, meshes, warnings)? {
            boxes.push(Extents::of(&pose, &shape));
        }
    }
    let is_drawn = !boxes.is_empty();
    let plain = solids.iter().filter(|s| !matches!(s.shape, Shape::Mesh(_)));
    let plain = Extents::union(plain.map(|s| Extents::of(&s.pose, &s.shape)));
    // A box around all collision shapes would hide the track, or the other visuals of the model.
    let around = if is_track || is_drawn { None } else { Extents::of_solids(solids) };
    let visuals = Extents::union(boxes.into_iter());
    let unknown = || {
        let height = if is_track { PLATE_M } else { UNKNOWN_M };
        Extents { centre: DVec3::new(0.0, 0.0, height * 0.5), size: DVec3::new(UNKNOWN_M, UNKNOWN_M, height) }
    };
    let drawn = match plain.or(around) {
        known @ Some(_) => known,
        None => (!is_drawn).then(unknown),
    };
    let solid = visuals.unwrap_or_else(unknown);
    Ok(StandIn {
        drawn: drawn.filter(|_| missing_visual),
        solid: (missing_collision && solids.is_empty() && !is_track).then_some(solid),
    })
}

fn is_missing(
    geometry: &Geometry,
    file: &str,
    meshes: &mut Meshes<'_>,
    warnings: &mut Warnings,
) -> Result<bool, Error> {
    let Geometry::Mesh { uri, submesh, .. } = geometry else { return Ok(false) };
    Ok(meshes.find(uri, submesh.as_ref(), file, warnings)? == MeshTarget::Missing)
}
