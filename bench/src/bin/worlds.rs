//! Worlds outside of a run: loading them, and printing their floor.
//!
//! `worlds` prints all figures; `worlds print <file> <world> <dpi>` writes a print to look at, `worlds thumbnails
//! <folder>` the pictures for lists.
#![allow(clippy::disallowed_methods)]

use chicane_bench::report::{Report, Target};
use chicane_bench::{Broken, end};
use chicane_render::{Print, thumbnail};
use chicane_testkit::{SHIPPED, shipped_world};
use chicane_world::{Bounds, Profile};
use glam::DVec2;
use std::io::{BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

fn main() -> ExitCode {
    end("worlds", run())
}

fn run() -> Result<(), Broken> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, file, world, dpi] = &words[..]
        && word == "print"
    {
        let to = BufWriter::new(std::fs::File::create(file)?);
        return Ok(Print::new(&shipped_world(world), dpi.parse()?)?.write_jpeg(to)?);
    }
    if let [word, folder] = &words[..]
        && word == "thumbnails"
    {
        for name in SHIPPED {
            let file = std::path::Path::new(folder).join(format!("{name}.png"));
            std::fs::write(file, thumbnail(&shipped_world(name), Arc::new(Profile::gen1())))?;
        }
        return Ok(());
    }
    let mut report = Report::default();
    for name in SHIPPED {
        let mut times: Vec<_> = (0..20)
            .map(|_| {
                let start = Instant::now();
                shipped_world(name);
                start.elapsed()
            })
            .collect();
        report.add_times(&format!("loading {name}"), &mut times, Target::None);
    }
    let mut world = shipped_world("oval");
    world.ground.bounds = Some(Bounds { min: DVec2::ZERO, max: DVec2::splat(5.0) });
    let before = memory("VmRSS:");
    let start = Instant::now();
    let print = Print::new(&world, 150)?;
    report.add("making a print ready", start.elapsed().as_secs_f64() * 1e3, "ms", Target::None);
    let start = Instant::now();
    let mut file = Counted(0);
    print.write_jpeg(&mut file)?;
    let what = "printing 5 × 5 m at 150 dpi";
    report.add(what, start.elapsed().as_secs_f64(), "s", Target::None);
    report.add(format!("{what}: pixels a side"), print.width() as f64, "", Target::None);
    report.add(format!("{what}: file"), file.0 as f64 / 1e6, "MB", Target::None);
    let grown = memory("VmHWM:") - before;
    report.add(format!("{what}: peak memory above the loaded world"), grown, "MiB", Target::AtMost(64.0));
    report.print();
    Ok(())
}

/// Takes bytes and keeps none.
struct Counted(usize);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A figure of this process's memory, MiB.
fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1024.0
}
