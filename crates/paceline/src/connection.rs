//! Connections to running servers: addresses, and a login that all commands share.
//!
//! A server may fall silent while its connection stays open (a machine that hangs, a network that drops packets). Then
//! a command would wait forever. So commands that are expected to end connect with a [`SilenceLimit`].
//! `paceline binlog` does not: it may follow a log for weeks.

use crate::tls::TlsOptions;
use clap::Args;
use paceline_log_stream::source::definition::TlsSettings;
use paceline_types::error_code::{ER_CONNECTION_KILLED, ER_SERVER_SHUTDOWN, ErrorCode};
use paceline_wire::client::{Client, ConnectOptions, QueryResult};
use paceline_wire::{TcpAddress, WireError, WireResult};
use std::collections::HashMap;
use std::fmt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// An error of a server or of the connection to it. The text is for users.
#[derive(Debug, thiserror::Error)]
#[error("{address}: {}{problem}", prefix(.statement.as_deref()))]
pub struct ServerError {
    /// Address of the server.
    pub address: String,
    /// The statement that failed, as messages show it: without secrets, and not longer than [`STATEMENT_SHOWN_MAX`].
    pub statement: Option<String>,
    /// Description of the error.
    pub problem: String,
    /// Cause, for commands that proceed after some errors.
    pub cause: Cause,
}

/// Cause of an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The server has answered with MariaDB's error of this number.
    Server(u16),
    /// No connection was made.
    NotConnected,
    /// The connection was lost.
    ConnectionLost,
    /// The command does not accept the address, or what the server has answered.
    Command,
}

impl ServerError {
    /// Returns an error that the command itself has found.
    pub fn new(address: impl ToString, problem: impl ToString) -> Self {
        ServerError {
            address: address.to_string(),
            statement: None,
            problem: problem.to_string(),
            cause: Cause::Command,
        }
    }

    /// Returns an error of an established connection.
    pub fn of_connection(address: impl ToString, error: &WireError) -> Self {
        ServerError {
            cause: match error {
                WireError::Server { code, .. } => Cause::Server(*code),
                _ => Cause::ConnectionLost,
            },
            ..ServerError::new(address, error)
        }
    }

    /// Adds the statement. A long one is not shown completely.
    fn with_statement(self, statement: &str) -> Self {
        ServerError {
            statement: Some(statement.chars().take(STATEMENT_SHOWN_MAX).collect()),
            ..self
        }
    }

    /// Returns whether the server has answered with one of these errors.
    pub fn is(&self, codes: &[ErrorCode]) -> bool {
        matches!(self.cause, Cause::Server(number) if codes.iter().any(|code| code.number() == number))
    }

    /// Returns whether there is no connection any more: it was not made, was lost, or the server closes it.
    pub fn is_lost(&self) -> bool {
        match self.cause {
            Cause::Server(_) => self.is(&[ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED]),
            Cause::NotConnected | Cause::ConnectionLost => true,
            Cause::Command => false,
        }
    }
}

fn prefix(statement: Option<&str>) -> String {
    statement.map_or_else(String::new, |statement| format!("{statement}: "))
}

pub type Result<T, E = ServerError> = std::result::Result<T, E>;

/// Address of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// Host and port.
    Tcp(TcpAddress),
    /// Path of a UNIX socket.
    Socket(PathBuf),
}

impl FromStr for Address {
    type Err = ServerError;

    /// Parses an address as every command accepts it: a [`TcpAddress`], or the path of a socket. A text is a path if it
    /// contains a slash or names an existing socket.
    fn from_str(text: &str) -> Result<Self> {
        let is_socket = |path: &str| {
            Path::new(path)
                .metadata()
                .is_ok_and(|found| found.file_type().is_socket())
        };
        if text.contains('/') || is_socket(text) {
            return Ok(Address::Socket(text.into()));
        }
        match text.parse() {
            Ok(address) => Ok(Address::Tcp(address)),
            Err(_) => Err(ServerError::new(
                format_args!("'{text}'"),
                "invalid address; expected HOST, HOST:PORT, [IPV6]:PORT or the path of a UNIX socket",
            )),
        }
    }
}

impl Address {
    /// Returns the host and port, for use by other servers.
    ///
    /// # Errors
    /// Fails for a socket, which can only be used on this machine.
    pub fn for_others(&self) -> Result<&TcpAddress> {
        match self {
            Address::Tcp(address) => Ok(address),
            Address::Socket(path) => Err(ServerError::new(
                path.display(),
                "a replica must be able to connect to this server: give HOST or HOST:PORT instead of a socket",
            )),
        }
    }

    /// Connects and logs in.
    ///
    /// # Errors
    /// Fails if the connection fails or the server refuses it.
    pub async fn connect(&self, options: &ConnectOptions) -> WireResult<Client> {
        match self {
            Address::Tcp(address) => Client::connect_tcp(&address.to_string(), options).await,
            Address::Socket(path) => Client::connect_unix(path, options).await,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(f),
            Address::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Time limit for a silent server.
#[derive(Args, Clone, Copy, PartialEq, Eq, Debug)]
pub struct SilenceLimit {
    /// Time limit in seconds for connecting, and for a server that is expected to answer but sends nothing. Then the
    /// command fails. 0 for no limit.
    #[arg(long = "net-timeout", value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,
}

impl SilenceLimit {
    /// Returns the limit; `None` without limit.
    pub fn limit(self) -> Option<Duration> {
        self.and(0)
    }

    /// Returns the limit for a statement that may itself wait for this many seconds.
    pub fn and(self, seconds: u64) -> Option<Duration> {
        (self.seconds > 0).then(|| Duration::from_secs(self.seconds.saturating_add(seconds)))
    }
}

/// Characters of a statement that an error shows.
const STATEMENT_SHOWN_MAX: usize = 200;

/// A row of texts; `None` for NULL.
pub type Row = Vec<Option<String>>;

/// A session on a server.
#[derive(Debug)]
pub struct Connection {
    address: Address,
    pub client: Client,
}

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// Fails if the connection fails or the server refuses it.
    pub async fn open(address: &Address, options: &ConnectOptions) -> Result<Self> {
        match address.connect(options).await {
            Ok(client) => Ok(Connection {
                address: address.clone(),
                client,
            }),
            Err(error) => Err(ServerError {
                cause: match error {
                    WireError::Server { code, .. } => Cause::Server(code),
                    _ => Cause::NotConnected,
                },
                ..ServerError::new(
                    address,
                    format_args!("cannot connect as '{}': {error}", options.user),
                )
            }),
        }
    }

    /// Returns the address of the server.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns an error of this server.
    pub fn problem(&self, problem: impl ToString) -> ServerError {
        ServerError::new(&self.address, problem)
    }

    /// Returns an error for a statement whose answer is none that the command accepts.
    pub fn wrong_answer(&self, statement: &str, problem: &str) -> ServerError {
        self.problem(problem).with_statement(statement)
    }

    /// Returns the error of a statement.
    fn failed(&self, statement: &str, error: &WireError) -> ServerError {
        ServerError::of_connection(&self.address, error).with_statement(statement)
    }

    /// Executes a statement and returns its first result.
    ///
    /// # Errors
    /// The server's error.
    pub async fn query(&mut self, statement: &str) -> Result<Option<QueryResult>> {
        let results = self.client.query(statement).await;
        let results = results.map_err(|error| self.failed(statement, &error))?;
        Ok(results.into_iter().next())
    }

    /// Executes a statement and returns its rows.
    ///
    /// # Errors
    /// The server's error.
    pub async fn rows(&mut self, statement: &str) -> Result<Vec<Row>> {
        let rows = self.client.rows(statement).await;
        rows.map_err(|error| self.failed(statement, &error))
    }

    /// Executes a statement and returns its rows. NULL becomes the empty string.
    ///
    /// # Errors
    /// The server's error.
    pub async fn texts(&mut self, statement: &str) -> Result<Vec<Vec<String>>> {
        let texts = |row: Row| row.into_iter().map(Option::unwrap_or_default).collect();
        Ok(self.rows(statement).await?.into_iter().map(texts).collect())
    }

    /// Executes a statement that contains a password. Messages show `shown` instead of the statement.
    ///
    /// # Errors
    /// The server's error.
    pub async fn execute_secret(&mut self, statement: &str, shown: &str) -> Result<()> {
        let done = self.client.rows(statement).await;
        done.map(drop).map_err(|error| self.failed(shown, &error))
    }

    /// Returns the columns of the first row. NULL becomes the empty string.
    ///
    /// # Errors
    /// Those of [`Connection::rows`]; fails if there is no row.
    pub async fn row(&mut self, statement: &str) -> Result<Vec<String>> {
        let rows = self.texts(statement).await?;
        rows.into_iter()
            .next()
            .ok_or_else(|| self.wrong_answer(statement, "no answer"))
    }

    /// Returns rows as maps from column names to values. Used for SHOW statements, whose columns differ between
    /// servers.
    ///
    /// # Errors
    /// Those of [`Connection::rows`].
    pub async fn named_rows(&mut self, statement: &str) -> Result<Vec<HashMap<String, String>>> {
        let Some(QueryResult::Rows(set)) = self.query(statement).await? else {
            return Ok(Vec::new());
        };
        let names: Vec<String> = set.columns.into_iter().map(|column| column.name).collect();
        let row = |values: Vec<Option<Vec<u8>>>| {
            let texts = values
                .into_iter()
                .map(|value| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned());
            names.iter().cloned().zip(texts).collect()
        };
        Ok(set.rows.into_iter().map(row).collect())
    }
}

/// Returns a text as an SQL literal.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Returns an identifier in backticks.
pub fn quoted_identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Returns the TLS options of CHANGE MASTER, preceded by a comma; empty without TLS.
pub fn master_tls(settings: &TlsSettings) -> String {
    if !settings.enabled {
        return String::new();
    }
    let verify = u8::from(settings.verify_server_certificate);
    let mut text = format!(", MASTER_SSL=1, MASTER_SSL_VERIFY_SERVER_CERT={verify}");
    for (option, value) in [
        ("CA", &settings.parameters.ca),
        ("CAPATH", &settings.parameters.ca_path),
        ("CERT", &settings.parameters.certificate),
        ("KEY", &settings.parameters.key),
        ("CIPHER", &settings.parameters.cipher),
        ("CRL", &settings.parameters.crl),
        ("CRLPATH", &settings.parameters.crl_path),
    ] {
        if !value.is_empty() {
            text.push_str(&format!(", MASTER_SSL_{option}={}", quoted(value)));
        }
    }
    text
}

/// Returns the login for the options of a command line. A missing password is taken from the environment.
///
/// # Errors
/// Fails if the TLS options cannot be used.
pub fn account(
    user: &str,
    password: &str,
    tls: &TlsOptions,
    idle_timeout: Option<Duration>,
) -> WireResult<ConnectOptions> {
    Ok(ConnectOptions {
        user: user.to_owned(),
        password: or_environment(password, &["PACELINE_PASSWORD", "MYSQL_PWD"]),
        tls: tls.client()?,
        idle_timeout,
        ..ConnectOptions::default()
    })
}

/// Returns `given`, or if it is empty the first of these environment variables that exists.
pub fn or_environment(given: &str, variables: &[&str]) -> String {
    match given {
        "" => variables
            .iter()
            .find_map(|variable| std::env::var(variable).ok())
            .unwrap_or_default(),
        given => given.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hosts_with_ports_or_socket_paths() {
        let of = |text: &str| text.parse::<Address>().unwrap();
        for (text, shown) in [
            ("db1", "db1:3306"),
            ("db1:7", "db1:7"),
            ("[::1]", "[::1]:3306"),
            ("::1", "[::1]:3306"),
        ] {
            assert_eq!(of(text).to_string(), shown);
            assert_eq!(of(text).for_others().unwrap().to_string(), shown);
        }
        assert_eq!(of("./s"), Address::Socket("./s".into()));
        let refused = of("/run/s").for_others().unwrap_err().to_string();
        assert!(
            refused.starts_with("/run/s: a replica must be able to connect"),
            "{refused}"
        );
        for wrong in ["", "db2:", ":3306", "db2:x", "db2:70000"] {
            let refused = wrong.parse::<Address>().unwrap_err().to_string();
            assert!(
                refused.starts_with(&format!("'{wrong}': invalid address")),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_connection_is_lost_after_some_errors() {
        let error = |cause| ServerError {
            cause,
            ..ServerError::new("db1", "x")
        };
        for (cause, is_lost) in [
            (Cause::Server(ER_SERVER_SHUTDOWN.number()), true),
            (Cause::Server(ER_CONNECTION_KILLED.number()), true),
            (Cause::Server(1146), false),
            (Cause::NotConnected, true),
            (Cause::ConnectionLost, true),
            (Cause::Command, false),
        ] {
            assert_eq!(error(cause).is_lost(), is_lost, "{cause:?}");
        }
    }

    #[test]
    fn an_error_shows_the_beginning_of_its_statement() {
        let error = ServerError::new("db1", "error 1146 (42S02): no table");
        assert_eq!(error.to_string(), "db1: error 1146 (42S02): no table");
        let error = error.with_statement(&"表".repeat(STATEMENT_SHOWN_MAX + 1));
        let shown = "表".repeat(STATEMENT_SHOWN_MAX);
        assert_eq!(
            error.to_string(),
            format!("db1: {shown}: error 1146 (42S02): no table")
        );
        assert_eq!(error.problem, "error 1146 (42S02): no table");
    }

    #[test]
    fn a_silence_limit_of_zero_seconds_has_no_limit() {
        let limit = |seconds| SilenceLimit { seconds };
        assert_eq!(limit(5).limit(), Some(Duration::from_secs(5)));
        assert_eq!(limit(5).and(10), Some(Duration::from_secs(15)));
        assert_eq!(limit(0).and(10), None);
    }
}
