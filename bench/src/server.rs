//! The program under test: started, looked at, stopped.

use crate::Broken;
use crate::client::{Client, get};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A `chicane serve` that runs until it is stopped or dropped.
pub struct Server {
    child: Child,
    data_dir: PathBuf,
    /// Where it listens.
    pub address: SocketAddr,
    /// From the start of the process to its ready line.
    pub start: Duration,
}

impl Server {
    /// Starts it, and waits until it is ready.
    pub async fn start(program: &Path) -> Result<Server, Broken> {
        Server::start_with(program, &[]).await
    }

    /// The same with more words on its command line.
    pub async fn start_with(program: &Path, words: &[&str]) -> Result<Server, Broken> {
        let program = program.to_owned();
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        tokio::task::spawn_blocking(move || Server::start_now(&program, &words)).await?
    }

    fn start_now(program: &Path, words: &[String]) -> Result<Server, Broken> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let data_dir = std::env::temp_dir().join(format!("chicane-bench-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&data_dir)?;
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CHICANE") {
                command.env_remove(name);
            }
        }
        command.args(["serve", "--listen", "127.0.0.1:0", "--speed", "1", "--log-level", "warn"]);
        command.args(words).arg("--data-dir").arg(&data_dir).stdout(Stdio::piped()).stdin(Stdio::null());
        let started = Instant::now();
        let child = command.spawn().map_err(|e| format!("{} can't be started: {e}", program.display()))?;
        let unknown = SocketAddr::from(([0; 4], 0));
        let mut server = Server { child, data_dir, address: unknown, start: Duration::ZERO };
        let stdout = server.child.stdout.take().ok_or("no standard output")?;
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            if let Some(address) = line.strip_prefix("chicane is ready: http://") {
                server.start = started.elapsed();
                server.address = address.split('/').next().unwrap_or_default().parse()?;
                return Ok(server);
            }
        }
        Err("the program ended before it was ready".into())
    }

    /// Its data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// A client with a connection of its own.
    pub async fn connect(&self) -> Result<Client, Broken> {
        Client::connect(self.address).await
    }

    /// Resident memory of the process, bytes.
    pub fn memory(&self) -> Result<f64, Broken> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
        let kib = line.and_then(|l| l.split_whitespace().next()).ok_or("no VmRSS in /proc/<pid>/status")?;
        Ok(kib.parse::<f64>()? * 1024.0)
    }

    /// Seconds of processor time that it used so far.
    pub fn cpu(&self) -> Result<f64, Broken> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // After the name, which may hold anything, in brackets: user time is the 12th field.
        let rest = stat.rsplit(')').next().unwrap_or_default();
        let times = rest.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        let ticks: f64 = times.collect::<Result<Vec<_>, _>>()?.iter().sum();
        Ok(ticks / rustix::param::clock_ticks_per_second() as f64)
    }

    /// Simulated and real time, by its own clock.
    pub async fn clock(&self) -> Result<(f64, f64), Broken> {
        let mut client = self.connect().await?;
        let clock: serde_json::Value = serde_json::from_slice(client.ask(&get("/clock")).await?)?;
        let time = |name: &str| clock[name].as_f64().ok_or("no such time");
        Ok((time("sim_time")?, time("real_time")?))
    }

    /// Asks it to end and waits until it did.
    pub async fn stop(mut self) -> Result<(), Broken> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        for _ in 0..1000 {
            if let Some(status) = self.child.try_wait()? {
                return if status.success() { Ok(()) } else { Err(format!("it ended: {status}").into()) };
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Err("it did not end within 10 s of being asked to".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that ended already is no matter.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.data_dir);
    }
}
