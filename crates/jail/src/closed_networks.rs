//! Networks that programs of other people must not reach through the simulator: loopback, private
//! and reserved networks. The same list is used for the routes of judges and of students' boxes,
//! and for the sound files that the simulator fetches for a student's program.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A network: an address, and the number of its leading bits that all addresses of the network
/// share.
pub type NetworkPrefix = (IpAddr, u8);

/// The networks of all IPv4 addresses that are not public.
const CLOSED_V4: [(Ipv4Addr, u8); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // shared by customers of a provider
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local, with the metadata of clouds
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocols of the IETF
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // relays of 6to4
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, with broadcast
];

/// The networks of all IPv6 addresses that are not public, without 6to4 (2002::/16).
/// `closed_networks` adds the closed networks of 6to4.
const CLOSED_V6: [(Ipv6Addr, u8); 7] = [
    // These three networks contain every address outside 2000::/3, the network of the global
    // unicast addresses.
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 3),
    (Ipv6Addr::new(0x4000, 0, 0, 0, 0, 0, 0, 0), 2),
    (Ipv6Addr::new(0x8000, 0, 0, 0, 0, 0, 0, 0), 1),
    // Every interface has its own route to fe80::/64. That route is more specific than the route
    // for 8000::/1, so fe80::/64 needs an entry of its own.
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 64),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocols of the IETF, with Teredo
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// All closed networks of IPv4 and IPv6. For each closed network of IPv4, the list also has the
/// network of IPv6 that contains its addresses in 6to4 (2002::/16).
pub fn closed_networks() -> Vec<NetworkPrefix> {
    let four = CLOSED_V4.iter().map(|(address, prefix)| (IpAddr::V4(*address), *prefix));
    let six = CLOSED_V6.iter().map(|(address, prefix)| (IpAddr::V6(*address), *prefix));
    let six_to_four = CLOSED_V4.iter().map(|(address, prefix)| {
        let [a, b, c, d] = address.octets().map(u16::from);
        (IpAddr::V6(Ipv6Addr::new(0x2002, a << 8 | b, c << 8 | d, 0, 0, 0, 0, 0)), 16 + *prefix)
    });
    four.chain(six).chain(six_to_four).collect()
}

/// Whether an address is public.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !CLOSED_V4.iter().any(|(network, prefix)| (bits ^ network.to_bits()) >> (32 - u32::from(*prefix)) == 0)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let inner = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // IPv6 addresses that contain an IPv4 address: mapped, NAT64, 6to4. Such an address is
        // public if the inner address is.
        [0, 0, 0, 0, 0, 0xffff, high, low] => is_public_v4(inner(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(inner(high, low)),
        [0x2002, high, low, ..] => is_public_v4(inner(high, low)),
        _ => {
            let bits = address.to_bits();
            !CLOSED_V6
                .iter()
                .any(|(network, prefix)| (bits ^ network.to_bits()) >> (128 - u32::from(*prefix)) == 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_closed_network_is_closed_from_its_first_to_its_last_address() {
        for (network, prefix) in closed_networks() {
            let last = match network {
                IpAddr::V4(a) => IpAddr::V4(Ipv4Addr::from_bits(a.to_bits() | u32::MAX >> prefix)),
                IpAddr::V6(a) => IpAddr::V6(Ipv6Addr::from_bits(a.to_bits() | u128::MAX >> prefix)),
            };
            assert!(!is_public(network) && !is_public(last), "{network}/{prefix}");
        }
    }

    #[test]
    fn only_public_addresses_are_public() {
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
}
