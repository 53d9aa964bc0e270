//! Converts previews and findings of the builder to wire types.

use chicane_builder::preview::{Preview, RoadPreview, location_of_file};
use chicane_builder::{Finding, Location, Severity};
use chicane_wire::{
    FindingLocation, LocationKind, Num, PreviewAnswer, PreviewFinding, PreviewObject, PreviewRoad,
    PreviewSeverity, RoadStart, TightestBend,
};
use glam::DVec2;

/// A preview as a wire type.
pub fn preview_of(preview: &Preview) -> PreviewAnswer {
    let objects = preview.objects.iter().map(|object| PreviewObject {
        name: object.name.clone(),
        kind: object.kind.to_owned(),
        footprint: points(&object.footprint),
        height: Num(object.height),
    });
    PreviewAnswer {
        road: preview.road.as_ref().map(road),
        objects: objects.collect(),
        findings: findings(&preview.findings),
    }
}

fn road(road: &RoadPreview) -> PreviewRoad {
    let centre = road.line.samples.iter().map(|s| [s.at.x, s.at.y, s.width].map(Num));
    PreviewRoad {
        centre: centre.collect(),
        left: points(&road.left),
        right: points(&road.right),
        closed: road.line.closed,
        length: Num(road.line.length),
        start: RoadStart { x: Num(road.start.x), y: Num(road.start.y), yaw: Num(road.start_yaw) },
        tightest: road.tightest.map(|(at, radius)| TightestBend {
            x: Num(at.x),
            y: Num(at.y),
            radius: Num(radius),
        }),
        overlaps: points(&road.overlaps),
        nodes_s: road.line.nodes.iter().map(|s| Num(*s)).collect(),
    }
}

fn points(points: &[DVec2]) -> Vec<[Num; 2]> {
    points.iter().map(|p| [Num(p.x), Num(p.y)]).collect()
}

/// Findings as wire types.
pub(crate) fn findings(found: &[Finding]) -> Vec<PreviewFinding> {
    found.iter().map(finding).collect()
}

fn finding(found: &Finding) -> PreviewFinding {
    let (kind, index, name) = match &found.location {
        Location::Node(i) => (LocationKind::Node, Some(*i), None),
        Location::Track => (LocationKind::Track, None, None),
        Location::Object { index, name } => (LocationKind::Object, Some(*index), Some(name.clone())),
        Location::Decal(i) => (LocationKind::Decal, Some(*i), None),
        Location::Evaluation => (LocationKind::Evaluation, None, None),
        Location::File { path } => match location_of_file(path) {
            Some(("decals", i)) => (LocationKind::Decal, Some(i), None),
            Some(("objects", i)) => (LocationKind::Object, Some(i), None),
            _ => (LocationKind::Field, None, None),
        },
    };
    PreviewFinding {
        rule: found.rule.id().to_owned(),
        severity: match found.severity {
            Severity::Error => PreviewSeverity::Error,
            Severity::Warning => PreviewSeverity::Warning,
        },
        text: found.message.clone(),
        location: FindingLocation {
            kind,
            index: index.and_then(|i| u32::try_from(i).ok()),
            name,
            x: found.at.map(|at| Num(at.x)),
            y: found.at.map(|at| Num(at.y)),
        },
    }
}
