//! Keys: which index they belong to, and ranges of them.
//!
//! ```text
//!   primary     IndexId(4) ‖ sort_key(primary key)                      → version(8) ‖ row image
//!   secondary   IndexId(4) ‖ sort_key(columns) ‖ sort_key(primary key)  → version(8)
//!   unique      IndexId(4) ‖ sort_key(columns)                          → version(8) ‖ sort_key(primary key)
//!               … with a NULL among its columns: as a secondary index, so that it collides with nothing
//!   no primary  IndexId(4) ‖ row id(12)                                 → version(8) ‖ row image
//!   hidden hash IndexId(4) ‖ xxh3-128 of the row image(16) ‖ row id(12) → version(8)
//!   a number    IndexId(4)                                              → 0(8) ‖ number(8)
//! ```
//!
//! The two highest bits of the index's number tell the engine, so that the keys of each stand together and one key alone says where it
//! lives: `0…` on disk, `10…` in memory, `11…` in a session's temporary table.

use std::fmt;

use paceline_types::Version;

/// The number of an index: the first four bytes (big endian) of each of its keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexId(u32);

/// Which engine holds an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum EngineKind {
    /// On disk: [`RocksDbEngine`](crate::RocksDbEngine).
    RocksDb,
    /// Gone at a restart: [`MemoryEngine`](crate::MemoryEngine).
    Memory,
    /// Of one session, and never in the log: [`TemporarySpace`](crate::TemporarySpace).
    Temporary,
}

impl IndexId {
    /// The bytes that an index's number takes at the front of a key.
    pub const LENGTH: usize = 4;
    /// The catalog's records.
    pub const CATALOG: IndexId = IndexId(1);
    /// What the engine keeps about itself: its position, the builds it activated. No transaction writes here.
    pub const ENGINE: IndexId = IndexId(2);
    /// The first number that a user's table may have; those below are the system's own.
    pub const FIRST_USER: u32 = 1024;
    /// The highest number without an engine's bits.
    pub const NUMBER_MAX: u32 = !Self::TEMPORARY_BITS;
    const MEMORY_BIT: u32 = 1 << 31;
    const TEMPORARY_BITS: u32 = 0b11 << 30;

    /// The index of that number, whose two highest bits say which engine holds it.
    pub const fn new(number: u32) -> Self {
        IndexId(number)
    }

    /// The index of that number (without the two highest bits) in that engine.
    ///
    /// # Panics
    /// If the number has more than 30 bits.
    pub const fn in_engine(number: u32, engine: EngineKind) -> Self {
        assert!(number & Self::TEMPORARY_BITS == 0, "index numbers have 30 bits");
        match engine {
            EngineKind::RocksDb => IndexId(number),
            EngineKind::Memory => IndexId(number | Self::MEMORY_BIT),
            EngineKind::Temporary => IndexId(number | Self::TEMPORARY_BITS),
        }
    }

    /// The number, the engine's bits included.
    pub const fn as_u32(self) -> u32 {
        self.0
    }

    /// The engine that holds it.
    pub const fn engine(self) -> EngineKind {
        match self.0 >> 30 {
            0b11 => EngineKind::Temporary,
            0b10 => EngineKind::Memory,
            _ => EngineKind::RocksDb,
        }
    }

    /// The four bytes that its keys begin with.
    pub const fn to_be_bytes(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// The key of the number that is kept under this id: [`WriteSet::raise_number`](crate::WriteSet::raise_number).
    pub const fn number_key(self) -> [u8; 4] {
        self.to_be_bytes()
    }

    /// The number of such a key's value, without the version in front.
    pub fn number_of(payload: &[u8]) -> Option<u64> {
        Some(u64::from_be_bytes(payload.try_into().ok()?))
    }

    /// The index that a key belongs to; `None` if the key is shorter than four bytes.
    pub fn of_key(key: &[u8]) -> Option<IndexId> {
        key.first_chunk().map(|bytes| IndexId(u32::from_be_bytes(*bytes)))
    }

    /// All its keys.
    pub fn range(self) -> KeyRange {
        KeyRange::prefix(&self.to_be_bytes())
    }
}

impl fmt::Display for IndexId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.engine() {
            EngineKind::RocksDb => write!(f, "{}", self.0),
            EngineKind::Memory => write!(f, "memory:{}", self.0 & !Self::MEMORY_BIT),
            EngineKind::Temporary => write!(f, "temporary:{}", self.0 & !Self::TEMPORARY_BITS),
        }
    }
}

impl fmt::Debug for IndexId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IndexId({self})")
    }
}

impl EngineKind {
    /// The engine that holds a key.
    pub fn of_key(key: &[u8]) -> EngineKind {
        match key.first() {
            Some(byte) if byte & 0xC0 == 0xC0 => EngineKind::Temporary,
            Some(byte) if byte & 0x80 != 0 => EngineKind::Memory,
            _ => EngineKind::RocksDb,
        }
    }
}

/// The direction of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Direction {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Backward,
}

/// A key's first [`LENGTH`](Self::LENGTH) bytes, with zeros behind a shorter key: keys are in the order of their heads where these differ. To be
/// kept beside a reference to the key, so that most comparisons need not follow it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KeyHead(u128);

impl KeyHead {
    /// How many bytes of the key it has.
    pub const LENGTH: usize = size_of::<u128>();

    /// The head of that key.
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

/// The keys from `start` (included) to `end` (excluded).
///
/// Half-open is enough: sort keys delimit themselves, so "after all keys that begin with these columns" is
/// [`prefix_end`] of them, and "after exactly this key" is the key and a zero byte.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct KeyRange {
    /// The first key in the range.
    pub start: Vec<u8>,
    /// The first key behind the range.
    pub end: Vec<u8>,
}

impl KeyRange {
    /// The keys from `start` (included) to `end` (excluded); empty if `end` is not above `start`.
    pub fn new(start: impl Into<Vec<u8>>, end: impl Into<Vec<u8>>) -> Self {
        KeyRange {
            start: start.into(),
            end: end.into(),
        }
    }

    /// All keys that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        KeyRange {
            start: prefix.to_vec(),
            end: prefix_end(prefix),
        }
    }

    /// Exactly one key.
    pub fn single(key: &[u8]) -> Self {
        let mut end = Vec::with_capacity(key.len() + 1);
        end.extend_from_slice(key);
        end.push(0);
        KeyRange {
            start: key.to_vec(),
            end,
        }
    }

    /// Whether the key is in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && key < self.end.as_slice()
    }

    /// Whether no key is in the range.
    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// Whether both have a key in common.
    pub fn intersects(&self, other: &KeyRange) -> bool {
        self.start < other.end && other.start < self.end && !self.is_empty() && !other.is_empty()
    }

    /// The index that the range lies in.
    ///
    /// # Panics
    /// If the range begins with less than an index's number.
    pub fn index(&self) -> IndexId {
        IndexId::of_key(&self.start).expect("a key range begins with an index's number")
    }
}

/// The first key behind all keys that begin with `prefix`.
///
/// # Panics
/// If all bytes of the prefix are 0xff: nothing sorts behind it. No index's number is.
pub fn prefix_end(prefix: &[u8]) -> Vec<u8> {
    let last = prefix
        .iter()
        .rposition(|&byte| byte != 0xff)
        .expect("some byte of a key prefix is below 0xff");
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    end
}

/// The hidden id of a row in a table without a primary key: the version of the transaction that inserted it, and its
/// ordinal among the rows without a primary key that this transaction inserted. The same at every replay of the log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct RowId {
    /// The inserting transaction's version; [`Version::MAX`] while it has none.
    pub version: Version,
    /// The ordinal in its event group, from 0.
    pub ordinal: u32,
}

impl RowId {
    /// The bytes that a row id takes at the end of a key.
    pub const LENGTH: usize = 12;

    /// The id of the `n`th row that a rebuild of a whole table gives out: below all that transactions give, and the same on
    /// every server that rebuilds the same rows in the same order.
    ///
    /// # Panics
    /// If `n` needs more than 64 bits together with the version's lowest 32: tables of 2^63 rows do not exist.
    pub fn rebuilt(n: u64) -> RowId {
        RowId {
            version: Version::from_u64(n >> 32),
            ordinal: n as u32,
        }
    }

    /// Whether the inserting transaction is still running, so that nobody else can see or lock the row.
    pub fn is_placeholder(self) -> bool {
        self.version == Version::MAX
    }

    /// The id's bytes, which sort as ids do.
    pub fn to_be_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[..8].copy_from_slice(&self.version.to_be_bytes());
        bytes[8..].copy_from_slice(&self.ordinal.to_be_bytes());
        bytes
    }

    /// The id at the end of a key.
    pub fn at_end_of(key: &[u8]) -> Option<RowId> {
        let bytes = key.last_chunk::<{ Self::LENGTH }>()?;
        let (version, ordinal) = bytes.split_first_chunk::<8>()?;
        Some(RowId {
            version: Version::from_be_bytes(*version),
            ordinal: u32::from_be_bytes(ordinal.try_into().ok()?),
        })
    }
}

/// The bytes of version in front of every stored value.
pub const VERSION_LENGTH: usize = 8;

/// What stands in front of a large transaction's values in place of its version, which is not known when they are written to table files
/// (its commit changes no file of them): the same for all its rows, and of no other transaction. It is no place in the log, so it is
/// only ever compared for being the same: two values of a key with one mark were written by the same transaction.
///
/// ```text
///   0xFFFFFF (24 bits: no log file's ordinal) ‖ log ordinal when it was given out (24) ‖ number within that (16)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct VersionMark(Version);

impl VersionMark {
    /// The mark of that number among those given out while the log was in its file of that ordinal.
    pub fn new(ordinal: u32, number: u16) -> Self {
        let offset = u64::from(ordinal) << 16 | u64::from(number);
        let mark = Version::new(Version::ORDINAL_MAX, offset);
        assert!(mark != Version::MAX, "no file has the highest ordinal");
        VersionMark(mark)
    }

    /// The mark that stands in a version's place, if it is one.
    pub fn of(version: Version) -> Option<Self> {
        (version.ordinal() == Version::ORDINAL_MAX && version != Version::MAX).then_some(VersionMark(version))
    }

    /// What is written in a version's place.
    pub(crate) fn as_version(self) -> Version {
        self.0
    }
}

/// The version in front of a stored value; `None` if the value is too short to have one.
pub fn value_version(value: &[u8]) -> Option<Version> {
    value.first_chunk().map(|bytes| Version::from_be_bytes(*bytes))
}

/// What stands behind the version in a stored value: the row image, the primary key, or nothing.
///
/// # Panics
/// If the value is shorter than a version; engines hand out no such value.
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
    fn the_highest_bits_tell_the_engine() {
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
    fn row_ids_sort_and_return() {
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
    fn marks_are_no_places_in_the_log() {
        let mark = VersionMark::new(7, 9);
        assert_eq!(VersionMark::of(mark.as_version()), Some(mark));
        assert_ne!(mark, VersionMark::new(7, 10));
        assert_ne!(mark, VersionMark::new(8, 9));
        assert_eq!(VersionMark::of(Version::new(7, 9)), None);
        assert_eq!(VersionMark::of(Version::MAX), None);
    }

    #[test]
    fn single_holds_one_key() {
        let range = KeyRange::single(b"abc");
        assert!(range.contains(b"abc") && !range.contains(b"abc\0") && !range.contains(b"abb"));
        assert!(!range.intersects(&KeyRange::new("abc\0", "z")));
        assert!(range.intersects(&KeyRange::new("a", "z")));
    }
}
