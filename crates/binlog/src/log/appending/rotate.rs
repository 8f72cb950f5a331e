//! Continuing in a new file, and closing the log. [`crate::log`] has the order of steps.

use crate::error::{Error, Result};
use crate::event::{EventFlags, MAGIC, RotateEvent, StopEvent, encode_event};
use crate::log::appending::create::{NewFile, ordinal_after};
use crate::log::files::active_file::ActiveFile;
use crate::log::files::entry::{FileEntry, file_name, number_after};
use crate::log::files::head::FileReason;
use crate::log::handle::{Inner, Log, LogLifecycle, Writer};
use paceline_types::{DomainId, LogPosition};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

impl Log {
    /// Continues in a new file. Everything written before is then durable. Returns where the log continues. `now` is in
    /// seconds since 1970.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::NumbersExhausted`]: the log continues in the old file, as before. Others are fatal.
    pub fn rotate(&self, now: u32) -> Result<LogPosition> {
        self.rotate_deleting_domains(&[], now)
    }

    /// Rotates as [`Self::rotate`] does, and removes `domains` from the GTID state of the new file and so of the log.
    ///
    /// # Errors
    /// [`Error::DomainInUse`]: an existing file may contain a transaction of one of the domains. Those of
    /// [`Self::rotate`].
    pub fn rotate_deleting_domains(&self, domains: &[DomainId], now: u32) -> Result<LogPosition> {
        let inner = &self.inner;
        let mut writer = inner.writer.lock();
        inner.check_usable(&writer)?;
        self.sync()?;
        let old = Arc::clone(&writer.active);
        let number = number_after(old.number)?;
        let ordinal = ordinal_after(old.ordinal)?;
        let checkpoint = inner.checkpoint_name(&writer);
        let mut state = self.state();
        let oldest = self.oldest_state();
        for domain_id in domains {
            // If so, all transactions of the domain are in files that no longer exist.
            if !state
                .domain(*domain_id)
                .all(|gtid| oldest.last_of(gtid.domain_id, gtid.server_id) == Some(gtid))
            {
                return Err(Error::DomainInUse(*domain_id));
            }
        }
        for domain_id in domains {
            state.remove_domain(*domain_id);
        }
        let replica = self.replica_state();
        let epochs = self.epochs();
        let new = NewFile {
            name: file_name(&inner.base_name, number),
            number,
            ordinal,
            occasion: FileReason::Rotation,
            sync_mode: writer.sync_mode,
            state: &state,
            replica: &replica,
            epochs: &epochs,
            checkpoint: &checkpoint,
            now,
        };
        let (entry, new, end) = inner.create_file(&new, &mut inner.prepared_file.lock())?;

        let index = inner.index.lock();
        let names = inner.names();
        if let Err(error) = index.prepare(names.iter().map(String::as_str).chain([entry.name.as_str()])) {
            inner.remove_quietly(&entry.name);
            let _ = index.discard();
            return Err(error);
        }
        let mut event = Vec::new();
        let rotate = RotateEvent {
            position: MAGIC.len() as u64,
            file_name: entry.name.as_bytes(),
        };
        encode_event(
            &mut event,
            &inner.stamp(now, EventFlags::NONE),
            writer.end,
            &rotate,
        );
        inner.write_reserved_record(&mut writer, now, &event)?;
        index.replace().map_err(|error| inner.fatal(error))?;

        let old_end = writer.end;
        inner.switch_to(&mut writer, entry, new, end, old_end);
        drop(index);
        inner.finish(&old, old_end)?;
        Ok(self.written())
    }

    /// Writes the Stop event and closes the active file. The log takes no more writes.
    ///
    /// # Errors
    /// As for [`Self::sync`].
    pub fn close(&self, now: u32) -> Result<()> {
        let inner = &self.inner;
        let mut writer = inner.writer.lock();
        inner.check_usable(&writer)?;
        self.sync()?;
        let mut event = Vec::new();
        encode_event(
            &mut event,
            &inner.stamp(now, EventFlags::NONE),
            writer.end,
            &StopEvent,
        );
        inner.write_reserved_record(&mut writer, now, &event)?;
        writer.life = LogLifecycle::Closed;
        inner.discard_prepared(&mut inner.prepared_file.lock());
        inner.finish(&writer.active, writer.end)
    }
}

impl Inner {
    /// Returns the name of the first file that recovery needs.
    pub fn checkpoint_name(&self, writer: &Writer) -> String {
        self.file_by_ordinal(self.checkpoint.load(Ordering::Acquire) as u32)
            .map_or_else(|| writer.active.name.clone(), |file| file.name.clone())
    }

    /// Makes a new file, which the index names, the active one. The old file's length is final.
    pub fn switch_to(&self, writer: &mut Writer, entry: FileEntry, new: ActiveFile, end: u64, old_end: u64) {
        let position = LogPosition::new(entry.ordinal, end);
        let new = Arc::new(new);
        {
            let mut files = self.files.write();
            if let Some(last) = files.last_mut() {
                let closed = FileEntry {
                    length: old_end,
                    modified: SystemTime::now(),
                    ..FileEntry::clone(last)
                };
                *last = Arc::new(closed);
            }
            files.push(Arc::new(entry));
            let index = new.index.lock();
            let mut extent = self.extent.lock();
            extent.continue_at(position, index.state());
            // Set under the lock: a thread that lists the files sees the new file as active as soon as it is in the
            // list.
            self.written.store(position.as_u64(), Ordering::Release);
            self.durable.store(position.as_u64(), Ordering::Release);
        }
        *self.active.write() = Arc::clone(&new);
        writer.active = new;
        writer.end = end;
        writer.prefix.clear();
        writer.recorded_durable = position;
    }

    /// Closes a file that is no longer written, and writes its GTID index beside it.
    pub fn finish(&self, old: &ActiveFile, end: u64) -> Result<()> {
        old.finish(end).map_err(|error| self.fatal(error))?;
        let index = old.index.lock();
        let path = self.index_path(&old.name);
        if let Err(error) = index.index().save(&*self.disk, &path, old.ordinal, end) {
            tracing::warn!(
                "cannot write the GTID index of '{}', it will be made when it is needed: {error}",
                old.name
            );
        }
        Ok(())
    }
}
