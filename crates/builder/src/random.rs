//! Random tracks: the same wish gives the same track, and every track passes the check.
//!
//! Nodes stand on a star round the middle of the field, so that the line can't cross itself;
//! a shape with a bend too tight, or with parts too near, is drawn again with less temper.

use crate::check::{Severity, check};
use crate::line::Line;
use crate::project::{
    CentreLine, Colour, Direction, Evaluation, Fence, Field, Ground, Node, OuterLine, Project, Script, Track,
    WorldName,
};
use glam::DVec2;
use std::f64::consts::TAU;

/// What kind of track is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wish {
    /// Another seed, another track.
    pub seed: u64,
    /// Size of the field, 2 to 100 m a side.
    pub field: [f64; 2],
    /// Width of the road, 0.2 to 3 m.
    pub width: f64,
    /// From 0, nearly round, to 1, full of bends.
    pub tightness: f64,
    /// Metres; `None`: as long as comes out. A length that the field can't hold is not reached.
    pub length: Option<f64>,
}

impl Default for Wish {
    fn default() -> Wish {
        Wish { seed: 0, field: [8.0, 6.0], width: 0.6, tightness: 0.5, length: None }
    }
}

/// Why there is no track.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum RandomError {
    /// A number of the wish makes no sense.
    #[error("{what} must be from {low} to {high}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// Least.
        low: f64,
        /// Most.
        high: f64,
    },
    /// Not even a plain loop fits.
    #[error("no track of this width fits on this field: make the field larger or the road narrower")]
    NoRoom,
}

/// Between road and fence.
const MARGIN_M: f64 = 0.1;
/// Shapes that are tried before it is a plain loop.
const TRIES: u32 = 200;

/// Draws a track.
pub fn track(wish: &Wish) -> Result<Project, RandomError> {
    let range = |what, value: f64, low: f64, high: f64| {
        (low..=high).contains(&value).then_some(()).ok_or(RandomError::OutOfRange { what, low, high })
    };
    range("field width", wish.field[0], 2.0, 100.0)?;
    range("field height", wish.field[1], 2.0, 100.0)?;
    range("width", wish.width, 0.2, 3.0)?;
    range("tightness", wish.tightness, 0.0, 1.0)?;
    if let Some(length) = wish.length {
        range("length", length, 1.0, 900.0)?;
    }
    let mut dice = Dice(wish.seed);
    let grounds = [Ground::Carpet, Ground::Grass];
    let ground = grounds[(dice.next() >= 0.5) as usize].clone();
    let fence = Colour([0; 3].map(|_: u8| 40 + (dice.next() * 120.0) as u8));
    let direction = if dice.next() < 0.5 { Direction::Forward } else { Direction::Backward };
    for attempt in 0..=TRIES {
        let tired = f64::from(attempt) / f64::from(TRIES);
        let temper = wish.tightness * (1.0 - tired * tired);
        let nodes = star(wish, temper, &mut dice);
        let mut project = project(wish, nodes, ground.clone(), fence, direction);
        if let Some(length) = wish.length {
            shrink(&mut project, length);
        }
        if is_good(&project) {
            project.track.start = straightest(&project.track);
            return Ok(project);
        }
    }
    Err(RandomError::NoRoom)
}

fn is_good(project: &Project) -> bool {
    !check(project).iter().any(|f| f.severity == Severity::Error)
}

/// Nodes round the middle at uneven angles and distances.
fn star(wish: &Wish, temper: f64, dice: &mut Dice) -> Vec<DVec2> {
    let room = DVec2::from_array(wish.field) * 0.5 - (0.5 * wish.width + MARGIN_M + Fence::THICKNESS_M);
    // An ellipse's tightest radius is b²/a: a long field is not used to its ends.
    let tightest = (0.5 * wish.width).max(0.5) + 0.1;
    let room = room.max(DVec2::splat(0.3));
    let room = DVec2::new(room.x.min(room.y * room.y / tightest), room.y.min(room.x * room.x / tightest));
    let by_length = (room.x + room.y) * 0.7;
    let count = (5.0 + temper * by_length.min(8.0) + 2.0 * dice.next()).round().max(6.0);
    let first = dice.next();
    let nodes = (0..count as u32).map(|i| {
        let angle = TAU * (f64::from(i) + first + 0.5 * temper * (dice.next() - 0.5)) / count;
        let inwards = 1.0 - 0.65 * temper * dice.next();
        let (s, c) = libm::sincos(angle);
        DVec2::from_array(wish.field) * 0.5 + room * DVec2::new(c, s) * inwards
    });
    nodes.collect()
}

fn project(wish: &Wish, nodes: Vec<DVec2>, ground: Ground, fence: Colour, direction: Direction) -> Project {
    let node = |p: DVec2| Node { x: to_mm(p.x), y: to_mm(p.y), width: None };
    Project {
        display_name: format!("Random track {}", wish.seed),
        name: WorldName::numbered("random", wish.seed),
        field: Field { size: wish.field, ground },
        fence: Some(Fence { height: 0.25, colour: fence }),
        track: Track {
            closed: true,
            width: wish.width,
            nodes: nodes.into_iter().map(node).collect(),
            direction,
            start: 0.0,
            outer_line: OuterLine { width: 0.03, colour: None },
            centre_line: Some(CentreLine { width: 0.02, dash: 0.2, gap: 0.2, colour: None }),
            start_line: true,
        },
        decals: Vec::new(),
        objects: Vec::new(),
        evaluation: Some(Evaluation {
            description: "One lap, as fast as you can.".to_owned(),
            lower_is_better: true,
            time_limit_s: 180.0,
            robot: "gen1".to_owned(),
            script: Some(Script::LapTime),
        }),
    }
}

/// What a person would have written.
fn to_mm(v: f64) -> f64 {
    (v * 1000.0).round() / 1000.0
}

/// Draws the nodes together round the middle until the line is no longer than wanted.
fn shrink(project: &mut Project, length: f64) {
    let factor = length / Line::of(&project.track).length;
    if factor < 1.0 {
        let [x, y] = project.field.size.map(|v| 0.5 * v);
        for node in &mut project.track.nodes {
            node.x = to_mm(x + (node.x - x) * factor);
            node.y = to_mm(y + (node.y - y) * factor);
        }
    }
}

/// Where along the line the road is straightest for a car's start, to the centimetre.
fn straightest(track: &Track) -> f64 {
    let line = Line::of(track);
    let n = line.samples.len();
    // From half a metre behind a place to one metre ahead of it.
    let around =
        |i: usize| (0..30).map(|k| line.samples[(i + n + k - n.min(10)) % n].curvature.abs()).sum::<f64>();
    let best = (0..n).min_by(|a, b| around(*a).total_cmp(&around(*b))).unwrap_or(0);
    (line.samples[best].along * 100.0).round() / 100.0
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    /// From 0 up to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
