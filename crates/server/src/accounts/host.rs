//! Host part of an account: matching, and precedence among several matching patterns.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which addresses get names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameResolution {
    /// The machine's own loopback address is `localhost`, as in a MariaDB that resolves names. No others have names.
    Loopback,
    /// None: `skip_name_resolve`.
    Skipped,
}

/// Origin of a client's connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHost {
    /// `localhost` for UNIX sockets, else the address as text.
    pub name: String,
    /// Address of a TCP connection.
    pub address: Option<IpAddr>,
}

impl ClientHost {
    /// Returns the origin of a connection over the UNIX socket.
    pub fn local() -> ClientHost {
        ClientHost {
            name: "localhost".into(),
            address: None,
        }
    }

    /// Returns the origin of a TCP connection.
    pub fn of(address: IpAddr, resolution: NameResolution) -> ClientHost {
        let address = match address {
            IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
            v4 => v4,
        };
        let name = match resolution == NameResolution::Loopback && is_own_address(address) {
            true => "localhost".to_owned(),
            false => address.to_string(),
        };
        ClientHost {
            name,
            address: Some(address),
        }
    }

    /// Returns whether an account's host pattern admits this client: a name or an address, with `%` and `_` as in LIKE,
    /// or `address/netmask`.
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

/// Returns whether this is the machine's own loopback address: 127.0.0.1 or ::1, not all of 127.0.0.0/8.
pub fn is_own_address(address: IpAddr) -> bool {
    address == IpAddr::V4(Ipv4Addr::LOCALHOST) || address == IpAddr::V6(Ipv6Addr::LOCALHOST)
}

/// Matches like `LIKE` on ASCII without case, for hosts and columns.
pub fn like(pattern: &str, text: &str) -> bool {
    like_where(pattern, text, |byte, other| byte.eq_ignore_ascii_case(other))
}

/// Matches like `LIKE` with case, for databases.
pub fn like_exactly(pattern: &str, text: &str) -> bool {
    like_where(pattern, text, |byte, other| byte == other)
}

/// Matches like `LIKE`; a backslash makes the next character literal. Clients send patterns of any length, so this
/// neither recurses nor backtracks beyond the last `%`.
fn like_where(pattern: &str, text: &str, is_same: impl Fn(&u8, &u8) -> bool) -> bool {
    let (mut pattern, mut text) = (pattern.as_bytes(), text.as_bytes());
    // State for the next attempt: the pattern after the last `%`, and the text that it has not matched.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        let (literal, after) = match pattern {
            [] => (None, &[][..]),
            [b'%', after @ ..] => {
                retry = Some((after, text));
                pattern = after;
                continue;
            }
            [b'_', after @ ..] => (None, after),
            [b'\\', byte, after @ ..] | [byte, after @ ..] => (Some(byte), after),
        };
        match (pattern, text) {
            ([], []) => return true,
            // Matching more text with `%` leaves even less text.
            (_, []) => return false,
            ([_, ..], [first, rest @ ..]) if literal.is_none_or(|byte| is_same(byte, first)) => {
                (pattern, text) = (after, rest);
            }
            _ => {
                let Some((after, [_, rest @ ..])) = retry else {
                    return false;
                };
                retry = Some((after, rest));
                (pattern, text) = (after, rest);
            }
        }
    }
}

/// An element of a pattern.
enum Piece {
    Any,
    One,
    Byte(u8),
}

/// Returns the first element of a pattern and the rest.
fn split_piece(pattern: &[u8]) -> Option<(Piece, &[u8])> {
    match pattern {
        [] => None,
        [b'%', rest @ ..] => Some((Piece::Any, rest)),
        [b'_', rest @ ..] => Some((Piece::One, rest)),
        [b'\\', byte, rest @ ..] | [byte, rest @ ..] => Some((Piece::Byte(*byte), rest)),
    }
}

/// Returns whether one database pattern matches everything that another one matches. Compares element by element as
/// MariaDB does: `_%` does not cover `%_`.
pub fn covers(wide: &str, narrow: &str) -> bool {
    let (mut wide, mut narrow) = (wide.as_bytes(), narrow.as_bytes());
    // State for the next attempt: `wide` after its last `%`, and the part of `narrow` that it has not matched.
    let mut last_any = None;
    loop {
        match (split_piece(wide), split_piece(narrow)) {
            (None, None) => return true,
            (Some((Piece::Any, rest)), _) => {
                wide = rest;
                last_any = Some((rest, narrow));
                continue;
            }
            (Some((Piece::One, after)), Some((Piece::One | Piece::Byte(_), rest))) => {
                (wide, narrow) = (after, rest);
                continue;
            }
            (Some((Piece::Byte(one), after)), Some((Piece::Byte(other), rest))) if one == other => {
                (wide, narrow) = (after, rest);
                continue;
            }
            _ => {}
        }
        // The `%` matches one more element.
        let Some((after, untaken)) = last_any else {
            return false;
        };
        let Some((_, untaken)) = split_piece(untaken) else {
            return false;
        };
        (wide, narrow) = (after, untaken);
        last_any = Some((after, untaken));
    }
}

/// Returns the sort key for trying patterns: patterns with more characters before the first wildcard come first, as in
/// MariaDB's `get_sort`.
pub fn specificity(pattern: &str) -> impl Ord + use<> {
    let literal = pattern.bytes().position(|byte| byte == b'%' || byte == b'_');
    Reverse(literal.map_or(usize::MAX, |position| position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_matches_patterns_and_networks() {
        let there = ClientHost::of("192.168.1.7".parse().unwrap(), NameResolution::Loopback);
        assert!(
            there.matches("%")
                && there.matches("192.168.%")
                && there.matches("192.168.1._")
                && there.matches("192.168.1.7")
        );
        assert!(there.matches("192.168.1.0/255.255.255.0") && !there.matches("192.168.2.0/255.255.255.0"));
        assert!(!there.matches("localhost") && !there.matches("192.168.1.70"));
        let here = ClientHost::of("::ffff:127.0.0.1".parse().unwrap(), NameResolution::Loopback);
        assert!(here.matches("localhost") && here.matches("127.0.0.1") && here.matches("127.%"));
        let unnamed = ClientHost::of("127.0.0.1".parse().unwrap(), NameResolution::Skipped);
        assert!(!unnamed.matches("localhost") && unnamed.matches("127.0.0.1"));
        assert!(ClientHost::local().matches("LOCALHOST") && !ClientHost::local().matches("127.0.0.1"));
        assert!(like(r"my\_db", "my_db") && !like(r"my\_db", "myxdb") && like("my_db", "myxdb"));
    }

    #[test]
    fn percent_is_any_text_and_underscore_one_character() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "x", false),
            ("x", "", false),
            ("%", "", true),
            ("%%", "ab", true),
            ("_", "", false),
            ("%_", "a", true),
            ("a%b%c", "axxbyyc", true),
            ("a%b%c", "axxbyy", false),
            ("%ab", "aab", true),
            ("%A_", "bab", true),
            ("_b", "AB", true),
            (r"\%", "%", true),
            (r"\%", "x", false),
            (r"a\_%", "A_bc", true),
            (r"a\_%", "axbc", false),
            (r"\\", r"\", true),
            (r"a\", r"a\", true),
            (r"%\", r"a\", true),
        ] {
            assert_eq!(like(pattern, text), expected, "{pattern} {text}");
            let has_other_case = pattern.to_lowercase() != pattern || text.to_lowercase() != text;
            assert_eq!(
                like_exactly(pattern, text),
                expected && !has_other_case,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn patterns_that_cover_others() {
        for (wide, narrow) in [
            ("%", "%"),
            ("%", "a_b%"),
            ("team_a", "team_a"),
            ("team_a", r"team\_a"),
            ("team_a", "team1a"),
            ("x%", "x%y"),
            ("%a%b", "xaaxab"),
            (r"my\_db", r"my\_db"),
            ("a%b_c%", "a%b_c%"),
            (r"a\", r"a\"),
        ] {
            assert!(covers(wide, narrow), "{wide} {narrow}");
        }
        for (wide, narrow) in [
            ("team_a", "team%a"),
            ("team_a", "team%"),
            (r"my\_db", "my_db"),
            (r"my\_db", "my%db"),
            ("my_db", "my__db"),
            ("x%y", "x%"),
            ("a", "_"),
            ("a", ""),
            ("a", "A"),
            ("", "a"),
            (r"\%", "%"),
        ] {
            assert!(!covers(wide, narrow), "{wide} {narrow}");
        }
    }

    #[test]
    fn long_patterns_take_neither_stack_nor_time() {
        let name = "a".repeat(64);
        assert!(like(&"%".repeat(1_000_000), &name));
        assert!(!like(&"_".repeat(1_000_000), &name) && !like(&"a".repeat(1_000_000), &name));
        assert!(!like(&format!("{}b", "%a".repeat(64)), &name));
        assert!(!like(&"%a".repeat(500_000), &name));
    }

    #[test]
    fn most_specific_patterns_are_tried_first() {
        let mut patterns = vec!["%", "192.%", "localhost", "192.168.1.7", "192.168.%"];
        patterns.sort_by_key(|pattern| specificity(pattern));
        assert_eq!(patterns, ["localhost", "192.168.1.7", "192.168.%", "192.%", "%"]);
    }
}
