//! Benchmark of the deterministic core on one thread: ticks, lidar, save, restore, reset and
//! allocations, with 0, 50 and 500 resting objects, and in cities of up to 200,000 triangles.
//!
//! Times are medians of several rounds, except that the simulation of a city is created only once.
//! On a busy machine the noise between two runs is larger than most changes, so compare only
//! columns of the same run.
#![allow(clippy::disallowed_methods, unsafe_code)]

use chicane_sim::{Command, Drive, How, Sim, Who};
use chicane_testkit::{Yard, elsewhere};
use chicane_world::world::{ObjectKind, Shape};
use chicane_world::{Assets, Pose, Profile, World};
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// An allocator that counts allocations.
struct CountingAllocator;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every method forwards to the system allocator. The counter does not change the result.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const DISTURBED_RESET: &str = "reset after a tick of the engine, µs";

/// Median duration of several rounds, s.
fn median(rounds: usize, mut round: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[rounds / 2]
}

/// A fenced yard with resting objects. The car drives in circles beside these objects.
fn yard(objects: usize) -> Yard {
    let side = 8.0 + (objects / 10) as f64 * 0.6;
    Yard::new().spawn(7.0, 0.6, 0.0).fence(8.0, side).clutter(objects)
}

/// The yard with a drum inside the circle that the car drives. The drum is close to the car, so
/// that collision detection has work.
fn around_a_drum(objects: usize) -> Arc<World> {
    let pose = Pose::from_xyz_yaw(7.0, 0.6 + 0.18 / CIRCLE_RAD.tan(), 0.15, 0.0);
    let shape = Shape::Cylinder { radius: 0.4, half_length: 0.15 };
    yard(objects).object("drum", ObjectKind::Cylinder, pose, shape, None).build()
}

/// The yard with a box that moves back and forth all the time, so that the physics never sleeps.
fn with_traffic(objects: usize) -> Sim {
    let world = yard(objects).block("shuttle", [1.0, 0.6, 0.1], [0.2; 3], 0.5).build();
    let mut sim = Sim::new(world, Arc::new(Profile::gen1()), 1);
    let how = How::Along { path: vec![[4.0, 0.6], [1.0, 0.6]], speed: 0.3, repeat: true };
    let who = Who::Object("shuttle".to_owned());
    let command = Command::Place { who, x: None, y: None, z: None, yaw: None, how };
    sim.apply(command).expect("movable");
    settle(&mut sim);
    sim
}

const CIRCLE_RAD: f64 = 0.3;

fn circles() -> Drive {
    Drive { speed: 1.0, steering: CIRCLE_RAD, ..Drive::default() }
}

/// A simulation in steady state, in which only the car moves.
fn steady(world: &Arc<World>, profile: Profile) -> Sim {
    let mut sim = Sim::new(Arc::clone(world), Arc::new(profile), 1);
    settle(&mut sim);
    sim
}

fn settle(sim: &mut Sim) {
    for _ in 0..1000 {
        sim.step(circles());
    }
}

/// Number of heap allocations during the next `ticks` ticks.
fn allocations(sim: &mut Sim, ticks: usize) -> u64 {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..ticks {
        black_box(sim.step(circles()));
    }
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// Median duration of a reset, s. Before each reset, the car is placed and one tick is simulated,
/// so that the physics engine has stepped since the previous reset.
fn disturbed_reset(sim: &mut Sim) -> f64 {
    let place =
        || Command::Place { who: Who::Vehicle, x: Some(1.0), y: None, z: None, yaw: None, how: How::AtOnce };
    let mut times: Vec<f64> = (0..101)
        .map(|_| {
            sim.apply(place()).expect("the car can be placed");
            sim.step(circles());
            let start = Instant::now();
            drop(black_box(sim.apply(Command::Reset)));
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Median duration of a tick, s.
fn tick_time(sim: &mut Sim) -> f64 {
    const TICKS: usize = 2000;
    median(9, || {
        for _ in 0..TICKS {
            black_box(sim.step(circles()));
        }
    }) / TICKS as f64
}

fn main() {
    println!("{:<46}{:>12}{:>12}{:>12}", "objects at rest", 0, 50, 500);
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    let mut put = |name: &'static str, column: usize, text: String| {
        match rows.iter_mut().find(|(n, _)| *n == name) {
            Some((_, cells)) => cells.push(text),
            None => rows.push((name, vec![text])),
        }
        eprint!("\r{} of 3: {name:<46}", column + 1);
    };
    for (column, objects) in [0, 50, 500].into_iter().enumerate() {
        let world = yard(objects).build();
        let mut sim = steady(&world, Profile::gen1());
        let tick = tick_time(&mut sim);
        put("ticks a second, car driving, lidar and IMU on", column, format!("{:.0}", 1.0 / tick));
        put("real-time factor", column, format!("{:.0}", chicane_sim::TICK_S / tick));

        put("heap allocations in 2000 ticks", column, allocations(&mut sim, 2000).to_string());
        put("bodies awake", column, sim.awake().to_string());
        let factor = |sim: &mut Sim| format!("{:.0}", chicane_sim::TICK_S / tick_time(sim));
        let mut close = steady(&around_a_drum(objects), Profile::gen1());
        put("real-time factor, close around a drum", column, factor(&mut close));
        let mut traffic = with_traffic(objects);
        put("real-time factor, while a box is moved about", column, factor(&mut traffic));
        put("heap allocations in 2000 such ticks", column, allocations(&mut traffic, 2000).to_string());

        let mut often = Profile::gen1();
        often.lidar.rate_hz = 200;
        let mut seldom = Profile::gen1();
        seldom.lidar.rate_hz = 1;
        let with = tick_time(&mut steady(&world, often));
        let without = tick_time(&mut steady(&world, seldom));
        let scan = with - without;
        put("lidar scan of 720 beams, µs", column, format!("{:.1}", scan * 1e6));
        put("lidar scans a second", column, format!("{:.0}", 1.0 / scan));

        let saved = sim.save();
        put("size of a save, kB", column, format!("{:.1}", saved.len() as f64 / 1e3));
        put("save, µs", column, format!("{:.1}", 1e6 * median(101, || drop(black_box(sim.save())))));
        let restore = median(101, || black_box(&mut sim).restore(&saved).expect("own bytes"));
        put("restore, µs", column, format!("{:.1}", 1e6 * restore));
        let reset = median(101, || drop(black_box(sim.apply(Command::Reset))));
        put("reset, undisturbed, µs", column, format!("{:.1}", 1e6 * reset));
        put(DISTURBED_RESET, column, format!("{:.1}", 1e6 * disturbed_reset(&mut sim)));
        put("snapshot, µs", column, format!("{:.1}", 1e6 * median(101, || drop(black_box(sim.snapshot())))));
        let build = median(9, || drop(Sim::new(Arc::clone(&world), Arc::new(Profile::gen1()), 1)));
        put("new simulation, µs", column, format!("{:.1}", 1e6 * build));
    }
    eprintln!("\r{:<60}", "");
    for (name, cells) in rows {
        println!("{name:<46}{:>12}{:>12}{:>12}", cells[0], cells[1], cells[2]);
    }
    print_cities();
}

/// Prints how the costs of the core grow with the number of triangles of a world that is one mesh.
fn print_cities() {
    println!("\n{:<46}{:>12}{:>12}{:>12}", "triangles of a city", "2,000", "20,000", "200,000");
    let cities = [2_000, 20_000, 200_000].map(|triangles| {
        let world = World::load(&Assets::of(&elsewhere::city(triangles))).expect("loads");
        let world = Arc::new(world);
        let begun = Instant::now();
        let mut sim = Sim::new(Arc::clone(&world), Arc::new(Profile::gen1()), 1);
        let built = begun.elapsed().as_secs_f64();
        settle(&mut sim);
        let factor = chicane_sim::TICK_S / tick_time(&mut sim);
        let save = median(21, || drop(black_box(sim.save())));
        let hash = median(21, || drop(black_box(sim.digests())));
        let reset = disturbed_reset(&mut sim);
        let micro = |time: f64| format!("{:.1}", 1e6 * time);
        [format!("{factor:.0}"), format!("{:.1}", 1e3 * built), micro(save), micro(hash), micro(reset)]
    });
    let names =
        ["real-time factor", "new simulation, ms", "save, µs", "hashes of the state, µs", DISTURBED_RESET];
    for (row, name) in names.into_iter().enumerate() {
        println!("{name:<46}{:>12}{:>12}{:>12}", cities[0][row], cities[1][row], cities[2][row]);
    }
}
