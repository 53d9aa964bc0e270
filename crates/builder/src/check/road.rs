//! Rules for the road. The main rules are: the car can follow the road, the road does not overlap
//! itself, and the road is on the field. Other rules are for the nodes, the length and the start.

use super::finding::{Finding, Location, Rule};
use crate::grid::Grid;
use crate::project::{Fence, Project};
use crate::track_line::{MAX_SAMPLES, STEP_M, TrackLine, TrackSample};
use glam::DVec2;
use std::f64::consts::FRAC_PI_2;

/// Minimum turning radius of the car, m: the wheelbase divided by the tangent of the maximum
/// steering angle.
pub(crate) const LEAST_RADIUS_M: f64 = 0.495;
/// Minimum distance between two consecutive nodes, m.
const LEAST_NODE_GAP_M: f64 = 0.05;
/// Minimum length of an open track after its start line, m.
const LEAST_AFTER_START_M: f64 = 0.5;
/// Maximum number of findings per rule for the road.
const MAX_FINDINGS: usize = 20;

pub(super) fn check(project: &Project, line: &TrackLine) -> Vec<Finding> {
    let longest = MAX_SAMPLES as f64 * STEP_M;
    if line.length > longest {
        // The other rules for the road are not checked, because the samples of such a long track
        // are too far apart.
        let message = format!(
            "The track is {:.0} m long, but the maximum is {longest:.0} m. Remove nodes or move them closer together.",
            line.length
        );
        return vec![Rule::TrackTooLong.finding(Location::Track, message)];
    }
    let mut found = nodes(project, line);
    let crossings = crossings(line);
    let crosses = !crossings.is_empty();
    found.extend(crossings);
    found.extend(bends(line));
    // The road also overlaps itself at each crossing. The finding for the crossing is enough, so
    // overlaps are only searched if there is no crossing.
    if !crosses {
        found.extend(overlaps(line));
    }
    found.extend(outside(project, line));
    found
}

fn nodes(project: &Project, line: &TrackLine) -> Vec<Finding> {
    let track = &project.track;
    let mut found = Vec::new();
    let n = track.nodes.len();
    let pairs = if track.closed { n } else { n - 1 };
    for i in 0..pairs {
        let (a, b) = (&track.nodes[i], &track.nodes[(i + 1) % n]);
        if libm::hypot(a.x - b.x, a.y - b.y) < LEAST_NODE_GAP_M && found.len() < MAX_FINDINGS {
            let next = (i + 1) % n;
            let message =
                format!("Nodes {i} and {next} are less than {LEAST_NODE_GAP_M} m apart. Delete one of them.");
            found.push(Rule::NodesTooClose.finding(Location::Node(i), message).at(DVec2::new(a.x, a.y)));
        }
    }
    if !track.closed && track.start > (line.length - LEAST_AFTER_START_M).max(0.0) {
        let message = format!(
            "The start line is at {:.2} m of a track of {:.2} m. Move it to at least {LEAST_AFTER_START_M} m before the end.",
            track.start, line.length
        );
        found.push(Rule::StartOutside.finding(Location::Track, message));
    }
    found
}

/// Finds bends that are too tight for the car or for the width of the road.
fn bends(line: &TrackLine) -> Vec<Finding> {
    let radius = |s: &TrackSample| 1.0 / s.curvature.abs().max(1e-9);
    let tight = worst(line, |s| LEAST_RADIUS_M - radius(s)).into_iter().map(|s| {
        let message = format!(
            "The bend {} has a radius of {:.2} m, but the car needs at least {LEAST_RADIUS_M} m. Move the nodes here farther apart.",
            near(s),
            radius(s)
        );
        Rule::BendTooTight.finding(Location::Node(s.node), message).at(s.at)
    });
    let folds = worst(line, |s| 0.5 * s.width - radius(s)).into_iter().map(|s| {
        let message = format!(
            "The road is {:.2} m wide in the bend {}, but the radius is only {:.2} m, so the inner border overlaps itself. Make the road narrower or the bend wider.",
            s.width,
            near(s),
            radius(s)
        );
        Rule::BorderFolds.finding(Location::Node(s.node), message).at(s.at)
    });
    tight.chain(folds).collect()
}

/// Tests whether the road at a sample overlaps another part of the road. Two samples overlap if
/// their distance is less than the width of the road. Samples are only compared if they are more
/// than π/2 times the width apart along the line, because closer samples can belong to one bend.
/// The factor follows from the tightest bend that [`bends`] allows, whose radius is half the width:
/// the ends of a half circle of this radius are exactly one width apart, so they do not overlap, and
/// the half circle is π/2 times the width long.
struct OverlapTest<'a> {
    line: &'a TrackLine,
    widest: f64,
    grid: Grid,
}

impl OverlapTest<'_> {
    fn of(line: &TrackLine) -> OverlapTest<'_> {
        let widest = line.samples.iter().map(|s| s.width).fold(0.0, f64::max);
        OverlapTest { line, widest, grid: grid(line, widest) }
    }

    fn overlaps(&self, s: &TrackSample) -> bool {
        let on = |other: &TrackSample| {
            let apart = 0.5 * (s.width + other.width);
            s.at.distance(other.at) < apart - 1e-6
                && self.line.distance_along(s, other) > FRAC_PI_2 * apart + STEP_M
        };
        self.grid.near(s.at, self.widest).any(|j| on(&self.line.samples[j]))
    }
}

/// The positions of all samples at which the road overlaps another part of the road.
pub(crate) fn overlapping(line: &TrackLine) -> Vec<DVec2> {
    let test = OverlapTest::of(line);
    line.samples.iter().filter(|s| test.overlaps(s)).map(|s| s.at).collect()
}

/// Finds parts of the road that overlap.
fn overlaps(line: &TrackLine) -> Vec<Finding> {
    let test = OverlapTest::of(line);
    let flagged = worst(line, |s| if test.overlaps(s) { 1.0 } else { -1.0 });
    let message = |s: &TrackSample| {
        format!("Two parts of the road overlap {}. Move them apart or make the road narrower.", near(s))
    };
    flagged
        .into_iter()
        .map(|s| Rule::RoadOverlaps.finding(Location::Node(s.node), message(s)).at(s.at))
        .collect()
}

fn crossings(line: &TrackLine) -> Vec<Finding> {
    let steps: Vec<(&TrackSample, &TrackSample)> = line.steps().collect();
    let longest = steps.iter().map(|(a, b)| a.at.distance(b.at)).fold(0.0, f64::max);
    let grid = grid(line, 4.0 * longest);
    let mut found: Vec<Finding> = Vec::new();
    for (i, (a, b)) in steps.iter().enumerate() {
        for j in grid.near(a.at, 2.0 * longest) {
            let Some((c, d)) = steps.get(j).filter(|_| j > i + 1) else { continue };
            if (line.closed && i == 0 && j + 1 == steps.len()) || !cross([a.at, b.at], [c.at, d.at]) {
                continue;
            }
            if found.len() < MAX_FINDINGS {
                let message = format!(
                    "The track crosses itself {}, but bridges are not supported. Move the nodes to remove the crossing.",
                    near(a)
                );
                found.push(Rule::CrossesItself.finding(Location::Node(a.node), message).at(a.at));
            }
        }
    }
    found
}

/// Whether two line segments cross.
fn cross([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> bool {
    let side = |p: DVec2, q: DVec2, r: DVec2| (q - p).perp_dot(r - p);
    side(a, b, c) * side(a, b, d) <= 0.0
        && side(c, d, a) * side(c, d, b) <= 0.0
        && (b - a).perp_dot(d - c).abs() > 1e-15
}

fn outside(project: &Project, line: &TrackLine) -> Vec<Finding> {
    let (low, high) = free_area(project);
    let beyond = |p: DVec2| (low - p).max(p - high).max_element();
    let excess =
        |s: &TrackSample| beyond(s.point_left(0.5 * s.width)).max(beyond(s.point_left(-0.5 * s.width)));
    let what = if project.fence.is_some() { "runs into the fence" } else { "leaves the field" };
    let message = |s: &TrackSample| {
        format!(
            "The road {what} {}, by {:.2} m. Move the node inwards or make the field larger.",
            near(s),
            excess(s)
        )
    };
    let worst = worst(line, |s| excess(s) - 1e-9);
    worst
        .into_iter()
        .map(|s| Rule::RoadOutside.finding(Location::Node(s.node), message(s)).at(s.at))
        .collect()
}

/// The corners with the lowest and the highest coordinates of the area inside the fence. Without a
/// fence, the area is the whole field.
pub(super) fn free_area(project: &Project) -> (DVec2, DVec2) {
    let fence = if project.fence.is_some() { Fence::THICKNESS_M } else { 0.0 };
    (DVec2::splat(fence), DVec2::from_array(project.field.size) - fence)
}

/// Finds the sections of the line in which `excess` is above 0, at most [`MAX_FINDINGS`] of them.
/// For each section, returns the sample with the largest `excess`.
fn worst(line: &TrackLine, excess: impl Fn(&TrackSample) -> f64) -> Vec<&TrackSample> {
    let mut worst: Vec<(&TrackSample, f64)> = Vec::new();
    let mut open = false;
    for s in &line.samples {
        let e = excess(s);
        if e <= 0.0 {
            open = false;
            continue;
        }
        if !open {
            if worst.len() == MAX_FINDINGS {
                break;
            }
            worst.push((s, e));
        } else if let Some(last) = worst.last_mut().filter(|last| e > last.1) {
            *last = (s, e);
        }
        open = true;
    }
    worst.into_iter().map(|(s, _)| s).collect()
}

fn grid(line: &TrackLine, cell: f64) -> Grid {
    Grid::of(&line.samples.iter().map(|s| s.at).collect::<Vec<_>>(), cell)
}

fn near(s: &TrackSample) -> String {
    format!("near node {} (at {:.2}, {:.2})", s.node, s.at.x, s.at.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_after_the_last_finding_replaced_it() {
        // Every section is two samples long, and each section is worse than the one before it.
        let sample = |i: usize| TrackSample {
            at: DVec2::ZERO,
            left: DVec2::Y,
            curvature: if i.is_multiple_of(3) { 0.0 } else { i as f64 },
            width: 0.5,
            along: i as f64,
            node: 0,
        };
        let samples: Vec<TrackSample> = (0..3 * (MAX_FINDINGS + 5)).map(sample).collect();
        let line = TrackLine { samples, closed: false, length: 1.0, start: 0, nodes: Vec::new() };
        let found: Vec<f64> = worst(&line, |s| s.curvature).into_iter().map(|s| s.along).collect();
        let expected: Vec<f64> = (0..MAX_FINDINGS).map(|i| (3 * i + 2) as f64).collect();
        assert_eq!(found, expected);
    }
}
