//! Turns triangles in camera coordinates into triangles on the screen, sorted by tile.

use super::TILE;
use super::clip::Polygon;
use super::samples::{FIRST_SAMPLE, SAMPLE_SPACING};
use glam::{Vec2, Vec3};

/// Distance of the near clipping plane, m.
pub(crate) const NEAR: f32 = 0.02;
/// Subpixel steps per pixel. Corners are snapped to these steps.
pub(super) const SUBPIXELS: i32 = 256;
/// Minimum length of an edge that is drawn as an inner edge (see [`InnerEdges`]), in 1/256 of a
/// pixel. The pixels at the ends of such an edge may not be antialiased correctly, because the
/// outline of the surface may pass through them. With short inner edges, there would be many such
/// pixels.
const LONG_EDGE: i32 = 12 * SUBPIXELS;
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
    pub(super) fn between(&self, other: &Corner, t: f32) -> Corner {
        Corner {
            at: self.at + (other.at - self.at) * t,
            uv: self.uv + (other.uv - self.uv) * t,
            light: self.light + (other.light - self.light) * t,
        }
    }
}

/// The edges of a triangle that are inside of a flat surface: the triangles on both sides are in
/// one plane and have the same paint. Such an edge is not visible, so all samples of a pixel belong
/// to the triangle at the centre of the pixel. The pixels on the edge need not be split into
/// samples, which saves time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct InnerEdges(u8);

impl InnerEdges {
    /// The flags of the edges from each corner to the next one.
    pub(crate) fn new(edges: [bool; 3]) -> InnerEdges {
        InnerEdges(edges.into_iter().enumerate().map(|(i, is_inner)| u8::from(is_inner) << i).sum())
    }

    /// Whether an edge is inside of a flat surface.
    pub(crate) fn has(self, edge: usize) -> bool {
        self.0 >> edge & 1 == 1
    }

    /// The edges of the triangle with its second and third corner exchanged.
    fn reversed(self) -> InnerEdges {
        InnerEdges::new([self.has(2), self.has(1), self.has(0)])
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
    /// Whether all samples of a pixel count as being on the same side of the edge as the centre of
    /// the pixel, see [`InnerEdges`].
    pub(super) is_inner: bool,
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
    /// Smallest and largest 1/w of the corners. The shader clamps 1/w to this range, because a
    /// pixel is shaded at its centre, which is outside of the triangle in some pixels that an edge
    /// crosses.
    pub(super) nearness: [f32; 2],
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
    /// Buffers for the corners of the mesh that is being added, and for their points.
    corners: Vec<Corner>,
    points: Vec<Option<Point>>,
}

/// A position on the screen, in 1/256 of a pixel.
type Point = [i32; 2];

/// Limit on the triangles of a frame. The setups of the frame share this limit equally.
const MAX_TRIANGLES: usize = 2_000_000;
/// Limit on the entries in the tile lists of a frame. The setups of the frame share this limit
/// equally.
const MAX_ENTRIES: usize = 8_000_000;
/// Number of the low bits of a triangle id, which hold the index of the triangle within its setup.
/// The high bits hold the index of the setup.
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
    /// or clockwise if `mirrored`. `inner` has the inner edges of each triangle. Triangles beyond
    /// the end of `inner` have no inner edges.
    pub(crate) fn mesh(
        &mut self,
        projection: &Projection,
        surface: u32,
        corners: impl Iterator<Item = Corner>,
        (triangles, inner): (&[[u16; 3]], &[InnerEdges]),
        mirrored: bool,
    ) {
        let mut seen = std::mem::take(&mut self.corners);
        let mut points = std::mem::take(&mut self.points);
        seen.clear();
        seen.extend(corners);
        points.clear();
        // Each corner is projected once, because several triangles share it.
        points.extend(seen.iter().map(|corner| projection.point_inside(corner)));
        for (i, triangle) in triangles.iter().enumerate() {
            let [a, b, c] = *triangle;
            let (a, mut b, mut c) = (usize::from(a), usize::from(b), usize::from(c));
            let mut inner = inner.get(i).copied().unwrap_or_default();
            if mirrored {
                std::mem::swap(&mut b, &mut c);
                inner = inner.reversed();
            }
            match (points[a], points[b], points[c]) {
                (Some(p), Some(q), Some(r)) => {
                    if is_front([p, q, r]) {
                        let seen = [seen[a], seen[b], seen[c]];
                        self.add_projected(projection, [p, q, r], seen, inner, surface);
                    }
                }
                _ => self.add(projection, [seen[a], seen[b], seen[c]], inner, surface),
            }
        }
        self.corners = seen;
        self.points = points;
    }

    /// Adds a triangle, clipped to the view. Its corners are counter-clockwise seen from the front.
    pub(crate) fn add(
        &mut self,
        projection: &Projection,
        seen: [Corner; 3],
        inner: InnerEdges,
        surface: u32,
    ) {
        if !seen.iter().all(|s| s.at.is_finite() && s.uv.is_finite() && s.light.is_finite()) {
            return;
        }
        if seen.iter().all(|s| s.at.z < NEAR) {
            return;
        }
        let limit = projection.limit();
        let mut polygon = Polygon::new(seen, inner);
        polygon.cut(|s| s.at.z - NEAR);
        polygon.cut(|s| limit * s.at.z - s.at.x);
        polygon.cut(|s| limit * s.at.z + s.at.x);
        polygon.cut(|s| limit * s.at.z - s.at.y);
        polygon.cut(|s| limit * s.at.z + s.at.y);
        for (seen, inner) in polygon.triangles() {
            let points = [projection.point(&seen[0]), projection.point(&seen[1]), projection.point(&seen[2])];
            if is_front(points) {
                self.add_projected(projection, points, seen, inner, surface);
            }
        }
    }

    /// Adds a triangle that shows its front. `points` are the positions of its corners on the
    /// screen.
    fn add_projected(
        &mut self,
        projection: &Projection,
        points: [Point; 3],
        seen: [Corner; 3],
        inner: InnerEdges,
        surface: u32,
    ) {
        let (points, seen) = ([points[0], points[2], points[1]], [seen[0], seen[2], seen[1]]);
        let inner = inner.reversed();
        let bound = |axis: usize, last: usize| {
            let v = points.map(|p| p[axis]);
            let (low, high) = (v[0].min(v[1]).min(v[2]), v[0].max(v[1]).max(v[2]));
            // Find the first and the last pixel whose samples or centre the triangle may cover.
            // Samples and centres lie on a grid with half the spacing of samples. With an inner
            // edge, the bounds are not rounded to this grid, because samples count as covered
            // without being inside. Both spacings are powers of two, so a bit mask rounds down.
            let grid = if inner == InnerEdges::default() { SAMPLE_SPACING / 2 } else { 1 };
            let first = ((low - FIRST_SAMPLE + grid - 1) & -grid) + FIRST_SAMPLE;
            let last_sample = ((high - FIRST_SAMPLE) & -grid) + FIRST_SAMPLE;
            if first > last_sample {
                return [0, -1];
            }
            let farthest = SUBPIXELS - FIRST_SAMPLE;
            let first = (first - farthest + SUBPIXELS - 1).div_euclid(SUBPIXELS);
            let last_pixel = (last_sample - FIRST_SAMPLE).div_euclid(SUBPIXELS);
            [first.max(0), last_pixel.min(last as i32 - 1)]
        };
        let (columns, rows) = (bound(0, projection.width), bound(1, projection.height));
        if columns[0] > columns[1] || rows[0] > rows[1] {
            return;
        }
        if self.triangles.len() >= self.limits[0] || self.entries >= self.limits[1] {
            return;
        }
        let index = self.triangles.len() as u32;
        let kind = &self.surfaces[surface as usize];
        let near = seen.map(|corner| 1.0 / corner.at.z);
        let even_light = (seen[0].light == seen[1].light && seen[1].light == seen[2].light)
            .then(|| seen[0].light.to_array());
        self.triangles.push(Triangle {
            edges: [
                Edge::between(points[0], points[1], inner.has(0)),
                Edge::between(points[1], points[2], inner.has(1)),
                Edge::between(points[2], points[0], inner.has(2)),
            ],
            planes: planes(points, &seen, [kind.texture.is_some(), even_light.is_none()]),
            even_light,
            nearness: [near[0].min(near[1]).min(near[2]), near[0].max(near[1]).max(near[2])],
            surface,
            rows,
            columns,
        });
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

/// Whether a triangle shows its front. The corners of a front face are counter-clockwise on the
/// screen. Its signed area is negative, because the y axis points down.
fn is_front(points: [Point; 3]) -> bool {
    doubled_area(points) < 0
}

impl Projection {
    /// Largest allowed |x|/z and |y|/z of a corner.
    fn limit(&self) -> f32 {
        GUARD_BAND_PX / self.focal
    }

    /// The position of a corner on the screen.
    fn point(&self, corner: &Corner) -> Point {
        // Round to the nearest 1/256 of a pixel. The offset makes the value positive, because the
        // cast to an integer rounds towards zero.
        const AWAY: f64 = (1 << 24) as f64;
        let snap = |v: f32| (f64::from(v) * f64::from(SUBPIXELS) + (AWAY + 0.5)) as i32 - (1 << 24);
        let scale = self.focal / corner.at.z.max(NEAR * 0.5);
        [snap(corner.at.x * scale + self.centre.x), snap(corner.at.y * scale + self.centre.y)]
    }

    /// The position of a corner on the screen, or `None` if its triangles have to be clipped or
    /// dropped.
    #[inline]
    fn point_inside(&self, corner: &Corner) -> Option<Point> {
        let (at, limit) = (corner.at, self.limit());
        let is_inside = at.z >= NEAR && at.x.abs() <= limit * at.z && at.y.abs() <= limit * at.z;
        let is_finite = at.is_finite() && corner.uv.is_finite() && corner.light.is_finite();
        (is_inside && is_finite).then(|| self.point(corner))
    }
}

/// Twice the signed area of a triangle, in units of 1/65536 of a square pixel.
fn doubled_area([a, b, c]: [[i32; 2]; 3]) -> i64 {
    let d = |p: [i32; 2], axis: usize| i64::from(p[axis]) - i64::from(a[axis]);
    d(b, 0) * d(c, 1) - d(c, 0) * d(b, 1)
}

impl Edge {
    /// The edge from one corner to the next. By the top-left rule, a sample exactly on the edge is
    /// inside if the edge is a top edge or a left edge.
    fn between(from: [i32; 2], to: [i32; 2], is_inner: bool) -> Edge {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let (a, b) = (-dy, dx);
        let is_inner = is_inner && dx.abs().max(dy.abs()) >= LONG_EDGE;
        let owned = dy < 0 || (dy == 0 && dx > 0);
        let c = -(i64::from(a) * i64::from(from[0]) + i64::from(b) * i64::from(from[1]));
        Edge { a, b, c: c - i64::from(!owned), is_inner }
    }
}

/// The planes of [`Triangle::planes`]. Planes of u and v, and of light, are computed only if they
/// are needed.
fn planes(points: [Point; 3], seen: &[Corner; 3], [with_uv, with_light]: [bool; 2]) -> [Plane; 6] {
    let area = doubled_area(points);
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
    let mut planes = [Plane::default(); 6];
    planes[0] = plane(1.0, 1.0, 1.0);
    if with_uv {
        planes[1] = plane(p.uv.x, q.uv.x, r.uv.x);
        planes[2] = plane(p.uv.y, q.uv.y, r.uv.y);
    }
    if with_light {
        planes[3] = plane(p.light.x, q.light.x, r.light.x);
        planes[4] = plane(p.light.y, q.light.y, r.light.y);
        planes[5] = plane(p.light.z, q.light.z, r.light.z);
    }
    planes
}
