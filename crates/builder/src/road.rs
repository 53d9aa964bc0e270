//! The visual mesh of the track: field, road, lines, start line, decals and fence, in layers.

use crate::footprint::Footprint;
use crate::mesh::{MeshBuilder, WHITE, flat};
use crate::pictures::Pictures;
use crate::project::{CentreLine, Colour, Decal, Fence, Ground, Project};
use crate::track_line::{TrackLine, TrackSample};
use chicane_world::collada::Model;
use glam::{DVec2, Vec3};

/// Heights of the painted layers, m. The layers are far enough apart to be drawn without flicker.
/// The layers do not affect the physics, because the collision shape of the track is a plane.
const ROAD_Z: f32 = 0.0005;
const LINE_Z: f32 = 0.001;
const START_Z: f32 = 0.0015;
const DECAL_Z: f32 = 0.002;
/// Height difference between a decal and another decal on top of it, m.
const DECAL_STEP_Z: f32 = 0.0003;
/// Length of the start line along the road, m.
const START_M: f64 = 0.1;

pub(crate) fn build(project: &Project, line: &TrackLine, pictures: &Pictures<'_>) -> Model {
    let mut b = MeshBuilder::new(project.name.as_str());
    let [w, h] = project.field.size.map(|v| v as f32);
    let ground = match &project.field.ground {
        Ground::Carpet => Some(standard("carpet")),
        Ground::Grass => Some(standard("grass")),
        Ground::Picture(_) => Some("textures/field.png".to_owned()),
    };
    b.group("field", ground, WHITE);
    let corner = |x: f32, y: f32| (Vec3::new(x, y, 0.0), [x, y]);
    b.quad([corner(0.0, 0.0), corner(w, 0.0), corner(w, h), corner(0.0, h)]);

    let track = &project.track;
    let whole = line.section(0.0, line.length);
    b.group("road", Some(standard("road")), WHITE);
    strip(&mut b, &whole, |s| (0.5 * s.width, -0.5 * s.width), ROAD_Z);

    let edge = track.outer_line.width;
    if edge > 0.0 {
        painted(&mut b, "outer_line", track.outer_line.colour);
        let inside = |s: &TrackSample| (0.5 * s.width - edge).max(0.0);
        strip(&mut b, &whole, |s| (0.5 * s.width, inside(s)), LINE_Z);
        strip(&mut b, &whole, |s| (-inside(s), -0.5 * s.width), LINE_Z);
    }
    if let Some(dashes) = &track.centre_line {
        painted(&mut b, "center_line", dashes.colour);
        for (from, to) in dashes_of(dashes, line) {
            let half = 0.5 * dashes.width;
            strip(&mut b, &line.section(from, to), |_| (half, -half), LINE_Z);
        }
    }
    if track.start_line {
        b.group("start_line", Some(standard("start_line")), WHITE);
        let from = line.samples.get(line.start).map_or(0.0, |s| s.along);
        let ends = line.section(from, (from + START_M).min(line.length));
        let across = |s: &TrackSample| (0.5 * s.width - edge).max(0.0);
        strip_with(
            &mut b,
            &ends,
            |s| (across(s), -across(s)),
            START_Z,
            |s| ((s.along - from) / START_M) as f32,
        );
    }
    decals(&mut b, &project.decals, pictures);
    if let Some(fence) = &project.fence {
        b.group("fence", None, fence.colour.rgba());
        for (low, high) in fence_sides(project.field.size) {
            b.block(low, high, fence.height as f32);
        }
    }
    b.finish()
}

/// Path of a picture that is shipped with the simulator, relative to the folder of the mesh.
fn standard(name: &str) -> String {
    format!("../world_builder/textures/{name}.png")
}

/// Starts the group of a painted line. The line has a plain colour, or the standard picture if
/// `colour` is `None`.
fn painted(b: &mut MeshBuilder, name: &str, colour: Option<Colour>) {
    match colour {
        None => b.group(name, Some(standard(name)), WHITE),
        Some(colour) => b.group(name, None, colour.rgba()),
    }
}

/// Adds a strip along the road. `sides` gives the offsets of the two sides of the strip from the
/// centre line, m; positive to the left.
fn strip(b: &mut MeshBuilder, samples: &[TrackSample], sides: impl Fn(&TrackSample) -> (f64, f64), z: f32) {
    strip_with(b, samples, sides, z, |s| s.along as f32);
}

fn strip_with(
    b: &mut MeshBuilder,
    samples: &[TrackSample],
    sides: impl Fn(&TrackSample) -> (f64, f64),
    z: f32,
    v: impl Fn(&TrackSample) -> f32,
) {
    let corners: Vec<_> = samples
        .iter()
        .flat_map(|s| {
            let (left, right) = sides(s);
            let at = |offset: f64, u: f32| (flat(s.point_left(offset), z), Vec3::Z, [u, v(s)]);
            [at(left, 0.0), at(right, 1.0)]
        })
        .collect();
    let pieces = samples.len().saturating_sub(1) as u32;
    let triangles: Vec<_> =
        (0..pieces).flat_map(|i| [[2 * i, 2 * i + 1, 2 * i + 3], [2 * i, 2 * i + 3, 2 * i + 2]]).collect();
    b.add(&corners, &triangles);
}

/// Start and end of each dash along the line, m. Dashes and gaps are lengthened or shortened, so
/// that a whole number of dashes fits on the line.
fn dashes_of(dashes: &CentreLine, line: &TrackLine) -> Vec<(f64, f64)> {
    let period = dashes.dash + dashes.gap;
    let count = (line.length / period).round().max(1.0);
    let stretch = line.length / (count * period);
    (0..count as usize)
        .map(|i| {
            let from = i as f64 * period * stretch;
            (from, (from + dashes.dash * stretch).min(line.length))
        })
        .collect()
}

/// Adds the decals in the order of the project. A decal that overlaps an earlier decal is placed
/// slightly higher than the earlier decal.
fn decals(b: &mut MeshBuilder, decals: &[Decal], pictures: &Pictures<'_>) {
    let outlines: Vec<Footprint> = decals.iter().map(Footprint::of_decal).collect();
    let mut layers: Vec<u16> = Vec::with_capacity(decals.len());
    for (i, decal) in decals.iter().enumerate() {
        let below = (0..i).filter(|&j| outlines[i].overlaps(&outlines[j]));
        let layer = below.map(|j| layers[j] + 1).max().unwrap_or(0);
        layers.push(layer);
        let z = DECAL_Z + DECAL_STEP_Z * f32::from(layer);
        b.group(&format!("decal_{i}"), pictures.path(&decal.picture), WHITE);
        let (s, c) = libm::sincos(decal.yaw);
        let (right, up) = (DVec2::new(c, s) * 0.5 * decal.width, DVec2::new(-s, c) * 0.5 * decal.height);
        let middle = DVec2::new(decal.x, decal.y);
        let corner = |p: DVec2, uv: [f32; 2]| (flat(middle + p, z), uv);
        b.quad([
            corner(-right - up, [0.0, 0.0]),
            corner(right - up, [1.0, 0.0]),
            corner(right + up, [1.0, 1.0]),
            corner(up - right, [0.0, 1.0]),
        ]);
    }
}

/// The four sides of the fence, just inside the edge of the field: at the lowest y, the highest x,
/// the highest y and the lowest x. Each side is a rectangle, given by its corner with the lowest
/// coordinates and its corner with the highest coordinates.
pub(crate) fn fence_sides([w, h]: [f64; 2]) -> [(DVec2, DVec2); 4] {
    let t = Fence::THICKNESS_M;
    [
        (DVec2::new(0.0, 0.0), DVec2::new(w, t)),
        (DVec2::new(w - t, t), DVec2::new(w, h - t)),
        (DVec2::new(0.0, h - t), DVec2::new(w, h)),
        (DVec2::new(0.0, t), DVec2::new(t, h - t)),
    ]
}
