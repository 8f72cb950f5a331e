//! Plans of the statements that change rows.

use std::ops::Range;
use std::sync::Arc;

use paceline_types::Value;

use super::row_format::RowFormat;
use super::tree::{QueryPlan, SelectPlan};
use paceline_catalog::TableDefinition;
use paceline_expression::Expr;

/// INSERT and REPLACE.
#[derive(Debug)]
pub struct InsertPlan {
    pub replace: bool,
    pub ignore: bool,
    pub table: Arc<TableDefinition>,
    /// The columns that get values, in the order of the values.
    pub columns: Vec<usize>,
    pub source: InsertRows,
    /// What each column of the table gets when it is not named.
    pub defaults: Vec<DefaultPlan>,
    pub on_duplicate: Vec<AssignmentPlan>,
    /// Where values of the query go that are behind those for the table: what ON DUPLICATE KEY UPDATE reads of its
    /// tables.
    pub source_slots: Range<usize>,
    /// With ON DUPLICATE KEY UPDATE: what follows from a change, as in [`UpdateTarget`].
    pub on_update: Vec<AssignmentPlan>,
    /// Whether the query that gives the rows reads a table that the statement changes.
    pub reads_changed: bool,
    /// Whether values name columns of the row that they are for.
    pub reads_row: bool,
    /// Generated columns, in the order in which they are made.
    pub generated: Vec<AssignmentPlan>,
    pub checks: Vec<CheckPlan>,
    pub returning: Option<Vec<Expr>>,
    /// Slots of the row that values are evaluated on.
    pub slot_count: usize,
}

/// Where the rows come from.
#[derive(Debug)]
pub enum InsertRows {
    /// VALUES; `None` is DEFAULT.
    Values(Vec<Vec<Option<Expr>>>),
    /// A query.
    Query(Arc<QueryPlan>),
    /// Lines of a file: [`LoadPlan`].
    File,
}

/// What a column gets when it is not named.
#[derive(Debug, Clone)]
pub enum DefaultPlan {
    /// There is no default: 1364 in strict mode, else the type's zero.
    None,
    /// This value, of the column's type already.
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

/// A check constraint.
#[derive(Debug, Clone)]
pub struct CheckPlan {
    pub name: String,
    /// Over the table's columns in slots from 0.
    pub condition: Expr,
}

/// UPDATE.
#[derive(Debug)]
pub struct UpdatePlan {
    pub ignore: bool,
    /// Selects the rows; LIMIT is in it.
    pub select: Box<SelectPlan>,
    pub targets: Vec<UpdateTarget>,
    /// Whether a subquery reads a table that the statement changes.
    pub reads_changed: bool,
    /// Whether the rows have an order, given by an index or not.
    pub is_ordered: bool,
}

/// A table that is updated.
#[derive(Debug)]
pub struct UpdateTarget {
    /// Which of the select's tables.
    pub table: usize,
    /// Its first slot.
    pub base: usize,
    pub definition: Arc<TableDefinition>,
    pub assignments: Vec<AssignmentPlan>,
    /// What follows from a change: columns with ON UPDATE CURRENT_TIMESTAMP that are not assigned, and the expression
    /// that gives the time; then generated columns.
    pub on_update: Vec<AssignmentPlan>,
    pub checks: Vec<CheckPlan>,
    /// Slots of the joined row that assignments read with their trailing blanks, and how many characters they then have.
    pub padding: Vec<(usize, usize)>,
}

impl UpdateTarget {
    /// Whether a column is assigned.
    pub fn assigns(&self, column: usize) -> bool {
        self.assignments
            .iter()
            .any(|assignment| assignment.column == column)
    }
}

/// DELETE.
#[derive(Debug)]
pub struct DeletePlan {
    /// Rows that foreign keys keep are passed over.
    pub ignore: bool,
    /// Whether it has a WHERE.
    pub has_where: bool,
    /// Selects the rows.
    pub select: Box<SelectPlan>,
    /// The tables whose rows go: which of the select's tables, and what they are.
    pub targets: Vec<(usize, Arc<TableDefinition>)>,
    /// Whether a subquery reads a table that the statement changes.
    pub reads_changed: bool,
    pub returning: Option<Vec<Expr>>,
}

/// LOAD DATA.
#[derive(Debug)]
pub struct LoadPlan {
    /// How the rows go in.
    pub insert: InsertPlan,
    /// Where a line's fields go, in order.
    pub targets: Vec<LoadTarget>,
    /// `SET`.
    pub assignments: Vec<AssignmentPlan>,
    /// How the file holds rows.
    pub format: RowFormat,
    /// How many lines are passed over.
    pub ignore_lines: u64,
    /// The current time.
    pub now: Expr,
    /// Whether the separators are such that MariaDB warns of them.
    pub odd_separators: bool,
}

/// Where a field goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadTarget {
    /// To a column of the table.
    Column(usize),
    /// To a user variable, in lower case.
    Variable(String),
}
