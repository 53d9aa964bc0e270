//! Clips triangles at planes.

use super::setup::Corner;

/// A convex polygon. Clipping a triangle at five planes gives at most eight corners.
pub(super) struct Polygon {
    corners: [Corner; 9],
    len: usize,
}

impl Polygon {
    pub(super) fn new([a, b, c]: [Corner; 3]) -> Polygon {
        Polygon { corners: [a, b, c, a, a, a, a, a, a], len: 3 }
    }

    pub(super) fn corners(&self) -> &[Corner] {
        &self.corners[..self.len]
    }

    /// Clips the polygon to the part where `value` is not negative.
    pub(super) fn cut(&mut self, value: impl Fn(&Corner) -> f32) {
        let old = self.corners;
        let n = self.len;
        self.len = 0;
        for i in 0..n {
            let (a, b) = (&old[i], &old[(i + 1) % n]);
            let (va, vb) = (value(a), value(b));
            if va >= 0.0 {
                self.push(*a);
            }
            // Always interpolate from the inner corner of the edge, in whichever direction the edge
            // is traversed. Otherwise the neighbouring triangle would round the shared point
            // differently and leave a gap.
            if va >= 0.0 && vb < 0.0 {
                self.push(a.between(b, va / (va - vb)));
            } else if va < 0.0 && vb >= 0.0 {
                self.push(b.between(a, vb / (vb - va)));
            }
        }
    }

    fn push(&mut self, corner: Corner) {
        if let Some(slot) = self.corners.get_mut(self.len) {
            *slot = corner;
            self.len += 1;
        }
    }
}
