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

mod connection;
mod server;

use super::Scale;
use crate::machine;
use crate::plot::{Bar, Bars, Drawing};
use crate::report::Report;
use crate::statistics::{Sample, repeat_in_turn};
use crate::table::{Table, figure, figure_or_blank, spread};
use connection::Connection;
use server::Server;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Arguments of the experiment.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Options {
    /// The server's program [default: `paceline` beside this program].
    #[arg(long)]
    server: Option<PathBuf>,
    /// Numbers of clients [default: 16,32,128; 4 with --quick].
    #[arg(long, value_delimiter = ',')]
    clients: Vec<usize>,
    /// Length of a repeat, in ms [default: 1,500; 100 with --quick].
    #[arg(long)]
    window_ms: Option<u64>,
    /// Repeats of each figure [default: 5; 2 with --quick].
    #[arg(long)]
    repeats: Option<usize>,
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

/// Rows of the table. Clients choose one at random.
const ROWS: u64 = 100_000;

/// Returns the server's program that is used without another one being named.
pub fn default_server() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    program.with_file_name("paceline")
}

/// Runs the experiment.
///
/// # Errors
/// Those of the server and of its connections.
pub fn run(options: &Options, scale: Scale) -> io::Result<Report> {
    let program = options.server.clone().unwrap_or_else(default_server);
    let clients = match options.clients.is_empty() {
        true => scale.choose(&CLIENTS[..], &[4]).to_vec(),
        false => options.clients.clone(),
    };
    let window = Duration::from_millis(options.window_ms.unwrap_or(scale.choose(1500, 100)).max(1));
    let repeats = options.repeats.unwrap_or(scale.choose(5, 2)).max(1);
    let server = Server::start(&program)?;
    let mut control = Connection::open(&server.socket())?;
    control.execute("CREATE DATABASE lab")?;
    control.execute("CREATE TABLE lab.t (a INT PRIMARY KEY, b INT)")?;
    let subjects: Vec<(usize, Way)> = clients
        .iter()
        .flat_map(|&clients| WAYS.map(|way| (clients, way)))
        .collect();
    let rates = repeat_in_turn(&subjects, repeats, |(clients, way)| {
        control.execute(&format!("SET GLOBAL paceline_commit_leader = {}", way.leader))?;
        rate(&server.socket(), *clients, way.table, window)
    })?;
    let mut table = Table::new([
        "serial part",
        "clients",
        "a second",
        "lowest … highest",
        "published",
    ]);
    let mut bars = vec![];
    for ((clients, way), rates) in subjects.iter().zip(rates) {
        let sample = Sample::new(rates);
        let place = CLIENTS.iter().position(|published| published == clients);
        let original = place.and_then(|place| way.originals[place]);
        table.row([
            way.name.to_owned(),
            clients.to_string(),
            figure(sample.median()),
            spread(&sample),
            figure_or_blank(original),
        ]);
        bars.push(Bar {
            label: format!("{}, {clients} clients", way.name),
            sample,
            original,
        });
    }
    let title = "Autocommit REPLACE a second, log on a RAM disk";
    Ok(Report {
        name: "scheduling",
        question: format!(
            "{title}; median of {repeats} repeats of {} ms. {} processors, clients on the same; the published figures are of 4.",
            window.as_millis(),
            machine::processors()
        ),
        tables: vec![(String::new(), table)],
        notes: vec![
            format!("Server: {}", program.display()),
            "No log: a temporary table of each client, which no log has.".to_owned(),
        ],
        drawing: Drawing::Bars(Bars {
            title: title.to_owned(),
            unit: "a second",
            bars,
        }),
        details: None,
    })
}

/// Returns how many statements that many clients do in a second.
fn rate(socket: &Path, clients: usize, table: &str, window: Duration) -> io::Result<f64> {
    let connections = (0..clients).map(|_| {
        let mut connection = Connection::open(socket)?;
        connection.execute("CREATE TEMPORARY TABLE lab.temporary (a INT PRIMARY KEY, b INT)")?;
        Ok(connection)
    });
    let connections: Vec<Connection> = connections.collect::<io::Result<_>>()?;
    let (done, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let mut handles = vec![];
        for (number, connection) in connections.into_iter().enumerate() {
            let (done, is_over) = (&done, &is_over);
            handles.push(scope.spawn(move || replace(connection, number as u64, table, done, is_over)));
        }
        // Every client has begun, on average.
        while done.load(Ordering::Relaxed) < clients as u64
            && handles.iter().all(|handle| !handle.is_finished())
        {
            thread::sleep(Duration::from_millis(1));
        }
        let (begin, before) = (Instant::now(), done.load(Ordering::Relaxed));
        thread::sleep(window);
        let (seconds, after) = (begin.elapsed().as_secs_f64(), done.load(Ordering::Relaxed));
        is_over.store(true, Ordering::Relaxed);
        for handle in handles {
            handle
                .join()
                .map_err(|_| io::Error::other("a client panicked"))??;
        }
        Ok((after - before) as f64 / seconds)
    })
}

/// Replaces random rows until it is over.
fn replace(
    mut connection: Connection,
    number: u64,
    table: &str,
    done: &AtomicU64,
    is_over: &AtomicBool,
) -> io::Result<()> {
    let mut random = number;
    while !is_over.load(Ordering::Relaxed) {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (row, value) = ((random >> 33) % ROWS, random >> 40);
        connection.execute(&format!("REPLACE INTO {table} (a, b) VALUES ({row}, {value})"))?;
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
