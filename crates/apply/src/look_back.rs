//! The state at a GTID position that has been passed: a snapshot, and what takes back the transactions since.
//!
//! ```text
//!   log      … │ 0-1-7 │ 0-1-8 │ 5-2-3 │ 0-1-9 │              position asked for: 0-1-7,5-2-3
//!                              undone          undone   ▲
//!   write set      0-1-9 inverted, then 0-1-8 inverted  └ snapshot
//! ```
//! Snapshots of the engines exist for places where a commit group ended, and two servers group differently. But the log has every row before
//! and after its change. So whoever wants another place reads it from there to the snapshot, newest first, and collects the images before in
//! a write set: that on top of the snapshot is the state at the position, exactly. Nothing is retained for it beside the log, and it costs
//! nobody anything but its reader.
//!
//! In each domain what is behind the position's sequence number is taken back; of domains that the position does not name, everything. What
//! never replicates (`sql_log_bin=0`) is no part of any position, and stays. DDL is not undone: a table whose definition is newer than
//! [`LookedBack::version`] cannot be read (1412), and row events from before it are passed over as in a replay.

use crate::definitions::Definitions;
use crate::error::{Error, Result};
use crate::group::{Below, GroupApplier, RowError, at_group, change_row_over};
use paceline_binlog::event::FormatDescription;
use paceline_binlog::{EventGroup, GtidPosition, LOCAL_DOMAIN, Log};
use paceline_storage::{StorageSnapshot, TableSchema, WriteSet};
use paceline_types::Version;
use std::sync::Arc;

/// How a snapshot becomes an older state.
pub struct LookedBack {
    /// What is read on top of the snapshot.
    pub undo: WriteSet,
    /// The place in the log before the first transaction that is taken back; the snapshot's if there is none.
    pub version: Version,
    /// How many transactions are taken back.
    pub transactions: usize,
}

/// A row's change: the table, the images before and after.
type RowChange = (Arc<TableSchema>, Option<Box<[u8]>>, Option<Box<[u8]>>);

/// Finds what takes the snapshot back to the position, which it must contain. At most `bytes_max` bytes of log are kept in memory.
///
/// # Errors
/// [`Error::NotInLog`], [`Error::TooFarBack`]; [`Error::Log`] with `Purged` if some of what is to be taken back is in no file any more.
pub fn look_back(
    log: &Log,
    snapshot: &StorageSnapshot,
    position: &GtidPosition,
    definitions: &impl Definitions,
    bytes_max: u64,
) -> Result<LookedBack> {
    let oldest = log.oldest_state();
    for gtid in position.iter() {
        if oldest.last(gtid.domain_id) != Some(gtid) && log.find(gtid)?.is_none() {
            return Err(Error::NotInLog(gtid));
        }
    }
    let mut looked_back = LookedBack {
        undo: WriteSet::new(),
        version: snapshot.position(),
        transactions: 0,
    };
    let from = log.locate(position)?;
    if from >= snapshot.position() {
        return Ok(looked_back);
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
            return Err(Error::TooFarBack { bytes_max });
        }
        if formats.last().is_none_or(|(file, _)| file != reader.file_name()) {
            formats.push((reader.file_name().to_owned(), reader.format().clone()));
        }
        groups.push((group, formats.len() - 1));
    }
    if let Some((first, _)) = groups.first() {
        looked_back.version = first.start();
    }
    looked_back.transactions = groups.len();
    while let Some((group, format)) = groups.pop() {
        let (_, format) = &formats[format];
        undo_group(&group, format, definitions, snapshot, &mut looked_back.undo)?;
    }
    Ok(looked_back)
}

fn undo_group(
    group: &EventGroup,
    format: &FormatDescription,
    definitions: &impl Definitions,
    snapshot: &StorageSnapshot,
    undo: &mut WriteSet,
) -> Result<()> {
    let mut changes: Vec<RowChange> = vec![];
    GroupApplier::looking_back().changes(group, format, definitions, |schema, before, after| {
        changes.push((schema.clone(), before.map(Box::from), after.map(Box::from)));
        Ok(())
    })?;
    let below = Below::Snapshot(snapshot);
    for (schema, before, after) in changes.into_iter().rev() {
        let undone = change_row_over(&below, &schema, after.as_deref(), before.as_deref(), undo);
        undone.map_err(|error| match error {
            RowError::Problem(problem) => at_group(group, problem),
            RowError::Other(error) => error,
        })?;
    }
    Ok(())
}
