//! What an archive is told when it starts.

use crate::error::{Error, Result};
use paceline_replication::replica::definition::TlsSettings;
use paceline_types::ServerId;
use paceline_wire::NoAddress;
pub use paceline_wire::TcpAddress as Address;
use paceline_wire::tls::TlsParameters;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// One log that is followed: servers of which one is the primary at a time. At least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidates(pub Vec<Address>);

impl FromStr for Candidates {
    type Err = Error;

    /// Addresses, with commas.
    fn from_str(text: &str) -> Result<Self> {
        let addresses = text
            .split(',')
            .map(|address| address.trim().parse())
            .collect::<Result<_, NoAddress>>()
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

/// A user and a password.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Account {
    /// The name.
    pub user: String,
    /// In clear: the protocol needs it.
    pub password: String,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// Whether primaries are told what is durable here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SemiSync {
    /// Where a primary asks for it.
    #[default]
    Acknowledge,
    /// Never: no commit waits for this archive.
    Off,
}

/// Whether closed files are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// With zstd.
    #[default]
    Zstd,
    /// They stay as they were written.
    None,
}

/// How much is kept on this disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Retention {
    /// What was closed longer ago goes.
    pub age_max: Option<Duration>,
    /// What is more goes, from the oldest on, in bytes.
    pub bytes_max: Option<u64>,
}

/// What an archive is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// It keeps the log of these primaries in a directory.
    Follow {
        /// Where its log is.
        datadir: PathBuf,
        /// What it follows.
        sources: Vec<Candidates>,
    },
    /// It serves the files that another server has left, and follows nobody.
    Serve {
        /// Where they are.
        directory: PathBuf,
        /// What their names begin with; none: there is only one.
        log_bin: Option<String>,
    },
}

/// Everything that an archive is told.
#[derive(Clone, Debug)]
pub struct ArchiveOptions {
    /// What it is for.
    pub role: Role,
    /// Who logs in on the primaries; and who may log in here, with the same password, so that a replica that comes from a primary needs no
    /// other account.
    pub account: Account,
    /// Its own server id; none: one made of the machine's name and the directory.
    pub server_id: Option<ServerId>,
    /// Where it listens: address, port (none: not on TCP; 0: any) and socket.
    pub bind_address: String,
    /// The TCP port.
    pub port: Option<u16>,
    /// The UNIX socket; none: in the directory, and none at all where the directory is another server's.
    pub socket: Option<PathBuf>,
    /// What file names begin with.
    pub log_bin: String,
    /// A file that has reached so many bytes is followed by another.
    pub file_size_max: u64,
    /// Whether it acknowledges.
    pub semi_sync: SemiSync,
    /// Where closed files are copied to: a directory or a URL.
    pub storage: Option<String>,
    /// Whether closed files are compressed.
    pub compression: Compression,
    /// How much is kept on this disk.
    pub retention: Retention,
    /// How connections to the primaries are encrypted.
    pub source_tls: TlsSettings,
    /// What clients are offered; `None`: no TLS.
    pub tls: Option<TlsParameters>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let candidates: Candidates = "db1, db2:3307,[::1]:3308".parse().unwrap();
        assert_eq!(candidates.to_string(), "db1:3306,db2:3307,[::1]:3308");
        for wrong in ["", ":3306", "db1:x", "db1,,db2", "[::1"] {
            assert!(wrong.parse::<Candidates>().is_err(), "{wrong}");
        }
    }
}
