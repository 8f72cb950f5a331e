//! Statements that change rows.

use super::query::QueryStatement;
use crate::ast::{ColumnName, Expr, JoinedTables, OrderItem, SelectItem, TableName};
use crate::statement::FileFormat;

/// `INSERT` or `REPLACE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// `INSERT` or `REPLACE`.
    pub kind: InsertKind,
    /// `IGNORE`: errors of single rows become warnings.
    pub ignore: bool,
    pub table: TableName,
    /// Named columns in order; empty when none are named. `SET a=1, b=2` names them too.
    pub columns: Vec<ColumnName>,
    /// Source of the rows.
    pub source: InsertSource,
    /// `ON DUPLICATE KEY UPDATE`; empty when absent.
    pub on_duplicate: Vec<Assignment>,
    /// `RETURNING`; empty when absent.
    pub returning: Vec<SelectItem>,
}

/// The two statements that insert rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertKind {
    /// `INSERT`.
    Insert,
    /// `REPLACE`.
    Replace,
}

/// Source of inserted rows.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// `VALUES (…), (…)`, and `SET`. A row may be empty: `VALUES ()`.
    Values(Vec<Vec<AssignedValue>>),
    Query(Box<QueryStatement>),
}

/// `column = value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub column: ColumnName,
    pub value: AssignedValue,
}

/// Value assigned to a column.
#[derive(Debug, Clone, PartialEq)]
pub enum AssignedValue {
    /// `DEFAULT`.
    Default,
    /// An expression.
    Expr(Expr),
}

/// `UPDATE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub ignore: bool,
    /// In the simple form, a single table without joins.
    pub tables: Vec<JoinedTables>,
    /// `SET`.
    pub assignments: Vec<Assignment>,
    /// `WHERE`.
    pub selection: Option<Expr>,
    /// `ORDER BY`.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT`; with several tables it counts joined rows.
    pub limit: Option<Expr>,
}

/// `DELETE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    pub ignore: bool,
    /// Tables to delete from, in the form for several tables; empty in the simple form. A name may be an
    /// alias in `from`.
    pub targets: Vec<TableName>,
    /// In the simple form, a single table without joins.
    pub from: Vec<JoinedTables>,
    /// `WHERE`.
    pub selection: Option<Expr>,
    /// `ORDER BY`; only in the simple form.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT`; only in the simple form.
    pub limit: Option<Expr>,
    /// `RETURNING`; empty when absent.
    pub returning: Vec<SelectItem>,
}

/// `LOAD DATA [LOCAL] INFILE`.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadData {
    /// `LOCAL`: the file is on the client.
    pub local: bool,
    pub path: String,
    pub duplicates: Duplicates,
    pub table: TableName,
    /// Format of the file.
    pub format: FileFormat,
    /// LOAD XML: name of the elements that are rows, from `ROWS IDENTIFIED BY '<name>'`.
    pub xml_row_tag: Option<String>,
    /// `IGNORE n LINES`.
    pub ignore_lines: u64,
    /// Columns and user variables in order.
    pub columns: Vec<Expr>,
    /// `SET`.
    pub assignments: Vec<Assignment>,
}

/// Treatment of a row whose key exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// Error 1062.
    Error,
    /// Skip the new row, with a warning.
    Ignore,
    /// Delete the old row.
    Replace,
}
