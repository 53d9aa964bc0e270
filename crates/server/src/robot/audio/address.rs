//! Decides from which addresses the simulator may fetch sound files for a client. Only public
//! addresses are allowed. Otherwise a student's program could use the simulator to reach services
//! on this machine or in its network.

use chicane_session::is_public;
use std::net::SocketAddr;

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
