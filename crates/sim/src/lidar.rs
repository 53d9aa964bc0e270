//! The lidar: closed-form rays against every solid, only for the beams that can hit it.
//!
//! Beams lie in the plane z = 0 of the sensor. A solid is skipped when that plane misses its
//! bounding box; else the box's corners bound the directions in which it can be seen.

use crate::chance::{Sensor, Stream};
use crate::physics::Engine;
use crate::rays;
use chicane_world::readings::Scan;
use chicane_world::vehicle;
use chicane_world::world::{Shape, Solid, World};
use chicane_world::{Pose, Profile};
use glam::{DVec2, DVec3};
use std::f64::consts::{PI, TAU};

/// Triangles of a mesh that share a bounding box.
const CHUNK: usize = 32;

/// What never changes: beam directions, and the solids with their bounds.
#[derive(Debug)]
pub(crate) struct Lidar {
    model: vehicle::Lidar,
    beams: Vec<DVec2>,
    fixed: Vec<Target>,
    moving: Vec<(usize, Target)>,
    ground_z: f64,
}

#[derive(Debug)]
struct Target {
    pose: Pose,
    shape: Shape,
    half: DVec3,
    radius: f64,
    chunks: Vec<Chunk>,
}

/// Some triangles of a mesh, in the mesh's frame.
#[derive(Debug)]
struct Chunk {
    centre: DVec3,
    half: DVec3,
    triangles: Vec<[DVec3; 3]>,
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
            fixed: world.scenery.iter().map(Target::new).collect(),
            moving: moving.flat_map(|(i, o)| o.solids.iter().map(move |s| (i, Target::new(s)))).collect(),
            ground_z: world.ground.z,
        }
    }

    /// A scan without any range in it, of the right size.
    pub(crate) fn empty_scan(&self) -> Scan {
        Scan { sample: 0, ranges: vec![f32::INFINITY; self.beams.len()] }
    }

    /// Measures from a car's pose. `exact` is scratch of one number a beam.
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
            let seen = hit >= near && hit <= far && noisy >= near && noisy <= far;
            *range = if seen { noisy as f32 } else { f32::INFINITY };
        }
    }

    /// True distances, infinite where nothing is hit.
    pub(crate) fn exact(&self, engine: &Engine, sensor: &Pose, ranges: &mut [f64]) {
        self.ground(sensor, ranges);
        for target in &self.fixed {
            self.target(target, sensor, &target.pose, ranges);
        }
        for (object, target) in &self.moving {
            let pose = engine.object_pose(*object);
            // Most objects stand where their only solid is.
            let pose = if target.pose == Pose::IDENTITY { pose } else { pose.then(&target.pose) };
            self.target(target, sensor, &pose, ranges);
        }
    }

    fn ground(&self, sensor: &Pose, ranges: &mut [f64]) {
        let height = sensor.position.z - self.ground_z;
        let (x, y) = (sensor.rotation * DVec3::X, sensor.rotation * DVec3::Y);
        ranges.fill(f64::INFINITY);
        // Level enough that no beam comes down within range: the usual case.
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

    fn target(&self, target: &Target, sensor: &Pose, pose: &Pose, ranges: &mut [f64]) {
        let away = sensor.rotation.conjugate() * (pose.position - sensor.position);
        let reach = self.model.range_max_m + target.radius;
        if away.z.abs() > target.radius || away.length_squared() > reach * reach {
            return;
        }
        let pose = &Pose { position: away, rotation: sensor.rotation.conjugate() * pose.rotation };
        let flat = away.truncate().length();
        match target.shape {
            Shape::Mesh(_) => return self.mesh(target, pose, ranges),
            // Long or near: a beam costs a third when it meets one face in the plane.
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

    /// The beams that can see a target at this distance: first and count.
    fn window(&self, pose: &Pose, flat: f64, target: &Target) -> Option<(usize, usize)> {
        let n = self.beams.len();
        let towards = libm::atan2(pose.position.y, pose.position.x);
        let (low, high) = if flat > 4.0 * target.radius {
            // Small and far: the circle around it will do. asin(x) < 1.05·x here.
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

    /// A box, face by face, as far as the faces look this way.
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

    fn mesh(&self, target: &Target, pose: &Pose, ranges: &mut [f64]) {
        for chunk in &target.chunks {
            let radius = chunk.half.length();
            let middle = pose.point(chunk.centre);
            if middle.z.abs() > radius || middle.length() - radius > self.model.range_max_m {
                continue;
            }
            for triangle in &chunk.triangles {
                if let Some((a, b)) = cut(&triangle.map(|v| pose.point(v))) {
                    self.segment(a, b, ranges);
                }
            }
        }
    }

    /// A line in the sensor's plane.
    fn segment(&self, a: DVec2, b: DVec2, ranges: &mut [f64]) {
        let n = self.beams.len();
        let from = libm::atan2(a.y, a.x);
        let span = short_way(libm::atan2(b.y, b.x) - from);
        let step = TAU / n as f64;
        let first = ((from + span.min(0.0) + PI) / step).floor() as i64 - 1;
        let last = ((from + span.max(0.0) + PI) / step).ceil() as i64 + 1;
        let way = b - a;
        let area = a.perp_dot(way);
        let mut i = first.rem_euclid(n as i64) as usize;
        for _ in first..=last {
            let beam = self.beams[i];
            // A beam along the line divides by zero and compares false below.
            let share = 1.0 / beam.perp_dot(way);
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

/// Directions of a bounding box's corners about `towards`, or `None` where the plane z = 0
/// misses it.
fn corner_span(pose: &Pose, half: DVec3, towards: f64) -> Option<(f64, f64)> {
    let (mut below, mut above) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut low, mut high) = (0.0f64, 0.0f64);
    for i in 0..8 {
        let sign = |bit: usize| if i & bit == 0 { -1.0 } else { 1.0 };
        let p = pose.point(half * DVec3::new(sign(1), sign(2), sign(4)));
        below = below.min(p.z);
        above = above.max(p.z);
        let angle = short_way(libm::atan2(p.y, p.x) - towards);
        low = low.min(angle);
        high = high.max(angle);
    }
    (below <= 0.0 && above >= 0.0).then_some((low, high))
}

/// A difference of two angles of −π..π, the short way round.
fn short_way(angle: f64) -> f64 {
    if angle > PI {
        angle - TAU
    } else if angle < -PI {
        angle + TAU
    } else {
        angle
    }
}

/// Where a convex polygon crosses the plane z = 0.
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

impl Target {
    fn new(solid: &Solid) -> Target {
        let half = rays::half_extents(&solid.shape);
        let chunks = match &solid.shape {
            Shape::Mesh(mesh) => chunks(mesh),
            _ => Vec::new(),
        };
        Target { pose: solid.pose, shape: solid.shape.clone(), half, radius: half.length(), chunks }
    }
}

fn chunks(mesh: &chicane_world::world::TriangleMesh) -> Vec<Chunk> {
    let corners = |t: &[u32; 3]| t.map(|i| mesh.vertices[i as usize]);
    mesh.triangles
        .chunks(CHUNK)
        .map(|some| {
            let triangles: Vec<[DVec3; 3]> = some.iter().map(corners).collect();
            let all = || triangles.iter().flatten().copied();
            let low = all().fold(DVec3::INFINITY, DVec3::min);
            let high = all().fold(DVec3::NEG_INFINITY, DVec3::max);
            Chunk { centre: 0.5 * (low + high), half: 0.5 * (high - low), triangles }
        })
        .collect()
}
