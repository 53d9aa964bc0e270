//! Benchmark of the judge. It measures the start time of a container and of a closed box, the copy
//! of a workspace, sessions per hour, how many observations per second a script can read,
//! programs in virtual time, and recorded runs.
//!
//! Usage: `judge [--json <file>] [--quick] [--only <part>]… [<path of chicane>]`.
//!
//! To compare with an older build, give the folder with its programs `judge` and `chicane` in the
//! environment variable `CHICANE_BEFORE`. The older benchmark then runs first, on the same machine
//! and under the same load, and its figures are printed as `before: …`.
#![allow(clippy::disallowed_methods)]

mod journals;
mod virtual_time;

use chicane_bench::options::Options;
use chicane_bench::report::{Goal, Report, quantile};
use chicane_bench::{BenchError, exit_code};
use chicane_session::{
    BoxOptions, Judge, JudgeEvent, Launcher, Setting, SettingOptions, StudentProgram, copy_workspace,
    measure_box, root,
};
use chicane_testkit::http::Client;
use chicane_wire::{
    BoxKind, JudgeAudio, JudgeCall, JudgeSaid, JudgeTrack, Named, Num, Observation, Pose, RunState, Statics,
    VehiclePose,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
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

/// A function that measures a part and adds its figures to the report.
type Measure = fn(&Bench, &mut Report) -> Result<(), BenchError>;
/// The parts that `--only` selects, with the functions that measure them.
const PARTS: [(&str, Measure); 7] = [
    ("start", starts),
    ("box", boxes),
    ("copy", copies),
    ("observations", observations),
    ("sessions", whole),
    ("virtual", virtual_time::measure),
    ("journal", journals::measure),
];
/// Number of measurements per figure. The figure is their median. A start time has twice this
/// number of measurements, because the 99th percentile of start times is reported too.
const ROUNDS: usize = 25;

/// The data that all parts use.
struct Bench {
    program: PathBuf,
    setting: Setting,
    quick: bool,
}

fn main() -> ExitCode {
    exit_code("judge", run())
}

fn run() -> Result<(), BenchError> {
    let options = Options::read(&PARTS.map(|(name, _)| name))?;
    let program = std::path::absolute(options.program()?)?;
    let setting = Setting::find(&SettingOptions {
        launcher: Launcher::open(&program)?,
        folder: root::folder()?,
        isolation: None,
        engine: None,
    })?;
    eprintln!("{}", setting.describe(setting.jail_isolation()));
    let mut report = Report::default();
    let wanted: Vec<_> = PARTS.iter().filter(|(name, _)| options.wants(name)).collect();
    if let Some(folder) = std::env::var_os("CHICANE_BEFORE") {
        let names: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
        before(Path::new(&folder), &names, &mut report)?;
    }
    let bench = Bench { program, setting, quick: options.quick };
    for (_, measure) in wanted {
        measure(&bench, &mut report)?;
    }
    bench.setting.close();
    report.print();
    if let Some(file) = &options.json {
        std::fs::write(file, report.json())?;
    }
    Ok(())
}

/// Runs the benchmark of an older build and adds its figures.
fn before(folder: &Path, parts: &[&str], report: &mut Report) -> Result<(), BenchError> {
    let file = std::env::temp_dir().join(format!("chicane-bench-before-{}.json", std::process::id()));
    let mut command = Command::new(folder.join("judge"));
    command.env_remove("CHICANE_BEFORE").arg("--json").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
    command.args(parts.iter().flat_map(|part| ["--only", part])).arg(folder.join("chicane"));
    let ended = command.status()?;
    if !ended.success() {
        return Err(format!("{} failed: {ended}", folder.join("judge").display()).into());
    }
    let figures: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    std::fs::remove_file(&file)?;
    for row in figures["figures"].as_array().into_iter().flatten() {
        let (name, figure) = (row["name"].as_str().unwrap_or_default(), row["figure"].as_f64());
        let unit = ["ms", "µs"].into_iter().find(|unit| row["unit"] == *unit).unwrap_or_default();
        report.add(format!("before: {name}"), figure.unwrap_or(f64::NAN), unit, Goal::None);
    }
    Ok(())
}

/// Measures the time from the request for a judge until the harness has answered the call
/// `initialize`. The judge is either prepared in advance, as in a session, or new.
fn starts(bench: &Bench, report: &mut Report) -> Result<(), BenchError> {
    for (name, prepared, goal) in [
        ("container start to initialize", true, Goal::AtMost(40.0)),
        ("the same without a prepared container", false, Goal::None),
    ] {
        let mut times = Vec::new();
        for _ in 0..2 * ROUNDS {
            if prepared {
                bench.setting.prepare_judge();
                wait_until_prepared(&bench.setting)?;
            }
            let begun = Instant::now();
            let mut judge =
                if prepared { bench.setting.take_judge()? } else { Judge::start(&bench.setting)? };
            judge.call(&JudgeCall::Load(&statics("def evaluate(sim): pass\n")?));
            answer(&mut judge)?;
            judge.observe(true, &observation(10));
            answer(&mut judge)?;
            times.push(begun.elapsed());
        }
        report.add(format!("{name}, median"), quantile(&mut times, 0.5), "ms", goal);
        report.add(format!("{name}, p99"), quantile(&mut times, 0.99), "ms", Goal::None);
    }
    Ok(())
}

/// Measures the time from the request for a closed box to the start of its program, with a
/// workspace of one file.
fn boxes(bench: &Bench, report: &mut Report) -> Result<(), BenchError> {
    let folder = TempFolder::new("box")?;
    std::fs::write(folder.0.join("main.py"), "print('hello')\n")?;
    let mut times = Vec::new();
    for _ in 0..2 * ROUNDS {
        let program = StudentProgram {
            command: "python3 main.py".to_owned(),
            workspace: folder.0.clone(),
            environment: BTreeMap::new(),
            hide: Vec::new(),
            options: BoxOptions::new(BoxKind::Closed),
            port: Some(8000),
            virtual_time: None,
        };
        times.push(measure_box(&bench.setting, program)?);
    }
    report.add("start of a closed box, median", quantile(&mut times, 0.5), "ms", Goal::AtMost(60.0));
    report.add("start of a closed box, p99", quantile(&mut times, 0.99), "ms", Goal::None);
    Ok(())
}

/// Measures the copy of a workspace of 50 MB: 20 files of 2 MB, and 1,000 of 10 kB.
fn copies(_: &Bench, report: &mut Report) -> Result<(), BenchError> {
    let folder = TempFolder::new("copy")?;
    let from = folder.0.join("from");
    for (count, size) in [(20, 2_000_000), (1000, 10_000)] {
        let group = from.join(size.to_string());
        std::fs::create_dir_all(&group)?;
        for k in 0..count {
            std::fs::write(group.join(k.to_string()), vec![k as u8; size])?;
        }
    }
    let mut times = Vec::new();
    for k in 0..ROUNDS {
        // Closed boxes keep their files in memory, so the copies of this measurement are in memory
        // too.
        let to = PathBuf::from(format!("/dev/shm/chicane-bench-copy-{}-{k}", std::process::id()));
        std::fs::create_dir(&to)?;
        let begun = Instant::now();
        let copied = copy_workspace(&from, &to);
        times.push(begun.elapsed());
        std::fs::remove_dir_all(&to)?;
        copied?;
    }
    report.add("copy of a workspace of 50 MB, median", quantile(&mut times, 0.5), "ms", Goal::AtMost(300.0));
    Ok(())
}

/// A temporary folder that is removed on drop.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new(name: &str) -> Result<TempFolder, BenchError> {
        let folder = std::env::temp_dir().join(format!("chicane-bench-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(TempFolder(folder))
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn wait_until_prepared(setting: &Setting) -> Result<(), BenchError> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !setting.has_prepared_judge() {
        if Instant::now() > deadline {
            return Err("no judge was prepared within 30 s".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Measures how fast a judging script reads observations. No simulation runs.
fn observations(bench: &Bench, report: &mut Report) -> Result<(), BenchError> {
    for (objects, moving) in [(10, 10), (50, 5), (50, 50)] {
        let mut judge = Judge::start(&bench.setting)?;
        judge.call(&JudgeCall::Load(&statics(READER)?));
        answer(&mut judge)?;
        let mut state = observation(objects);
        let (mut times, count) = (Vec::new(), 400);
        for round in 0..ROUNDS as u32 {
            let begun = Instant::now();
            for k in 0..count {
                // The poses differ between observations, because unchanged objects are not sent
                // again.
                let shift = Num(f64::from(round * count + k) * 1.234_567e-3);
                let objects = state.objects.0.iter_mut();
                objects.take(moving).for_each(|(_, pose)| (pose.x, pose.yaw) = (shift, shift));
                judge.observe(false, &state);
                answer(&mut judge)?;
            }
            times.push(begun.elapsed() / count);
        }
        let each = quantile(&mut times, 0.5);
        let what = format!("{objects} objects, {moving} moving");
        report.add(format!("observations a second, {what}"), 1e3 / each, "", Goal::AtLeast(6000.0));
        report.add(format!("cost of an observation, {what}"), each * 1e3, "µs", Goal::None);
    }
    Ok(())
}

/// Measures the whole program: one judged session at maximum speed, and sessions back to back.
fn whole(bench: &Bench, report: &mut Report) -> Result<(), BenchError> {
    let sessions = if bench.quick { 5 } else { 20 };
    let folder = std::env::temp_dir().join(format!("chicane-bench-judge-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let script = folder.join("script.py");
    std::fs::write(&script, READER)?;
    let mut command = Command::new(&bench.program);
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
