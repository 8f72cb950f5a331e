//! The command line of `paceline workload`.

use super::error::{Error, Result};
use super::kind::Kind;
use super::session::Target;
use crate::connection::{Address, SilenceLimit, account};
use crate::tls::TlsOptions;
use clap::{ArgGroup, ValueHint};
use paceline_server::options::client_section;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum of `--seconds`: a year.
const SECONDS_MAX: u64 = 365 * 86_400;
/// Maximum of `--threads`, each of which is a connection.
const THREADS_MAX: i64 = 4096;
/// Range of `--rows`. A transfer needs two accounts.
pub const ROWS: RangeInclusive<u64> = 2..=100_000_000;
/// Maximum of `--rate`.
const RATE_MAX: u64 = 10_000_000;

/// Options of `paceline workload`.
#[derive(clap::Args, Debug)]
#[command(group = ArgGroup::new("action").args(["prepare", "check", "cleanup"]))]
pub struct Options {
    /// Kind of the load.
    #[arg(value_enum)]
    pub kind: Kind,
    /// Number of sessions that execute transactions.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=THREADS_MAX))]
    pub threads: u16,
    /// Transactions per second that are started, if the server keeps up; by default as many as possible.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=RATE_MAX))]
    pub rate: Option<u64>,
    /// Duration of the load in seconds.
    // Named otherwise than the option, because the silence limit has a field of that name.
    #[arg(long = "seconds", value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX))]
    duration_seconds: u64,
    /// Number of accounts, keys, or products and customers; by default 1000. An existing database keeps its own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(ROWS))]
    pub rows: Option<u64>,
    /// Print one JSON object per line.
    #[arg(long)]
    pub json: bool,
    /// Only create the database with its rows. A run without it does so if needed.
    #[arg(long)]
    prepare: bool,
    /// Only check the rows, for example on a replica.
    #[arg(long)]
    check: bool,
    /// Only remove the tables of the load, and the database if nothing else is in it.
    #[arg(long)]
    cleanup: bool,
    /// Name of the database; by default `workload_` and the kind.
    #[arg(long, value_name = "NAME")]
    database: Option<String>,
    /// Host of the server; by default 127.0.0.1.
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Hostname)]
    host: Option<String>,
    /// Port of the server; by default 3306.
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// UNIX socket of the server, instead of host and port.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["host", "port"], value_hint = ValueHint::FilePath)]
    socket: Option<PathBuf>,
    /// Account; by default root. It needs all privileges on the database.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Password of the account; by default from PACELINE_PASSWORD or MYSQL_PWD in the environment.
    #[arg(long)]
    password: Option<String>,
    /// Option file in the format of my.cnf. Address, user, password and TLS options that are not given on the command
    /// line are read from its section [client].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    defaults_file: Option<PathBuf>,
    /// Time limit for a silent server.
    #[command(flatten)]
    silence_limit: SilenceLimit,
    /// TLS options.
    // The last field: their heading would also apply to options after them.
    #[command(flatten)]
    tls: TlsOptions,
}

/// The part of a load to execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Create the rows if needed, run, check.
    Run,
    Prepare,
    Check,
    CleanUp,
}

/// Format of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Text,
    /// One object per line.
    Json,
}

impl Options {
    pub fn action(&self) -> Action {
        match (self.prepare, self.check, self.cleanup) {
            (true, ..) => Action::Prepare,
            (_, true, _) => Action::Check,
            (.., true) => Action::CleanUp,
            _ => Action::Run,
        }
    }

    pub fn format(&self) -> Format {
        match self.json {
            true => Format::Json,
            false => Format::Text,
        }
    }

    pub fn duration(&self) -> Duration {
        Duration::from_secs(self.duration_seconds)
    }

    /// Returns the server and the database to work on.
    ///
    /// # Errors
    /// Fails if the option file or the TLS options cannot be used, or for an invalid address.
    pub fn target(&self) -> Result<Target> {
        let usage = |error: &dyn std::fmt::Display| Error::Usage(error.to_string());
        let file = match &self.defaults_file {
            Some(path) => client_section(path).map_err(|error| usage(&error))?,
            None => Vec::new(),
        };
        let in_file = |name: &str| {
            let mut values = file.iter().filter(|(option, _)| option == name);
            values.next_back().and_then(|(_, value)| value.clone())
        };
        let mut tls = self.tls.clone();
        for (name, value) in file.iter().rev() {
            tls.complete(name, value.as_deref());
        }
        let has_address = self.host.is_some() || self.port.is_some();
        let socket = match has_address {
            true => None,
            false => self
                .socket
                .clone()
                .or_else(|| in_file("socket").map(PathBuf::from)),
        };
        let address = match socket {
            Some(socket) => Address::Socket(socket),
            None => {
                let host = self.host.clone().or_else(|| in_file("host"));
                let host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
                let port = self.port.map(|port| port.to_string()).or_else(|| in_file("port"));
                let port = port.unwrap_or_else(|| "3306".to_owned());
                let text = match host.contains(':') {
                    true => format!("[{host}]:{port}"),
                    false => format!("{host}:{port}"),
                };
                text.parse::<Address>().map_err(|error| usage(&error))?
            }
        };
        let user = self.user.clone().or_else(|| in_file("user"));
        let password = self.password.clone().or_else(|| in_file("password"));
        let login = account(
            user.as_deref().unwrap_or("root"),
            password.as_deref().unwrap_or_default(),
            &tls,
            self.silence_limit.limit(),
        )
        .map_err(|error| usage(&error))?;
        Ok(Target {
            address,
            login,
            database: self
                .database
                .clone()
                .unwrap_or_else(|| self.kind.default_database().to_owned()),
        })
    }
}
