//! `chicane lap`: one lap by pure pursuit of the centre line, with a progress line.

use chicane_sim::{Drive, Sim, TICK_S};
use chicane_world::{Profile, Route};
use glam::DVec2;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Instant;

/// How far ahead the driver looks, s and least m.
const LOOK_S: f64 = 0.35;
const LOOK_M: f64 = 0.25;

pub(crate) fn run(path: &str, speed: f64) -> Result<(), String> {
    let world = Arc::new(crate::which::load(path)?);
    let Some(route) = world.route.clone().filter(Route::is_closed) else {
        return Err(format!("{} has no closed route to drive a lap of", world.name));
    };
    let profile = Arc::new(Profile::gen1());
    let wheelbase = profile.wheelbase_m;
    let length = route.length();
    let limit_s = 10.0 + 3.0 * length / speed;
    let mut sim = Sim::new(Arc::clone(&world), profile, 0);
    let (mut done, mut last) = (0.0, 0.0);
    let started = Instant::now();
    while done < length {
        let car = sim.vehicle();
        let time = sim.tick() as f64 * TICK_S;
        if time > limit_s {
            return Err(format!(
                "no lap within {limit_s:.0} simulated seconds: stuck after {done:.1} of {length:.1} m"
            ));
        }
        let along = route.project(car.pose.position.truncate()).distance_along;
        // The short way round, so that the start line does not count as a lap.
        done += (along - last + 1.5 * length).rem_euclid(length) - 0.5 * length;
        last = along;
        let (target, _) = route.point_at(along + LOOK_M.max(LOOK_S * speed));
        let local = car.pose.inverse().point(DVec2::extend(target, 0.0));
        let steering =
            libm::atan(2.0 * wheelbase * local.y / (local.x * local.x + local.y * local.y).max(1e-6));
        sim.step(Drive { speed, steering, ..Drive::default() });
        if sim.tick().is_multiple_of(100) {
            show(&format!("{:>5.1} of {length:.1} m", done.max(0.0)));
        }
    }
    show("");
    let (simulated, real) = (sim.tick() as f64 * TICK_S, started.elapsed().as_secs_f64());
    let hit = sim.snapshot().last_contact.iter().filter(|c| c.is_some()).count();
    println!(
        "{}: a lap of {length:.2} m in {simulated:.3} s, {hit} objects touched, {:.0} times as fast as real time",
        world.name,
        simulated / real
    );
    Ok(())
}

/// Rewrites the progress line, where there is someone to see it.
fn show(text: &str) {
    let mut out = std::io::stderr();
    if out.is_terminal() {
        // A progress line that can't be written is no reason to stop.
        let _ = write!(out, "\r{text:<40}\r").and_then(|()| out.flush());
    }
}
