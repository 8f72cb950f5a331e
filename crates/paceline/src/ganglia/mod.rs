//! `paceline ganglia`: sends statistics of servers to Ganglia's gmond.
//!
//! ```text
//!   every --interval:  module reads its values ──▶ gauge: as it is
//!                                               └▶ counter: what it grew by since the last run ──▶ gmond (UDP)
//! ```
//! One process reads all sources. A module is a table of names with kinds and units, and a function that reads them:
//! [`paceline`] has its table from the server itself (`information_schema.PACELINE_METRICS`), [`mariadb`] and
//! [`memcached`] have theirs here. Ganglia knows no counters that restart, so the difference between two runs is sent;
//! the first run sends gauges only, and so does one after a restart of the source, which shows as a smaller counter.
//!
//! *Failures.* Each source is read by a task of its own ([`feed`]), so one that does not answer delays no other. It is
//! reported once, and again when it answers. UDP packets may be lost: that is Ganglia's design, and the next run sends
//! all again. A packet that cannot be sent is reported in the same way. With `--once` both are errors.
//!
//! *Limits.* `--interval` is 1 to 3600 s; a value that gmond does not get for four intervals expires there. Names are
//! those of the table, so a source cannot make new ones without end. An answer of memcached has at most 64 KiB.
//!
//! Rejected: gmetric, a process for each value; gmond's Python modules, which run within gmond and bind it to a Python.

mod delta;
mod error;
mod feed;
mod gmond;
mod mariadb;
mod memcached;
mod module;
mod paceline;
mod packet;
mod source;

use crate::connection::{Address, SilenceLimit, account};
use crate::stop::StopSignals;
use crate::tls::TlsOptions;
use clap::ValueHint;
use error::{Error, Result};
use feed::{Feed, Output};
use gmond::Gmond;
use memcached::Memcached;
use module::Server;
use paceline_wire::TcpAddress;
use paceline_wire::client::ConnectOptions;
use source::Source;
use std::io::ErrorKind;
use std::panic::resume_unwind;
use std::time::Duration;
use tokio::task::JoinSet;

/// Options of `paceline ganglia`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Address of gmond: HOST or HOST:PORT of a `udp_recv_channel`, which may be a multicast address.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8649", value_parser = gmond::address, value_hint = ValueHint::Hostname)]
    gmond: TcpAddress,
    /// Read a Paceline: HOST, HOST:PORT or the path of a socket.
    #[arg(long, value_name = "ADDRESS", value_hint = ValueHint::Hostname)]
    paceline: Option<Address>,
    /// Read a MariaDB or MySQL, or the same names of a Paceline.
    #[arg(long, value_name = "ADDRESS", value_hint = ValueHint::Hostname)]
    mariadb: Option<Address>,
    /// Read a memcached: HOST or HOST:PORT.
    #[arg(long, value_name = "HOST:PORT", value_parser = memcached::address, value_hint = ValueHint::Hostname)]
    memcached: Option<TcpAddress>,
    /// Account on the servers; it needs no privileges.
    #[arg(long, value_name = "NAME", default_value = "root")]
    user: String,
    /// Password of the account; by default from PACELINE_PASSWORD or MYSQL_PWD in the environment.
    #[arg(long, default_value = "", hide_default_value = true)]
    password: String,
    /// Seconds between two runs.
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=3600))]
    interval: u32,
    /// Send once, gauges only, and end.
    #[arg(long)]
    once: bool,
    /// Print what is sent.
    #[arg(long)]
    print: bool,
    /// Time limit for a silent server.
    #[command(flatten)]
    silence_limit: SilenceLimit,
    /// TLS options.
    #[command(flatten)]
    tls: TlsOptions,
}

/// Sends values until it is interrupted, or with `--print` until nobody reads the lines.
///
/// # Errors
/// Errors have texts for users: no source, an invalid address; with `--once` a source that does not answer, after the
/// others were read.
pub async fn run(options: &Options) -> Result<()> {
    let mut stop = StopSignals::take().map_err(|error| Error::Usage(error.to_string()))?;
    let output = match options.print {
        true => Output::Lines,
        false => Output::Nothing,
    };
    let mut feeds = JoinSet::new();
    for source in options.sources()? {
        let gmond = Gmond::open(&options.gmond, options.interval).await?;
        let feed = Feed::new(source, gmond, output);
        match options.once {
            true => feeds.spawn(feed.run_once()),
            false => feeds.spawn(feed.run(Duration::from_secs(options.interval.into()))),
        };
    }
    let mut done = Ok(());
    loop {
        let ended = tokio::select! {
            ended = feeds.join_next() => ended,
            () = stop.wait() => return Ok(()),
        };
        // A feed is not cancelled before the end.
        match ended.map(|ended| ended.unwrap_or_else(|error| resume_unwind(error.into_panic()))) {
            None => return done,
            Some(Err(Error::Output(error))) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            Some(Err(error)) if !options.once => return Err(error),
            Some(ended) => done = done.and(ended),
        }
    }
}

impl Options {
    fn sources(&self) -> Result<Vec<Source>> {
        let mut sources = Vec::new();
        if let Some(address) = &self.paceline {
            let server = Server::new(address.clone(), self.account()?);
            sources.push(Source::Paceline(server));
        }
        if let Some(address) = &self.mariadb {
            let server = Server::new(address.clone(), self.account()?);
            sources.push(Source::MariaDb(server));
        }
        if let Some(address) = &self.memcached {
            sources.push(Source::Memcached(Memcached::new(address.clone())));
        }
        match sources.is_empty() {
            true => Err(Error::Usage(
                "nothing to read: --paceline, --mariadb or --memcached is needed".into(),
            )),
            false => Ok(sources),
        }
    }

    fn account(&self) -> Result<ConnectOptions> {
        account(&self.user, &self.password, &self.tls, self.silence_limit.limit())
            .map_err(|error| Error::Usage(error.to_string()))
    }
}
