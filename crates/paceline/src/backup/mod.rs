//! `paceline backup`: copies a running server into a directory or a bucket.
//!
//! ```text
//!   server                                          this process                    PLACE
//!   ──────                                          ────────────                    ─────
//!   hard links of the table files, a lease on the log
//!   table files, then the log ── one connection ──▶ check, sum up ── object by object ──▶ tables/… log/…
//!   the end position                         ─────▶ check that everything was received ──▶ backup.json
//! ```
//! A backup is a snapshot plus a position: table files that contain everything up to some position of the log, and the
//! log from there to the end of the backup. Restoring is crash recovery. So nothing on the server is stopped and
//! nothing has to wait for the backup, whatever runs there. An increment is only the log since the previous part.
//! [`manifest`] describes the objects.
//!
//! An *interrupted* backup leaves no manifest, and without a manifest there is no backup. Unless it is killed, it
//! removes what it has written. The next backup to the same place finds `unfinished.json`. It removes the remains if
//! the process that wrote them is known to be gone; otherwise it prints what to do. Storing the manifest is not
//! interrupted. If that fails, nothing is removed unless it is certain that the manifest will never exist: a manifest
//! without its objects would look like a backup, and make the backups before it unusable too.

pub mod error;
mod exclusive;
pub mod manifest;
pub mod source;

use crate::progress::Progress;
use crate::stop::StopSignals;
use error::{Error, Result};
use exclusive::{BackupInProgress, StaleBackup};
use manifest::{
    Chain, LogPart, LogPiece, Manifest, ParentManifest, Server, TableFile, Tables, checksum_text,
};
use paceline_object_storage::{Bytes, ObjectStorage, Upload};
pub use source::Access;
use source::{FilePiece, Source, StreamItem};
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::Xxh3;

/// Options of `paceline backup`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Location of the backup: a directory, file:///DIR or s3://BUCKET/NAME.
    #[arg(long, value_name = "DIR|URL")]
    to: String,
    /// Add an increment to the existing backup: only the log since its end.
    #[arg(long)]
    incremental: bool,
    /// Maximum copying rate in megabytes per second, to leave bandwidth to the server.
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..))]
    rate_max: Option<u64>,
    /// Remove the remains of an interrupted backup that another machine wrote. That backup must no longer be running.
    #[arg(long)]
    replace_unfinished: bool,
    // This is the last field: its TLS options have a heading, which would also apply to options after it.
    #[command(flatten)]
    access: Access,
}

/// Makes the backup.
///
/// # Errors
/// Errors have texts for users. If it fails there is no new backup, and earlier backups are unchanged.
pub async fn run(options: &Options) -> Result<()> {
    let mut stop = StopSignals::take().map_err(|error| Error::Usage(error.to_string()))?;
    let storage = ObjectStorage::open(&options.to)?;
    // The server and the place may take long to answer.
    let begun = tokio::select! {
        begun = begin(options, &storage) => begun,
        () = stop.wait() => Err(Error::Interrupted),
    };
    let (mut source, backup, chain) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            storage.remove_empty().await;
            return Err(match error {
                Error::Interrupted => Error::Incomplete {
                    why: error.into(),
                    left: "nothing was copied; run the same command again".to_owned(),
                },
                _ => error,
            });
        }
    };
    let copied = tokio::select! {
        copied = copy(&mut source, &storage, chain.as_ref(), options.rate_max) => copied,
        () = stop.wait() => Err(Error::Interrupted),
    };
    // The connection is closed first, so that the server releases its files.
    drop(source);
    let done = match copied {
        Ok(CopiedBackup {
            manifest: None,
            report,
        }) => Ok(report),
        Ok(CopiedBackup {
            manifest: Some(manifest),
            report,
        }) => {
            let storing = store(&manifest, &storage);
            tokio::pin!(storing);
            let stored = tokio::select! {
                stored = &mut storing => stored,
                // The signal is consumed here; the next one ends the process.
                () = stop.wait() => storing.await,
            };
            stored.map(|()| report)
        }
        Err(why) => Err((why, StoreFailure::Never)),
    };
    match done {
        Ok(report) => {
            backup.end().await?;
            print!("{report}");
            Ok(())
        }
        Err((why, StoreFailure::Unknown)) => Err(Error::Incomplete {
            why: why.into(),
            left: "it is unknown whether the manifest was written, so nothing was removed. When the problem is fixed, run the same command \
                   again: it first removes what is not part of a complete backup"
                .to_owned(),
        }),
        Err((why, StoreFailure::Never)) => {
            let left = match backup.roll_back().await {
                Ok(()) => match why {
                    Error::Interrupted => "everything that it had written was removed; run the same command again".to_owned(),
                    _ => "everything that it had written was removed; when the problem is fixed, run the same command again"
                        .to_owned(),
                },
                Err(left) => format!(
                    "what it has written is not a complete backup, and could not be removed ({left}); run the same command again: it \
                     removes this first"
                ),
            };
            storage.remove_empty().await;
            Err(Error::Incomplete {
                why: why.into(),
                left,
            })
        }
    }
}

/// Certainty about a manifest that could not be stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StoreFailure {
    /// It does not exist and will not exist.
    Never,
    /// It may exist now or later: the service may still process a request whose answer was lost.
    Unknown,
}

/// Stores the manifest. In a bucket, an error is ignored if the manifest turns out to be stored.
async fn store(manifest: &Manifest, storage: &ObjectStorage) -> Result<(), (Error, StoreFailure)> {
    let Err(why) = manifest.store(storage).await else {
        return Ok(());
    };
    let Ok(chain) = Chain::load(storage).await else {
        return Err((why, StoreFailure::Unknown));
    };
    let is_there = chain.is_some_and(|chain| chain.manifests.contains(manifest));
    let is_directory = storage.directory().is_some();
    match (is_there, is_directory) {
        (true, false) => Ok(()),
        // A failed write to a directory is not completed later.
        (false, true) => Err((why, StoreFailure::Never)),
        // For example, the directory could not be synced.
        (true, true) | (false, false) => Err((why, StoreFailure::Unknown)),
    }
}

/// Connects to the server and the place. If it is interrupted, it may leave the mark of a backup whose process is gone.
async fn begin(
    options: &Options,
    storage: &ObjectStorage,
) -> Result<(Source, BackupInProgress, Option<Chain>)> {
    check_place(Chain::load(storage).await?.as_ref(), options)?;
    let source = Source::connect(&options.access).await?;
    let stale = match options.replace_unfinished {
        true => StaleBackup::RemoveAlways,
        false => StaleBackup::RemoveIfGone,
    };
    let (backup, chain) = BackupInProgress::begin(storage, stale).await?;
    // Another backup may have been completed since the place was checked.
    if let Err(error) = check_place(chain.as_ref(), options) {
        backup.end().await?;
        return Err(error);
    }
    Ok((source, backup, chain))
}

/// Checks that the requested backup fits what the place contains.
fn check_place(chain: Option<&Chain>, options: &Options) -> Result<()> {
    match (chain, options.incremental) {
        (Some(_), false) => Err(Error::AlreadyExists {
            place: options.to.clone(),
            problem:
                "it already contains a backup; --incremental adds to it, and a new backup needs another place"
                    .into(),
        }),
        (None, true) => Err(Error::NoBackup {
            place: options.to.clone(),
            problem: "there is no backup to add to; make a full backup first, without --incremental".into(),
        }),
        (Some(_), true) | (None, false) => Ok(()),
    }
}

/// The result of copying everything but the manifest.
struct CopiedBackup {
    /// `None` if nothing is new since the previous part.
    manifest: Option<Manifest>,
    /// Report for the user, printed when the manifest is stored too.
    report: String,
}

async fn copy(
    source: &mut Source,
    storage: &ObjectStorage,
    chain: Option<&Chain>,
    rate_max: Option<u64>,
) -> Result<CopiedBackup> {
    let begun = jiff::Timestamp::now().to_string();
    let server = match chain {
        None => source.full().await?,
        Some(chain) => source.since(&chain.last().next).await?,
    };
    let tables_bytes = server.tables.as_ref().map_or(0, |tables| tables.bytes);
    let mut writer = BackupWriter {
        storage,
        progress: Progress::new("copied", tables_bytes.saturating_add(server.log_bytes)),
        pace: rate_max.map(Pace::new),
        open: None,
        files: Vec::new(),
        pieces: Vec::new(),
    };
    let end = loop {
        match source.next().await? {
            StreamItem::Table(piece) => writer.take(FileKind::Table, piece).await?,
            StreamItem::Log(piece) => writer.take(FileKind::Log, piece).await?,
            StreamItem::End(end) => break end,
        }
    };
    writer.close().await?;
    let nothing_new = chain.is_some() && writer.pieces.is_empty();
    let manifest = Manifest {
        format: Manifest::format(),
        follows: chain.map(|chain| ParentManifest {
            number: chain.manifests.len() as u32,
            checksum: chain.last().checksum(),
        }),
        server: Server {
            version: server.version,
            server_id: server.server_id,
            hostname: server.hostname,
            log_bin: server.log_bin,
        },
        begun,
        finished: jiff::Timestamp::now().to_string(),
        tables: server.tables.map(|tables| Tables {
            position: tables.position,
            gtid_position: tables.gtid_position,
            files: writer.files,
        }),
        log: LogPart {
            from: server.log_from,
            to: end.log_end,
            pieces: writer.pieces,
        },
        gtid_position: end.gtid_position,
        next: end.next,
    };
    let amount = writer.progress.finish();
    let (name, place) = (&manifest.server, storage.place());
    let subject = format!("{} (server_id {})", name.hostname, name.server_id);
    if nothing_new {
        return Ok(CopiedBackup {
            report: format!(
                "Nothing new since the last backup of {subject} in {place}: '{}'.\n",
                manifest.gtid_position
            ),
            manifest: None,
        });
    }
    let what = match &manifest.follows {
        None => "Full backup".to_owned(),
        Some(follows) => format!("Increment {}", follows.number),
    };
    let earliest = match (&manifest.tables, chain.and_then(Chain::tables)) {
        (Some(tables), _) | (None, Some(tables)) => tables.gtid_position.as_str(),
        (None, None) => "",
    };
    Ok(CopiedBackup {
        report: format!(
            "{what} of {subject} in {place}: {amount}.\nIt can be restored to every transaction from '{earliest}' to '{}'.\n",
            manifest.gtid_position
        ),
        manifest: Some(manifest),
    })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FileKind {
    Table,
    Log,
}

/// Limits the rate. The server does not read what is not requested.
struct Pace {
    bytes_each_second: u64,
    begun: Instant,
    bytes: u64,
}

impl Pace {
    fn new(megabytes: u64) -> Self {
        Pace {
            bytes_each_second: megabytes.saturating_mul(1_000_000),
            begun: Instant::now(),
            bytes: 0,
        }
    }

    /// Accounts for received bytes, and waits until the rate allows them.
    async fn keep(&mut self, bytes: u64) {
        self.bytes += bytes;
        let due = Duration::from_secs_f64(self.bytes as f64 / self.bytes_each_second as f64);
        tokio::time::sleep(due.saturating_sub(self.begun.elapsed())).await;
    }
}

/// Writer of a backup's objects.
struct BackupWriter<'a> {
    storage: &'a ObjectStorage,
    progress: Progress,
    pace: Option<Pace>,
    open: Option<OpenObject>,
    files: Vec<TableFile>,
    pieces: Vec<LogPiece>,
}

/// An object that is being written.
struct OpenObject {
    kind: FileKind,
    /// Name of the file.
    name: String,
    /// Start of the object in the file.
    offset: u64,
    length: u64,
    checksum: Xxh3,
    upload: Upload,
}

impl OpenObject {
    async fn write(&mut self, content: Bytes) -> Result<()> {
        self.checksum.update(&content);
        self.length += content.len() as u64;
        Ok(self.upload.write(content).await?)
    }
}

impl BackupWriter<'_> {
    async fn take(&mut self, kind: FileKind, piece: FilePiece) -> Result<()> {
        let is_continued = self
            .open
            .as_ref()
            .is_some_and(|open| open.kind == kind && open.name == piece.name);
        if !is_continued {
            self.close().await?;
            let object = match kind {
                FileKind::Table => manifest::table_object(&piece.name),
                FileKind::Log => manifest::log_object(&piece.name, piece.offset),
            };
            self.open = Some(OpenObject {
                kind,
                offset: piece.offset,
                length: 0,
                checksum: Xxh3::new(),
                upload: self.storage.upload(&object).await?,
                name: piece.name.clone(),
            });
        }
        if let Some(open) = &mut self.open {
            let length = piece.content.len() as u64;
            open.write(piece.content).await?;
            self.progress.add(length);
            if let Some(pace) = &mut self.pace {
                pace.keep(length).await;
            }
        }
        Ok(())
    }

    /// Finishes the open object.
    async fn close(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        open.upload.finish().await?;
        let checksum = checksum_text(&open.checksum);
        match open.kind {
            FileKind::Table => self.files.push(TableFile {
                name: open.name,
                length: open.length,
                checksum,
            }),
            FileKind::Log => self.pieces.push(LogPiece {
                file: open.name,
                offset: open.offset,
                length: open.length,
                checksum,
            }),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_manifest_that_certainly_does_not_exist_counts_as_never_stored() {
        let directory = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let storage = ObjectStorage::open(directory.path().to_str().unwrap()).unwrap();
            let full = manifest::tests::full();
            store(&full, &storage).await.unwrap();
            let (_, unstored) = store(&full, &storage).await.unwrap_err();
            assert_eq!(unstored, StoreFailure::Unknown);
            let other = Manifest {
                gtid_position: "0-1-6".into(),
                ..full.clone()
            };
            let (_, unstored) = store(&other, &storage).await.unwrap_err();
            assert_eq!(unstored, StoreFailure::Never);
            // The manifest in the place cannot be read.
            let bytes = storage.get(manifest::FULL).await.unwrap().to_vec();
            let name = directory.path().join(manifest::FULL);
            std::fs::write(name, &bytes[..bytes.len() / 2]).unwrap();
            let (_, unstored) = store(&full, &storage).await.unwrap_err();
            assert_eq!(unstored, StoreFailure::Unknown);
        });
    }
}
