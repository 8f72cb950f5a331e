//! `paceline restore`: creates a data directory from a backup, at a point in time.
//!
//! ```text
//!   backup.json, increments ─▶ the log ─▶ find the point, cut ─▶ the tables ─▶ replay ─▶ a data directory
//!                               │                                                        │
//!                        later log (--apply-log)                    paceline.unfinished exists until now
//! ```
//! The log is restored first and is small, so an unreachable point in time is detected before the tables are copied.
//! Everything copied is checked against the manifests. An interrupted restore leaves the directory marked
//! ([`paceline_server::unfinished`]): no server starts in it, and the same command starts again.

mod fetch;
mod log_files;
mod point;

use crate::backup::error::{Error, Result};
use crate::backup::manifest::Chain;
use crate::new_files::NewFiles;
use crate::progress::Progress;
use crate::stop::StopSignals;
use fetch::{Downloader, ObjectRead};
pub use log_files::LogFiles;
use paceline_object_storage::ObjectStorage;
use paceline_server::incomplete_directory::IncompleteDirectory;
use paceline_server::restore::{
    CopiedDirectory, EventOrigins, ReplicationSource, RestoreReport, recover_copy,
};
use paceline_types::{LogPosition, ServerId};
pub use point::time_text;
use point::{Point, Target};
use std::path::{Path, PathBuf};

/// Text in the marker file.
const COMMAND: &str = "paceline restore";

/// Options of `paceline restore`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Location of the backup: a directory, file:///DIR or s3://BUCKET/NAME.
    #[arg(long, value_name = "DIR|URL")]
    from: String,
    /// Data directory to create. It must be empty or not exist.
    #[arg(long, value_name = "DIR", required_unless_present = "check")]
    datadir: Option<PathBuf>,
    /// Restore up to and including these GTIDs (one for each domain that matters), or up to this time:
    /// 'YYYY-MM-DD HH:MM:SS'.
    #[arg(long, value_name = "GTID|TIME")]
    until: Option<String>,
    /// Restore up to this GTID, without its transaction.
    #[arg(long, value_name = "GTID")]
    stop_before: Option<String>,
    /// Directory with the server's own binary log files. Their transactions after the end of the backup are applied
    /// too.
    #[arg(long, value_name = "DIR")]
    apply_log: Option<PathBuf>,
    /// Number of objects of the backup to read in parallel.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=64))]
    parallel: u8,
    /// Only read the whole backup and verify its checksums.
    #[arg(long, conflicts_with_all = ["datadir", "until", "stop_before", "apply_log"])]
    check: bool,
}

/// Creates the data directory.
///
/// # Errors
/// Errors have texts for users. The directory is unchanged, or marked as unfinished.
pub async fn run(options: &Options) -> Result<()> {
    let mut stop = StopSignals::take().map_err(|error| Error::Usage(error.to_string()))?;
    let target = Target::parse(options.until.as_deref(), options.stop_before.as_deref())?;
    let storage = open_existing(&options.from)?;
    let begun = async {
        let chain = load(options, &storage).await?;
        if options.datadir.is_none() {
            check(options, &storage, &chain).await?;
        }
        Result::<Chain>::Ok(chain)
    };
    let chain = tokio::select! {
        begun = begun => begun?,
        () = stop.wait() => return Err(Error::Interrupted),
    };
    let Some(datadir) = &options.datadir else {
        return Ok(());
    };
    let directory = IncompleteDirectory::begin(datadir, COMMAND).map_err(|error| Error::AlreadyExists {
        place: datadir.display().to_string(),
        problem: format!("{error}; restore the backup into an empty directory"),
    })?;
    let done = tokio::select! {
        done = restore(options, target, &storage, &chain, &directory) => done,
        () = stop.wait() => Err(Error::Interrupted),
    };
    let report = match done {
        Ok(report) => report,
        // Only the log has been copied so far.
        Err(error @ Error::Target(_)) => {
            directory.abandon().map_err(Error::file(datadir))?;
            return Err(error);
        }
        Err(why) => {
            let left = format!(
                "{} is incomplete, and no server starts in it; run the same command again, or delete it",
                datadir.display()
            );
            return Err(Error::Incomplete {
                why: why.into(),
                left,
            });
        }
    };
    directory.finish().map_err(Error::file(datadir))?;
    print!("{report}");
    Ok(())
}

async fn load(options: &Options, storage: &ObjectStorage) -> Result<Chain> {
    Chain::load(storage).await?.ok_or_else(|| Error::NoBackup {
        place: options.from.clone(),
        problem: "backup.json, which is written last, does not exist. A backup to this place was interrupted or is still running, or \
                  there never was one"
            .into(),
    })
}

/// Opens the place of a backup. Does not create a misspelt directory.
fn open_existing(place: &str) -> Result<ObjectStorage> {
    let path = place.strip_prefix("file://").unwrap_or(place);
    if !path.contains("://") && !Path::new(path).is_dir() {
        return Err(Error::NoBackup {
            place: place.to_owned(),
            problem: "the directory does not exist".into(),
        });
    }
    Ok(ObjectStorage::open(place)?)
}

async fn check(options: &Options, storage: &ObjectStorage, chain: &Chain) -> Result<()> {
    let total = chain.objects().map(|object| object.1).sum();
    let downloader = Downloader::new(storage, Progress::new("checked", total), options.parallel.into());
    let objects = chain.objects().map(|(object, length, checksum)| {
        Ok(ObjectRead {
            object,
            length,
            checksum: checksum.to_owned(),
            file: None,
        })
    });
    downloader.all(objects).await?;
    println!(
        "The backup in {} is undamaged, up to '{}': {}.",
        storage.place(),
        chain.last().gtid_position,
        downloader.finish()
    );
    Ok(())
}

async fn restore(
    options: &Options,
    target: Target,
    storage: &ObjectStorage,
    chain: &Chain,
    directory: &IncompleteDirectory,
) -> Result<String> {
    let datadir = directory.directory();
    let no_tables = || Error::Damaged {
        place: options.from.clone(),
        name: "backup.json".into(),
        problem: "it has no tables".into(),
    };
    let tables = chain.tables().ok_or_else(no_tables)?;
    let total = chain.objects().map(|object| object.1).sum();
    let downloader = Downloader::new(storage, Progress::new("restored", total), options.parallel.into());
    let log_bin = chain.manifests[0].server.log_bin.clone();
    let mut files = NewFiles::in_directory(datadir);
    let pieces = chain.log_pieces().map(|piece| {
        Ok(ObjectRead {
            object: piece.object(),
            length: piece.length,
            checksum: piece.checksum.clone(),
            file: Some(files.log_piece(&piece.file, piece.offset, piece.length)?),
        })
    });
    downloader.all(pieces).await?;
    let mut log = LogFiles::open(datadir, &log_bin, chain.last().log.to)?;
    if let Some(further) = &options.apply_log {
        log.append_from(further)?;
    }
    let point = log.find(target, tables.position)?;
    log.cut(point.cut)?;
    let table_files = tables.files.iter().map(|table| {
        Ok(ObjectRead {
            object: table.object(),
            length: table.length,
            checksum: table.checksum.clone(),
            file: Some(files.table(&table.name)?),
        })
    });
    downloader.all(table_files).await?;
    files.sync()?;
    let amount = downloader.finish();
    let server_id = ServerId(chain.last().server.server_id);
    let copied = CopiedDirectory {
        directory: datadir.to_owned(),
        log_bin: log_bin.clone(),
        server_id,
        events: EventOrigins::Only(server_id),
        tables: tables.position,
        follows: ReplicationSource::Nobody,
    };
    let restored = recover(copied, point.cut).await?;
    Ok(report(options, datadir, &log_bin, &point, &restored, &amount))
}

/// Recovers the copied data directory, so that a server can start on it, and shows the progress. `end` is the end of
/// the log.
///
/// # Errors
/// [`Error::Recovery`].
pub async fn recover(copied: CopiedDirectory, end: LogPosition) -> Result<RestoreReport> {
    let work = move || {
        // Progress is exact within the last file only: positions in different files are not comparable in bytes.
        let begin = match copied.tables.ordinal() == end.ordinal() {
            true => copied.tables.offset(),
            false => 0,
        };
        let mut progress = Progress::new("replayed", end.offset().saturating_sub(begin));
        let done = recover_copy(&copied, &mut |position| {
            if position.ordinal() == end.ordinal() {
                progress.set(position.offset().saturating_sub(begin));
            }
        });
        progress.finish();
        done
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(Error::Recovery),
        Err(error) => Err(Error::Recovery(error.to_string())),
    }
}

fn report(
    options: &Options,
    datadir: &Path,
    log_bin: &str,
    point: &Point,
    restored: &RestoreReport,
    amount: &str,
) -> String {
    let shown = datadir.display();
    let time = match point.last_timestamp {
        Some(seconds) => format!(", the last of them from {}", time_text(seconds)),
        None => String::new(),
    };
    let log_option = match log_bin {
        "binlog" => String::new(),
        other => format!(" --log-bin {other}"),
    };
    let mut text = format!(
        "Restored {} to {shown}: {amount}.\nIt contains all transactions up to '{}'{time}.\n",
        options.from,
        point.state.position()
    );
    for name in &restored.forgotten {
        text.push_str(&format!(
            "The server was a replica (connection '{name}'); the restored one is not. To make it one, use CHANGE MASTER with the password, which is not in the backup.\n"
        ));
    }
    text.push_str(&format!(
        "Start it with: paceline server --datadir {shown}{log_option} --server-id N\nTo make it a replica of the old server or of one of its \
         replicas: CHANGE MASTER TO MASTER_HOST='…', MASTER_USE_GTID=slave_pos; gtid_slave_pos is '{}'.\n",
        restored.position
    ));
    text
}
