//! Turns triangles in camera coordinates into triangles on the screen, sorted by tile.

use super::TILE;
use glam::{Vec2, Vec3};

/// Distance of the near clipping plane, m.
pub(crate) const NEAR: f32 = 0.02;
/// Subpixel steps per pixel. Corners are snapped to these steps.
pub(super) const SUBPIXELS: i32 = 256;
/// Triangles are clipped at this distance from the centre of the picture, pixels. The borders of
/// every picture are nearer to the centre. Edges of twice this length still fit into the 32-bit
/// integers of a tile.
const GUARD_BAND_PX: f32 = 8192.0;

/// A pinhole projection and the size of its picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Projection {
    /// Focal length: pixels per unit of x/z.
    pub(crate) focal: f32,
    /// The point where the view axis meets the picture, pixels.
    pub(crate) centre: Vec2,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// The material of a triangle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surface {
    /// Index of the texture; `None` if the surface has no texture.
    pub(crate) texture: Option<u32>,
    /// Emitted light, linear RGB.
    pub(crate) emissive: [f32; 3],
    /// 0 is invisible, 1 is opaque.
    pub(crate) opacity: f32,
    /// Whether the alpha channel of the texture makes the surface transparent.
    pub(crate) blended: bool,
    /// Owner of the surface, as a value of [`crate::label`].
    pub(crate) label: u16,
}

/// A corner of a triangle in camera coordinates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Corner {
    /// Position: x right, y down, z forward, m.
    pub(crate) at: Vec3,
    pub(crate) uv: Vec2,
    /// Surface colour multiplied by the incoming light, linear RGB.
    pub(crate) light: Vec3,
}

impl Corner {
    fn between(&self, other: &Corner, t: f32) -> Corner {
        Corner {
            at: self.at + (other.at - self.at) * t,
            uv: self.uv + (other.uv - self.uv) * t,
            light: self.light + (other.light - self.light) * t,
        }
    }
}

/// A value that is linear over the screen: a·x + b·y + c at the centre of pixel (x, y).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Plane {
    pub(super) a: f64,
    pub(super) b: f64,
    pub(super) c: f64,
}

/// An edge function: a·x + b·y + c is not negative inside the triangle. Coordinates are in 1/256 of
/// a pixel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Edge {
    pub(super) a: i32,
    pub(super) b: i32,
    pub(super) c: i64,
}

/// A triangle on the screen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Triangle {
    pub(super) edges: [Edge; 3],
    /// The planes of 1/w, u/w, v/w, red/w, green/w and blue/w, where w is the distance along the
    /// view axis. These values are linear on the screen.
    pub(super) planes: [Plane; 6],
    /// The light, if all corners have the same light; otherwise `None`.
    pub(super) even_light: Option<[f32; 3]>,
    pub(super) surface: u32,
    /// First and last row that the triangle may cover.
    pub(super) rows: [i32; 2],
    /// First and last column that the triangle may cover.
    pub(super) columns: [i32; 2],
}

/// Triangles of a frame that are ready to be drawn. The buffers are reused from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Setup {
    pub(super) triangles: Vec<Triangle>,
    pub(super) surfaces: Vec<Surface>,
    /// Indices of the opaque triangles that may cover each tile.
    pub(super) opaque: Vec<Vec<u32>>,
    /// Indices of the transparent triangles that may cover each tile.
    pub(super) transparent: Vec<Vec<u32>>,
    /// Tiles per row of tiles.
    pub(super) tiles_across: usize,
    /// Total length of the lists of all tiles.
    entries: usize,
    /// Maximum number of triangles, and maximum of `entries`.
    limits: [usize; 2],
    /// Buffer for the corners of the mesh that is being added.
    corners: Vec<Corner>,
}

/// Limit on the triangles of a frame. The setups of the frame share this limit equally.
const MAX_TRIANGLES: usize = 2_000_000;
/// Limit on the entries in the tile lists of a frame. The setups of the frame share this limit
/// equally.
const MAX_ENTRIES: usize = 8_000_000;
/// The low bits of a triangle id hold the index of the triangle within its setup. This is the
/// number of these bits. The high bits hold the index of the setup.
const INDEX_BITS: u32 = 21;
const _: () = assert!(MAX_TRIANGLES <= 1 << INDEX_BITS);

/// The id of a triangle in a frame. `part` is the index of its setup.
pub(super) fn triangle_id(part: usize, index: u32) -> u32 {
    (part as u32) << INDEX_BITS | index
}

/// Finds a triangle by its id. Returns the triangle and its surface.
pub(super) fn triangle_by_id(parts: &[Setup], id: u32) -> (&Triangle, &Surface) {
    let part = &parts[(id >> INDEX_BITS) as usize];
    let triangle = &part.triangles[(id & ((1 << INDEX_BITS) - 1)) as usize];
    (triangle, &part.surfaces[triangle.surface as usize])
}

impl Setup {
    /// Starts a new frame. `parts` is the number of setups that share the limits of the frame.
    pub(crate) fn clear(&mut self, projection: &Projection, parts: usize) {
        self.triangles.clear();
        self.surfaces.clear();
        self.entries = 0;
        self.limits = [MAX_TRIANGLES / parts, MAX_ENTRIES / parts];
        self.tiles_across = projection.width.div_ceil(TILE);
        let tiles = self.tiles_across * projection.height.div_ceil(TILE);
        for list in [&mut self.opaque, &mut self.transparent] {
            list.truncate(tiles);
            list.iter_mut().for_each(Vec::clear);
            list.resize_with(tiles, Vec::new);
        }
    }

    /// Adds a surface and returns its index. Triangles refer to their surface by this index.
    pub(crate) fn surface(&mut self, surface: Surface) -> u32 {
        self.surfaces.push(surface);
        self.surfaces.len() as u32 - 1
    }

    /// Adds triangles that share corners. Their corners are counter-clockwise seen from the front,
    /// or clockwise if `mirrored`.
    pub(crate) fn mesh(
        &mut self,
        projection: &Projection,
        surface: u32,
        corners: impl Iterator<Item = Corner>,
        triangles: &[[u16; 3]],
        mirrored: bool,
    ) {
        let mut buffer = std::mem::take(&mut self.corners);
        buffer.clear();
        buffer.extend(corners);
        for triangle in triangles {
            let [a, mut b, mut c] = triangle.map(|i| buffer[usize::from(i)]);
            if mirrored {
                std::mem::swap(&mut b, &mut c);
            }
            self.add(projection, [a, b, c], surface);
        }
        self.corners = buffer;
    }

    /// Adds a triangle, clipped to the view. Its corners are counter-clockwise seen from the front.
    pub(crate) fn add(&mut self, projection: &Projection, seen: [Corner; 3], surface: u32) {
        if !seen.iter().all(|s| s.at.is_finite() && s.uv.is_finite() && s.light.is_finite()) {
            return;
        }
        if seen.iter().all(|s| s.at.z < NEAR) {
            return;
        }
        // Largest allowed |x|/z and |y|/z of a corner.
        let limit = GUARD_BAND_PX / projection.focal;
        let inside =
            |s: &Corner| s.at.z >= NEAR && s.at.x.abs() <= limit * s.at.z && s.at.y.abs() <= limit * s.at.z;
        if seen.iter().all(inside) {
            self.add_clipped(projection, seen, surface);
            return;
        }
        let mut polygon = Polygon::new(seen);
        polygon.cut(|s| s.at.z - NEAR);
        polygon.cut(|s| limit * s.at.z - s.at.x);
        polygon.cut(|s| limit * s.at.z + s.at.x);
        polygon.cut(|s| limit * s.at.z - s.at.y);
        polygon.cut(|s| limit * s.at.z + s.at.y);
        let corners = polygon.corners();
        for i in 2..corners.len() {
            self.add_clipped(projection, [corners[0], corners[i - 1], corners[i]], surface);
        }
    }

    /// Adds a triangle that needs no clipping. A triangle that shows its back is dropped.
    fn add_clipped(&mut self, projection: &Projection, seen: [Corner; 3], surface: u32) {
        // Round to the nearest 1/256 of a pixel. The offset makes the value positive, because the
        // cast to an integer rounds towards zero.
        const AWAY: f64 = (1 << 24) as f64;
        let snap = |v: f32| (f64::from(v) * f64::from(SUBPIXELS) + (AWAY + 0.5)) as i32 - (1 << 24);
        let project = |s: &Corner| {
            let scale = projection.focal / s.at.z.max(NEAR * 0.5);
            [snap(s.at.x * scale + projection.centre.x), snap(s.at.y * scale + projection.centre.y)]
        };
        let points = [project(&seen[0]), project(&seen[1]), project(&seen[2])];
        let area = doubled_area(points);
        // The y axis points down, so a front face is clockwise and has a negative area.
        if area >= 0 {
            return;
        }
        let (points, seen) = ([points[0], points[2], points[1]], [seen[0], seen[2], seen[1]]);
        let bound = |axis: usize, last: usize| {
            let v = points.map(|p| p[axis]);
            let (low, high) = (v[0].min(v[1]).min(v[2]), v[0].max(v[1]).max(v[2]));
            // The first and the last pixel whose centre the triangle may cover.
            [((low + SUBPIXELS / 2 - 1) >> 8).max(0), ((high - SUBPIXELS / 2) >> 8).min(last as i32 - 1)]
        };
        let (columns, rows) = (bound(0, projection.width), bound(1, projection.height));
        if columns[0] > columns[1] || rows[0] > rows[1] {
            return;
        }
        if self.triangles.len() >= self.limits[0] || self.entries >= self.limits[1] {
            return;
        }
        let index = self.triangles.len() as u32;
        self.triangles.push(Triangle {
            edges: [
                Edge::between(points[0], points[1]),
                Edge::between(points[1], points[2]),
                Edge::between(points[2], points[0]),
            ],
            planes: planes(points, &seen, -area),
            even_light: (seen[0].light == seen[1].light && seen[1].light == seen[2].light)
                .then(|| seen[0].light.to_array()),
            surface,
            rows,
            columns,
        });
        let kind = &self.surfaces[surface as usize];
        let lists = if kind.blended || kind.opacity < 1.0 { &mut self.transparent } else { &mut self.opaque };
        let tiles = |v: [i32; 2]| v[0] as usize / TILE..v[1] as usize / TILE + 1;
        self.entries += tiles(rows).len() * tiles(columns).len();
        for row in tiles(rows) {
            for list in &mut lists[row * self.tiles_across..][tiles(columns)] {
                list.push(index);
            }
        }
    }
}

/// Twice the signed area of a triangle, in units of 1/65536 of a square pixel.
fn doubled_area([a, b, c]: [[i32; 2]; 3]) -> i64 {
    let d = |p: [i32; 2], axis: usize| i64::from(p[axis]) - i64::from(a[axis]);
    d(b, 0) * d(c, 1) - d(c, 0) * d(b, 1)
}

impl Edge {
    /// The edge from one corner to the next. By the top-left rule, a pixel centre exactly on the
    /// edge is inside if the edge is a top or a left one.
    fn between(from: [i32; 2], to: [i32; 2]) -> Edge {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let (a, b) = (-dy, dx);
        let owned = dy < 0 || (dy == 0 && dx > 0);
        let c = -(i64::from(a) * i64::from(from[0]) + i64::from(b) * i64::from(from[1]));
        Edge { a, b, c: c - i64::from(!owned) }
    }
}

/// The planes of [`Triangle::planes`]; `area` is twice the area of the triangle.
fn planes(points: [[i32; 2]; 3], seen: &[Corner; 3], area: i64) -> [Plane; 6] {
    let at = |i: usize| {
        (f64::from(points[i][0]) / f64::from(SUBPIXELS), f64::from(points[i][1]) / f64::from(SUBPIXELS))
    };
    let ((x0, y0), (x1, y1), (x2, y2)) = (at(0), at(1), at(2));
    let scale = f64::from(SUBPIXELS) * f64::from(SUBPIXELS) / area as f64;
    let inverse =
        [1.0 / f64::from(seen[0].at.z), 1.0 / f64::from(seen[1].at.z), 1.0 / f64::from(seen[2].at.z)];
    let plane = |a: f32, b: f32, c: f32| {
        let f = [f64::from(a) * inverse[0], f64::from(b) * inverse[1], f64::from(c) * inverse[2]];
        let a = ((f[1] - f[0]) * (y2 - y0) - (f[2] - f[0]) * (y1 - y0)) * scale;
        let b = ((f[2] - f[0]) * (x1 - x0) - (f[1] - f[0]) * (x2 - x0)) * scale;
        // Planes are evaluated at pixel centres, half a pixel from the corner of the pixel.
        Plane { a, b, c: f[0] - a * (x0 - 0.5) - b * (y0 - 0.5) }
    };
    let [p, q, r] = seen;
    [
        plane(1.0, 1.0, 1.0),
        plane(p.uv.x, q.uv.x, r.uv.x),
        plane(p.uv.y, q.uv.y, r.uv.y),
        plane(p.light.x, q.light.x, r.light.x),
        plane(p.light.y, q.light.y, r.light.y),
        plane(p.light.z, q.light.z, r.light.z),
    ]
}

/// A convex polygon. Clipping a triangle at five planes gives at most eight corners.
struct Polygon {
    corners: [Corner; 9],
    len: usize,
}

impl Polygon {
    fn new([a, b, c]: [Corner; 3]) -> Polygon {
        Polygon { corners: [a, b, c, a, a, a, a, a, a], len: 3 }
    }

    fn corners(&self) -> &[Corner] {
        &self.corners[..self.len]
    }

    /// Clips the polygon to the part where `value` is not negative.
    fn cut(&mut self, value: impl Fn(&Corner) -> f32) {
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
