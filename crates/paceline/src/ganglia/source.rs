//! The sources that a run reads, one after the other.

use super::error::{Error, Result};
use super::memcached::Memcached;
use super::module::{Reading, Server};
use super::{mariadb, paceline};

/// Source of a module's values.
pub enum Source {
    Paceline(Server),
    MariaDb(Server),
    Memcached(Memcached),
}

/// A source that may be away for a while.
pub struct Module {
    source: Source,
    is_silent: bool,
}

impl Module {
    pub fn new(source: Source) -> Self {
        Module {
            source,
            is_silent: false,
        }
    }

    /// Reads all values.
    ///
    /// # Errors
    /// If the source does not answer.
    pub async fn read(&mut self) -> Result<Vec<Reading>> {
        match &mut self.source {
            Source::Paceline(server) => paceline::read(server).await,
            Source::MariaDb(server) => mariadb::read(server).await,
            Source::Memcached(memcached) => memcached.read().await,
        }
    }

    /// Records that the source answers.
    pub fn answers(&mut self) {
        if std::mem::take(&mut self.is_silent) {
            eprintln!("paceline ganglia: it answers again");
        }
    }

    /// Reports an error, once until the source answers again.
    pub fn is_silent(&mut self, error: &Error) {
        if !std::mem::replace(&mut self.is_silent, true) {
            eprintln!("paceline ganglia: {error}");
        }
    }
}
