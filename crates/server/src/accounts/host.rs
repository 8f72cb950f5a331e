//! The host part of an account: what it matches, and which of several matching ones comes first.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv4Addr};

/// Where a client comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHost {
    /// `localhost` for UNIX sockets, else the address as text.
    pub name: String,
    /// The address, over TCP.
    pub address: Option<IpAddr>,
}

impl ClientHost {
    /// Over the UNIX socket.
    pub fn local() -> ClientHost {
        ClientHost {
            name: "localhost".into(),
            address: None,
        }
    }

    /// Over TCP. Names are not looked up, but the machine's own loopback address is `localhost`, as it is for MariaDB where
    /// names are looked up.
    pub fn of(address: IpAddr) -> ClientHost {
        let address = match address {
            IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
            v4 => v4,
        };
        let name = if address.is_loopback() {
            "localhost".to_owned()
        } else {
            address.to_string()
        };
        ClientHost {
            name,
            address: Some(address),
        }
    }

    /// True if an account's host pattern lets this client in: a name or an address, with `%` and `_` as in LIKE, or `address/netmask`.
    pub fn matches(&self, pattern: &str) -> bool {
        if let Some((network, mask)) = pattern.split_once('/') {
            if let (Some(IpAddr::V4(address)), Ok(network), Ok(mask)) = (
                self.address,
                network.parse::<Ipv4Addr>(),
                mask.parse::<Ipv4Addr>(),
            ) {
                return u32::from(address) & u32::from(mask) == u32::from(network);
            }
            return false;
        }
        like(pattern, &self.name)
            || self
                .address
                .is_some_and(|address| like(pattern, &address.to_string()))
    }
}

/// `LIKE` on ASCII without case; a backslash takes the next character's meaning.
pub fn like(pattern: &str, text: &str) -> bool {
    fn matches(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'%', rest)) => (0..=text.len()).any(|skip| matches(rest, &text[skip..])),
            Some((b'_', rest)) => !text.is_empty() && matches(rest, &text[1..]),
            Some((b'\\', rest)) if !rest.is_empty() => {
                text.first()
                    .is_some_and(|byte| byte.eq_ignore_ascii_case(&rest[0]))
                    && matches(&rest[1..], &text[1..])
            }
            Some((byte, rest)) => {
                text.first().is_some_and(|other| other.eq_ignore_ascii_case(byte))
                    && matches(rest, &text[1..])
            }
        }
    }
    matches(pattern.as_bytes(), text.as_bytes())
}

/// The order in which patterns are tried: those with more characters in front of the first wildcard first, as MariaDB's `get_sort`.
pub fn specificity(pattern: &str) -> impl Ord + use<> {
    let literal = pattern.bytes().position(|byte| byte == b'%' || byte == b'_');
    Reverse(literal.map_or(usize::MAX, |position| position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let there = ClientHost::of("192.168.1.7".parse().unwrap());
        assert!(
            there.matches("%")
                && there.matches("192.168.%")
                && there.matches("192.168.1._")
                && there.matches("192.168.1.7")
        );
        assert!(there.matches("192.168.1.0/255.255.255.0") && !there.matches("192.168.2.0/255.255.255.0"));
        assert!(!there.matches("localhost") && !there.matches("192.168.1.70"));
        let here = ClientHost::of("::ffff:127.0.0.1".parse().unwrap());
        assert!(here.matches("localhost") && here.matches("127.0.0.1") && here.matches("127.%"));
        assert!(ClientHost::local().matches("LOCALHOST") && !ClientHost::local().matches("127.0.0.1"));
        assert!(like(r"my\_db", "my_db") && !like(r"my\_db", "myxdb") && like("my_db", "myxdb"));
    }

    #[test]
    fn the_most_specific_comes_first() {
        let mut patterns = vec!["%", "192.%", "localhost", "192.168.1.7", "192.168.%"];
        patterns.sort_by_key(|pattern| specificity(pattern));
        assert_eq!(patterns, ["localhost", "192.168.1.7", "192.168.%", "192.%", "%"]);
    }
}
