//! Plans of statements that change rows.

use std::ops::Range;
use std::sync::Arc;

use paceline_types::Value;

use super::row_format::RowFormat;
use super::tree::{QueryPlan, SelectPlan};
use paceline_catalog::TableDefinition;
use paceline_expression::Expr;

/// Plan of INSERT or REPLACE.
#[derive(Debug)]
pub struct InsertPlan {
    pub replace: bool,
    pub ignore: bool,
    pub table: Arc<TableDefinition>,
    /// Columns that get values, in the order of the values.
    pub columns: Vec<usize>,
    pub source: InsertRows,
    /// Values of the table's columns that are not named.
    pub defaults: Vec<DefaultPlan>,
    pub on_duplicate: Vec<AssignmentPlan>,
    /// Slots for the query's values after those for the table: columns of its tables that ON DUPLICATE KEY UPDATE
    /// reads.
    pub source_slots: Range<usize>,
    /// With ON DUPLICATE KEY UPDATE: assignments that follow from a change, as in [`UpdateTarget`].
    pub on_update: Vec<AssignmentPlan>,
    /// Whether the query that returns the rows reads a table that the statement changes.
    pub reads_changed: bool,
    /// Whether values name columns of the row that they belong to.
    pub reads_row: bool,
    /// Generated columns, in the order of their computation.
    pub generated: Vec<AssignmentPlan>,
    pub checks: Vec<CheckPlan>,
    pub returning: Option<Vec<Expr>>,
    /// Number of slots of the row on which values are evaluated.
    pub slot_count: usize,
}

/// Source of the inserted rows.
#[derive(Debug)]
pub enum InsertRows {
    /// VALUES. `None` is DEFAULT.
    Values(Vec<Vec<Option<Expr>>>),
    /// A query.
    Query(Arc<QueryPlan>),
    /// Lines of a file: [`LoadPlan`].
    File,
}

/// Value of a column that is not named.
#[derive(Debug, Clone)]
pub enum DefaultPlan {
    /// No default: 1364 in strict mode, otherwise the zero of its type.
    None,
    /// A value that already has the column's type.
    Value(Value),
    /// An expression over the row.
    Expr(Expr),
    /// The next AUTO_INCREMENT value.
    AutoIncrement,
}

/// `column = value`.
#[derive(Debug, Clone)]
pub struct AssignmentPlan {
    /// The column's offset in the table.
    pub column: usize,
    pub value: Expr,
}

/// A check constraint of a table.
#[derive(Debug, Clone)]
pub struct CheckPlan {
    pub name: String,
    /// Condition over the table's columns, which are in slots from 0.
    pub condition: Expr,
}

/// Plan of UPDATE.
#[derive(Debug)]
pub struct UpdatePlan {
    pub ignore: bool,
    /// Selects the rows, including LIMIT.
    pub select: Box<SelectPlan>,
    pub targets: Vec<UpdateTarget>,
    /// Whether a subquery reads a table that the statement changes.
    pub reads_changed: bool,
    /// Whether the rows have an order, whether by an index or by a sort.
    pub is_ordered: bool,
}

/// A table that is updated.
#[derive(Debug)]
pub struct UpdateTarget {
    /// Number of the table in the select.
    pub table: usize,
    /// Its first slot.
    pub base: usize,
    pub definition: Arc<TableDefinition>,
    pub assignments: Vec<AssignmentPlan>,
    /// Assignments that follow from a change: unassigned columns with ON UPDATE CURRENT_TIMESTAMP, which get the
    /// current time; then generated columns.
    pub on_update: Vec<AssignmentPlan>,
    pub checks: Vec<CheckPlan>,
}

impl UpdateTarget {
    /// Returns whether a column is assigned.
    pub fn assigns(&self, column: usize) -> bool {
        self.assignments
            .iter()
            .any(|assignment| assignment.column == column)
    }
}

/// Plan of DELETE.
#[derive(Debug)]
pub struct DeletePlan {
    /// Whether rows are skipped that a foreign key keeps from being deleted.
    pub ignore: bool,
    /// Whether it has a WHERE.
    pub has_where: bool,
    /// Selects the rows.
    pub select: Box<SelectPlan>,
    /// Tables whose rows are deleted: number in the select, and definition.
    pub targets: Vec<(usize, Arc<TableDefinition>)>,
    /// Whether a subquery reads a table that the statement changes.
    pub reads_changed: bool,
    pub returning: Option<Vec<Expr>>,
}

/// Plan of LOAD DATA.
#[derive(Debug)]
pub struct LoadPlan {
    /// Inserts the rows.
    pub insert: InsertPlan,
    /// Targets of a line's fields, in order.
    pub targets: Vec<LoadTarget>,
    /// `SET`.
    pub assignments: Vec<AssignmentPlan>,
    /// Format of the rows in the file.
    pub format: RowFormat,
    /// Number of lines to skip.
    pub ignore_lines: u64,
    /// Expression for the current time.
    pub now: Expr,
    /// Whether MariaDB warns about the separators.
    pub odd_separators: bool,
}

/// Target of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadTarget {
    /// A column of the table, by its offset.
    Column(usize),
    /// A user variable, by its name in lower case.
    Variable(String),
}
