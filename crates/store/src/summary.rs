//! What a list of worlds shows of a world's content.

use chicane_world::World;

/// Facts about a world that are computed from the loaded world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Size of the track's drivable surface along x and y, in metres. Without such a surface, the
    /// size of the route. Without a route, zero.
    pub size: [f64; 2],
    /// Whether the world has an evaluation.
    pub evaluation: bool,
}

/// The summary of a loaded world.
pub(crate) fn summary_of(world: &World) -> Summary {
    let bounds = world.ground.bounds.or_else(|| world.route.as_ref().map(|r| r.bounds()));
    Summary {
        size: bounds.map_or([0.0; 2], |b| (b.max - b.min).to_array()),
        evaluation: world.evaluation.is_some(),
    }
}
