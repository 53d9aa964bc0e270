//! Decides from which addresses the simulator may fetch sound files for a client. Only public
//! addresses are allowed. Otherwise a student's program could use the simulator to reach services
//! on this machine or in its network.

use chicane_session::is_public;
use std::net::SocketAddr;

/// The addresses that the simulator may connect to.
#[derive(Debug, Clone, Default)]
pub struct AddressRule {
    /// Addresses that are allowed in addition to public addresses.
    also: Vec<SocketAddr>,
}

impl AddressRule {
    /// Allows public addresses and `address`.
    pub fn and_also(address: SocketAddr) -> AddressRule {
        AddressRule { also: vec![address] }
    }

    /// Whether the simulator may connect to an address.
    pub fn permits(&self, address: SocketAddr) -> bool {
        is_public(address.ip()) || self.also.contains(&address)
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
}
