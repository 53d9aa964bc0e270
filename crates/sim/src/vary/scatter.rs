//! Additional objects beside the road.

use super::ScatteredObject;
use super::draw::{Draw, Item, rounded};
use super::footprint::Footprint;
use super::site::{GAP_M, HALF_ROAD_M, Site};
use chicane_vary::Count;
use chicane_world::world::Object;
use chicane_world::{Assets, MemoryBundle, Pose, Warnings, World, compile, sdf};
use glam::DVec2;
use serde::Serialize;
use std::f64::consts::TAU;
use std::sync::OnceLock;

/// Number of poses that are tried for an object. If none of them is free, the object is left out.
const TRIES: u64 = 64;
/// Largest distance between the edge of the road and an object, m. [`GAP_M`] is added to this
/// distance.
const SPREAD_M: f64 = 0.7;
/// The models of the objects.
const MODELS: &str = include_str!("scattered.world");

/// Kind of an additional object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ScatteredKind {
    /// A traffic cone.
    Cone,
    /// A cardboard box.
    Box,
    /// A cylinder of paper.
    Cylinder,
    /// A ball.
    Ball,
}

impl ScatteredKind {
    const ALL: [ScatteredKind; 4] =
        [ScatteredKind::Cone, ScatteredKind::Box, ScatteredKind::Cylinder, ScatteredKind::Ball];

    /// The name of the kind, which is also the name of its model.
    pub fn name(self) -> &'static str {
        match self {
            ScatteredKind::Cone => "cone",
            ScatteredKind::Box => "box",
            ScatteredKind::Cylinder => "cylinder",
            ScatteredKind::Ball => "ball",
        }
    }

    /// The index of the model in [`models`].
    pub(super) fn model(self) -> usize {
        ScatteredKind::ALL.iter().position(|kind| *kind == self).unwrap_or_default()
    }
}

/// A world with one object of every kind, in the order of [`ScatteredKind::ALL`].
#[allow(clippy::expect_used)]
pub(super) fn models() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let mut warnings = Warnings::default();
        let spec = sdf::read("scattered.world", MODELS.as_bytes(), &mut warnings).expect("a valid file");
        let bundle = MemoryBundle::default();
        compile::compile(&spec, &Assets::of(&bundle), warnings).expect("valid models")
    })
}

/// Draws the additional objects. A world without a route gets no additional objects.
pub(super) fn draw(
    world: &World,
    site: &mut Site<'_>,
    count: Option<Count>,
    draw: Draw,
) -> Vec<ScatteredObject> {
    let (Some(count), Some(route)) = (count, world.route.as_ref()) else { return Vec::new() };
    let length = route.length();
    let mut found = Vec::new();
    let mut names = free_names(world);
    for number in 0..u64::from(draw.count(Item::ScatterCount, count)) {
        for index in number * 2 * TRIES..number * 2 * TRIES + TRIES {
            let [along, side, gap, yaw] = draw.units(Item::Scatter, 2 * index);
            let [kind, ..] = draw.units(Item::Scatter, 2 * index + 1);
            let kind = ScatteredKind::ALL[(kind * ScatteredKind::ALL.len() as f64) as usize % 4];
            let model = &models().objects[kind.model()];
            let reach = Footprint::of(model, &Pose::IDENTITY).reach();
            let along = along * length;
            let (centre, heading) = route.point_at(along);
            let half = route.half_width_at(along).unwrap_or(HALF_ROAD_M);
            let across = (half + reach + GAP_M + SPREAD_M * gap).copysign(side - 0.5);
            let at = centre + across * DVec2::new(-libm::sin(heading), libm::cos(heading));
            let (at, yaw) = (at.to_array().map(rounded), rounded(TAU * yaw));
            let area = Footprint::of(model, &standing(model, at, yaw, world.ground.z));
            if site.is_beside_road(&area, GAP_M) && site.is_free(&area, None) {
                site.take(area);
                let name = names.next().unwrap_or_default();
                found.push(ScatteredObject { name, kind, at, yaw });
                break;
            }
        }
    }
    found
}

/// The pose of a model that stands on the ground.
pub(super) fn standing(model: &Object, [x, y]: [f64; 2], yaw: f64, ground: f64) -> Pose {
    Pose::from_xyz_yaw(x, y, ground + model.origin.position.z, yaw)
}

/// Names that nothing in the world has: `extra1`, `extra2` and so on.
fn free_names(world: &World) -> impl Iterator<Item = String> {
    let is_taken = |name: &str| {
        world.objects.iter().any(|object| object.name == name)
            || world.fixed_names.iter().any(|fixed| fixed.name == name)
    };
    (1u32..).map(|number| format!("extra{number}")).filter(move |name| !is_taken(name))
}
