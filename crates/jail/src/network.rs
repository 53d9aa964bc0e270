//! The internet access of a judge or a student's box through slirp4netns, a network stack in an
//! ordinary process.
//!
//! slirp4netns forwards the connections of the jail's network namespace through sockets of the
//! host. It blocks the host's loopback. Routes inside the namespace block the other forbidden
//! addresses (`net.rs`).

use crate::ask::ask;
use crate::wake::wait_for;
use rustix::event::PollFlags;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::ffi::OsStr;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// How long slirp4netns may take to start.
const READY_TIMEOUT: Duration = Duration::from_secs(30);

/// How slirp4netns is started on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// The program and its first arguments.
    pub command: Vec<PathBuf>,
    /// The options of `PROTECTION` that this version of slirp4netns has.
    pub protection: Vec<&'static str>,
}

/// Options with which slirp4netns limits its own rights: it sees almost no file, has no privileges,
/// and can make only the system calls that it needs. Otherwise a program in a jail could send a
/// malicious packet, exploit an error in slirp4netns, and get the rights of the simulator's user.
const PROTECTION: [(&str, &str); 2] = [("--enable-sandbox", "sandbox"), ("--enable-seccomp", "seccomp")];
/// How long slirp4netns may take to print its options.
const HELP_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a jail has no network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The kill-on-close socket could not be created.
    #[error("the socket of slirp4netns can't be created: {0}")]
    Socket(#[source] rustix::io::Errno),
    /// `Network::command` is empty.
    #[error("there is no command for slirp4netns")]
    NoCommand,
    /// slirp4netns could not be started.
    #[error("slirp4netns can't be started: {0}")]
    Start(#[source] std::io::Error),
    /// slirp4netns ended, or did not report in time that it is ready. Holds its last line.
    #[error("slirp4netns could not set up a network: {0}")]
    NotReady(String),
}

/// The network of one jail. Dropping it ends slirp4netns.
#[derive(Debug)]
pub struct Uplink {
    process: Child,
    /// The error output of slirp4netns. `None` after it was read for the readiness report.
    stderr: Option<ChildStderr>,
    /// The kill-on-close socket: slirp4netns ends when this end closes. The kernel closes it even
    /// if the simulator is killed.
    _kill_on_close: OwnedFd,
}

impl Network {
    /// Finds slirp4netns on the `PATH`, or else in the prepared tools of the judge's root. `None`
    /// if slirp4netns or `/dev/net/tun` is missing.
    pub fn find(tools: &Path) -> Option<Network> {
        if !Path::new("/dev/net/tun").exists() {
            return None;
        }
        if let Some(own) = on_path("slirp4netns") {
            return Some(Network::with(vec![own]));
        }
        let prepared = tools.join("usr/bin/slirp4netns");
        let loader = crate::root::loader(tools)?;
        let libraries = crate::root::library_path(tools);
        prepared
            .is_file()
            .then(|| Network::with(vec![loader, "--library-path".into(), libraries.into(), prepared]))
    }

    /// Finds out which options of `PROTECTION` this slirp4netns has.
    fn with(command: Vec<PathBuf>) -> Network {
        let help = command.split_first().and_then(|(first, rest)| {
            let arguments = rest.iter().map(|part| part.as_os_str()).chain([OsStr::new("--help")]);
            ask(first, arguments, HELP_TIMEOUT).ok()
        });
        let help = help.map(|said| said.output + &said.error).unwrap_or_default();
        let has = |option: &&str| help.split_whitespace().any(|word| word == *option);
        let protection: Vec<&str> = PROTECTION.iter().map(|(option, _)| *option).filter(has).collect();
        let network = Network { command, protection };
        if network.protection.len() < PROTECTION.len() {
            tracing::warn!("the network of judging scripts is {}: update slirp4netns", network.describe());
        }
        network
    }

    /// Describes how slirp4netns protects the host, for people.
    pub fn describe(&self) -> String {
        let part = |(option, name): &(&str, &str)| {
            let with = if self.protection.contains(option) { "with" } else { "WITHOUT" };
            format!("{with} {name}")
        };
        format!("slirp4netns {}", PROTECTION.iter().map(part).collect::<Vec<_>>().join(" and "))
    }

    /// Starts slirp4netns for the network namespace of a process.
    pub fn connect(&self, pid: u32) -> Result<Uplink, NetworkError> {
        let (kill_on_close, inside) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .map_err(NetworkError::Socket)?;
        let (first, rest) = self.command.split_first().ok_or(NetworkError::NoCommand)?;
        let mut command = Command::new(first);
        command.args(rest).args(["--configure", "--mtu=65520", "--disable-host-loopback"]);
        command.args(&self.protection);
        // slirp4netns ends when `kill_on_close`, the other end of its descriptor 0, closes.
        // slirp4netns reports on descriptor 2 that it is ready.
        command.args(["--exit-fd=0", "--ready-fd=2", &pid.to_string(), "tap0"]);
        command.stdin(inside).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(NetworkError::Start)?;
        drop(command);
        let stderr = process.stderr.take();
        Ok(Uplink { process, stderr, _kill_on_close: kill_on_close })
    }
}

impl Uplink {
    /// Whether slirp4netns still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Waits until the network is ready. Later calls return at once.
    pub fn wait(&mut self) -> Result<(), NetworkError> {
        self.stderr.take().map_or(Ok(()), wait_until_ready)
    }
}

/// Finds a program on the `PATH`.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Reads until a line begins with `1`, with which slirp4netns reports that it is ready.
fn wait_until_ready(stderr: ChildStderr) -> Result<(), NetworkError> {
    let failed = |said: &[u8]| {
        let said = String::from_utf8_lossy(said);
        NetworkError::NotReady(said.lines().last().unwrap_or("no output").to_owned())
    };
    let deadline = Instant::now() + READY_TIMEOUT;
    let mut all = Vec::new();
    while Instant::now() < deadline && all.len() < 1 << 16 {
        let left = deadline.saturating_duration_since(Instant::now());
        if wait_for(&[(stderr.as_fd(), PollFlags::IN)], left) != [true] {
            break;
        }
        let mut piece = [0u8; 1024];
        match rustix::io::read(&stderr, &mut piece) {
            Ok(0) | Err(_) => break,
            Ok(n) => all.extend_from_slice(&piece[..n]),
        }
        if all.starts_with(b"1") || all.windows(2).any(|two| two == b"\n1") {
            return Ok(());
        }
    }
    Err(failed(&all))
}

impl Drop for Uplink {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The IPv4 addresses of this machine, without loopback, each with the prefix length 32. A
/// program in a jail with its own network must not reach them.
pub fn own_addresses() -> Vec<(Ipv4Addr, u8)> {
    let table = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
    let mut addresses = Vec::new();
    let mut last = None;
    for line in table.lines() {
        let line = line.trim();
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.parse::<Ipv4Addr>().ok();
        } else if line == "/32 host LOCAL"
            && let Some(address) = last.filter(|a| !a.is_loopback())
            && !addresses.contains(&(address, 32))
        {
            addresses.push((address, 32));
        }
    }
    addresses
}
