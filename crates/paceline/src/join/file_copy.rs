//! Copies a Paceline's files: the stream of a backup is written directly into the data directory.
//!
//! ```text
//!   primary                                                   this process
//!   ───────                                                   ────────────
//!   BACKUP SERVER: hard links of the table files
//!   table files, as they are at T  ── one connection ──▶      DIR/tables/…
//!   the log, from T's file to E                      ──▶      DIR/binlog.000007 …
//!                                                             the index; recovery from T to E; one record in the log:
//!                                                             gtid_slave_pos is E, and the primary
//! ```
//! Nothing is locked on the primary, nothing waits, and no row is read: it costs as much as copying files. Transactions
//! committed between T and E are in the copied log, and recovery applies them as after a crash. Transactions after E
//! are requested from the primary as by any other replica.
//!
//! The result is a copy of the whole server, including accounts. MEMORY tables have no files: they are empty, as after
//! a restart.

use super::arguments::Options;
use super::error::{Error, Result};
use super::snapshot::position_text;
use crate::backup::error::{Error as CopyError, Result as CopyResult};
use crate::backup::source::{FilePiece, Source, StreamItem};
use crate::new_files::{NewFile, NewFiles};
use crate::progress::{Progress, bytes_text};
use crate::restore::{LogFiles, recover};
use crate::stop::StopSignals;
use paceline_log_stream::source::definition::Definition;
use paceline_server::backup::ServerRow;
use paceline_server::incomplete_directory::IncompleteDirectory;
use paceline_server::options::StartOptions;
use paceline_server::restore::{CopiedDirectory, EventOrigins, ReplicationSource};
use paceline_server::variables::Variable;
use paceline_types::ServerId;

/// Result of a copy.
pub struct CopySummary {
    /// Amount and duration, as a text for users.
    pub amount: String,
    /// GTID position at which replication continues.
    pub position: String,
}

/// Destination of the files.
struct Target<'a> {
    files: NewFiles,
    /// `--log-bin` of the primary and of the new server.
    log_bin: (String, &'a str),
    /// The current file, with its name on the primary.
    open: Option<(String, NewFile)>,
    progress: Progress,
}

impl Target<'_> {
    fn take(&mut self, piece: StreamItem) -> CopyResult<()> {
        let (StreamItem::Table(received) | StreamItem::Log(received)) = &piece else {
            return Ok(());
        };
        if self.open.as_ref().is_none_or(|(name, _)| *name != received.name) {
            self.finish()?;
            let file = match &piece {
                StreamItem::Log(_) => self.files.log(&self.name_of_log(received)?, received.offset)?,
                _ => self.files.table(&received.name)?,
            };
            self.open = Some((received.name.clone(), file));
        }
        if let Some((_, file)) = &mut self.open {
            file.write(&received.content)?;
            self.progress.add(received.content.len() as u64);
        }
        Ok(())
    }

    /// Returns the local name of a log file: it has the same number.
    fn name_of_log(&self, piece: &FilePiece) -> CopyResult<String> {
        let (theirs, ours) = (&self.log_bin.0, self.log_bin.1);
        match piece.name.strip_prefix(theirs.as_str()) {
            Some(number) => Ok(format!("{ours}{number}")),
            None => Err(CopyError::Usage(format!(
                "'{}' does not belong to the log '{theirs}'",
                piece.name
            ))),
        }
    }

    fn finish(&mut self) -> CopyResult<()> {
        match self.open.take() {
            Some((_, file)) => file.finish(),
            None => Ok(()),
        }
    }
}

/// Requests the stream.
///
/// # Errors
/// [`CopyError::OtherVersion`] if the server has no stream that can be read here. Nothing has been written then.
pub async fn begin(options: &Options) -> CopyResult<(Source, ServerRow)> {
    let connect = options.login(&options.user, &options.password)?;
    let mut source = Source::connect_with(&options.primary, &connect).await?;
    let row = source.full().await?;
    Ok((source, row))
}

/// Turns the directory into a replica that follows the primary.
///
/// # Errors
/// Errors have texts for users.
pub async fn copy(
    (mut source, primary): (Source, ServerRow),
    server: &StartOptions,
    directory: &IncompleteDirectory,
    definition: Definition,
    stop: &mut StopSignals,
) -> Result<CopySummary> {
    let Some(tables) = &primary.tables else {
        return Err(Error::Target("the stream has no tables".into()));
    };
    eprintln!(
        "copying {} of tables as of {}, and the log after that; no commit waits",
        bytes_text(tables.bytes),
        position_text(&tables.gtid_position)
    );
    let datadir = directory.directory();
    let mut target = Target {
        files: NewFiles::in_directory(datadir),
        log_bin: (primary.log_bin.clone(), &server.log_bin),
        open: None,
        progress: Progress::new("copied", tables.bytes.saturating_add(primary.log_bytes)),
    };
    let end = loop {
        let piece = tokio::select! {
            piece = source.next() => piece?,
            () = stop.wait() => return Err(CopyError::Interrupted.into()),
        };
        match piece {
            StreamItem::End(end) => break end,
            piece => target.take(piece)?,
        }
    };
    // Closed now, so that the server releases its files.
    drop(source);
    target.finish()?;
    let log_bin = target.log_bin.1;
    LogFiles::open(datadir, log_bin, end.log_end)?.cut(end.log_end)?;
    target.files.sync()?;
    let amount = target.progress.finish();
    let server_id = ServerId(server.globals.number(Variable::ServerId) as u32);
    let copied = CopiedDirectory {
        directory: datadir.to_owned(),
        log_bin: log_bin.to_owned(),
        server_id,
        events: match server.globals.get(Variable::PacelineCluster).as_str() {
            "" => EventOrigins::Only(server_id),
            _ => EventOrigins::All,
        },
        tables: tables.position,
        follows: ReplicationSource::Primary(Box::new(definition)),
    };
    // Its threads write to the directory until they are done, so this is not interrupted.
    let restored = recover(copied, end.log_end).await?;
    if stop.has_come().await {
        return Err(CopyError::Interrupted.into());
    }
    Ok(CopySummary {
        amount,
        position: restored.position.to_string(),
    })
}
