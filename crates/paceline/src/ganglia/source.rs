//! The sources of values.

use super::error::Result;
use super::memcached::Memcached;
use super::module::{Reading, Server};
use super::{mariadb, paceline};
use std::fmt;

/// Source of a module's values. It may be away for a while.
pub enum Source {
    Paceline(Server),
    MariaDb(Server),
    Memcached(Memcached),
}

impl Source {
    /// Reads all values.
    ///
    /// # Errors
    /// Fails if the source does not answer.
    pub async fn read(&mut self) -> Result<Vec<Reading>> {
        match self {
            Source::Paceline(server) => paceline::read(server).await,
            Source::MariaDb(server) => mariadb::read(server).await,
            Source::Memcached(memcached) => memcached.read().await,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Paceline(server) => write!(f, "paceline at {}", server.address()),
            Source::MariaDb(server) => write!(f, "mariadb at {}", server.address()),
            Source::Memcached(memcached) => write!(f, "memcached at {}", memcached.address()),
        }
    }
}
