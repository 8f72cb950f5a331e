//! The server that rows are loaded into: our own server, in this process, on a private socket until the copy is
//! complete.

use super::arguments::Arguments;
use super::error::{Error, Result};
use paceline_server::incomplete_directory::IncompleteDirectory;
use paceline_server::startup;
use paceline_wire::Capabilities;
use paceline_wire::client::{Client, ConnectOptions};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time limit for its start on an empty directory.
const START: Duration = Duration::from_secs(60);
/// Interval of polling.
const POLL: Duration = Duration::from_millis(10);
/// Maximum length of a socket's path, a little below the limit of the system.
const SOCKET_PATH_MAX: usize = 100;

/// Settings of a session that loads rows: nothing is replicated, rows are stored exactly or refused, and the primary's
/// values are neither checked nor computed again.
const SESSION: &str = "SET SESSION sql_log_bin=0, time_zone='+00:00', check_constraint_checks=0, foreign_key_checks=0, paceline_load_generated=1, \
                       sql_mode='STRICT_ALL_TABLES,STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'";

/// The server while it is being filled.
pub struct Target {
    socket: PathBuf,
    thread: Option<JoinHandle<Result<(), String>>>,
    session: Option<Session>,
}

/// A session on the target.
pub struct Session(pub Client);

impl Session {
    /// Executes a statement without a result.
    pub async fn execute(&mut self, statement: &str) -> Result<()> {
        let executed = self.0.query(statement).await;
        executed
            .map(drop)
            .map_err(|error| Error::Target(error.to_string()))
    }
}

impl Target {
    /// Starts the server in the directory.
    pub fn start(arguments: &Arguments, directory: Arc<IncompleteDirectory>) -> Result<Target> {
        let mut socket = directory.directory().join("join.sock");
        if socket.as_os_str().len() > SOCKET_PATH_MAX {
            socket = std::env::temp_dir().join(format!("paceline-join-{}.sock", std::process::id()));
        }
        let instead = [
            "--skip-networking".to_owned(),
            format!("--socket={}", socket.display()),
            "--skip-slave-start".to_owned(),
            "--read-only=0".to_owned(),
            "--local-infile=1".to_owned(),
            // If the server does not end cleanly, the directory is discarded anyway.
            "--sync-binlog=0".to_owned(),
            "--max-allowed-packet=1073741824".to_owned(),
        ];
        let mut options = arguments
            .server_with(&instead)
            .map_err(|error| Error::Target(error.to_string()))?;
        options.datadir = directory.directory().to_owned();
        let thread = std::thread::Builder::new()
            .name("join-target".into())
            .spawn(move || startup::run_unfinished(options, &directory))
            .map_err(|error| Error::Target(error.to_string()))?;
        Ok(Target {
            socket,
            thread: Some(thread),
            session: None,
        })
    }

    /// Returns the session that creates tables and shuts the server down.
    pub async fn session(&mut self) -> Result<&mut Session> {
        let session = match self.session.take() {
            Some(session) => session,
            None => self.connect().await?,
        };
        Ok(self.session.insert(session))
    }

    /// Opens another session, as soon as the server accepts it.
    pub async fn connect(&mut self) -> Result<Session> {
        let options = ConnectOptions {
            user: paceline_server::accounts::initial::own_user(),
            capabilities: Capabilities::LOCAL_FILES,
            ..ConnectOptions::default()
        };
        let deadline = Instant::now() + START;
        loop {
            match Client::connect_unix(&self.socket, &options).await {
                Ok(client) => {
                    let mut session = Session(client);
                    session.execute(SESSION).await?;
                    return Ok(session);
                }
                Err(error) => {
                    self.check_runs()?;
                    if Instant::now() > deadline {
                        return Err(Error::Target(error.to_string()));
                    }
                    tokio::time::sleep(POLL).await;
                }
            }
        }
    }

    /// Fails if the server has ended.
    fn check_runs(&mut self) -> Result<()> {
        match self.thread.take_if(|thread| thread.is_finished()) {
            None => Ok(()),
            Some(thread) => Err(ended(thread).err().unwrap_or_else(stopped_early)),
        }
    }

    /// Stops the server cleanly: all data is in its tables and synced when this returns.
    pub async fn stop(mut self) -> Result<()> {
        self.check_runs()?;
        if let Ok(session) = self.session().await {
            // The connection may be closed before the answer arrives.
            let _ = session.execute("SHUTDOWN").await;
        }
        let Some(thread) = self.thread.take() else {
            return Err(stopped_early());
        };
        while !thread.is_finished() {
            tokio::time::sleep(POLL).await;
        }
        ended(thread)
    }
}

fn stopped_early() -> Error {
    Error::Target("it was stopped before the copy was complete".into())
}

fn ended(thread: JoinHandle<Result<(), String>>) -> Result<()> {
    match thread.join() {
        Ok(outcome) => outcome.map_err(Error::Target),
        Err(_) => Err(Error::Target("it panicked".into())),
    }
}
