//! `paceline join`: one command turns an empty directory into a replica of a running MariaDB or Paceline.
//!
//! A Paceline's files are copied unchanged ([`file_copy`]), unless something is filtered or left out. From a MariaDB,
//! rows are copied:
//!
//! ```text
//!   primary                                                this process
//!   ───────                                                ────────────
//!   BACKUP STAGE BLOCK_DDL      DDL waits                   read the schema, refuse what is not supported
//!   BACKUP STAGE BLOCK_COMMIT   commits wait, milliseconds  N sessions: START TRANSACTION WITH CONSISTENT SNAPSHOT; the GTID position
//!   BACKUP STAGE END
//!   SELECT … FROM t  ── N sessions, the largest first   ──▶ our own server on a private socket: LOAD DATA, sql_log_bin=0
//!                                                           gtid_binlog_state, gtid_slave_pos, CHANGE MASTER; it stops
//!                                                           the server starts on its normal sockets and replicates
//! ```
//!
//! The copy is one state of the primary, the one at the position: all sessions got their snapshots while no commit was
//! possible. On a Paceline no lock is needed for copying rows either: the sessions request the snapshot at one GTID,
//! and the schema is read before and after. If a table is altered before it is copied, the primary refuses the read
//! (1412), and the join fails. A MariaDB may not refuse (after a RENAME or an instant ALTER); then the time of the
//! table's definition differs from the one in the schema. Nothing waits while rows are copied.
//!
//! *Nothing is left out silently.* Tables are copied completely, or the join fails before it copies: if our server
//! refuses to create a table, its message is printed. Tables that the server's replication filters exclude
//! (`--replicate-ignore-table` and similar) are not copied, because their changes will not be replicated. Views are
//! copied, and so are triggers, routines and events ([`programs`]), unless `--leave-out` says otherwise; triggers are
//! left out only if the primary logs rows. A replica does not need them for replication, but they are missing if it
//! becomes a primary. Foreign keys are copied with their tables. Those without actions may be left out: changes by an
//! action are not in a MariaDB's log, so the replica must perform the action itself. When rows are copied, accounts are
//! not.
//!
//! *Rows are loaded as text*, in transactions of some megabytes, with exact values of all columns: TIMESTAMP in UTC,
//! FLOAT as the double with the same value, BIT as a number. Each LOAD DATA must report as many rows as were sent, and
//! no warning.
//!
//! If the join *fails* or is interrupted, it empties the directory. If it is *killed*, the directory remains marked
//! ([`paceline_server::incomplete_directory`]): no server starts in it, and the next join starts again.

mod arguments;
mod error;
mod file_copy;
mod primary;
mod programs;
mod progress;
mod row;
mod row_copy;
mod schema;
mod snapshot;
mod table_ranges;
mod target;

pub use arguments::{Arguments, Refusal, command, parse};
pub use error::{Error, Result};

use crate::backup::error::Error as CopyError;
use crate::stop::StopSignals;
use arguments::{CopyMethod, Options};
use paceline_server::data_directory::DirectoryAge;
use paceline_server::data_version;
use paceline_server::incomplete_directory::IncompleteDirectory;
use paceline_server::variables::Variable;
use primary::Primary;
use progress::{Progress, ProgressReporter};
use row_copy::Copier;
use schema::CopySelection;
use snapshot::position_text;
use std::sync::Arc;
use target::Target;

/// Name in the marker of an incomplete directory.
pub const COMMAND: &str = "paceline join";

/// Continuation when the directory is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextStep {
    /// The server starts.
    Serve,
    /// Nothing (`--prepare-only`).
    Stop,
}

/// Turns the directory into a replica. The server is not running yet when this returns.
///
/// # Errors
/// The error has a text for users. The directory is unchanged or empty, or marked as unfinished.
pub fn prepare(arguments: &Arguments) -> Result<NextStep> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| CopyError::Usage(format!("cannot start threads: {error}")))?;
    runtime.block_on(run(arguments))?;
    Ok(match arguments.options.prepare_only {
        true => NextStep::Stop,
        false => NextStep::Serve,
    })
}

async fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { options, server, .. } = arguments;
    let selection = CopySelection::new(server, options);
    let mut primary = Primary::connect(options).await?;
    primary.check(server, options).await?;
    let mut method = primary.copy_method(options, &selection)?;
    primary.check_privileges(method, options).await?;
    let memory_tables = primary.memory_tables().await?;
    let directory = Arc::new(IncompleteDirectory::begin(&server.datadir, COMMAND)?);
    let filled = fill(&mut primary, arguments, &selection, &mut method, &directory).await;
    // Only a directory of this format is copied. A copy without its version would count as one of the oldest.
    let filled = filled.and_then(|summary| {
        data_version::claim(&server.datadir, DirectoryAge::New).map_err(Error::Directory)?;
        Ok(summary)
    });
    // The server that also held it has ended.
    let ended = match (Arc::into_inner(directory), &filled) {
        (Some(directory), Ok(_)) => directory.finish(),
        (Some(directory), Err(_)) => directory.abandon(),
        (None, _) => Err(std::io::Error::other("its server has not ended")),
    };
    let summary = filled?;
    ended.map_err(|error| Error::Directory(error.to_string()))?;
    eprintln!("{} is complete: {summary}", server.datadir.display());
    eprintln!(
        "{}",
        match method {
            CopyMethod::Files => "accounts are those of the primary",
            CopyMethod::Rows =>
                "accounts were not copied: only the operating system's root may log in, as 'root' over the UNIX socket",
        }
    );
    let is_member = !server.globals.get(Variable::PacelineCluster).as_str().is_empty();
    // A cluster decides by itself which of its members accepts writes.
    if server.globals.is_on(Variable::ReadOnly) && !is_member {
        eprintln!(
            "it starts with read_only=1, as a replica should; give --read-only to `paceline server` too when you restart it"
        );
    }
    if !memory_tables.is_empty() {
        eprintln!(
            "note: MEMORY tables are empty here, as after a restart, and receive only later changes: {}",
            memory_tables.join(", ")
        );
    }
    Ok(())
}

/// Copies everything and sets where the replica continues. Returns a description of the copy. `method` is the way of
/// copying, and is updated if another way has to be used.
async fn fill(
    primary: &mut Primary,
    arguments: &Arguments,
    selection: &CopySelection,
    method: &mut CopyMethod,
    directory: &Arc<IncompleteDirectory>,
) -> Result<String> {
    let Arguments { options, server, .. } = arguments;
    let mut stop = StopSignals::take().map_err(|error| CopyError::Usage(error.to_string()))?;
    if *method == CopyMethod::Files {
        let stream = tokio::select! {
            stream = file_copy::begin(options) => stream,
            () = stop.wait() => Err(CopyError::Interrupted),
        };
        match stream {
            Ok(stream) => {
                let definition = Primary::definition(options)?;
                let complete = file_copy::copy(stream, server, directory, definition, &mut stop).await?;
                return Ok(format!(
                    "{}, as of {}",
                    complete.amount,
                    position_text(&complete.position)
                ));
            }
            Err(error @ CopyError::OtherVersion { .. }) if options.copy.is_none() => {
                eprintln!("note: {error}; rows are copied instead");
                *method = CopyMethod::Rows;
                primary.check_privileges(*method, options).await?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    let mut target = Target::start(arguments, directory.clone())?;
    // The target server gets the signal too, and may be the first to report it.
    let filled = tokio::select! {
        biased;
        () = stop.wait() => Err(CopyError::Interrupted.into()),
        filled = fill_rows(primary, &mut target, selection, options) => match filled {
            Err(_) if stop.has_come().await => Err(CopyError::Interrupted.into()),
            filled => filled,
        },
    };
    let stopped = target.stop().await;
    filled.and_then(|filled| stopped.map(|()| filled))
}

/// Copies all rows into the running target and sets where it continues. Returns a description of the copy.
async fn fill_rows(
    primary: &mut Primary,
    target: &mut Target,
    selection: &CopySelection,
    options: &Options,
) -> Result<String> {
    let mut snapshot = primary.snapshot(options, selection).await?;
    let waited = match snapshot.held {
        Some(held) => format!("commits waited for {:.1} ms", held.as_secs_f64() * 1000.0),
        None => "no commit waited".to_owned(),
    };
    eprintln!(
        "snapshot of {} at {}; {waited}",
        options.primary,
        position_text(&snapshot.position)
    );
    let mut problems = snapshot.schema.problems(selection);
    let session = target.session().await?;
    problems.extend(snapshot.schema.create(session, selection).await?);
    if !problems.is_empty() {
        return Err(Error::Unsupported {
            address: options.primary.clone(),
            problems,
        });
    }
    let tables = snapshot.schema.take_tables();
    let progress = Arc::new(Progress::new(&tables));
    let copier = Copier::new(tables, &mut snapshot.sessions, progress.clone()).await?;
    let mut targets = vec![];
    for _ in 0..snapshot.sessions.len() {
        targets.push(target.connect().await?);
    }
    let copied = {
        let _reporting = ProgressReporter::start(progress);
        copier.run(snapshot.sessions, targets).await?
    };
    let session = target.session().await?;
    let problems = snapshot.schema.create_triggers(session).await?;
    if !problems.is_empty() {
        return Err(Error::TriggersAfterRows {
            address: options.primary.clone(),
            problems,
        });
    }
    for statement in primary.follow_statements(options, &snapshot.position, &snapshot.state)? {
        session.execute(&statement).await?;
    }
    Ok(format!(
        "{} rows in {} tables, as of {}",
        copied.rows,
        copied.tables,
        position_text(&snapshot.position)
    ))
}
