//! Benchmark of the on-board camera without a server.
//!
//! It measures frames per second for several picture sizes, numbers of threads, and numbers of
//! objects in view, with and without JPEG. It also compares the instruction sets of the processor,
//! and measures memory and the time to build a stage, draw layers and thumbnails, and encode JPEG.
//!
//! `camera profile 480 360 20` draws frames of 480×360 pixels on one thread for 20 seconds, for use
//! with a profiler.
#![allow(clippy::disallowed_methods)]

use chicane_bench::jpeg;
use chicane_render::{Camera, CarMoment, Instructions, Jpeg, Moment, Optics, Renderer, Rgb, Stage};
use chicane_testkit::{Yard, shipped_world};
use chicane_world::scene::{BuiltInMesh, Instance, Look, Owner, Role};
use chicane_world::{Pose, Profile, World};
use std::f64::consts::FRAC_PI_2;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const SIZES: [[usize; 2]; 3] = [[480, 360], [320, 240], [160, 120]];
/// Duration of one measurement, s.
const SPAN_S: f64 = 2.0;

/// Moments with the car at `n` positions along the route of a world.
fn along(world: &World, n: usize) -> Vec<Moment> {
    let route = world.route.as_ref().expect("it has a route");
    let objects: Vec<Pose> = world.objects.iter().map(|o| o.origin).collect();
    (0..n)
        .map(|i| {
            let (here, heading) = route.point_at(route.length() * i as f64 / n as f64);
            let pose = Pose::from_xyz_yaw(here.x, here.y, world.spawn.position.z, heading);
            let car = CarMoment { pose, ..CarMoment::default() };
            Moment { car, objects: objects.clone(), lamps: Vec::new() }
        })
        .collect()
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

/// Prints how fast each instruction set is, on one thread. All instruction sets draw the same
/// bytes.
fn print_instructions(stage: &Arc<Stage>, moments: &[Moment]) {
    println!("\ninstructions, 1 thread\n");
    println!("{:<12}{:>14}{:>14}{:>16}", "set", "480x360 /s", "160x120 /s", "JPEG 480x360 ms");
    for set in Instructions::ALL.into_iter().filter(|set| set.is_available()) {
        pool(1).install(|| {
            let mut renderer = Renderer::new(Arc::clone(stage)).with_instructions(set);
            let mut frames = |size: [usize; 2]| {
                rate(SPAN_S, |i| drop(renderer.on_board(&moments[i as usize % moments.len()], size, 1, i)))
            };
            let (large, small) = (frames([480, 360]), frames([160, 120]));
            let picture = renderer.on_board(&moments[0], [480, 360], 1, 1);
            let jpeg = Jpeg::new(80).with_instructions(set);
            let time = milliseconds(|_| drop(black_box(jpeg.encode(&picture))));
            println!("{:<12}{large:>14.0}{small:>14.0}{time:>16}", format!("{set:?}"));
        });
    }
}

/// Calls per second in the best of four time spans of `span / 4` seconds each. The other spans do
/// not count, because other processes may have slowed them down.
fn rate(span: f64, mut call: impl FnMut(u64)) -> f64 {
    let mut count = 0;
    (0..4).fold(0.0, |best: f64, _| {
        let (start, first) = (Instant::now(), count);
        while start.elapsed().as_secs_f64() < span / 4.0 {
            call(count);
            count += 1;
        }
        best.max((count - first) as f64 / start.elapsed().as_secs_f64())
    })
}

/// Frames per second of the on-board camera.
fn frames(stage: &Arc<Stage>, moments: &[Moment], size: [usize; 2], threads: usize, with_jpeg: bool) -> f64 {
    let mut renderer = Renderer::new(Arc::clone(stage));
    let mut last = Rgb::default();
    pool(threads).install(|| {
        rate(SPAN_S, |i| {
            let draw = || renderer.on_board(&moments[i as usize % moments.len()], size, 1, i);
            // The previous frame is encoded while this frame is drawn.
            let encode = || (with_jpeg && i > 0).then(|| black_box(jpeg(&last)));
            let (picture, _) = rayon::join(draw, encode);
            last = picture;
        })
    })
}

/// Milliseconds per call, as text.
fn milliseconds(call: impl FnMut(u64)) -> String {
    format!("{:.2}", 1e3 / rate(SPAN_S, call))
}

/// Resident memory of this process, MB.
fn resident() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = pages.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0);
    pages * rustix::param::page_size() as f64 / 1e6
}

/// Processor time that this process has used, s. Unlike the elapsed time, it does not include the
/// time in which other processes run. Other processes still slow this process down a little,
/// because they use the same caches.
fn processor_time_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // User and system time are the fields 14 and 15. The process name before them may contain
    // spaces, so the fields are counted from the closing bracket.
    let fields = stat.rsplit(')').next().unwrap_or_default().split(' ');
    let ticks: f64 = fields.skip(12).take(2).filter_map(|n| n.parse::<f64>().ok()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

/// A scene with `n` boxes, balls and cones in front of the car, lit like the technical track.
fn crowded(n: usize) -> (Arc<Stage>, Moment) {
    let mut yard = Yard::new();
    for i in 0..n {
        let place = [1.0 + 0.35 * (i / 10) as f64, 0.3 * ((i % 10) as f64 - 4.5), 0.1];
        yard = yard.block(&format!("box{i}"), place, [0.2; 3], 0.5);
    }
    let mut world = Arc::unwrap_or_clone(yard.build());
    let plain = shipped_world("technical");
    world.scene.ambient = plain.scene.ambient;
    world.scene.sun = plain.scene.sun;
    for i in 0..n {
        let kind = [BuiltInMesh::BoxObstacle, BuiltInMesh::Ball, BuiltInMesh::Cone][i % 3];
        world.scene.instances.push(Instance {
            owner: Owner::Object(i),
            name: String::new(),
            role: Role::Plain,
            pose: Pose::IDENTITY,
            scale: [1.0; 3],
            look: Look::BuiltIn(kind, [0.2; 3]),
            material: None,
            opacity: 1.0,
        });
    }
    let objects = world.objects.iter().map(|o| o.origin).collect();
    let moment = Moment { objects, ..Moment::default() };
    (Arc::new(Stage::new(&world, Arc::new(Profile::gen1()))), moment)
}

fn main() {
    let world = shipped_world("technical");
    let profile = Arc::new(Profile::gen1());
    let moments = along(&world, 97);
    let before = resident();
    let stage = Arc::new(Stage::new(&world, Arc::clone(&profile)));
    let after = resident();
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [arg, width, height, seconds] = &args[..]
        && arg == "profile"
    {
        let number = |text: &String| text.parse().expect("a number");
        let (size, mut renderer) = ([number(width), number(height)], Renderer::new(stage));
        let until = number(seconds) as f64;
        let (before, mut drawn) = (processor_time_s(), 0);
        let best = pool(1).install(|| {
            rate(until, |i| {
                drop(renderer.on_board(&moments[i as usize % 97], size, 1, i));
                drawn = i + 1;
            })
        });
        let used = drawn as f64 / (processor_time_s() - before);
        println!("{best:.0} frames a second, {used:.0} frames per second of processor time");
        return;
    }

    println!("frames a second, technical track along its route, lens and noise\n");
    println!(
        "{:<12}{:>12}{:>12}{:>14}{:>14}{:>10}",
        "size", "1 thread", "2 threads", "1 and JPEG", "2 and JPEG", "target"
    );
    for (size, target) in SIZES.into_iter().zip(["400", "", "2000"]) {
        let cell = |threads, with_jpeg| frames(&stage, &moments, size, threads, with_jpeg);
        let name = format!("{}x{}", size[0], size[1]);
        let (a, b, c, d) = (cell(1, false), cell(2, false), cell(1, true), cell(2, true));
        println!("{name:<12}{a:>12.0}{b:>12.0}{c:>14.0}{d:>14.0}{target:>10}");
    }

    print_instructions(&stage, &moments);

    println!("\nobjects in view, 480x360, 2 threads, without JPEG\n");
    println!("{:<12}{:>12}{:>12}", "objects", "frames/s", "triangles");
    for n in [0, 10, 30, 100] {
        let (stage, moment) = crowded(n);
        let rate = frames(&stage, std::slice::from_ref(&moment), [480, 360], 2, false);
        println!("{n:<12}{rate:>12.0}{:>12}", stage.triangles());
    }

    println!("\nother drawing functions, technical track\n");
    let row = |name: &str, value: String| println!("{name:<52}{value:>10}");
    let triangles = stage.triangles();
    row("triangles", triangles.to_string());
    row("Stage::bytes, MB", format!("{:.1}", stage.bytes() as f64 / 1e6));
    row("resident memory of the stage, MB", format!("{:.1}", after - before));
    row("resident memory now, MB", format!("{:.1}", resident()));
    row("Stage::new, ms", milliseconds(|_| drop(black_box(Stage::new(&world, Arc::clone(&profile))))));
    let mut renderer = Renderer::new(Arc::clone(&stage));
    let two = pool(2);
    let pinhole = Camera { pose: moments[0].car.camera(&profile), optics: Optics::pinhole(480, 360, 1.5) };
    let layers = two.install(|| milliseconds(|_| drop(black_box(renderer.layers(&pinhole, &moments[0])))));
    row("layers 480x360, 2 threads, ms", layers);
    let bounds = world.route.as_ref().expect("it has a route").bounds();
    let (x, y) = (0.5 * (bounds.min.x + bounds.max.x), 0.5 * (bounds.min.y + bounds.max.y));
    let height = (bounds.max.x - bounds.min.x).max(bounds.max.y - bounds.min.y);
    let pose = Pose::from_xyz_rpy([x, y, height], [0.0, FRAC_PI_2, FRAC_PI_2]);
    let above = Camera { pose, optics: Optics::pinhole(640, 480, 1.0) };
    let thumbnail = two.install(|| milliseconds(|_| drop(black_box(renderer.picture(&above, &moments[0])))));
    row("thumbnail 640x480 from above, 2 threads, ms", thumbnail);
    let picture = renderer.on_board(&moments[0], [480, 360], 1, 1);
    row("JPEG 480x360, kB", format!("{:.1}", jpeg(&picture).len() as f64 / 1e3));
    row("JPEG 480x360, 1 thread, ms", pool(1).install(|| milliseconds(|_| drop(black_box(jpeg(&picture))))));
    row("JPEG 480x360, 2 threads, ms", two.install(|| milliseconds(|_| drop(black_box(jpeg(&picture))))));
}
