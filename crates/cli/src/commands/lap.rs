//! `chicane lap`: drives one lap along the centre line, with a pure-pursuit controller.

use crate::args::LapArgs;
use crate::robot::{self, RobotError};
use crate::world_source::{self, WorldSourceError};
use chicane_sim::{Drive, Sim, TICK_S};
use chicane_world::{Pose, Route};
use glam::DVec2;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Instant;

/// Look-ahead distance, as driving time in seconds. The car steers to the point of the centre line
/// that it reaches after this time.
const LOOK_AHEAD_S: f64 = 0.35;
/// Smallest look-ahead distance in metres.
const MIN_LOOK_AHEAD_M: f64 = 0.25;
/// Ticks between two updates of the progress line.
const PROGRESS_TICKS: u64 = 100;

/// Why no lap was driven.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LapError {
    #[error(transparent)]
    World(#[from] WorldSourceError),
    #[error(transparent)]
    Robot(#[from] RobotError),
    #[error("{world} has no closed route, so it has no laps")]
    NoClosedRoute { world: String },
    #[error(
        "the car drove only {done_m:.1} of {length_m:.1} m within {limit_s:.0} simulated seconds, \
         so the lap was stopped"
    )]
    Stuck { done_m: f64, length_m: f64, limit_s: f64 },
}

pub(crate) fn run(args: &LapArgs) -> Result<(), LapError> {
    let speed = args.speed;
    let resources = args.resources.folders();
    let world = Arc::new(world_source::load(&args.world, args.data_dir.as_deref(), &resources)?);
    let Some(route) = world.route.clone().filter(Route::is_closed) else {
        return Err(LapError::NoClosedRoute { world: world.name.clone() });
    };
    let profile = Arc::new(robot::load(&args.robot)?);
    let wheelbase_m = profile.wheelbase_m;
    let length_m = route.length();
    let limit_s = 10.0 + 3.0 * length_m / speed;
    let mut sim = Sim::new(Arc::clone(&world), profile, 0);
    let (mut done_m, mut last_m) = (0.0, 0.0);
    let started = Instant::now();
    while done_m < length_m {
        if sim.tick() as f64 * TICK_S > limit_s {
            return Err(LapError::Stuck { done_m, length_m, limit_s });
        }
        let pose = sim.vehicle().pose;
        let along_m = route.project(pose.position.truncate()).distance_along;
        // `along_m` jumps by a whole lap when the car crosses the start line. Therefore this line
        // maps the change of `along_m` since the last tick to the range of ±half a lap.
        done_m += (along_m - last_m + 1.5 * length_m).rem_euclid(length_m) - 0.5 * length_m;
        last_m = along_m;
        let (target, _) = route.point_at(along_m + MIN_LOOK_AHEAD_M.max(LOOK_AHEAD_S * speed));
        let steering = pursue(&pose, target, wheelbase_m);
        sim.step(Drive { speed, steering, ..Drive::default() });
        if sim.tick().is_multiple_of(PROGRESS_TICKS) {
            show_progress(&format!("{:>5.1} of {length_m:.1} m", done_m.max(0.0)));
        }
    }
    show_progress("");
    let (simulated_s, real_s) = (sim.tick() as f64 * TICK_S, started.elapsed().as_secs_f64());
    let touched = sim.snapshot().last_contact.iter().filter(|c| c.is_some()).count();
    println!(
        "{}: a lap of {length_m:.2} m in {simulated_s:.3} s, {touched} objects touched, {:.0} times as fast as real time",
        world.name,
        simulated_s / real_s
    );
    Ok(())
}

/// The steering angle in radians with which the car drives on an arc to a point on the ground.
fn pursue(pose: &Pose, target: DVec2, wheelbase_m: f64) -> f64 {
    let local = pose.inverse().point(target.extend(0.0));
    libm::atan(2.0 * wheelbase_m * local.y / (local.x * local.x + local.y * local.y).max(1e-6))
}

/// Replaces the progress line. Does nothing if standard error is not a terminal.
fn show_progress(text: &str) {
    let mut out = std::io::stderr();
    if out.is_terminal() {
        // A failed write must not stop the lap.
        let _ = write!(out, "\r{text:<40}\r").and_then(|()| out.flush());
    }
}
