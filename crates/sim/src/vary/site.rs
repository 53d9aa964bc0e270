//! Where an object may stand: inside the bounds, beside the road, and with a gap to all other
//! objects, the scenery and the start.

use super::StartShift;
use super::footprint::Footprint;
use super::start;
use chicane_world::{Bounds, Route, World};
use glam::DVec2;

/// Minimum distance between an object and everything else, m.
pub(super) const GAP_M: f64 = 0.05;
/// Half the width of a road without borders, m.
pub(super) const HALF_ROAD_M: f64 = 0.25;
/// Scenery up to this height above the ground is no obstacle, m.
const FLAT_M: f64 = 0.03;

/// The areas of a world that are occupied.
pub(super) struct Site<'a> {
    route: Option<&'a Route>,
    bounds: Option<Bounds>,
    /// The objects, by index.
    pub(super) objects: Vec<Footprint>,
    /// Scenery, the start, and additional objects.
    others: Vec<Footprint>,
}

impl<'a> Site<'a> {
    pub(super) fn of(world: &'a World) -> Site<'a> {
        let objects = world.objects.iter().map(|object| Footprint::of(object, &object.origin)).collect();
        let above = world.ground.z + FLAT_M;
        let others = world.scenery.iter().flat_map(|solid| Footprint::of_scenery(solid, above)).collect();
        Site { route: world.route.as_ref(), bounds: world.ground.bounds, objects, others }
    }

    /// Keeps objects away from the start.
    pub(super) fn keep_start_free(&mut self, world: &World, shift: Option<&StartShift>) {
        self.others.extend(start::areas(world, shift));
    }

    /// Adds an occupied area.
    pub(super) fn take(&mut self, area: Footprint) {
        self.others.push(area);
    }

    /// Whether an area is inside the bounds and at least [`GAP_M`] away from every occupied area.
    /// The area of the object with the index `own` does not count.
    pub(super) fn is_free(&self, area: &Footprint, own: Option<usize>) -> bool {
        let within = self.bounds.is_none_or(|Bounds { min, max }| {
            let inset = DVec2::splat(area.reach() + GAP_M);
            area.centre.cmpge(min + inset).all() && area.centre.cmple(max - inset).all()
        });
        let objects = self.objects.iter().enumerate().filter(|(i, _)| Some(*i) != own);
        within
            && objects.map(|(_, object)| object).chain(&self.others).all(|other| area.is_apart(other, GAP_M))
    }

    /// Whether `area`, in which the car starts, is at least [`GAP_M`] away from every object and
    /// from the scenery.
    pub(super) fn is_start_free(&self, area: &Footprint) -> bool {
        self.objects.iter().chain(&self.others).all(|other| area.is_apart(other, GAP_M))
    }

    /// Whether an area is beside the road, at a distance of at least `gap`. In a world without a
    /// route, everything is beside the road.
    pub(super) fn is_beside_road(&self, area: &Footprint, gap: f64) -> bool {
        let Some(route) = self.route else { return true };
        let clear = area.reach() + gap;
        let at = route.project(area.centre);
        let half = route.half_width_at(at.distance_along).unwrap_or(HALF_ROAD_M);
        let borders = route.lateral(area.centre);
        at.offset.abs() >= half + clear && borders.is_none_or(|b| b.inner >= clear && b.outer >= clear)
    }
}
