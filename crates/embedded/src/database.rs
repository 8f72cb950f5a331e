//! An open database.

use crate::async_session::AsyncSession;
use crate::changes::Changes;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::session::Session;
use paceline_server::embedded::{EmbeddedServer, ListenAddress};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

/// An open database. Clones are the same database; the last one that is dropped closes it.
#[derive(Clone)]
pub struct Database {
    server: Arc<EmbeddedServer>,
}

impl Database {
    /// Opens the database in a directory; creates it if it does not exist. After a crash it replays the log.
    ///
    /// # Errors
    /// [`Error::Open`]: another process has opened the directory, it belongs to another program, an option is wrong, or
    /// its log is damaged.
    pub fn open(directory: impl AsRef<Path>, options: Options) -> Result<Database> {
        let start = options.start_options(directory.as_ref())?;
        let server = EmbeddedServer::open(start, options.patience()).map_err(Error::Open)?;
        Ok(Database {
            server: Arc::new(server),
        })
    }

    /// Returns the path of the directory.
    pub fn directory(&self) -> &Path {
        self.server.directory()
    }

    /// Listens on a socket, so that other programs can look in, and returns the address, with the port that was chosen.
    /// They log in with accounts as with any server. Several calls listen on several addresses.
    ///
    /// # Errors
    /// [`Error::Listen`].
    pub fn listen(&self, address: ListenAddress) -> Result<ListenAddress> {
        self.server.listen(address).map_err(Error::Listen)
    }

    /// Stops to listen on all addresses. Connections that exist go on.
    pub fn stop_listening(&self) {
        self.server.stop_listening();
    }

    /// Returns a connection of the client protocol within this process, for a client library that can be given a
    /// descriptor. The server's greeting is the first packet. Any user and password are accepted, with all privileges:
    /// the program is the administrator of its directory.
    ///
    /// # Errors
    /// [`Error::Connect`].
    pub fn connect(&self) -> Result<UnixStream> {
        let connected = self.server.connect();
        connected.map_err(|error| Error::Connect(error.to_string()))
    }

    /// Begins a session of this program.
    ///
    /// # Errors
    /// [`Error::Connect`].
    pub fn session(&self) -> Result<Session> {
        Session::new(&self.server)
    }

    /// Begins a session whose calls are futures.
    ///
    /// # Errors
    /// [`Error::Connect`].
    pub fn async_session(&self) -> Result<AsyncSession> {
        AsyncSession::new(&self.server)
    }

    /// Follows the log: returns the committed transactions after a GTID position such as `0-1-100`; empty for the
    /// beginning. The log's files that it still needs are not purged.
    ///
    /// # Errors
    /// [`Error::Log`]: the position is not in the log, or what follows it was purged.
    pub fn changes(&self, position: &str) -> Result<Changes> {
        Changes::new(&self.server, position)
    }

    /// Returns the GTID position of what is committed now.
    pub fn position(&self) -> String {
        self.server.position().to_string()
    }

    /// Closes the database: ends the connections, flushes the tables and closes the log. Without a close the next open
    /// replays the log; nothing that was committed is lost.
    ///
    /// # Errors
    /// [`Error::InUse`] while sessions or clones of this program exist: then the last of them closes it when it is
    /// dropped. [`Error::Open`] if it cannot be closed cleanly: then the next open replays the log.
    pub fn close(self) -> Result<()> {
        match Arc::into_inner(self.server) {
            Some(server) => server.close().map_err(Error::Open),
            None => Err(Error::InUse),
        }
    }
}
