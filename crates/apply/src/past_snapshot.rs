//! The state at an earlier GTID position: a snapshot, and a write set that undoes later transactions.
//!
//! ```text
//!   log      … │ 0-1-7 │ 0-1-8 │ 5-2-3 │ 0-1-9 │              position asked for: 0-1-7,5-2-3
//!                              undone          undone   ▲
//!   write set      0-1-9 inverted, then 0-1-8 inverted  └ snapshot
//! ```
//! Engine snapshots exist only for the ends of commit groups, and two servers group transactions differently. But the
//! log holds every row before and after each change. To read at another position, the log is read from there to the
//! snapshot. Its transactions are undone newest first: their images before are collected in a write set. The snapshot
//! with this write set on top is exactly the state at the position. Nothing is retained for this purpose besides the
//! log, and only the reader pays.
//!
//! In each domain, transactions after the position's sequence number are undone. If the position does not name a
//! domain, all its transactions are undone. Transactions that never replicate (`sql_log_bin=0`) belong to no position
//! and are not undone. DDL is not undone either: a table whose definition is newer than [`PastSnapshot::version`]
//! cannot be read (1412), and row events older than the definition are skipped as in a replay.

use crate::definitions::Definitions;
use crate::error::{Error, Result};
use crate::group::{BaseState, GroupApplier, RowError, at_group, change_row_on};
use paceline_binlog::event::FormatDescription;
use paceline_binlog::{EventGroup, GtidPosition, LOCAL_DOMAIN, Log};
use paceline_storage::{StorageSnapshot, TableSchema, WriteSet};
use paceline_types::Version;
use std::sync::Arc;

/// A write set that turns a snapshot into an older state.
pub struct PastSnapshot {
    /// Is read on top of the snapshot.
    pub undo: WriteSet,
    /// Start of the first undone transaction in the log; the snapshot's position if there is none.
    pub version: Version,
    /// Number of undone transactions.
    pub transactions: usize,
}

/// A row change: the table, the image before, the image after.
type RowChange = (Arc<TableSchema>, Option<Box<[u8]>>, Option<Box<[u8]>>);

/// Computes the write set that takes the snapshot back to the position. The snapshot must contain the position. At most
/// `bytes_max` bytes of log are held in memory.
///
/// # Errors
/// [`Error::NotInLog`], [`Error::UndoTooLarge`]; [`Error::Log`] with `Purged` if a transaction that must be undone is
/// in no log file any more.
pub fn undo_to(
    log: &Log,
    snapshot: &StorageSnapshot,
    position: &GtidPosition,
    definitions: &impl Definitions,
    bytes_max: u64,
) -> Result<PastSnapshot> {
    let oldest = log.oldest_state();
    for gtid in position.iter() {
        if oldest.last(gtid.domain_id) != Some(gtid) && log.find(gtid)?.is_none() {
            return Err(Error::NotInLog(gtid));
        }
    }
    let mut past = PastSnapshot {
        undo: WriteSet::new(),
        version: snapshot.position(),
        transactions: 0,
    };
    let from = log.locate(position)?;
    if from >= snapshot.position() {
        return Ok(past);
    }
    let mut reader = log.reader(from, snapshot.position())?;
    let mut formats: Vec<(String, FormatDescription)> = vec![];
    let mut groups: Vec<(EventGroup, usize)> = vec![];
    let mut bytes = 0;
    while let Some(group) = reader.next_group()? {
        let gtid = group.gtid();
        if gtid.domain_id == LOCAL_DOMAIN || position.reaches(gtid.domain_id, gtid.sequence) {
            continue;
        }
        bytes += group.end().offset().saturating_sub(group.start().offset());
        if bytes > bytes_max {
            return Err(Error::UndoTooLarge { bytes_max });
        }
        if formats.last().is_none_or(|(file, _)| file != reader.file_name()) {
            formats.push((reader.file_name().to_owned(), reader.format().clone()));
        }
        groups.push((group, formats.len() - 1));
    }
    if let Some((first, _)) = groups.first() {
        past.version = first.start();
    }
    past.transactions = groups.len();
    while let Some((group, format)) = groups.pop() {
        let (_, format) = &formats[format];
        undo_group(&group, format, definitions, snapshot, &mut past.undo)?;
    }
    Ok(past)
}

fn undo_group(
    group: &EventGroup,
    format: &FormatDescription,
    definitions: &impl Definitions,
    snapshot: &StorageSnapshot,
    undo: &mut WriteSet,
) -> Result<()> {
    let mut changes: Vec<RowChange> = vec![];
    GroupApplier::for_undo().changes(group, format, definitions, |schema, before, after| {
        changes.push((schema.clone(), before.map(Box::from), after.map(Box::from)));
        Ok(())
    })?;
    let base = BaseState::Snapshot(snapshot);
    for (schema, before, after) in changes.into_iter().rev() {
        let undone = change_row_on(&base, &schema, after.as_deref(), before.as_deref(), undo);
        undone.map_err(|error| match error {
            RowError::Problem(problem) => at_group(group, problem),
            RowError::Other(error) => error,
        })?;
    }
    Ok(())
}
