//! Which networks the middleware may use.
//!
//! Its sockets listen on every address of the machine, whatever it is told to announce, and answer whoever
//! writes to them. On Linux they are therefore tied to the loopback device: what comes from elsewhere
//! does not reach them, and nothing of theirs leaves.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

/// Addresses to be found by: this machine's own, and those of an interface.
pub(super) fn addresses(interface: Option<&str>) -> Result<Vec<IpAddr>, String> {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let Some(wanted) = interface else { return Ok(vec![here]) };
    let all = netdev::get_interfaces();
    let mut known = Vec::new();
    for interface in &all {
        let ips: Vec<Ipv4Addr> = interface.ipv4.iter().map(|net| net.addr()).collect();
        if interface.name == wanted && !ips.is_empty() {
            return Ok(std::iter::once(here).chain(ips.into_iter().map(IpAddr::V4)).collect());
        }
        if let Some(ip) = ips.iter().find(|ip| ip.to_string() == wanted) {
            return Ok(vec![here, IpAddr::V4(*ip)]);
        }
        known.extend(ips.first().map(|ip| format!("{} ({ip})", interface.name)));
    }
    let known = known.join(", ");
    Err(format!("--ros-network {wanted} is no network interface with an IPv4 address; there are {known}"))
}

/// Descriptors that are open now.
#[cfg(target_os = "linux")]
pub(super) fn sockets() -> BTreeSet<i32> {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return BTreeSet::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Ties the sockets that were opened since to the loopback device.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub(super) fn keep_here(before: &BTreeSet<i32>) {
    use std::os::fd::BorrowedFd;
    for fd in sockets().difference(before) {
        // SAFETY: the descriptor was open a moment ago and belongs to the participant, which lives; at
        // worst it is another one by now, and that one is tied only if it is a socket for datagrams.
        let fd = unsafe { BorrowedFd::borrow_raw(*fd) };
        let socket = socket2::SockRef::from(&fd);
        let is_ours = socket.r#type().is_ok_and(|t| t == socket2::Type::DGRAM)
            && socket.domain().is_ok_and(|d| d == socket2::Domain::IPV4);
        if is_ours && let Err(error) = socket.bind_device(Some(b"lo")) {
            tracing::warn!(%error, "the sockets of ROS 2 can be reached from other machines");
            return;
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn sockets() -> BTreeSet<i32> {
    BTreeSet::new()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn keep_here(_: &BTreeSet<i32>) {
    tracing::warn!("ROS 2 is announced on this machine alone, but its ports can be reached from others");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_all_there_is_unless_more_is_asked_for() {
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(addresses(None), Ok(vec![here]));
        let error = addresses(Some("nothing0")).expect_err("refused");
        assert!(error.starts_with("--ros-network nothing0 is no network interface"), "{error}");
    }
}
