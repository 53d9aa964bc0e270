//! Hostile programs and scripts against the simulator's own pace, measured: what a tick costs it in processor time, which does
//! not depend on how busy the machine is, and that simulated time keeps up with real time.

use crate::support::judged::{judged, phase};
use crate::support::{Api, Simulator, number, setup};
use serde_json::json;
use std::time::{Duration, Instant};

/// Ticks of one measurement beside a program: three simulated seconds.
const BESIDE_PROGRAM: f64 = 600.0;
/// And beside a script, which is waited for: when it takes its processors from itself, that takes its time.
const BESIDE_SCRIPT: f64 = 100.0;
/// How much more a tick may cost beside a hostile program: caches are shared, and so are cores.
const TIMES: f64 = 3.0;
/// What is too little to be told apart, s.
const NOISE: f64 = 50e-6;
/// How long a measurement may take: a judge is waited for.
const LONGEST: Duration = Duration::from_secs(120);

/// How the simulator gets on.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// Processor time of the sim thread for one tick, s.
    tick_s: f64,
    /// Simulated seconds in a real one.
    factor: f64,
}

/// Processor time of the sim thread so far, s.
fn sim_thread_s() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("/proc").flatten();
    let of_sim = tasks.filter(|task| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "sim")
    });
    let spent = of_sim.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    let ns = spent.filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    ns.sum::<f64>() * 1e-9
}

fn measure(simulator: &Simulator, api: &mut Api, count: f64) -> Pace {
    let ticks = || simulator.metric("chicane_ticks_total");
    let (begun, first, cpu, time) = (Instant::now(), ticks(), sim_thread_s(), api.time());
    let mut now = first;
    while now - first < count {
        assert!(begun.elapsed() < LONGEST, "only {} ticks in {LONGEST:?}", now - first);
        std::thread::sleep(Duration::from_millis(50));
        now = ticks();
    }
    let factor = (api.time() - time) / begun.elapsed().as_secs_f64();
    Pace { tick_s: (sim_thread_s() - cpu) / (ticks() - first), factor }
}

/// A session, measured while it runs.
fn during(simulator: &Simulator, command: Option<&str>, count: f64) -> Pace {
    let mut api = simulator.api();
    let body = match command {
        Some(command) => json!({"command": command, "time_limit_s": 3600}),
        None => json!({"time_limit_s": 3600}),
    };
    api.post("/evaluation/start", body);
    phase(&mut api, "running");
    let pace = measure(simulator, &mut api, count);
    assert_eq!(api.get("/evaluation/session")["active"], true, "it goes on");
    assert!(number(&api.get("/evaluation/session")["session"]["elapsed_s"]) > 0.0);
    api.post("/evaluation/stop", json!({}));
    pace
}

fn assert_unaffected(calm: Pace, hostile: Pace) {
    assert!(hostile.tick_s < TIMES * calm.tick_s + NOISE, "a tick costs more: {calm:?}, then {hostile:?}");
}

#[test]
fn a_program_that_takes_every_core_and_floods_its_output() {
    let simulator = judged(setup(), "def evaluate(sim): pass\n");
    let calm = during(&simulator, Some("sleep 1000"), BESIDE_PROGRAM);
    let command = "for i in $(seq 32); do (while :; do :; done) & done; yes flood & yes flood >&2";
    // A machine that is busy with something else may be slow in one of them; not in all.
    let mut seen = Vec::new();
    for _ in 0..4 {
        let hostile = during(&simulator, Some(command), BESIDE_PROGRAM);
        assert_unaffected(calm, hostile);
        seen.push(hostile);
        if hostile.factor > 0.8 * calm.factor.min(1.0) {
            return;
        }
    }
    panic!("simulated time does not keep up: {calm:?}, then {seen:?}");
}

#[test]
fn a_script_that_takes_every_core_and_prints_all_it_may() {
    let tame = judged(setup(), "def evaluate(sim): sim.record(sim.state.time)\n");
    let calm = during(&tame, None, BESIDE_SCRIPT);
    drop(tame);
    // More processes that never rest than there are cores, and nearly as many prints and records as are allowed.
    let script = "\
import os
def initialize(sim):
    for _ in range(12):
        if os.fork() == 0:
            while True:
                pass
def evaluate(sim):
    print('x' * 10_000)
    for k in range(20):
        sim.record([k] * 1000)
";
    let wild = judged(setup(), script);
    assert_unaffected(calm, during(&wild, None, BESIDE_SCRIPT));
}
