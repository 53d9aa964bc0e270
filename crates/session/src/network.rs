//! The judge's way to the internet: slirp4netns, a network stack in an ordinary process.
//!
//! It joins the judge's own network namespace to the host's sockets and lets nobody through to the host's
//! loopback. Whatever else must not be reached is forbidden by routes inside (`jail/net.rs`).

use crate::wake::wait_for;
use rustix::event::PollFlags;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// How long it may take to come up.
const PATIENCE: Duration = Duration::from_secs(5);

/// How to make networks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Words that start slirp4netns.
    pub command: Vec<PathBuf>,
}

/// Why a judge has no network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The socket that ends slirp4netns could not be made.
    #[error("no socket could be made: {0}")]
    Socket(#[source] rustix::io::Errno),
    /// `Network::command` is empty.
    #[error("no command makes networks")]
    NoCommand,
    /// slirp4netns could not be started.
    #[error("slirp4netns can't be started: {0}")]
    Start(#[source] std::io::Error),
    /// The error output of slirp4netns was already taken.
    #[error("slirp4netns has no output")]
    NoOutput,
    /// slirp4netns ended, or did not report that it is ready in time. Holds its last line.
    #[error("slirp4netns could not make a network for the judge: {0}")]
    NotReady(String),
}

/// A network that a judge has, or will have in a moment; gone when dropped.
#[derive(Debug)]
pub(crate) struct Uplink {
    process: Child,
    said: Option<ChildStderr>,
    _lifeline: OwnedFd,
}

impl Network {
    /// slirp4netns of the machine, or the one that was prepared with the judge's root.
    pub fn find(tools: &Path) -> Option<Network> {
        if !Path::new("/dev/net/tun").exists() {
            return None;
        }
        if let Some(own) = on_path("slirp4netns") {
            return Some(Network { command: vec![own] });
        }
        let prepared = tools.join("usr/bin/slirp4netns");
        let loader = crate::root::loader(tools)?;
        let libraries = crate::root::library_path(tools);
        prepared
            .is_file()
            .then(|| Network { command: vec![loader, "--library-path".into(), libraries.into(), prepared] })
    }

    /// Begins to give the namespace of a process a network.
    pub(crate) fn connect(&self, pid: u32) -> Result<Uplink, NetworkError> {
        let (lifeline, inside) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .map_err(NetworkError::Socket)?;
        let (first, rest) = self.command.split_first().ok_or(NetworkError::NoCommand)?;
        let mut command = Command::new(first);
        command.args(rest).args(["--configure", "--mtu=65520", "--disable-host-loopback"]);
        // It ends when the lifeline closes. It says that it is ready where others say what went wrong.
        command.args(["--exit-fd=0", "--ready-fd=2", &pid.to_string(), "tap0"]);
        command.stdin(inside).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(NetworkError::Start)?;
        drop(command);
        let said = process.stderr.take();
        Ok(Uplink { process, said, _lifeline: lifeline })
    }
}

impl Uplink {
    /// Waits until it is there.
    pub(crate) fn wait(&mut self) -> Result<(), NetworkError> {
        wait_until_ready(self.said.take())
    }
}

/// Where a program of the machine is.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A line that is `1`, or begins with it, means ready.
fn wait_until_ready(said: Option<ChildStderr>) -> Result<(), NetworkError> {
    let failed = |said: &[u8]| {
        let said = String::from_utf8_lossy(said);
        NetworkError::NotReady(said.lines().last().unwrap_or("it said nothing").to_owned())
    };
    let said = said.ok_or(NetworkError::NoOutput)?;
    let deadline = Instant::now() + PATIENCE;
    let mut all = Vec::new();
    while Instant::now() < deadline && all.len() < 1 << 16 {
        let _ = wait_for(&[(said.as_fd(), PollFlags::IN)], PATIENCE);
        let mut piece = [0u8; 1024];
        match rustix::io::read(&said, &mut piece) {
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

/// The host's own addresses, which a judge must not reach.
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
