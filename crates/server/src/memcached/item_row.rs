//! Between items and the values of columns.

use super::container::{ColumnUse, Container};
use paceline_memcached::Item;
use paceline_query::execute::RowSink;
use paceline_query::plan::ResultColumn;
use paceline_syntax::Result;
use paceline_types::{TimeZone, Value, ValueRef, text};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Longest time to live that is a number of seconds from now; more is a UNIX time. As in memcached.
const RELATIVE_SECONDS_MAX: i64 = 60 * 60 * 24 * 30;

/// UNIX time of an item that expires never.
pub const NEVER: u64 = 0;

/// Returns the UNIX time in seconds.
pub fn now_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Returns the UNIX time at which an item with this time to live, as a client writes it, expires.
pub fn expiry_of(time_to_live: i64) -> u64 {
    match time_to_live {
        0 => NEVER,
        // At once.
        ..0 => 1,
        1..=RELATIVE_SECONDS_MAX => now_seconds() + time_to_live as u64,
        absolute => absolute as u64,
    }
}

/// Returns whether an item has expired.
pub fn has_expired(expiry: u64) -> bool {
    expiry != NEVER && expiry <= now_seconds()
}

/// A row of a container's table: its columns one after the other, in the order of [`Container`]'s statements.
#[derive(Default)]
pub struct RowValues {
    found: Option<FoundRow>,
}

/// A found row.
pub struct FoundRow {
    /// Texts of all columns; `None` is NULL.
    columns: Vec<Option<Vec<u8>>>,
}

impl RowSink for RowValues {
    fn columns(&mut self, _columns: &[ResultColumn]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let row: Vec<_> = row.iter().map(Value::as_ref).collect();
        self.row_ref(&row)
    }

    fn row_ref(&mut self, row: &[ValueRef<'_>]) -> Result<()> {
        let columns = row.iter().map(|value| match value {
            ValueRef::Null => None,
            ValueRef::Bytes(bytes) => Some(bytes.to_vec()),
            ValueRef::Text(text) => Some(text.as_bytes().to_vec()),
            other => {
                let mut bytes = Vec::new();
                text::append_value(other, &TimeZone::UTC, &mut bytes);
                Some(bytes)
            }
        });
        self.found = Some(FoundRow {
            columns: columns.collect(),
        });
        Ok(())
    }
}

/// A stored item with its UNIX time of expiry.
#[derive(Clone, Debug, Default)]
pub struct StoredItem {
    pub value: Vec<u8>,
    pub flags: u32,
    /// 0: the container has no CAS column.
    pub cas: u64,
    pub expiry: u64,
}

impl StoredItem {
    /// Returns the item as clients see it.
    pub fn seen(self) -> Item {
        Item {
            time_to_live: match self.expiry {
                NEVER => None,
                expiry => Some(expiry.saturating_sub(now_seconds())),
            },
            value: self.value,
            flags: self.flags,
            cas: self.cas,
        }
    }
}

impl RowValues {
    /// Returns the item of the row, if there is one. It may have expired.
    pub fn into_item(self, container: &Container) -> Option<StoredItem> {
        let mut columns = self.found?.columns.into_iter();
        let mut parts = columns
            .by_ref()
            .take(container.values.len())
            .map(Option::unwrap_or_default);
        let mut value = parts.next().unwrap_or_default();
        for part in parts {
            value.extend_from_slice(&container.row.separator);
            value.extend_from_slice(&part);
        }
        let mut number = |name: &Option<String>| {
            let text = name.as_ref().and_then(|_| columns.next()).flatten();
            text.and_then(|text| std::str::from_utf8(&text).ok()?.parse::<u64>().ok())
                .unwrap_or(0)
        };
        let row = &container.row;
        let (flags, cas, expiry) = (
            number(&row.flags_column),
            number(&row.cas_column),
            number(&row.expiry_column),
        );
        Some(StoredItem {
            value,
            flags: u32::try_from(flags).unwrap_or(0),
            cas,
            expiry,
        })
    }
}

/// Returns the value of a column; a message if the bytes cannot be one.
fn column_value(bytes: &[u8], usage: ColumnUse) -> std::result::Result<Value, &'static str> {
    if usage == ColumnUse::Bytes {
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "the column needs UTF-8")?;
    if usage != ColumnUse::Integer {
        return Ok(Value::Text(text.to_owned()));
    }
    let signed = text.parse::<i64>().map(Value::Int);
    let number = signed.or_else(|_| text.parse::<u64>().map(Value::UInt));
    number.map_err(|_| "the column needs an integer")
}

/// Returns the parameter for a key; `None` if the key column has no such value.
pub fn key_value(key: &[u8], container: &Container) -> Option<Value> {
    let value = column_value(key, container.key).ok()?;
    // A number has one way to be written: otherwise two keys would be one.
    match &value {
        Value::Int(number) if number.to_string().as_bytes() != key => None,
        Value::UInt(number) if number.to_string().as_bytes() != key => None,
        _ => Some(value),
    }
}

/// Returns the parameters for the columns of an item, in the order of [`Container`]'s statements.
///
/// # Errors
/// A message for the client: the item does not fit the container.
pub fn column_values(item: &StoredItem, container: &Container) -> std::result::Result<Vec<Value>, String> {
    let row = &container.row;
    let count = container.values.len();
    let parts = match count {
        1 => vec![&item.value[..]],
        _ => split(&item.value, &row.separator),
    };
    if parts.len() != count {
        return Err(format!(
            "the value has {} parts, and its container {count} columns",
            parts.len()
        ));
    }
    let mut values = Vec::with_capacity(count + 4);
    for (part, usage) in parts.into_iter().zip(&container.values) {
        values.push(column_value(part, *usage)?);
    }
    match &row.flags_column {
        Some(_) => values.push(Value::UInt(u64::from(item.flags))),
        None if item.flags != 0 => return Err("the container has no column for flags".to_owned()),
        None => {}
    }
    values.extend(row.cas_column.as_ref().map(|_| Value::UInt(item.cas)));
    match &row.expiry_column {
        Some(_) => values.push(Value::UInt(item.expiry)),
        None if item.expiry != NEVER => {
            return Err("the container has no column for a time to live".to_owned());
        }
        None => {}
    }
    Ok(values)
}

fn split<'a>(value: &'a [u8], separator: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let mut rest = value;
    while let Some(at) = rest
        .windows(separator.len())
        .position(|window| window == separator)
    {
        parts.push(&rest[..at]);
        rest = &rest[at + separator.len()..];
    }
    parts.push(rest);
    parts
}

/// Source of CAS values: ascending, and not repeated by a restart.
#[derive(Debug, Default)]
pub struct CasSource(AtomicU64);

impl CasSource {
    /// Returns the next value, which is also greater than that of the item that it replaces.
    pub fn after(&self, replaced: u64) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let micros = now.map_or(1, |since| since.as_micros() as u64);
        let next = |last: u64| Some(micros.max(last + 1).max(replaced + 1));
        let last = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        micros.max(last.unwrap_or(0) + 1).max(replaced + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_split_at_each_separator() {
        assert_eq!(split(b"a|b||", b"|"), [&b"a"[..], b"b", b"", b""]);
        assert_eq!(split(b"a::b:c", b"::"), [&b"a"[..], b"b:c"]);
        assert_eq!(split(b"", b"|"), [b""]);
    }

    #[test]
    fn times_to_live_are_relative_up_to_30_days() {
        assert_eq!(expiry_of(0), NEVER);
        assert!(has_expired(expiry_of(-1)));
        assert!(!has_expired(expiry_of(10)));
        let month = now_seconds() + 60 * 60 * 24 * 30;
        assert!((month..month + 2).contains(&expiry_of(60 * 60 * 24 * 30)));
        assert_eq!(expiry_of(60 * 60 * 24 * 30 + 1), 60 * 60 * 24 * 30 + 1);
    }

    #[test]
    fn cas_ascends() {
        let source = CasSource::default();
        let first = source.after(0);
        assert!(source.after(0) > first);
        assert_eq!(source.after(u64::MAX - 5), u64::MAX - 4);
    }
}
