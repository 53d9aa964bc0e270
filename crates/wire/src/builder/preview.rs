//! The preview of a project: what an editor draws.

use crate::num::Num;
use serde::Serialize;
use utoipa::ToSchema;

/// Response of `POST /builder/preview`. Lengths are in metres, angles in radians.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PreviewAnswer {
    /// The road; null if all nodes are so close together that the road has no direction.
    pub road: Option<PreviewRoad>,
    /// The objects, in the order of the document.
    pub objects: Vec<PreviewObject>,
    /// Errors and warnings.
    pub findings: Vec<PreviewFinding>,
}

/// The road as samples in the direction of travel. A closed road begins at its start line, and its
/// samples have equal distances. On an open road, the distance between samples can be different
/// before and after the start line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PreviewRoad {
    /// x, y and width at each sample of the centre line.
    pub centre: Vec<[Num; 3]>,
    /// The left edge at each sample.
    pub left: Vec<[Num; 2]>,
    /// The right edge at each sample.
    pub right: Vec<[Num; 2]>,
    /// Whether the road leads back to its first sample.
    pub closed: bool,
    /// Length of the centre line.
    pub length: Num,
    /// The start line.
    pub start: RoadStart,
    /// The tightest bend; null if the road is straight.
    pub tightest: Option<TightestBend>,
    /// Places where the road overlaps another part of itself.
    pub overlaps: Vec<[Num; 2]>,
    /// Distance of each node of the track from the first sample, measured along the centre line.
    pub nodes_s: Vec<Num>,
}

/// The start line of a road.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct RoadStart {
    /// Position along x.
    pub x: Num,
    /// Position along y.
    pub y: Num,
    /// Direction of travel.
    pub yaw: Num,
}

/// The tightest bend of a road.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct TightestBend {
    /// Position along x.
    pub x: Num,
    /// Position along y.
    pub y: Num,
    /// Radius of the centre line.
    pub radius: Num,
}

/// An object of a project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PreviewObject {
    /// Name of the object.
    pub name: String,
    /// Kind of the object, such as `box`.
    pub kind: String,
    /// Corners of the ground that the object covers, counter-clockwise.
    pub footprint: Vec<[Num; 2]>,
    /// Height.
    pub height: Num,
}

/// A problem of a project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PreviewFinding {
    /// Name of the violated rule.
    #[schema(example = "road-outside")]
    pub rule: String,
    /// How severe the problem is.
    pub severity: PreviewSeverity,
    /// The problem, and how to solve it.
    pub text: String,
    /// Where the problem is.
    pub location: FindingLocation,
}

/// How severe a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreviewSeverity {
    /// The world can't be built.
    Error,
    /// The world can be built, but may not be as intended.
    Warning,
}

/// Where a problem is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FindingLocation {
    /// The part of the document.
    pub kind: LocationKind,
    /// Index in the list of nodes, objects or decals; null for other parts.
    pub index: Option<u32>,
    /// Name of the object; null for other parts.
    pub name: Option<String>,
    /// Position along x, m; null if the problem has no position.
    pub x: Option<Num>,
    /// Position along y, m; null if the problem has no position.
    pub y: Option<Num>,
}

/// A part of a project document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LocationKind {
    /// A node of the track.
    Node,
    /// An object.
    Object,
    /// A decal.
    Decal,
    /// The field.
    Field,
    /// The evaluation.
    Evaluation,
    /// The track as a whole.
    Track,
}
