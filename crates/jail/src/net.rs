//! The network inside a jail: enables loopback, and blocks the host and private networks.
//!
//! The messages of the kernel's routing socket are encoded by hand, because only two kinds are
//! needed, each with two attributes at most.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};
use std::net::IpAddr;

/// The name server in the network of slirp4netns.
pub(super) const NAME_SERVER: &str = "10.0.2.3";
/// Flags of a message: `NLM_F_REQUEST`, `NLM_F_ACK`, `NLM_F_CREATE` and `NLM_F_REPLACE`.
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const CREATE: u16 = 0x400;
const REPLACE: u16 = 0x100;
/// Types of messages: `RTM_NEWLINK`, `RTM_NEWROUTE` and `NLMSG_ERROR`, which also acknowledges.
const NEW_LINK: u16 = 16;
const NEW_ROUTE: u16 = 24;
const ERROR: u16 = 2;

/// Why the network inside a jail could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The routing socket failed.
    #[error("the network inside can't be set up: {0}")]
    Socket(#[source] Errno),
    /// The kernel refused a link or a route.
    #[error("the network inside can't be set up: {0}")]
    Refused(#[source] std::io::Error),
    /// The kernel's answer is not an acknowledgement.
    #[error("the network inside can't be set up: unexpected answer of the kernel")]
    UnexpectedAnswer,
}

/// Enables loopback. With internet access, adds a route of type `prohibit` for every network in
/// `forbidden`.
pub(super) fn set_up(internet: bool, forbidden: &[(IpAddr, u8)]) -> Result<(), NetError> {
    let flags = SocketFlags::CLOEXEC;
    // Without a protocol number the socket is a routing socket.
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).map_err(NetError::Socket)?;
    request(&socket, NEW_LINK, REQUEST | ACKNOWLEDGE, &loopback_up())?;
    if internet {
        let has_v6 = has_version_six();
        for (address, prefix) in forbidden.iter().filter(|(address, _)| address.is_ipv4() || has_v6) {
            let flags = REQUEST | ACKNOWLEDGE | CREATE | REPLACE;
            request(&socket, NEW_ROUTE, flags, &prohibit(*address, *prefix))?;
        }
    }
    Ok(())
}

/// Whether this kernel has IPv6. Without IPv6 the kernel refuses IPv6 routes.
fn has_version_six() -> bool {
    let socket = socket_with(AddressFamily::INET6, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
    !matches!(socket, Err(Errno::AFNOSUPPORT))
}

/// An `ifinfomsg` that sets the flag `up` of interface 1.
fn loopback_up() -> Vec<u8> {
    let mut body = vec![0, 0, 0, 0];
    body.extend(1i32.to_ne_bytes());
    body.extend(1u32.to_ne_bytes());
    body.extend(1u32.to_ne_bytes());
    body
}

/// An `rtmsg` with a route of type `prohibit`. The destination of the route is an attribute of the
/// message.
fn prohibit(address: IpAddr, prefix: u8) -> Vec<u8> {
    let (family, octets) = match address {
        IpAddr::V4(address) => (2, address.octets().to_vec()),
        IpAddr::V6(address) => (10, address.octets().to_vec()),
    };
    let [main_table, by_administrator, everywhere, prohibit]: [u8; 4] = [254, 4, 0, 8];
    let mut body = vec![family, prefix, 0, 0, main_table, by_administrator, everywhere, prohibit];
    body.extend(0u32.to_ne_bytes());
    let (destination, priority): (u16, u16) = (1, 6);
    body.extend((4 + octets.len() as u16).to_ne_bytes());
    body.extend(destination.to_ne_bytes());
    body.extend(octets);
    if address.is_ipv6() {
        // The kernel uses the route with the smallest priority value, so this route wins over the
        // interface's own route to the same network.
        body.extend(8u16.to_ne_bytes());
        body.extend(priority.to_ne_bytes());
        body.extend(1u32.to_ne_bytes());
    }
    body
}

/// Sends a message and waits for its acknowledgement.
fn request(socket: &OwnedFd, kind: u16, flags: u16, body: &[u8]) -> Result<(), NetError> {
    let mut message = Vec::with_capacity(16 + body.len());
    message.extend((16 + body.len() as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend(1u32.to_ne_bytes());
    message.extend(0u32.to_ne_bytes());
    message.extend(body);
    sendto(socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).map_err(NetError::Socket)?;
    let mut answer = [0u8; 4096];
    let (n, _) = recv(socket, &mut answer, RecvFlags::empty()).map_err(NetError::Socket)?;
    let answer = &answer[..n.min(4096)];
    let word = |at: usize| answer.get(at..at + 4).and_then(|b| b.try_into().ok()).map(i32::from_ne_bytes);
    let said = answer.get(4..6).and_then(|b| b.try_into().ok()).map(u16::from_ne_bytes);
    match (said, word(16)) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(code)) => Err(NetError::Refused(std::io::Error::from_raw_os_error(-code))),
        _ => Err(NetError::UnexpectedAnswer),
    }
}
