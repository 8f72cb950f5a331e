//! `hot-row`: what it brings to release row locks before the sync.
//!
//! All clients update the same few rows, each in a transaction of its own. A commit that holds its locks until it is
//! published makes the next update of the row wait for the disk. With early release that update is executed while the
//! sync goes on, and is ready for the next group.
//!
//! ```text
//!  off:  update 1 │ write │ sync │ publish │ update 2 │ write │ sync │ publish │ …
//!  on:   update 1 │ write │ sync     │ write │ sync     │ …
//!                         │ update 2 │       │ update 3 │
//! ```

use crate::driven_server::{
    ComparisonOptions, Load, RateOptions, RateReport, RateRow, Server, ServerProgram, rate_of_statements,
};
use crate::machine;
use crate::report::Report;
use crate::scale::Scale;
use crate::statistics::repeat_in_turn;
use std::io;
use std::path::{Path, PathBuf};

/// Arguments of the experiment.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Options {
    #[command(flatten)]
    comparison: ComparisonOptions,
    #[command(flatten)]
    rate: RateOptions,
}

impl Options {
    pub fn required_programs(&self) -> Vec<PathBuf> {
        let servers = self.comparison.programs();
        servers.iter().flat_map(ServerProgram::required).collect()
    }
}

/// A server and its setting.
struct Way<'a> {
    name: &'static str,
    server: &'a Server,
    /// Statement that sets it, if the server has it.
    setting: Option<&'static str>,
}

const CLIENTS: [usize; 4] = [1, 8, 32, 128];
const HOT_ROWS: [u64; 2] = [1, 10];

/// Runs the experiment.
///
/// # Errors
/// Those of the servers and of their connections, and if an update is lost.
pub fn run(options: &Options, scale: Scale) -> io::Result<Report> {
    let programs = options.comparison.programs();
    let directory = options.comparison.directory();
    let file_system = machine::file_system(&directory)?;
    let servers = programs.each_ref().map(|program| start(program, &directory));
    let [paceline, mariadb] = servers;
    let (paceline, mariadb) = (paceline?, mariadb?);
    let ways = [
        Way {
            name: "early release",
            server: &paceline,
            setting: Some("SET GLOBAL paceline_early_lock_release = ON"),
        },
        Way {
            name: "release after the sync",
            server: &paceline,
            setting: Some("SET GLOBAL paceline_early_lock_release = OFF"),
        },
        Way {
            name: "MariaDB",
            server: &mariadb,
            setting: None,
        },
    ];
    let mut cases = vec![];
    for rows in HOT_ROWS {
        for clients in options.rate.clients(scale, &CLIENTS) {
            cases.extend(ways.iter().map(|way| (rows, clients, way)));
        }
    }
    let rates = repeat_in_turn(&cases, options.rate.repeats(scale), |(rows, clients, way)| {
        let load = Load {
            clients: *clients,
            start: None,
            window: options.rate.window(scale),
        };
        measure(way, *rows, &load)
    })?;
    let rows = cases
        .iter()
        .zip(rates)
        .map(|((rows, clients, way), rates)| RateRow {
            way: match rows {
                1 => format!("{}, 1 row", way.name),
                _ => format!("{}, {rows} rows", way.name),
            },
            clients: *clients,
            rates,
            original: None,
        });
    let mut notes = vec![format!("Data: {}, {file_system}.", directory.display())];
    for program in &programs {
        notes.push(format!("{}: {}", program.name(), program.path().display()));
    }
    let report = RateReport {
        name: "hot-row",
        title: "Autocommit UPDATE of hot rows a second, log on a disk".to_owned(),
        way: "row locks",
        rows: rows.collect(),
        notes,
    };
    Ok(report.finish(&options.rate, scale))
}

/// Starts a server with a table of rows that are zero.
fn start(program: &ServerProgram, directory: &Path) -> io::Result<Server> {
    let server = Server::start(program, directory)?;
    let mut control = server.connect()?;
    control.execute("CREATE DATABASE lab")?;
    control.execute("CREATE TABLE lab.t (a INT PRIMARY KEY, b BIGINT)")?;
    for row in 0..HOT_ROWS[1] {
        control.execute(&format!("INSERT INTO lab.t (a, b) VALUES ({row}, 0)"))?;
    }
    Ok(server)
}

/// Returns the rate of updates, after a check that the rows have all of them.
fn measure(way: &Way<'_>, rows: u64, load: &Load<'_>) -> io::Result<f64> {
    let mut control = way.server.connect()?;
    way.setting.map_or(Ok(()), |setting| control.execute(setting))?;
    let mut updates = || -> io::Result<u64> {
        let sum = control.value("SELECT SUM(b) FROM lab.t")?;
        sum.parse().map_err(io::Error::other)
    };
    let before = updates()?;
    let (rate, done) = rate_of_statements(way.server, load, |random| {
        format!("UPDATE lab.t SET b = b + 1 WHERE a = {}", (random >> 33) % rows)
    })?;
    match updates()? - before {
        counted if counted == done => Ok(rate),
        counted => Err(io::Error::other(format!(
            "{}: {done} updates, {counted} in the rows",
            way.name
        ))),
    }
}
