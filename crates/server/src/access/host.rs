//! Checks the `Host` header. A DNS name that the operator does not allow is refused, even if the
//! name leads to this machine.

use crate::error::ApiError;
use axum::http::{HeaderMap, header};
use chicane_wire::ErrorCode;
use std::net::IpAddr;

/// The hosts that a request may name. Loopback names are always allowed.
#[derive(Debug, Default)]
pub(crate) struct HostRules {
    /// Further allowed names, in lower case and without a port.
    pub(crate) allowed: Vec<String>,
    /// Whether the server listens on an address other than loopback. In that case the address that
    /// received the connection is allowed too.
    pub(crate) network: bool,
}

/// A parsed `Host` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostHeader {
    /// Host name in lower case, or IP address. An IPv6 address has no brackets here.
    pub(super) name: String,
    pub(super) port: Option<u16>,
}

impl HostHeader {
    /// Parses `name`, `name:port` or `[address]:port`. Returns `None` if the text is malformed.
    pub(super) fn parse(text: &str) -> Option<HostHeader> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (name, rest) = rest.split_once(']')?;
                name.parse::<std::net::Ipv6Addr>().ok()?;
                (name, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
            }
            None => match text.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (text, None),
            },
        };
        let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':');
        if name.is_empty() || !name.bytes().all(fits) {
            return None;
        }
        // Only digits are allowed, because `parse` alone would accept a leading `+`.
        let port = match port {
            Some(p) if p.bytes().all(|b| b.is_ascii_digit()) => Some(p.parse().ok()?),
            Some(_) => return None,
            None => None,
        };
        Some(HostHeader { name: name.to_ascii_lowercase(), port })
    }
}

impl HostRules {
    /// Returns the host that a request names. Returns an error if that host is not allowed. `local`
    /// is the address of this machine at which the connection arrived.
    pub(super) fn check(&self, headers: &HeaderMap, local: Option<IpAddr>) -> Result<HostHeader, ApiError> {
        let mut sent = headers.get_all(header::HOST).iter();
        let (first, second) = (sent.next(), sent.next());
        let host = match (first, second) {
            (Some(value), None) => value.to_str().ok().and_then(HostHeader::parse),
            _ => None,
        };
        let Some(host) = host else {
            return Err(ApiError::new(ErrorCode::UnknownHost, "the request must have one valid Host header"));
        };
        if self.is_allowed(&host.name, local) {
            return Ok(host);
        }
        Err(ApiError::new(
            ErrorCode::UnknownHost,
            format!(
                "host {} is not allowed; to allow it, start the simulator with --allow-host {}",
                host.name, host.name
            ),
        ))
    }

    fn is_allowed(&self, name: &str, local: Option<IpAddr>) -> bool {
        if name == "localhost" || self.allowed.iter().any(|a| a == name) {
            return true;
        }
        // An attacker can make a DNS name resolve to this machine (DNS rebinding), so other DNS
        // names are refused. An IP address can't be redirected, so the machine's own address is
        // allowed. 0.0.0.0 is refused, because no machine has that address.
        match name.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || (self.network && Some(ip) == local.map(|l| l.to_canonical())),
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_headers_are_parsed() {
        let host = |text: &str| HostHeader::parse(text).map(|h| (h.name, h.port));
        assert_eq!(host("LocalHost:8000"), Some(("localhost".to_owned(), Some(8000))));
        assert_eq!(host("[::1]"), Some(("::1".to_owned(), None)));
        assert_eq!(host("[::1]:80"), Some(("::1".to_owned(), Some(80))));
        for bad in
            ["", ":80", "a b", "a@b", "a/b", "a:b", "a:+1", "a:99999", "[::1", "[x]:1", "[::1]80", "a:1:2"]
        {
            assert_eq!(host(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn only_loopback_own_and_listed_hosts_are_allowed() {
        let local = Some("192.168.1.5".parse().expect("an address"));
        let loopback_only = HostRules::default();
        for name in ["localhost", "127.0.0.1", "127.8.8.8", "::1"] {
            assert!(loopback_only.is_allowed(name, local), "{name}");
        }
        let foreign = [
            "evil.example",
            "0.0.0.0",
            "localhost.evil.example",
            "localhost.",
            "127.0.0.1.evil.example",
            "127.1",
            "0x7f.0.0.1",
            "2130706433",
            "::",
            "::ffff:127.0.0.1",
            "192.168.1.5",
            "notlocalhost",
        ];
        for name in foreign {
            assert!(!loopback_only.is_allowed(name, local), "{name}");
        }
        let network = HostRules { allowed: vec!["lab.example".to_owned()], network: true };
        assert!(network.is_allowed("192.168.1.5", local) && network.is_allowed("lab.example", local));
        assert!(!network.is_allowed("192.168.1.6", local) && !network.is_allowed("0.0.0.0", local));
    }
}
