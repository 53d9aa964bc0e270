//! A football with black pentagons and white hexagons.

use super::shapes::sphere;
use super::{Model, textured};
use crate::image::Image;
use glam::DVec3;

const WIDTH: usize = 512;
const HEIGHT: usize = 256;

/// The model of the ball. The ball fills the unit box −0.5..0.5.
pub(super) fn model() -> Model {
    Model { mesh: sphere(0.5), materials: vec![textured(0)], textures: vec![picture()] }
}

/// The faces of the ball: twelve pentagons (`true`) and twenty hexagons (`false`). Each vector is
/// the normal of the face, divided by the distance of the face from the centre. A ray from the
/// centre therefore hits the face whose vector has the greatest dot product with the direction of
/// the ray.
fn faces() -> Vec<(DVec3, bool)> {
    /// The golden ratio.
    const G: f64 = 1.618_033_988_749_895;
    // Distance of the pentagons (`FAR`) and the hexagons (`NEAR`) from the centre, in edge lengths.
    const FAR: f64 = 2.327_438_4;
    const NEAR: f64 = 2.267_283_9;
    // The ball is tilted, so that no corner lies at a pole or on the seam of the texture.
    let tilt = |v: DVec3| {
        let (s, c) = (0.28, 0.96);
        let v = DVec3::new(v.x, c * v.y - s * v.z, s * v.y + c * v.z);
        DVec3::new(c * v.x + s * v.z, v.y, c * v.z - s * v.x)
    };
    let mut corners = Vec::new();
    for a in [-1.0, 1.0] {
        for b in [-G, G] {
            corners.extend([DVec3::new(0.0, a, b), DVec3::new(a, b, 0.0), DVec3::new(b, 0.0, a)]);
        }
    }
    let mut faces: Vec<(DVec3, bool)> = corners.iter().map(|&c| (tilt(c.normalize()) / FAR, true)).collect();
    // The hexagons are the faces of an icosahedron whose edges have length 2. Three corners form a
    // face if each pair of them is 2 apart.
    let near = |p: DVec3, q: DVec3| (p - q).length_squared() < 4.1;
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                let (p, q, r) = (corners[i], corners[j], corners[k]);
                if near(p, q) && near(q, r) && near(p, r) {
                    faces.push((tilt((p + q + r).normalize()) / NEAR, false));
                }
            }
        }
    }
    faces
}

/// A direction that is not perpendicular to any normal. Of two opposite faces, exactly one
/// therefore points into the half space of this direction.
const HEMISPHERE: DVec3 = DVec3::new(0.6, 0.48, 0.64);

/// The texture of the ball: longitude across, latitude up.
fn picture() -> Image {
    // Every face has an opposite face of the same kind with the same absolute dot product. Half of
    // the faces are therefore enough.
    let faces: Vec<(DVec3, bool)> = faces().into_iter().filter(|(n, _)| n.dot(HEMISPHERE) > 0.0).collect();
    let columns: Vec<(f64, f64)> =
        (0..WIDTH).map(|x| libm::sincos(std::f64::consts::TAU * (x as f64 + 0.5) / WIDTH as f64)).collect();
    let rows: Vec<(f64, f64)> = (0..HEIGHT)
        .map(|y| libm::sincos(std::f64::consts::PI * (0.5 - (y as f64 + 0.5) / HEIGHT as f64)))
        .collect();
    Image::from_fn(WIDTH, HEIGHT, |x, y| {
        let ((s, c), (up, out)) = (columns[x], rows[y]);
        let d = DVec3::new(out * c, out * s, up);
        let mut best = (0.0, false);
        let mut second = (0.0, false);
        for &(n, pentagon) in &faces {
            let v = n.dot(d).abs();
            if v > best.0 {
                second = best;
                best = (v, pentagon);
            } else if v > second.0 {
                second = (v, pentagon);
            }
        }
        colour(best.1, second.1, best.0 - second.0)
    })
}

/// The colour of a panel at distance `gap` from the nearest seam. A panel darkens towards the seam,
/// so that the panel seems to bulge.
fn colour(black: bool, beyond_black: bool, gap: f64) -> [u8; 4] {
    let ramp = |from: f64, to: f64| ((gap - from) / (to - from)).clamp(0.0, 1.0);
    let (panel, seam) = if black { (30.0, 18.0) } else { (240.0, 120.0) };
    // At a seam between a black and a white panel, both seam colours move towards the same grey.
    // This softens the edge.
    let seam = if black == beyond_black { seam } else { 0.5 * (seam + 40.0) };
    let t = ramp(0.0, 0.0075);
    let soft = 0.93 + 0.07 * ramp(0.0, 0.05);
    let v = (seam + (panel - seam) * t) * soft;
    [v as u8, v as u8, (v * 0.985 + 2.0).min(255.0) as u8, 255]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_pentagons_and_twenty_hexagons() {
        let faces = faces();
        assert_eq!(faces.iter().filter(|f| f.1).count(), 12);
        assert_eq!(faces.len(), 32);
        assert!(faces.iter().all(|(n, _)| n.dot(HEMISPHERE).abs() > 1e-3));
        assert_eq!(faces.iter().filter(|(n, _)| n.dot(HEMISPHERE) > 0.0).count(), 16);
    }

    #[test]
    fn about_a_quarter_of_the_ball_is_black() {
        let image = picture();
        let weight = |i: usize| libm::cos(std::f64::consts::PI * (0.5 - (i / WIDTH) as f64 / HEIGHT as f64));
        let dark = |i: &usize| image.pixels[*i][0] < 60;
        let all: f64 = (0..image.pixels.len()).map(weight).sum();
        let black: f64 = (0..image.pixels.len()).filter(dark).map(weight).sum();
        assert!((0.24..0.34).contains(&(black / all)), "{}", black / all);
    }
}
