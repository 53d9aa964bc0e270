//! Hostile programs and scripts must not slow the simulator down. The tests measure the processor
//! time per tick, because other load on the machine hardly affects it. The test with a hostile
//! program also checks that simulated time keeps up with real time.

use crate::support::judged::{judged, wait_for_phase};
use crate::support::{Api, Simulator, number, setup};
use serde_json::json;
use std::time::{Duration, Instant};

/// Number of ticks of one measurement with a student's program: three simulated seconds.
const BESIDE_PROGRAM: f64 = 600.0;
/// Number of ticks of one measurement with a judging script. The number is smaller, because the
/// simulator waits for the script, and a hostile script is slow.
const BESIDE_SCRIPT: f64 = 100.0;
/// While a hostile program or script is running, a tick may cost up to this many times the normal
/// cost. Some increase is unavoidable, because caches and cores are shared.
const TIMES: f64 = 3.0;
/// Differences in the cost of a tick below this value are noise, in seconds.
const NOISE: f64 = 50e-6;
/// Timeout of one measurement. It is long, because the simulator waits for the judge.
const LONGEST: Duration = Duration::from_secs(120);

/// Speed of the simulator during a measurement.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// Processor time of the sim thread per tick, in seconds.
    tick_s: f64,
    /// Simulated seconds per real second.
    factor: f64,
}

/// Total processor time of all threads of this process with the name `sim`, in seconds.
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

/// Starts a session, measures the speed of the simulator while the session is running, and stops
/// the session. `None` if the session ended earlier, because the judge used too much processor time
/// on a busy machine.
fn during(simulator: &Simulator, command: Option<&str>, count: f64) -> Option<Pace> {
    let mut api = simulator.api();
    let body = match command {
        Some(command) => json!({"command": command, "time_limit_s": 3600}),
        None => json!({"time_limit_s": 3600}),
    };
    api.post("/evaluation/start", body);
    wait_for_phase(&mut api, "running");
    let pace = measure(simulator, &mut api, count);
    if api.get("/evaluation/session")["active"] != true {
        return None;
    }
    assert!(number(&api.get("/evaluation/session")["session"]["elapsed_s"]) > 0.0);
    api.post("/evaluation/stop", json!({}));
    Some(pace)
}

/// Compares a calm session with a hostile one. Only one of four rounds has to show no effect,
/// because other load on the machine may slow a measurement down, but not in every round. A round
/// shows no effect if both of these conditions hold:
///
/// - In the hostile session, a tick costs less than [`TIMES`] times the cost in the calm session
///   plus [`NOISE`].
/// - The real-time factor of the hostile session is greater than `least_factor` times the smaller
///   of 1 and the real-time factor of the calm session.
fn assert_unaffected(mut pair: impl FnMut() -> [Option<Pace>; 2], least_factor: f64) {
    let mut seen = Vec::new();
    for _ in 0..4 {
        let [Some(calm), Some(hostile)] = pair() else { continue };
        let costs_more = hostile.tick_s >= TIMES * calm.tick_s + NOISE;
        if !costs_more && hostile.factor > least_factor * calm.factor.min(1.0) {
            return;
        }
        seen.push([calm, hostile]);
    }
    panic!("a tick costs too much, simulated time does not keep up, or no session lasts: {seen:?}");
}

#[test]
fn a_program_that_uses_all_cores_and_floods_its_output_does_not_slow_the_simulator() {
    let simulator = judged(setup(), "def evaluate(sim): pass\n");
    let command = "for i in $(seq 32); do (while :; do :; done) & done; yes flood & yes flood >&2";
    let pair = || ["sleep 1000", command].map(|one| during(&simulator, Some(one), BESIDE_PROGRAM));
    assert_unaffected(pair, 0.8);
}

#[test]
fn a_script_that_uses_all_cores_and_prints_its_maximum_does_not_slow_the_simulator() {
    let tame = "def evaluate(sim): sim.record(sim.state.time)\n";
    // The script starts twelve busy processes, which use all cores of a usual machine. It prints
    // and records nearly as much as the limits allow.
    let wild = "\
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
    // Simulated time waits for the judge, so a slow script lowers the real-time factor. Therefore
    // the test does not limit this factor.
    assert_unaffected(
        || [tame, wild].map(|script| during(&judged(setup(), script), None, BESIDE_SCRIPT)),
        0.0,
    );
}
