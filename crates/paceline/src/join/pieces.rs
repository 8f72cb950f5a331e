//! What one session copies at a time: a table, or a range of a large one.
//!
//! A large table whose primary key begins with an integer is cut into ranges of equal width between the least and the greatest key. Where keys
//! are dense in one place and rare in another, ranges differ in rows; there are more of them than sessions, so that nobody waits long for the
//! last one. The first range has no lower end and the last no upper one: together they are the table, whatever its keys are.

use super::error::Result;
use super::schema::{Table, quoted};
use crate::connection::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// About how many bytes a range has.
const RANGE_BYTES: u64 = 32 << 20;
/// The most ranges for each session.
const RANGES_EACH: u64 = 16;

/// A table or a range of it.
pub struct Piece {
    pub table: Arc<Table>,
    range: Option<Range>,
    /// How many pieces of the table are not complete, and how many there are.
    left: Arc<AtomicUsize>,
    of: u64,
}

/// From `from`, if there is a lower end, and below `to`, if there is an upper one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range {
    from: Option<i128>,
    to: Option<i128>,
}

/// What a table is when a piece is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableIs {
    /// All its pieces are.
    Complete,
    /// Others are not.
    Unfinished,
}

impl Piece {
    /// About how large it is.
    pub fn bytes(&self) -> u64 {
        self.table.bytes / self.of
    }

    /// Its rows are copied.
    pub fn done(&self) -> TableIs {
        match self.left.fetch_sub(1, Ordering::AcqRel) {
            1 => TableIs::Complete,
            _ => TableIs::Unfinished,
        }
    }

    /// What a SELECT of it has behind the table's name.
    pub fn condition(&self) -> String {
        let (Some(range), Some(key)) = (self.range, &self.table.leading_key) else {
            return String::new();
        };
        let key = quoted(key);
        let ends = [
            range.from.map(|from| format!("{key} >= {from}")),
            range.to.map(|to| format!("{key} < {to}")),
        ];
        let ends: Vec<String> = ends.into_iter().flatten().collect();
        // Otherwise half of a table may be read by reading all of it.
        format!(" FORCE INDEX (PRIMARY) WHERE {}", ends.join(" AND "))
    }
}

/// Cuts a table for so many sessions, if it is large.
pub async fn split(table: Table, sources: &mut [Connection], sessions: usize) -> Result<Vec<Piece>> {
    let wanted = (table.bytes / RANGE_BYTES).min(sessions as u64 * RANGES_EACH);
    let ranges = match (sources.first_mut(), &table.leading_key) {
        (Some(source), Some(key)) if wanted > 1 && sessions > 1 => {
            let key = quoted(key);
            let question = format!(
                "SELECT MIN({key}), MAX({key}) FROM {}.{}",
                quoted(&table.database),
                quoted(&table.name)
            );
            let ends = source.row(&question).await?;
            match ends.as_slice() {
                [least, greatest] => match (least.parse(), greatest.parse()) {
                    (Ok(least), Ok(greatest)) => ranges(least, greatest, wanted),
                    // It is empty.
                    _ => vec![],
                },
                _ => vec![],
            }
        }
        _ => vec![],
    };
    let count = ranges.len().max(1);
    let (table, left) = (Arc::new(table), Arc::new(AtomicUsize::new(count)));
    let piece = |range| Piece {
        table: table.clone(),
        range,
        left: left.clone(),
        of: count as u64,
    };
    Ok(match ranges.len() {
        0 | 1 => vec![piece(None)],
        _ => ranges.into_iter().map(|range| piece(Some(range))).collect(),
    })
}

/// At most so many ranges that have every key once.
fn ranges(least: i128, greatest: i128, wanted: u64) -> Vec<Range> {
    let width = (greatest - least + 1).max(1);
    let count = i128::from(wanted).min(width).max(1);
    let begin = |number: i128| least + width * number / count;
    (0..count)
        .map(|number| Range {
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
