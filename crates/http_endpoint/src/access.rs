//! Access control for requests: addresses, the token, and the `Host` header.

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HOST};
use sha2::{Digest, Sha256};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;

/// Minimum length of a token in bytes: it can be guessed over the network.
const TOKEN_MIN: usize = 16;
/// Maximum size of the token's file in bytes.
const TOKEN_MAX: u64 = 4096;

/// Rules for requests.
pub struct Access {
    /// SHA-256 of the token. Comparing hashes takes the same time for every wrong token.
    token: Option<[u8; 32]>,
}

/// Reason for refusing a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No token, or a wrong one.
    Token,
    /// The request was sent to another name.
    Host,
}

impl Access {
    /// Reads the token.
    ///
    /// # Errors
    /// A message.
    pub(crate) fn new(token_file: &str, is_loopback: bool) -> Result<Access, String> {
        let token = match token_file {
            "" if is_loopback => None,
            "" => {
                return Err("an address that other machines can reach needs --http-token-file".into());
            }
            path => Some(hash(&read_token(path)?)),
        };
        Ok(Access { token })
    }

    /// Checks a request for anything else than a probe.
    ///
    /// # Errors
    /// The reason for refusing it ([`crate::refused`]).
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        match &self.token {
            Some(token) => {
                let given = headers
                    .get(AUTHORIZATION)
                    .map_or(&[][..], |value| value.as_bytes());
                let given = given.strip_prefix(b"Bearer ").unwrap_or_default();
                (hash(given) == *token).then_some(()).ok_or(Refusal::Token)
            }
            None => match headers.get(HOST) {
                None => Ok(()),
                Some(host) => {
                    let host = host.to_str().unwrap_or_default();
                    is_this_machine(host).then_some(()).ok_or(Refusal::Host)
                }
            },
        }
    }
}

/// Returns whether a `Host` header names the loopback interface.
fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_loopback = |address: IpAddr| address.is_loopback();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_loopback)
}

fn hash(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// Reads the first line of a token's file.
fn read_token(path: &str) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("cannot read the token in {path}: {error}");
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(format!(
            "the token in {path} can be read by others: chmod 600 is needed"
        ));
    }
    if metadata.len() > TOKEN_MAX {
        return Err(format!(
            "{path} is larger than {TOKEN_MAX} bytes, which is no token"
        ));
    }
    let content = std::fs::read(path).map_err(cannot)?;
    let line = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let token = line.trim_ascii();
    if token.len() < TOKEN_MIN {
        return Err(format!(
            "the token in {path} is too short: it needs at least {TOKEN_MIN} characters in its first line"
        ));
    }
    Ok(token.to_vec())
}

/// Resolves `HOST:PORT`, with an IPv6 address in brackets.
///
/// # Errors
/// A message.
pub(crate) async fn addresses(text: &str) -> Result<Vec<SocketAddr>, String> {
    let wrong = || "it is HOST:PORT, such as 127.0.0.1:9104".to_owned();
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let port: u16 = port.parse().map_err(|_| wrong())?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').ok_or_else(wrong)?,
        None if host.contains(':') || host.is_empty() => return Err(wrong()),
        None => host,
    };
    let found = tokio::net::lookup_host((host, port)).await;
    let found: Vec<_> = found.map_err(|error| error.to_string())?.collect();
    match found.is_empty() {
        true => Err("the name has no address".to_owned()),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(token: Option<&str>, is_loopback: bool) -> Result<Access, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let Some(token) = token else {
            return Access::new("", is_loopback);
        };
        std::fs::write(&path, token).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        Access::new(&path.display().to_string(), is_loopback)
    }

    fn headers(name: hyper::header::HeaderName, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, hyper::header::HeaderValue::from_static(value));
        headers
    }

    #[test]
    fn a_token_is_required_where_other_machines_connect() {
        assert!(access(None, false).is_err());
        assert!(access(Some("short\n"), false).is_err());
        let with_token = access(Some("0123456789abcdef\n"), false).unwrap();
        let check = |value| with_token.check(&headers(AUTHORIZATION, value));
        assert_eq!(check("Bearer 0123456789abcdef"), Ok(()));
        for wrong in [
            "Bearer 0123456789abcde",
            "0123456789abcdef",
            "Basic 0123456789abcdef",
            "",
        ] {
            assert_eq!(check(wrong), Err(Refusal::Token), "{wrong}");
        }
        assert_eq!(with_token.check(&HeaderMap::new()), Err(Refusal::Token));
    }

    #[test]
    fn a_token_that_others_can_read_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "0123456789abcdef").unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
        let error = Access::new(&file.path().display().to_string(), true)
            .err()
            .unwrap();
        assert!(error.contains("can be read by others"), "{error}");
    }

    #[test]
    fn without_a_token_the_request_must_name_this_machine() {
        let access = access(None, true).unwrap();
        for host in [
            "localhost",
            "localhost:9104",
            "127.0.0.1:9104",
            "127.5.5.5",
            "[::1]:9104",
            "LocalHost",
        ] {
            assert_eq!(access.check(&headers(HOST, host)), Ok(()), "{host}");
        }
        for host in [
            "example.com",
            "127.0.0.1.example.com:9104",
            "10.0.0.1",
            "[::2]",
            "",
        ] {
            assert_eq!(access.check(&headers(HOST, host)), Err(Refusal::Host), "{host}");
        }
        assert_eq!(access.check(&HeaderMap::new()), Ok(()));
    }

    #[tokio::test]
    async fn addresses_have_a_host_and_a_port() {
        assert_eq!(
            addresses("127.0.0.1:80").await.unwrap(),
            ["127.0.0.1:80".parse().unwrap()]
        );
        assert_eq!(
            addresses("[::1]:80").await.unwrap(),
            ["[::1]:80".parse().unwrap()]
        );
        for wrong in [
            "",
            "80",
            "127.0.0.1",
            "::1:80",
            ":80",
            "127.0.0.1:port",
            "[::1:80",
        ] {
            assert!(addresses(wrong).await.is_err(), "{wrong}");
        }
    }
}
