//! Benchmarks of the robot without a server.

use chicane_bench::jpeg;
use chicane_bench::report::{Goal, Report};
use chicane_render::{CarMoment, Moment, Renderer, Rgb, Stage};
use chicane_robot::{Command, Stack};
use chicane_sim::{ImuSample, Readings, Scan, Sim, sample_at};
use chicane_testkit::{Pilot, shipped_world};
use chicane_world::{Profile, Route, World};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// Duration of the drive in [`sensing`], simulated seconds.
const SPAN_S: u64 = 30;

/// A car that drives around the technical track at 1 m/s.
struct DrivenCar {
    sim: Sim,
    stack: Stack,
    pilot: Pilot,
    with_stack: bool,
}

impl DrivenCar {
    fn new(with_stack: bool) -> DrivenCar {
        let world: Arc<World> = Arc::new(shipped_world("technical"));
        let profile = Arc::new(Profile::gen1());
        let route: &Route = world.route.as_ref().expect("it has a route");
        let pilot = Pilot::new(route, &profile, 1.0);
        let sim = Sim::new(Arc::clone(&world), Arc::clone(&profile), 0);
        let mut stack = Stack::new(profile);
        stack.sense(&sim.readings());
        DrivenCar { sim, stack, pilot, with_stack }
    }

    fn tick(&mut self) {
        if self.sim.tick().is_multiple_of(10) {
            let steering = Some(self.pilot.steer(&self.sim.vehicle().pose));
            self.stack.apply(Command::Drive { speed: Some(1.0), steering }).expect("it drives");
        }
        let readings = self.sim.step(self.stack.drive());
        if self.with_stack {
            self.stack.sense(&readings);
        }
    }

    fn moment(&self) -> Moment {
        let snapshot = self.sim.snapshot();
        let car = CarMoment { pose: snapshot.vehicle.pose, ..CarMoment::default() };
        Moment { car, objects: snapshot.objects, lamps: Vec::new() }
    }
}

/// Duration of the fastest round, s. The other rounds do not count, because other processes may
/// have slowed them down.
fn best(rounds: usize, mut round: impl FnMut()) -> f64 {
    (0..rounds).fold(f64::INFINITY, |best: f64, _| {
        let start = Instant::now();
        round();
        best.min(start.elapsed().as_secs_f64())
    })
}

/// Measures physics with lidar and IMU, with and without the on-board stack. Then measures the
/// odometry alone and the lidar scans alone.
pub(super) fn sensing(report: &mut Report) {
    let ticks = 200 * SPAN_S;
    for (name, with_stack) in [("physics, lidar and IMU", false), ("and odometry", true)] {
        let span = best(3, || {
            let mut drive = DrivenCar::new(with_stack);
            for _ in 0..ticks {
                drive.tick();
            }
        });
        report.add(format!("{name}, real-time factor"), SPAN_S as f64 / span, "×", Goal::None);
    }
    let recorded = record(ticks);
    let scans = recorded.iter().filter(|(_, scan, _)| scan.is_some()).count();
    let span = best(5, || {
        let mut stack = Stack::new(Arc::new(Profile::gen1()));
        for (tick, scan, imu) in &recorded {
            let (wheels, battery) = (Default::default(), None);
            stack.sense(&Readings { tick: *tick, lidar: scan.as_ref(), imu: *imu, wheels, battery });
        }
        black_box(stack.topics());
    });
    report.add("odometry, scans a second", scans as f64 / span, "1/s", Goal::None);
    report.add("odometry, a scan with its share of the rest", 1e6 * span / scans as f64, "µs", Goal::None);

    // The time of a scan is computed from the difference between the durations of two simulations:
    // one scans at every tick, the other at every 20th tick.
    let time = |rate_hz: u32| {
        let mut profile = Profile::gen1();
        profile.lidar.rate_hz = rate_hz;
        let mut sim = Sim::new(Arc::new(shipped_world("technical")), Arc::new(profile), 0);
        best(3, || {
            for _ in 0..2000 {
                black_box(sim.step(chicane_sim::Drive::default()));
            }
        })
    };
    let a_scan = (time(200) - time(10)) / 1900.0;
    report.add("lidar, scans of 720 beams a second", 1.0 / a_scan, "1/s", Goal::None);
}

/// Records the sensor readings of a drive.
fn record(ticks: u64) -> Vec<(u64, Option<Scan>, Option<ImuSample>)> {
    let mut drive = DrivenCar::new(true);
    (0..ticks)
        .map(|_| {
            drive.tick();
            let readings = drive.sim.readings();
            (readings.tick, readings.lidar.cloned(), readings.imu)
        })
        .collect()
}

/// Measures the whole robot: physics, lidar, IMU, odometry and camera. Every camera frame is drawn,
/// and in some measurements it is also encoded.
pub(super) fn whole(report: &mut Report) {
    for (size, packed, target) in [
        ([480, 360], false, Goal::None),
        ([480, 360], true, Goal::AtLeast(6.0)),
        ([160, 120], true, Goal::None),
    ] {
        let span = best(2, || run_with_camera(size, packed));
        let [w, h] = size;
        let name = format!("whole robot, {w}×{h} at 15 Hz{}", if packed { " as JPEG" } else { "" });
        report.add(format!("{name}, real-time factor"), 10.0 / span, "×", target);
    }
}

/// Runs ten simulated seconds. While a frame is drawn, another thread simulates the time until the
/// next frame. If `packed`, that thread also encodes the previous frame as JPEG.
fn run_with_camera(size: [usize; 2], packed: bool) {
    let mut drive = DrivenCar::new(true);
    let stage = Arc::new(Stage::new(drive.sim.world(), Arc::clone(drive.sim.profile())));
    let mut renderer = Renderer::new(stage);
    let (mut moment, mut last) = (drive.moment(), Rgb::default());
    for frame in 0..150 {
        let draw = || renderer.on_board(&moment, size, 0, frame);
        let meanwhile = || {
            loop {
                drive.tick();
                if sample_at(drive.sim.tick(), 15).is_some() {
                    break;
                }
            }
            if packed && frame > 0 {
                black_box(jpeg(&last));
            }
            drive.moment()
        };
        (last, moment) = rayon::join(draw, meanwhile);
    }
    black_box(&last);
}
