//! The shell of the car: cross-sections along the car, connected by a skin.

use super::build::MeshBuilder;
use chicane_world::Profile;
use glam::DVec3;

// Indices of the materials of the body, in the order in which `fittings::body` lists them.
pub(super) const PAINT: usize = 0;
pub(super) const STRIPE: usize = 1;
pub(super) const GLASS: usize = 2;
pub(super) const TRIM: usize = 3;
pub(super) const METAL: usize = 4;
pub(super) const HEADLIGHT: usize = 5;
pub(super) const TAILLIGHT: usize = 6;

// Where the glass begins and ends. Positions along the car go from −1 at the rear to 1 at the
// front.
const SCREEN_FOOT: f64 = 0.46;
const SCREEN_TOP: f64 = 0.13;
const PILLAR: [f64; 2] = [-0.2, -0.14];
const WINDOW_END: f64 = -0.66;
const ROOF_END: f64 = -0.6;
const REAR_FOOT: f64 = -0.9;
const WINDOW_FRONT: f64 = 0.33;

/// Height of the shoulder, the edge above the wheels, by position along the car. Height 0 is the
/// bottom of the shell, and 1 is the top.
const SHOULDER: [[f64; 2]; 9] = [
    [-1.0, 0.60],
    [-0.9, 0.635],
    [-0.667, 0.655],
    [-0.3, 0.61],
    [0.1, 0.60],
    [0.5, 0.615],
    [0.72, 0.61],
    [0.9, 0.535],
    [1.0, 0.42],
];
/// Height of the centre line of bonnet, windscreen, roof and rear window by position along the car,
/// in the units of [`SHOULDER`].
const RIDGE: [[f64; 2]; 11] = [
    [-1.0, 0.63],
    [-0.95, 0.67],
    [REAR_FOOT, 0.70],
    [ROOF_END, 0.955],
    [-0.4, 0.99],
    [-0.1, 1.0],
    [SCREEN_TOP, 0.96],
    [SCREEN_FOOT, 0.67],
    [0.75, 0.625],
    [0.9, 0.55],
    [1.0, 0.43],
];
/// Width of the flanks by position along the car, as a fraction of the width over the wheels.
const FLANK: [[f64; 2]; 7] =
    [[-1.0, 0.88], [-0.93, 0.95], [-0.667, 1.0], [0.0, 0.92], [0.667, 1.0], [0.93, 0.95], [1.0, 0.86]];

/// Interpolates linearly between the points of a table.
fn interpolate(table: &[[f64; 2]], t: f64) -> f64 {
    let after = table.iter().position(|p| p[0] > t).unwrap_or(table.len());
    match after {
        0 => table[0][1],
        n if n == table.len() => table[n - 1][1],
        n => {
            let ([a, from], [b, to]) = (table[n - 1], table[n]);
            from + (to - from) * (t - a) / (b - a)
        }
    }
}

/// Interpolates like [`interpolate`], and smooths: returns the mean at seven positions around `t`.
fn interpolate_smooth(table: &[[f64; 2]], t: f64) -> f64 {
    (0..7).map(|i| interpolate(table, t + 0.03 * (f64::from(i) - 3.0))).sum::<f64>() / 7.0
}

/// The dimensions of the body, m.
pub(super) struct Measures {
    /// Centre along x.
    middle: f64,
    /// Half of the length along x.
    half: f64,
    /// Height of the bottom of the shell.
    pub(super) low: f64,
    /// Height of the top of the shell.
    pub(super) high: f64,
    /// Half of the width of the belly.
    belly: f64,
    /// Half of the width over the wheels.
    pub(super) wide: f64,
    /// Distance of each axle from the origin along x.
    axle: f64,
    /// Height of the axles.
    axle_z: f64,
    /// Radius of the wheel arches.
    arch: f64,
    /// Position of the camera.
    camera: [f64; 3],
    /// Slope of the line of sight below which the shell stays: metres down per metre forward. The
    /// slope is 86 % of that of the lower edge of the picture, so the shell covers only the lowest
    /// 7 % of the picture.
    steepest: f64,
}

impl Measures {
    pub(super) fn of(profile: &Profile) -> Measures {
        let Profile { body, camera, .. } = profile;
        let (w, h) = (f64::from(camera.width_px), f64::from(camera.height_px));
        let down = libm::tan(0.5 * camera.horizontal_fov_rad) * h / w;
        Measures {
            middle: body.centre_m[0],
            // The bumpers extend a little beyond the shell.
            half: 0.488 * body.size_m[0],
            low: body.centre_m[2] - 0.5 * body.size_m[2],
            high: body.centre_m[2] + 0.5 * body.size_m[2],
            belly: 0.5 * body.size_m[1],
            wide: (0.5 * (profile.track_m + profile.wheel_width_m)).max(0.5 * body.size_m[1]) * 1.005,
            axle: 0.5 * profile.wheelbase_m,
            axle_z: profile.wheel_radius_m,
            arch: 1.2 * profile.wheel_radius_m,
            camera: camera.position_m,
            steepest: 0.86 * down,
        }
    }

    /// Converts a position along the car, −1 rear to 1 front, to metres.
    pub(super) fn x(&self, t: f64) -> f64 {
        self.middle + t * self.half
    }

    /// Converts a height, 0 bottom to 1 top, to metres.
    pub(super) fn z(&self, t: f64) -> f64 {
        self.low + t * (self.high - self.low)
    }

    /// Limits a height, so that the camera sees the shell only at the lower edge of the picture.
    fn limit_to_line_of_sight(&self, x: f64, z: f64) -> f64 {
        let [from, _, eye] = self.camera;
        if x < from { z } else { z.min(eye - 0.004 - self.steepest * (x - from)).max(self.low + 0.001) }
    }

    /// Height of the centre line of the shell.
    pub(super) fn ridge(&self, x: f64) -> f64 {
        self.limit_to_line_of_sight(x, self.z(interpolate(&RIDGE, (x - self.middle) / self.half)))
    }

    /// Distance that a wheel arch extends from its axle towards the end of the car.
    fn arch_end(&self) -> f64 {
        (self.half - self.middle.abs() - self.axle - 0.008 * self.half).min(self.arch)
    }

    /// Height of the lower edge of the flank. This edge is the arch above a wheel, or the sill
    /// elsewhere.
    fn edge(&self, x: f64) -> f64 {
        let sill = self.z(0.1);
        let from_axle = x.abs() - self.axle;
        if from_axle > self.arch_end() || from_axle.abs() >= self.arch {
            return sill;
        }
        (self.axle_z + (self.arch * self.arch - from_axle * from_axle).sqrt()).max(sill)
    }

    /// Positions of the cross-sections along x from rear to front. Each position comes with the
    /// height of the lower edge of the flank.
    fn stations(&self) -> Vec<(f64, f64)> {
        let marks = [
            -1.0,
            -0.97,
            REAR_FOOT,
            ROOF_END,
            WINDOW_END,
            -0.4,
            PILLAR[0],
            PILLAR[1],
            0.0,
            SCREEN_TOP,
            0.23,
            WINDOW_FRONT,
            SCREEN_FOOT,
            0.97,
            1.0,
        ];
        let mut list: Vec<(f64, f64)> = marks.iter().map(|&t| (self.x(t), self.edge(self.x(t)))).collect();
        let gap = 0.012 * self.half;
        for axle in [-self.axle, self.axle] {
            let (ahead, behind) =
                if axle > 0.0 { (self.arch_end(), self.arch) } else { (self.arch, self.arch_end()) };
            for step in 0..=12 {
                let x = axle + self.arch * libm::cos(std::f64::consts::PI * f64::from(step) / 12.0);
                let inside = x < axle + ahead - gap && x > axle - behind + gap;
                if inside && list.iter().all(|(other, _)| (other - x).abs() > gap) {
                    list.push((x, self.edge(x)));
                }
            }
            // Each end of an arch is vertical. It consists of two sections at almost the same
            // position: one belongs to the arch, and the other one to the sill.
            for x in [axle + ahead, axle - behind] {
                let within = x + if x > axle { -1e-6 } else { 1e-6 };
                list.push((within, self.edge(within)));
                list.push((2.0 * x - within, self.z(0.1)));
            }
        }
        let inside = |x: f64| x >= self.x(-1.0) && x <= self.x(1.0);
        list.retain(|(x, _)| inside(*x));
        list.sort_by(|a, b| a.0.total_cmp(&b.0));
        list
    }

    /// A cross-section, counter-clockwise seen from the front. Its first corner is the centre of
    /// the bottom.
    fn section(&self, x: f64, edge: f64) -> Vec<DVec3> {
        let t = (x - self.middle) / self.half;
        // `end` rounds the ends of the car. It is 0 in the middle of the car and 1 at its ends.
        let end = ((t.abs() - 0.97) / 0.03).clamp(0.0, 1.0);
        let h = self.high - self.low;
        let wide = (self.wide * interpolate_smooth(&FLANK, t) - 0.004 * end).max(self.belly);
        let edge = edge + 0.02 * h * end;
        let shoulder = self
            .limit_to_line_of_sight(x, self.z(interpolate_smooth(&SHOULDER, t)).max(edge + 0.06 * h))
            .max(edge + 0.001);
        let ridge = self.ridge(x).max(shoulder + 0.002);
        // `cabin` is 1 where the section has a full cabin with steep sides, and 0 where it has no
        // cabin.
        let cabin = ((ridge - shoulder) / (0.38 * h)).clamp(0.0, 1.0);
        let foot = 0.69 * self.wide;
        let roof = foot - 0.19 * self.wide * cabin;
        let stripe = 0.17 * self.wide;
        // The belly rises towards the ends.
        let rise = ((t.abs() - 0.82) / 0.13).clamp(0.0, 1.0);
        let low = self.low + (edge.min(self.z(0.1)) - self.low) * rise;
        let tall = shoulder - edge;
        let side = [
            [self.belly, low],
            [self.belly, edge],
            [wide - 0.002, edge],
            [wide, edge + (0.28 * tall).min(0.06 * h)],
            [wide - 0.0015, (shoulder - 0.16 * h).max(edge + 0.55 * tall)],
            [wide - 0.009, shoulder],
            [foot + 0.002, shoulder + 0.012 * h],
            [foot, shoulder + 0.03 * h * cabin + 0.014 * h],
            [roof, (ridge - 0.05 * h * cabin).max(shoulder + 0.016 * h).min(ridge - 0.001)],
            [roof - 0.1 * self.wide, ridge - 0.012 * h * cabin],
            [stripe, ridge],
        ];
        let mut ring = vec![DVec3::new(x, 0.0, low)];
        ring.extend(side.map(|[y, z]| DVec3::new(x, y, z)));
        ring.push(DVec3::new(x, 0.0, ridge));
        ring.extend(side.iter().rev().map(|&[y, z]| DVec3::new(x, -y, z)));
        ring
    }

    /// The material of a quad of the skin, by position along the car and side of the section.
    fn material(&self, x: f64, side: usize) -> usize {
        let t = (x - self.middle) / self.half;
        // The two halves of a section are symmetrical, so sides are counted from the belly (0) to
        // the middle of the roof (11).
        let side = if side > 11 { 23 - side } else { side };
        let within = |from: f64, to: f64| t > from && t < to;
        let pane = within(SCREEN_TOP, SCREEN_FOOT) || within(REAR_FOOT, ROOF_END);
        let window = within(WINDOW_END, WINDOW_FRONT) && !within(PILLAR[0], PILLAR[1]);
        match side {
            0..=3 => TRIM,
            8 if window => GLASS,
            10 | 11 if pane => GLASS,
            11 => STRIPE,
            _ => PAINT,
        }
    }

    /// Adds the shell to a mesh.
    pub(super) fn shell(&self, b: &mut MeshBuilder) {
        let stations = self.stations();
        let rings: Vec<Vec<DVec3>> = stations.iter().map(|&(x, edge)| self.section(x, edge)).collect();
        b.skin(&rings, |i, j| self.material(0.5 * (stations[i].0 + stations[i + 1].0), j));
        if let (Some(rear), Some(front)) = (rings.first(), rings.last()) {
            b.fan(PAINT, front);
            b.fan_reversed(PAINT, rear);
        }
    }
}
