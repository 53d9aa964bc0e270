//! Benchmark of building worlds, loading them, and printing their floor.
//!
//! `worlds` prints all figures. `worlds print <file> <world> <dpi>` writes the print of a world to
//! a file, and `worlds thumbnails <folder>` writes the thumbnails of the shipped worlds.
#![allow(clippy::disallowed_methods, unsafe_code)]

use chicane_bench::report::{Goal, Report};
use chicane_bench::{BenchError, exit_code};
use chicane_builder::{Project, build, check, preview};
use chicane_render::{Print, thumbnail};
use chicane_studio::preview_of;
use chicane_testkit::{SHIPPED, shipped_world};
use chicane_world::{Assets, Bounds, MemoryBundle, Profile, World};
use glam::DVec2;
use serde_json::{Value, json};
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::{Duration, Instant};

/// Number of bytes that are currently allocated on the heap.
static LIVE: AtomicIsize = AtomicIsize::new(0);

/// An allocator that counts the allocated bytes.
struct CountingAllocator;

// SAFETY: every method forwards to the system allocator. The counter does not change the result.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    exit_code("worlds", run())
}

fn run() -> Result<(), BenchError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [arg, file, world, dpi] = &args[..]
        && arg == "print"
    {
        let to = BufWriter::new(std::fs::File::create(file)?);
        return Ok(Print::new(&shipped_world(world), dpi.parse()?)?.write_jpeg(to)?);
    }
    if let [arg, folder] = &args[..]
        && arg == "thumbnails"
    {
        for name in SHIPPED {
            let file = Path::new(folder).join(format!("{name}.png"));
            std::fs::write(file, thumbnail(&shipped_world(name), Arc::new(Profile::gen1())))?;
        }
        return Ok(());
    }
    let mut report = Report::default();
    let large = (Project::read(large().to_string().as_bytes())?, MemoryBundle::default());
    let shipped =
        SHIPPED.iter().map(|name| Ok::<_, BenchError>(((*name).to_owned(), shipped_project(name)?)));
    let worlds = shipped.chain([Ok(("20 × 20 m with 500 objects".to_owned(), large))]);
    for world in worlds {
        let (name, (project, files)) = world?;
        let built = || build(&project, &files);
        let bundle = built()?;
        let loaded = || World::load(&Assets::of(&bundle));
        // The editor checks a project again at each movement of the pointer while the user drags an
        // object. The goal is therefore much less than the 17 ms between two frames of a screen.
        let mut checks = times(|| check(&project));
        report.add_times(&format!("checking {name}"), &mut checks, Goal::AtMost(5.0));
        let bytes: usize = bundle.files.values().map(Vec::len).sum();
        report.add_times(&format!("building {name}"), &mut times(built), Goal::None);
        report.add(format!("building {name}: files"), bytes as f64 / 1e6, "MB", Goal::None);
        report.add_times(&format!("loading {name}"), &mut times(loaded), Goal::None);
        let before = LIVE.load(Ordering::Relaxed);
        let kept = loaded()?;
        let grown = (LIVE.load(Ordering::Relaxed) - before) as f64 / f64::from(1 << 20);
        report.add(format!("loading {name}: memory of the world"), grown, "MiB", Goal::None);
        drop(kept);
        let start = Instant::now();
        thumbnail(&loaded()?, Arc::new(Profile::gen1()));
        report.add(
            format!("drawing {name} for lists"),
            start.elapsed().as_secs_f64() * 1e3,
            "ms",
            Goal::None,
        );
    }
    // The editor requests a preview at each movement of the pointer while the user drags a node.
    // The time to read the document and to write the response counts too, because the server does
    // both for each request.
    let document = sixty_nodes().to_string();
    let mut previews = times(|| {
        let project = Project::read(document.as_bytes())?;
        Ok::<_, BenchError>(serde_json::to_vec(&preview_of(&preview(&project, None)))?)
    });
    report.add_times("previewing a track of 60 nodes", &mut previews, Goal::AtMost(50.0));
    let mut world = shipped_world("oval");
    world.ground.bounds = Some(Bounds { min: DVec2::ZERO, max: DVec2::splat(5.0) });
    let before = memory("VmRSS:");
    let start = Instant::now();
    let print = Print::new(&world, 150)?;
    report.add("making a print ready", start.elapsed().as_secs_f64() * 1e3, "ms", Goal::None);
    let start = Instant::now();
    let mut file = ByteCounter(0);
    print.write_jpeg(&mut file)?;
    let what = "printing 5 × 5 m at 150 dpi";
    report.add(what, start.elapsed().as_secs_f64(), "s", Goal::None);
    report.add(format!("{what}: pixels a side"), print.width() as f64, "", Goal::None);
    report.add(format!("{what}: file"), file.0 as f64 / 1e6, "MB", Goal::None);
    let grown = memory("VmHWM:") - before;
    report.add(format!("{what}: peak memory above the loaded world"), grown, "MiB", Goal::AtMost(64.0));
    report.print();
    Ok(())
}

/// A track of 60 nodes that winds around a field of 40 × 40 m.
fn sixty_nodes() -> Value {
    let node = |i: u32| {
        let (s, c) = libm::sincos(std::f64::consts::TAU * f64::from(i) / 60.0);
        let radius = if i.is_multiple_of(2) { 15.0 } else { 17.0 };
        json!({ "x": 20.0 + radius * c, "y": 20.0 + radius * s })
    };
    json!({
        "version": 1,
        "name": "sixty",
        "field": { "size": [40, 40] },
        "track": { "width": 0.8, "nodes": (0..60).map(node).collect::<Vec<_>>() },
    })
}

/// Durations of 20 calls.
fn times<T>(mut what: impl FnMut() -> T) -> Vec<Duration> {
    (0..20)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(what());
            start.elapsed()
        })
        .collect()
}

/// The project of a shipped world, and the picture files of all projects.
fn shipped_project(name: &str) -> Result<(Project, MemoryBundle), BenchError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../worlds");
    let project = Project::read(&std::fs::read(folder.join(format!("{name}.json")))?)?;
    let mut files = MemoryBundle::default();
    for entry in std::fs::read_dir(folder.join("pictures"))? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|_| "a name is not UTF-8")?;
        files.insert(format!("pictures/{name}"), std::fs::read(entry.path())?);
    }
    Ok((project, files))
}

/// A large world: a ring road on 20 × 20 m, and 500 objects of all kinds inside the ring.
fn large() -> Value {
    let kinds = ["box", "cylinder", "sphere", "cone", "light"];
    let object = |i: usize| {
        // The objects are in rows of 25.
        let (x, y) = (0.5 + (i % 25) as f64 * 0.79, 0.5 + (i / 25) as f64 * 0.79);
        json!({ "kind": kinds[i % 5], "name": format!("thing_{i}"), "x": 10.0 + (x - 10.0) * 0.6, "y": 10.0 + (y - 8.0) * 0.6 })
    };
    let node = |i: u32| {
        let (s, c) = libm::sincos(std::f64::consts::TAU * f64::from(i) / 40.0);
        json!({ "x": 10.0 + 9.3 * c, "y": 10.0 + 9.3 * s })
    };
    json!({
        "version": 1, "name": "large", "field": { "size": [20, 20] }, "fence": {},
        "track": { "width": 0.6, "nodes": (0..40).map(node).collect::<Vec<_>>() },
        "objects": (0..500).map(object).collect::<Vec<_>>(),
    })
}

/// A writer that only counts bytes.
struct ByteCounter(usize);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A memory figure of this process from `/proc/self/status`, MiB.
fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1024.0
}
