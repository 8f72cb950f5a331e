//! A running server that a command talks to: where it is, and one login for all commands.
//!
//! A peer that falls silent while its connection stays open (a machine that hangs, a network that swallows) would hold a command for ever. So
//! commands that end connect with a [`Patience`]; `paceline binlog`, which may follow a log for weeks, does not.

use crate::tls::TlsOptions;
use clap::Args;
use paceline_replication::replica::definition::TlsSettings;
use paceline_wire::client::{Client, ConnectOptions, QueryResult};
use paceline_wire::{TcpAddress, WireResult};
use std::collections::HashMap;
use std::fmt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// What a server said, or what happened to the connection; for people.
#[derive(Debug, thiserror::Error)]
#[error("{address}: {problem}")]
pub struct ServerError {
    /// Which server.
    pub address: String,
    /// What it said.
    pub problem: String,
}

/// What functions here return.
pub type Result<T, E = ServerError> = std::result::Result<T, E>;

/// Where a server listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// Its host and port.
    Tcp(TcpAddress),
    /// Its UNIX socket.
    Socket(PathBuf),
}

impl FromStr for Address {
    type Err = ServerError;

    /// What every command takes: what [`TcpAddress`] does, or the path of a socket, which has a slash in it or is there.
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
            Err(_) => Err(ServerError {
                address: format!("'{text}'"),
                problem: "that is no address: HOST, HOST:PORT, [IPV6]:PORT or the path of a UNIX socket"
                    .into(),
            }),
        }
    }
}

impl Address {
    /// The host and port, where another server is to be told them.
    ///
    /// # Errors
    /// For a socket, which only this machine has.
    pub fn for_others(&self) -> Result<&TcpAddress> {
        match self {
            Address::Tcp(address) => Ok(address),
            Address::Socket(path) => Err(ServerError {
                address: path.display().to_string(),
                problem: "a replica is to connect to that server: it must be named by HOST or HOST:PORT, not by its socket".into(),
            }),
        }
    }

    /// Connects and logs in.
    ///
    /// # Errors
    /// What happened; the server's error.
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

/// How long a server may be silent.
#[derive(Args, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// How long connecting may take, and how long the server may send nothing while it is waited for, in seconds; then the command gives
    /// up. 0: for ever.
    #[arg(long = "net-timeout", value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,
}

impl Patience {
    /// What the connection is told.
    pub fn limit(self) -> Option<Duration> {
        self.and(0)
    }

    /// The same for a statement that may itself wait for so many seconds.
    pub fn and(self, seconds: u64) -> Option<Duration> {
        (self.seconds > 0).then(|| Duration::from_secs(self.seconds.saturating_add(seconds)))
    }
}

/// A row of texts.
pub type Row = Vec<Option<String>>;

/// A session.
#[derive(Debug)]
pub struct Connection {
    address: Address,
    /// The session itself.
    pub client: Client,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// What the server says.
    pub async fn open(address: &Address, options: &ConnectOptions) -> Result<Self> {
        match address.connect(options).await {
            Ok(client) => Ok(Connection {
                address: address.clone(),
                client,
            }),
            Err(error) => Err(ServerError {
                address: address.to_string(),
                problem: format!("cannot connect as '{}': {error}", options.user),
            }),
        }
    }

    /// Where the server is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// What is wrong with this server.
    pub fn problem(&self, problem: impl ToString) -> ServerError {
        ServerError {
            address: self.address.to_string(),
            problem: problem.to_string(),
        }
    }

    /// Executes a statement; its rows.
    ///
    /// # Errors
    /// What the server says.
    pub async fn rows(&mut self, statement: &str) -> Result<Vec<Row>> {
        let rows = self.client.rows(statement).await;
        rows.map_err(|error| self.problem(format!("{statement}: {error}")))
    }

    /// The columns of the only row; NULL is empty.
    ///
    /// # Errors
    /// As [`Connection::rows`]; if there is none.
    pub async fn row(&mut self, statement: &str) -> Result<Vec<String>> {
        let rows = self.rows(statement).await?;
        let row = rows
            .into_iter()
            .next()
            .ok_or_else(|| self.problem(format!("{statement}: no answer")))?;
        Ok(row.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Rows by their columns' names: what SHOW gives, whose columns differ from server to server.
    ///
    /// # Errors
    /// As [`Connection::rows`].
    pub async fn named_rows(&mut self, statement: &str) -> Result<Vec<HashMap<String, String>>> {
        let results = self.client.query(statement).await;
        let results = results.map_err(|error| self.problem(format!("{statement}: {error}")))?;
        let Some(QueryResult::Rows(set)) = results.into_iter().next() else {
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

/// A text as a literal.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// What CHANGE MASTER says of TLS: nothing, or with a comma before it.
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

/// A login as the command line has it; a password that it does not have is in the environment.
///
/// # Errors
/// If what is said of TLS cannot be heeded.
pub fn account(
    user: &str,
    password: &str,
    tls: &TlsOptions,
    patience: Option<Duration>,
) -> WireResult<ConnectOptions> {
    Ok(ConnectOptions {
        user: user.to_owned(),
        password: or_environment(password, &["PACELINE_PASSWORD", "MYSQL_PWD"]),
        tls: tls.client()?,
        patience,
        ..ConnectOptions::default()
    })
}

/// What is given, or else the first of these variables that the environment has.
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
    fn addresses() {
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
            refused.starts_with("/run/s: a replica is to connect"),
            "{refused}"
        );
        for wrong in ["", "db2:", ":3306", "db2:x", "db2:70000"] {
            let refused = wrong.parse::<Address>().unwrap_err().to_string();
            assert!(
                refused.starts_with(&format!("'{wrong}': that is no address")),
                "{refused}"
            );
        }
    }

    #[test]
    fn no_patience_is_all_patience() {
        let patience = |seconds| Patience { seconds };
        assert_eq!(patience(5).limit(), Some(Duration::from_secs(5)));
        assert_eq!(patience(5).and(10), Some(Duration::from_secs(15)));
        assert_eq!(patience(0).and(10), None);
    }
}
