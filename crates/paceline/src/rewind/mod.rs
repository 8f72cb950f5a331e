//! `paceline rewind`: removes from a dead primary the transactions that its successor does not have, so that it can
//! become the successor's replica.
//!
//! ```text
//!   lock the data directory ─▶ the successor's gtid_binlog_state ─▶ find what it lacks ─▶ keep a copy ─▶ cut the log before the first
//! ```
//! The log is the truth, so nothing else must be undone as long as the tables' files do not contain the removed
//! transactions. Tables are written from time to time, with acknowledged transactions only, and at a shutdown. If they
//! contain one that must be removed, the directory is left unchanged, and the server must be created again
//! ([`crate::join`]).
//!
//! After the first missing transaction, the log may contain transactions of other domains that the successor has. They
//! are removed too, and return by replication. Transactions that were never replicated (`sql_log_bin=0`) do not return;
//! they are listed.
//!
//! The change of the log is atomic: after a crash it is either not done or completed
//! ([`paceline_binlog::log::ClosedLog`]).

mod error;
mod saved_tail;

use crate::connection::{Address, Connection, SilenceLimit, account};
use crate::restore::time_text;
use crate::tls::TlsOptions;
use error::{Error, Result};
use paceline_binlog::GtidState;
use paceline_binlog::log::{ClosedLog, GroupLocation, LogConfig, MissingTransactions, OpenRequest, RealDisk};
use paceline_cluster_host::member_file::refuse_directory_of_member;
use paceline_server::data_directory::{DataDirectory, DirectoryAge};
use paceline_server::data_version;
use paceline_server::incomplete_directory::refuse_incomplete_directory;
use paceline_storage::Storage;
use paceline_types::{LogPosition, ServerId};
use saved_tail::{SavedTail, save};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum number of transactions that are listed individually.
const NAMED_MAX: usize = 50;

/// Options of `paceline rewind`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// The current primary: HOST, HOST:PORT, [IPV6]:PORT or the path of its UNIX socket.
    successor: String,
    /// Data directory of the former primary. Its server must not be running.
    #[arg(long, value_name = "DIR")]
    datadir: PathBuf,
    /// Base name of the former primary's log files.
    #[arg(long, value_name = "NAME", default_value = "binlog")]
    log_bin: String,
    /// Only list the transactions that would be removed.
    #[arg(long)]
    dry_run: bool,
    /// Account on the current primary. It needs no privileges.
    #[arg(long, default_value = "root")]
    user: String,
    /// Password of the account; by default from PACELINE_PASSWORD or MYSQL_PWD in the environment.
    #[arg(long, default_value = "", hide_default_value = true)]
    password: String,
    /// Time limit for a silent server.
    #[command(flatten)]
    silence_limit: SilenceLimit,
    /// TLS options.
    #[command(flatten)]
    tls: TlsOptions,
}

/// Cuts the log, and prints what was removed and what to do next.
///
/// # Errors
/// The error is a text for users. Nothing was changed, or the next start of the server completes the change.
pub fn run(options: &Options) -> Result<(), String> {
    let report = rewind(options).map_err(|error| error.to_string())?;
    print!("{report}");
    Ok(())
}

fn rewind(options: &Options) -> Result<String> {
    let directory = &options.datadir;
    refuse_incomplete_directory(directory).map_err(Error::Directory)?;
    // A member of a cluster cuts off by itself what it must.
    refuse_directory_of_member(directory).map_err(Error::Directory)?;
    let index = format!("{}.index", options.log_bin);
    if !directory.join("tables").is_dir() || !directory.join(&index).is_file() {
        let problem = format!(
            "{} is not a data directory: it has no tables, or no '{index}'",
            directory.display()
        );
        return Err(Error::Directory(problem));
    }
    let _lock = DataDirectory::lock(directory, Duration::ZERO).map_err(Error::Directory)?;
    data_version::check(directory, DirectoryAge::Begun).map_err(Error::Directory)?;
    let has = ask(options)?;
    let tables = tables_position(directory)?;
    let log = open_log(options, tables)?;
    let missing = log.missing_from(&has)?;
    let successor = &options.successor;
    let Some(first) = missing.groups.first().copied() else {
        return match missing.more_were_purged {
            true => Err(purged(options)),
            false => Ok(format!(
                "{successor} has all transactions of this log: nothing is removed\n"
            )),
        };
    };
    let state = &missing.before;
    if !state.iter().any(|gtid| has.contains(gtid)) {
        return Err(Error::Unrelated {
            successor: successor.clone(),
            has: has.to_string(),
        });
    }
    if missing.more_were_purged {
        return Err(purged(options));
    }
    if tables > first.start {
        return Err(Error::TablesAhead {
            successor: successor.clone(),
            tables,
            first: first.gtid,
            place: first.start,
        });
    }
    let names = Names::of(&log, &first);
    let mut report = names.list(successor, &missing);
    if options.dry_run {
        report += "nothing was changed (--dry-run)\n";
        return Ok(report);
    }
    data_version::claim(directory, DirectoryAge::Begun).map_err(Error::Directory)?;
    let saved = save(&log, &first, directory)?;
    log.rewind(&first)?;
    report += &afterwards(state, &saved, first.start.offset());
    Ok(report)
}

fn purged(options: &Options) -> Error {
    Error::Purged {
        successor: options.successor.clone(),
    }
}

/// Returns the successor's `gtid_binlog_state`.
fn ask(options: &Options) -> Result<GtidState> {
    const STATE: &str = "SELECT @@GLOBAL.gtid_binlog_state";
    let idle_timeout = options.silence_limit.limit();
    let account = account(&options.user, &options.password, &options.tls, idle_timeout);
    let account = account.map_err(|error| Error::Tls(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::Directory(error.to_string()))?;
    runtime.block_on(async {
        let address: Address = options.successor.parse()?;
        let mut connection = Connection::open(&address, &account).await?;
        let row = connection.row(STATE).await?;
        let text = row.first().map(String::as_str).unwrap_or_default();
        let state = text.parse::<GtidState>();
        Ok(state.map_err(|error| connection.problem(format!("{STATE}: {error}")))?)
    })
}

fn tables_position(directory: &Path) -> Result<LogPosition> {
    let position = Storage::position_of(&directory.join("tables"));
    position.map_err(|error| Error::Directory(format!("cannot read the tables: {error}")))
}

fn open_log(options: &Options, engine_position: LogPosition) -> Result<ClosedLog> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let request = OpenRequest {
        engine_position,
        ..OpenRequest::new(now.as_secs() as u32)
    };
    // Nothing is written that contains the server's id.
    let config = LogConfig::new(&options.datadir, &options.log_bin, ServerId(1));
    Ok(ClosedLog::open(Arc::new(RealDisk), &config, &request)?)
}

/// Names of the log files by ordinal.
struct Names(Vec<(u32, String)>);

impl Names {
    fn of(log: &ClosedLog, first: &GroupLocation) -> Self {
        let files = log.files_from(first);
        Names(
            files
                .map(|file| (file.ordinal(), file.name().to_owned()))
                .collect(),
        )
    }

    /// Returns a text that lists the missing transactions, the first ones individually.
    fn list(&self, successor: &str, missing: &MissingTransactions) -> String {
        let count = missing.groups.len();
        let noun = if count == 1 { "transaction" } else { "transactions" };
        let mut text = format!("{successor} lacks {count} {noun} of this log:\n");
        self.append(&missing.groups, &mut text);
        if !missing.local.is_empty() {
            text += "transactions that were never replicated (sql_log_bin=0) are removed too, and do not come back:\n";
            self.append(&missing.local, &mut text);
        }
        text
    }

    fn append(&self, places: &[GroupLocation], text: &mut String) {
        let count = places.len();
        for place in places.iter().take(NAMED_MAX) {
            let named = self
                .0
                .iter()
                .find(|(ordinal, _)| *ordinal == place.start.ordinal());
            let _ = writeln!(
                text,
                "  {:<20} {}  {} {}",
                place.gtid.to_string(),
                time_text(place.timestamp),
                named.map_or("", |(_, name)| name),
                place.start.offset()
            );
        }
        if count > NAMED_MAX {
            let _ = writeln!(text, "  … and {} more", count - NAMED_MAX);
        }
    }
}

/// Returns a text about the result and the next steps.
fn afterwards(state: &GtidState, saved: &SavedTail, offset: u64) -> String {
    let files: Vec<String> = saved
        .files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let position = match state.is_empty() {
        true => "the beginning".to_owned(),
        false => state.position().to_string(),
    };
    format!(
        "the log now ends at {position}; the removed transactions are saved:\n  paceline binlog -vv --start-position={offset} {}\n\
         start the server, then make it a replica with CHANGE MASTER TO MASTER_HOST='…', …, MASTER_USE_GTID=current_pos and START SLAVE\n",
        files.join(" ")
    )
}
