//! Measures physics and lidar in the two scenes of `bench/compare/scene.py`. A step is as long as a
//! step of an agent in that file.

use chicane_sim::{Command, Drive, Sim};
use chicane_world::pose::wrap_angle;
use chicane_world::{Profile, World};
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// Ticks per step. A step is 50 ms, as in `bench/compare/scene.py`.
const TICKS_PER_STEP: u64 = 10;
/// Number of steps in which the boxes fall, as in `bench/compare/scene.py`.
const FALL_STEPS: u64 = 30;

/// The simulations that are measured.
pub(crate) struct Core {
    /// The scene at rest, with a lidar scan at the end of every step.
    rest: Sim,
    /// The scene at rest with one scan per second, to measure physics alone.
    scan_rarely: Sim,
    /// The scene at rest with a scan at every tick.
    scan_every_tick: Sim,
    /// The scene with falling boxes.
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
        let mut core = Core {
            rest: sim(rest, rate),
            scan_rarely: sim(rest, 1),
            scan_every_tick: sim(rest, 200),
            heap: sim(heap, 1),
        };
        // Let the boxes come to rest before anything is measured.
        for sim in [&mut core.rest, &mut core.scan_rarely, &mut core.scan_every_tick] {
            (0..80).for_each(|_| step(sim));
        }
        core
    }

    pub(crate) fn physics(&mut self, count: u64) {
        (0..count).for_each(|_| step(&mut self.scan_rarely));
    }

    pub(crate) fn steps(&mut self, count: u64) {
        for _ in 0..count {
            step(&mut self.rest);
            black_box(self.rest.last_readings());
        }
    }

    /// Time of `count` scans, s: the time of `count` ticks with a scan, minus the time of `count`
    /// ticks with almost no scans.
    pub(crate) fn lidar(&mut self, count: u64) -> f64 {
        let time = |sim: &mut Sim| {
            let begun = Instant::now();
            for _ in 0..count {
                black_box(sim.step(circles()));
            }
            begun.elapsed().as_secs_f64()
        };
        time(&mut self.scan_every_tick) - time(&mut self.scan_rarely)
    }

    pub(crate) fn heap(&mut self, count: u64) {
        for _ in 0..count {
            reset(&mut self.heap);
            (0..FALL_STEPS).for_each(|_| step(&mut self.heap));
        }
    }

    pub(crate) fn reset(&mut self, count: u64) {
        for _ in 0..count {
            reset(&mut self.rest);
            black_box(self.rest.vehicle());
        }
    }

    /// The scan at the start pose, for comparison with the other simulators.
    pub(crate) fn scan(&self) -> Value {
        let (world, profile) = (Arc::clone(self.rest.world()), Arc::clone(self.rest.profile()));
        let fresh = Sim::new(world, profile, 1);
        let ranges = fresh.last_readings().0.ranges.iter().map(|r| r.is_finite().then_some(*r));
        json!({"ranges": ranges.collect::<Vec<_>>()})
    }

    /// Settings of the simulation, and the measured speed and radius of the car.
    pub(crate) fn facts(&mut self) -> Value {
        reset(&mut self.rest);
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
fn reset(sim: &mut Sim) {
    sim.apply(Command::Reset).expect("a reset is never refused");
}
