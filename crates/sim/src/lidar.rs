//! The lidar. For each solid, this module tests only the beams that can hit the solid. Meshes and
//! near boxes are intersected with the plane of the beams. For all other solids, closed-form
//! formulas give the distance along each beam. A solid is near if its distance in the plane is less
//! than four times the radius of its bounding sphere, and far otherwise.
//!
//! Beams lie in the plane z = 0 of the sensor. A solid is skipped if its bounding sphere does not
//! reach this plane, or is out of range. The intersection of a mesh or near box with the plane
//! consists of line segments, and only the beams between the ends of a segment are tested. For any
//! other solid, its bounding sphere (if it is far) or the corners of its bounding box (if it is
//! near) determine which beams are tested.

use crate::noise::{Sensor, Stream};
use crate::physics::Engine;
use crate::rays;
use chicane_world::readings::Scan;
use chicane_world::vehicle;
use chicane_world::world::{Shape, Solid, World};
use chicane_world::{Pose, Profile};
use glam::{DVec2, DVec3};
use std::f64::consts::{PI, TAU};

/// Maximum number of triangles in a leaf of a mesh's tree of bounding spheres.
const CHUNK: usize = 32;

/// The constant data of the sensor: beam directions, and the solids with their bounds.
#[derive(Debug)]
pub(crate) struct Lidar {
    model: vehicle::Lidar,
    beams: Vec<DVec2>,
    fixed: Vec<LidarSolid>,
    moving: Vec<(usize, LidarSolid)>,
    ground_z: f64,
}

#[derive(Debug)]
struct LidarSolid {
    pose: Pose,
    shape: Shape,
    half: DVec3,
    radius: f64,
    /// The triangles of a mesh; `None` if the shape is not a mesh, or is a mesh without triangles.
    tree: Option<MeshNode>,
}

/// Triangles of a mesh that are near each other, and their bounding sphere, in the mesh's frame.
#[derive(Debug)]
struct MeshNode {
    centre: DVec3,
    radius: f64,
    content: MeshContent,
}

#[derive(Debug)]
enum MeshContent {
    Triangles(Vec<[DVec3; 3]>),
    Halves(Box<[MeshNode; 2]>),
}

impl Lidar {
    pub(crate) fn new(world: &World, profile: &Profile) -> Lidar {
        let model = profile.lidar.clone();
        let beams = (0..model.beams)
            .map(|i| {
                let angle = -PI + TAU * f64::from(i) / f64::from(model.beams);
                DVec2::new(libm::cos(angle), libm::sin(angle))
            })
            .collect();
        let moving = world.objects.iter().enumerate();
        Lidar {
            model,
            beams,
            fixed: world.scenery.iter().map(LidarSolid::new).collect(),
            moving: moving.flat_map(|(i, o)| o.solids.iter().map(move |s| (i, LidarSolid::new(s)))).collect(),
            ground_z: world.ground.z,
        }
    }

    /// A scan of the right size in which every range is infinite.
    pub(crate) fn empty_scan(&self) -> Scan {
        Scan { sample: 0, ranges: vec![f32::INFINITY; self.beams.len()] }
    }

    /// Measures a scan from the car's pose. `exact` is a scratch buffer with one distance per beam.
    pub(crate) fn scan(
        &self,
        engine: &Engine,
        car: &Pose,
        sample: u64,
        seed: u64,
        exact: &mut [f64],
        out: &mut Scan,
    ) {
        let sensor = car.then(&Pose { position: DVec3::from_array(self.model.position_m), ..Pose::IDENTITY });
        self.exact(engine, &sensor, exact);
        let noise = Stream::new(seed, Sensor::Lidar, sample);
        let (near, far) = (self.model.range_min_m, self.model.range_max_m);
        out.sample = sample;
        for (i, (range, &hit)) in out.ranges.iter_mut().zip(exact.iter()).enumerate() {
            let noisy = hit + noise.normal(i as u64) * self.model.noise_sd_m;
            let in_range = hit >= near && hit <= far && noisy >= near && noisy <= far;
            *range = if in_range { noisy as f32 } else { f32::INFINITY };
        }
    }

    /// Distances without noise. A beam that hits nothing gets infinity.
    pub(crate) fn exact(&self, engine: &Engine, sensor: &Pose, ranges: &mut [f64]) {
        self.ground(sensor, ranges);
        for target in &self.fixed {
            self.target(target, sensor, &target.pose, ranges);
        }
        for (object, target) in &self.moving {
            let pose = engine.object_pose(*object);
            // Most objects have one solid without an offset. For such a solid the multiplication is
            // skipped.
            let pose = if target.pose == Pose::IDENTITY { pose } else { pose.then(&target.pose) };
            self.target(target, sensor, &pose, ranges);
        }
    }

    fn ground(&self, sensor: &Pose, ranges: &mut [f64]) {
        let height = sensor.position.z - self.ground_z;
        let (x, y) = (sensor.rotation * DVec3::X, sensor.rotation * DVec3::Y);
        ranges.fill(f64::INFINITY);
        // In the usual case the sensor is so level that no beam reaches the ground within range.
        if height > 0.0 && (x.z * x.z + y.z * y.z).sqrt() * self.model.range_max_m < height {
            return;
        }
        for (range, beam) in ranges.iter_mut().zip(&self.beams) {
            let down = -(x.z * beam.x + y.z * beam.y);
            if height <= 0.0 {
                *range = 0.0;
            } else if down > 0.0 {
                *range = height / down;
            }
        }
    }

    fn target(&self, target: &LidarSolid, sensor: &Pose, pose: &Pose, ranges: &mut [f64]) {
        let away = sensor.rotation.conjugate() * (pose.position - sensor.position);
        let reach = self.model.range_max_m + target.radius;
        if away.z.abs() > target.radius || away.length_squared() > reach * reach {
            return;
        }
        let pose = &Pose { position: away, rotation: sensor.rotation.conjugate() * pose.rotation };
        let flat = away.truncate().length();
        match target.shape {
            Shape::Mesh(_) => {
                if let Some(tree) = &target.tree {
                    self.mesh(tree, pose, ranges);
                }
                return;
            }
            // A near box is tested face by face, which takes a third of the time of a separate ray
            // cast for each beam.
            Shape::Box(half) if flat < 4.0 * target.radius => return self.faces(half, pose, ranges),
            _ => {}
        }
        let Some((first, count)) = self.window(pose, flat, target) else {
            return;
        };
        let back = pose.inverse();
        let (x, y) = (back.rotation * DVec3::X, back.rotation * DVec3::Y);
        let n = self.beams.len();
        let mut i = first;
        for _ in 0..count {
            let beam = self.beams[i];
            let d = rays::cast(&target.shape, back.position, x * beam.x + y * beam.y);
            if d < ranges[i] {
                ranges[i] = d;
            }
            i += 1;
            if i == n {
                i = 0;
            }
        }
    }

    /// The beams that can hit a solid: the index of the first beam, and the number of beams; `None`
    /// if no beam can hit it. `flat` is the distance to the solid in the sensor's plane, m.
    fn window(&self, pose: &Pose, flat: f64, target: &LidarSolid) -> Option<(usize, usize)> {
        let n = self.beams.len();
        let towards = libm::atan2(pose.position.y, pose.position.x);
        let (low, high) = if flat > 4.0 * target.radius {
            // The solid is small and far away, so its bounding circle is used. The circle spans the
            // angle asin(radius / flat) to each side. For arguments below 0.25, asin(x) < 1.05·x,
            // so no beam that hits the solid is left out.
            let a = 1.05 * target.radius / flat;
            (-a, a)
        } else {
            corner_span(pose, target.half, towards)?
        };
        if high - low >= PI {
            return Some((0, n));
        }
        let step = TAU / n as f64;
        let first = ((towards + low + PI) / step).floor() - 1.0;
        let last = ((towards + high + PI) / step).ceil() + 1.0;
        let count = ((last - first) as usize + 1).min(n);
        Some(((first as i64).rem_euclid(n as i64) as usize, count))
    }

    /// Shortens the ranges of the beams that hit a box, face by face. Skips the faces that point
    /// away from the sensor. If the sensor is inside the box, all ranges become 0.
    fn faces(&self, half: DVec3, pose: &Pose, ranges: &mut [f64]) {
        let eye = pose.rotation.conjugate() * -pose.position;
        if eye.abs().cmple(half).all() {
            return ranges.fill(0.0);
        }
        let axes = [pose.rotation * DVec3::X, pose.rotation * DVec3::Y, pose.rotation * DVec3::Z];
        for axis in 0..3 {
            if eye[axis].abs() <= half[axis] {
                continue;
            }
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let middle = pose.position + axes[axis] * half[axis].copysign(eye[axis]);
            let (a, b) = (axes[u] * half[u], axes[v] * half[v]);
            let corners = [middle - a - b, middle + a - b, middle + a + b, middle - a + b];
            if let Some((p, q)) = cut(&corners) {
                self.segment(p, q, ranges);
            }
        }
    }

    fn mesh(&self, node: &MeshNode, pose: &Pose, ranges: &mut [f64]) {
        let middle = pose.point(node.centre);
        if middle.z.abs() > node.radius || middle.length() - node.radius > self.model.range_max_m {
            return;
        }
        match &node.content {
            MeshContent::Halves(halves) => halves.iter().for_each(|half| self.mesh(half, pose, ranges)),
            MeshContent::Triangles(triangles) => {
                for triangle in triangles {
                    if let Some((a, b)) = cut(&triangle.map(|v| pose.point(v))) {
                        self.segment(a, b, ranges);
                    }
                }
            }
        }
    }

    /// Shortens the ranges of the beams that hit a line segment in the sensor's plane.
    fn segment(&self, a: DVec2, b: DVec2, ranges: &mut [f64]) {
        let n = self.beams.len();
        let from = libm::atan2(a.y, a.x);
        let span = wrap_difference(libm::atan2(b.y, b.x) - from);
        let step = TAU / n as f64;
        let first = ((from + span.min(0.0) + PI) / step).floor() as i64 - 1;
        let last = ((from + span.max(0.0) + PI) / step).ceil() as i64 + 1;
        let direction = b - a;
        let area = a.perp_dot(direction);
        let mut i = first.rem_euclid(n as i64) as usize;
        for _ in first..=last {
            let beam = self.beams[i];
            // If the beam is parallel to the segment, this line divides by zero and the comparison
            // below is false.
            let share = 1.0 / beam.perp_dot(direction);
            let (t, u) = (area * share, a.perp_dot(beam) * share);
            if t >= 0.0 && t < ranges[i] && (-1e-12..=1.0 + 1e-12).contains(&u) {
                ranges[i] = t;
            }
            i += 1;
            if i == n {
                i = 0;
            }
        }
    }
}

/// Lowest and highest angle to a corner of a bounding box, relative to `towards`. `None` if the box
/// does not intersect the plane z = 0.
fn corner_span(pose: &Pose, half: DVec3, towards: f64) -> Option<(f64, f64)> {
    let (mut below, mut above) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut low, mut high) = (0.0f64, 0.0f64);
    for i in 0..8 {
        let sign = |bit: usize| if i & bit == 0 { -1.0 } else { 1.0 };
        let p = pose.point(half * DVec3::new(sign(1), sign(2), sign(4)));
        below = below.min(p.z);
        above = above.max(p.z);
        let angle = wrap_difference(libm::atan2(p.y, p.x) - towards);
        low = low.min(angle);
        high = high.max(angle);
    }
    (below <= 0.0 && above >= 0.0).then_some((low, high))
}

/// Wraps `angle` to −π..π. `angle` is the difference of two angles in −π..π, so at most one
/// full turn has to be added or subtracted.
fn wrap_difference(angle: f64) -> f64 {
    if angle > PI {
        angle - TAU
    } else if angle < -PI {
        angle + TAU
    } else {
        angle
    }
}

/// The line segment in which a convex polygon intersects the plane z = 0; `None` if the polygon
/// does not intersect the plane.
fn cut(corners: &[DVec3]) -> Option<(DVec2, DVec2)> {
    let mut points = [DVec2::ZERO; 2];
    let mut found = 0;
    let mut p = corners[corners.len() - 1];
    for &q in corners {
        if (p.z > 0.0) != (q.z > 0.0) && found < 2 {
            let t = p.z / (p.z - q.z);
            points[found] = p.truncate() + (q.truncate() - p.truncate()) * t;
            found += 1;
        }
        p = q;
    }
    (found == 2).then_some((points[0], points[1]))
}

impl LidarSolid {
    fn new(solid: &Solid) -> LidarSolid {
        let half = rays::half_extents(&solid.shape);
        let tree = match &solid.shape {
            Shape::Mesh(mesh) => {
                let corners = |t: &[u32; 3]| t.map(|i| mesh.vertices[i as usize]);
                MeshNode::new(&mut mesh.triangles.iter().map(corners).collect::<Vec<_>>())
            }
            _ => None,
        };
        LidarSolid { pose: solid.pose, shape: solid.shape.clone(), half, radius: half.length(), tree }
    }
}

impl MeshNode {
    /// Builds a tree of bounding spheres: halves the triangles until each leaf has at most
    /// [`CHUNK`]. The order of the triangles does not change a scan, because every beam keeps the
    /// shortest distance. Returns `None` if there are no triangles.
    fn new(triangles: &mut [[DVec3; 3]]) -> Option<MeshNode> {
        let all = || triangles.iter().flatten().copied();
        let (low, high) =
            all().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
        let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
        let content = if triangles.len() <= CHUNK {
            if triangles.is_empty() {
                return None;
            }
            MeshContent::Triangles(triangles.to_vec())
        } else {
            let axis = (0..3).fold(0, |longest, i| if half[i] > half[longest] { i } else { longest });
            let place = |t: &[DVec3; 3]| t[0][axis] + t[1][axis] + t[2][axis];
            let middle = triangles.len() / 2;
            triangles.select_nth_unstable_by(middle, |a, b| place(a).total_cmp(&place(b)));
            let (first, second) = triangles.split_at_mut(middle);
            MeshContent::Halves(Box::new([MeshNode::new(first)?, MeshNode::new(second)?]))
        };
        Some(MeshNode { centre, radius: half.length(), content })
    }
}
