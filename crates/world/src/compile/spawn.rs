//! The start pose of the car.
//!
//! In a world with a route, the car starts on the first waypoint. In a world without a route, a
//! search finds a free and level place. The search starts at the origin, and prefers places with a
//! free road ahead. It tests places and headings in a fixed order, so that every machine finds the
//! same pose. If it finds no place, the car starts at the origin, and a warning is added.

use super::extents::Extents;
use super::free_space::{FreeSpace, TestBudget};
use crate::error::{SourceLocation, Warnings};
use crate::pose::Pose;
use crate::route::Route;
use crate::world::World;
use glam::{DVec2, DVec3};

/// Half the length and half the width of the area that a car needs, in metres.
const HALF_M: DVec2 = DVec2::new(0.22, 0.13);
/// Height of a car, in metres.
const HEIGHT_M: f64 = 0.25;
/// Height up to which an obstacle does not stop a car, in metres.
const LOW_M: f64 = 0.03;
/// Length of the free and level road ahead of a start of the best kind, in metres.
const AHEAD_M: f64 = 1.3;
/// Distance between neighbouring points of the road ahead at which the surface is tested, in
/// metres.
const AHEAD_STEP_M: f64 = 0.26;
/// Positions of the wheels in the frame of the car, in metres.
const WHEELS_M: [DVec2; 4] =
    [DVec2::new(0.1, 0.08), DVec2::new(0.1, -0.08), DVec2::new(-0.1, 0.08), DVec2::new(-0.1, -0.08)];
/// Largest difference between the height of a floor and the preferred height, in metres. A surface
/// with a larger difference counts as a roof or a table.
const LOW_RISE_M: f64 = 0.5;
/// The search areas, which are squares around the origin. Each entry has half the edge length of
/// the square and the distance between two neighbouring places, both in metres.
const AREAS: [(f64, f64); 4] = [(2.0, 0.2), (8.0, 0.5), (30.0, 1.5), (120.0, 5.0)];
/// The headings, in eighths of a turn.
const HEADINGS: [i32; 8] = [0, 1, -1, 2, -2, 3, -3, 4];

/// The start pose on a route. The car is on the first waypoint and faces the next waypoint that has
/// a different position.
pub(super) fn on_route(route: &Route, ground: f64) -> Pose {
    let Some(first) = route.centre.first() else { return Pose::from_xyz_yaw(0.0, 0.0, ground, 0.0) };
    let next = route.centre.iter().find(|p| (**p - *first).length_squared() > 1e-12);
    let ahead = next.map_or(DVec2::X, |p| *p - *first);
    Pose::from_xyz_yaw(first.x, first.y, ground, libm::atan2(ahead.y, ahead.x))
}

/// Sets the start pose of a world without a route. `has_plane` says whether the world file has a
/// ground plane. Without a ground plane and without a track, the ground is lowered to the lowest
/// point of the scenery. Otherwise the default ground at z = 0 would be above a floor at a negative
/// z.
pub(super) fn without_route(world: &mut World, has_plane: bool, file: &str, warnings: &mut Warnings) {
    if !has_plane && !world.fixed_names.iter().any(|name| name.is_track) {
        let lowest = world.scenery.iter().map(|s| Extents::of(&s.pose, &s.shape).min().z);
        world.ground.z = lowest.fold(world.ground.z, f64::min);
    }
    let ground = world.ground.z;
    world.spawn = Pose::from_xyz_yaw(0.0, 0.0, ground, 0.0);
    let mut budget = TestBudget::new();
    let found = find(world, has_plane, &mut budget);
    let message = match found {
        Some(pose) if pose == world.spawn => return,
        Some(pose) => {
            world.spawn = pose;
            let DVec3 { x, y, z } = pose.position;
            let degrees = pose.yaw().to_degrees();
            format!(
                "the world has no route, and its origin is not free and level: the car starts at \
                 ({x:.2}, {y:.2}, {z:.2}), heading {degrees:.0}°"
            )
        }
        None => "the world has no route, and no free, level place was found: the car starts at the origin"
            .to_owned(),
    };
    warnings.add(message, || SourceLocation::file(file));
}

/// How much room a start needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// The car fits, and the road ahead is free and level.
    ToDrive,
    /// The car fits.
    ToStand,
}

/// One search of all areas.
struct Pass {
    room: Room,
    /// Whether the car may start on the ground plane.
    on_plane: bool,
    /// Largest allowed difference between the height of the start and the preferred height, in
    /// metres.
    rise: f64,
}

/// The searches, from the best kind of start to the worst.
fn passes(prefer_floor: bool) -> impl Iterator<Item = Pass> {
    let pass = |room, on_plane, rise| Pass { room, on_plane, rise };
    let floor = [pass(Room::ToDrive, false, LOW_RISE_M), pass(Room::ToDrive, false, f64::INFINITY)];
    let ground = [
        pass(Room::ToDrive, true, LOW_RISE_M),
        pass(Room::ToStand, true, LOW_RISE_M),
        // These passes also accept a start on a roof or a table.
        pass(Room::ToDrive, true, f64::INFINITY),
        pass(Room::ToStand, true, f64::INFINITY),
    ];
    floor.into_iter().filter(move |_| prefer_floor).chain(ground)
}

fn find(world: &World, has_plane: bool, budget: &mut TestBudget) -> Option<Pose> {
    let ground = world.ground.z;
    // In a world without a plane, a floor of the scenery is preferred to the ground below it.
    let prefer_floor = !has_plane && !world.scenery.is_empty();
    // The bodies of each area are collected when the area is first searched.
    let mut spaces: Vec<FreeSpace> = Vec::new();
    for Pass { room, on_plane, rise } in passes(prefer_floor) {
        let reference = if prefer_floor && !on_plane { 0.0 } else { ground };
        let plane = on_plane.then_some(ground);
        let mut inner = -1.0;
        for (i, (radius, step)) in AREAS.into_iter().enumerate() {
            if i == spaces.len() {
                // The collected square is larger than the search area, because a start at the edge
                // of the area also needs the bodies ahead of and beside the car.
                spaces.push(FreeSpace::around(world, radius + AHEAD_M + 1.0)?);
            }
            let search = Search { space: &spaces[i], room, reference, rise, plane, lowest: ground };
            let found = places(radius, step, inner).into_iter().find_map(|at| search.start_at(at, budget));
            if found.is_some() {
                return found;
            }
            inner = radius;
        }
    }
    None
}

/// The points of a grid in a square around the origin, sorted by their distance from the origin.
/// `step` is the spacing of the grid, and `radius` is half the edge length of the square. Points
/// inside a smaller square, whose half edge length is `inner`, are left out. The search of the
/// previous area has already covered the smaller square with a finer grid.
fn places(radius: f64, step: f64, inner: f64) -> Vec<DVec2> {
    let n = (radius / step).round() as i64;
    let mut grid: Vec<(i64, i64, i64)> =
        (-n..=n).flat_map(|y| (-n..=n).map(move |x| (x * x + y * y, y, x))).collect();
    grid.sort_unstable();
    let points = grid.into_iter().map(|(_, y, x)| DVec2::new(x as f64 * step, y as f64 * step));
    points.filter(|p| p.abs().max_element() > inner).collect()
}

struct Search<'a> {
    space: &'a FreeSpace,
    room: Room,
    /// Height of the ground plane, in metres; `None` if the car must not start on the plane.
    plane: Option<f64>,
    /// Preferred height of the start, in metres.
    reference: f64,
    /// Largest allowed difference between the height of the start and the preferred height, in
    /// metres.
    rise: f64,
    /// Height of the ground plane, in metres. Surfaces below this height are skipped, because the
    /// car cannot be below the ground plane.
    lowest: f64,
}

impl Search<'_> {
    /// A start pose for given x and y; `None` if no height and no heading is free.
    fn start_at(&self, at: DVec2, budget: &mut TestBudget) -> Option<Pose> {
        let mut heights = self.space.surfaces(at, self.lowest, budget);
        heights.extend(self.plane);
        heights.retain(|z| (z - self.reference).abs() <= self.rise);
        heights.sort_by(|a, b| (a - self.reference).abs().total_cmp(&(b - self.reference).abs()));
        heights.into_iter().find_map(|z| {
            let middle = at.extend(z + 0.5 * HEIGHT_M);
            if self.space.is_inside(middle, budget) {
                return None;
            }
            let yaws = HEADINGS.map(|eighth| f64::from(eighth) * std::f64::consts::FRAC_PI_4);
            let mut poses = yaws.into_iter().map(|yaw| Pose::from_xyz_yaw(at.x, at.y, z, yaw));
            poses.find(|pose| self.fits(pose, budget))
        })
    }

    fn fits(&self, pose: &Pose, budget: &mut TestBudget) -> bool {
        let ahead = if self.room == Room::ToDrive { AHEAD_M } else { 0.0 };
        let z = pose.position.z;
        let on_plane = self.plane.is_some_and(|plane| (plane - z).abs() < 1e-9);
        let carried = |local: DVec2, budget: &mut TestBudget| {
            on_plane || self.space.carries(pose.point(local.extend(0.0)).truncate(), z, budget)
        };
        if !WHEELS_M.iter().all(|wheel| carried(*wheel, budget)) {
            return false;
        }
        let steps = (ahead / AHEAD_STEP_M).round() as i32;
        let on_road = (1..=steps).all(|i| carried(DVec2::new(f64::from(i) * AHEAD_STEP_M, 0.0), budget));
        let half = DVec3::new(HALF_M.x + 0.5 * ahead, HALF_M.y, 0.5 * (HEIGHT_M - LOW_M));
        let centre = DVec3::new(0.5 * ahead, 0.0, LOW_M + half.z);
        let room = Pose { position: pose.point(centre), rotation: pose.rotation };
        on_road && self.space.is_free(&room, half, budget)
    }
}
