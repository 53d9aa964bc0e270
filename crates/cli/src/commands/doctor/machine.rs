//! Checks of the machine: the data folder, its disk, the port, ROS 2, and other programs.
#![allow(clippy::disallowed_types, reason = "a check of multicast needs a socket")]

use super::Check;
use crate::args::DoctorArgs;
use chicane_remote::RunningSimulator;
use chicane_store::{OpenError, Records, free_space, has_database};
use rustix::fs::{Access, access};
use rustix::net::sockopt::set_ip_multicast_if;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Free space on the disk of the data folder, in bytes. If there is less, recordings and records
/// may soon fail.
const LITTLE_SPACE: u64 = 1 << 30;
/// Free space on the disk of the data folder, in bytes. If there is less, nothing can be stored
/// reliably.
const NO_SPACE: u64 = 100 << 20;
/// The multicast group with which DDS participants find each other.
const DDS_GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
/// Longest time that a multicast packet may take on this machine.
const MULTICAST_TIMEOUT: Duration = Duration::from_secs(1);
/// Oldest Python that the Python package supports.
const OLDEST_PYTHON: (u32, u32) = (3, 10);

pub(super) fn checks(args: &DoctorArgs, folder: &Path) -> Vec<Check> {
    vec![
        data_folder(folder),
        database(folder),
        disk(folder),
        port(args.listen, folder),
        multicast(),
        python(),
        ffmpeg(),
    ]
}

/// Returns `folder` if it exists, otherwise the nearest existing folder above it.
fn existing(folder: &Path) -> &Path {
    folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder)
}

fn data_folder(folder: &Path) -> Check {
    const NAME: &str = "data-folder";
    let remedy = "make it writable for this user, or choose another folder with --data-dir";
    let there = existing(folder);
    let shown = folder.display();
    if !there.is_dir() {
        return Check::failure(NAME, format!("{} is not a folder", there.display()), remedy);
    }
    match access(there, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) if there == folder => Check::ok(NAME, format!("{shown} is writable")),
        Ok(()) => Check::ok(NAME, format!("{shown} will be created")),
        Err(error) => Check::failure(NAME, format!("{} can't be used: {error}", there.display()), remedy),
    }
}

fn database(folder: &Path) -> Check {
    const NAME: &str = "database";
    match has_database(folder) {
        Ok(false) => return Check::ok(NAME, "there is none yet"),
        Err(error) => {
            let text = format!("{} can't be examined: {error}", folder.display());
            return Check::failure(NAME, text, "run chicane as the user who owns the folder");
        }
        Ok(true) => {}
    }
    match Records::open(folder) {
        Ok(_) => Check::ok(NAME, "it has the version of this program"),
        Err(OpenError::Older { found, known, .. }) => {
            Check::ok(NAME, format!("version {found}; the next start updates it to version {known}"))
        }
        Err(error @ OpenError::Newer { .. }) => {
            Check::failure(NAME, error.to_string(), "install the chicane that made it, or a newer one")
        }
        Err(error) => Check::failure(
            NAME,
            error.to_string(),
            "start `chicane serve`, which salvages a damaged database, or restore a backup with `chicane restore`",
        ),
    }
}

fn disk(folder: &Path) -> Check {
    const NAME: &str = "disk";
    let there = existing(folder);
    let space = match free_space(there) {
        Ok(space) => space,
        Err(error) => {
            let text = format!("the free space of {} is unknown: {error}", there.display());
            return Check::warning(NAME, text, "check the disk");
        }
    };
    let text = format!("{:.1} GiB are free in {}", space as f64 / f64::from(1 << 30), there.display());
    let remedy = "remove old recordings and backups, or choose a folder on another disk with --data-dir";
    match space {
        ..NO_SPACE => Check::failure(NAME, text, remedy),
        NO_SPACE..LITTLE_SPACE => Check::warning(NAME, text, remedy),
        _ => Check::ok(NAME, text),
    }
}

fn port(listen: SocketAddr, folder: &Path) -> Check {
    const NAME: &str = "port";
    let error = match TcpListener::bind(listen) {
        Ok(_) => return Check::ok(NAME, format!("{listen} is free")),
        Err(error) => error,
    };
    let pid = std::fs::read_to_string(folder.join("lock")).ok().and_then(|pid| pid.trim().parse().ok());
    let running: Option<RunningSimulator> = pid.and_then(|pid| RunningSimulator::read(folder, pid));
    if running.is_some_and(|running| running.address.port() == listen.port()) {
        return Check::ok(NAME, format!("{listen} is used by the simulator of this data folder"));
    }
    let remedy = match error.kind() {
        ErrorKind::AddrInUse => "stop the other program, or choose another port with --listen",
        ErrorKind::PermissionDenied => "choose a port above 1023 with --listen",
        _ => "choose an address of this machine with --listen",
    };
    Check::failure(NAME, format!("{listen} can't be used: {error}"), remedy)
}

/// Sends a packet to the multicast group of DDS on the loopback interface, and checks that the
/// packet arrives.
fn multicast() -> Check {
    const NAME: &str = "ros-multicast";
    let sent = || -> std::io::Result<()> {
        let receiver = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        receiver.join_multicast_v4(&DDS_GROUP, &Ipv4Addr::LOCALHOST)?;
        receiver.set_read_timeout(Some(MULTICAST_TIMEOUT))?;
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        set_ip_multicast_if(&sender, &Ipv4Addr::LOCALHOST)?;
        let own = sender.local_addr()?;
        sender.send_to(b"chicane doctor", (DDS_GROUP, receiver.local_addr()?.port()))?;
        // Packets of other programs may arrive at the same port, so several packets are read.
        for _ in 0..16 {
            if receiver.recv_from(&mut [0; 64])?.1 == own {
                return Ok(());
            }
        }
        Err(ErrorKind::TimedOut.into())
    };
    match sent() {
        Ok(()) => Check::ok(NAME, "programs on this machine can find each other with DDS"),
        Err(error) => Check::warning(
            NAME,
            format!("ROS 2 programs on this machine can't find each other: multicast fails ({error})"),
            "ip link set lo multicast on, and allow UDP to 239.255.0.1 in the firewall; only --ros needs this",
        ),
    }
}

/// Runs a program and returns its standard output. `None` if the program can't be started or fails.
fn output(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The major and minor version in a text such as `Python 3.12.1`.
fn python_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix("Python ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn python() -> Check {
    const NAME: &str = "python";
    let (major, minor) = OLDEST_PYTHON;
    let remedy = format!(
        "install Python {major}.{minor} or newer, for instance with apt-get install python3; only programs in \
         Python need it"
    );
    let found = output("python3", "--version");
    match found.as_deref().and_then(python_version) {
        Some(version) if version >= OLDEST_PYTHON => {
            Check::ok(NAME, format!("python3 is {}", found.unwrap_or_default().trim()))
        }
        Some(_) => {
            let text = format!("python3 is {}, too old for the package", found.unwrap_or_default().trim());
            Check::warning(NAME, text, remedy)
        }
        None => Check::warning(NAME, "there is no python3", remedy),
    }
}

fn ffmpeg() -> Check {
    const NAME: &str = "ffmpeg";
    let found = output("ffmpeg", "-version");
    match found.as_deref().and_then(|text| text.lines().next()) {
        Some(line) => Check::ok(NAME, line.split(" Copyright").next().unwrap_or(line)),
        None => Check::warning(
            NAME,
            "there is no ffmpeg, so `chicane replay --video` makes no films",
            "on Debian, apt-get install ffmpeg",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Health;

    #[test]
    fn versions_of_python_are_compared_as_numbers() {
        assert_eq!(python_version("Python 3.9.2\n"), Some((3, 9)));
        assert!(python_version("Python 3.9.2").expect("a version") < OLDEST_PYTHON);
        assert!(python_version("Python 3.14.0rc1").expect("a version") >= OLDEST_PYTHON);
        for text in ["", "Python", "Python x.y", "pypy 3.10"] {
            assert_eq!(python_version(text), None, "{text}");
        }
    }

    #[test]
    fn a_port_in_use_is_a_failure() {
        let taken = TcpListener::bind("127.0.0.1:0").expect("bound");
        let check = port(taken.local_addr().expect("an address"), Path::new("/no/such/folder"));
        assert_eq!(check.status, Health::Failure);
        assert!(check.remedy.expect("a remedy").contains("--listen"));
    }
}
