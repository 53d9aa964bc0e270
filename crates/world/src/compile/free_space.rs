//! The solid bodies around the origin. This module answers two questions: whether a car fits at a
//! pose, and which level surfaces exist for given x and y.

use super::extents::Extents;
use crate::pose::Pose;
use crate::world::{Shape, World};
use glam::{DMat3, DVec2, DVec3};

/// Number of cells along x and along y. The cells divide the square around the origin.
const CELLS: usize = 32;
/// Maximum number of cells that an obstacle is stored in. A wider obstacle is stored in a separate
/// list, and every query tests this list.
const WIDE: usize = 64;
/// A surface is level if the absolute z of its unit normal is at least this value, which is a slope
/// of at most 11.5°.
const LEVEL: f64 = 0.98;
/// Maximum difference between the height of the car's origin and the height of a surface that
/// carries the car, in metres. Such a surface must exist below each wheel and on the road ahead.
const STEP_M: f64 = 0.02;
/// Maximum number of tests of one search. A search that needs more tests is given up, because a
/// hostile world could otherwise make the search arbitrarily slow.
const MAX_TESTS: usize = 60_000_000;
/// Maximum number of bodies in the searched square.
const MAX_OBSTACLES: usize = 1_000_000;
/// Cost of an exact test, as a number of bounding-box tests.
const EXACT_COST: usize = 16;

/// A convex body.
enum Obstacle {
    Triangle([DVec3; 3]),
    Cuboid(Box<Cuboid>),
}

/// A box.
struct Cuboid {
    corners: [DVec3; 8],
    axes: [DVec3; 3],
    /// Whether the car can stand on the box.
    carries: bool,
}

impl Cuboid {
    /// The box with these half edge lengths. `carries` says whether the car can stand on the box.
    fn new(pose: &Pose, half: DVec3, carries: bool) -> Cuboid {
        let DMat3 { x_axis: x, y_axis: y, z_axis: z } = DMat3::from_quat(pose.rotation);
        let corners = std::array::from_fn(|i| {
            let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
            pose.position + x * (half.x * sign(0)) + y * (half.y * sign(1)) + z * (half.z * sign(2))
        });
        Cuboid { corners, axes: [x, y, z], carries }
    }

    /// The height of the highest level face for given x and y; `None` if there is no such face, or
    /// if the car cannot stand on the box.
    fn top_at(&self, at: DVec2) -> Option<f64> {
        let level = (0..3).filter(|axis| self.carries && self.axes[*axis].z.abs() >= LEVEL);
        let faces = level.flat_map(|axis| [0, 1].map(|side| (axis, side)));
        // In the index of a corner, bit `axis` selects one of two opposite faces. Bits `u` and `v`
        // select a corner of this face.
        let heights = faces.flat_map(|(axis, side)| {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let corner = |i: usize, j: usize| self.corners[side << axis | i << u | j << v];
            [
                height_in(at, [corner(0, 0), corner(1, 0), corner(1, 1)]),
                height_in(at, [corner(0, 0), corner(1, 1), corner(0, 1)]),
            ]
        });
        heights.flatten().reduce(f64::max)
    }

    /// Whether the box and an obstacle have common points, by the separating axis theorem.
    fn touches(&self, other: &Obstacle) -> bool {
        let (edges, faces) = match other {
            Obstacle::Triangle([a, b, c]) => {
                let normal = (*b - *a).cross(*c - *a);
                ([*b - *a, *c - *b, *a - *c], [normal, DVec3::ZERO, DVec3::ZERO])
            }
            Obstacle::Cuboid(cuboid) => (cuboid.axes, cuboid.axes),
        };
        let crossed = self.axes.iter().flat_map(|a| edges.iter().map(move |b| a.cross(*b)));
        let mut axes = self.axes.iter().chain(&faces).copied().chain(crossed);
        !axes.any(|axis| {
            let range = |points: &[DVec3]| {
                points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| {
                    let along = p.dot(axis);
                    (low.min(along), high.max(along))
                })
            };
            let ((a, b), (c, d)) = (range(&self.corners), range(other.corners()));
            // An axis of length 0 separates nothing. Such an axis is the cross product of parallel
            // edges, or an unused entry of `faces`.
            axis.length_squared() > 1e-18 && (b < c || d < a)
        })
    }
}

impl Obstacle {
    fn corners(&self) -> &[DVec3] {
        match self {
            Obstacle::Triangle(corners) => corners,
            Obstacle::Cuboid(cuboid) => &cuboid.corners,
        }
    }

    /// The height of the highest level face of the body for given x and y; `None` if there is no
    /// such face.
    fn top_at(&self, at: DVec2) -> Option<f64> {
        match self {
            Obstacle::Triangle(corners) => height_in(at, *corners).filter(|_| is_level(corners)),
            Obstacle::Cuboid(cuboid) => cuboid.top_at(at),
        }
    }
}

fn is_level([a, b, c]: &[DVec3; 3]) -> bool {
    let normal = (*b - *a).cross(*c - *a);
    normal.z.abs() >= LEVEL * normal.length()
}

fn extent(points: &[DVec3]) -> (DVec3, DVec3) {
    points.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(a, b), p| (a.min(*p), b.max(*p)))
}

/// The height of a triangle for given x and y; `None` if the triangle does not cover this place as
/// seen from above, or if the triangle is vertical.
fn height_in(at: DVec2, [a, b, c]: [DVec3; 3]) -> Option<f64> {
    let (u, v, w) = (b.truncate() - a.truncate(), c.truncate() - a.truncate(), at - a.truncate());
    let area = u.perp_dot(v);
    let (s, t) = (w.perp_dot(v) / area, u.perp_dot(w) / area);
    let inside = area.abs() > 1e-12 && s >= -1e-9 && t >= -1e-9 && s + t <= 1.0 + 1e-9;
    inside.then_some(a.z + s * (b.z - a.z) + t * (c.z - a.z))
}

/// The solid bodies in a square around the origin.
pub(super) struct FreeSpace {
    obstacles: Vec<Obstacle>,
    /// Half the edge length of the square, in metres.
    radius: f64,
    cells: Vec<Vec<u32>>,
    /// Indices of the obstacles that cover more than `WIDE` cells. Every query tests these
    /// obstacles.
    wide: Vec<u32>,
}

/// The number of tests that a search may still make.
pub(super) struct TestBudget(usize);

impl TestBudget {
    pub(super) fn new() -> TestBudget {
        TestBudget(MAX_TESTS)
    }

    fn spend(&mut self, tests: usize) -> bool {
        self.0 = self.0.saturating_sub(tests);
        self.0 > 0
    }
}

impl FreeSpace {
    /// Collects the solid bodies that reach into the square around the origin. `radius` is half the
    /// edge length of the square, in metres. The result is `None` if there are too many bodies.
    pub(super) fn around(world: &World, radius: f64) -> Option<FreeSpace> {
        let mut space = FreeSpace {
            obstacles: Vec::new(),
            radius,
            cells: vec![Vec::new(); CELLS * CELLS],
            wide: Vec::new(),
        };
        for solid in &world.scenery {
            space.add(&solid.shape, &solid.pose)?;
        }
        for object in &world.objects {
            for solid in &object.solids {
                let pose = object.origin.then(&solid.pose);
                if object.is_static {
                    space.add(&solid.shape, &pose)?;
                } else {
                    space.add_falling(&Extents::of(&pose, &solid.shape), world.ground.z)?;
                }
            }
        }
        Some(space)
    }

    /// Adds an object that may fall. The space between the object and the ground is not free
    /// either, because the object may fall into this space. The result is `None` if there are too
    /// many bodies.
    fn add_falling(&mut self, extents: &Extents, ground: f64) -> Option<()> {
        let (min, max) = (extents.min(), extents.max());
        let low = DVec3::new(min.x, min.y, min.z.min(ground));
        let pose = Pose { position: (low + max) * 0.5, ..Pose::IDENTITY };
        self.insert(Obstacle::Cuboid(Box::new(Cuboid::new(&pose, (max - low) * 0.5, false))))
    }

    fn add(&mut self, shape: &Shape, pose: &Pose) -> Option<()> {
        let (half, carries) = match shape {
            Shape::Mesh(mesh) => {
                for triangle in &mesh.triangles {
                    let corners = triangle.map(|i| pose.point(mesh.vertices[i as usize]));
                    self.insert(Obstacle::Triangle(corners))?;
                }
                return Some(());
            }
            Shape::Box(half) => (*half, true),
            Shape::Cylinder { radius, half_length } | Shape::Cone { radius, half_length } => {
                (DVec3::new(*radius, *radius, *half_length), false)
            }
            Shape::Sphere { radius } => (DVec3::splat(*radius), false),
            Shape::Capsule { radius, half_length } => {
                (DVec3::new(*radius, *radius, half_length + radius), false)
            }
        };
        self.insert(Obstacle::Cuboid(Box::new(Cuboid::new(pose, half, carries))))
    }

    /// Adds a body if its bounding rectangle touches the square. The result is `None` if there are
    /// too many bodies.
    fn insert(&mut self, obstacle: Obstacle) -> Option<()> {
        let (min, max) = extent(obstacle.corners());
        let is_near = min.truncate().cmple(DVec2::splat(self.radius)).all()
            && max.truncate().cmpge(DVec2::splat(-self.radius)).all();
        if !is_near {
            return Some(());
        }
        let index = self.obstacles.len() as u32;
        let [columns, rows] = self.cells_of(min.truncate(), max.truncate());
        if columns.len() * rows.len() > WIDE {
            self.wide.push(index);
        } else {
            for row in rows {
                for column in columns.clone() {
                    self.cells[row * CELLS + column].push(index);
                }
            }
        }
        self.obstacles.push(obstacle);
        (self.obstacles.len() < MAX_OBSTACLES).then_some(())
    }

    /// The columns and rows of the cells that a rectangle covers.
    fn cells_of(&self, min: DVec2, max: DVec2) -> [std::ops::Range<usize>; 2] {
        let cell = 2.0 * self.radius / CELLS as f64;
        let (low, high) = ((min + self.radius) / cell, (max + self.radius) / cell);
        let limit = |x: f64| x.clamp(0.0, (CELLS - 1) as f64) as usize;
        [limit(low.x)..limit(high.x) + 1, limit(low.y)..limit(high.y) + 1]
    }

    /// The obstacles that may overlap a rectangle as seen from above. An obstacle can occur several
    /// times, because it can be stored in several cells.
    fn above(&self, min: DVec2, max: DVec2) -> impl Iterator<Item = &Obstacle> {
        let [columns, rows] = self.cells_of(min, max);
        let cells = rows.flat_map(move |row| columns.clone().map(move |column| row * CELLS + column));
        let near = cells.flat_map(|cell| &self.cells[cell]);
        near.chain(&self.wide).map(|i| &self.obstacles[*i as usize])
    }

    /// The heights of the level surfaces for given x and y, in ascending order. Surfaces below
    /// `lowest` are left out. If the budget is exhausted, further surfaces are missing.
    pub(super) fn surfaces(&self, at: DVec2, lowest: f64, budget: &mut TestBudget) -> Vec<f64> {
        let mut heights = Vec::new();
        for obstacle in self.above(at, at) {
            if !budget.spend(1) {
                break;
            }
            heights.extend(obstacle.top_at(at).filter(|z| *z >= lowest));
        }
        heights.sort_by(f64::total_cmp);
        heights.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
        heights
    }

    /// Whether a level surface exists for given x and y whose height differs from `z` by at most
    /// `STEP_M`.
    pub(super) fn carries(&self, at: DVec2, z: f64, budget: &mut TestBudget) -> bool {
        let near = |height: f64| (height - z).abs() <= STEP_M;
        self.above(at, at).any(|o| budget.spend(1) && o.top_at(at).is_some_and(near))
    }

    /// Whether a box touches nothing.
    pub(super) fn is_free(&self, pose: &Pose, half: DVec3, budget: &mut TestBudget) -> bool {
        let room = Cuboid::new(pose, half, false);
        let (min, max) = extent(&room.corners);
        let mut near = self.above(min.truncate(), max.truncate());
        let hit = near.any(|obstacle| {
            let (low, high) = extent(obstacle.corners());
            let apart = low.cmpgt(max).any() || high.cmplt(min).any();
            // If the budget is exhausted, the place counts as occupied.
            !budget.spend(if apart { 1 } else { EXACT_COST }) || (!apart && room.touches(obstacle))
        });
        !hit
    }

    /// Whether a point is inside a closed mesh. The point is inside if the nearest triangle above
    /// it faces up, because all triangles of a closed mesh face outwards. If the budget is
    /// exhausted, the point counts as inside.
    pub(super) fn is_inside(&self, point: DVec3, budget: &mut TestBudget) -> bool {
        let mut nearest: Option<(f64, f64)> = None;
        for obstacle in self.above(point.truncate(), point.truncate()) {
            let Obstacle::Triangle([a, b, c]) = obstacle else { continue };
            if !budget.spend(1) {
                return true;
            }
            let height = height_in(point.truncate(), [*a, *b, *c]).filter(|z| *z > point.z);
            if let Some(z) = height.filter(|z| nearest.is_none_or(|(least, _)| *z < least)) {
                nearest = Some((z, (*b - *a).cross(*c - *a).z));
            }
        }
        nearest.is_some_and(|(_, normal)| normal > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_top_of_a_box_is_its_highest_level_face() {
        let pose = Pose::from_xyz_rpy([1.0, 2.0, 0.5], [std::f64::consts::FRAC_PI_2, 0.0, 0.3]);
        let slab = Cuboid::new(&pose, DVec3::new(1.0, 0.25, 1.0), true);
        let top = slab.top_at(DVec2::new(1.2, 2.1)).expect("above the box");
        assert!((top - 0.75).abs() < 1e-9, "{top}");
        assert_eq!(slab.top_at(DVec2::new(3.2, 2.1)), None);
        let sloped = Pose::from_xyz_rpy([0.0; 3], [0.5, 0.0, 0.0]);
        assert_eq!(Cuboid::new(&sloped, DVec3::ONE, true).top_at(DVec2::ZERO), None);
    }

    proptest! {
        #[test]
        fn a_box_touches_a_triangle_if_a_point_of_it_is_inside(
            rpy in prop::array::uniform3(-3.0..3.0f64),
            inside in prop::array::uniform3(-0.9..0.9f64),
            others in prop::array::uniform2(prop::array::uniform3(-5.0..5.0f64)),
        ) {
            let pose = Pose::from_xyz_rpy([0.3, -0.2, 0.1], rpy);
            let half = DVec3::new(0.5, 0.2, 0.3);
            let car = Cuboid::new(&pose, half, false);
            let corner = pose.point(DVec3::from_array(inside) * half);
            let [b, c] = others.map(DVec3::from_array);
            let triangle = Obstacle::Triangle([corner, b, c]);
            prop_assert!(car.touches(&triangle));
            // The same triangle does not touch the box when it is far above the box.
            let up = DVec3::Z * 20.0;
            let away = Obstacle::Triangle([corner + up, b + up, c + up]);
            prop_assert!(!car.touches(&away));
        }
    }
}
