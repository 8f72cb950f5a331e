//! `scheduling`: who does the serial part of a group commit.
//!
//! Clients of a real server, with its log on a RAM disk, so that the sync costs little and the scheduling much:
//! autocommit `REPLACE INTO t (a, b)` as fast as they can. The serial part (positions, one write, one sync) is done by
//! the session that is first in the group, which then hands the lead to the next group's first; or by one thread for
//! all groups. Beside them the same statement without any log: for a temporary table.
//!
//! ```text
//!  handed on:   session 1: lead, write, sync ─┐        session 2: lead, write, sync ─┐
//!                                             └ wakes ─▶                             └ wakes ─▶ …
//!  one thread:  lead, write, sync │ lead, write, sync │ …        sessions only wait for their result
//! ```

use crate::driven_server::{
    Load, PacelineOption, RateOptions, RateReport, RateRow, Server, rate_of_statements,
};
use crate::report::Report;
use crate::scale::Scale;
use crate::statistics::repeat_in_turn;
use std::io;
use std::path::{Path, PathBuf};

/// Arguments of the experiment.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Options {
    #[command(flatten)]
    paceline: PacelineOption,
    #[command(flatten)]
    rate: RateOptions,
}

impl Options {
    pub fn required_programs(&self) -> Vec<PathBuf> {
        self.paceline.program().required()
    }
}

/// A way of scheduling the serial part.
#[derive(Debug, Clone, Copy)]
struct Way {
    name: &'static str,
    /// `paceline_commit_leader`.
    leader: &'static str,
    table: &'static str,
    /// Published figures at 16, 32 and 128 clients, of four processors.
    originals: [Option<f64>; 3],
}

const WAYS: [Way; 4] = [
    Way {
        name: "handed from session to session",
        leader: "inline",
        table: "lab.t",
        originals: [Some(21_700.0), Some(19_000.0), Some(18_000.0)],
    },
    Way {
        name: "one thread",
        leader: "thread",
        table: "lab.t",
        originals: [Some(23_600.0), Some(22_500.0), Some(19_500.0)],
    },
    Way {
        name: "adaptive, the default",
        leader: "adaptive",
        table: "lab.t",
        originals: [None; 3],
    },
    Way {
        name: "no log",
        leader: "adaptive",
        table: "lab.temporary",
        originals: [Some(29_000.0), Some(29_700.0), Some(26_800.0)],
    },
];

/// Numbers of clients of the published figures.
const CLIENTS: [usize; 3] = [16, 32, 128];

/// Where Linux has a file system in memory.
const RAM_DISK: &str = "/dev/shm";

/// Rows of the table. Clients choose one at random.
const ROWS: u64 = 100_000;

/// Runs the experiment.
///
/// # Errors
/// Those of the server and of its connections.
pub fn run(options: &Options, scale: Scale) -> io::Result<Report> {
    let program = options.paceline.program();
    let clients = options.rate.clients(scale, &CLIENTS);
    let server = Server::start(&program, Path::new(RAM_DISK))?;
    let mut control = server.connect()?;
    control.execute("CREATE DATABASE lab")?;
    control.execute("CREATE TABLE lab.t (a INT PRIMARY KEY, b INT)")?;
    let subjects: Vec<(usize, Way)> = clients
        .iter()
        .flat_map(|&clients| WAYS.map(|way| (clients, way)))
        .collect();
    let rates = repeat_in_turn(&subjects, options.rate.repeats(scale), |(clients, way)| {
        control.execute(&format!("SET GLOBAL paceline_commit_leader = {}", way.leader))?;
        let load = Load {
            clients: *clients,
            start: Some("CREATE TEMPORARY TABLE lab.temporary (a INT PRIMARY KEY, b INT)"),
            window: options.rate.window(scale),
        };
        let replace = |random| {
            let (row, value) = ((random >> 33) % ROWS, random >> 40);
            format!("REPLACE INTO {} (a, b) VALUES ({row}, {value})", way.table)
        };
        rate_of_statements(&server, &load, replace).map(|(rate, _)| rate)
    })?;
    let rows = subjects.iter().zip(rates).map(|((clients, way), rates)| {
        let place = CLIENTS.iter().position(|published| published == clients);
        RateRow {
            way: way.name.to_owned(),
            clients: *clients,
            rates,
            original: place.and_then(|place| way.originals[place]),
        }
    });
    let report = RateReport {
        name: "scheduling",
        title: "Autocommit REPLACE a second, log on a RAM disk".to_owned(),
        way: "serial part",
        rows: rows.collect(),
        notes: vec![
            "The published figures are of 4 processors.".to_owned(),
            format!("Server: {}", program.path().display()),
            "No log: a temporary table of each client, which no log has.".to_owned(),
        ],
    };
    Ok(report.finish(&options.rate, scale))
}
