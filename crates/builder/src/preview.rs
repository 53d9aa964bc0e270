//! What an editor draws while a project is edited: the road, the areas of the objects, and the
//! findings with their positions.
//!
//! The preview and the build of a world use the same centre line, so the road of the preview and
//! the road of the built world cannot differ.

use crate::check::{Finding, Location, check_along, check_files, overlapping};
use crate::files::Files;
use crate::footprint::Footprint;
use crate::objects::size_of;
use crate::project::Project;
use crate::track_line::{TrackLine, TrackSample};
use glam::DVec2;

/// Minimum length of a centre line, m. A shorter line has no direction, so its road is not drawn.
const LEAST_LENGTH_M: f64 = 1e-3;
/// A curvature below this counts as straight, 1/m.
const STRAIGHT: f64 = 1e-6;

/// A project as an editor draws it.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The road; `None` if all nodes are so close together that the road has no direction.
    pub road: Option<RoadPreview>,
    /// The objects, in the order of the project.
    pub objects: Vec<ObjectPreview>,
    /// Errors and warnings.
    pub findings: Vec<Finding>,
}

/// The road of a preview.
#[derive(Debug, Clone, PartialEq)]
pub struct RoadPreview {
    /// The sampled centre line with the widths.
    pub line: TrackLine,
    /// The left edge at each sample, seen in the direction of travel.
    pub left: Vec<DVec2>,
    /// The right edge at each sample.
    pub right: Vec<DVec2>,
    /// Position of the start line.
    pub start: DVec2,
    /// Direction of travel at the start line, as an angle from the x axis, rad.
    pub start_yaw: f64,
    /// Position and radius of the tightest bend, m; `None` if the road is straight.
    pub tightest: Option<(DVec2, f64)>,
    /// Positions at which the road overlaps another part of the road.
    pub overlaps: Vec<DVec2>,
}

/// An object of a preview.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectPreview {
    /// Name of the object.
    pub name: String,
    /// Name of the object's kind, such as `box`.
    pub kind: &'static str,
    /// Corners of the covered area, counter-clockwise.
    pub footprint: Vec<DVec2>,
    /// Height, m.
    pub height: f64,
}

/// Computes the preview of a project. The files are only checked if the caller passes `files`.
pub fn preview(project: &Project, files: Option<&dyn Files>) -> Preview {
    let line = TrackLine::of(&project.track);
    let mut findings = check_along(project, &line);
    findings.extend(files.map(|files| check_files(project, files)).unwrap_or_default());
    for finding in &mut findings {
        finding.at = finding.at.or_else(|| position(project, &line, &finding.location));
    }
    let objects = project.objects.iter().map(|object| ObjectPreview {
        name: object.name.clone(),
        kind: object.kind.name(),
        footprint: Footprint::of(object).outline(),
        height: size_of(&object.kind)[2],
    });
    Preview { objects: objects.collect(), findings, road: road(line) }
}

fn road(line: TrackLine) -> Option<RoadPreview> {
    let start = *line.samples.get(line.start).filter(|_| line.length > LEAST_LENGTH_M)?;
    let edge = |side: f64| line.samples.iter().map(|s| s.point_left(side * s.width)).collect();
    let sharper = |a: &&TrackSample, b: &&TrackSample| a.curvature.abs().total_cmp(&b.curvature.abs());
    let tightest = line.samples.iter().max_by(sharper).filter(|s| s.curvature.abs() > STRAIGHT);
    let ahead = -start.left.perp();
    Some(RoadPreview {
        left: edge(0.5),
        right: edge(-0.5),
        start: start.at,
        start_yaw: libm::atan2(ahead.y, ahead.x),
        tightest: tightest.map(|s| (s.at, 1.0 / s.curvature.abs())),
        overlaps: overlapping(&line),
        line,
    })
}

/// The position of a finding that the check gave no position. The position is computed from the
/// location of the finding. `None` if the location has no position on the field.
fn position(project: &Project, line: &TrackLine, location: &Location) -> Option<DVec2> {
    let decal = |i: usize| project.decals.get(i).map(|d| DVec2::new(d.x, d.y));
    let object = |i: usize| project.objects.get(i).map(|o| DVec2::new(o.x, o.y));
    match location {
        Location::Node(i) => project.track.nodes.get(*i).map(|n| DVec2::new(n.x, n.y)),
        Location::Track => line.samples.get(line.start).map(|s| s.at),
        Location::Object { index, .. } => object(*index),
        Location::Decal(i) => decal(*i),
        Location::File { path } => match location_of_file(path) {
            Some(("decals", i)) => decal(i),
            Some(("objects", i)) => object(i),
            _ => None,
        },
        Location::Evaluation => None,
    }
}

/// The list and the index in the path of a field that names a file, such as `decals[2].picture`.
/// `None` for a field outside of a list.
pub fn location_of_file(path: &str) -> Option<(&str, usize)> {
    let (list, rest) = path.split_once('[')?;
    let (index, _) = rest.split_once(']')?;
    Some((list, index.parse().ok()?))
}
