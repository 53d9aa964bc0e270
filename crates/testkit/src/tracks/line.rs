//! Closed centre lines, sampled evenly, with their borders.

use glam::DVec2;
use std::f64::consts::{FRAC_PI_2, PI};

/// Distance between two waypoints.
const STEP_M: f64 = 0.05;

/// A closed line; the first point is not repeated.
pub(super) struct Line {
    pub(super) points: Vec<DVec2>,
    /// Unit vectors to the left of travel.
    pub(super) left: Vec<DVec2>,
    /// Distance along the line of each point.
    pub(super) along: Vec<f64>,
    pub(super) length: f64,
}

impl Line {
    /// Two straights of `2·half` along x and two half circles, counter-clockwise. It starts on
    /// the lower straight, `start` after that begins.
    pub(super) fn stadium(centre: [f64; 2], half: f64, radius: f64, start: f64) -> Line {
        let centre = DVec2::from_array(centre);
        let (straight, bend) = (2.0 * half, PI * radius);
        let length = 2.0 * (straight + bend);
        let at = |s: f64| {
            let s = s.rem_euclid(length);
            if s < straight {
                return centre + DVec2::new(s - half, -radius);
            }
            if s < straight + bend {
                let a = (s - straight) / radius - FRAC_PI_2;
                return centre + DVec2::new(half + radius * libm::cos(a), radius * libm::sin(a));
            }
            if s < 2.0 * straight + bend {
                return centre + DVec2::new(half - (s - straight - bend), radius);
            }
            let a = (s - 2.0 * straight - bend) / radius + FRAC_PI_2;
            centre + DVec2::new(-half + radius * libm::cos(a), radius * libm::sin(a))
        };
        let fine: Vec<DVec2> = (0..20_000).map(|i| at(start + length * f64::from(i) / 20_000.0)).collect();
        Line::even(&fine)
    }

    /// Straights between corners (x, y, radius) that are rounded off. It starts on the straight
    /// that leads to the first corner, `start` before the bend begins.
    pub(super) fn rounded(corners: &[[f64; 3]], start: f64) -> Line {
        let n = corners.len();
        let corner = |i: usize| DVec2::new(corners[i % n][0], corners[i % n][1]);
        let mut fine = Vec::new();
        for (i, &[_, _, radius]) in corners.iter().enumerate() {
            let (before, here, after) = (corner(i + n - 1), corner(i), corner(i + 1));
            let (inwards, outwards) = ((here - before).normalize(), (after - here).normalize());
            let turn = inwards.angle_to(outwards);
            let cut = radius * libm::tan(0.5 * turn.abs());
            let first = here - inwards * cut;
            if i == 0 {
                fine.push(first - inwards * start);
            }
            let middle = first + inwards.perp() * radius.copysign(turn);
            fine.extend((0..=400).map(|k| {
                let angle = turn * f64::from(k) / 400.0;
                let arm = DVec2::new(libm::cos(angle), libm::sin(angle));
                middle + arm.rotate(first - middle)
            }));
        }
        Line::even(&fine)
    }

    /// Points at equal steps along a finely sampled closed line.
    fn even(fine: &[DVec2]) -> Line {
        let mut sums = vec![0.0];
        for i in 0..fine.len() {
            sums.push(sums[i] + fine[i].distance(fine[(i + 1) % fine.len()]));
        }
        let length = sums[fine.len()];
        let count = (length / STEP_M).round().max(3.0) as usize;
        let mut points = Vec::with_capacity(count);
        let mut k = 0;
        for i in 0..count {
            let s = length * i as f64 / count as f64;
            while sums[k + 1] <= s {
                k += 1;
            }
            let t = (s - sums[k]) / (sums[k + 1] - sums[k]);
            points.push(fine[k].lerp(fine[(k + 1) % fine.len()], t));
        }
        let around =
            |i: usize| (points[(i + 1) % count] - points[(i + count - 1) % count]).normalize().perp();
        let left = (0..count).map(around).collect();
        let along = (0..count).map(|i| length * i as f64 / count as f64).collect();
        Line { points, left, along, length }
    }

    /// The point `offset` to the left of waypoint `i`; `i` wraps round.
    pub(super) fn beside(&self, i: usize, offset: f64) -> DVec2 {
        let i = i % self.points.len();
        self.points[i] + self.left[i] * offset
    }

    /// The smallest radius of the line.
    pub(super) fn least_radius(&self) -> f64 {
        let n = self.points.len();
        let radius = |i: usize| {
            let turn = self.left[i].angle_to(self.left[(i + 1) % n]).abs();
            self.length / n as f64 / turn.max(1e-9)
        };
        (0..n).map(radius).fold(f64::INFINITY, f64::min)
    }

    /// The smallest distance between parts of the line that are not neighbours along it.
    pub(super) fn least_gap(&self, apart: f64) -> f64 {
        let n = self.points.len();
        let mut least = f64::INFINITY;
        for i in 0..n {
            for j in i + 1..n {
                let way = self.along[j] - self.along[i];
                if way.min(self.length - way) > apart {
                    least = least.min(self.points[i].distance(self.points[j]));
                }
            }
        }
        least
    }
}
