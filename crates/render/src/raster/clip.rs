//! Clips triangles at planes.

use super::setup::{Corner, InnerEdges};

/// A convex polygon. Clipping a triangle at five planes gives at most eight corners.
pub(super) struct Polygon {
    corners: [Corner; 9],
    /// Whether the edge from each corner to the next one is inside of a flat surface.
    inner: [bool; 9],
    len: usize,
}

impl Polygon {
    pub(super) fn new([a, b, c]: [Corner; 3], inner: InnerEdges) -> Polygon {
        let mut flags = [false; 9];
        for (edge, flag) in flags.iter_mut().take(3).enumerate() {
            *flag = inner.has(edge);
        }
        Polygon { corners: [a, b, c, a, a, a, a, a, a], inner: flags, len: 3 }
    }

    /// Divides the polygon into triangles.
    pub(super) fn triangles(&self) -> impl Iterator<Item = ([Corner; 3], InnerEdges)> {
        (2..self.len).map(|i| {
            // The edges between two of the triangles are inside of the polygon.
            let edges = [i > 2 || self.inner[0], self.inner[i - 1], i + 1 < self.len || self.inner[i]];
            ([self.corners[0], self.corners[i - 1], self.corners[i]], InnerEdges::new(edges))
        })
    }

    /// Clips the polygon to the part where `value` is not negative.
    pub(super) fn cut(&mut self, value: impl Fn(&Corner) -> f32) {
        let (old, inner) = (self.corners, self.inner);
        let n = self.len;
        self.len = 0;
        for i in 0..n {
            let (a, b) = (&old[i], &old[(i + 1) % n]);
            let (va, vb) = (value(a), value(b));
            if va >= 0.0 {
                self.push(*a, inner[i]);
            }
            // Always interpolate from the corner that is kept, in whichever direction the edge is
            // traversed. Otherwise the neighbouring triangle would round the shared point
            // differently and leave a gap.
            if va >= 0.0 && vb < 0.0 {
                self.push(a.between(b, va / (va - vb)), false);
            } else if va < 0.0 && vb >= 0.0 {
                self.push(b.between(a, vb / (vb - va)), inner[i]);
            }
        }
    }

    fn push(&mut self, corner: Corner, inner: bool) {
        if let Some(slot) = self.corners.get_mut(self.len) {
            *slot = corner;
            self.inner[self.len] = inner;
            self.len += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Vec2, Vec3};

    /// Regression test: `Polygon::new` asked for edges that a triangle does not have. In a debug
    /// build, the shift of the flags by 8 bits panicked.
    #[test]
    fn edges_that_a_triangle_does_not_have_were_read() {
        let corner = Corner { at: Vec3::ZERO, uv: Vec2::ZERO, light: Vec3::ONE };
        let polygon = Polygon::new([corner; 3], InnerEdges::new([true, false, true]));
        assert_eq!(polygon.inner, [true, false, true, false, false, false, false, false, false]);
    }
}
