//! The `Host` header: which names of this machine are good.

use crate::error::ApiError;
use axum::http::{HeaderMap, header};
use chicane_wire::ErrorCode;
use std::net::IpAddr;

/// Names that are good besides loopback and the address a connection came in on.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// Lower case, without port.
    pub(crate) allowed: Vec<String>,
    /// Whether the server listens to more than loopback: then its other addresses are good too.
    pub(crate) network: bool,
}

/// A `Host` taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    /// Lower case; an IPv6 address without brackets.
    pub(crate) name: String,
    pub(crate) port: Option<u16>,
}

impl Host {
    /// Reads `name`, `name:port` or `[address]:port`.
    pub(crate) fn parse(text: &str) -> Option<Host> {
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
        // `parse` would take a sign.
        let port = match port {
            Some(p) if p.bytes().all(|b| b.is_ascii_digit()) => Some(p.parse().ok()?),
            Some(_) => return None,
            None => None,
        };
        Some(Host { name: name.to_ascii_lowercase(), port })
    }
}

impl Hosts {
    /// The host that was asked for, if it is one of ours.
    pub(crate) fn check(&self, headers: &HeaderMap, local: Option<IpAddr>) -> Result<Host, ApiError> {
        let mut sent = headers.get_all(header::HOST).iter();
        let (first, second) = (sent.next(), sent.next());
        let host = match (first, second) {
            (Some(value), None) => value.to_str().ok().and_then(Host::parse),
            _ => None,
        };
        let Some(host) = host else {
            return Err(ApiError::new(ErrorCode::UnknownHost, "the request must have one valid Host header"));
        };
        if self.is_ours(&host.name, local) {
            return Ok(host);
        }
        Err(ApiError::new(
            ErrorCode::UnknownHost,
            format!(
                "host {} is not served here; start with --allow-host {} if it should be",
                host.name, host.name
            ),
        ))
    }

    fn is_ours(&self, name: &str, local: Option<IpAddr>) -> bool {
        if name == "localhost" || self.allowed.iter().any(|a| a == name) {
            return true;
        }
        // An address can't be pointed elsewhere, so our own is good; 0.0.0.0 is nobody's.
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
    fn hosts_are_taken_apart() {
        let host = |text: &str| Host::parse(text).map(|h| (h.name, h.port));
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
    fn only_our_names_are_ours() {
        let local = Some("192.168.1.5".parse().expect("an address"));
        let loopback_only = Hosts::default();
        for name in ["localhost", "127.0.0.1", "127.8.8.8", "::1"] {
            assert!(loopback_only.is_ours(name, local), "{name}");
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
            assert!(!loopback_only.is_ours(name, local), "{name}");
        }
        let network = Hosts { allowed: vec!["lab.example".to_owned()], network: true };
        assert!(network.is_ours("192.168.1.5", local) && network.is_ours("lab.example", local));
        assert!(!network.is_ours("192.168.1.6", local) && !network.is_ours("0.0.0.0", local));
    }
}
