//! Decides from which addresses the simulator may fetch sound files for a client. Most clients may
//! name public addresses only. Otherwise a student's program could use the simulator to reach
//! services on this machine or in its network. A client that could reach the services of this
//! machine without the simulator may also name the loopback addresses of this machine.

use chicane_session::is_public;
use std::net::SocketAddr;

/// The addresses that the simulator may connect to.
#[derive(Debug, Clone, Default)]
pub struct AddressRule {
    /// Addresses that are allowed in addition to public addresses.
    also: Vec<SocketAddr>,
    /// Whether the loopback addresses of this machine are allowed too.
    loopback: bool,
}

impl AddressRule {
    /// Allows public addresses and `address`.
    pub fn and_also(address: SocketAddr) -> AddressRule {
        AddressRule { also: vec![address], loopback: false }
    }

    /// Allows public addresses, and the loopback addresses of this machine if `loopback` is true.
    pub fn with_loopback(loopback: bool) -> AddressRule {
        AddressRule { also: Vec::new(), loopback }
    }

    /// Whether the simulator may connect to an address.
    pub fn permits(&self, address: SocketAddr) -> bool {
        let own = self.loopback && address.ip().to_canonical().is_loopback();
        is_public(address.ip()) || own || self.also.contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_additional_address_permits_no_other_address() {
        let rule = AddressRule::and_also("127.0.0.1:4000".parse().expect("an address"));
        for (address, want) in
            [("127.0.0.1:4000", true), ("127.0.0.1:4001", false), ("127.0.0.2:4000", false)]
        {
            assert_eq!(rule.permits(address.parse().expect("an address")), want, "{address}");
        }
    }

    #[test]
    fn loopback_addresses_are_permitted_on_request_only() {
        let permits = |loopback: bool, address: &str| {
            AddressRule::with_loopback(loopback).permits(address.parse().expect("an address"))
        };
        for address in ["127.0.0.1:80", "127.8.8.8:9000", "[::1]:80", "[::ffff:127.0.0.1]:80"] {
            assert!(permits(true, address) && !permits(false, address), "{address}");
        }
        for address in ["0.0.0.0:80", "10.0.0.1:80", "169.254.169.254:80", "[fd00::1]:80", "[::]:80"] {
            assert!(!permits(true, address), "{address}");
        }
    }
}
