//! The sockets inside a student's network that lead to the simulator.
//!
//! Init opens the sockets in the network namespace of the box and sends their descriptors over the
//! control socket. A socket stays in the namespace in which it was created, so only programs in the
//! box can connect to these sockets. Init closes its own descriptors before the program starts.

use super::plan::{ControlError, Report};
use rustix::io::{Errno, IoSlice, IoSliceMut};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, bind, listen, recvmsg, sendmsg, socket_with,
};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Maximum number of connections of one socket that wait until the simulator accepts them.
const BACKLOG: i32 = 1024;
/// Maximum number of descriptors in one message: for each of two ports a socket of IPv4 and one of
/// IPv6, and two descriptors for virtual time.
const MAX_SOCKETS: usize = 6;

/// Why the sockets of a box could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// A socket could not be opened.
    #[error("the simulator's address {address} can't be opened inside: {source}")]
    Open {
        /// Address inside the box.
        address: SocketAddr,
        /// The kernel's error.
        source: Errno,
    },
    /// The sockets could not be sent to the simulator.
    #[error("the sockets of the box can't be sent to the simulator: {0}")]
    Send(#[source] ControlError),
}

/// Opens a listening socket for each port on the loopback addresses of IPv4 and IPv6. IPv6 is left
/// out if the kernel lacks it.
pub(super) fn open(ports: &[u16]) -> Result<Vec<OwnedFd>, GateError> {
    let mut sockets = Vec::new();
    for port in ports {
        for address in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
            let address = SocketAddr::new(address, *port);
            match open_one(address) {
                Ok(socket) => sockets.push(socket),
                Err(Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL) if address.is_ipv6() => {}
                Err(source) => return Err(GateError::Open { address, source }),
            }
        }
    }
    Ok(sockets)
}

fn open_one(address: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &address)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Sends the sockets to the simulator, together with the report of their number.
pub(super) fn send(control: impl AsFd, sockets: &[OwnedFd]) -> Result<(), GateError> {
    let encode = |e| GateError::Send(ControlError::Encode(e));
    let mut line = serde_json::to_vec(&Report::Listening(sockets.len())).map_err(encode)?;
    line.push(b'\n');
    let borrowed: Vec<BorrowedFd<'_>> = sockets.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !borrowed.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&borrowed));
    }
    let sent = sendmsg(&control, &[IoSlice::new(&line)], &mut ancillary, SendFlags::NOSIGNAL);
    sent.map(drop).map_err(|e| GateError::Send(ControlError::Socket(e)))
}

/// Receives bytes without waiting. Adds the descriptors that come with the bytes to `descriptors`.
pub(super) fn receive(
    control: impl AsFd,
    room: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> Result<usize, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_SOCKETS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(control, &mut [IoSliceMut::new(room)], &mut ancillary, flags)?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            descriptors.extend(more);
        }
    }
    Ok(received.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_socket_that_was_sent_accepts_connections() {
        let flags = SocketFlags::CLOEXEC;
        let (here, there) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).expect("a pair");
        let sockets = open(&[0]).expect("sockets");
        send(&there, &sockets).expect("sent");
        drop(sockets);
        let (mut bytes, mut received) = ([0; 64], Vec::new());
        let n = receive(&here, &mut bytes, &mut received).expect("received");
        assert_eq!(bytes[..n], *format!("{{\"listening\":{}}}\n", received.len()).as_bytes());
        let listener = TcpListener::from(received.remove(0));
        let mut client = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        client.write_all(b"x").expect("written");
        let mut byte = [0];
        listener.accept().expect("accepted").0.read_exact(&mut byte).expect("read");
        assert_eq!(&byte, b"x");
        assert_eq!(receive(&here, &mut bytes, &mut received), Err(Errno::AGAIN));
    }
}
