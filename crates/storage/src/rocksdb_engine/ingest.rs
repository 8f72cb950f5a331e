//! Ingestion of files built aside, at their position in the order of commits.
//!
//! The files of a build, the write set of its transaction and the new position are ingested as one step of the
//! manifest: after a crash all of it exists or nothing, as with any batch. Memtables contain older data than
//! the position, so they are flushed first. (RocksDB does so, since `position` is in every memtable; the caller
//! flushes ahead, so that little is left to do while writers wait.)

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use paceline_types::LogPosition;
use rocksdb::{IngestExternalFileOptions, SstFileWriter};

use super::options::table_file_options;
use super::{POSITION_KEY, RaisedCounter, RocksDbEngine};
use crate::error::Result;
use crate::key::{EngineKind, KeyRange};
use crate::write_set::{Change, FrozenWriteSet, WriteSet};

impl RocksDbEngine {
    /// Applies the write sets in order with the files on top, and moves to `position`. The files are moved into
    /// the engine's directory; `scratch` is a directory for one more file. `raising` are the sets whose numbers
    /// are raised: those of the group, or those that the files are made of.
    pub(crate) fn ingest(
        &self,
        mut files: Vec<PathBuf>,
        scratch: &Path,
        group: &[Arc<FrozenWriteSet>],
        raising: &[Arc<FrozenWriteSet>],
        position: LogPosition,
    ) -> Result<()> {
        // Named differently from a build's own files: a crash before the ingestion leaves it there.
        let rest = scratch.join("commit");
        let raised = self.raise_counters(raising)?;
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

/// Writes the write sets and the position as one file.
fn write_commit_file(
    path: &Path,
    group: &[Arc<FrozenWriteSet>],
    raised: &[RaisedCounter],
    position: LogPosition,
) -> std::result::Result<(), rocksdb::Error> {
    let mut writer = SstFileWriter::create(table_file_options());
    writer.open(path)?;
    // Point entries must be unique and in key order: later sets replace the entries of earlier ones. A range in
    // a file deletes nothing in the same file, so it is applied to the earlier sets' entries here.
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
            // The merged set adds room for a version; the complete value follows it.
            Change::Put(value) => writer.put(key, crate::key::value_payload(value))?,
            Change::Delete => writer.delete(key)?,
        }
    }
    for range in ranges {
        writer.delete_range(&range.start, &range.end)?;
    }
    writer.finish()
}
