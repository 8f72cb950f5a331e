//! Options of an archive.

use crate::error::{Error, Result};
use paceline_http_endpoint::EndpointOptions;
use paceline_log_stream::source::definition::TlsSettings;
use paceline_types::ServerId;
use paceline_wire::AddressError;
pub use paceline_wire::TcpAddress as Address;
use paceline_wire::tls::TlsParameters;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The servers of one log that is followed. One of them is the primary at any time. Never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidates(pub Vec<Address>);

impl FromStr for Candidates {
    type Err = Error;

    /// Parses addresses separated by commas.
    fn from_str(text: &str) -> Result<Self> {
        let addresses = text
            .split(',')
            .map(|address| address.trim().parse())
            .collect::<Result<_, AddressError>>()
            .map_err(|error| Error::Option(error.to_string()))?;
        Ok(Candidates(addresses))
    }
}

impl fmt::Display for Candidates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, address) in self.0.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(f, "{comma}{address}")?;
        }
        Ok(())
    }
}

/// User name and password.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Account {
    /// User name.
    pub user: String,
    /// Clear text: the protocol needs it.
    pub password: String,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// Whether the archive acknowledges durable transactions to its primaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SemiSync {
    /// It does if the primary asks for it.
    #[default]
    Acknowledge,
    /// It never does: no commit waits for this archive.
    Off,
}

/// Whether closed files are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// They are compressed with zstd.
    #[default]
    Zstd,
    /// They remain as written.
    None,
}

/// Limits for the files on the local disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Retention {
    /// Files closed longer ago are removed.
    pub age_max: Option<Duration>,
    /// If the files exceed this many bytes, the oldest are removed.
    pub bytes_max: Option<u64>,
}

/// Role of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// It follows primaries and stores their log in a directory.
    Follow {
        /// Directory of its log.
        datadir: PathBuf,
        /// The logs that it follows.
        sources: Vec<Candidates>,
    },
    /// It serves the files that another server has left, and follows no primary.
    Serve {
        /// Directory of the files.
        directory: PathBuf,
        /// Base name of the log files; `None` if the directory contains only one log.
        log_bin: Option<String>,
    },
}

/// Options of an archive.
#[derive(Clone, Debug)]
pub struct ArchiveOptions {
    /// Role of the archive.
    pub role: Role,
    /// Account for logging in to the primaries.
    pub account: Account,
    /// Accounts with which clients log in to the archive. The same as `account`, so that a replica that switches from a
    /// primary needs no other; in a cluster also that of the members.
    pub clients: Vec<Account>,
    /// Server id; `None`: derived from the host name and the directory.
    pub server_id: Option<ServerId>,
    /// Address of the TCP listener.
    pub bind_address: String,
    /// TCP port; `None`: no TCP; 0: any free port.
    pub port: Option<u16>,
    /// UNIX socket. `None`: a socket in the directory, or no socket if the files belong to another server.
    pub socket: Option<PathBuf>,
    /// Base name of the log files.
    pub log_bin: String,
    /// The log continues in a new file when a file has this many bytes.
    pub file_size_max: u64,
    /// Whether the archive acknowledges transactions (semi-sync).
    pub semi_sync: SemiSync,
    /// Place to which closed files are copied: a directory or a URL.
    pub storage: Option<String>,
    /// Whether closed files are compressed.
    pub compression: Compression,
    /// Limits for the files on the local disk.
    pub retention: Retention,
    /// TLS of the connections to the primaries.
    pub source_tls: TlsSettings,
    /// TLS for clients; `None`: no TLS.
    pub tls: Option<TlsParameters>,
    /// Address for statistics and probes; `None`: none.
    pub http: Option<EndpointOptions>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_addresses_separated_by_commas() {
        let candidates: Candidates = "db1, db2:3307,[::1]:3308".parse().unwrap();
        assert_eq!(candidates.to_string(), "db1:3306,db2:3307,[::1]:3308");
        for wrong in ["", ":3306", "db1:x", "db1,,db2", "[::1"] {
            assert!(wrong.parse::<Candidates>().is_err(), "{wrong}");
        }
    }
}
