//! Appending commit groups and the log's own records, syncing them, and preparing space ahead of need.

use crate::error::{Error, Result};
use crate::event::{
    BinlogCheckpointEvent, EventBody, EventFlags, EventStamp, HEADER_LENGTH, IgnorableEvent, encode_event,
};
use crate::group::CommitGroup;
use crate::log::extent::IndexedPosition;
use crate::log::files::active_file::TAIL_RESERVE;
use crate::log::handle::{Inner, Log, Preparation, Writer};
use crate::replica_state::ReplicaRecord;
use crate::sync_mode::SyncMode;
use paceline_types::LogPosition;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Log {
    /// Returns the position where the next group, of at most `length` bytes, will start, for [`CommitGroup::begin`].
    /// Prepares space if there is not enough; calling [`Self::prepare_ahead`] early enough avoids this.
    ///
    /// # Errors
    /// [`Error::NoSpace`]: the disk is full. Nothing has changed, and later calls may succeed.
    pub fn reserve(&self, length: u64) -> Result<LogPosition> {
        let mut writer = self.inner.writer.lock();
        self.inner.check_usable(&writer)?;
        writer.prefix.clear();
        if writer.sync_mode == SyncMode::Deferred {
            let durable = self.durable();
            if durable > writer.recorded_durable {
                self.inner.make_durable_record(&mut writer, durable);
            }
        }
        let start = writer.end + writer.prefix.len() as u64;
        self.inner.ensure_space(&writer, start + length)?;
        Ok(LogPosition::new(writer.active.ordinal, start))
    }

    /// Writes a group with one write, at the position that the last [`Self::reserve`] returned. Returns where it ends.
    ///
    /// # Errors
    /// Every error is fatal: the log takes no more writes.
    ///
    /// # Panics
    /// If the group does not begin at the reserved position, or if the previous write is not durable although each
    /// write must be synced. Both are defects of the caller that must not reach the log.
    pub fn append(&self, group: &CommitGroup) -> Result<LogPosition> {
        let mut writer = self.inner.writer.lock();
        self.inner.check_usable(&writer)?;
        let active = Arc::clone(&writer.active);
        let start = LogPosition::new(active.ordinal, writer.end + writer.prefix.len() as u64);
        assert_eq!(
            group.start(),
            start,
            "a group is written where the log does not end"
        );
        assert!(
            writer.sync_mode == SyncMode::Deferred || self.durable() == self.written(),
            "a group is written before the one before it is durable"
        );
        let prefix = std::mem::take(&mut writer.prefix);
        let mut pieces = Vec::with_capacity(4);
        if !prefix.is_empty() {
            pieces.push(IoSlice::new(&prefix));
        }
        pieces.extend(group.slices());
        let end = active
            .write(&mut pieces, writer.end)
            .map_err(|error| self.inner.fatal(error))?;
        assert_eq!(end, group.end().offset());
        let end_index = {
            let mut index = active.index.lock();
            let mut starts = group.epoch_starts().iter().peekable();
            for (number, (gtid, start)) in group.transactions().enumerate() {
                if let Some((_, mark)) = starts.next_if(|(at, _)| *at == number) {
                    let before = index.state().log_index();
                    self.inner.extent.lock().start_epoch(*mark, before);
                }
                index.record(gtid, start);
            }
            index.state().log_index()
        };
        if !group.replica_moves().is_empty() {
            let mut replica = self.inner.replica.lock();
            group
                .replica_moves()
                .iter()
                .for_each(|record| replica.apply(record));
        }
        if !prefix.is_empty() {
            writer.recorded_durable = self.durable();
        }
        writer.prefix = prefix;
        writer.end = end;
        let mut extent = self.inner.extent.lock();
        extent.write(group.end(), end_index);
        self.inner.written.store(group.end().as_u64(), Ordering::Release);
        Ok(group.end())
    }

    /// Makes durable what was written before the call. Returns up to where the log is durable now. Readers and, in
    /// [`SyncMode::Deferred`], appends continue concurrently.
    ///
    /// # Errors
    /// Every error is fatal: the log takes no more writes, and what was not durable will never be acknowledged.
    pub fn sync(&self) -> Result<LogPosition> {
        let inner = &self.inner;
        inner.check_poison()?;
        // The order matters: what was written before the active file is looked up is in that file, or in an earlier
        // file, which was made durable before the log continued in the next one.
        if self.durable() < self.written() {
            let written = inner.extent.lock().written();
            let active = Arc::clone(&inner.active.read());
            active.sync().map_err(|error| inner.fatal(error))?;
            inner.reach_durable(written);
        }
        Ok(self.durable())
    }

    /// Returns whether the active file has reached `max_binlog_size`. Called after every append.
    pub fn rotation_due(&self) -> bool {
        self.written().offset() >= self.inner.file_size_max.load(Ordering::Relaxed)
    }

    /// Returns whether [`Self::prepare_ahead`] should be called soon. Called after every append.
    pub fn wants_preparation(&self) -> bool {
        let inner = &self.inner;
        let end = self.written().offset();
        let size_max = inner.file_size_max.load(Ordering::Relaxed);
        if end >= size_max - size_max / 4
            && inner
                .prepared_file
                .try_lock()
                .is_some_and(|prepared_file| prepared_file.is_none())
        {
            return true;
        }
        let active = inner.active.read();
        active.prepared_end() < inner.low_water(end)
    }

    /// Prepares space ahead of need. This may take long; it is meant for a background thread.
    ///
    /// # Errors
    /// [`Error::NoSpace`], which does no harm yet: [`Self::reserve`] returns it when it does.
    pub fn prepare_ahead(&self) -> Result<Preparation> {
        let inner = &self.inner;
        inner.check_poison()?;
        let active = Arc::clone(&inner.active.read());
        let end = self.written();
        let mut done = false;
        if end.ordinal() == active.ordinal {
            done |= active.prepare(inner.low_water(end.offset()), end.offset() + inner.prepare_step)?;
        }
        let size_max = inner.file_size_max.load(Ordering::Relaxed);
        if end.offset() >= size_max - size_max / 4 {
            done |= inner.prepare_next_file(active.number)?;
        }
        Ok(if done {
            Preparation::Done
        } else {
            Preparation::NotNeeded
        })
    }

    /// Changes how the log is synced from here on (`SET GLOBAL sync_binlog`). Everything written before is then
    /// durable.
    ///
    /// # Errors
    /// As for [`Self::reserve`], [`Self::append`] and [`Self::sync`].
    pub fn set_sync_mode(&self, mode: SyncMode) -> Result<()> {
        let mut writer = self.inner.writer.lock();
        self.inner.check_usable(&writer)?;
        if writer.sync_mode == mode {
            return Ok(());
        }
        self.sync()?;
        let record = IgnorableEvent::Durable {
            durable: self.durable(),
            sync_mode: mode,
        };
        let timestamp = writer.timestamp;
        self.inner
            .write_record(&mut writer, timestamp, EventFlags::IGNORABLE, &record)?;
        writer.sync_mode = mode;
        writer.recorded_durable = self.durable();
        Ok(())
    }

    /// Sets the size after which a file is followed by a new one, in bytes (`SET GLOBAL max_binlog_size`).
    pub fn set_file_size_max(&self, bytes: u64) {
        self.inner.file_size_max.store(bytes, Ordering::Relaxed);
    }

    /// Writes a Binlog_checkpoint event: recovery needs no file before the one that contains `needed`. Everything
    /// written before is then durable. Does nothing if that file is not newer than the current checkpoint. `now` is
    /// in seconds since 1970.
    ///
    /// # Errors
    /// [`Error::UnknownPosition`] if the file does not exist; otherwise as for [`Self::reserve`], [`Self::append`] and
    /// [`Self::sync`].
    pub fn write_checkpoint(&self, needed: LogPosition, now: u32) -> Result<()> {
        let mut writer = self.inner.writer.lock();
        self.inner.check_usable(&writer)?;
        // The checkpoint can be newer if the log was reset since the engines were flushed.
        if u64::from(needed.ordinal()) <= self.inner.checkpoint.load(Ordering::Acquire) {
            return Ok(());
        }
        let name = self
            .inner
            .file_by_ordinal(needed.ordinal())
            .ok_or(Error::UnknownPosition(needed))?
            .name
            .clone();
        self.sync()?;
        let event = BinlogCheckpointEvent {
            file_name: name.as_bytes(),
        };
        self.inner
            .write_record(&mut writer, now, EventFlags::NONE, &event)?;
        self.inner
            .checkpoint
            .store(u64::from(needed.ordinal()), Ordering::Release);
        Ok(())
    }

    /// Writes a change of the replica's state that is not made by a transaction. The record and everything written
    /// before are then durable. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// As for [`Self::reserve`], [`Self::append`] and [`Self::sync`].
    pub fn write_replica_record(&self, record: &ReplicaRecord, now: u32) -> Result<()> {
        let mut writer = self.inner.writer.lock();
        self.inner.check_usable(&writer)?;
        self.sync()?;
        let bytes = record.encode();
        let event = IgnorableEvent::Replica(&bytes);
        self.inner
            .write_record(&mut writer, now, EventFlags::IGNORABLE, &event)?;
        self.inner.replica.lock().apply(record);
        Ok(())
    }
}

impl Inner {
    /// Ensures that there is space for a write that ends at `end`, and for the file's last event after it.
    fn ensure_space(&self, writer: &Writer, end: u64) -> Result<()> {
        let needed = end + TAIL_RESERVE;
        if needed > writer.active.prepared_end() {
            writer.active.prepare(needed, needed + self.prepare_step)?;
        }
        Ok(())
    }

    /// Returns up to where space should be prepared when the log ends at `end`: half a step ahead, but not further
    /// than the file may grow.
    fn low_water(&self, end: u64) -> u64 {
        let size_max = self.file_size_max.load(Ordering::Relaxed);
        (end + self.prepare_step / 2).min(size_max.max(end) + TAIL_RESERVE)
    }

    /// Prepares the record of the durable position that will precede the next write.
    fn make_durable_record(&self, writer: &mut Writer, durable: LogPosition) {
        let stamp = self.stamp(writer.timestamp, EventFlags::IGNORABLE);
        let record = IgnorableEvent::Durable {
            durable,
            sync_mode: SyncMode::Deferred,
        };
        encode_event(&mut writer.prefix, &stamp, writer.end, &record);
    }

    pub fn stamp(&self, timestamp: u32, flags: EventFlags) -> EventStamp {
        EventStamp {
            timestamp,
            server_id: self.server_id,
            flags,
        }
    }

    /// Writes an event that belongs to the log itself, as a write of its own, and makes it durable.
    pub fn write_record(
        &self,
        writer: &mut Writer,
        timestamp: u32,
        flags: EventFlags,
        body: &dyn EventBody,
    ) -> Result<()> {
        let mut event = Vec::with_capacity(HEADER_LENGTH + 64);
        encode_event(&mut event, &self.stamp(timestamp, flags), writer.end, body);
        self.ensure_space(writer, writer.end + event.len() as u64)?;
        self.write_reserved_record(writer, timestamp, &event)
    }

    /// Writes an event for which there is already space, as the last one of a file, and makes it durable.
    pub fn write_reserved_record(&self, writer: &mut Writer, timestamp: u32, event: &[u8]) -> Result<()> {
        let active = Arc::clone(&writer.active);
        let end = active
            .write(&mut vec![IoSlice::new(event)], writer.end)
            .map_err(|error| self.fatal(error))?;
        writer.end = end;
        writer.timestamp = timestamp;
        let end = LogPosition::new(active.ordinal, end);
        let written = {
            let mut extent = self.extent.lock();
            extent.write_record(end);
            self.written.store(end.as_u64(), Ordering::Release);
            extent.written()
        };
        active.sync().map_err(|error| self.fatal(error))?;
        self.reach_durable(written);
        Ok(())
    }

    /// Records that the log is durable up to where it was written before a sync.
    fn reach_durable(&self, written: IndexedPosition) {
        let mut extent = self.extent.lock();
        extent.sync(written);
        self.durable
            .fetch_max(written.position.as_u64(), Ordering::AcqRel);
    }
}
