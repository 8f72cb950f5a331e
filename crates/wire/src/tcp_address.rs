//! The network address of a server, in the form that users write.

use std::fmt;
use std::str::FromStr;

/// Default port.
pub const PORT: u16 = 3306;

/// A host and a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcpAddress {
    /// Name or IP address.
    pub host: String,
    /// Its port.
    pub port: u16,
}

/// The text is not an address.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is not an address: HOST, HOST:PORT or [IPV6]:PORT")]
pub struct AddressError(String);

impl FromStr for TcpAddress {
    type Err = AddressError;

    /// Parses `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`. An IPv6 address without brackets has no port.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::with_default_port(text, PORT)
    }
}

impl TcpAddress {
    /// Parses an address with another default port.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn with_default_port(text: &str, default: u16) -> Result<Self, AddressError> {
        let wrong = || AddressError(text.to_owned());
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => match rest.split_once(']').ok_or_else(wrong)? {
                (host, "") => (host, None),
                (host, behind) => (host, Some(behind.strip_prefix(':').ok_or_else(wrong)?)),
            },
            None if text.parse::<std::net::Ipv6Addr>().is_ok() => (text, None),
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let is_digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        if host.is_empty() || host.contains(['/', ' ']) {
            return Err(wrong());
        }
        Ok(TcpAddress {
            host: host.to_owned(),
            port: match port {
                Some(port) if is_digits(port) => {
                    port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?
                }
                Some(_) => return Err(wrong()),
                None => default,
            },
        })
    }
}

impl fmt::Display for TcpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_and_printed() {
        for (text, host, port, shown) in [
            ("db1", "db1", 3306, "db1:3306"),
            ("db1:7", "db1", 7, "db1:7"),
            ("127.0.0.1:65535", "127.0.0.1", 65535, "127.0.0.1:65535"),
            ("::1", "::1", 3306, "[::1]:3306"),
            ("fe80::1:7", "fe80::1:7", 3306, "[fe80::1:7]:3306"),
            ("[::1]", "::1", 3306, "[::1]:3306"),
            ("[::1]:7", "::1", 7, "[::1]:7"),
        ] {
            let address: TcpAddress = text.parse().unwrap();
            assert_eq!((address.host.as_str(), address.port), (host, port), "{text}");
            assert_eq!(address.to_string(), shown);
        }
        for wrong in [
            "",
            ":",
            ":7",
            "db1:",
            "db1:x",
            "db1:0",
            "db1:70000",
            "db1:+7",
            "db1:7:8",
            "[::1",
            "[::1]7",
            "[::1]:",
            "[]:7",
            "/a/b",
            "a b",
        ] {
            let said = wrong.parse::<TcpAddress>().unwrap_err().to_string();
            assert!(
                said.starts_with(&format!("'{wrong}' is not an address")),
                "{said}"
            );
        }
    }
}
