//! The colour of the sky, cheap enough for every pixel.

use chicane_world::scene::Sun;
use glam::Vec3;

/// Linear RGB straight up, at the horizon, and straight down.
const ZENITH: Vec3 = Vec3::new(0.115, 0.265, 0.56);
const HORIZON: Vec3 = Vec3::new(0.70, 0.78, 0.86);
const NADIR: Vec3 = Vec3::new(0.24, 0.245, 0.24);

/// What is seen in a direction (unit length) where nothing stands: linear RGB, 0..1.
///
/// Above the horizon haze turns into blue, with a glow round the sun; below it is ground haze.
pub fn sky(direction: Vec3, sun: &Sun) -> [f32; 3] {
    let z = direction.z.clamp(-1.0, 1.0);
    if z < 0.0 {
        // The ground darkens quickly: 90 % of the way at 20 degrees below the horizon.
        let t = -z / (0.04 - z);
        return mix(HORIZON, NADIR, t).to_array();
    }
    let a = 1.0 - z;
    let a2 = a * a;
    let haze = a2 * a2 * (0.6 * a2 + 0.4 * a);
    let towards = -Vec3::new(sun.direction[0] as f32, sun.direction[1] as f32, sun.direction[2] as f32);
    let colour = Vec3::new(sun.colour[0] as f32, sun.colour[1] as f32, sun.colour[2] as f32);
    // Powers of the cosine: a wide glow, a narrow one, and the disc.
    let square = |x: f32| x * x;
    let c4 = square(square(direction.dot(towards).clamp(0.0, 1.0)));
    let c32 = square(square(square(c4)));
    let c256 = square(square(square(c32)));
    let disc = square(square(square(c256)));
    let glow = 0.07 * c4 + 0.12 * c32 + 0.3 * c256 + disc;
    (mix(ZENITH, HORIZON, haze) + colour * glow).clamp(Vec3::ZERO, Vec3::ONE).to_array()
}

fn mix(a: Vec3, b: Vec3, t: f32) -> Vec3 {
    a + (b - a) * t
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_direction() -> impl Iterator<Item = Vec3> {
        (-40..=40).flat_map(|i| (0..80).map(move |j| (i as f32 / 40.0, j as f32 / 80.0))).map(|(z, u)| {
            let (s, c) = libm::sincosf(u * std::f32::consts::TAU);
            let r = (1.0 - z * z).max(0.0).sqrt();
            Vec3::new(r * c, r * s, z)
        })
    }

    #[test]
    fn the_sky_is_a_colour_everywhere() {
        let sun = Sun::default();
        for d in every_direction() {
            assert!(sky(d, &sun).iter().all(|v| (0.0..=1.0).contains(v)), "{d}");
        }
        let wild = Sun { direction: [0.0; 3], colour: [9.0; 3] };
        assert!(sky(Vec3::ZERO, &wild).iter().all(|v| (0.0..=1.0).contains(v)));
    }

    #[test]
    fn the_horizon_has_no_seam() {
        let sun = Sun { colour: [0.0; 3], ..Sun::default() };
        let (above, below) = (sky(Vec3::new(1.0, 0.0, 1e-4), &sun), sky(Vec3::new(1.0, 0.0, -1e-4), &sun));
        assert!((0..3).all(|i| (above[i] - below[i]).abs() < 0.01), "{above:?} {below:?}");
    }

    #[test]
    fn it_is_brightest_at_the_sun() {
        let sun = Sun::default();
        let sum = |d: Vec3| sky(d, &sun).iter().sum::<f32>();
        let towards = -Vec3::from_array(sun.direction.map(|v| v as f32));
        assert!(sum(towards) > 2.7 && sum(Vec3::Z) < 1.7);
    }
}
