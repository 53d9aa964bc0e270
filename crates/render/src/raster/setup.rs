//! From corners in the world to triangles on the screen.

use super::TILE;
use glam::{Vec2, Vec3};

/// Nearer than this nothing is seen, m.
pub(crate) const NEAR: f32 = 0.02;
/// Parts of a pixel that corners are snapped to.
pub(super) const SUB: i32 = 256;
/// Triangles reach at most this far from the middle of the picture, in pixels; the rest is cut off.
/// Pictures are smaller; edges of twice this length still fit into a tile's 32 bits.
const GUARD: f32 = 8192.0;

/// The picture that is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Eye {
    /// Pixels by unit of x/z.
    pub(crate) focal: f32,
    /// Where the axis meets the picture, pixels.
    pub(crate) centre: Vec2,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// How a triangle is painted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surface {
    /// Index of its texture.
    pub(crate) texture: Option<u32>,
    /// Light of its own, linear.
    pub(crate) emissive: [f32; 3],
    /// 1 is solid.
    pub(crate) opacity: f32,
    /// Holes in its texture are seen through.
    pub(crate) blended: bool,
    /// What it belongs to.
    pub(crate) label: u16,
}

/// A corner of a triangle, seen from the eye.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Corner {
    /// x right, y down, z ahead.
    pub(crate) at: Vec3,
    pub(crate) uv: Vec2,
    /// Colour and light, linear.
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

/// A value that changes evenly over the screen: a·x + b·y + c at pixel centres.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Plane {
    pub(super) a: f64,
    pub(super) b: f64,
    pub(super) c: f64,
}

/// Half of the plane: inside where a·x + b·y + c is not negative, in parts of a pixel.
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
    /// 1/w, then u, v, red, green, blue, each by w.
    pub(super) planes: [Plane; 6],
    /// Light that is the same all over it.
    pub(super) even_light: Option<[f32; 3]>,
    pub(super) surface: u32,
    /// First and last row that it may touch.
    pub(super) rows: [i32; 2],
    /// First and last column.
    pub(super) columns: [i32; 2],
}

/// A part of a frame that is ready to be drawn. Kept from frame to frame for its room.
#[derive(Debug, Default)]
pub(crate) struct Setup {
    pub(super) triangles: Vec<Triangle>,
    pub(super) surfaces: Vec<Surface>,
    /// By tile: solid triangles, and those that can be seen through.
    pub(super) solid: Vec<Vec<u32>>,
    pub(super) clear: Vec<Vec<u32>>,
    pub(super) tiles_across: usize,
    /// Entries in those lists.
    entries: usize,
    /// Triangles and entries that there is room for.
    room: [usize; 2],
    /// Corners of the mesh that is being added.
    corners: Vec<Corner>,
}

/// Triangles on the screen at a time.
const MAX_TRIANGLES: usize = 2_000_000;
/// Tiles that all of them together may touch.
const MAX_ENTRIES: usize = 8_000_000;
/// Bits of a triangle's number within its part.
const WITHIN: u32 = 21;
const _: () = assert!(MAX_TRIANGLES <= 1 << WITHIN);

/// The number of a triangle in a frame of several parts.
pub(super) fn number(part: usize, index: u32) -> u32 {
    (part as u32) << WITHIN | index
}

/// The triangle of a number, and how it is painted.
pub(super) fn numbered(parts: &[Setup], number: u32) -> (&Triangle, &Surface) {
    let part = &parts[(number >> WITHIN) as usize];
    let triangle = &part.triangles[(number & ((1 << WITHIN) - 1)) as usize];
    (triangle, &part.surfaces[triangle.surface as usize])
}

impl Setup {
    /// Starts one of so many parts of a frame.
    pub(crate) fn clear(&mut self, eye: &Eye, parts: usize) {
        self.triangles.clear();
        self.surfaces.clear();
        self.entries = 0;
        self.room = [MAX_TRIANGLES / parts, MAX_ENTRIES / parts];
        self.tiles_across = eye.width.div_ceil(TILE);
        let tiles = self.tiles_across * eye.height.div_ceil(TILE);
        for list in [&mut self.solid, &mut self.clear] {
            list.truncate(tiles);
            list.iter_mut().for_each(Vec::clear);
            list.resize_with(tiles, Vec::new);
        }
    }

    /// A surface that the next triangles may name.
    pub(crate) fn surface(&mut self, surface: Surface) -> u32 {
        self.surfaces.push(surface);
        self.surfaces.len() as u32 - 1
    }

    /// Adds triangles that share corners, counter-clockwise from the front, or clockwise if they are mirrored.
    pub(crate) fn mesh(
        &mut self,
        eye: &Eye,
        surface: u32,
        corners: impl Iterator<Item = Corner>,
        triangles: &[[u16; 3]],
        mirrored: bool,
    ) {
        let mut room = std::mem::take(&mut self.corners);
        room.clear();
        room.extend(corners);
        for triangle in triangles {
            let [a, mut b, mut c] = triangle.map(|i| room[usize::from(i)]);
            if mirrored {
                std::mem::swap(&mut b, &mut c);
            }
            self.add(eye, [a, b, c], surface);
        }
        self.corners = room;
    }

    /// Adds a triangle, counter-clockwise from the front.
    pub(crate) fn add(&mut self, eye: &Eye, seen: [Corner; 3], surface: u32) {
        if !seen.iter().all(|s| s.at.is_finite() && s.uv.is_finite() && s.light.is_finite()) {
            return;
        }
        if seen.iter().all(|s| s.at.z < NEAR) {
            return;
        }
        // How far out a corner may be at its distance.
        let limit = GUARD / eye.focal;
        let inside =
            |s: &Corner| s.at.z >= NEAR && s.at.x.abs() <= limit * s.at.z && s.at.y.abs() <= limit * s.at.z;
        if seen.iter().all(inside) {
            self.add_seen(eye, seen, surface);
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
            self.add_seen(eye, [corners[0], corners[i - 1], corners[i]], surface);
        }
    }

    fn add_seen(&mut self, eye: &Eye, seen: [Corner; 3], surface: u32) {
        // Snapped with rounding; made positive first, so that cutting off is rounding down.
        const AWAY: f64 = (1 << 24) as f64;
        let snap = |v: f32| (f64::from(v) * f64::from(SUB) + (AWAY + 0.5)) as i32 - (1 << 24);
        let project = |s: &Corner| {
            let scale = eye.focal / s.at.z.max(NEAR * 0.5);
            [snap(s.at.x * scale + eye.centre.x), snap(s.at.y * scale + eye.centre.y)]
        };
        let points = [project(&seen[0]), project(&seen[1]), project(&seen[2])];
        let area = doubled_area(points);
        // With y down the front is seen clockwise.
        if area >= 0 {
            return;
        }
        let (points, seen) = ([points[0], points[2], points[1]], [seen[0], seen[2], seen[1]]);
        let bound = |axis: usize, last: usize| {
            let v = points.map(|p| p[axis]);
            let (low, high) = (v[0].min(v[1]).min(v[2]), v[0].max(v[1]).max(v[2]));
            // The first and the last pixel whose centre it may cover.
            [((low + SUB / 2 - 1) >> 8).max(0), ((high - SUB / 2) >> 8).min(last as i32 - 1)]
        };
        let (columns, rows) = (bound(0, eye.width), bound(1, eye.height));
        if columns[0] > columns[1] || rows[0] > rows[1] {
            return;
        }
        if self.triangles.len() >= self.room[0] || self.entries >= self.room[1] {
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
        let lists = if kind.blended || kind.opacity < 1.0 { &mut self.clear } else { &mut self.solid };
        let tiles = |v: [i32; 2]| v[0] as usize / TILE..v[1] as usize / TILE + 1;
        self.entries += tiles(rows).len() * tiles(columns).len();
        for row in tiles(rows) {
            for list in &mut lists[row * self.tiles_across..][tiles(columns)] {
                list.push(index);
            }
        }
    }
}

fn doubled_area([a, b, c]: [[i32; 2]; 3]) -> i64 {
    let d = |p: [i32; 2], axis: usize| i64::from(p[axis]) - i64::from(a[axis]);
    d(b, 0) * d(c, 1) - d(c, 0) * d(b, 1)
}

impl Edge {
    /// The edge from one corner to the next; a pixel on it belongs to it if it is a top or left one.
    fn between(from: [i32; 2], to: [i32; 2]) -> Edge {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let (a, b) = (-dy, dx);
        let owned = dy < 0 || (dy == 0 && dx > 0);
        let c = -(i64::from(a) * i64::from(from[0]) + i64::from(b) * i64::from(from[1]));
        Edge { a, b, c: c - i64::from(!owned) }
    }
}

/// Values by w as planes over the screen.
fn planes(points: [[i32; 2]; 3], seen: &[Corner; 3], area: i64) -> [Plane; 6] {
    let at = |i: usize| (f64::from(points[i][0]) / f64::from(SUB), f64::from(points[i][1]) / f64::from(SUB));
    let ((x0, y0), (x1, y1), (x2, y2)) = (at(0), at(1), at(2));
    let scale = f64::from(SUB) * f64::from(SUB) / area as f64;
    let inverse =
        [1.0 / f64::from(seen[0].at.z), 1.0 / f64::from(seen[1].at.z), 1.0 / f64::from(seen[2].at.z)];
    let plane = |a: f32, b: f32, c: f32| {
        let f = [f64::from(a) * inverse[0], f64::from(b) * inverse[1], f64::from(c) * inverse[2]];
        let a = ((f[1] - f[0]) * (y2 - y0) - (f[2] - f[0]) * (y1 - y0)) * scale;
        let b = ((f[2] - f[0]) * (x1 - x0) - (f[1] - f[0]) * (x2 - x0)) * scale;
        // At the centre of a pixel, half a pixel from its corner.
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

/// A convex polygon of a few corners.
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

    /// Keeps the part where a value is not negative.
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
            // Always from the inner corner: the neighbour on this edge must find the very same point.
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
