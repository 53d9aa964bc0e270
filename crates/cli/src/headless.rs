//! `chicane evaluate` and `chicane judge`: one evaluation without a window, from start to verdict.
//!
//! Both run a simulator in this process. It opens a port only for a student's program, which drives
//! the car through the web API. The exit status is 0 for `finished`, 2 `timeout`, 3 `script_error`,
//! 4 `stopped`, 5 `unsupported`, and 1 if the evaluation could not be started.

use crate::cli::{Evaluate, Judge, JudgeBy};
use chicane_host::{DriveAt, Host, HostOptions, JudgeOptions, Prepared, StudentAccess};
use chicane_server::{Options, Server};
use chicane_sim::TICKS_PER_SECOND;
use chicane_wire::{Record, Session, StartRequest};
use chicane_world::Profile;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often it looks how things stand.
const LOOK: Duration = Duration::from_millis(50);

/// What is to be done.
struct Job {
    world: String,
    request: StartRequest,
    drive: Vec<DriveAt>,
    script: Option<String>,
    speed: f64,
    workspace: PathBuf,
    data_dir: Option<PathBuf>,
    /// The whole record and nothing else is printed.
    json: bool,
    judge: JudgeBy,
}

/// One evaluation of a student's program.
pub(crate) fn evaluate(asked: &Evaluate) -> Result<u8, String> {
    run(Job {
        world: asked.world.clone(),
        request: StartRequest {
            command: asked.command.clone(),
            time_limit_s: asked.time_limit,
            seed: asked.seed,
        },
        drive: asked.drive.as_deref().map(read_drive).transpose()?.unwrap_or_default(),
        script: None,
        speed: asked.speed,
        workspace: asked.workspace.clone(),
        data_dir: asked.data_dir.clone(),
        json: asked.json,
        judge: asked.judge.clone(),
    })
}

/// A judging script, tried on a recorded drive.
pub(crate) fn judge(asked: &Judge) -> Result<u8, String> {
    let script = std::fs::read_to_string(&asked.script)
        .map_err(|e| format!("{} can't be read: {e}", asked.script.display()))?;
    run(Job {
        world: asked.world.clone(),
        request: StartRequest { command: None, time_limit_s: asked.time_limit, seed: asked.seed },
        drive: read_drive(&asked.drive)?,
        script: Some(script),
        speed: 0.0,
        workspace: ".".into(),
        data_dir: None,
        json: asked.json,
        judge: asked.judge.clone(),
    })
}

fn run(job: Job) -> Result<u8, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| format!("can't start: {e}"))?;
    let scratch = Scratch::new()?;
    let done = runtime.block_on(carry_out(&job, job.data_dir.as_deref().unwrap_or(&scratch.0)));
    runtime.shutdown_background();
    done
}

async fn carry_out(job: &Job, data_dir: &Path) -> Result<u8, String> {
    let (library, world) = crate::which::find(&job.world)?;
    let workspace = crate::serve::workspace(&job.workspace)?;
    let options = HostOptions {
        data_dir: data_dir.to_owned(),
        world: Some(world),
        profile: Profile::gen1(),
        speed: job.speed,
        workspace,
        library,
        judge: JudgeOptions {
            script: job.script.clone(),
            engine: job.judge.engine()?,
            ..JudgeOptions::default()
        },
    };
    let simulator = Simulator::start(options, job.request.command.is_some()).await?;
    let ended = watch(job, simulator.host()).await;
    simulator.stop().await;
    let record = ended?;
    if job.json {
        let text = serde_json::to_string(&record).map_err(|e| e.to_string())?;
        println!("{text}");
    } else {
        println!("{}", verdict(&record));
    }
    Ok(exit_status(&record))
}

/// A simulator for one evaluation.
enum Simulator {
    /// With a web server, for a student's program.
    Web(Box<Server>),
    /// Without any port.
    Local(Arc<Host>),
}

impl Simulator {
    async fn start(host: HostOptions, needs_web: bool) -> Result<Simulator, String> {
        if needs_web {
            let server = Server::start(Options { host, ..Options::default() }).await;
            return server.map(|server| Simulator::Web(Box::new(server))).map_err(|e| e.to_string());
        }
        let access = StudentAccess { loopback_only: true, ..StudentAccess::default() };
        let host = Prepared::new(host).and_then(|prepared| prepared.start(access));
        host.map(Simulator::Local).map_err(|e| e.to_string())
    }

    fn host(&self) -> &Host {
        match self {
            Simulator::Web(server) => server.host(),
            Simulator::Local(host) => host,
        }
    }

    async fn stop(self) {
        match self {
            Simulator::Web(server) => server.stop().await,
            Simulator::Local(host) => {
                host.stop().await;
                host.finish().await;
            }
        }
    }
}

/// Follows a session to its end.
async fn watch(job: &Job, host: &Host) -> Result<Record, String> {
    host.ready().await.map_err(|e| e.to_string())?;
    let id = host.evaluate(job.request.clone(), job.drive.clone()).await.map_err(|e| e.to_string())?;
    let mut told = Told::default();
    loop {
        let ended = host.session_ended();
        tokio::select! {
            () = ended => {}
            () = tokio::time::sleep(LOOK) => {}
            _ = tokio::signal::ctrl_c() => host.stop_session().await,
        }
        let now = host.session();
        if let Some(session) = &now.session {
            told.tell(job, session, host, &id);
        }
        if !now.active {
            told.clear();
            return host
                .record(&id)
                .map_err(|e| e.to_string())?
                .ok_or_else(|| "the record is gone".to_owned());
        }
    }
}

/// What was shown already.
#[derive(Default)]
struct Told {
    phase: &'static str,
    lines: usize,
}

impl Told {
    fn tell(&mut self, job: &Job, session: &Session, host: &Host, id: &str) {
        let mut out = std::io::stderr();
        if !job.json
            && let Ok(lines) = host.log(id, self.lines)
        {
            for line in &lines {
                self.clear();
                println!("{line}");
            }
            self.lines += lines.len();
        }
        if out.is_terminal() {
            let record =
                if session.record.is_null() { String::new() } else { format!("  record {}", session.record) };
            let record: String = record.chars().take(60).collect();
            let text = format!("{:<12} {:>8.2} s{record}", session.phase, session.elapsed_s.0);
            let _ = write!(out, "\r{text:<90}\r").and_then(|()| out.flush());
        } else if session.phase != self.phase {
            let _ = writeln!(out, "{} at {:.2} s", session.phase, session.elapsed_s.0);
        }
        self.phase = session.phase;
    }

    fn clear(&self) {
        let mut out = std::io::stderr();
        if out.is_terminal() {
            let _ = write!(out, "\r{:<90}\r", "").and_then(|()| out.flush());
        }
    }
}

fn verdict(record: &Record) -> String {
    let outcome = record.outcome.as_deref().unwrap_or("unknown");
    let reason = record.reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default();
    format!("{outcome}{reason}\nrecord {} after {:.3} s", record.record, record.elapsed_s.0)
}

fn exit_status(record: &Record) -> u8 {
    match record.outcome.as_deref() {
        Some("finished") => 0,
        Some("timeout") => 2,
        Some("script_error") => 3,
        Some("stopped") => 4,
        Some("unsupported") => 5,
        _ => 1,
    }
}

/// Drive commands from a file: seconds, speed and steering on a line, by spaces or commas; `#` begins a comment.
fn read_drive(file: &Path) -> Result<Vec<DriveAt>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{} can't be read: {e}", file.display()))?;
    parse_drive(&text).map_err(|(line, why)| format!("{}:{line}: {why}", file.display()))
}

fn parse_drive(text: &str) -> Result<Vec<DriveAt>, (usize, String)> {
    let mut all: Vec<DriveAt> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() || (number == 0 && line.starts_with(char::is_alphabetic)) {
            continue;
        }
        let wrong = |why: &str| (number + 1, why.to_owned());
        let numbers: Result<Vec<f64>, _> =
            line.split([',', ' ', '\t', ';']).filter(|part| !part.is_empty()).map(str::parse).collect();
        let numbers = numbers.ok().filter(|n| n.iter().all(|v| v.is_finite()));
        let Some([time_s, speed, steering]) = numbers.as_deref() else {
            return Err(wrong("a line is seconds, speed and steering, such as 0.5, 1.0, -0.1"));
        };
        if !(0.0..=3600.0).contains(time_s) {
            return Err(wrong("seconds are from 0 to 3600"));
        }
        let tick = (time_s * TICKS_PER_SECOND as f64).round() as u64;
        if all.last().is_some_and(|last| last.tick > tick) {
            return Err(wrong("lines are in the order of their seconds"));
        }
        all.push(DriveAt { tick, speed: *speed, steering: *steering });
    }
    Ok(all)
}

/// A folder that is gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, String> {
        // A name that nobody can guess, and a folder that nobody else made: it holds what the program keeps.
        let number = getrandom::u64().map_err(|e| format!("no random number: {e}"))?;
        let folder = std::env::temp_dir().join(format!("chicane-evaluate-{number:016x}"));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|e| format!("{} can't be made: {e}", folder.display()))?;
        Ok(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_are_read_with_the_line_of_what_is_wrong() {
        let all = parse_drive("time,speed,steering\n0, 1, 0\n# then\n0.5 0.8\t-0.2 # left\n").expect("read");
        let expected = [
            DriveAt { tick: 0, speed: 1.0, steering: 0.0 },
            DriveAt { tick: 100, speed: 0.8, steering: -0.2 },
        ];
        assert_eq!(all, expected);
        assert_eq!(parse_drive("").expect("nothing"), []);
        for (text, line) in
            [("0 1", 1), ("0 1 0\nx 1 0", 2), ("1 1 0\n0 1 0", 2), ("0 NaN 0", 1), ("-1 1 0", 1)]
        {
            assert_eq!(parse_drive(text).expect_err("wrong").0, line, "{text}");
        }
    }
}
