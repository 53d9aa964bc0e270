//! The colour of the sky, computed for eight pixels at a time.

use crate::simd::{Floats, Simd};
use chicane_world::scene::Sun;
use glam::Vec3;

/// Colour of the background straight up, linear RGB.
const ZENITH: Vec3 = Vec3::new(0.115, 0.265, 0.56);
/// Colour of the background at the horizon, linear RGB.
const HORIZON: Vec3 = Vec3::new(0.70, 0.78, 0.86);
/// Colour of the background straight down, linear RGB.
const NADIR: Vec3 = Vec3::new(0.24, 0.245, 0.24);

/// The colours between which the sky fades, linear RGB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SkyColours {
    pub(crate) zenith: Vec3,
    pub(crate) horizon: Vec3,
    pub(crate) nadir: Vec3,
}

impl SkyColours {
    /// The colours of the sky of a world. A world with a background has a sky of one colour.
    /// `linear` converts a display colour, 0..1, to linear light.
    pub(crate) fn new(background: Option<[f64; 3]>, linear: impl Fn(f64) -> f64) -> SkyColours {
        let Some(background) = background else {
            return SkyColours { zenith: ZENITH, horizon: HORIZON, nadir: NADIR };
        };
        let [r, g, b] = background.map(|v| linear(v.clamp(0.0, 1.0)) as f32);
        let colour = Vec3::new(r, g, b);
        SkyColours { zenith: colour, horizon: colour, nadir: colour }
    }
}

/// The sky of a world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sky {
    colours: SkyColours,
    /// Direction towards the sun.
    towards: Vec3,
    /// Colour of the glow around the sun, linear RGB.
    glow: Vec3,
}

impl Sky {
    /// The sky with these colours and this sun.
    pub(crate) fn new(colours: SkyColours, sun: &Sun) -> Sky {
        let [x, y, z] = sun.direction;
        let [r, g, b] = sun.colour;
        Sky {
            colours,
            towards: -Vec3::new(x as f32, y as f32, z as f32),
            glow: Vec3::new(r as f32, g as f32, b as f32),
        }
    }

    /// The colours of the background in eight directions of any length: linear RGB, 0..1.
    ///
    /// Above the horizon, haze fades into blue, with a glow around the sun. Below the horizon, haze
    /// fades into the colour of the ground.
    #[inline(always)]
    pub(crate) fn colours<S: Simd>(&self, [x, y, z]: [S::Floats; 3]) -> [S::Floats; 3] {
        let (one, zero) = (S::Floats::splat(1.0), S::Floats::splat(0.0));
        // The lower bound keeps a direction of length 0 from becoming NaN. The maximum of NaN and a
        // number is not the same on ARM as on x86.
        let square_length = (x * x + y * y + z * z).max(S::Floats::splat(f32::MIN_POSITIVE));
        let by_length = one / square_length.sqrt();
        let up = z * by_length;
        // The ground darkens quickly below the horizon. At 20°, 90 % of the change is done.
        let down = (-up).max(zero);
        let ground = down / (S::Floats::splat(0.04) + down);
        let a = one - up.max(zero);
        let a2 = a * a;
        let haze = a2 * a2 * (S::Floats::splat(0.6) * a2 + S::Floats::splat(0.4) * a);
        // Powers of the cosine of the angle to the sun give three glows of different widths, and
        // the disc of the sun.
        let sun = self.towards;
        let cosine =
            (x * S::Floats::splat(sun.x) + y * S::Floats::splat(sun.y) + z * S::Floats::splat(sun.z))
                * by_length;
        let bounded = cosine.max(zero);
        let c2 = bounded * bounded;
        let c4 = c2 * c2;
        let c32 = eighth_power::<S>(c4);
        let c256 = eighth_power::<S>(c32);
        let disc = eighth_power::<S>(c256);
        let glow =
            S::Floats::splat(0.07) * c4 + S::Floats::splat(0.12) * c32 + S::Floats::splat(0.3) * c256 + disc;
        let mut colours = [zero; 3];
        for (i, colour) in colours.iter_mut().enumerate() {
            let SkyColours { zenith, horizon, nadir } = self.colours;
            let (zenith, horizon, nadir) = (zenith[i], horizon[i], nadir[i]);
            let sky = S::Floats::splat(zenith)
                + S::Floats::splat(horizon - zenith) * haze
                + S::Floats::splat(self.glow[i]) * glow;
            let earth = S::Floats::splat(horizon) + S::Floats::splat(nadir - horizon) * ground;
            *colour = earth.select(zero.greater(up), sky).max(zero).min(one);
        }
        colours
    }
}

#[inline(always)]
fn eighth_power<S: Simd>(v: S::Floats) -> S::Floats {
    let v2 = v * v;
    let v4 = v2 * v2;
    v4 * v4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;

    /// The colour in one direction.
    fn sky(direction: Vec3, sun: &Sun) -> [f32; 3] {
        let directions = direction.to_array().map(wide::f32x8::splat);
        Sky::new(SkyColours::new(None, |v| v), sun).colours::<Portable>(directions).map(|c| c.to_array()[0])
    }

    fn every_direction() -> impl Iterator<Item = Vec3> {
        (-40..=40).flat_map(|i| (0..80).map(move |j| (i as f32 / 40.0, j as f32 / 80.0))).map(|(z, u)| {
            let (s, c) = libm::sincosf(u * std::f32::consts::TAU);
            let r = (1.0 - z * z).max(0.0).sqrt();
            Vec3::new(r * c, r * s, z)
        })
    }

    #[test]
    fn the_sky_has_a_valid_colour_in_every_direction() {
        let sun = Sun::default();
        for d in every_direction() {
            assert!(sky(d, &sun).iter().all(|v| (0.0..=1.0).contains(v)), "{d}");
        }
        let wild = Sun { direction: [0.0; 3], colour: [9.0; 3] };
        assert!(sky(Vec3::ZERO, &wild).iter().all(|v| (0.0..=1.0).contains(v)));
    }

    #[test]
    fn a_background_is_the_colour_of_the_whole_sky() {
        let sun = Sun { colour: [0.0; 3], ..Sun::default() };
        let colours = SkyColours::new(Some([0.7, 0.5, 0.0]), |v| v * v);
        for d in every_direction() {
            let directions = d.to_array().map(wide::f32x8::splat);
            let found = Sky::new(colours, &sun).colours::<Portable>(directions).map(|c| c.to_array()[0]);
            assert!((0..3).all(|i| (found[i] - [0.49, 0.25, 0.0][i]).abs() < 0.001), "{found:?}");
        }
    }

    #[test]
    fn the_horizon_has_no_seam() {
        let sun = Sun { colour: [0.0; 3], ..Sun::default() };
        let (above, below) = (sky(Vec3::new(1.0, 0.0, 1e-4), &sun), sky(Vec3::new(1.0, 0.0, -1e-4), &sun));
        assert!((0..3).all(|i| (above[i] - below[i]).abs() < 0.01), "{above:?} {below:?}");
    }

    #[test]
    fn the_sky_is_brightest_at_the_sun() {
        let sun = Sun::default();
        let sum = |d: Vec3| sky(d, &sun).iter().sum::<f32>();
        let towards = -Vec3::from_array(sun.direction.map(|v| v as f32));
        assert!(sum(towards) > 2.7 && sum(Vec3::Z) < 1.7);
    }
}
