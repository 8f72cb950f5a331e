//! `fsyncs`: how many syncs a write load needs.
//!
//! A commit that returns before its sync is lost by a power failure; a sync for each commit is slow. So a server lets
//! commits share syncs. Clients of mariadb-slap insert rows, and the syncs are counted twice: by the kernel, and by the
//! server in its status variable.
//!
//! ```text
//!                 ┌─▶ server under strace ──▶ syncs: lines of the trace, Innodb_data_fsyncs
//!  mariadb-slap ──┤
//!                 └─▶ server alone        ──▶ queries a second, Innodb_data_fsyncs
//! ```

mod write_load;

use crate::driven_server::{ComparisonOptions, STRACE, Server, ServerProgram, SyncCounts, TracedServer};
use crate::machine;
use crate::plot::{Bar, Bars, Drawing};
use crate::report::Report;
use crate::scale::Scale;
use crate::statistics::{Sample, repeat_in_turn};
use crate::table::{Table, figure, figure_or_blank, spread};
use std::io;
use std::path::PathBuf;

/// Arguments of the experiment.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Options {
    #[command(flatten)]
    comparison: ComparisonOptions,
    /// Queries of all clients together [default: 100,000; 200 with --quick].
    #[arg(long)]
    queries: Option<usize>,
    /// Numbers of clients [default: 1,5,10,20,30,50; 4 with --quick].
    #[arg(long, value_delimiter = ',')]
    clients: Vec<usize>,
    /// Repeats of each figure [default: 3; 1 with --quick].
    #[arg(long)]
    repeats: Option<usize>,
}

impl Options {
    pub fn required_programs(&self) -> Vec<PathBuf> {
        let servers = self.comparison.programs();
        let servers = servers.iter().flat_map(ServerProgram::required);
        servers
            .chain([write_load::SLAP, STRACE].map(PathBuf::from))
            .collect()
    }
}

const CLIENTS: [usize; 6] = [1, 5, 10, 20, 30, 50];
const QUERIES: usize = 100_000;

/// The published figures: number of clients, and syncs of 100,000 queries while each commit had its own, and since.
const PUBLISHED_CLIENTS: usize = 30;
const PUBLISHED_BROKEN: f64 = 200_251.0;
const PUBLISHED_MENDED: f64 = 26_092.0;
const PUBLISHED_TIMES_FASTER: f64 = 6.1;

/// A program, and two servers of it.
struct Subject {
    program: ServerProgram,
    traced: TracedServer,
    alone: Server,
}

/// Figures of one repeat.
struct Figures {
    kernel: SyncCounts,
    /// `Innodb_data_fsyncs` of the same load.
    status: f64,
    /// Syncs of the kernel for a query.
    for_a_query: f64,
    /// Queries a second, and `Innodb_data_fsyncs`, of the server without a tracer.
    rate: f64,
    status_alone: f64,
}

/// Runs the experiment.
///
/// # Errors
/// Those of the servers, of the tracer and of mariadb-slap.
pub fn run(options: &Options, scale: Scale) -> io::Result<Report> {
    let queries = options.queries.unwrap_or(scale.choose(QUERIES, 200));
    let repeats = options.repeats.unwrap_or(scale.choose(3, 1)).max(1);
    let clients = match options.clients.is_empty() {
        true => scale.choose(&CLIENTS[..], &[4]),
        false => &options.clients,
    };
    let directory = options.comparison.directory();
    let file_system = machine::file_system(&directory)?;
    let servers = options.comparison.programs().map(|program| {
        Ok(Subject {
            traced: TracedServer::start(&program, &directory)?,
            alone: Server::start(&program, &directory)?,
            program,
        })
    });
    let servers: Vec<Subject> = servers.into_iter().collect::<io::Result<_>>()?;
    let cases: Vec<(usize, &Subject)> = clients
        .iter()
        .flat_map(|&clients| servers.iter().map(move |server| (clients, server)))
        .collect();
    let results = repeat_in_turn(&cases, repeats, |(clients, server)| {
        measure(server, queries, *clients)
    })?;
    let mut syncs = Table::new([
        "server, traced",
        "clients",
        "syncs, kernel",
        "lowest … highest",
        "Innodb_data_fsyncs",
        "for a query",
        "published, for a query",
    ]);
    let mut rates = Table::new([
        "server, not traced",
        "clients",
        "queries a second",
        "lowest … highest",
        "Innodb_data_fsyncs",
    ]);
    let mut bars = vec![];
    for ((clients, server), repeats) in cases.iter().zip(&results) {
        let sample = |value: fn(&Figures) -> f64| Sample::new(repeats.iter().map(value).collect());
        let head = [server.program.name().to_owned(), clients.to_string()];
        let original = (*clients == PUBLISHED_CLIENTS).then_some(PUBLISHED_MENDED / QUERIES as f64);
        let kernel = sample(|figures| figures.kernel.total() as f64);
        let for_a_query = sample(|figures| figures.for_a_query);
        syncs.row(head.clone().into_iter().chain([
            figure(kernel.median()),
            spread(&kernel),
            figure(sample(|figures| figures.status).median()),
            figure(for_a_query.median()),
            figure_or_blank(original),
        ]));
        let rate = sample(|figures| figures.rate);
        rates.row(head.into_iter().chain([
            figure(rate.median()),
            spread(&rate),
            figure(sample(|figures| figures.status_alone).median()),
        ]));
        bars.push(Bar {
            label: format!("{}, {clients} clients", server.program.name()),
            sample: for_a_query,
            original,
        });
    }
    let title = "Syncs for a query of mariadb-slap's write load";
    let mut notes = vec![
        format!("Data: {}, {file_system}.", directory.display()),
        "MariaDB's Innodb_data_fsyncs leaves out the syncs of its binary log. This server's counts those of its log, \
         which is the only one."
            .to_owned(),
        "A tracer makes a sync slower, and then more commits share it. So the second table is of other servers.".to_owned(),
    ];
    if file_system.starts_with("tmpfs") {
        notes.push("A RAM disk has no syncs: the rates are not those of a disk. See --directory.".to_owned());
    }
    for server in &servers {
        let path = server.program.path().display();
        let calls = calls(&cases, &results, server);
        notes.push(format!("{}: {path}. Calls: {calls}.", server.program.name()));
    }
    Ok(Report {
        name: "fsyncs",
        question: format!(
            "{title}, {queries} queries; median of {repeats} repeats. {} processors, clients on the same.",
            machine::processors()
        ),
        tables: vec![
            (String::new(), syncs),
            (String::new(), rates),
            (published_title(), published()),
        ],
        notes,
        drawing: Drawing::Bars(Bars {
            title: title.to_owned(),
            unit: "syncs",
            bars,
        }),
        details: None,
    })
}

/// Does the load on both servers of a program.
fn measure(subject: &Subject, queries: usize, clients: usize) -> io::Result<Figures> {
    let (status, calls) = (status(&subject.traced)?, subject.traced.syncs()?);
    let done = write_load::run(&subject.traced.socket(), queries, clients)?;
    let kernel = subject.traced.syncs()?.since(&calls);
    let status = self::status(&subject.traced)? - status;
    let before = self::status(&subject.alone)?;
    let alone = write_load::run(&subject.alone.socket(), queries, clients)?;
    Ok(Figures {
        for_a_query: kernel.total() as f64 / done.queries,
        kernel,
        status,
        rate: alone.queries / alone.seconds,
        status_alone: self::status(&subject.alone)? - before,
    })
}

/// Returns the server's own count of syncs.
fn status(server: &Server) -> io::Result<f64> {
    let value = server.connect()?.value(
        "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'Innodb_data_fsyncs'",
    )?;
    value.parse().map_err(io::Error::other)
}

/// Returns all calls of a program's traced server.
fn calls(cases: &[(usize, &Subject)], results: &[Vec<Figures>], server: &Subject) -> SyncCounts {
    let mut sum = SyncCounts::default();
    for ((_, subject), repeats) in cases.iter().zip(results) {
        if std::ptr::eq(*subject, server) {
            repeats.iter().for_each(|figures| sum.add(&figures.kernel));
        }
    }
    sum
}

fn published_title() -> String {
    format!("Published, of another server: {QUERIES} queries of {PUBLISHED_CLIENTS} clients")
}

fn published() -> Table {
    let mut table = Table::new(["group commit", "syncs", "for a query", "times faster"]);
    for (name, syncs, faster) in [
        ("broken", PUBLISHED_BROKEN, None),
        ("mended", PUBLISHED_MENDED, Some(PUBLISHED_TIMES_FASTER)),
    ] {
        table.row([
            name.to_owned(),
            figure(syncs),
            figure(syncs / QUERIES as f64),
            figure_or_blank(faster),
        ]);
    }
    table
}
