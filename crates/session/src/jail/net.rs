//! The network inside a jail: enables loopback, and blocks the host and private networks.
//!
//! The messages of the kernel's routing socket are encoded by hand, because only two kinds are
//! needed, each with one attribute at most.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};
use std::net::Ipv4Addr;

/// The name server in the network of slirp4netns.
pub(super) const NAME_SERVER: &str = "10.0.2.3";
/// Blocked networks: those of this machine, private, link-local, shared and multicast ones.
const PRIVATE: [(Ipv4Addr, u8); 7] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
];

const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const CREATE: u16 = 0x400;
const REPLACE: u16 = 0x100;
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

/// Enables loopback. With internet access, adds a refusing route for every forbidden network: the
/// private ones and those in `forbidden`.
pub(super) fn set_up(internet: bool, forbidden: &[(Ipv4Addr, u8)]) -> Result<(), NetError> {
    let flags = SocketFlags::CLOEXEC;
    // Without a protocol number the socket is a routing socket.
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).map_err(NetError::Socket)?;
    request(&socket, NEW_LINK, REQUEST | ACKNOWLEDGE, &loopback_up())?;
    if internet {
        for (address, prefix) in PRIVATE.into_iter().chain(forbidden.iter().copied()) {
            let flags = REQUEST | ACKNOWLEDGE | CREATE | REPLACE;
            request(&socket, NEW_ROUTE, flags, &prohibit(address, prefix))?;
        }
    }
    Ok(())
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
fn prohibit(address: Ipv4Addr, prefix: u8) -> Vec<u8> {
    let [inet, main_table, by_administrator, everywhere, prohibit]: [u8; 5] = [2, 254, 4, 0, 8];
    let mut body = vec![inet, prefix, 0, 0, main_table, by_administrator, everywhere, prohibit];
    body.extend(0u32.to_ne_bytes());
    let destination: u16 = 1;
    body.extend(8u16.to_ne_bytes());
    body.extend(destination.to_ne_bytes());
    body.extend(address.octets());
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
