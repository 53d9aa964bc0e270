//! A map of a run: the road, and the driven line coloured by speed.

use super::html::escape;
use crate::track::{Road, Track};
use glam::DVec2;
use std::fmt::Write;

/// Colours from slow to fast: red, green and blue from 0 to 255. Their lightness increases, so that
/// the order is visible in a grey print too.
const STOPS: [[f64; 3]; 5] = [
    [79.0, 110.0, 247.0],
    [154.0, 92.0, 222.0],
    [226.0, 86.0, 142.0],
    [248.0, 142.0, 74.0],
    [255.0, 224.0, 92.0],
];
/// Number of steps from the colour of the slowest part of a line to the colour of the fastest part.
const COLOURS: f64 = 16.0;
/// Margin around the road and the line, in metres.
const MARGIN_M: f64 = 0.3;
/// Width in metres at which a road without borders is drawn.
const ROAD_M: f64 = 0.5;
/// Smallest range of speeds that the colours cover, in m/s. With a smaller range, the noise of a
/// constant speed would be visible.
const MIN_SPAN_MPS: f64 = 0.4;

/// The speeds of the slowest and the fastest colour, in m/s.
pub(super) fn scale(track: &Track) -> (f64, f64) {
    let mut speeds: Vec<f64> =
        track.points.iter().map(|(_, _, speed)| *speed).filter(|speed| *speed > 0.02).collect();
    speeds.sort_by(f64::total_cmp);
    let Some(last) = speeds.len().checked_sub(1) else { return (0.0, MIN_SPAN_MPS) };
    let at = |part: f64| speeds[(part * last as f64).round() as usize];
    let high = (10.0 * at(0.98)).ceil() / 10.0;
    let low = ((10.0 * at(0.05)).floor() / 10.0).min(high - MIN_SPAN_MPS).max(0.0);
    (low, high.max(low + MIN_SPAN_MPS))
}

/// The legend: the scale of colours, and the speeds at both ends.
pub(super) fn legend((low, high): (f64, f64)) -> String {
    let stops: Vec<String> = (0..9).map(|i| colour(f64::from(i) / 8.0)).collect();
    format!(
        "<p class=\"legend\"><span>{low:.1} m/s</span><span class=\"scale\" \
         style=\"background:linear-gradient(90deg,{})\"></span><span>{high:.1} m/s</span></p>",
        stops.join(",")
    )
}

/// The map as SVG. `label` describes the map for readers who can't see it.
pub(super) fn draw(road: &Road, track: &Track, scale: (f64, f64), label: &str) -> String {
    let (low, high) = extent(road, track);
    let (width, height) = (high.x - low.x, high.y - low.y);
    let unit = width.max(height) / 100.0;
    let mut svg = format!(
        // On the map, the y axis of the world points up. The y axis of an SVG points down, so the
        // sign of y changes.
        "<svg class=\"map\" viewBox=\"{:.2} {:.2} {width:.2} {height:.2}\" role=\"img\" aria-label=\"{}\">",
        low.x,
        -high.y,
        escape(label)
    );
    svg += &road_paths(road, unit);
    let parts = parts(track, scale);
    let all: String = parts.iter().map(|(_, points)| path(points)).collect();
    // Writing to a `String` cannot fail.
    let _ = write!(svg, "<path class=\"casing\" stroke-width=\"{:.3}\" d=\"{all}\"/>", 1.9 * unit);
    for (colour, points) in &parts {
        let d = path(points);
        let _ = write!(svg, "<path stroke=\"{colour}\" stroke-width=\"{:.3}\" d=\"{d}\"/>", 1.15 * unit);
    }
    if let (Some(first), Some(last)) = (track.points.first(), track.points.last()) {
        for (class, (x, y, _), radius) in [("start", first, 1.7), ("end", last, 1.1)] {
            let _ = write!(
                svg,
                "<circle class=\"{class}\" cx=\"{x:.2}\" cy=\"{:.2}\" r=\"{:.3}\" stroke-width=\"{:.3}\"/>",
                -y,
                radius * unit,
                0.35 * radius * unit
            );
        }
    }
    svg + "</svg>"
}

fn road_paths(road: &Road, unit: f64) -> String {
    let points = |line: &[DVec2]| line.iter().map(|point| (point.x, point.y)).collect::<Vec<_>>();
    let close = if road.closed { "Z" } else { "" };
    let Some((inner, outer)) = &road.borders else {
        let d = path(&points(&road.centre));
        return format!("<path class=\"road\" stroke-width=\"{ROAD_M}\" d=\"{d}{close}\"/>");
    };
    let surface = if road.closed {
        format!("{}Z{}Z", path(&points(outer)), path(&points(inner)))
    } else {
        let back = inner.iter().rev().map(|point| (point.x, point.y));
        path(&points(outer).into_iter().chain(back).collect::<Vec<_>>()) + "Z"
    };
    let line: Vec<(f64, f64)> = outer.first().into_iter().chain(inner.first()).map(|p| (p.x, p.y)).collect();
    format!(
        "<path class=\"asphalt\" fill-rule=\"evenodd\" stroke-width=\"{:.3}\" d=\"{surface}\"/>\
         <path class=\"line\" stroke-width=\"0.07\" d=\"{}\"/>",
        0.35 * unit,
        path(&line)
    )
}

/// Splits the line into parts of one colour. The line is interrupted where the car was moved by
/// other means than driving.
fn parts(track: &Track, (low, high): (f64, f64)) -> Vec<(String, Vec<(f64, f64)>)> {
    let mut parts: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for (i, &(x, y, speed)) in track.points.iter().enumerate() {
        let part = ((speed - low) / (high - low)).clamp(0.0, 1.0);
        let colour = colour((part * COLOURS).round() / COLOURS);
        let is_jump = track.jumps.contains(&i);
        match parts.last_mut() {
            Some((last, points)) if !is_jump && *last == colour => points.push((x, y)),
            last => {
                // The new part starts where the old one ends, so that the line has no gap.
                let from = last.filter(|_| !is_jump).and_then(|(_, points)| points.last().copied());
                parts.push((colour, from.into_iter().chain([(x, y)]).collect()));
            }
        }
    }
    parts
}

fn path(points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(d, "{}{x:.2} {:.2}", if i == 0 { "M" } else { "L" }, -y);
    }
    d
}

/// The colour of a fraction from 0 (slow) to 1 (fast).
fn colour(fraction: f64) -> String {
    let at = fraction.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let i = (at.floor() as usize).min(STOPS.len() - 2);
    let channel = |c: usize| (STOPS[i][c] + (at - i as f64) * (STOPS[i + 1][c] - STOPS[i][c])).round();
    format!("#{:02x}{:02x}{:02x}", channel(0) as u8, channel(1) as u8, channel(2) as u8)
}

fn extent(road: &Road, track: &Track) -> (DVec2, DVec2) {
    let borders = road.borders.iter().flat_map(|(inner, outer)| inner.iter().chain(outer));
    let driven = track.points.iter().map(|(x, y, _)| DVec2::new(*x, *y));
    let all = road.centre.iter().chain(borders).copied().chain(driven);
    let first = (DVec2::INFINITY, DVec2::NEG_INFINITY);
    let (low, high) = all.fold(first, |(low, high), point| (low.min(point), high.max(point)));
    if low.x > high.x {
        return (DVec2::splat(-1.0), DVec2::splat(1.0));
    }
    (low - MARGIN_M, high + MARGIN_M)
}
