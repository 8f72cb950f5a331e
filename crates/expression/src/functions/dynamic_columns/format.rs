//! The bytes of dynamic columns (MariaDB's `ma_dyncol.c`). Integers are little-endian.
//!
//! ```text
//!   numbered  │ flags │ count: 2 │ number: 2, place … │                   │ values …
//!   named     │ flags │ count: 2 │ bytes of names: 2 │ name: 2, place … │ names … │ values …
//!
//!   flags     bits 0–1: bytes of a place, less 1 (numbered) or 2 (named); bit 2: named
//!   place     offset among the values << 3 or 4 | type - 1; its highest offset is reserved
//!   name      offset among the names
//! ```
//!
//! The entries are sorted by number, or by the length of the name and then its bytes. A value ends where the next one
//! starts. A NULL is not stored. Nothing is rewritten in place: a change builds new bytes, with the old values copied.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Bit of the flags: columns have names.
const NAMED: u8 = 4;

/// Mask of the flags' bytes of a place.
const PLACE_LENGTH_MASK: u8 = 3;

/// Length in bytes of a number, a name's offset, the count and the length of all names.
const SHORT: usize = 2;

/// Reason for the refusal of dynamic columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatError {
    /// Bytes that are no dynamic columns.
    Malformed,
    /// Too many columns or bytes.
    Limit,
    /// A column number above 65535, a name that is too long, or two equal names.
    Data,
    /// The bytes are in an unknown character set.
    Charset,
    /// Dynamic columns within one another too deeply.
    Depth,
}

type Result<T> = std::result::Result<T, FormatError>;

/// Whether columns have numbers or names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Numbers,
    Names,
}

impl KeyKind {
    const fn header_length(self) -> usize {
        match self {
            KeyKind::Numbers => 1 + SHORT,
            KeyKind::Names => 1 + 2 * SHORT,
        }
    }

    /// Returns the number of bits of a type.
    const fn type_bits(self) -> usize {
        match self {
            KeyKind::Numbers => 3,
            KeyKind::Names => 4,
        }
    }

    /// Returns the smallest number of bytes of a place.
    const fn place_length_min(self) -> usize {
        match self {
            KeyKind::Numbers => 1,
            KeyKind::Names => 2,
        }
    }

    /// Returns the reserved offset for a length of a place.
    const fn reserved_offset(self, place_length: usize) -> u64 {
        (1 << (8 * place_length - self.type_bits())) - 1
    }

    /// Returns the length of a place for this many bytes of values. As in MariaDB the longest is not used.
    fn place_length(self, bytes: usize) -> Result<usize> {
        let shortest = self.place_length_min();
        (shortest..shortest + 3)
            .find(|length| (bytes as u64) < self.reserved_offset(*length))
            .ok_or(FormatError::Limit)
    }
}

/// Number or name of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ColumnKey<'b> {
    Number(u32),
    /// In UTF-8.
    Name(Cow<'b, [u8]>),
}

impl ColumnKey<'_> {
    /// Returns the key as another kind. A name that is no number has no column among numbered ones.
    fn converted(&self, kind: KeyKind) -> Option<ColumnKey<'_>> {
        match (self, kind) {
            (ColumnKey::Number(number), KeyKind::Numbers) => Some(ColumnKey::Number(*number)),
            (ColumnKey::Number(number), KeyKind::Names) => {
                Some(ColumnKey::Name(Cow::Owned(number.to_string().into_bytes())))
            }
            (ColumnKey::Name(name), KeyKind::Names) => Some(ColumnKey::Name(Cow::Borrowed(name))),
            (ColumnKey::Name(name), KeyKind::Numbers) => {
                let text = str::from_utf8(name).ok()?.trim_ascii_start();
                text.parse().ok().map(ColumnKey::Number)
            }
        }
    }

    fn is_too_long(&self) -> bool {
        let limit = usize::from(u16::MAX);
        match self {
            ColumnKey::Number(number) => *number as usize > limit,
            ColumnKey::Name(name) => name.len() > limit,
        }
    }
}

impl Ord for ColumnKey<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (ColumnKey::Number(a), ColumnKey::Number(b)) => a.cmp(b),
            (ColumnKey::Name(a), ColumnKey::Name(b)) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
            (ColumnKey::Number(_), ColumnKey::Name(_)) => Ordering::Less,
            (ColumnKey::Name(_), ColumnKey::Number(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for ColumnKey<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A value as bytes, with its type: 1 to 9.
#[derive(Clone, Debug)]
pub(super) struct StoredValue<'b> {
    pub ty: u8,
    pub bytes: Cow<'b, [u8]>,
}

/// Dynamic columns that are read. The lengths of the header's parts are checked, each entry when it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnReader<'b> {
    pub kind: KeyKind,
    pub count: usize,
    place_length: usize,
    entries: &'b [u8],
    names: &'b [u8],
    values: &'b [u8],
}

impl<'b> ColumnReader<'b> {
    /// Reads the header. Returns `None` for an empty text, which has no columns.
    ///
    /// # Errors
    /// [`FormatError::Malformed`].
    pub(super) fn new(bytes: &'b [u8]) -> Result<Option<Self>> {
        let Some(flags) = bytes.first() else {
            return Ok(None);
        };
        if flags & !(NAMED | PLACE_LENGTH_MASK) != 0 {
            return Err(FormatError::Malformed);
        }
        let kind = match flags & NAMED {
            0 => KeyKind::Numbers,
            _ => KeyKind::Names,
        };
        let (header, rest) = bytes
            .split_at_checked(kind.header_length())
            .ok_or(FormatError::Malformed)?;
        let count = short(header, 1);
        let names_length = match kind {
            KeyKind::Numbers => 0,
            KeyKind::Names => short(header, 1 + SHORT),
        };
        let place_length = usize::from(flags & PLACE_LENGTH_MASK) + kind.place_length_min();
        let (entries, rest) = rest
            .split_at_checked(count * (SHORT + place_length))
            .ok_or(FormatError::Malformed)?;
        let (names, values) = rest
            .split_at_checked(names_length)
            .ok_or(FormatError::Malformed)?;
        Ok(Some(ColumnReader {
            kind,
            count,
            place_length,
            entries,
            names,
            values,
        }))
    }

    fn entry(&self, index: usize) -> Option<&'b [u8]> {
        let length = SHORT + self.place_length;
        self.entries.get(index * length..)?.get(..length)
    }

    /// Returns the number or name of a column.
    ///
    /// # Errors
    /// [`FormatError::Malformed`].
    pub(super) fn key(&self, index: usize) -> Result<ColumnKey<'b>> {
        let entry = self.entry(index).ok_or(FormatError::Malformed)?;
        let number = short(entry, 0);
        if self.kind == KeyKind::Numbers {
            return Ok(ColumnKey::Number(number as u32));
        }
        let end = match self.entry(index + 1) {
            Some(next) => short(next, 0),
            None => self.names.len(),
        };
        let name = self.names.get(number..end).ok_or(FormatError::Malformed)?;
        Ok(ColumnKey::Name(Cow::Borrowed(name)))
    }

    /// Returns the type of a column and the offset of its value.
    fn place(&self, entry: &[u8]) -> Result<(u8, usize)> {
        let mut bytes = [0; 8];
        bytes[..self.place_length].copy_from_slice(&entry[SHORT..]);
        let place = u64::from_le_bytes(bytes);
        let bits = self.kind.type_bits();
        let offset = place >> bits;
        if offset >= self.kind.reserved_offset(self.place_length) {
            return Err(FormatError::Malformed);
        }
        let ty = (place & ((1 << bits) - 1)) as u8 + 1;
        Ok((ty, offset as usize))
    }

    /// Returns the value of a column.
    ///
    /// # Errors
    /// [`FormatError::Malformed`].
    pub(super) fn value(&self, index: usize) -> Result<StoredValue<'b>> {
        let entry = self.entry(index).ok_or(FormatError::Malformed)?;
        let (ty, start) = self.place(entry)?;
        let end = match self.entry(index + 1) {
            Some(next) => self.place(next)?.1,
            None => self.values.len(),
        };
        let bytes = self.values.get(start..end).ok_or(FormatError::Malformed)?;
        Ok(StoredValue {
            ty,
            bytes: Cow::Borrowed(bytes),
        })
    }

    /// Returns the index of a column; `None` if there is none of this number or name.
    ///
    /// # Errors
    /// [`FormatError::Malformed`].
    pub(super) fn find(&self, key: &ColumnKey<'_>) -> Result<Option<usize>> {
        let Some(key) = key.converted(self.kind) else {
            return Ok(None);
        };
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.key(middle)?.cmp(&key) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(Some(middle)),
            }
        }
        Ok(None)
    }
}

/// Reads a number of two bytes.
fn short(bytes: &[u8], offset: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[offset], bytes[offset + 1]]))
}

/// A column to store; without a value it is removed.
pub(super) type Change<'b> = (ColumnKey<'b>, Option<StoredValue<'b>>);

/// Creates dynamic columns.
///
/// # Errors
/// [`FormatError::Limit`], [`FormatError::Data`].
pub(super) fn create(kind: KeyKind, mut changes: Vec<Change<'_>>) -> Result<Vec<u8>> {
    let bytes = changes.iter().flat_map(|(_, value)| value);
    kind.place_length(bytes.map(|value| value.bytes.len()).sum())?;
    sort(&mut changes)?;
    write(
        kind,
        changes.into_iter().filter_map(|(key, value)| Some((key, value?))),
    )
}

/// Sorts changes.
///
/// # Errors
/// [`FormatError::Data`] for a key that is too long, and for equal ones.
fn sort(changes: &mut [Change<'_>]) -> Result<()> {
    changes.sort_by(|(a, _), (b, _)| a.cmp(b));
    let is_equal = changes.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let is_long = changes.iter().any(|(key, _)| key.is_too_long());
    match is_equal || is_long {
        true => Err(FormatError::Data),
        false => Ok(()),
    }
}

/// Changes dynamic columns. `kind` is that of the changes; the result has names if the columns have, or the changes.
///
/// # Errors
/// [`FormatError`].
pub(super) fn update(base: &[u8], kind: KeyKind, mut changes: Vec<Change<'_>>) -> Result<Vec<u8>> {
    if changes.iter().any(|(key, _)| key.is_too_long()) {
        return Err(FormatError::Data);
    }
    let reader = ColumnReader::new(base)?.filter(|reader| reader.count > 0);
    let Some(reader) = reader else {
        return match changes.iter().any(|(_, value)| value.is_some()) {
            true => create(kind, changes),
            false => Ok(base.to_vec()),
        };
    };
    sort(&mut changes)?;
    let mut merged = Vec::with_capacity(reader.count + changes.len());
    let mut changes = changes.into_iter().peekable();
    for index in 0..reader.count {
        let key = reader.key(index)?;
        let key = match (&key, kind) {
            (ColumnKey::Number(number), KeyKind::Names) => {
                ColumnKey::Name(Cow::Owned(number.to_string().into_bytes()))
            }
            _ => key,
        };
        while let Some(change) = changes.next_if(|(changed, _)| *changed < key) {
            merged.push(change);
        }
        let value = reader.value(index)?;
        match changes.next_if(|(changed, _)| *changed == key) {
            Some(change) => merged.push(change),
            None => merged.push((key, Some(value))),
        }
    }
    merged.extend(changes);
    write(
        kind,
        merged.into_iter().filter_map(|(key, value)| Some((key, value?))),
    )
}

/// Writes sorted columns.
fn write<'b>(
    kind: KeyKind,
    columns: impl Iterator<Item = (ColumnKey<'b>, StoredValue<'b>)>,
) -> Result<Vec<u8>> {
    let columns: Vec<_> = columns.collect();
    let values_length = columns.iter().map(|(_, value)| value.bytes.len()).sum();
    let place_length = kind.place_length(values_length)?;
    let names_length: usize = columns
        .iter()
        .map(|(key, _)| match key {
            ColumnKey::Number(_) => 0,
            ColumnKey::Name(name) => name.len(),
        })
        .sum();
    let count = u16::try_from(columns.len()).map_err(|_| FormatError::Limit)?;
    let mut out = vec![(place_length - kind.place_length_min()) as u8];
    out.extend(count.to_le_bytes());
    if kind == KeyKind::Names {
        out[0] |= NAMED;
        let names_length = u16::try_from(names_length).map_err(|_| FormatError::Limit)?;
        out.extend(names_length.to_le_bytes());
    }
    let (mut name_offset, mut value_offset) = (0, 0);
    for (key, value) in &columns {
        let first = match key {
            ColumnKey::Number(number) => *number as u16,
            ColumnKey::Name(_) => name_offset,
        };
        if let ColumnKey::Name(name) = key {
            name_offset += name.len() as u16;
        }
        out.extend(first.to_le_bytes());
        let place = value_offset << kind.type_bits() | u64::from(value.ty - 1);
        out.extend(&place.to_le_bytes()[..place_length]);
        value_offset += value.bytes.len() as u64;
    }
    for (key, _) in &columns {
        if let ColumnKey::Name(name) = key {
            out.extend_from_slice(name);
        }
    }
    for (_, value) in &columns {
        out.extend_from_slice(&value.bytes);
    }
    Ok(out)
}

/// Checks all columns as COLUMN_CHECK does: keys and values have to ascend, and values to be readable.
///
/// # Errors
/// [`FormatError`].
pub(super) fn check(bytes: &[u8], is_empty_type: fn(u8) -> bool) -> Result<()> {
    let Some(reader) = ColumnReader::new(bytes)? else {
        return Ok(());
    };
    let mut before: Option<(ColumnKey<'_>, u8, usize)> = None;
    for index in 0..reader.count {
        let key = reader.key(index)?;
        let entry = reader.entry(index).ok_or(FormatError::Malformed)?;
        let (ty, offset) = reader.place(entry)?;
        if let Some((key_before, type_before, offset_before)) = before {
            let is_empty = offset == offset_before;
            if key_before >= key || offset < offset_before || (is_empty && !is_empty_type(type_before)) {
                return Err(FormatError::Malformed);
            }
        }
        reader.value(index)?;
        before = Some((key, ty, offset));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn changed_bytes_are_read_without_a_panic() {
        let column = |key: ColumnKey<'static>, ty| {
            let bytes = Cow::Borrowed(&b"value"[..]);
            (key, Some(StoredValue { ty, bytes }))
        };
        let numbered = create(
            KeyKind::Numbers,
            (1..6)
                .map(|number| column(ColumnKey::Number(number), 4))
                .collect(),
        );
        let named = create(
            KeyKind::Names,
            [&b"a"[..], b"b", b"long name"]
                .map(|name| column(ColumnKey::Name(Cow::Borrowed(name)), 4))
                .to_vec(),
        );
        let mut random = SmallRng::seed_from_u64(1);
        for valid in [numbered.unwrap(), named.unwrap()] {
            assert_eq!(check(&valid, |_| false), Ok(()));
            for _ in 0..20_000 {
                let mut bytes = valid.clone();
                for _ in 0..random.random_range(1..4) {
                    let place = random.random_range(0..bytes.len());
                    bytes[place] = random.random();
                }
                bytes.truncate(random.random_range(0..=valid.len()));
                let _ = check(&bytes, |_| false);
                for kind in [KeyKind::Numbers, KeyKind::Names] {
                    let key = match kind {
                        KeyKind::Numbers => ColumnKey::Number(3),
                        KeyKind::Names => ColumnKey::Name(Cow::Borrowed(b"b")),
                    };
                    if let Ok(Some(reader)) = ColumnReader::new(&bytes) {
                        let _ = reader
                            .find(&key)
                            .map(|found| found.map(|index| reader.value(index)));
                        if reader.kind == KeyKind::Numbers || kind == KeyKind::Names {
                            let _ = update(&bytes, kind, vec![column(key, 4)]);
                        }
                    }
                }
            }
        }
    }
}
