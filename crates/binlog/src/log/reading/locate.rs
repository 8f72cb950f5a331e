//! Finding GTIDs: where a reader must start, where a transaction is, and what was written before a position.
//!
//! The head of each file contains the GTID state before it, and all heads are read when the log is opened. So it is
//! known without reading which file contains the answer. Within the file, its GTID index narrows the search to one
//! stretch of about 64 KiB, whose Gtid events are then examined.
//!
//! A GTID *position* includes the same transactions as in MariaDB (`contains_all_slave_gtid`): if the position's GTID
//! of a domain is D-S-N, everything up to exactly that transaction; if that transaction is not in the log, everything
//! with a number up to N.

use crate::error::{Error, Result};
use crate::event::{EventType, GtidEvent, MAGIC};
use crate::gtid::{GtidPosition, GtidState, LOCAL_DOMAIN};
use crate::log::files::entry::FileEntry;
use crate::log::files::gtid_index::{GtidIndex, GtidIndexBuilder};
use crate::log::files::head::FileHead;
use crate::log::files::tail::read_tail;
use crate::log::handle::{Inner, Log};
use paceline_types::{Gtid, LogPosition};
use std::sync::Arc;

impl Log {
    /// Returns where a reader that has everything in `position` must start: it lacks no transaction before that
    /// place. Reads an index or at most one file.
    ///
    /// # Errors
    /// [`Error::Purged`] if a transaction that it lacks is older than the first file.
    pub fn locate(&self, position: &GtidPosition) -> Result<LogPosition> {
        let inner = &self.inner;
        let files: Vec<Arc<FileEntry>> = inner.files.read().clone();
        // Newest first: most replicas that ask lag by little.
        let file = files
            .iter()
            .rev()
            .find(|file| is_covered_by(&file.state, position))
            .ok_or(Error::Purged)?;
        let mut state = file.state.clone();
        let missing = |state: &GtidState, gtid: Gtid| !includes(state, position, gtid);
        let stretch = inner.find_stretch(file, &mut state, |state, gtids| {
            // Updated GTID by GTID: whether one is missing may depend on the one just before.
            let mut state = state.clone();
            gtids.iter().any(|gtid| {
                let missing = missing(&state, *gtid);
                state.update(*gtid);
                missing
            })
        })?;
        let mut found = None;
        let end = inner.walk(file, stretch, self.written(), |gtid, start| {
            if missing(&state, gtid) {
                found = Some(start);
                return Walk::Stop;
            }
            state.update(gtid);
            Walk::Continue
        })?;
        Ok(LogPosition::new(file.ordinal, found.unwrap_or(end)))
    }

    /// Returns where a replica that requests `position` is served from, by MariaDB's rules: in each domain it is sent
    /// what follows exactly the transaction that the position names. Reads an index or at most one file.
    ///
    /// # Errors
    /// [`Error::Purged`] if a transaction that it must be sent is older than the first file.
    pub fn locate_start(&self, position: &GtidPosition) -> Result<ServeStart> {
        let inner = &self.inner;
        let files: Vec<Arc<FileEntry>> = inner.files.read().clone();
        let file = files
            .iter()
            .rev()
            .find(|file| starts_in(&file.state, position))
            .ok_or(Error::Purged)?;
        let mut state = file.state.clone();
        let stretch = inner.find_stretch(file, &mut state, |state, gtids| {
            let mut state = state.clone();
            gtids.iter().any(|gtid| {
                let sent = is_sent(&state, position, *gtid);
                state.update(*gtid);
                sent
            })
        })?;
        let mut found = None;
        let end = inner.walk(file, stretch, self.written(), |gtid, start| {
            if is_sent(&state, position, gtid) {
                found = Some(start);
                return Walk::Stop;
            }
            state.update(gtid);
            Walk::Continue
        })?;
        Ok(ServeStart {
            file: LogPosition::new(file.ordinal, MAGIC.len() as u64),
            file_state: file.state.clone(),
            from: LogPosition::new(file.ordinal, found.unwrap_or(end)),
            state,
        })
    }

    /// Returns where this transaction's event group starts, or `None` if it is not in the log. Reads an index or at
    /// most one file.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn find(&self, gtid: Gtid) -> Result<Option<LogPosition>> {
        let inner = &self.inner;
        let files: Vec<Arc<FileEntry>> = inner.files.read().clone();
        let reached = |state: &GtidState| {
            state
                .last_of(gtid.domain_id, gtid.server_id)
                .is_some_and(|last| last.sequence >= gtid.sequence)
        };
        // The newest file before which the transaction was not written yet.
        let Some(file) = files.iter().rev().find(|file| !reached(&file.state)) else {
            return Ok(None);
        };
        let mut state = file.state.clone();
        let stretch = inner.find_stretch(file, &mut state, |_, gtids| {
            let same_server =
                |other: &&Gtid| other.domain_id == gtid.domain_id && other.server_id == gtid.server_id;
            gtids
                .iter()
                .filter(same_server)
                .any(|other| other.sequence >= gtid.sequence)
        })?;
        let mut found = None;
        inner.walk(file, stretch, self.written(), |other, start| {
            if other == gtid {
                found = Some(LogPosition::new(file.ordinal, start));
                return Walk::Stop;
            }
            Walk::Continue
        })?;
        Ok(found)
    }

    /// Returns the GTID state just before a position, which must be where an event starts or ends
    /// (`BINLOG_GTID_POS()` is its [`GtidState::position`]).
    ///
    /// # Errors
    /// [`Error::UnknownPosition`] for a position that is not in the log.
    pub fn state_at(&self, position: LogPosition) -> Result<GtidState> {
        let inner = &self.inner;
        let written = self.written();
        let file = inner
            .file_by_ordinal(position.ordinal())
            .ok_or(Error::UnknownPosition(position))?;
        let end = if file.ordinal == written.ordinal() {
            written.offset()
        } else {
            file.length
        };
        if position.offset() > end {
            return Err(Error::UnknownPosition(position));
        }
        let mut state = file.state.clone();
        let mut from = file.head_length;
        inner.with_index(&file, |index| {
            for (offset, gtids) in index.entries() {
                if offset > position.offset() {
                    break;
                }
                gtids.iter().for_each(|gtid| state.update(*gtid));
                from = offset;
            }
        })?;
        inner.walk(&file, Stretch { from }, written, |gtid, start| {
            if start >= position.offset() {
                return Walk::Stop;
            }
            state.update(gtid);
            Walk::Continue
        })?;
        Ok(state)
    }
}

/// Where a replica is served from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServeStart {
    /// Beginning of the file where MariaDB would begin to read.
    pub file: LogPosition,
    /// The GTID state there.
    pub file_state: GtidState,
    /// Start of the first transaction that is sent, in that file; or the file's end.
    pub from: LogPosition,
    /// The GTID state there.
    pub state: GtidState,
}

/// Returns whether a replica at `position` is sent a transaction when `state` is everything before it. It is sent what
/// follows the transaction that the position names; that one has passed when its server has reached its number.
fn is_sent(state: &GtidState, position: &GtidPosition, gtid: Gtid) -> bool {
    if gtid.domain_id == LOCAL_DOMAIN {
        return false;
    }
    let Some(last) = position.get(gtid.domain_id) else {
        return true;
    };
    let is_reached = state
        .last_of(last.domain_id, last.server_id)
        .is_some_and(|known| known.sequence >= last.sequence);
    is_reached || (gtid.server_id == last.server_id && gtid.sequence > last.sequence)
}

/// Returns whether a replica at `position` can be served from a file with this state at its head: the transactions that
/// the position names are not in earlier files, or are the last of their domain there.
fn starts_in(state: &GtidState, position: &GtidPosition) -> bool {
    state.iter().all(|gtid| match position.get(gtid.domain_id) {
        None => false,
        Some(last) if last.server_id == gtid.server_id && last.sequence <= gtid.sequence => {
            last.sequence == gtid.sequence && state.last(gtid.domain_id) == Some(gtid)
        }
        Some(_) => true,
    })
}

/// Returns whether a position includes a transaction when `state` is everything before it.
fn includes(state: &GtidState, position: &GtidPosition, gtid: Gtid) -> bool {
    if gtid.domain_id == LOCAL_DOMAIN {
        return true;
    }
    let Some(last) = position.get(gtid.domain_id) else {
        return false;
    };
    // After exactly the transaction that the position names, everything is missing.
    let reached = state.last_of(last.domain_id, last.server_id) == Some(last);
    gtid == last || (!reached && gtid.sequence <= last.sequence)
}

/// Returns whether a position includes everything in a state.
fn is_covered_by(state: &GtidState, position: &GtidPosition) -> bool {
    state.iter().all(|gtid| match position.get(gtid.domain_id) {
        None => false,
        Some(last) if state.last(gtid.domain_id) == Some(last) => true,
        // The transaction that the position names is there, and another one follows it.
        Some(last) if gtid == last => false,
        Some(last) => gtid.sequence <= last.sequence,
    })
}

/// Part of a file whose Gtid events are examined one by one.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: u64,
}

/// Whether to continue the walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Walk {
    Continue,
    Stop,
}

impl Inner {
    /// Returns the start of the stretch before whose end `holds` is true first, and updates the state to that start.
    fn find_stretch(
        &self,
        file: &FileEntry,
        state: &mut GtidState,
        mut holds: impl FnMut(&GtidState, &[Gtid]) -> bool,
    ) -> Result<Stretch> {
        let mut from = file.head_length;
        self.with_index(file, |index| {
            for (offset, gtids) in index.entries() {
                if holds(state, gtids) {
                    break;
                }
                gtids.iter().for_each(|gtid| state.update(*gtid));
                from = offset;
            }
        })?;
        Ok(Stretch { from })
    }

    /// Visits the Gtid events of a file from the start of a stretch on. Returns where it stopped.
    fn walk(
        &self,
        file: &FileEntry,
        stretch: Stretch,
        written: LogPosition,
        mut visit: impl FnMut(Gtid, u64) -> Walk,
    ) -> Result<u64> {
        let (mut stream, _) = self.open_stream(file, written)?;
        stream.seek(stretch.from);
        while let Some((start, event)) = stream.next()? {
            if event.event_type() == EventType::GTID {
                let gtid = GtidEvent::decode(event.body(), event.header().server_id)?.gtid;
                if visit(gtid, start) == Walk::Stop {
                    return Ok(start);
                }
            }
        }
        Ok(stream.position())
    }

    /// Passes a file's GTID index to `look`. The index is in memory, read from beside the file, or rebuilt.
    fn with_index<T>(&self, file: &FileEntry, look: impl FnOnce(&GtidIndex) -> T) -> Result<T> {
        let active = Arc::clone(&self.active.read());
        if active.ordinal == file.ordinal {
            return Ok(look(active.index.lock().index()));
        }
        // The file may have been closed just now; then only its new entry has its length.
        let fresh = self.file_by_ordinal(file.ordinal);
        let file = fresh.as_deref().unwrap_or(file);
        let path = self.index_path(&file.name);
        if let Some(index) = GtidIndex::load(&*self.disk, &path, file.ordinal, file.length) {
            return Ok(look(&index));
        }
        let builder = self.read_whole(file)?;
        if let Err(error) = builder
            .index()
            .save(&*self.disk, &path, file.ordinal, file.length)
        {
            tracing::warn!("cannot write the GTID index of '{}': {error}", file.name);
        }
        Ok(look(builder.index()))
    }

    fn read_whole(&self, file: &FileEntry) -> Result<GtidIndexBuilder> {
        let opened = self.open_entry(file)?;
        let head = FileHead::read_as(&opened, &file.name, file.origin)?;
        let tail = read_tail(&opened, &file.name, &head)?;
        if tail.end != file.length {
            return Err(Error::Damaged {
                file: file.name.clone(),
                offset: tail.end,
                problem: "it is not readable to its end".to_owned(),
            });
        }
        Ok(tail.builder)
    }
}
