//! Estimated number of rows in the ranges of a condition on an index.

use paceline_storage::{Direction, KeyRange, StorageSnapshot};

use super::TableStatistics;
use crate::plan::known_values::KnownValues;
use crate::plan::range::{RangeCondition, RangeContext, index_ranges};
use paceline_catalog::TableDefinition;

/// Maximum number of keys of a range that are counted one by one.
const COUNTED_KEYS: usize = 64;
/// Number of parts of a larger range from which a survey reads entries.
const STRATA: usize = 8;
/// Maximum number of examined ranges. The others are assumed to be like them.
const RANGES_MAX: usize = 16;

impl TableStatistics {
    /// Returns the estimated number of rows in the ranges of a condition on an index.
    pub fn range_rows(
        &self,
        definition: &TableDefinition,
        index: usize,
        condition: &RangeCondition,
        known: KnownValues<'_>,
    ) -> f64 {
        let schema = definition.schema();
        let unknown = !condition.is_known(known);
        let ranges = known.evaluating(|eval| {
            let mut context = RangeContext {
                eval,
                row: &[],
                known: Some(known),
            };
            index_ranges(schema, index, condition, &mut context)
        });
        let guess = guess_rows(self, definition, index, condition);
        match (ranges, &self.source) {
            (Ok(ranges), Some(source)) if !unknown => {
                let snapshot = source.0.snapshot();
                let mut rows = 0.0;
                // Each range has at most one row.
                let is_unique = definition.indexes()[index].kind.is_unique();
                if is_unique && ranges.iter().all(|range| schema.is_one_key(index, range)) {
                    return (ranges.len() as f64).min(self.rows.max(1.0));
                }
                for (number, range) in ranges.iter().enumerate() {
                    if number >= RANGES_MAX {
                        return rows * ranges.len() as f64 / RANGES_MAX as f64;
                    }
                    let counted = count_keys(&snapshot, range);
                    rows += if counted < COUNTED_KEYS {
                        counted as f64
                    } else {
                        let surveyed = snapshot.survey(range.clone(), STRATA, &mut |_| Ok(()));
                        surveyed.unwrap_or(guess).max(COUNTED_KEYS as f64)
                    };
                }
                rows.min(self.rows.max(1.0))
            }
            _ => guess,
        }
    }
}

fn count_keys(snapshot: &StorageSnapshot, range: &KeyRange) -> usize {
    let mut cursor = snapshot.scan(range.clone(), Direction::Forward);
    let mut counted = 0;
    while counted < COUNTED_KEYS && matches!(cursor.advance(), Ok(true)) {
        counted += 1;
    }
    counted
}

/// Returns the estimated number of rows that pass a condition, by its form only.
fn guess_rows(
    statistics: &TableStatistics,
    definition: &TableDefinition,
    index: usize,
    condition: &RangeCondition,
) -> f64 {
    use crate::plan::range::ColumnTest;
    use paceline_expression::CompareOp;
    fn fraction(condition: &RangeCondition, column: usize, equal: f64) -> Option<f64> {
        match condition {
            RangeCondition::And(parts) => {
                let mut known = parts
                    .iter()
                    .filter_map(|part| fraction(part, column, equal))
                    .peekable();
                known.peek()?;
                Some(known.product())
            }
            RangeCondition::Or(parts) => {
                let known: Option<Vec<f64>> =
                    parts.iter().map(|part| fraction(part, column, equal)).collect();
                Some(known?.iter().sum::<f64>().min(1.0))
            }
            RangeCondition::Column { column: tested, .. } if *tested != column => None,
            RangeCondition::Column { test, .. } => Some(match test {
                ColumnTest::Compare {
                    op: CompareOp::Eq | CompareOp::NullSafeEq,
                    ..
                }
                | ColumnTest::Null => equal,
                ColumnTest::Compare {
                    op: CompareOp::Ne, ..
                }
                | ColumnTest::NotNull => 0.9,
                ColumnTest::Compare { .. } => 0.33,
                ColumnTest::Between { .. } | ColumnTest::Like { .. } => 0.05,
                ColumnTest::In(values) => (equal * values.len() as f64).min(1.0),
            }),
        }
    }
    let rows = statistics.rows.max(1.0);
    let mut result = rows;
    let mut before = rows;
    for (place, part) in definition.indexes()[index].parts.iter().enumerate() {
        // Share of the rows that have the same values in the columns before it.
        let shared = statistics.rows_per_key(index, place + 1);
        let equal = shared / before.max(1.0);
        before = shared;
        match fraction(condition, part.column, equal.min(1.0)) {
            Some(fraction) => result = (result * fraction).max(1.0),
            None => break,
        }
    }
    result
}
