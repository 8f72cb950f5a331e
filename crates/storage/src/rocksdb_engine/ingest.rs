//! Files made aside become part of the tables, at their place in the order of commits.
//!
//! The files of a build, the write set of the transaction that it belongs to and the new position are ingested as one step of the
//! manifest: after a crash all of it is there or nothing, as with any batch. What is in memtables is older than the position, so it
//! is flushed before (RocksDB does it, since `position` is in every memtable; the caller flushes ahead, so that little is left to
//! do while writers wait).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use paceline_types::LogPosition;
use rocksdb::{IngestExternalFileOptions, SstFileWriter};

use super::options::table_file_options;
use super::{POSITION_KEY, RaisedNumber, RocksDbEngine};
use crate::error::Result;
use crate::key::{EngineKind, KeyRange};
use crate::write_set::{Change, FrozenWriteSet, WriteSet};

impl RocksDbEngine {
    /// Applies the write sets in order with the files on top, and moves to `position`. The files are moved into the engine's
    /// directory; `scratch` is a place for one more. `raising` are the sets whose numbers are raised: those of the group, or those that the files are
    /// made of.
    pub(crate) fn ingest(
        &self,
        mut files: Vec<PathBuf>,
        scratch: &Path,
        group: &[Arc<FrozenWriteSet>],
        raising: &[Arc<FrozenWriteSet>],
        position: LogPosition,
    ) -> Result<()> {
        // Not named as a build's own files are: a crash before the ingestion leaves it there.
        let rest = scratch.join("commit");
        let raised = self.raise_numbers(raising)?;
        while let Err(error) = write_commit_file(&rest, group, &raised, position) {
            self.wait_for_room(error)?;
        }
        files.insert(0, rest);
        let mut options = IngestExternalFileOptions::default();
        options.set_move_files(true);
        while let Err(error) = self.db.ingest_external_file_opts(&options, files.clone()) {
            self.wait_for_room(error)?;
        }
        self.active_memtable_bytes.store(0, Ordering::Relaxed);
        self.position.store(position.as_u64(), Ordering::Release);
        Ok(())
    }
}

/// The write sets and the position as one file.
fn write_commit_file(
    path: &Path,
    group: &[Arc<FrozenWriteSet>],
    raised: &[RaisedNumber],
    position: LogPosition,
) -> std::result::Result<(), rocksdb::Error> {
    let mut writer = SstFileWriter::create(table_file_options());
    writer.open(path)?;
    // Point entries must come in key order and once each: later sets replace what earlier ones wrote. Within one file a range
    // deletes nothing of the same file, so it is applied to the earlier sets' entries here.
    let mut merged = WriteSet::new();
    let mut ranges: Vec<&KeyRange> = Vec::new();
    for set in group {
        for range in set.deleted_ranges() {
            if EngineKind::of_key(&range.start) == EngineKind::RocksDb {
                ranges.push(range);
                merged.delete_range(range.clone());
            }
        }
        for (key, change) in set
            .entries()
            .filter(|(key, _)| EngineKind::of_key(key) == EngineKind::RocksDb)
        {
            match change {
                Change::Put(value) => merged.put(key, value),
                Change::Delete => merged.delete(key),
            }
        }
    }
    for number in raised {
        merged.put(&number.id.number_key(), &number.value());
    }
    merged.put(POSITION_KEY, &position.to_be_bytes());
    for (key, change) in merged.entries() {
        match change {
            // Behind the merged set's own room for a version stands the whole value.
            Change::Put(value) => writer.put(key, crate::key::value_payload(value))?,
            Change::Delete => writer.delete(key)?,
        }
    }
    for range in ranges {
        writer.delete_range(&range.start, &range.end)?;
    }
    writer.finish()
}
