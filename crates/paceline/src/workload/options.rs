//! The command line of `paceline workload`.

use super::error::{Error, Result};
use super::kind::Kind;
use super::session::Target;
use crate::server_options::{Server, ServerOptions};
use clap::ArgGroup;
use std::ops::RangeInclusive;
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
    /// Servers of a cluster instead of one: the load works on the one that accepts writes, and looks for it again when
    /// it loses it.
    #[arg(long, value_name = "HOST:PORT,…", value_delimiter = ',', conflicts_with_all = ["host", "port", "socket"])]
    hosts: Vec<String>,
    /// Name of the database; by default `workload_` and the kind.
    #[arg(long, value_name = "NAME")]
    database: Option<String>,
    /// The server and the account, which needs all privileges on the database.
    // The last field: the heading of its TLS options would also apply to options after them.
    #[command(flatten)]
    server: ServerOptions,
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
        let Server { address, login } = self.server.server().map_err(Error::Usage)?;
        let addresses = match self.hosts.is_empty() {
            true => vec![address],
            false => self
                .hosts
                .iter()
                .map(|host| host.parse())
                .collect::<std::result::Result<_, _>>()?,
        };
        Ok(Target {
            addresses,
            login,
            database: self
                .database
                .clone()
                .unwrap_or_else(|| self.kind.default_database().to_owned()),
        })
    }
}
