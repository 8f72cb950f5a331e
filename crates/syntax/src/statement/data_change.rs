//! Statements that change rows.

use super::query::QueryStatement;
use crate::ast::{ColumnName, Expr, JoinedTables, OrderItem, SelectItem, TableName};
use crate::statement::FileFormat;

/// `INSERT` or `REPLACE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// Which of the two.
    pub kind: InsertKind,
    /// `IGNORE`: errors of single rows become warnings.
    pub ignore: bool,
    /// The table.
    pub table: TableName,
    /// The columns named, in order; empty when none were. `SET a=1, b=2` names them too.
    pub columns: Vec<ColumnName>,
    /// Where the rows come from.
    pub source: InsertSource,
    /// `ON DUPLICATE KEY UPDATE`; empty when absent.
    pub on_duplicate: Vec<Assignment>,
    /// `RETURNING`; empty when absent.
    pub returning: Vec<SelectItem>,
}

/// `INSERT` or `REPLACE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertKind {
    /// `INSERT`.
    Insert,
    /// `REPLACE`.
    Replace,
}

/// Where inserted rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// `VALUES (…), (…)`, and `SET`. A row may be empty: `VALUES ()`.
    Values(Vec<Vec<AssignedValue>>),
    /// A query.
    Query(Box<QueryStatement>),
}

/// `column = value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The column.
    pub column: ColumnName,
    /// Its value.
    pub value: AssignedValue,
}

/// What a column is given.
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
    /// `IGNORE`.
    pub ignore: bool,
    /// The tables; one without joins in the simple form.
    pub tables: Vec<JoinedTables>,
    /// `SET`.
    pub assignments: Vec<Assignment>,
    /// `WHERE`.
    pub selection: Option<Expr>,
    /// `ORDER BY`; only in the simple form.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT`; only in the simple form.
    pub limit: Option<Expr>,
}

/// `DELETE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// `IGNORE`.
    pub ignore: bool,
    /// The tables to delete from, in the form for several tables; empty in the simple form. A name may be an alias of
    /// `from`.
    pub targets: Vec<TableName>,
    /// The tables; in the simple form one without joins.
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
    /// `LOCAL`: the file is the client's.
    pub local: bool,
    /// The file.
    pub path: String,
    /// What to do with duplicates.
    pub duplicates: Duplicates,
    /// The table.
    pub table: TableName,
    /// How the file holds rows.
    pub format: FileFormat,
    /// `IGNORE n LINES`.
    pub ignore_lines: u64,
    /// Columns and user variables, in order.
    pub columns: Vec<Expr>,
    /// `SET`.
    pub assignments: Vec<Assignment>,
}

/// What to do with a row whose key is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// 1062.
    Error,
    /// Skip the new row with a warning.
    Ignore,
    /// Delete the old row.
    Replace,
}
