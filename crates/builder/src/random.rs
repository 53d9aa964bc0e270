//! Random tracks. The same options give the same track, and the check finds no error in any track.
//!
//! The nodes are placed around the centre of the field, in the order of their angles, so that the
//! line does not cross itself. If a bend is too tight or parts of the road overlap, the generator
//! tries a less irregular shape.

use crate::check::{Severity, check};
use crate::project::{
    CentreLine, Colour, Direction, Evaluation, Fence, Field, Ground, Node, OuterLine, Project, Script, Track,
    WorldName,
};
use crate::track_line::TrackLine;
use chicane_vary::Vary;
use glam::DVec2;
use std::f64::consts::TAU;

/// The options of a random track.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomTrackOptions {
    /// Seed; another seed gives another track.
    pub seed: u64,
    /// Size of the field, 2 to 100 m per side.
    pub field: [f64; 2],
    /// Width of the road, 0.2 to 3 m.
    pub width: f64,
    /// Tightness of the bends, from 0 (nearly round) to 1 (many tight bends).
    pub tightness: f64,
    /// Maximum length of the track in metres; `None` for any length. The track is shorter if a
    /// track of this length does not fit on the field.
    pub length: Option<f64>,
}

impl Default for RandomTrackOptions {
    fn default() -> RandomTrackOptions {
        RandomTrackOptions { seed: 0, field: [8.0, 6.0], width: 0.6, tightness: 0.5, length: None }
    }
}

/// The reason why no track was generated.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum RandomError {
    /// An option is out of range.
    #[error("{what} must be from {low} to {high}")]
    OutOfRange {
        /// Name of the option.
        what: &'static str,
        /// Lowest allowed value.
        low: f64,
        /// Highest allowed value.
        high: f64,
    },
    /// Not even a plain loop passes the check: the field or the maximum length of the track is too
    /// small for a road of this width.
    #[error("no track of this width fits on this field: make the field larger or the road narrower")]
    NoRoom,
}

/// Planned minimum distance between the fence and the road at a node, m.
const MARGIN_M: f64 = 0.1;
/// Number of the last attempt, counted from 0. The irregularity decreases with every attempt. The
/// last attempt has no irregularity and gives a plain loop.
const MAX_ATTEMPTS: u32 = 200;

/// Generates a track.
pub fn track(options: &RandomTrackOptions) -> Result<Project, RandomError> {
    let range = |what, value: f64, low: f64, high: f64| {
        (low..=high).contains(&value).then_some(()).ok_or(RandomError::OutOfRange { what, low, high })
    };
    range("field width", options.field[0], 2.0, 100.0)?;
    range("field height", options.field[1], 2.0, 100.0)?;
    range("width", options.width, 0.2, 3.0)?;
    range("tightness", options.tightness, 0.0, 1.0)?;
    if let Some(length) = options.length {
        range("length", length, 1.0, 900.0)?;
    }
    let mut rng = SplitMix64(options.seed);
    let grounds = [Ground::Carpet, Ground::Grass];
    let ground = grounds[(rng.next() >= 0.5) as usize].clone();
    let fence = Colour([0; 3].map(|_: u8| 40 + (rng.next() * 120.0) as u8));
    let direction = if rng.next() < 0.5 { Direction::Forward } else { Direction::Backward };
    for attempt in 0..=MAX_ATTEMPTS {
        let progress = f64::from(attempt) / f64::from(MAX_ATTEMPTS);
        let irregularity = options.tightness * (1.0 - progress * progress);
        let nodes = star_nodes(options, irregularity, &mut rng);
        let mut project = project(options, nodes, ground.clone(), fence, direction);
        if let Some(length) = options.length {
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

/// Nodes around the centre at irregular angles and distances.
fn star_nodes(options: &RandomTrackOptions, irregularity: f64, rng: &mut SplitMix64) -> Vec<DVec2> {
    let room = DVec2::from_array(options.field) * 0.5 - (0.5 * options.width + MARGIN_M + Fence::THICKNESS_M);
    // An ellipse with the semi-axes a > b has its tightest bends at the ends of its long axis. The
    // radius of these bends is b²/a. On a long field, a is therefore reduced, so that the bends are
    // not too tight.
    let tightest = (0.5 * options.width).max(0.5) + 0.1;
    let room = room.max(DVec2::splat(0.3));
    let room = DVec2::new(room.x.min(room.y * room.y / tightest), room.y.min(room.x * room.x / tightest));
    let by_length = (room.x + room.y) * 0.7;
    let count = (5.0 + irregularity * by_length.min(8.0) + 2.0 * rng.next()).round().max(6.0);
    let first = rng.next();
    let nodes = (0..count as u32).map(|i| {
        let angle = TAU * (f64::from(i) + first + 0.5 * irregularity * (rng.next() - 0.5)) / count;
        let inwards = 1.0 - 0.65 * irregularity * rng.next();
        let (s, c) = libm::sincos(angle);
        DVec2::from_array(options.field) * 0.5 + room * DVec2::new(c, s) * inwards
    });
    nodes.collect()
}

fn project(
    options: &RandomTrackOptions,
    nodes: Vec<DVec2>,
    ground: Ground,
    fence: Colour,
    direction: Direction,
) -> Project {
    let node = |p: DVec2| Node { x: to_mm(p.x), y: to_mm(p.y), width: None };
    Project {
        display_name: format!("Random track {}", options.seed),
        name: WorldName::numbered("random", options.seed),
        field: Field { size: options.field, ground },
        fence: Some(Fence { height: 0.25, colour: fence }),
        track: Track {
            closed: true,
            width: options.width,
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
            allow: None,
            vary: Vary::default(),
            robot: "gen1".to_owned(),
            script: Some(Script::LapTime),
        }),
    }
}

/// Rounds to millimetres, so that the numbers in the project document are short.
fn to_mm(v: f64) -> f64 {
    (v * 1000.0).round() / 1000.0
}

/// Moves the nodes towards the centre of the field if the line is longer than `length` metres, so
/// that the length of the line becomes about `length`.
fn shrink(project: &mut Project, length: f64) {
    let factor = length / TrackLine::of(&project.track).length;
    if factor < 1.0 {
        let [x, y] = project.field.size.map(|v| 0.5 * v);
        for node in &mut project.track.nodes {
            node.x = to_mm(x + (node.x - x) * factor);
            node.y = to_mm(y + (node.y - y) * factor);
        }
    }
}

/// Finds the position where the road is straightest. Returns the distance of the position along the
/// line, rounded to centimetres. The start line is placed there.
fn straightest(track: &Track) -> f64 {
    let line = TrackLine::of(track);
    let n = line.samples.len();
    // Returns the sum of the absolute curvature from half a metre behind a sample to one metre
    // ahead of the sample.
    let around =
        |i: usize| (0..30).map(|k| line.samples[(i + n + k - n.min(10)) % n].curvature.abs()).sum::<f64>();
    let best = (0..n).min_by(|a, b| around(*a).total_cmp(&around(*b))).unwrap_or(0);
    (line.samples[best].along * 100.0).round() / 100.0
}

/// The SplitMix64 random number generator.
struct SplitMix64(u64);

impl SplitMix64 {
    /// A random number in 0..1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
