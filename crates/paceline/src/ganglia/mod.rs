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
//! *Failures.* A source that does not answer is reported once, and again when it has been back; the others go on. UDP
//! packets may be lost: that is Ganglia's design, and the next run sends all again. With `--once` a failed source is an
//! error.
//!
//! *Limits.* `--interval` is 1 to 3600 s; a value that gmond does not get for four intervals expires there. Names are
//! those of the table, so a source cannot make new ones without end. An answer of memcached has at most 64 KiB.
//!
//! Rejected: gmetric, a process for each value; gmond's Python modules, which run within gmond and bind it to a Python.

mod delta;
mod error;
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
use delta::Deltas;
use error::{Error, Result};
use memcached::Memcached;
use module::{Reading, Server};
use paceline_wire::client::ConnectOptions;
use source::{Module, Source};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::{MissedTickBehavior, interval};

/// Number of intervals after which gmond forgets a value that was not sent again.
const EXPIRY_INTERVALS: u32 = 4;

/// Options of `paceline ganglia`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Address of gmond: HOST or HOST:PORT of a `udp_recv_channel`, which may be a multicast address.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8649", value_hint = ValueHint::Hostname)]
    gmond: String,
    /// Read a Paceline: HOST, HOST:PORT or the path of a socket.
    #[arg(long, value_name = "ADDRESS", value_hint = ValueHint::Hostname)]
    paceline: Option<Address>,
    /// Read a MariaDB or MySQL, or the same names of a Paceline.
    #[arg(long, value_name = "ADDRESS", value_hint = ValueHint::Hostname)]
    mariadb: Option<Address>,
    /// Read a memcached: HOST or HOST:PORT.
    #[arg(long, value_name = "HOST:PORT", value_hint = ValueHint::Hostname)]
    memcached: Option<String>,
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

/// Sends values until it is interrupted.
///
/// # Errors
/// Errors have texts for users: no source, an invalid address; with `--once` a source that does not answer.
pub async fn run(options: &Options) -> Result<()> {
    let mut stop = StopSignals::take().map_err(|error| Error::Usage(error.to_string()))?;
    let mut modules = options.modules()?;
    let gmond = Gmond::open(&options.gmond, options.interval).await?;
    let mut deltas = Deltas::default();
    let mut runs = interval(Duration::from_secs(options.interval.into()));
    runs.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = runs.tick() => {}
            () = stop.wait() => return Ok(()),
        }
        for module in &mut modules {
            let read = tokio::select! {
                read = module.read() => read,
                () = stop.wait() => return Ok(()),
            };
            match read {
                Ok(readings) => {
                    module.answers();
                    for reading in readings {
                        send(&reading, &mut deltas, &gmond, options.print).await?;
                    }
                }
                Err(error) if options.once => return Err(error),
                Err(error) => module.is_silent(&error),
            }
        }
        if options.once {
            return Ok(());
        }
    }
}

/// Sends a reading: a gauge as it is, a counter as what it grew by.
async fn send(reading: &Reading, deltas: &mut Deltas, gmond: &Gmond, print: bool) -> Result<()> {
    let Some(value) = deltas.value(reading) else {
        return Ok(());
    };
    if print {
        println!("{} {value} {}", reading.name, reading.unit);
    }
    gmond.send(reading, value).await
}

impl Options {
    fn modules(&self) -> Result<Vec<Module>> {
        let mut modules = Vec::new();
        if let Some(address) = &self.paceline {
            let server = Server::new(address.clone(), self.account()?);
            modules.push(Module::new(Source::Paceline(server)));
        }
        if let Some(address) = &self.mariadb {
            let server = Server::new(address.clone(), self.account()?);
            modules.push(Module::new(Source::MariaDb(server)));
        }
        if let Some(address) = &self.memcached {
            modules.push(Module::new(Source::Memcached(Memcached::new(address))));
        }
        match modules.is_empty() {
            true => Err(Error::Usage(
                "nothing to read: --paceline, --mariadb or --memcached is needed".into(),
            )),
            false => Ok(modules),
        }
    }

    fn account(&self) -> Result<ConnectOptions> {
        account(&self.user, &self.password, &self.tls, self.silence_limit.limit())
            .map_err(|error| Error::Usage(error.to_string()))
    }
}

/// A gmond that receives values.
struct Gmond {
    socket: UdpSocket,
    interval_seconds: u32,
}

impl Gmond {
    async fn open(address: &str, interval_seconds: u32) -> Result<Gmond> {
        let cannot = |error: std::io::Error| Error::Gmond(address.to_owned(), error);
        let with_port = match address.parse::<std::net::SocketAddr>().is_ok() || address.contains(':') {
            true => address.to_owned(),
            false => format!("{address}:8649"),
        };
        let mut found = tokio::net::lookup_host(&with_port).await.map_err(cannot)?;
        let target = found
            .next()
            .ok_or_else(|| Error::Usage(format!("{address}: the name has no address")))?;
        let own = match target.is_ipv4() {
            true => "0.0.0.0:0",
            false => "[::]:0",
        };
        let socket = UdpSocket::bind(own).await.map_err(cannot)?;
        socket.connect(target).await.map_err(cannot)?;
        Ok(Gmond {
            socket,
            interval_seconds,
        })
    }

    /// Sends a value with its description. A gmond that is not there shows only on some later packet, and may return.
    async fn send(&self, reading: &Reading, value: f64) -> Result<()> {
        let maximum_age = self.interval_seconds * EXPIRY_INTERVALS;
        for packet in packet::packets(reading, value, self.interval_seconds, maximum_age) {
            if let Err(error) = self.socket.send(&packet).await
                && error.kind() != std::io::ErrorKind::ConnectionRefused
            {
                return Err(Error::Send(error));
            }
        }
        Ok(())
    }
}
