//! Keys, the indexes that they belong to, and ranges of keys.
//!
//! ```text
//!   primary     IndexId(4) ‖ sort_key(primary key)                      → version(8) ‖ row image
//!   secondary   IndexId(4) ‖ sort_key(columns) ‖ sort_key(primary key)  → version(8) ‖ offset of the primary key in the key(2)
//!   unique      IndexId(4) ‖ sort_key(columns)                          → version(8) ‖ 0(2) ‖ sort_key(primary key)
//!               … with a NULL among its columns: as a secondary index, so that it conflicts with nothing
//!   unique hash IndexId(4) ‖ SHA-256 of sort_key(columns)(32)           → as a unique index
//!   no primary  IndexId(4) ‖ row id(12)                                 → version(8) ‖ row image
//!   hidden hash IndexId(4) ‖ xxh3-128 of the row image(16) ‖ row id(12) → version(8)
//!   a number    IndexId(4)                                              → 0(8) ‖ number(8)
//! ```
//!
//! In a table without a primary key, the row id takes the place of `sort_key(primary key)`. The two highest
//! bits of the index's number select the engine, so that the keys of each are contiguous and a key alone tells
//! its engine: `0…` on disk, `100…` in memory, `101…` nowhere, `11…` in a session's temporary table.

use std::fmt;

use paceline_types::Version;

/// Number of an index: the first four bytes (big endian) of each of its keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexId(u32);

/// Engine of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum EngineKind {
    /// On disk: [`RocksDbEngine`](crate::RocksDbEngine).
    RocksDb,
    /// Emptied by a restart: [`MemoryEngine`](crate::MemoryEngine).
    Memory,
    /// Nowhere: rows are logged and not stored.
    Blackhole,
    /// Visible to one session, and never in the log: [`TemporarySpace`](crate::TemporarySpace).
    Temporary,
}

impl IndexId {
    /// Length of an index's number at the front of a key, in bytes.
    pub const LENGTH: usize = 4;
    /// Index of the catalog's records.
    pub const CATALOG: IndexId = IndexId(1);
    /// Index of the engine's own records: its position. No transaction writes here.
    pub const ENGINE: IndexId = IndexId(2);
    /// Lowest number of an index of a user's table; lower numbers are reserved for the system.
    pub const FIRST_USER: u32 = 1024;
    const MEMORY_BIT: u32 = 1 << 31;
    const BLACKHOLE_BITS: u32 = 0b101 << 29;
    const TEMPORARY_BITS: u32 = 0b11 << 30;

    /// Returns the index with that number, whose two highest bits select the engine.
    pub const fn new(number: u32) -> Self {
        IndexId(number)
    }

    /// Returns the index with that number (without the two highest bits) in that engine.
    ///
    /// # Panics
    /// If the number has more than 30 bits; in memory and nowhere, more than 29.
    pub const fn in_engine(number: u32, engine: EngineKind) -> Self {
        assert!(number & Self::TEMPORARY_BITS == 0, "index numbers have 30 bits");
        match engine {
            EngineKind::RocksDb => IndexId(number),
            EngineKind::Memory | EngineKind::Blackhole => {
                assert!(number >> 29 == 0, "numbers of these indexes have 29 bits");
                IndexId(match engine {
                    EngineKind::Memory => number | Self::MEMORY_BIT,
                    _ => number | Self::BLACKHOLE_BITS,
                })
            }
            EngineKind::Temporary => IndexId(number | Self::TEMPORARY_BITS),
        }
    }

    /// Returns the number without the engine's bits.
    pub const fn number(self) -> u32 {
        match self.engine() {
            EngineKind::RocksDb => self.0,
            EngineKind::Memory => self.0 & !Self::MEMORY_BIT,
            EngineKind::Blackhole => self.0 & !Self::BLACKHOLE_BITS,
            EngineKind::Temporary => self.0 & !Self::TEMPORARY_BITS,
        }
    }

    /// Returns the number, including the engine's bits.
    pub const fn as_u32(self) -> u32 {
        self.0
    }

    /// Returns the engine that holds it.
    pub const fn engine(self) -> EngineKind {
        match self.0 >> 29 {
            0b110 | 0b111 => EngineKind::Temporary,
            0b101 => EngineKind::Blackhole,
            0b100 => EngineKind::Memory,
            _ => EngineKind::RocksDb,
        }
    }

    /// Returns the first four bytes of its keys.
    pub const fn to_be_bytes(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// Returns the key of the number that is kept under this id:
    /// [`WriteSet::raise_counter`](crate::WriteSet::raise_counter).
    pub const fn number_key(self) -> [u8; 4] {
        self.to_be_bytes()
    }

    /// Returns the number in the value of such a key, given without its version; `None` if it is malformed.
    pub fn number_of(payload: &[u8]) -> Option<u64> {
        Some(u64::from_be_bytes(payload.try_into().ok()?))
    }

    /// Returns the index that a key belongs to; `None` if the key is shorter than four bytes.
    pub fn of_key(key: &[u8]) -> Option<IndexId> {
        key.first_chunk().map(|bytes| IndexId(u32::from_be_bytes(*bytes)))
    }

    /// Returns the range of all its keys.
    pub fn range(self) -> KeyRange {
        KeyRange::prefix(&self.to_be_bytes())
    }
}

impl fmt::Display for IndexId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.engine() {
            EngineKind::RocksDb => write!(f, "{}", self.0),
            EngineKind::Memory => write!(f, "memory:{}", self.number()),
            EngineKind::Blackhole => write!(f, "blackhole:{}", self.number()),
            EngineKind::Temporary => write!(f, "temporary:{}", self.number()),
        }
    }
}

impl fmt::Debug for IndexId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IndexId({self})")
    }
}

impl EngineKind {
    /// Returns the engine that holds a key.
    pub fn of_key(key: &[u8]) -> EngineKind {
        match key.first() {
            Some(byte) if byte & 0xC0 == 0xC0 => EngineKind::Temporary,
            Some(byte) if byte & 0xE0 == 0xA0 => EngineKind::Blackhole,
            Some(byte) if byte & 0x80 != 0 => EngineKind::Memory,
            _ => EngineKind::RocksDb,
        }
    }
}

/// Direction of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Direction {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Backward,
}

/// First [`LENGTH`](Self::LENGTH) bytes of a key, padded with zeros: keys are ordered as their heads where
/// these differ. Kept beside a reference to a key, so that most comparisons need not follow it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KeyHead(u128);

impl KeyHead {
    /// Length of a head in bytes.
    pub const LENGTH: usize = size_of::<u128>();

    /// Returns the head of a key.
    pub fn of(key: &[u8]) -> Self {
        let head = match key.first_chunk() {
            Some(first) => *first,
            None => {
                let mut head = [0; Self::LENGTH];
                head[..key.len()].copy_from_slice(key);
                head
            }
        };
        KeyHead(u128::from_be_bytes(head))
    }
}

/// Range of keys from `start` (included) to `end` (excluded).
///
/// Half-open ranges suffice: sort keys delimit themselves, so "after all keys that begin with these columns" is
/// [`prefix_end`] of them, and "after exactly this key" is the key followed by a zero byte.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct KeyRange {
    /// Inclusive lower bound.
    pub start: Vec<u8>,
    /// Exclusive upper bound.
    pub end: Vec<u8>,
}

impl KeyRange {
    /// Returns the range from `start` (included) to `end` (excluded), which is empty if `end` is not above
    /// `start`.
    pub fn new(start: impl Into<Vec<u8>>, end: impl Into<Vec<u8>>) -> Self {
        KeyRange {
            start: start.into(),
            end: end.into(),
        }
    }

    /// Returns the range of all keys that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        KeyRange {
            start: prefix.to_vec(),
            end: prefix_end(prefix),
        }
    }

    /// Returns the range of exactly one key.
    pub fn single(key: &[u8]) -> Self {
        let mut end = Vec::with_capacity(key.len() + 1);
        end.extend_from_slice(key);
        end.push(0);
        KeyRange {
            start: key.to_vec(),
            end,
        }
    }

    /// Returns whether the key is in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && key < self.end.as_slice()
    }

    /// Returns whether no key is in the range.
    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// Returns whether the ranges have a key in common.
    pub fn intersects(&self, other: &KeyRange) -> bool {
        self.start < other.end && other.start < self.end && !self.is_empty() && !other.is_empty()
    }

    /// Returns the index of the range's first key.
    ///
    /// # Panics
    /// If the range begins with less than the four bytes of an index's number.
    pub fn index(&self) -> IndexId {
        IndexId::of_key(&self.start).expect("a key range begins with an index's number")
    }
}

/// Returns the first key after all keys that begin with `prefix`.
///
/// # Panics
/// If all bytes of the prefix are 0xff, after which nothing sorts. No index has such a number.
pub fn prefix_end(prefix: &[u8]) -> Vec<u8> {
    let last = prefix
        .iter()
        .rposition(|&byte| byte != 0xff)
        .expect("some byte of a key prefix is below 0xff");
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    end
}

/// Hidden id of a row in a table without a primary key: the version of the transaction that inserted it, and
/// its ordinal among the rows without a primary key that this transaction inserted. It is the same in every
/// replay of the log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct RowId {
    /// Version of the inserting transaction; [`Version::MAX`] while it has none.
    pub version: Version,
    /// Ordinal in its event group, from 0.
    pub ordinal: u32,
}

impl RowId {
    /// Length of a row id at the end of a key, in bytes.
    pub const LENGTH: usize = 12;

    /// Returns the id of the `n`th row in a rebuild of a whole table. It is lower than all ids that
    /// transactions assign, and the same on every server that rebuilds the same rows in the same order.
    pub fn rebuilt(n: u64) -> RowId {
        RowId {
            version: Version::from_u64(n >> 32),
            ordinal: n as u32,
        }
    }

    /// Returns whether the inserting transaction is still running, so that no other one can see or lock the
    /// row.
    pub fn is_placeholder(self) -> bool {
        self.version == Version::MAX
    }

    /// Returns the id's bytes, which sort as the ids do.
    pub fn to_be_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[..8].copy_from_slice(&self.version.to_be_bytes());
        bytes[8..].copy_from_slice(&self.ordinal.to_be_bytes());
        bytes
    }

    /// Returns the id at the end of a key; `None` if the key is too short.
    pub fn at_end_of(key: &[u8]) -> Option<RowId> {
        let bytes = key.last_chunk::<{ Self::LENGTH }>()?;
        let (version, ordinal) = bytes.split_first_chunk::<8>()?;
        Some(RowId {
            version: Version::from_be_bytes(*version),
            ordinal: u32::from_be_bytes(ordinal.try_into().ok()?),
        })
    }
}

/// Length of the version before every stored value, in bytes.
pub const VERSION_LENGTH: usize = 8;

/// Replacement for the version in a large transaction's values. Their version is not known when they are
/// written to table files, and the commit does not change those files. All rows of a transaction have the same
/// mark, and no other transaction has it. It is not a log position, so it is only compared for equality: two
/// values of a key with one mark were written by the same transaction.
///
/// ```text
///   0xFFFFFF (24 bits: no log file's ordinal) ‖ log ordinal when it was assigned (24) ‖ number within that (16)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct VersionMark(Version);

impl VersionMark {
    /// Returns the mark with that number among those assigned while the log was in the file with that ordinal.
    pub fn new(ordinal: u32, number: u16) -> Self {
        let offset = u64::from(ordinal) << 16 | u64::from(number);
        let mark = Version::new(Version::ORDINAL_MAX, offset);
        assert!(mark != Version::MAX, "no file has the highest ordinal");
        VersionMark(mark)
    }

    /// Returns the mark in a version's place; `None` if it is a version.
    pub fn of(version: Version) -> Option<Self> {
        (version.ordinal() == Version::ORDINAL_MAX && version != Version::MAX).then_some(VersionMark(version))
    }

    /// Returns the value that is written in a version's place.
    pub(crate) fn as_version(self) -> Version {
        self.0
    }
}

/// Returns the version before a stored value; `None` if the value is too short to have one.
pub fn value_version(value: &[u8]) -> Option<Version> {
    value.first_chunk().map(|bytes| Version::from_be_bytes(*bytes))
}

/// Returns a stored value without its version: the row image or, in an index that does not contain the rows,
/// what leads to the row's key.
///
/// # Panics
/// If the value is shorter than a version. Engines return no such value.
pub fn value_payload(value: &[u8]) -> &[u8] {
    &value[VERSION_LENGTH..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_end_carries() {
        assert_eq!(prefix_end(&[0, 0, 4, 0]), [0, 0, 4, 1]);
        assert_eq!(prefix_end(&[0, 0, 4, 0xff]), [0, 0, 5]);
        assert!(KeyRange::prefix(&[1, 0xff]).contains(&[1, 0xff, 0xff, 0xff]));
        assert!(!KeyRange::prefix(&[1, 0xff]).contains(&[2]));
    }

    #[test]
    fn the_highest_bits_select_the_engine() {
        let temporary = IndexId::in_engine(7, EngineKind::Temporary);
        assert_eq!(temporary.engine(), EngineKind::Temporary);
        assert_eq!(
            EngineKind::of_key(&temporary.to_be_bytes()),
            EngineKind::Temporary
        );
        assert_eq!(temporary.to_string(), "temporary:7");
        let id = IndexId::in_engine(1024, EngineKind::Memory);
        assert_eq!(id.engine(), EngineKind::Memory);
        assert_eq!(EngineKind::of_key(&id.to_be_bytes()), EngineKind::Memory);
        assert_eq!(id.to_string(), "memory:1024");
        assert_eq!(IndexId::of_key(&id.to_be_bytes()), Some(id));
        assert_eq!(
            EngineKind::of_key(&IndexId::CATALOG.to_be_bytes()),
            EngineKind::RocksDb
        );
    }

    #[test]
    fn row_ids_sort_and_are_read_back() {
        let rebuilt = RowId::rebuilt(u64::from(u32::MAX) + 7);
        let logged = RowId {
            version: Version::new(1, 4),
            ordinal: 0,
        };
        let pending = RowId {
            version: Version::MAX,
            ordinal: 3,
        };
        assert!(rebuilt.to_be_bytes() < logged.to_be_bytes() && logged.to_be_bytes() < pending.to_be_bytes());
        for id in [rebuilt, logged, pending] {
            assert_eq!(RowId::at_end_of(&id.to_be_bytes()), Some(id));
        }
    }

    #[test]
    fn marks_are_no_log_positions() {
        let mark = VersionMark::new(7, 9);
        assert_eq!(VersionMark::of(mark.as_version()), Some(mark));
        assert_ne!(mark, VersionMark::new(7, 10));
        assert_ne!(mark, VersionMark::new(8, 9));
        assert_eq!(VersionMark::of(Version::new(7, 9)), None);
        assert_eq!(VersionMark::of(Version::MAX), None);
    }

    #[test]
    fn a_single_range_contains_one_key() {
        let range = KeyRange::single(b"abc");
        assert!(range.contains(b"abc") && !range.contains(b"abc\0") && !range.contains(b"abb"));
        assert!(!range.intersects(&KeyRange::new("abc\0", "z")));
        assert!(range.intersects(&KeyRange::new("a", "z")));
    }
}
