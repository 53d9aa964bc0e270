//! The network addresses and sockets that DDS may use.
//!
//! The sockets of `rustdds` listen on all addresses of the machine, not only on the announced
//! addresses, and accept packets from every sender. Without `--ros-network` the sockets are
//! therefore bound to the loopback device on Linux. The sockets then neither receive packets from
//! other machines nor send packets to them.

use crate::JoinError;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

/// The addresses that the participant announces. They are the loopback address and, if `interface`
/// is the name of a network interface, the IPv4 addresses of this interface. If `interface` is an
/// IPv4 address of this machine, only that address is added to the loopback address.
pub(super) fn addresses(interface: Option<&str>) -> Result<Vec<IpAddr>, JoinError> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let Some(requested) = interface else { return Ok(vec![loopback]) };
    let all = netdev::get_interfaces();
    let mut known = Vec::new();
    for interface in &all {
        let ips: Vec<Ipv4Addr> = interface.ipv4.iter().map(|net| net.addr()).collect();
        if interface.name == requested && !ips.is_empty() {
            return Ok(std::iter::once(loopback).chain(ips.into_iter().map(IpAddr::V4)).collect());
        }
        if let Some(ip) = ips.iter().find(|ip| ip.to_string() == requested) {
            return Ok(vec![loopback, IpAddr::V4(*ip)]);
        }
        known.extend(ips.first().map(|ip| format!("{} ({ip})", interface.name)));
    }
    Err(JoinError::UnknownNetwork { interface: requested.to_owned(), known: known.join(", ") })
}

/// The file descriptors that are open now.
#[cfg(target_os = "linux")]
pub(super) fn open_descriptors() -> BTreeSet<i32> {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return BTreeSet::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Binds the sockets that are not in `before` to the loopback device.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub(super) fn bind_new_sockets_to_loopback(before: &BTreeSet<i32>) {
    use std::os::fd::BorrowedFd;
    for fd in open_descriptors().difference(before) {
        // SAFETY: The descriptor was open a moment ago. A descriptor of the participant is still
        // open, because the participant still exists. If another thread has closed its own
        // descriptor and the number was used again, only a datagram socket is changed below.
        let fd = unsafe { BorrowedFd::borrow_raw(*fd) };
        let socket = socket2::SockRef::from(&fd);
        let is_of_participant = socket.r#type().is_ok_and(|t| t == socket2::Type::DGRAM)
            && socket.domain().is_ok_and(|d| d == socket2::Domain::IPV4)
            // Another thread may have opened a socket for a name lookup meanwhile. Such a socket is
            // connected, so it is left unchanged.
            && socket.peer_addr().is_err();
        if is_of_participant && let Err(error) = socket.bind_device(Some(b"lo")) {
            tracing::warn!(%error, "other machines can reach the ROS 2 sockets: binding them to loopback failed");
            return;
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_descriptors() -> BTreeSet<i32> {
    BTreeSet::new()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn bind_new_sockets_to_loopback(_: &BTreeSet<i32>) {
    tracing::warn!("ROS 2 is announced on this machine only, but other machines can reach its ports");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_announced_without_an_interface() {
        assert_eq!(addresses(None), Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]));
        let error = addresses(Some("nothing0")).expect_err("refused").to_string();
        assert!(error.starts_with("--ros-network nothing0 is not a network interface"), "{error}");
    }
}
