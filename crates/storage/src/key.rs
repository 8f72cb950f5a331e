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
//! A row image has the columns that the table had at that version
//! ([`EarlierFormat`](crate::EarlierFormat)).
//!
//! In a table without a primary key, the row id takes the place of `sort_key(primary key)`. The highest bits of
//! the index's number select the engine, so that the keys of each are contiguous and a key alone tells its
//! engine. They are the first byte of each key; [`EngineKind`] has one variant for each line.
//!
//! ```text
//!   0…          on disk
//!   100…        in memory                       ┐
//!   1010 …      nowhere (BLACKHOLE)             │ engines behind the trait `Engine`
//!   1011 nnnn   the added engine with number n  ┘
//!   11…         in a session's temporary table
//! ```

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
    /// The server's own engine in memory, emptied by a restart.
    Memory,
    /// Nowhere: rows are logged and not stored.
    Blackhole,
    /// An engine that the program has added: [`register_engine`](crate::register_engine).
    Added(AddedEngine),
    /// Visible to one session, and never in the log: [`TemporarySpace`](crate::TemporarySpace).
    Temporary,
}

/// Number of an added engine, below [`COUNT`](Self::COUNT). It is part of the stored keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct AddedEngine(u8);

impl AddedEngine {
    /// Number of engines that a program can add.
    pub const COUNT: usize = 16;

    /// Returns the engine with that number; `None` if there cannot be one.
    pub const fn new(number: u8) -> Option<Self> {
        match (number as usize) < Self::COUNT {
            true => Some(AddedEngine(number)),
            false => None,
        }
    }

    /// Returns the number.
    pub const fn number(self) -> u8 {
        self.0
    }
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

    /// Returns the index with that number, whose highest bits select the engine.
    pub const fn new(number: u32) -> Self {
        IndexId(number)
    }

    /// Returns the index with that number (without the engine's bits) in that engine.
    ///
    /// # Panics
    /// If the engine has no such number: [`EngineKind::number_max`].
    pub const fn in_engine(number: u32, engine: EngineKind) -> Self {
        assert!(
            number <= engine.number_max(),
            "an index number leaves the engine's bits free"
        );
        IndexId((engine.first_byte() as u32) << 24 | number)
    }

    /// Returns the number without the engine's bits.
    pub const fn number(self) -> u32 {
        self.0 & self.engine().number_max()
    }

    /// Returns the number, including the engine's bits.
    pub const fn as_u32(self) -> u32 {
        self.0
    }

    /// Returns the engine that holds it.
    pub const fn engine(self) -> EngineKind {
        EngineKind::of_first_byte((self.0 >> 24) as u8)
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
            EngineKind::Added(engine) => write!(f, "engine{}:{}", engine.number(), self.number()),
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
        Self::of_first_byte(key.first().copied().unwrap_or(0))
    }

    const fn of_first_byte(byte: u8) -> EngineKind {
        match byte {
            0x00..=0x7F => EngineKind::RocksDb,
            0x80..=0x9F => EngineKind::Memory,
            0xA0..=0xAF => EngineKind::Blackhole,
            0xB0..=0xBF => EngineKind::Added(AddedEngine(byte & 0x0F)),
            0xC0..=0xFF => EngineKind::Temporary,
        }
    }

    /// Returns the first byte of the engine's lowest key.
    const fn first_byte(self) -> u8 {
        match self {
            EngineKind::RocksDb => 0x00,
            EngineKind::Memory => 0x80,
            EngineKind::Blackhole => 0xA0,
            EngineKind::Added(engine) => 0xB0 | engine.0,
            EngineKind::Temporary => 0xC0,
        }
    }

    /// Returns the highest number of an index, without the engine's bits.
    pub const fn number_max(self) -> u32 {
        match self {
            EngineKind::RocksDb => (1 << 31) - 1,
            EngineKind::Temporary => (1 << 30) - 1,
            EngineKind::Memory => (1 << 29) - 1,
            EngineKind::Blackhole => (1 << 28) - 1,
            EngineKind::Added(_) => (1 << 24) - 1,
        }
    }

    /// Returns the range of all its keys.
    pub(crate) fn keys(self) -> KeyRange {
        let start = self.first_byte();
        let end = match self {
            EngineKind::RocksDb => vec![0x80],
            EngineKind::Memory => vec![0xA0],
            EngineKind::Blackhole => vec![0xB0],
            EngineKind::Added(_) => vec![start + 1],
            // No index has the highest number.
            EngineKind::Temporary => vec![0xFF; IndexId::LENGTH],
        };
        KeyRange::new([start], end)
    }

    /// Returns whether the key's engine is behind the trait [`Engine`](crate::Engine).
    #[inline]
    pub(crate) fn is_behind_trait(key: &[u8]) -> bool {
        key.first().is_some_and(|byte| byte & 0xC0 == 0x80)
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
/// mark, and no other transaction has it. It is not a log position: two values of a key with one mark were written by
/// the same transaction. Marks are given out in ascending order, but not in the order of the commits.
///
/// ```text
///   0xFFFFFF (24 bits: no log file's ordinal) ‖ log ordinal when it was assigned (24) ‖ number within that (16)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
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
    pub fn as_version(self) -> Version {
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
        let added = |number| EngineKind::Added(AddedEngine::new(number).unwrap());
        for (engine, bits, shown) in [
            (EngineKind::RocksDb, 0x00, "1024"),
            (EngineKind::Memory, 0x80, "memory:1024"),
            (EngineKind::Blackhole, 0xA0, "blackhole:1024"),
            (added(0), 0xB0, "engine0:1024"),
            (added(15), 0xBF, "engine15:1024"),
            (EngineKind::Temporary, 0xC0, "temporary:1024"),
        ] {
            let id = IndexId::in_engine(1024, engine);
            assert_eq!(id.as_u32(), bits << 24 | 1024);
            assert_eq!((id.engine(), id.number()), (engine, 1024));
            assert_eq!(id.to_string(), shown);
            let key = id.to_be_bytes();
            assert_eq!(EngineKind::of_key(&key), engine);
            assert_eq!(IndexId::of_key(&key), Some(id));
            assert!(engine.keys().contains(&key));
            let last = IndexId::in_engine(engine.number_max() - 1, engine);
            assert_eq!(last.engine(), engine);
            assert!(
                engine
                    .keys()
                    .contains(&[&last.to_be_bytes()[..], &[0xFF]].concat())
            );
            let is_behind_trait = !matches!(engine, EngineKind::RocksDb | EngineKind::Temporary);
            assert_eq!(EngineKind::is_behind_trait(&key), is_behind_trait);
        }
        assert_eq!(EngineKind::of_key(&[]), EngineKind::RocksDb);
        assert_eq!(AddedEngine::new(16), None);
    }

    #[test]
    #[should_panic(expected = "leaves the engine's bits free")]
    fn a_number_beyond_the_engines_panics() {
        IndexId::in_engine(1 << 29, EngineKind::Memory);
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
