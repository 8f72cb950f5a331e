//! Plans of statements that change rows.

use std::ops::Range;
use std::sync::Arc;

use paceline_types::Value;

use super::row_format::RowFormat;
use super::tree::{QueryPlan, SelectPlan};
use paceline_catalog::{TableDefinition, ViewDefinition};
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
    /// Defaults of the table's columns.
    pub defaults: Vec<DefaultPlan>,
    pub on_duplicate: Vec<AssignmentPlan>,
    /// Slots for the values of the query after those for the table: the columns that ON DUPLICATE KEY UPDATE reads.
    pub source_slots: Range<usize>,
    /// With ON DUPLICATE KEY UPDATE: values derived from a change, as in [`UpdateTarget`].
    pub on_update: Vec<AssignmentPlan>,
    /// Whether the query for the rows reads a table that the statement changes.
    pub reads_changed: bool,
    /// Whether values refer to columns of their own row.
    pub reads_row: bool,
    /// Generated columns, in the order of their computation.
    pub generated: Vec<AssignmentPlan>,
    pub checks: Vec<CheckPlan>,
    pub returning: Option<Vec<Expr>>,
    /// Number of slots of the row on which values are evaluated.
    pub slot_count: usize,
    /// View that the statement names.
    pub view: Option<InsertView>,
}

impl InsertPlan {
    /// Returns whether a generated AUTO_INCREMENT value becomes `LAST_INSERT_ID()`: not through a view without that
    /// column.
    pub fn sets_last_insert_id(&self) -> bool {
        self.view.as_ref().is_none_or(|view| view.shows_counter)
    }
}

/// WITH CHECK OPTION of a view: conditions over the slots of the changed row, all of which must be true.
#[derive(Debug, Clone)]
pub struct ViewCheckPlan {
    /// View that the statement names.
    pub view: Arc<ViewDefinition>,
    pub conditions: Vec<Expr>,
}

/// Source of the rows of an INSERT.
#[derive(Debug)]
pub enum InsertRows {
    /// VALUES. `None` is DEFAULT.
    Values(Vec<Vec<Option<Expr>>>),
    /// A query.
    Query(Arc<QueryPlan>),
    /// Lines of a file: [`LoadPlan`].
    File,
}

/// Value of a column that the statement does not name.
#[derive(Debug, Clone)]
pub enum DefaultPlan {
    /// No default: 1364 in strict mode, otherwise the type's zero.
    None,
    /// This value, which has the column's type.
    Value(Value),
    /// An expression over the row.
    Expr(Expr),
    /// The next AUTO_INCREMENT value.
    AutoIncrement,
}

/// `column = value`.
#[derive(Debug, Clone)]
pub struct AssignmentPlan {
    /// Offset of the column in the table.
    pub column: usize,
    pub value: Expr,
}

/// A check constraint of a table.
#[derive(Debug, Clone)]
pub struct CheckPlan {
    pub name: String,
    /// Condition over the table's columns in slots from 0.
    pub condition: Expr,
}

/// Plan of UPDATE.
#[derive(Debug)]
pub struct UpdatePlan {
    pub ignore: bool,
    /// Search for the rows, with the LIMIT.
    pub select: Box<SelectPlan>,
    pub targets: Vec<UpdateTarget>,
    /// Whether a subquery reads a table that the statement changes.
    pub reads_changed: bool,
    /// Whether the rows have an order, by an index or by sorting.
    pub is_ordered: bool,
}

/// A table that is updated.
#[derive(Debug)]
pub struct UpdateTarget {
    /// Index in the tables of the search.
    pub table: usize,
    /// First slot of the table.
    pub base: usize,
    pub definition: Arc<TableDefinition>,
    pub assignments: Vec<AssignmentPlan>,
    /// Values derived from a change: columns with ON UPDATE CURRENT_TIMESTAMP that are not assigned, with the
    /// expression of the time; then generated columns.
    pub on_update: Vec<AssignmentPlan>,
    pub checks: Vec<CheckPlan>,
    /// Check of the view through which the table is updated, over the slots of the joined row.
    pub view_check: Option<ViewCheckPlan>,
    /// Slots of the joined row that assignments read with their trailing blanks, and their numbers of characters then.
    pub padding: Vec<(usize, usize)>,
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
    /// Whether rows that foreign keys protect are skipped.
    pub ignore: bool,
    /// Whether the statement has a WHERE.
    pub has_where: bool,
    /// Search for the rows.
    pub select: Box<SelectPlan>,
    /// Tables whose rows are deleted: the index in the tables of the search, and the definition.
    pub targets: Vec<(usize, Arc<TableDefinition>)>,
    /// Whether a subquery reads a table that the statement changes.
    pub reads_changed: bool,
    pub returning: Option<Vec<Expr>>,
}

/// Plan of LOAD DATA.
#[derive(Debug)]
pub struct LoadPlan {
    /// Insertion of the rows.
    pub insert: InsertPlan,
    /// Targets of a line's fields, in order.
    pub targets: Vec<LoadTarget>,
    /// `SET`.
    pub assignments: Vec<AssignmentPlan>,
    /// Format of the file.
    pub format: RowFormat,
    /// LOAD XML: how the file is read. Of `format` only the character set counts then.
    pub xml: Option<XmlPlan>,
    /// Number of lines or rows to skip.
    pub ignore_lines: u64,
    /// Expression of the current time.
    pub now: Expr,
    /// Whether MariaDB warns about the separators (1638).
    pub odd_separators: bool,
}

/// Rows of an XML file.
#[derive(Debug)]
pub struct XmlPlan {
    /// Name of the elements that are rows.
    pub row_tag: Vec<u8>,
    /// Names of the fields of the targets.
    pub names: Vec<String>,
}

/// Target of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadTarget {
    /// A column of the table.
    Column(usize),
    /// A user variable, in lower case.
    Variable(String),
}

/// View through which rows are inserted.
#[derive(Debug)]
pub struct InsertView {
    pub view: Arc<ViewDefinition>,
    pub check: Option<ViewCheckPlan>,
    /// Whether one of its columns is the table's AUTO_INCREMENT column. Otherwise `LAST_INSERT_ID()` stays as it is.
    pub shows_counter: bool,
    /// Its other tables. Their rows consist of defaults.
    pub others: Vec<OtherTable>,
}

/// A table of a view besides the one into which rows are inserted.
#[derive(Debug)]
pub struct OtherTable {
    pub first_slot: usize,
    pub definition: Arc<TableDefinition>,
    pub defaults: Vec<DefaultPlan>,
}
