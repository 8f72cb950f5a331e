//! Lines of EXPLAIN or ANALYZE, and the tree of query blocks to which they belong.

use super::super::measurements::{AccessMeasure, Clock, Measurements, QueryMeasure, SortMeasure};

/// A line with MariaDB's columns.
#[derive(Default)]
pub(super) struct Line {
    pub(super) id: Option<u32>,
    pub(super) select_type: &'static str,
    pub(super) table: Option<String>,
    pub(super) access: Option<&'static str>,
    pub(super) possible_keys: Option<String>,
    pub(super) key: Option<String>,
    pub(super) key_len: Option<String>,
    pub(super) reference: Option<String>,
    pub(super) rows: Option<u64>,
    pub(super) extra: String,
    /// Measurements of the line's table; `None` if it was not read.
    pub(super) measure: Option<LineMeasure>,
    /// Further facts, for the document.
    pub(super) notes: LineNotes,
}

/// Members of a table in the JSON document that no column has.
#[derive(Default)]
pub(super) struct LineNotes {
    /// Names of the used columns of the key.
    pub(super) key_parts: Vec<String>,
    /// Keys of an index merge, each with its columns.
    pub(super) merged_keys: Vec<(String, Vec<String>)>,
    /// Conditions on the rows.
    pub(super) condition: Option<String>,
    /// The join buffer that keeps the rows.
    pub(super) buffer: Option<BufferNotes>,
    /// Whether the entries of the index are sufficient.
    pub(super) index_only: bool,
    /// Whether index entries are skipped.
    pub(super) loose: bool,
    /// The function that makes the table.
    pub(super) table_function: Option<&'static str>,
    /// Whether a row with several matches passes once.
    pub(super) first_match: bool,
    /// Place of the table's query in [`Block::inner`].
    pub(super) derived: Option<usize>,
}

/// Rows of a table that a join keeps.
pub(super) struct BufferNotes {
    pub(super) join_type: &'static str,
    /// Conditions between its rows and those of the tables before.
    pub(super) condition: Option<String>,
    /// Memory of the rows.
    pub(super) bytes: Option<usize>,
    /// Measurements of the reads of the buffer.
    pub(super) measure: Option<AccessMeasure>,
}

/// Extent to which a statement is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measured {
    /// Not at all.
    Nothing,
    /// Rows and reads.
    Rows,
    /// Times, too.
    Times,
}

impl Measured {
    /// Returns the extent of measurements.
    pub(super) fn of(measurements: Option<&Measurements>) -> Measured {
        match measurements.map(Measurements::clock) {
            None => Measured::Nothing,
            Some(Clock::Stopped) => Measured::Rows,
            Some(Clock::Running) => Measured::Times,
        }
    }
}

/// A query as a tree.
pub(super) enum Query {
    Block(Block),
    Union(Union),
    /// The part without the recursion, and the part with it.
    Recursive(Box<[Query; 2]>),
}

/// One SELECT.
#[derive(Default)]
pub(super) struct Block {
    /// Its tables, or one line with a message.
    pub(super) lines: Vec<Line>,
    /// Queries of its expressions and of its derived tables.
    pub(super) inner: Vec<InnerQuery>,
    pub(super) notes: BlockNotes,
}

/// A query within a block.
pub(super) struct InnerQuery {
    pub(super) query: Query,
    /// Whether its rows are kept without duplicates.
    pub(super) unique: bool,
    /// Memory of its rows.
    pub(super) bytes: Option<usize>,
}

/// A set operation.
pub(super) struct Union {
    /// Its sides, each with the operation that combines it with those before; the first has none.
    pub(super) sides: Vec<(Option<&'static str>, Query)>,
    /// Line of the collected result; `None` if rows are passed on as they come.
    pub(super) result: Option<Line>,
    pub(super) sort: Option<SortNotes>,
    /// Memory for finding duplicates.
    pub(super) bytes: Option<usize>,
}

/// Members of a query block in the JSON document.
#[derive(Default)]
pub(super) struct BlockNotes {
    /// Statement that changes the rows.
    pub(super) change: Option<&'static str>,
    pub(super) const_condition: Option<String>,
    pub(super) having: Option<String>,
    pub(super) sort: Option<SortNotes>,
    pub(super) windows: Option<WindowNotes>,
    /// Set if rows are collected.
    pub(super) temporary: Option<TemporaryNotes>,
    /// Memory of aggregates whose groups are not collected: values of DISTINCT, texts of GROUP_CONCAT.
    pub(super) aggregate_bytes: Option<usize>,
    /// Memory of the rows found before they are changed.
    pub(super) found_bytes: Option<usize>,
    /// Measurements of the block; `None` if it was not executed.
    pub(super) measure: Option<QueryMeasure>,
}

/// Groups or rows without duplicates.
#[derive(Default)]
pub(super) struct TemporaryNotes {
    pub(super) bytes: Option<usize>,
}

/// Sorts of window functions.
pub(super) struct WindowNotes {
    pub(super) sorts: Vec<SortNotes>,
    /// Memory of the largest partition.
    pub(super) bytes: Option<usize>,
}

/// A sort.
pub(super) struct SortNotes {
    pub(super) key: String,
    /// Measurements; `None` if the statement is not measured.
    pub(super) measure: Option<SortMeasures>,
}

/// Measurements of a sort.
pub(super) struct SortMeasures {
    pub(super) sorts: SortMeasure,
    pub(super) time: std::time::Duration,
    pub(super) bytes: Option<usize>,
}

impl Line {
    /// Returns whether the line is that of the collected result of a set operation.
    pub(super) fn is_result(&self) -> bool {
        self.select_type.ends_with(" RESULT")
    }
}

impl Query {
    /// Calls `visit` with all lines, in the order of EXPLAIN.
    pub(super) fn for_each_line<'q>(&'q self, visit: &mut dyn FnMut(&'q Line)) {
        match self {
            Query::Block(block) => {
                block.lines.iter().for_each(&mut *visit);
                block
                    .inner
                    .iter()
                    .for_each(|inner| inner.query.for_each_line(visit));
            }
            Query::Union(union) => {
                union.sides.iter().for_each(|(_, side)| side.for_each_line(visit));
                union.result.iter().for_each(visit);
            }
            Query::Recursive(parts) => parts.iter().for_each(|part| part.for_each_line(visit)),
        }
    }
}

/// Measurements of a line's table.
#[derive(Clone, Copy)]
pub(super) struct LineMeasure {
    pub(super) access: AccessMeasure,
}

impl LineMeasure {
    /// Creates the measurements of reading a query's result.
    pub(super) fn of_result(result: QueryMeasure) -> Self {
        LineMeasure {
            access: AccessMeasure::of_result(result),
        }
    }

    /// Returns the average number of rows of one read.
    pub(super) fn rows(self) -> f64 {
        self.access.rows as f64 / self.access.loops.max(1) as f64
    }

    /// Returns the percentage of the rows that met the conditions.
    pub(super) fn filtered(self) -> f64 {
        self.access.filtered()
    }
}
