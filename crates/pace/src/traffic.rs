//! Finds bytes in flight between two sockets of the program's network.
//!
//! The kernel delivers a segment on the loopback device in a softirq, which can be late on a busy
//! machine. A thread that waits for such a segment looks blocked, but is about to run. For each
//! socket, the kernel reports how many bytes were sent and received (`sock_diag`). If these numbers
//! differ between the two ends of a connection, bytes are in flight.

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

/// Type of the request and of its answers. With this older type, one request covers IPv4 and IPv6,
/// so the kernel searches its table of connections once instead of twice.
const TCPDIAG_GETSOCK: u16 = 18;
/// Flags of a request that asks for all sockets.
const NLM_F_REQUEST_DUMP: u16 = 0x1 | 0x300;
/// Type of the last message of an answer.
const NLMSG_DONE: u16 = 3;
/// The attribute with a `tcp_info`.
const INET_DIAG_INFO: u16 = 2;
/// Size of the header of a message, bytes.
const HEADER: usize = 16;
/// Size of a request, which consists of a header and `inet_diag_req`, bytes.
const REQUEST: usize = HEADER + 60;
/// Size of `inet_diag_msg`, bytes.
const MESSAGE: usize = 72;

/// States of a TCP socket.
const ESTABLISHED: u8 = 1;
const SYN_SENT: u8 = 2;
const SYN_RECEIVED: u8 = 3;
const NEW_SYN_RECEIVED: u8 = 12;
/// The requested states. Listening and bound sockets are not requested, because the kernel would
/// have to search further tables for them.
const STATES: u32 = 1 << ESTABLISHED | 1 << SYN_SENT | 1 << SYN_RECEIVED | 1 << NEW_SYN_RECEIVED;

/// Offsets of fields in `tcp_info`, bytes.
mod info {
    pub(super) const BYTES_ACKED: usize = 120;
    pub(super) const BYTES_RECEIVED: usize = 128;
    pub(super) const NOT_SENT: usize = 144;
    pub(super) const BYTES_SENT: usize = 200;
    pub(super) const BYTES_RETRANSMITTED: usize = 208;
}

/// Local port, then remote port.
type Ports = (u16, u16);
/// An end of a connection: its ports, and its protocol family.
type End = (Ports, u8);

/// What the kernel reports about one socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    state: u8,
    sent: u64,
    acknowledged: u64,
    received: u64,
    not_sent: u32,
}

/// What is in flight.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// Whether any bytes or handshakes are in flight.
    pub(crate) any: bool,
    /// Ports of each receiving end whose sender holds back bytes until earlier bytes are
    /// acknowledged (Nagle's algorithm).
    pub(crate) wait_for_ack: Vec<Ports>,
}

/// A netlink socket in the program's network namespace.
pub(crate) struct Traffic {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl Traffic {
    /// `socket` is a socket of the protocol `NETLINK_SOCK_DIAG`.
    pub(crate) fn new(socket: OwnedFd) -> Traffic {
        Traffic { socket, buffer: vec![0; 64 << 10] }
    }

    /// A netlink socket in the network of this process.
    pub(crate) fn of_this_network() -> Result<Traffic, Errno> {
        let protocol = Some(netlink::SOCK_DIAG);
        socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, protocol)
            .map(Traffic::new)
    }

    /// Finds the bytes and handshakes that are in flight now.
    pub(crate) fn in_flight(&mut self) -> Result<InFlight, Errno> {
        self.dump().map(|sockets| compare(&sockets))
    }

    /// All TCP sockets that are connected or connecting.
    fn dump(&mut self) -> Result<BTreeMap<End, Counts>, Errno> {
        send(&self.socket, &request(), SendFlags::empty())?;
        let mut found = BTreeMap::new();
        loop {
            let (length, _) = recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty())?;
            let mut rest = self.buffer.get(..length).unwrap_or_default();
            if rest.is_empty() {
                return Ok(found);
            }
            while rest.len() >= HEADER {
                let size = (u32_at(rest, 0) as usize).clamp(HEADER, rest.len());
                let kind = u16_at(rest, 4);
                if kind != TCPDIAG_GETSOCK {
                    // The end of the answer, or an error.
                    return if kind == NLMSG_DONE { Ok(found) } else { Err(Errno::OPNOTSUPP) };
                }
                found.extend(socket(&rest[HEADER..size]));
                rest = &rest[size.next_multiple_of(4).min(rest.len())..];
            }
        }
    }
}

fn request() -> [u8; REQUEST] {
    let mut bytes = [0; REQUEST];
    bytes[0..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&TCPDIAG_GETSOCK.to_ne_bytes());
    bytes[6..8].copy_from_slice(&NLM_F_REQUEST_DUMP.to_ne_bytes());
    // inet_diag_req: family, two lengths, attributes, addresses (48 bytes), states, tables.
    bytes[HEADER] = libc::AF_INET as u8;
    bytes[HEADER + 3] = 1 << (INET_DIAG_INFO - 1);
    bytes[HEADER + 52..HEADER + 56].copy_from_slice(&STATES.to_ne_bytes());
    bytes
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|part| part.try_into().ok()).map_or(0, u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|part| part.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|part| part.try_into().ok()).map_or(0, u64::from_ne_bytes)
}

/// Reads one `inet_diag_msg` with its attributes. `None` if the message is too short.
fn socket(message: &[u8]) -> Option<(End, Counts)> {
    let (family, state) = (*message.first()?, *message.get(1)?);
    let ports = (u16_at(message, 4).swap_bytes(), u16_at(message, 6).swap_bytes());
    let mut counts = Counts { state, sent: 0, acknowledged: 0, received: 0, not_sent: 0 };
    let mut attributes = message.get(MESSAGE..)?;
    while attributes.len() >= 4 {
        let size = usize::from(u16_at(attributes, 0)).clamp(4, attributes.len());
        if u16_at(attributes, 2) == INET_DIAG_INFO {
            let found = &attributes[4..size];
            counts.sent =
                u64_at(found, info::BYTES_SENT).saturating_sub(u64_at(found, info::BYTES_RETRANSMITTED));
            counts.acknowledged = u64_at(found, info::BYTES_ACKED);
            counts.received = u64_at(found, info::BYTES_RECEIVED);
            counts.not_sent = u32_at(found, info::NOT_SENT);
        }
        attributes = &attributes[size.next_multiple_of(4).min(attributes.len())..];
    }
    Some(((ports, family), counts))
}

fn compare(sockets: &BTreeMap<End, Counts>) -> InFlight {
    let mut found = InFlight::default();
    for (((local, remote), family), counts) in sockets {
        found.any |= matches!(counts.state, SYN_SENT | SYN_RECEIVED);
        if counts.state != ESTABLISHED {
            continue;
        }
        // A socket whose other end is closed has no counterpart to compare with.
        let other = sockets.get(&((*remote, *local), *family));
        let Some(other) = other.filter(|other| other.state == ESTABLISHED) else { continue };
        found.any |= counts.sent != other.received;
        // On one side of the connection, `acknowledged` also counts the handshake, as one byte.
        // There, a single unacknowledged byte is not noticed.
        if counts.not_sent > 0 && counts.acknowledged < counts.sent {
            found.any = true;
            found.wait_for_ack.push((*remote, *local));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};

    fn counts(sent: u64, received: u64) -> Counts {
        Counts { state: ESTABLISHED, sent, acknowledged: sent, received, not_sent: 0 }
    }

    #[test]
    fn bytes_that_have_not_arrived_are_in_flight() {
        let pair = |a, b| compare(&BTreeMap::from([(((1, 2), 2), a), (((2, 1), 2), b)]));
        assert!(!pair(counts(5, 7), counts(7, 5)).any);
        assert!(pair(counts(5, 7), counts(7, 4)).any);
        assert!(pair(Counts { state: SYN_SENT, ..counts(0, 0) }, counts(0, 0)).any);
        let held = Counts { not_sent: 3, acknowledged: 4, ..counts(5, 7) };
        let found = pair(held, counts(7, 5));
        assert_eq!((found.any, found.wait_for_ack), (true, vec![(2, 1)]));
        // All sent bytes are acknowledged. The unsent bytes wait because the other end does not
        // read, and therefore do not count as in flight.
        assert!(!pair(Counts { not_sent: 3, ..counts(5, 7) }, counts(7, 5)).any);
    }

    #[test]
    fn the_counters_of_a_real_connection_are_read() {
        check_counters(Ipv4Addr::LOCALHOST.into(), libc::AF_INET as u8);
        // A machine without IPv6 does not have this address.
        if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
            check_counters(Ipv6Addr::LOCALHOST.into(), libc::AF_INET6 as u8);
        }
    }

    fn check_counters(address: IpAddr, family: u8) {
        let mut traffic = Traffic::of_this_network().expect("a netlink socket");
        let listener = TcpListener::bind((address, 0)).expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        let mut client = TcpStream::connect((address, port)).expect("connected");
        let mut server = listener.accept().expect("accepted").0;
        client.write_all(b"hello").expect("written");
        server.read_exact(&mut [0; 5]).expect("read");
        server.write_all(b"hi").expect("written");
        client.read_exact(&mut [0; 2]).expect("read");
        let found = traffic.dump().expect("sockets");
        let own = client.local_addr().expect("an address").port();
        let of = |ports| found.get(&(ports, family)).copied();
        let (here, there) = (of((own, port)).expect("client"), of((port, own)).expect("server"));
        assert_eq!((here.state, here.sent, here.received), (ESTABLISHED, 5, 2));
        assert_eq!((there.sent, there.received), (2, 5));
    }
}
