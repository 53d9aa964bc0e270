//! Rules of the road: it can be driven, lies beside itself and on the field.

use super::{Finding, Place, Rule};
use crate::grid::Grid;
use crate::line::{Line, MAX_SAMPLES, STEP_M, Sample};
use crate::project::{Fence, Project};
use glam::DVec2;
use std::f64::consts::FRAC_PI_2;

/// The tightest circle the car can drive: its wheelbase over the tangent of its steering angle.
pub(crate) const LEAST_RADIUS_M: f64 = 0.495;
/// Nodes nearer than this are one place to whoever draws.
const LEAST_NODE_GAP_M: f64 = 0.05;
/// What must be left of an open track after its start line.
const LEAST_AFTER_START_M: f64 = 0.5;
/// Findings of one rule.
const MAX_FINDINGS: usize = 20;

pub(super) fn check(project: &Project, line: &Line) -> Vec<Finding> {
    let longest = MAX_SAMPLES as f64 * STEP_M;
    if line.length > longest {
        // The samples are too far apart to say more.
        let message = format!("The track is {:.0} m long; {longest:.0} m is the most.", line.length);
        return vec![Rule::TrackTooLong.broken(Place::Track, message)];
    }
    let mut found = nodes(project, line);
    let crossings = crossings(line);
    let crosses = !crossings.is_empty();
    found.extend(crossings);
    found.extend(bends(line));
    // Where a line crosses itself its road lies on itself too: once is enough.
    if !crosses {
        found.extend(overlaps(line));
    }
    found.extend(outside(project, line));
    found
}

fn nodes(project: &Project, line: &Line) -> Vec<Finding> {
    let track = &project.track;
    let mut found = Vec::new();
    let n = track.nodes.len();
    let pairs = if track.closed { n } else { n - 1 };
    for i in 0..pairs {
        let (a, b) = (&track.nodes[i], &track.nodes[(i + 1) % n]);
        if libm::hypot(a.x - b.x, a.y - b.y) < LEAST_NODE_GAP_M && found.len() < MAX_FINDINGS {
            let next = (i + 1) % n;
            let message = format!("Nodes {i} and {next} are in the same place. Take one of them away.");
            found.push(Rule::NodesTooClose.broken(Place::Node(i), message));
        }
    }
    if !track.closed && track.start > (line.length - LEAST_AFTER_START_M).max(0.0) {
        let message = format!(
            "The start line is {:.2} m along a track of {:.2} m. It must be {LEAST_AFTER_START_M} m before the end at least.",
            track.start, line.length
        );
        found.push(Rule::StartOutside.broken(Place::Track, message));
    }
    found
}

/// Bends that are too tight for the car, or for the width of the road.
fn bends(line: &Line) -> Vec<Finding> {
    let radius = |s: &Sample| 1.0 / s.curvature.abs().max(1e-9);
    let tight = worst(line, |s| LEAST_RADIUS_M - radius(s)).into_iter().map(|s| {
        let message = format!(
            "The bend {} has a radius of {:.2} m; the car needs {LEAST_RADIUS_M} m. Move the nodes here apart.",
            near(s),
            radius(s)
        );
        Rule::BendTooTight.broken(Place::Node(s.node), message)
    });
    let folds = worst(line, |s| 0.5 * s.width - radius(s)).into_iter().map(|s| {
        let message = format!(
            "The road is {:.2} m wide in the bend {}, whose radius is only {:.2} m: its inner border folds over. Make the road narrower or the bend wider.",
            s.width,
            near(s),
            radius(s)
        );
        Rule::BorderFolds.broken(Place::Node(s.node), message)
    });
    tight.chain(folds).collect()
}

/// Two parts of the road that lie on each other. Parts that are near along the line are no two
/// parts: in a bend no tighter than half the road's width, two places a quarter turn's way of
/// the width apart are as far from each other as the road is wide.
fn overlaps(line: &Line) -> Vec<Finding> {
    let widest = line.samples.iter().map(|s| s.width).fold(0.0, f64::max);
    let (grid, samples) = (grid(line, widest), &line.samples);
    let is_on_another = |s: &Sample| {
        let on = |other: &Sample| {
            let apart = 0.5 * (s.width + other.width);
            s.at.distance(other.at) < apart - 1e-6 && line.way(s, other) > FRAC_PI_2 * apart + STEP_M
        };
        grid.near(s.at, widest).any(|j| on(&samples[j]))
    };
    let flagged = worst(line, |s| if is_on_another(s) { 1.0 } else { -1.0 });
    let message = |s: &Sample| {
        format!(
            "Two parts of the road lie on each other {}. Move them apart or make the road narrower.",
            near(s)
        )
    };
    flagged.into_iter().map(|s| Rule::RoadOverlaps.broken(Place::Node(s.node), message(s))).collect()
}

fn crossings(line: &Line) -> Vec<Finding> {
    let steps: Vec<(&Sample, &Sample)> = line.steps().collect();
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
                let message =
                    format!("The track crosses itself {}. A road can't go over or under itself.", near(a));
                found.push(Rule::CrossesItself.broken(Place::Node(a.node), message));
            }
        }
    }
    found
}

/// Whether two pieces cross.
fn cross([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> bool {
    let side = |p: DVec2, q: DVec2, r: DVec2| (q - p).perp_dot(r - p);
    side(a, b, c) * side(a, b, d) <= 0.0
        && side(c, d, a) * side(c, d, b) <= 0.0
        && (b - a).perp_dot(d - c).abs() > 1e-15
}

fn outside(project: &Project, line: &Line) -> Vec<Finding> {
    let (low, high) = inside_of(project);
    let beyond = |p: DVec2| (low - p).max(p - high).max_element();
    let excess = |s: &Sample| beyond(s.beside(0.5 * s.width)).max(beyond(s.beside(-0.5 * s.width)));
    let what = if project.fence.is_some() { "runs into the fence" } else { "leaves the field" };
    let message = |s: &Sample| {
        format!(
            "The road {what} {}, by {:.2} m. Move the node inwards or make the field larger.",
            near(s),
            excess(s)
        )
    };
    let worst = worst(line, |s| excess(s) - 1e-9);
    worst.into_iter().map(|s| Rule::RoadOutside.broken(Place::Node(s.node), message(s))).collect()
}

/// The corners of what is free inside of the fence.
pub(super) fn inside_of(project: &Project) -> (DVec2, DVec2) {
    let fence = if project.fence.is_some() { Fence::THICKNESS_M } else { 0.0 };
    (DVec2::splat(fence), DVec2::from_array(project.field.size) - fence)
}

/// The worst sample of each stretch in which `excess` is above 0.
fn worst(line: &Line, excess: impl Fn(&Sample) -> f64) -> Vec<&Sample> {
    let mut worst: Vec<(&Sample, f64)> = Vec::new();
    let mut open = false;
    for s in &line.samples {
        let e = excess(s);
        if e <= 0.0 {
            open = false;
            continue;
        }
        if !open && worst.len() < MAX_FINDINGS {
            worst.push((s, e));
        } else if let Some(last) = worst.last_mut().filter(|last| open && e > last.1) {
            *last = (s, e);
        }
        open = true;
    }
    worst.into_iter().map(|(s, _)| s).collect()
}

fn grid(line: &Line, cell: f64) -> Grid {
    Grid::of(&line.samples.iter().map(|s| s.at).collect::<Vec<_>>(), cell)
}

fn near(s: &Sample) -> String {
    format!("near node {} (at {:.2}, {:.2})", s.node, s.at.x, s.at.y)
}
