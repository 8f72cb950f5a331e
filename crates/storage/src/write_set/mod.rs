//! Write set of a transaction: an ordered map from key to change, private until the transaction commits.
//!
//! ```text
//!   order    chunks of entry numbers, sorted by key     [2 0 1] [5 3 4] …      with the heads of the keys
//!   entries  key slot, value slot                       0 1 2 3 4 5      (in the order of their first change)
//!   arena    key bytes, 8 bytes of room for the version ‖ payload, …
//!   undo     (entry, its former value slot)             restored by rollback_to(mark), newest first
//! ```
//!
//! - **One entry per key.** A later change of a key replaces the earlier one. While a mark protects the earlier
//!   value, its slot moves to the undo list. A rollback to a mark restores the slots, removes newer entries,
//!   and truncates the arena.
//! - **The version comes last.** A transaction learns its version when it is placed in the log. Until then each
//!   value begins with eight zero bytes, and the ids of rows in tables without a primary key, at the end of
//!   keys (and of the values of unique keys), contain [`Version::MAX`]. That sorts after every existing row, as
//!   the real version will. [`WriteSet::assign_version`] patches both and freezes the set; the order of the
//!   keys does not change.
//! - **Range deletes come first**: they are applied before all entries of the set, regardless of the order of
//!   calls. [`WriteSet::delete_range`] turns existing entries in the range into deletes, so that the result is
//!   that of the calls in order.
//! - **Numbers only rise**: [`WriteSet::raise_counter`] requests that a number kept for a table be at least a
//!   given one. The engine compares, in log order, so that transactions that raise the same number need not
//!   wait for each other.
//! - **Large sets keep only their keys in memory**: after [`WriteSet::spill_to`], values go to a file
//!   ([`spilled`]) together with their version or mark, which must be known by then. Values that are rolled
//!   back stay in the file, unread.
//! - **Small sets are cheap**: up to eight keys cost four allocations in all.

mod frozen;
mod order;
mod slot;
mod spilled;

use std::fmt;

use paceline_types::Version;

pub use frozen::{EntryIndex, FrozenWriteSet, MarkedWriteSet, SealedWriteSet};
use order::{BYTES_PER_KEY, Order, Position};
use slot::{IN_FILE, KeySlot, Slot, ValueSlot};
use spilled::SpilledValues;
pub use spilled::{SharedValue, ValueVersion};

use paceline_spill_file::SpillFile;

use crate::error::Result;
use crate::key::{EngineKind, IndexId, KeyHead, KeyRange, RowId, VERSION_LENGTH, VersionMark};

/// Change of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change<'a> {
    /// The key gets this value, whose first [`VERSION_LENGTH`] bytes are the version (zero until it is
    /// assigned).
    Put(&'a [u8]),
    /// The key is deleted.
    Delete,
}

/// Place of a row id in an entry whose row the same transaction inserts, so that its version is not known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowIdLocation {
    /// Nowhere.
    None,
    /// In the key's last 12 bytes.
    KeyEnd,
    /// In the value's last 12 bytes.
    ValueEnd,
    /// In both.
    KeyAndValueEnd,
}

impl RowIdLocation {
    fn of(in_key: bool, in_value: bool) -> Self {
        match (in_key, in_value) {
            (false, false) => RowIdLocation::None,
            (true, false) => RowIdLocation::KeyEnd,
            (false, true) => RowIdLocation::ValueEnd,
            (true, true) => RowIdLocation::KeyAndValueEnd,
        }
    }

    fn in_key(self) -> bool {
        matches!(self, RowIdLocation::KeyEnd | RowIdLocation::KeyAndValueEnd)
    }

    fn in_value(self) -> bool {
        matches!(self, RowIdLocation::ValueEnd | RowIdLocation::KeyAndValueEnd)
    }
}

#[derive(Clone, Copy)]
struct Entry {
    key: KeySlot,
    value: ValueSlot,
}

struct Undo {
    entry: u32,
    value: ValueSlot,
}

/// State of a write set that it can be rolled back to: the start of a statement or a savepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    entries: u32,
    undo: u32,
    arena: usize,
    spilled: u64,
    ranges: u32,
    counters: u32,
    row_ordinal: u32,
    memory_engine_bytes: u64,
}

impl Mark {
    const START: Mark = Mark {
        entries: 0,
        undo: 0,
        arena: 0,
        spilled: 0,
        ranges: 0,
        counters: 0,
        row_ordinal: 0,
        memory_engine_bytes: 0,
    };
}

/// Changes of a running transaction. See the module's head.
pub struct WriteSet {
    arena: Vec<u8>,
    entries: Vec<Entry>,
    order: Order,
    undo: Vec<Undo>,
    ranges: Vec<KeyRange>,
    /// Requested minimums of numbers; a number may occur once per mark.
    counters: Vec<(IndexId, u64)>,
    /// Ordinal of the next row without a primary key.
    row_ordinal: u32,
    memory_engine_bytes: u64,
    /// Newest mark that may still be rolled back to: older values must not be overwritten in place.
    protected: Mark,
    /// Values written since the set became large.
    spilled: Option<Box<SpilledValues>>,
}

impl Default for WriteSet {
    fn default() -> Self {
        Self::new()
    }
}

impl WriteSet {
    /// Returns an empty set. Allocates nothing.
    pub fn new() -> Self {
        WriteSet {
            arena: Vec::new(),
            entries: Vec::new(),
            order: Order::new(),
            undo: Vec::new(),
            ranges: Vec::new(),
            counters: Vec::new(),
            row_ordinal: 0,
            memory_engine_bytes: 0,
            protected: Mark::START,
            spilled: None,
        }
    }

    /// Returns whether it changes no key and deletes no range.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.ranges.is_empty()
    }

    /// Returns the number of keys with an entry.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the memory of the set in bytes, for limits. Values in a file do not count.
    pub fn memory_bytes(&self) -> usize {
        self.arena.len()
            + self.entries.len() * (size_of::<Entry>() + BYTES_PER_KEY)
            + self.undo.len() * size_of::<Undo>()
    }

    /// Returns the number of bytes that the set would add to MEMORY and added engines, for their limit: see
    /// [`Storage::check_memory_room`](crate::Storage::check_memory_room).
    pub fn memory_engine_bytes(&self) -> u64 {
        self.memory_engine_bytes
    }

    /// Sets the value of `key` to `payload`; the version will be added before it.
    pub fn put(&mut self, key: &[u8], payload: &[u8]) {
        self.put_parts(key, &[payload], RowIdLocation::None);
    }

    /// Puts a value as [`put`](Self::put) does, with a payload in several parts, and the place of a row id that
    /// is still a placeholder.
    pub fn put_parts(&mut self, key: &[u8], payload: &[&[u8]], row_id: RowIdLocation) {
        let length = VERSION_LENGTH + payload.iter().map(|part| part.len()).sum::<usize>();
        if EngineKind::is_behind_trait(key) {
            self.memory_engine_bytes += (key.len() + length) as u64;
        }
        if self.spilled.is_none() {
            self.arena.reserve(key.len() + length);
        }
        let entry = self.entry_for(key, row_id.in_key());
        let row_id_at_end = row_id.in_value();
        let slot = match (self.entries[entry].value.slot(), &mut self.spilled) {
            // Written since the newest mark: the old value is never restored.
            (Some(old), _)
                if old.in_file().is_none()
                    && old.start >= self.protected.arena
                    && old.length as usize >= length =>
            {
                let mut at = old.start + VERSION_LENGTH;
                for part in payload {
                    self.arena[at..at + part.len()].copy_from_slice(part);
                    at += part.len();
                }
                Slot::new(old.start, length)
            }
            (_, Some(spilled)) => Slot::new(IN_FILE | spilled.append(payload) as usize, length),
            (_, None) => {
                let start = self.arena.len();
                self.arena.extend_from_slice(&[0; VERSION_LENGTH]);
                for part in payload {
                    self.arena.extend_from_slice(part);
                }
                Slot::new(start, length)
            }
        };
        self.entries[entry].value = ValueSlot::new(slot, row_id_at_end);
    }

    /// Deletes `key`. The entry stays, because the engine may have the key.
    pub fn delete(&mut self, key: &[u8]) {
        self.delete_placed(key, RowIdLocation::None);
    }

    /// Deletes a key as [`delete`](Self::delete) does; it may end with the placeholder of a row id.
    pub fn delete_placed(&mut self, key: &[u8], row_id: RowIdLocation) {
        let entry = self.entry_for(key, row_id.in_key());
        self.entries[entry].value = ValueSlot::DELETED;
    }

    /// Deletes all keys of the range, in the engine and in this set.
    pub fn delete_range(&mut self, range: KeyRange) {
        if range.is_empty() {
            return;
        }
        let (from, to) = (self.lower_bound(&range.start), self.lower_bound(&range.end));
        let hit: Vec<u32> = self.order.between(from, to).collect();
        for entry in hit {
            self.save_for_undo(entry as usize);
            self.entries[entry as usize].value = ValueSlot::DELETED;
        }
        self.ranges.push(range);
    }

    /// Requests that the number kept under `id` be at least `number`. The number is deleted with its id's
    /// range, like other keys.
    pub fn raise_counter(&mut self, id: IndexId, number: u64) {
        let since_mark = &mut self.counters[self.protected.counters as usize..];
        match since_mark.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = number.max(*known),
            None => self.counters.push((id, number)),
        }
    }

    /// Returns the requests of [`raise_counter`](Self::raise_counter).
    pub fn counters(&self) -> &[(IndexId, u64)] {
        &self.counters
    }

    /// Returns the id of the next row that the transaction inserts into a table without a primary key; its
    /// version is not known yet.
    ///
    /// # Panics
    /// After 2^32 such rows in one transaction.
    pub fn allocate_row_id(&mut self) -> RowId {
        let ordinal = self.row_ordinal;
        self.row_ordinal = ordinal
            .checked_add(1)
            .expect("below 2^32 rows without a primary key in a transaction");
        RowId {
            version: Version::MAX,
            ordinal,
        }
    }

    /// Returns the set's change of `key`; `None` if it does not touch it.
    pub fn get(&self, key: &[u8]) -> Option<Change<'_>> {
        if self.entries.is_empty() && self.ranges.is_empty() {
            return None;
        }
        match self.find(key) {
            Ok((_, entry)) => Some(self.change(entry as usize)),
            Err(_) if self.ranges.iter().any(|range| range.contains(key)) => Some(Change::Delete),
            Err(_) => None,
        }
    }

    /// Returns the key of the `number`th entry in the order of first changes, and whether it ends with a row id
    /// whose version is not known yet.
    ///
    /// # Panics
    /// If there are not that many entries ([`len`](Self::len)).
    pub fn nth_key(&self, number: usize) -> (&[u8], bool) {
        let entry = &self.entries[number];
        (self.bytes(entry.key.slot()), entry.key.row_id_at_end())
    }

    /// Returns the entries whose keys are in the range, ascending; reversible.
    pub fn range(&self, range: &KeyRange) -> Entries<'_> {
        let front = self.lower_bound(&range.start);
        let back = if range.is_empty() {
            front
        } else {
            self.lower_bound(&range.end)
        };
        Entries {
            set: self,
            front,
            back,
        }
    }

    /// Returns the entries in a range, ascending, with values that may be kept while the set changes; `None`
    /// for a deleted key.
    pub fn shared_range<'a>(
        &'a self,
        range: &KeyRange,
    ) -> impl Iterator<Item = (&'a [u8], Option<SharedValue>)> + use<'a> {
        self.numbers_in(range).map(move |entry| {
            let value =
                self.entries[entry as usize]
                    .value
                    .slot()
                    .map(|slot| match (slot.in_file(), &self.spilled) {
                        (Some(start), Some(spilled)) => spilled.share(start, slot.length as usize),
                        _ => SharedValue::copied(self.bytes(slot)),
                    });
            (self.key_of(entry), value)
        })
    }

    /// Returns all entries, ascending by key; reversible.
    pub fn entries(&self) -> Entries<'_> {
        Entries {
            set: self,
            front: self.order.first(),
            back: self.order.end(),
        }
    }

    /// Returns the ranges that are deleted before the entries are written.
    pub fn deleted_ranges(&self) -> &[KeyRange] {
        &self.ranges
    }

    /// Returns a mark of the current state, to roll back to.
    pub fn mark(&mut self) -> Mark {
        let mark = Mark {
            entries: self.entries.len() as u32,
            undo: self.undo.len() as u32,
            arena: self.arena.len(),
            spilled: self.spilled.as_ref().map_or(0, |spilled| spilled.end()),
            ranges: self.ranges.len() as u32,
            counters: self.counters.len() as u32,
            row_ordinal: self.row_ordinal,
            memory_engine_bytes: self.memory_engine_bytes,
        };
        self.protected = mark;
        mark
    }

    /// Restores the state at `mark`. The mark stays valid; later marks do not.
    ///
    /// # Panics
    /// If the set was rolled back to an earlier mark since this one was made.
    pub fn rollback_to(&mut self, mark: Mark) {
        assert!(
            mark.entries as usize <= self.entries.len() && mark.undo as usize <= self.undo.len(),
            "a mark outlives a rollback to an earlier one"
        );
        while self.undo.len() > mark.undo as usize {
            let undo = self.undo.pop().expect("not empty");
            self.entries[undo.entry as usize].value = undo.value;
        }
        let newer = self.entries.len() - mark.entries as usize;
        if newer > 0 {
            if newer <= 16 {
                for entry in mark.entries..self.entries.len() as u32 {
                    let key = self.entries[entry as usize].key.slot();
                    let (position, found) = self.find(self.bytes(key)).expect("each entry is in the order");
                    debug_assert_eq!(found, entry);
                    self.order.remove(position);
                }
            } else {
                self.order.retain(|entry| entry < mark.entries);
            }
            self.entries.truncate(mark.entries as usize);
        }
        self.arena.truncate(mark.arena);
        if let Some(spilled) = &mut self.spilled {
            spilled.truncate(mark.spilled);
        }
        self.ranges.truncate(mark.ranges as usize);
        self.counters.truncate(mark.counters as usize);
        self.row_ordinal = mark.row_ordinal;
        self.memory_engine_bytes = mark.memory_engine_bytes;
        self.protected = mark;
    }

    /// Removes the changes since `mark` and returns them as a set of their own. They may only concern keys that
    /// had no entry before the mark.
    ///
    /// # Panics
    /// As [`rollback_to`](Self::rollback_to); if a changed key had an entry before the mark, or a range was
    /// deleted since.
    pub fn take_since(&mut self, mark: Mark) -> WriteSet {
        assert!(
            self.undo.len() == mark.undo as usize && self.ranges.len() == mark.ranges as usize,
            "what is taken out was not there before the mark"
        );
        let mut taken = WriteSet::new();
        for number in mark.entries as usize..self.entries.len() {
            let Entry { key, value } = self.entries[number];
            let row_id = RowIdLocation::of(key.row_id_at_end(), value.row_id_at_end());
            let key = self.bytes(key.slot());
            match self.change(number) {
                Change::Put(value) => taken.put_parts(key, &[&value[VERSION_LENGTH..]], row_id),
                Change::Delete => taken.delete_placed(key, row_id),
            }
        }
        taken
            .counters
            .extend_from_slice(&self.counters[mark.counters as usize..]);
        self.rollback_to(mark);
        taken
    }

    /// Writes the version into values and row ids, and freezes the set.
    ///
    /// # Panics
    /// If the version is [`Version::MAX`], which means "not known".
    pub fn assign_version(mut self, version: Version) -> FrozenWriteSet {
        self.freeze(version);
        FrozenWriteSet::new(self, version)
    }

    /// Prepares the set for [`assign_version`](Self::assign_version), in the transaction's own thread, to leave
    /// less work for the log stage.
    pub fn complete(self) -> SealedWriteSet {
        SealedWriteSet::new(self)
    }

    fn freeze(&mut self, version: Version) {
        assert!(
            version != Version::MAX,
            "a transaction's version is a place in the log"
        );
        self.stamp(version);
        if let Some(spilled) = &mut self.spilled {
            // The disk has accepted these very bytes before.
            spilled.check().expect("bytes in a file can be overwritten");
        }
    }

    /// Writes a mark where [`assign_version`](Self::assign_version) would write the version, for a transaction
    /// whose rows go to table files before it is placed in the log:
    /// [`Storage::build_rows`](crate::Storage::build_rows).
    ///
    /// # Errors
    /// If values in the file cannot be written.
    pub fn assign_mark(mut self, mark: VersionMark) -> Result<MarkedWriteSet> {
        self.stamp(mark.as_version());
        if let Some(spilled) = &mut self.spilled {
            spilled.check()?;
        }
        Ok(MarkedWriteSet::new(self))
    }

    /// Writes further values to a file, under the version that they will have.
    ///
    /// # Panics
    /// If values already go to a file.
    pub fn spill_to(&mut self, file: SpillFile, version: ValueVersion) {
        assert!(self.spilled.is_none(), "a write set's values are in one file");
        self.spilled = Some(Box::new(SpilledValues::new(file, version)));
    }

    /// Returns whether values go to a file.
    pub fn is_spilled(&self) -> bool {
        self.spilled.is_some()
    }

    /// Returns the mark of the values in the file; `None` if they carry a version, or there is no file.
    pub fn version_mark(&self) -> Option<VersionMark> {
        let spilled = self.spilled.as_ref()?;
        VersionMark::of(spilled.version().as_version())
    }

    /// Writes values to the file when many are still in memory. Must be called after every few rows.
    ///
    /// # Errors
    /// If they cannot be written. Nothing is lost; the transaction should be rolled back.
    pub fn write_spilled(&mut self) -> Result<()> {
        match &mut self.spilled {
            Some(spilled) => spilled.write(),
            None => Ok(()),
        }
    }

    fn stamp(&mut self, version: Version) {
        let bytes = version.to_be_bytes();
        if let Some(spilled) = &self.spilled {
            assert!(
                spilled.version().as_version() == version,
                "values in a file have the version that the set was given when they went there"
            );
        }
        let mut keys_changed = false;
        for index in 0..self.entries.len() {
            let entry = self.entries[index];
            if let Some(value) = entry.value.slot() {
                if value.in_file().is_none() {
                    self.arena[value.start..value.start + VERSION_LENGTH].copy_from_slice(&bytes);
                }
                if entry.value.row_id_at_end() {
                    self.patch_row_id(value, bytes);
                }
            }
            if entry.key.row_id_at_end() {
                self.patch_row_id(entry.key.slot(), bytes);
                keys_changed = true;
            }
        }
        if keys_changed {
            let (arena, entries) = (&self.arena, &self.entries);
            self.order.set_heads(|entry| {
                let key = entries[entry as usize].key.slot();
                KeyHead::of(&arena[key.start..key.start + key.length as usize])
            });
        }
        self.undo = Vec::new();
    }

    fn patch_row_id(&mut self, slot: Slot, version: [u8; 8]) {
        if let (Some(start), Some(spilled)) = (slot.in_file(), &mut self.spilled) {
            let end = start + u64::from(slot.length);
            spilled.patch(end - RowId::LENGTH as u64, version);
            return;
        }
        let end = slot.start + slot.length as usize;
        let room = &mut self.arena[end - RowId::LENGTH..end - RowId::LENGTH + 8];
        debug_assert_eq!(room, Version::MAX.to_be_bytes(), "a row id's placeholder");
        room.copy_from_slice(&version);
    }

    /// Returns the entry of `key`, ready to be given a new value; creates it if there is none.
    fn entry_for(&mut self, key: &[u8], row_id_at_end: bool) -> usize {
        match self.find(key) {
            Ok((_, entry)) => {
                self.save_for_undo(entry as usize);
                entry as usize
            }
            Err(position) => {
                let start = self.arena.len();
                self.arena.extend_from_slice(key);
                let entry = self.entries.len();
                self.entries.push(Entry {
                    key: KeySlot::new(Slot::new(start, key.len()), row_id_at_end),
                    value: ValueSlot::DELETED,
                });
                self.order.insert(
                    position,
                    KeyHead::of(key),
                    u32::try_from(entry).expect("below 2^32 keys in a transaction"),
                );
                entry
            }
        }
    }

    fn save_for_undo(&mut self, entry: usize) {
        if entry < self.protected.entries as usize {
            self.undo.push(Undo {
                entry: entry as u32,
                value: self.entries[entry].value,
            });
        }
    }

    fn bytes(&self, slot: Slot) -> &[u8] {
        if let (Some(start), Some(spilled)) = (slot.in_file(), &self.spilled) {
            return spilled.bytes(start, slot.length as usize);
        }
        &self.arena[slot.start..slot.start + slot.length as usize]
    }

    fn key_of(&self, entry: u32) -> &[u8] {
        self.bytes(self.entries[entry as usize].key.slot())
    }

    fn change(&self, entry: usize) -> Change<'_> {
        match self.entries[entry].value.slot() {
            Some(slot) => Change::Put(self.bytes(slot)),
            None => Change::Delete,
        }
    }

    fn find(&self, key: &[u8]) -> std::result::Result<(Position, u32), Position> {
        self.order
            .find(KeyHead::of(key), |entry| self.key_of(entry).cmp(key))
    }

    /// Returns the numbers of the entries whose keys are in the range, ascending by key.
    fn numbers_in<'a>(&'a self, range: &KeyRange) -> impl Iterator<Item = u32> + use<'a> {
        let from = self.lower_bound(&range.start);
        let to = match range.is_empty() {
            true => from,
            false => self.lower_bound(&range.end),
        };
        self.order.between(from, to)
    }

    fn lower_bound(&self, key: &[u8]) -> Position {
        self.order
            .lower_bound(KeyHead::of(key), |entry| self.key_of(entry).cmp(key))
    }
}

impl fmt::Debug for WriteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteSet")
            .field("keys", &self.entries.len())
            .field("bytes", &self.arena.len())
            .finish()
    }
}

/// Entries of a write set, ascending by key; `rev()` for descending.
#[derive(Clone)]
pub struct Entries<'a> {
    set: &'a WriteSet,
    front: Position,
    back: Position,
}

impl<'a> Entries<'a> {
    fn item(&self, entry: u32) -> (&'a [u8], Change<'a>) {
        (self.set.key_of(entry), self.set.change(entry as usize))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a [u8], Change<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.front >= self.back {
            return None;
        }
        let entry = self.set.order.at(self.front);
        self.front = self.set.order.after(self.front);
        Some(self.item(entry))
    }
}

impl DoubleEndedIterator for Entries<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.front >= self.back {
            return None;
        }
        self.back = self.set.order.before(self.back);
        Some(self.item(self.set.order.at(self.back)))
    }
}

#[cfg(test)]
mod tests;
