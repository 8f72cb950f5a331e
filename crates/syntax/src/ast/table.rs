//! Tables of a statement and their joins.

use super::{Expr, JsonTable, Query, TableName};

/// A table and its joins: one item of FROM.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedTables {
    pub first: TableFactor,
    /// The joins with further tables, from left to right.
    pub joins: Vec<Join>,
}

/// A table of a join.
#[derive(Debug, Clone, PartialEq)]
pub enum TableFactor {
    /// A table, a view or a common table expression.
    Table {
        name: TableName,
        /// `AS alias`.
        alias: Option<String>,
        /// `PARTITION (…)`; empty when absent.
        partitions: Vec<String>,
        /// `USE INDEX` and similar hints.
        hints: Vec<IndexHint>,
    },
    /// `(query) AS alias [(columns)]`.
    Derived {
        query: Box<Query>,
        /// Name of the derived table.
        alias: String,
        /// Column names; empty when absent.
        columns: Vec<String>,
    },
    /// `JSON_TABLE(…) AS alias`.
    JsonTable(Box<JsonTable>),
    /// `(t1 JOIN t2 …)`.
    Nested(Box<JoinedTables>),
}

/// `JOIN table …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    pub kind: JoinKind,
    pub table: TableFactor,
    pub constraint: JoinConstraint,
}

/// Kinds of joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// `JOIN`, `INNER JOIN`, `CROSS JOIN`.
    Inner,
    /// `STRAIGHT_JOIN`: the left table is read first.
    Straight,
    /// `LEFT JOIN`.
    Left,
    /// `RIGHT JOIN`.
    Right,
}

/// Condition of a join.
#[derive(Debug, Clone, PartialEq)]
pub enum JoinConstraint {
    None,
    /// `ON condition`.
    On(Expr),
    /// `USING (columns)`.
    Using(Vec<String>),
    /// `NATURAL`: all columns that both sides have.
    Natural,
}

/// `USE|FORCE|IGNORE INDEX [FOR …] (…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHint {
    pub kind: HintKind,
    pub scope: Option<HintScope>,
    /// `PRIMARY` is the primary key. Empty: no index at all.
    pub indexes: Vec<String>,
}

/// Kinds of index hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintKind {
    Use,
    Force,
    Ignore,
}

/// Operations that an index hint can be restricted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintScope {
    Join,
    OrderBy,
    GroupBy,
}

impl JoinedTables {
    /// Returns a table without joins.
    pub fn of(first: TableFactor) -> Self {
        Self {
            first,
            joins: Vec::new(),
        }
    }

    /// Returns the tables from left to right.
    pub fn factors(&self) -> impl Iterator<Item = &TableFactor> {
        std::iter::once(&self.first).chain(self.joins.iter().map(|join| &join.table))
    }
}

impl TableFactor {
    /// Returns whether it is or contains a JSON_TABLE.
    pub fn has_json_table(&self) -> bool {
        match self {
            Self::JsonTable(_) => true,
            Self::Nested(tables) => tables.factors().any(Self::has_json_table),
            Self::Table { .. } | Self::Derived { .. } => false,
        }
    }

    /// Returns a table with nothing but its name.
    pub fn of_table(name: TableName) -> Self {
        Self::Table {
            name,
            alias: None,
            partitions: Vec::new(),
            hints: Vec::new(),
        }
    }
}

/// Returns the table of a simple `UPDATE` or `DELETE` and its alias.
///
/// `None` for a join, a derived table or several tables.
pub(crate) fn single_table(from: &[JoinedTables]) -> Option<(&TableName, Option<&str>)> {
    match from {
        [
            JoinedTables {
                first: TableFactor::Table { name, alias, .. },
                joins,
            },
        ] if joins.is_empty() => Some((name, alias.as_deref())),
        _ => None,
    }
}
