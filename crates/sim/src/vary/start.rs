//! The start pose of a seed.

use super::StartShift;
use super::draw::{Draw, Item, rounded, within};
use super::footprint::Footprint;
use super::site::{HALF_ROAD_M, Site};
use chicane_vary::{Range, Start};
use chicane_world::pose::wrap_angle;
use chicane_world::{Route, World};
use glam::{DVec2, DVec3};

/// Number of poses that are tried. If none of them is free, the start is as published.
const TRIES: u64 = 16;
/// Half the length and half the width of the area that a car needs, m.
const CAR_HALF_M: DVec2 = DVec2::new(0.22, 0.13);
/// Distances behind waypoint 0 at which the area of a car has to be free, m. A car normally starts
/// on the waypoint. In an evaluation, the car starts behind the start line, which is at waypoint 0.
const BEHIND_M: [f64; 2] = [0.0, 0.2];

/// Draws a start pose at which a car stands on the road and touches nothing. Returns `None` if
/// `bounds` varies nothing, or if none of the [`TRIES`] poses is free.
pub(super) fn draw(world: &World, site: &Site<'_>, bounds: &Start, draw: Draw) -> Option<StartShift> {
    if *bounds == Start::default() {
        return None;
    }
    let number = |range: Option<Range>, unit: f64| range.map_or(0.0, |range| within(range, unit));
    let shifts = (0..TRIES).map(|i| {
        let [along, across, yaw, _] = draw.units(Item::Start, i);
        let along = number(bounds.along, along);
        let across = on_road(world, along, number(bounds.across, across));
        StartShift { along, across, yaw: number(bounds.yaw, yaw) }
    });
    let mut shifts = shifts.filter(|shift| areas(world, Some(shift)).iter().all(|a| site.is_start_free(a)));
    shifts.next()
}

/// The areas that a car covers at its start, one for each distance in [`BEHIND_M`].
pub(super) fn areas(world: &World, shift: Option<&StartShift>) -> [Footprint; 2] {
    let shift = shift.copied().unwrap_or_default();
    BEHIND_M.map(|behind| {
        let [x, y, yaw] = pose(world, behind, &shift);
        Footprint::new(DVec2::new(x, y), yaw, CAR_HALF_M)
    })
}

/// The shifted start pose of a car that would start `behind` metres behind waypoint 0 without the
/// shift: x, y in metres and yaw in radians. In a world without a route, waypoint 0 is the spawn
/// pose, and the road goes straight ahead from it.
pub(super) fn pose(world: &World, behind: f64, shift: &StartShift) -> [f64; 3] {
    let along = shift.along - behind;
    let (at, heading) = match &world.route {
        Some(route) if along >= 0.0 || route.is_closed() => route.point_at(along),
        Some(route) => {
            let (first, heading) = route.point_at(0.0);
            (first + along * DVec2::new(libm::cos(heading), libm::sin(heading)), heading)
        }
        None => (world.spawn.point(DVec3::X * along).truncate(), world.spawn.yaw()),
    };
    let left = DVec2::new(-libm::sin(heading), libm::cos(heading));
    let at = at + left * shift.across;
    [at.x, at.y, wrap_angle(heading + shift.yaw)]
}

/// Limits the offset `across` so that the car stays on the road.
fn on_road(world: &World, along: f64, across: f64) -> f64 {
    let half = |route: &Route| route.half_width_at(along).unwrap_or(HALF_ROAD_M);
    let room = world.route.as_ref().map_or(f64::INFINITY, |route| (half(route) - CAR_HALF_M.y).max(0.0));
    if across.abs() > room { rounded(across.clamp(-room, room)) } else { across }
}
