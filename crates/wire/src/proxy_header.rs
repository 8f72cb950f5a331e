//! The PROXY protocol's header: a proxy states the address of the client whose connection it passes on. It comes after
//! the greeting, before the client's first packet, in one of two forms (`proxy-protocol.txt` of HAProxy):
//!
//! ```text
//!   version 1   PROXY TCP4 client's-address server's-address client's-port server's-port CR LF
//!               PROXY UNKNOWN … CR LF
//!   version 2   signature (12)  version and command (1)  family (1)  length (2)  addresses, extensions
//! ```
//!
//! Everybody can send a header, so it is believed only if the connection comes from a network of
//! `proxy_protocol_networks`. As in MariaDB a header is at most 256 bytes long, and either of its forms is recognized
//! by its first four bytes, which would be the head of a packet out of order.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// First bytes of the first form.
const TEXT_SIGNATURE: &[u8; 4] = b"PROX";
/// First bytes of the second form.
const BINARY_SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Length of the second form before the addresses, in bytes.
const BINARY_HEAD: usize = 16;
/// Maximum length of a header, in bytes.
const LENGTH_MAX: usize = 256;

/// Address in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxiedClient {
    /// The proxy's own connection, or one that it knows nothing about.
    Proxy,
    /// A client that is connected to the proxy over a UNIX socket.
    Local,
    /// A client's address.
    Address(SocketAddr),
}

/// State of reading a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyHeader {
    /// More bytes are needed.
    Incomplete,
    /// The connection begins with something else.
    Absent,
    /// It is a header, but a wrong one.
    Malformed,
    /// A header of this many bytes.
    Complete(ProxiedClient, usize),
}

impl ProxyHeader {
    /// Reads the header at the beginning of a client's bytes.
    pub fn read(bytes: &[u8]) -> ProxyHeader {
        let Some(first) = bytes.first_chunk::<4>() else {
            return ProxyHeader::Incomplete;
        };
        if first == TEXT_SIGNATURE {
            let line = &bytes[..bytes.len().min(LENGTH_MAX)];
            return match line.iter().position(|byte| *byte == b'\n') {
                Some(end) => match read_text(&line[..=end]) {
                    Some(client) => ProxyHeader::Complete(client, end + 1),
                    None => ProxyHeader::Malformed,
                },
                None if line.len() == LENGTH_MAX => ProxyHeader::Malformed,
                None => ProxyHeader::Incomplete,
            };
        }
        if first != &BINARY_SIGNATURE[..4] {
            return ProxyHeader::Absent;
        }
        let Some(head) = bytes.first_chunk::<BINARY_HEAD>() else {
            return ProxyHeader::Incomplete;
        };
        let length = BINARY_HEAD + usize::from(u16::from_be_bytes([head[14], head[15]]));
        if head[..12] != BINARY_SIGNATURE[..] || length > LENGTH_MAX {
            return ProxyHeader::Malformed;
        }
        match bytes.get(BINARY_HEAD..length) {
            None => ProxyHeader::Incomplete,
            Some(rest) => match read_binary(head[12], head[13], rest) {
                Some(client) => ProxyHeader::Complete(client, length),
                None => ProxyHeader::Malformed,
            },
        }
    }
}

fn read_text(line: &[u8]) -> Option<ProxiedClient> {
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    if words.next() != Some("PROXY") {
        return None;
    }
    let family = words.next()?;
    if family == "UNKNOWN" {
        return Some(ProxiedClient::Proxy);
    }
    let client: IpAddr = words.next()?.parse().ok()?;
    let server: IpAddr = words.next()?.parse().ok()?;
    let port: u16 = words.next()?.parse().ok()?;
    words.next()?.parse::<u16>().ok()?;
    let is_right = match family {
        "TCP4" => client.is_ipv4() && server.is_ipv4(),
        "TCP6" => client.is_ipv6() && server.is_ipv6(),
        _ => false,
    };
    is_right.then(|| ProxiedClient::Address(SocketAddr::new(client.to_canonical(), port)))
}

/// Reads the addresses of the second form. Extensions after them are skipped.
fn read_binary(command: u8, family: u8, rest: &[u8]) -> Option<ProxiedClient> {
    let port = |bytes: &[u8]| u16::from_be_bytes([bytes[0], bytes[1]]);
    match (command, family) {
        (0x20, _) => Some(ProxiedClient::Proxy),
        (0x21, 0x11) => {
            let addresses = rest.first_chunk::<12>()?;
            let client = Ipv4Addr::from(*addresses.first_chunk::<4>()?);
            Some(ProxiedClient::Address(SocketAddr::new(
                client.into(),
                port(&addresses[8..]),
            )))
        }
        (0x21, 0x21) => {
            let addresses = rest.first_chunk::<36>()?;
            let client = IpAddr::from(Ipv6Addr::from(*addresses.first_chunk::<16>()?));
            Some(ProxiedClient::Address(SocketAddr::new(
                client.to_canonical(),
                port(&addresses[32..]),
            )))
        }
        (0x21, 0x31) => Some(ProxiedClient::Local),
        _ => None,
    }
}

/// Number of bits before an IPv4 address that is written as an IPv6 address.
const MAPPED_BITS: u32 = 96;

/// Networks from which headers are accepted: `proxy_protocol_networks`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyNetworks(Vec<Network>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Network {
    /// `*`: any address, and the UNIX socket.
    Any,
    /// `localhost`: the UNIX socket.
    Local,
    /// An address, of which this many bits count.
    Addresses(IpAddr, u32),
}

impl ProxyNetworks {
    /// Parses a list of `address`, `address/bits`, `localhost`, separated by commas or blanks; or `*`.
    ///
    /// # Errors
    /// The part that is wrong, without its number of bits.
    pub fn parse(text: &str) -> Result<ProxyNetworks, String> {
        if text.trim() == "*" {
            return Ok(ProxyNetworks(vec![Network::Any]));
        }
        let parts = text.split(|sign: char| sign == ',' || sign.is_ascii_whitespace());
        let parts = parts.filter(|part| !part.is_empty());
        let network = |part: &str| {
            if part == "localhost" {
                return Ok(Network::Local);
            }
            let (address, bits) = match part.split_once('/') {
                Some((address, bits)) => (address, Some(bits)),
                None => (part, None),
            };
            let wrong = || address.to_owned();
            let address: IpAddr = address.parse().map_err(|_| wrong())?;
            let bits_max = if address.is_ipv4() { 32 } else { 128 };
            let bits: u32 = match bits {
                None => bits_max,
                // A number's own parser accepts a sign.
                Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => {
                    bits.parse().map_err(|_| wrong())?
                }
                Some(_) => return Err(wrong()),
            };
            if bits > bits_max {
                return Err(wrong());
            }
            Ok(match (address, address.to_canonical()) {
                (IpAddr::V6(_), mapped @ IpAddr::V4(_)) if bits >= MAPPED_BITS => {
                    Network::Addresses(mapped, bits - MAPPED_BITS)
                }
                _ => Network::Addresses(address, bits),
            })
        };
        parts.map(network).collect::<Result<_, _>>().map(ProxyNetworks)
    }

    /// Returns whether headers are accepted from this address; `None` is the UNIX socket.
    pub fn contain(&self, address: Option<IpAddr>) -> bool {
        self.0.iter().any(|network| match (network, address) {
            (Network::Any, _) | (Network::Local, None) => true,
            (Network::Local, Some(_)) | (Network::Addresses(..), None) => false,
            (Network::Addresses(network, bits), Some(address)) => match (*network, address.to_canonical()) {
                (IpAddr::V4(network), IpAddr::V4(address)) => {
                    let ignored = 32 - bits;
                    let prefix = |address: Ipv4Addr| u32::from(address).checked_shr(ignored);
                    prefix(network) == prefix(address)
                }
                (IpAddr::V6(network), IpAddr::V6(address)) => {
                    let ignored = 128 - bits;
                    let prefix = |address: Ipv6Addr| u128::from(address).checked_shr(ignored);
                    prefix(network) == prefix(address)
                }
                _ => false,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = (rest.len() as u16).to_be_bytes();
        [&BINARY_SIGNATURE[..], &[command, family], &length, rest].concat()
    }

    fn address(text: &str) -> ProxiedClient {
        ProxiedClient::Address(text.parse().unwrap())
    }

    /// The expectations are MariaDB 10.11's results for the same headers.
    #[test]
    fn headers_are_read_as_in_mariadb() {
        let v4 = [10, 1, 2, 3, 10, 9, 9, 9, 0x12, 0x67, 0x0C, 0xEA];
        let mut v6 = [0; 36];
        v6[..4].copy_from_slice(&[0x20, 1, 0x0D, 0xB8]);
        v6[15] = 1;
        v6[32..34].copy_from_slice(&[0x12, 0x67]);
        let mut mapped = v6;
        mapped[..16].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 1, 2, 3]);
        let extended = [&v4[..], b"\x03\0\x04abcd"].concat();
        for (header, client) in [
            (
                b"PROXY TCP4 10.1.2.3 10.9.9.9 4711 3306\r\n".to_vec(),
                address("10.1.2.3:4711"),
            ),
            (
                b"PROXY TCP4 10.1.2.3 10.9.9.9 4711 3306 more\n".to_vec(),
                address("10.1.2.3:4711"),
            ),
            (
                b"PROXY TCP6 2001:db8::1 2001:db8::2 4711 3306\r\n".to_vec(),
                address("[2001:db8::1]:4711"),
            ),
            (
                b"PROXY TCP6 ::ffff:10.1.2.3 2001:db8::2 4711 3306\r\n".to_vec(),
                address("10.1.2.3:4711"),
            ),
            (b"PROXY UNKNOWN\r\n".to_vec(), ProxiedClient::Proxy),
            (
                b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n".to_vec(),
                ProxiedClient::Proxy,
            ),
            (binary(0x21, 0x11, &v4), address("10.1.2.3:4711")),
            (binary(0x21, 0x11, &extended), address("10.1.2.3:4711")),
            (binary(0x21, 0x21, &v6), address("[2001:db8::1]:4711")),
            (binary(0x21, 0x21, &mapped), address("10.1.2.3:4711")),
            (binary(0x20, 0, &[]), ProxiedClient::Proxy),
            (binary(0x20, 0x11, &v4), ProxiedClient::Proxy),
            (binary(0x21, 0x31, &[0; 216]), ProxiedClient::Local),
        ] {
            let rest = [&header[..], b"\x20\0\0\x01more"].concat();
            assert_eq!(
                ProxyHeader::read(&rest),
                ProxyHeader::Complete(client, header.len())
            );
            for length in 0..header.len() {
                assert_eq!(ProxyHeader::read(&header[..length]), ProxyHeader::Incomplete);
            }
        }
        for header in [
            b"PROXX TCP4 10.1.2.3 10.9.9.9 4711 3306\r\n".to_vec(),
            b"PROXY TCP4 10.1.2.3 10.9.9.9 70000 3306\r\n".to_vec(),
            b"PROXY TCP4 10.1.2.3 x 4711 3306\r\n".to_vec(),
            b"PROXY TCP4 10.1.2.3 10.9.9.9 4711\r\n".to_vec(),
            b"PROXY TCP4 ::1 ::1 4711 3306\r\n".to_vec(),
            [&b"PROXY TCP4 "[..], &[b'1'; 300]].concat(),
            binary(0x21, 0x12, &v4),
            binary(0x21, 0, &[]),
            binary(0x21, 0x11, &v4[..8]),
            binary(0x21, 0x11, &[0; 300]),
            binary(0x31, 0x11, &v4),
            binary(0x22, 0x11, &v4),
            b"\r\n\r\n\0\r\nQUIT!\x21\x11\0\0".to_vec(),
        ] {
            assert_eq!(ProxyHeader::read(&header), ProxyHeader::Malformed);
        }
        assert_eq!(ProxyHeader::read(b"\x20\0\0\x01"), ProxyHeader::Absent);
        assert_eq!(ProxyHeader::read(b"proxy "), ProxyHeader::Absent);
    }

    #[test]
    fn headers_are_accepted_only_from_these_networks() {
        let is_in = |networks: &str, address: &str| {
            let address = (!address.is_empty()).then(|| address.parse().unwrap());
            ProxyNetworks::parse(networks).unwrap().contain(address)
        };
        assert!(!is_in("", "127.0.0.1") && !is_in("", ""));
        assert!(is_in("*", "127.0.0.1") && is_in(" * ", ""));
        assert!(is_in("127.0.0.1", "127.0.0.1") && !is_in("127.0.0.1", "127.0.0.2"));
        assert!(is_in("::1, localhost", "") && is_in("::1 localhost", "::1"));
        assert!(is_in("10.0.0.0/8", "10.255.0.1") && !is_in("10.0.0.0/8", "11.0.0.1"));
        assert!(is_in("10.0.0.0/8", "::ffff:10.1.1.1"));
        assert!(is_in("::ffff:10.0.0.0/104", "10.1.1.1") && !is_in("::ffff:10.0.0.0/104", "11.1.1.1"));
        assert!(is_in("::ffff:10.0.0.1", "10.0.0.1") && is_in("::ffff:10.0.0.0/104", "::ffff:10.1.1.1"));
        assert!(is_in("0.0.0.0/0", "8.8.8.8") && !is_in("0.0.0.0/0", "2001:db8::1"));
        assert!(is_in("::/0", "2001:db8::1") && !is_in("2001:db8::/127", "2001:db8::2"));
        for (text, wrong) in [
            ("x", "x"),
            ("::1,127.0.0.1/33", "127.0.0.1"),
            ("1.2.3", "1.2.3"),
            ("10.0.0.0/x", "10.0.0.0"),
            ("10.0.0.0/+8", "10.0.0.0"),
            ("10.0.0.0/", "10.0.0.0"),
        ] {
            assert_eq!(ProxyNetworks::parse(text), Err(wrong.to_owned()));
        }
    }
}
