//! Following the log: the committed transactions from a GTID position on.

use crate::error::{Error, Result};
use paceline_server::embedded::{ChangeRef, ChangeStream, ChangedTransaction, EmbeddedServer, block_on};
use paceline_types::Gtid;
use std::sync::Arc;
use std::time::Duration;

/// The committed transactions from a position on, in the order of the log. It sees what readers can see: nothing that
/// could still be lost.
///
/// ```
/// # use paceline_embedded::{ChangeRef, Database, Options};
/// # use std::time::Duration;
/// # let directory = tempfile::tempdir()?;
/// # let database = Database::open(directory.path(), Options::new())?;
/// # let mut session = database.session()?;
/// let mut changes = database.changes("")?;
/// session.execute("CREATE DATABASE music", ())?;
/// while let Some(transaction) = changes.next(Some(Duration::from_millis(100)))? {
///     transaction.for_each(|change| {
///         if let ChangeRef::Statement { text, .. } = change {
///             assert_eq!(text, "CREATE DATABASE music");
///         }
///         Ok(())
///     })?;
///     println!("{} is done", changes.position());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Changes(ChangeStream);

impl Changes {
    pub(crate) fn new(server: &Arc<EmbeddedServer>, position: &str) -> Result<Changes> {
        let position = position.parse();
        let position = position.map_err(|error: paceline_binlog::Error| Error::Log(error.to_string()))?;
        ChangeStream::new(server, position)
            .map(Changes)
            .map_err(Error::Log)
    }

    /// Returns the position after the last transaction that was returned. Stored together with what was made of that
    /// transaction, it is where the next stream continues.
    pub fn position(&self) -> String {
        self.0.position().to_string()
    }

    /// Returns the next transaction; `None` if there is none within the time. Without a limit it waits for one.
    ///
    /// # Errors
    /// [`Error::Log`] if the log is damaged.
    pub fn next(&mut self, limit: Option<Duration>) -> Result<Option<Transaction>> {
        let server = self.0.server().clone();
        let next = block_on(server.runtime(), async {
            match limit {
                None => self.0.next().await.map(Some),
                Some(limit) => match tokio::time::timeout(limit, self.0.next()).await {
                    Ok(next) => next.map(Some),
                    Err(_) => Ok(None),
                },
            }
        });
        Ok(next.map_err(Error::Log)?.map(Transaction))
    }

    /// Returns the next transaction as a future, which may be awaited in any runtime. Dropping it loses nothing.
    ///
    /// # Errors
    /// [`Error::Log`] if the log is damaged.
    pub async fn next_async(&mut self) -> Result<Transaction> {
        self.0.next().await.map(Transaction).map_err(Error::Log)
    }
}

/// A committed transaction of the log.
pub struct Transaction(ChangedTransaction);

impl Transaction {
    /// Returns its GTID.
    pub fn gtid(&self) -> Gtid {
        self.0.gtid()
    }

    /// Returns the time when it was logged, in seconds since 1970.
    pub fn seconds(&self) -> u32 {
        self.0.seconds()
    }

    /// Calls `visit` with each change, in order. One row at a time is in memory, also of a large transaction.
    ///
    /// # Errors
    /// [`Error::Log`] if an event cannot be decoded; the errors of `visit`.
    pub fn for_each(&self, mut visit: impl FnMut(ChangeRef<'_>) -> Result<()>) -> Result<()> {
        self.0
            .for_each(|change| visit(change).map_err(Visited::Error))
            .map_err(|error| match error {
                Visited::Error(error) => error,
                Visited::Log(message) => Error::Log(message),
            })
    }
}

/// An error of the log, or of the program's function.
enum Visited {
    Error(Error),
    Log(String),
}

impl From<String> for Visited {
    fn from(message: String) -> Visited {
        Visited::Log(message)
    }
}
