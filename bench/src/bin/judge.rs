//! Benchmark of the judge. It measures the start time of a container, sessions per hour, and how
//! many observations per second a script can read.
//!
//! Usage: `judge [--json <file>] [--quick] [--only <part>]… [<path of chicane>]`.
#![allow(clippy::disallowed_methods)]

use chicane_bench::options::Options;
use chicane_bench::report::{Goal, Report, quantile};
use chicane_bench::{BenchError, exit_code};
use chicane_session::{Judge, JudgeEvent, Setting, SettingOptions, root};
use chicane_testkit::http::Client;
use chicane_wire::{
    JudgeAudio, JudgeCall, JudgeSaid, JudgeTrack, Named, Num, Observation, Pose, RunState, Statics,
    VehiclePose,
};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A judging script that reads the complete state.
const READER: &str = "\
def evaluate(sim):
    total = sim.state.time + sim.state.rtf + sim.state.brightness + sum(sim.state.pose[k] for k in 'xyz')
    for name, pose in sim.state.objects.items():
        total += pose.x + pose.y + pose.z + pose.roll + pose.pitch + pose.yaw
    total += len(sim.state.lights) + len(sim.state.contacts) + len(sim.state.audio.playing)
    sim.record(total)
";

const PARTS: [&str; 3] = ["start", "observations", "sessions"];

fn main() -> ExitCode {
    exit_code("judge", run())
}

fn run() -> Result<(), BenchError> {
    let options = Options::read(&PARTS)?;
    let program = std::path::absolute(options.program()?)?;
    let setting = Setting::find(&SettingOptions {
        launcher: program.clone(),
        folder: root::folder()?,
        isolation: None,
        engine: None,
    })?;
    eprintln!("{}", setting.describe(setting.jail_isolation()));
    let mut report = Report::default();
    if options.wants("start") {
        starts(&setting, &mut report)?;
    }
    if options.wants("observations") {
        observations(&setting, &mut report)?;
    }
    if options.wants("sessions") {
        whole(&program, options.quick, &mut report)?;
    }
    report.print();
    if let Some(file) = &options.json {
        std::fs::write(file, report.json())?;
    }
    Ok(())
}

/// Measures the time from the start of a container to the harness's answer to the call
/// `initialize`.
fn starts(setting: &Setting, report: &mut Report) -> Result<(), BenchError> {
    let mut times = Vec::new();
    for _ in 0..50 {
        let begun = Instant::now();
        let mut judge = Judge::start(setting)?;
        judge.call(&JudgeCall::Load(&statics("def evaluate(sim): pass\n")?));
        answer(&mut judge)?;
        judge.observe(true, &observation(10));
        answer(&mut judge)?;
        times.push(begun.elapsed());
    }
    let name = "container start to initialize";
    report.add(format!("{name}, median"), quantile(&mut times, 0.5), "ms", Goal::AtMost(150.0));
    report.add(format!("{name}, p99"), quantile(&mut times, 0.99), "ms", Goal::None);
    Ok(())
}

/// Measures how fast a judging script reads observations, without a simulation.
fn observations(setting: &Setting, report: &mut Report) -> Result<(), BenchError> {
    for (objects, moving) in [(10, 10), (50, 5), (50, 50)] {
        let mut judge = Judge::start(setting)?;
        judge.call(&JudgeCall::Load(&statics(READER)?));
        answer(&mut judge)?;
        let mut state = observation(objects);
        let count = 10_000;
        let begun = Instant::now();
        for k in 0..count {
            // The poses differ between observations, because unchanged objects are not sent again.
            let shift = Num(f64::from(k) * 1.234_567e-3);
            state.objects.0.iter_mut().take(moving).for_each(|(_, pose)| (pose.x, pose.yaw) = (shift, shift));
            judge.observe(false, &state);
            answer(&mut judge)?;
        }
        let each = begun.elapsed().as_secs_f64() / f64::from(count);
        let what = format!("{objects} objects, {moving} moving");
        report.add(format!("observations a second, {what}"), 1.0 / each, "", Goal::AtLeast(3000.0));
        report.add(format!("cost of an observation, {what}"), each * 1e6, "µs", Goal::None);
    }
    Ok(())
}

/// Measures the whole program: one judged session at maximum speed, and sessions back to back.
fn whole(program: &Path, quick: bool, report: &mut Report) -> Result<(), BenchError> {
    let sessions = if quick { 5 } else { 20 };
    let folder = std::env::temp_dir().join(format!("chicane-bench-judge-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let script = folder.join("script.py");
    std::fs::write(&script, READER)?;
    let mut command = Command::new(program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--speed", "0", "--log-level", "warn"]);
    command.args(["--world", "technical"]);
    command.arg("--data-dir").arg(folder.join("data")).arg("--judge-script").arg(&script);
    let mut child = KillOnDrop(command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn()?);
    let output = child.0.stdout.take().ok_or("the server has no stdout")?;
    let line = BufReader::new(output).lines().next().ok_or("the server exited before it was ready")??;
    let address = line
        .strip_prefix("chicane is ready: http://")
        .and_then(|l| l.split('/').next())
        .ok_or("the server's first line is not its ready line")?;
    let mut client = Client::new(address.parse()?);
    let wall = session(&mut client, 60.0)?;
    report.add("judging runs at, real-time factor", 60.0 / wall.as_secs_f64(), "", Goal::AtLeast(20.0));
    let begun = Instant::now();
    for _ in 0..sessions {
        session(&mut client, 1.0)?;
    }
    let hour = 3600.0 / (begun.elapsed().as_secs_f64() / f64::from(sessions));
    report.add("sessions an hour, a second each", hour, "", Goal::None);
    drop(child);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Runs a session of `limit_s` simulated seconds. Returns the real duration of the session.
fn session(client: &mut Client, limit_s: f64) -> Result<Duration, BenchError> {
    let begun = Instant::now();
    let started = client.post("/sim/api/evaluation/start", &json!({"time_limit_s": limit_s}).to_string());
    if started.status != 200 {
        return Err(started.text().into());
    }
    loop {
        let now: Value = serde_json::from_slice(&client.get("/sim/api/evaluation/session").body)?;
        if now["active"] == false {
            let outcome = &now["session"]["outcome"];
            return if outcome == "timeout" { Ok(begun.elapsed()) } else { Err(now.to_string().into()) };
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A child process that is killed when the value is dropped.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the judge has answered a call.
fn answer(judge: &mut Judge) -> Result<(), BenchError> {
    loop {
        match judge.next_event() {
            Some(JudgeEvent::Message(JudgeSaid::Answer { .. })) => return Ok(()),
            Some(JudgeEvent::Message(JudgeSaid::Record { .. }) | JudgeEvent::Line(_)) => {}
            Some(other) => return Err(format!("{other:?}").into()),
            None => judge.wait(Duration::from_millis(20)),
        }
    }
}

/// The static data of a session with an empty world.
fn statics(script: &str) -> Result<Statics, BenchError> {
    Ok(Statics {
        script: script.to_owned(),
        config: serde_json::value::RawValue::from_string("{}".to_owned())?,
        track: JudgeTrack { waypoints: Vec::new(), inner: None, outer: None, bounds: None },
        objects: Named(Vec::new()),
        seed: 0,
    })
}

/// An observation with this many objects.
fn observation(objects: usize) -> Observation {
    let n = Num(1.234_567);
    let pose = Pose { x: n, y: n, z: n, roll: n, pitch: n, yaw: n, q: [n; 4] };
    Observation {
        time: n,
        paused: false,
        rtf: n,
        brightness: n,
        pose: VehiclePose { pose, speed: n, steering: n, pan: n, tilt: n },
        objects: Named((0..objects).map(|k| (Arc::from(format!("object{k}")), pose)).collect()),
        lights: Named(Vec::new()),
        contacts: Vec::new(),
        run: RunState::default(),
        audio: JudgeAudio::default(),
    }
}
