//! Values of memcached, from its command `stats`.

use super::error::{Error, Result};
use super::module::Kind::{Counter, Gauge};
use super::module::{Entry, Reading, readings};
use paceline_wire::{AddressError, TcpAddress};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const GROUP: &str = "memcached";

/// Time for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum size of an answer in bytes.
const ANSWER_MAX: usize = 64 << 10;
/// Default port.
const PORT: u16 = 11211;

static TABLE: [Entry; 21] = [
    ("auth_errors", Counter, "logins"),
    ("bytes", Gauge, "bytes"),
    ("bytes_read", Counter, "bytes"),
    ("bytes_written", Counter, "bytes"),
    ("cas_hits", Counter, "commands"),
    ("cas_misses", Counter, "commands"),
    ("cmd_flush", Counter, "commands"),
    ("cmd_get", Counter, "commands"),
    ("cmd_set", Counter, "commands"),
    ("curr_connections", Gauge, "connections"),
    ("curr_items", Gauge, "items"),
    ("delete_hits", Counter, "commands"),
    ("delete_misses", Counter, "commands"),
    ("evictions", Counter, "items"),
    ("get_hits", Counter, "commands"),
    ("get_misses", Counter, "commands"),
    ("limit_maxbytes", Gauge, "bytes"),
    ("threads", Gauge, "threads"),
    ("total_connections", Counter, "connections"),
    ("total_items", Counter, "items"),
    ("uptime", Gauge, "s"),
];

/// A memcached.
pub struct Memcached {
    address: TcpAddress,
}

/// Parses the address of a memcached.
///
/// # Errors
/// [`AddressError`].
pub fn address(text: &str) -> Result<TcpAddress, AddressError> {
    TcpAddress::with_default_port(text, PORT)
}

impl Memcached {
    pub fn new(address: TcpAddress) -> Self {
        Memcached { address }
    }

    pub fn address(&self) -> &TcpAddress {
        &self.address
    }

    /// Reads all values, over a connection of its own.
    ///
    /// # Errors
    /// Fails if it does not answer in time, or not as memcached does.
    pub async fn read(&self) -> Result<Vec<Reading>> {
        let failed = |reason: String| Error::Memcached(self.address.clone(), reason);
        let answer = tokio::time::timeout(PATIENCE, self.ask()).await;
        let answer = answer
            .map_err(|_| failed("it does not answer".into()))?
            .map_err(|error| failed(error.to_string()))?;
        let pairs = parse(&answer).ok_or_else(|| failed("it does not answer as a memcached does".into()))?;
        Ok(readings(GROUP, &TABLE, &pairs))
    }

    async fn ask(&self) -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect((self.address.host.as_str(), self.address.port)).await?;
        stream.write_all(b"stats\r\n").await?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"END\r\n") && answer.len() < ANSWER_MAX {
            if stream.read_buf(&mut answer).await? == 0 {
                break;
            }
        }
        Ok(answer)
    }
}

/// Returns the pairs of `STAT name value` lines; `None` without the end of the answer.
fn parse(answer: &[u8]) -> Option<Vec<Vec<String>>> {
    let text = std::str::from_utf8(answer).ok()?.strip_suffix("END\r\n")?;
    let pairs = text.lines().map(|line| {
        let (name, value) = line.strip_prefix("STAT ")?.split_once(' ')?;
        Some(vec![name.to_owned(), value.to_owned()])
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_complete_and_of_its_form() {
        let pairs = parse(b"STAT pid 7\r\nSTAT version 1.6 x\r\nEND\r\n").unwrap();
        assert_eq!(pairs, [["pid", "7"], ["version", "1.6 x"]]);
        assert_eq!(parse(b"STAT pid 7\r\n"), None);
        assert_eq!(parse(b"HTTP/1.1 400\r\nEND\r\n"), None);
        assert_eq!(parse(b"END\r\n"), Some(vec![]));
    }
}
