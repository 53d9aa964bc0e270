//! Runs `chicane serve` as a child process, and reads its memory and processor time.

use crate::BenchError;
use crate::client::{Client, get};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A running `chicane serve`. When the value is dropped, the process is killed and its data folder
/// is deleted.
pub struct Server {
    child: Child,
    data_dir: PathBuf,
    /// Address that the server listens on.
    pub address: SocketAddr,
    /// Time from the start of the process to its ready line.
    pub start: Duration,
}

impl Server {
    /// Starts the server and waits until it is ready.
    pub async fn start(program: &Path) -> Result<Server, BenchError> {
        Server::start_with(program, &[]).await
    }

    /// Starts the server with additional command line arguments and waits until it is ready.
    pub async fn start_with(program: &Path, args: &[&str]) -> Result<Server, BenchError> {
        let program = program.to_owned();
        let args: Vec<String> = args.iter().map(|w| (*w).to_owned()).collect();
        tokio::task::spawn_blocking(move || Server::start_now(&program, &args)).await?
    }

    fn start_now(program: &Path, args: &[String]) -> Result<Server, BenchError> {
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
        command.args(args).arg("--data-dir").arg(&data_dir).stdout(Stdio::piped()).stdin(Stdio::null());
        let started = Instant::now();
        let child = command.spawn().map_err(|e| format!("cannot start {}: {e}", program.display()))?;
        let unknown = SocketAddr::from(([0; 4], 0));
        let mut server = Server { child, data_dir, address: unknown, start: Duration::ZERO };
        let stdout = server.child.stdout.take().ok_or("the server has no stdout")?;
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            if let Some(address) = line.strip_prefix("chicane is ready: http://") {
                server.start = started.elapsed();
                server.address = address.split('/').next().unwrap_or_default().parse()?;
                return Ok(server);
            }
        }
        Err("the server exited before it was ready".into())
    }

    /// Data folder of the server.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Opens a new connection to the server.
    pub async fn connect(&self) -> Result<Client, BenchError> {
        Client::connect(self.address).await
    }

    /// Resident memory of the server, bytes.
    pub fn memory(&self) -> Result<f64, BenchError> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
        let kib = line.and_then(|l| l.split_whitespace().next()).ok_or("no VmRSS in /proc/<pid>/status")?;
        Ok(kib.parse::<f64>()? * 1024.0)
    }

    /// Processor time that the server has used so far, s.
    pub fn cpu(&self) -> Result<f64, BenchError> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The process name is in brackets and may contain spaces, so fields are counted after the
        // closing bracket. User time and system time are the 12th and 13th fields after the
        // bracket.
        let rest = stat.rsplit(')').next().unwrap_or_default();
        let times = rest.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        let ticks: f64 = times.collect::<Result<Vec<_>, _>>()?.iter().sum();
        Ok(ticks / rustix::param::clock_ticks_per_second() as f64)
    }

    /// Simulated and real time of the server's clock, s.
    pub async fn clock(&self) -> Result<(f64, f64), BenchError> {
        let mut client = self.connect().await?;
        let clock: serde_json::Value = serde_json::from_slice(client.ask(&get("/clock")).await?)?;
        let time = |name: &str| clock[name].as_f64().ok_or_else(|| format!("no {name} in /clock"));
        Ok((time("sim_time")?, time("real_time")?))
    }

    /// Sends SIGTERM and waits until the server has exited. Fails if the server still runs after
    /// 10 s, or if its exit status is not 0.
    pub async fn stop(mut self) -> Result<(), BenchError> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        for _ in 0..1000 {
            if let Some(status) = self.child.try_wait()? {
                return if status.success() {
                    Ok(())
                } else {
                    Err(format!("the server failed: {status}").into())
                };
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Err("the server did not exit within 10 s of SIGTERM".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Errors are ignored, because the process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.data_dir);
    }
}
