//! The commit of a large transaction: its file becomes the log's next file. [`crate::log`] has the order of steps.

use crate::epoch::EpochHistory;
use crate::error::{Error, Result};
use crate::event::{EventFlags, IgnorableEvent, MAGIC, Predecessor, RotateEvent, encode_event};
use crate::group::LargeGroup;
use crate::group::{CommitGroup, EventGroupBuffer, GroupPosition, GroupSize};
use crate::gtid::GtidState;
use crate::log::appending::create::ordinal_after;
use crate::log::files::active_file::ActiveFile;
use crate::log::files::entry::{FileEntry, file_name, number_after};
use crate::log::files::gtid_index::GtidIndexBuilder;
use crate::log::files::head::{FileReason, NewHead, Origin};
use crate::log::files::index_file::IndexFile;
use crate::log::handle::{Log, Writer};
use crate::replica_state::{ReplicaRecord, ReplicaState};
use paceline_types::{Gtid, LogPosition};
use parking_lot::MutexGuard;
use std::sync::Arc;
use std::time::SystemTime;

/// Upper bound of the length of an [`IgnorableEvent::Durable`] event, in bytes.
const DURABLE_RECORD_LENGTH_MAX: u64 = 64;

/// A reserved place in the log for a large transaction: only a failing disk can still prevent the commit. Dropping it
/// releases the place.
#[must_use = "a place is taken by committing"]
pub struct LargeCommitSlot<'a> {
    log: &'a Log,
    writer: MutexGuard<'a, Writer>,
    index: MutexGuard<'a, IndexFile>,
    name: String,
    number: u32,
    ordinal: u32,
    checkpoint: String,
    state: GtidState,
    replica: ReplicaState,
    epochs: EpochHistory,
    source: Option<ReplicaRecord>,
    now: u32,
}

impl Log {
    /// Reserves the place for a large transaction; everything before it is then durable. `source` is the record of
    /// the position in the primary's log that is logged with the transaction; `now` is in seconds since 1970. Nothing
    /// else is written to the log while the place is held.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::NumbersExhausted`], [`Error::HeadOutgrown`]: the log continues as before. Others
    /// are fatal.
    ///
    /// # Panics
    /// If the buffer is not sealed.
    pub fn reserve_large_commit(
        &self,
        events: &EventGroupBuffer,
        source: Option<ReplicaRecord>,
        now: u32,
    ) -> Result<LargeCommitSlot<'_>> {
        let inner = &self.inner;
        let writer = inner.writer.lock();
        inner.check_usable(&writer)?;
        self.sync()?;
        let group = events
            .large_group()
            .expect("a transaction without a file is appended");
        let number = number_after(writer.active.number)?;
        let ordinal = ordinal_after(writer.active.ordinal)?;
        let name = file_name(&inner.base_name, number);
        let index = inner.index.lock();
        let place = LargeCommitSlot {
            log: self,
            checkpoint: inner.checkpoint_name(&writer),
            writer,
            index,
            name,
            number,
            ordinal,
            state: self.state(),
            replica: self.replica_state(),
            epochs: self.epochs(),
            source,
            now,
        };
        let needed = place.head().len() as u64
            + DURABLE_RECORD_LENGTH_MAX
            + IgnorableEvent::PADDING_OVERHEAD
            + place.transaction_head_length();
        if needed > group.room() {
            return Err(Error::HeadOutgrown);
        }
        let names = inner.names();
        place
            .index
            .prepare(names.iter().map(String::as_str).chain([place.name.as_str()]))?;
        Ok(place)
    }
}

impl LargeCommitSlot<'_> {
    fn head(&self) -> Vec<u8> {
        NewHead {
            server_id: self.log.inner.server_id,
            server_version: &self.log.inner.server_version,
            now: self.now,
            occasion: FileReason::Rotation,
            ordinal: self.ordinal,
            sync_mode: self.writer.sync_mode,
            state: &self.state,
            replica: &self.replica,
            epochs: &self.epochs,
            checkpoint: &self.checkpoint,
        }
        .encode()
    }

    /// Returns the maximum number of bytes between the padding and the transaction's own events.
    fn transaction_head_length(&self) -> u64 {
        let source = self
            .source
            .as_ref()
            .map_or(0, |record| record.length_max() + CommitGroup::RECORD_OVERHEAD);
        source + CommitGroup::GTID_EVENT_LENGTH_MAX
    }

    /// Encodes the record of the source and the Gtid event, beginning at `start`.
    fn transaction_head(&self, events: &mut EventGroupBuffer, gtid: Gtid, start: LogPosition) -> CommitGroup {
        let mut group = CommitGroup::new();
        group.begin(start, GroupSize::Single);
        if let Some(record) = &self.source {
            group.add_replica_record(events.timestamp(), gtid.server_id, record.clone());
        }
        group.add(events, gtid);
        group
    }

    /// Commits the transaction under this GTID. When it returns, the transaction is durable and others can be written
    /// after it.
    ///
    /// # Errors
    /// Every error is fatal: the log takes no more writes.
    pub fn commit(mut self, events: &mut EventGroupBuffer, gtid: Gtid) -> Result<GroupPosition> {
        let inner = &self.log.inner;
        let mut large = events
            .take_large_group()
            .expect("a transaction without a file is appended");
        let prepared_end = large.prepared_end();
        let (room, end) = (large.room(), large.next_event_at());
        let placed_end = LogPosition::new(self.ordinal, end);

        let mut head = self.head();
        let head_length = head.len() as u64;
        let ignorable = inner.stamp(self.now, EventFlags::IGNORABLE);
        let record = IgnorableEvent::Durable {
            durable: placed_end,
            sync_mode: self.writer.sync_mode,
        };
        encode_event(&mut head, &ignorable, head_length, &record);
        // The length does not depend on the position.
        let measured = self.transaction_head(events, gtid, LogPosition::new(self.ordinal, 0));
        let start = LogPosition::new(self.ordinal, room - measured.end().offset());
        let padding = start.offset() - head.len() as u64 - IgnorableEvent::PADDING_OVERHEAD;
        let at = head.len() as u64;
        encode_event(
            &mut head,
            &ignorable,
            at,
            &IgnorableEvent::Padding(padding as u32),
        );
        let group = self.transaction_head(events, gtid, start);
        group.slices().for_each(|slice| head.extend_from_slice(&slice));
        let (_, gtid_at) = group.transactions().next().expect("it has one transaction");

        large.write_head(&head).map_err(|error| inner.fatal(error))?;
        let file = self.rename(&mut large).map_err(|error| inner.fatal(error))?;
        let mut rotate = Vec::new();
        let event = RotateEvent {
            position: MAGIC.len() as u64,
            file_name: self.name.as_bytes(),
        };
        encode_event(
            &mut rotate,
            &inner.stamp(self.now, EventFlags::NONE),
            self.writer.end,
            &event,
        );
        inner.write_reserved_record(&mut self.writer, self.now, &rotate)?;
        self.index.replace().map_err(|error| inner.fatal(error))?;

        let mut builder = GtidIndexBuilder::new(self.state.clone(), head_length);
        builder.record(gtid, gtid_at);
        let entry = FileEntry {
            origin: Origin::Ours,
            name: self.name.clone(),
            number: self.number,
            ordinal: self.ordinal,
            length: end,
            modified: SystemTime::now(),
            state: std::mem::take(&mut self.state),
            head_length,
            follows: Predecessor::Log,
        };
        let active = ActiveFile::new(
            self.name.clone(),
            self.number,
            self.ordinal,
            file,
            inner.path(&self.name),
            prepared_end,
            builder,
        );
        let old = Arc::clone(&self.writer.active);
        let old_end = self.writer.end;
        if !group.replica_moves().is_empty() {
            let mut replica = inner.replica.lock();
            group
                .replica_moves()
                .iter()
                .for_each(|record| replica.apply(record));
        }
        inner.switch_to(&mut self.writer, entry, active, end, old_end);
        inner.finish(&old, old_end)?;
        Ok(GroupPosition {
            start: LogPosition::new(self.ordinal, gtid_at),
            end: placed_end,
        })
    }

    /// Gives the file its name in the log, replacing a prepared file of zeros of that name.
    fn rename(&self, large: &mut LargeGroup) -> Result<Arc<dyn crate::disk::DiskFile>> {
        let inner = &self.log.inner;
        // Held so that no thread prepares a file of that name in the meantime, which would later be removed as a
        // prepared file.
        let mut prepared_file = inner.prepared_file.lock();
        if prepared_file
            .as_ref()
            .is_some_and(|prepared_file| prepared_file.number == self.number)
        {
            *prepared_file = None;
        }
        let file = large.rename(&inner.path(&self.name))?;
        inner
            .disk
            .sync_directory(&inner.directory)
            .map_err(|source| inner.io_error("sync the directory of", &self.name, source))?;
        Ok(file)
    }
}

impl Drop for LargeCommitSlot<'_> {
    fn drop(&mut self) {
        // After a commit there is nothing to discard.
        if let Err(error) = self.index.discard() {
            tracing::warn!("{error}");
        }
    }
}
