//! The worlds that ship with Chicane, made in code: centre lines, what stands around them, and
//! from that whole bundles. `make worlds` writes them to `worlds/`.

mod bundle;
mod line;
mod mesh;
mod things;

use chicane_world::MemoryBundle;
use line::Line;
use things::Thing;

/// What the field is covered with.
#[derive(Debug, Clone, Copy)]
enum Field {
    Carpet,
    Grass,
}

/// A track before it becomes files.
struct Track {
    name: &'static str,
    description: &'static str,
    size: [f64; 2],
    field: Field,
    line: Line,
    width: f64,
    things: Vec<Thing>,
    fence_colour: [f32; 4],
}

/// Names of the shipped worlds.
pub const SHIPPED: [&str; 3] = ["oval", "technical", "field"];

/// The bundle of a shipped world.
pub fn shipped_bundle(name: &str) -> MemoryBundle {
    let track = match name {
        "oval" => oval(),
        "technical" => technical(),
        "field" => field(),
        other => panic!("no shipped world {other}"),
    };
    bundle::write(&track)
}

/// The first world of every user: two straights and two bends, counter-clockwise.
fn oval() -> Track {
    Track {
        name: "oval",
        description: "One lap of the oval, counter-clockwise. Five seconds for leaving the road or moving an object.",
        size: [8.0, 6.0],
        field: Field::Carpet,
        line: Line::stadium([4.0, 3.0], 1.5, 2.0, 0.5),
        width: 0.7,
        things: vec![Thing::light("signal1", 5.3, 0.42, 180.0), Thing::cube("box1", 0.75, 5.3, 30.0)],
        fence_colour: [0.16, 0.33, 0.55, 1.0],
    }
}

/// Bends of every kind with something standing at each of them.
fn technical() -> Track {
    let corners = [
        [7.3, 0.7, 0.7],
        [7.2, 2.35, 0.65],
        [4.6, 2.2, 0.65],
        [4.65, 3.8, 0.6],
        [7.3, 3.85, 0.6],
        [7.25, 5.3, 0.6],
        [3.3, 5.3, 0.6],
        [3.3, 3.9, 0.6],
        [2.1, 3.9, 0.6],
        [2.1, 5.25, 0.6],
        [0.75, 5.25, 0.6],
        [0.75, 2.9, 0.6],
        [3.4, 2.9, 0.55],
        [3.4, 1.8, 0.55],
        [0.75, 1.8, 0.55],
        [0.75, 0.7, 0.55],
    ];
    Track {
        name: "technical",
        description: "One lap of the technical track. Five seconds for leaving the road or moving an object.",
        size: [8.0, 6.0],
        field: Field::Grass,
        line: Line::rounded(&corners, 4.0),
        width: 0.5,
        things: vec![
            Thing::light("signal1", 5.5, 0.22, 180.0),
            Thing::cube("box1", 6.3, 1.5, 20.0),
            Thing::cube("box2", 4.0, 4.5, -15.0),
            Thing::can("cylinder1", 5.9, 3.05, 0.0),
            Thing::can("cylinder2", 2.7, 4.6, 0.0),
            Thing::ball("sphere1", 5.8, 4.55, 0.0),
            Thing::ball("sphere2", 1.42, 3.9, 0.0),
            Thing::cone("cone1", 7.75, 1.5, 0.0),
            Thing::cone("cone2", 2.1, 2.35, 15.0),
            Thing::cone("cone3", 4.0, 2.4, 40.0),
        ],
        fence_colour: [0.55, 0.2, 0.16, 1.0],
    }
}

/// Wide and open: a large ring, and one thing of each kind far from it.
fn field() -> Track {
    Track {
        name: "field",
        description: "One lap of the ring on the open field.",
        size: [10.0, 10.0],
        field: Field::Carpet,
        line: Line::stadium([5.0, 5.0], 1.0, 3.0, 0.5),
        width: 1.0,
        things: vec![
            Thing::cube("box1", 0.8, 0.8, 45.0),
            Thing::can("cylinder1", 9.2, 0.8, 0.0),
            Thing::ball("sphere1", 9.2, 9.2, 0.0),
            Thing::cone("cone1", 0.8, 9.2, 0.0),
            Thing::light("signal1", 6.6, 1.1, 180.0),
        ],
        fence_colour: [0.35, 0.35, 0.38, 1.0],
    }
}
