//! Physics and lidar of the two scenes, as an agent's steps.

use chicane_sim::{Command, Drive, Sim};
use chicane_world::pose::wrap_angle;
use chicane_world::{Profile, World};
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// As in `bench/compare/scene.py`: 50 ms a step, 30 steps a fall.
const TICKS_PER_STEP: u64 = 10;
const FALL_STEPS: u64 = 30;

/// The simulations, ready to be stepped.
pub(crate) struct Core {
    /// A scan at the end of every step.
    rest: Sim,
    /// The same with a scan once a second: physics alone.
    blind: Sim,
    /// The same with a scan at every tick.
    seeing: Sim,
    heap: Sim,
}

fn circles() -> Drive {
    Drive { speed: 1.0, steering: 0.3, ..Drive::default() }
}

fn step(sim: &mut Sim) {
    for _ in 0..TICKS_PER_STEP {
        black_box(sim.step(circles()));
    }
}

impl Core {
    pub(crate) fn new(rest: &Arc<World>, heap: &Arc<World>, profile: &Profile) -> Core {
        let sim = |world: &Arc<World>, rate_hz: u32| {
            let mut profile = profile.clone();
            profile.lidar.rate_hz = rate_hz;
            Sim::new(Arc::clone(world), Arc::new(profile), 1)
        };
        let rate = profile.lidar.rate_hz;
        let mut core =
            Core { rest: sim(rest, rate), blind: sim(rest, 1), seeing: sim(rest, 200), heap: sim(heap, 1) };
        // Wherever the boxes come to rest, they do so before anything is measured.
        for sim in [&mut core.rest, &mut core.blind, &mut core.seeing] {
            (0..80).for_each(|_| step(sim));
        }
        core
    }

    pub(crate) fn physics(&mut self, count: u64) {
        (0..count).for_each(|_| step(&mut self.blind));
    }

    pub(crate) fn steps(&mut self, count: u64) {
        for _ in 0..count {
            step(&mut self.rest);
            black_box(self.rest.last_readings());
        }
    }

    /// Seconds for so many scans: ticks with a scan each, less as many ticks without.
    pub(crate) fn lidar(&mut self, count: u64) -> f64 {
        let time = |sim: &mut Sim| {
            let begun = Instant::now();
            for _ in 0..count {
                black_box(sim.step(circles()));
            }
            begun.elapsed().as_secs_f64()
        };
        time(&mut self.seeing) - time(&mut self.blind)
    }

    pub(crate) fn heap(&mut self, count: u64) {
        for _ in 0..count {
            back(&mut self.heap);
            (0..FALL_STEPS).for_each(|_| step(&mut self.heap));
        }
    }

    pub(crate) fn reset(&mut self, count: u64) {
        for _ in 0..count {
            back(&mut self.rest);
            black_box(self.rest.vehicle());
        }
    }

    /// The scan at the start, to be compared with others'.
    pub(crate) fn scan(&self) -> Value {
        let (world, profile) = (Arc::clone(self.rest.world()), Arc::clone(self.rest.profile()));
        let fresh = Sim::new(world, profile, 1);
        let ranges = fresh.last_readings().0.ranges.iter().map(|r| r.is_finite().then_some(*r));
        json!({"ranges": ranges.collect::<Vec<_>>()})
    }

    /// What a step is made of, and what the car does.
    pub(crate) fn facts(&mut self) -> Value {
        back(&mut self.rest);
        (0..40).for_each(|_| step(&mut self.rest));
        let (mut way, mut turn) = (0.0, 0.0);
        let (mut at, mut heading) = self.place();
        for _ in 0..100 {
            step(&mut self.rest);
            let (now, towards) = self.place();
            way += (now - at).length();
            turn += wrap_angle(towards - heading);
            (at, heading) = (now, towards);
        }
        self.heap(1);
        let highest = self.heap.snapshot().objects.iter().map(|p| p.position.z).fold(0.0, f64::max);
        let round = |x: f64| (x * 1e3).round() / 1e3;
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "timestep_ms": 2.5,
            "solver": "4 iterations",
            "bodies awake": self.rest.awake(),
            "highest box at the end, m": round(highest),
            "speed_mps": round(way / (100.0 * 0.05)),
            "radius_m": round(way / turn.abs()),
        })
    }

    fn place(&self) -> (glam::DVec3, f64) {
        let pose = self.rest.vehicle().pose;
        (pose.position, pose.yaw())
    }
}

#[allow(clippy::expect_used)]
fn back(sim: &mut Sim) {
    sim.apply(Command::Reset).expect("a reset is never refused");
}
