//! Decides from which addresses the simulator may fetch sound files for a client. Only public
//! addresses are allowed. Otherwise a student's program could use the simulator to reach services
//! on this machine or in its network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The addresses that the simulator may connect to.
#[derive(Debug, Clone, Default)]
pub(super) struct AddressRule {
    /// Addresses that are allowed in addition to public addresses.
    also: Vec<SocketAddr>,
}

impl AddressRule {
    /// Allows public addresses and `address`.
    #[cfg(test)]
    pub(super) fn and_also(address: SocketAddr) -> AddressRule {
        AddressRule { also: vec![address] }
    }

    /// Whether the simulator may connect to an address.
    pub(super) fn permits(&self, address: SocketAddr) -> bool {
        is_public(address.ip()) || self.also.contains(&address)
    }
}

/// Whether an address is public.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let closed = ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_documentation()
        // 0.0.0.0/8 (this network), 100.64.0.0/10 (carrier NAT), 192.0.0.0/24 (protocols),
        // 198.18.0.0/15 (benchmarks), 240.0.0.0/4 (reserved, with broadcast).
        || a == 0
        || (a == 100 && b & 0xc0 == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && b & 0xfe == 18)
        || a >= 240;
    !closed
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let inner = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match ip.segments() {
        // IPv6 addresses that contain an IPv4 address: mapped, NAT64, 6to4. The IPv4 address
        // decides.
        [0, 0, 0, 0, 0, 0xffff, high, low] => is_public_v4(inner(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(inner(high, low)),
        [0x2002, high, low, ..] => is_public_v4(inner(high, low)),
        // 2001::/23 (protocols, with Teredo), 2001:db8::/32 and 3fff::/20 (documentation).
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // 2000::/3: all global unicast addresses.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_permitted() {
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "198.20.0.1",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
        ];
        let not_public = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::808:808",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:a00:1::1",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ];
        for (list, want) in [(&public[..], true), (&not_public[..], false)] {
            for text in list {
                assert_eq!(is_public(text.parse().expect("an address")), want, "{text}");
            }
        }
    }

    #[test]
    fn an_additional_address_permits_no_other_address() {
        let rule = AddressRule::and_also("127.0.0.1:4000".parse().expect("an address"));
        for (address, want) in
            [("127.0.0.1:4000", true), ("127.0.0.1:4001", false), ("127.0.0.2:4000", false)]
        {
            assert_eq!(rule.permits(address.parse().expect("an address")), want, "{address}");
        }
    }
}
