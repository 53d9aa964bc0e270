//! The track's visual mesh: field, road, lines, start line, fence.

use super::{Field, Track};
use chicane_world::collada::{Group, Material, Model, Part};
use glam::{DVec2, Vec3};

/// Thickness of the fence.
pub(super) const FENCE_M: f64 = 0.03;
/// Height of the fence.
pub(super) const FENCE_HEIGHT_M: f64 = 0.25;
/// Width of the lines at the road's edges.
const EDGE_M: f64 = 0.03;
/// Width of the dashed line in the middle.
const DASH_M: f64 = 0.02;

/// Heights of the painted layers: far enough apart for any depth buffer, too low to feel.
const ROAD_Z: f32 = 0.0005;
const LINE_Z: f32 = 0.001;
const START_Z: f32 = 0.0015;

#[derive(Default)]
struct Builder {
    part: Part,
    materials: Vec<Material>,
}

impl Builder {
    /// Starts a group of triangles with a material of its own.
    fn group(&mut self, name: &str, texture: Option<&str>, colour: [f32; 4]) {
        let texture = texture.map(|t| format!("../world_builder/textures/{t}.png"));
        let material = Material { name: name.to_owned(), colour, texture, ..Material::default() };
        self.part.groups.push(Group { material: Some(self.materials.len()), indices: Vec::new() });
        self.materials.push(material);
    }

    /// Four corners, counter-clockwise from the front, with their place in the picture.
    fn quad(&mut self, corners: [(Vec3, [f32; 2]); 4]) {
        let normal = (corners[1].0 - corners[0].0).cross(corners[2].0 - corners[0].0).normalize_or(Vec3::Z);
        let first = self.part.positions.len() as u32;
        for (position, uv) in corners {
            self.part.positions.push(position.to_array());
            self.part.normals.push(normal.to_array());
            self.part.uvs.push(uv);
        }
        if let Some(group) = self.part.groups.last_mut() {
            group.indices.extend([0, 1, 2, 0, 2, 3].map(|i| first + i));
        }
    }

    /// A strip of the road from `from` to `to` metres left of the centre, waypoints `a` to `b`.
    fn strip(&mut self, track: &Track, (from, to): (f64, f64), (a, b): (usize, usize), z: f32) {
        let line = &track.line;
        let s = |i: usize| (line.length * i as f64 / line.points.len() as f64) as f32;
        for i in a..b {
            let p = |i: usize, offset: f64| flat(line.beside(i, offset), z);
            self.quad([
                (p(i, to), [0.0, s(i)]),
                (p(i, from), [1.0, s(i)]),
                (p(i + 1, from), [1.0, s(i + 1)]),
                (p(i + 1, to), [0.0, s(i + 1)]),
            ]);
        }
    }

    /// An upright box on the ground.
    fn block(&mut self, low: DVec2, high: DVec2, height: f32) {
        let (a, b) = (low.as_vec2(), high.as_vec2());
        let ring = [[a.x, a.y], [b.x, a.y], [b.x, b.y], [a.x, b.y]];
        for i in 0..4 {
            let ([x, y], [u, v]) = (ring[i], ring[(i + 1) % 4]);
            self.quad([
                (Vec3::new(x, y, 0.0), [0.0, 0.0]),
                (Vec3::new(u, v, 0.0), [1.0, 0.0]),
                (Vec3::new(u, v, height), [1.0, 1.0]),
                (Vec3::new(x, y, height), [0.0, 1.0]),
            ]);
        }
        let top = ring.map(|[x, y]| (Vec3::new(x, y, height), [0.0, 0.0]));
        self.quad(top);
    }
}

fn flat(p: DVec2, z: f32) -> Vec3 {
    Vec3::new(p.x as f32, p.y as f32, z)
}

pub(super) fn build(track: &Track) -> Model {
    const WHITE: [f32; 4] = [1.0; 4];
    let mut b =
        Builder { part: Part { name: track.name.to_owned(), ..Part::default() }, ..Builder::default() };
    let [w, h] = track.size.map(|v| v as f32);
    let n = track.line.points.len();
    let half = 0.5 * track.width;

    let field = match track.field {
        Field::Carpet => "carpet",
        Field::Grass => "grass",
    };
    b.group("field", Some(field), WHITE);
    let corner = |x: f32, y: f32| (Vec3::new(x, y, 0.0), [x, y]);
    b.quad([corner(0.0, 0.0), corner(w, 0.0), corner(w, h), corner(0.0, h)]);

    b.group("road", Some("road"), WHITE);
    b.strip(track, (-half, half), (0, n), ROAD_Z);

    b.group("outer_line", Some("outer_line"), WHITE);
    b.strip(track, (half - EDGE_M, half), (0, n), LINE_Z);
    b.strip(track, (-half, -half + EDGE_M), (0, n), LINE_Z);

    b.group("center_line", Some("center_line"), WHITE);
    for first in (0..n.saturating_sub(4)).step_by(8) {
        b.strip(track, (-0.5 * DASH_M, 0.5 * DASH_M), (first, first + 4), LINE_Z);
    }

    b.group("start_line", Some("start_line"), WHITE);
    let (at, left) = (track.line.points[0], track.line.left[0]);
    let ahead = -left.perp() * 0.1;
    let (l, r) = (left * (half - EDGE_M), -left * (half - EDGE_M));
    b.quad([
        (flat(at + l, START_Z), [0.0, 0.0]),
        (flat(at + r, START_Z), [1.0, 0.0]),
        (flat(at + r + ahead, START_Z), [1.0, 1.0]),
        (flat(at + l + ahead, START_Z), [0.0, 1.0]),
    ]);

    b.group("fence", None, track.fence_colour);
    for (low, high) in fence(track.size) {
        b.block(low, high, FENCE_HEIGHT_M as f32);
    }
    Model { parts: vec![b.part], materials: b.materials }
}

/// The four sides of the fence, just inside the field: lower, right, upper, left.
pub(super) fn fence([w, h]: [f64; 2]) -> [(DVec2, DVec2); 4] {
    let t = FENCE_M;
    [
        (DVec2::new(0.0, 0.0), DVec2::new(w, t)),
        (DVec2::new(w - t, t), DVec2::new(w, h - t)),
        (DVec2::new(0.0, h - t), DVec2::new(w, h)),
        (DVec2::new(0.0, t), DVec2::new(t, h - t)),
    ]
}
