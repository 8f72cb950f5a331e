//! Ranges of tables: one session copies one range at a time, a whole table or a part of a large one.
//!
//! A large table whose primary key starts with an integer is divided into ranges of equal width between its smallest
//! and its greatest key. If keys are not evenly distributed, ranges differ in their numbers of rows. So there are more
//! ranges than sessions, and no session waits long for the last one. The first range has no lower bound and the last
//! one no upper bound: together they cover the whole table, whatever its keys.

use super::error::Result;
use super::schema::Table;
use crate::connection::{Connection, quoted_identifier};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Approximate number of bytes of a range.
const RANGE_BYTES: u64 = 32 << 20;
/// Maximum number of ranges per session.
const RANGES_EACH: u64 = 16;

/// A table or a range of a table.
pub struct TableRange {
    pub table: Arc<Table>,
    keys: Option<KeyRange>,
    /// Number of the table's ranges that are not complete, and of all its ranges.
    left: Arc<AtomicUsize>,
    of: u64,
}

/// A range of keys: at least `from` and less than `to`; `None` for no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct KeyRange {
    from: Option<i128>,
    to: Option<i128>,
}

/// State of a table after one of its ranges is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableState {
    /// All its ranges are complete.
    Complete,
    /// Other ranges are not complete.
    Incomplete,
}

impl TableRange {
    /// Returns the approximate number of bytes.
    pub fn bytes(&self) -> u64 {
        self.table.bytes / self.of
    }

    /// Marks the range as complete.
    pub fn done(&self) -> TableState {
        match self.left.fetch_sub(1, Ordering::AcqRel) {
            1 => TableState::Complete,
            _ => TableState::Incomplete,
        }
    }

    /// Returns what follows the table's name in the SELECT of this range.
    pub fn condition(&self) -> String {
        let (Some(range), Some(key)) = (self.keys, &self.table.leading_key) else {
            return String::new();
        };
        let key = quoted_identifier(key);
        let ends = [
            range.from.map(|from| format!("{key} >= {from}")),
            range.to.map(|to| format!("{key} < {to}")),
        ];
        let ends: Vec<String> = ends.into_iter().flatten().collect();
        // Without the hint, the optimizer may read the whole table for half of its rows.
        format!(" FORCE INDEX (PRIMARY) WHERE {}", ends.join(" AND "))
    }
}

/// Divides a table for `sessions` sessions, if it is large.
pub async fn split(table: Table, sources: &mut [Connection], sessions: usize) -> Result<Vec<TableRange>> {
    let wanted = (table.bytes / RANGE_BYTES).min(sessions as u64 * RANGES_EACH);
    let ranges = match (sources.first_mut(), &table.leading_key) {
        (Some(source), Some(key)) if wanted > 1 && sessions > 1 => {
            let key = quoted_identifier(key);
            let question = format!(
                "SELECT MIN({key}), MAX({key}) FROM {}.{}",
                quoted_identifier(&table.database),
                quoted_identifier(&table.name)
            );
            let ends = source.row(&question).await?;
            match ends.as_slice() {
                [least, greatest] => match (least.parse(), greatest.parse()) {
                    (Ok(least), Ok(greatest)) => ranges(least, greatest, wanted),
                    // The table is empty.
                    _ => vec![],
                },
                _ => vec![],
            }
        }
        _ => vec![],
    };
    let count = ranges.len().max(1);
    let (table, left) = (Arc::new(table), Arc::new(AtomicUsize::new(count)));
    let table_range = |keys| TableRange {
        table: table.clone(),
        keys,
        left: left.clone(),
        of: count as u64,
    };
    Ok(match ranges.len() {
        0 | 1 => vec![table_range(None)],
        _ => ranges.into_iter().map(|keys| table_range(Some(keys))).collect(),
    })
}

/// Returns at most `wanted` ranges that contain every key exactly once.
fn ranges(least: i128, greatest: i128, wanted: u64) -> Vec<KeyRange> {
    let width = (greatest - least + 1).max(1);
    let count = i128::from(wanted).min(width).max(1);
    let begin = |number: i128| least + width * number / count;
    (0..count)
        .map(|number| KeyRange {
            from: (number > 0).then(|| begin(number)),
            to: (number + 1 < count).then(|| begin(number + 1)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_one_range() {
        let cases = [
            (1, 10, 3),
            (1, 2, 5),
            (7, 7, 4),
            (-100, 100, 7),
            (i128::from(i64::MIN), i128::from(i64::MAX), 64),
            (0, i128::from(u64::MAX), 3),
        ];
        for (least, greatest, wanted) in cases {
            let ranges = ranges(least, greatest, wanted);
            assert!(ranges.len() as u64 <= wanted);
            let (first, last) = (ranges[0], ranges[ranges.len() - 1]);
            assert_eq!((first.from, last.to), (None, None));
            for two in ranges.windows(2) {
                assert_eq!(two[0].to, two[1].from);
                assert!(two[0].from < two[1].from);
                assert!(two[1].from.is_some_and(|from| least < from && from <= greatest));
            }
        }
    }
}
