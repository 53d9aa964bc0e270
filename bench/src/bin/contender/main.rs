//! Runs our simulator as a contender of `bench/compare`, a program that compares our simulator with
//! others.
//!
//! Usage: `contender <folder of the scene> <threads of the camera>`. The program reads a JSON
//! request per line and writes a JSON response per line, as `bench/compare/side.py` describes:
//! `{"task": "step", "count": 100}` → `{"seconds": 0.004}`. The program is idle between requests,
//! so that the contenders can take turns.
#![allow(clippy::disallowed_methods)]

mod camera;
mod core;

use camera::Pictures;
use chicane_bench::{BenchError, exit_code};
use chicane_testkit::FolderBundle;
use chicane_world::{Assets, Profile, World};
use core::Core;
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

fn main() -> ExitCode {
    exit_code("contender", run())
}

fn run() -> Result<(), BenchError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, threads] = &args[..] else {
        return Err("usage: contender <folder of the scene> <threads of the camera>".into());
    };
    let folder = Path::new(folder);
    let robot = folder.join("robot.json");
    let profile = Profile::from_json("robot.json", &std::fs::read(&robot)?)?;
    let load = |name: &str| World::load(&Assets::of(&FolderBundle::new(folder.join(name)))).map(Arc::new);
    let (rest, heap) = (load("rest")?, load("heap")?);
    let mut core = Core::new(&rest, &heap, &profile);
    let mut pictures = Pictures::new(&rest, profile, threads.parse()?)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", json!({"ready": true}))?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        let order: Value = serde_json::from_str(&line?)?;
        writeln!(out, "{}", answer(&mut core, &mut pictures, &order)?)?;
        out.flush()?;
    }
    Ok(())
}

/// Runs the task of a request and returns the response.
fn answer(core: &mut Core, pictures: &mut Pictures, order: &Value) -> Result<Value, BenchError> {
    let number = |name: &str| order[name].as_u64().ok_or_else(|| format!("no {name} in the request {order}"));
    let task = order["task"].as_str().unwrap_or_default();
    let size = || Ok::<_, BenchError>([number("width")? as usize, number("height")? as usize]);
    match task {
        "facts" => return Ok(core.facts()),
        "scan" => return Ok(core.scan()),
        "picture" => {
            let file = order["file"].as_str().ok_or_else(|| format!("no file in the request {order}"))?;
            pictures.keep(file, size()?)?;
            return Ok(json!({ "file": file }));
        }
        "lidar" => return Ok(json!({"seconds": core.lidar(number("count")?)})),
        _ => {}
    }
    let count = number("count")?;
    let begun = Instant::now();
    match task {
        "physics" => core.physics(count),
        "step" => core.steps(count),
        "heap" => core.heap(count),
        "reset" => core.reset(count),
        "camera" => pictures.pinhole(count, size()?),
        "on_board" => pictures.on_board(count, size()?),
        other => return Err(format!("unknown task {other:?}").into()),
    }
    Ok(json!({"seconds": begun.elapsed().as_secs_f64()}))
}
