//! Tables that a statement reads, and how they are joined.

use super::{Expr, Query, TableName};

/// A table and its joins: one item of FROM.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedTables {
    /// The first table.
    pub first: TableFactor,
    /// The joins with further tables, from left to right.
    pub joins: Vec<Join>,
}

/// A table of a join.
#[derive(Debug, Clone, PartialEq)]
pub enum TableFactor {
    /// A table, a view or a common table expression.
    Table {
        /// Its name.
        name: TableName,
        /// `AS alias`.
        alias: Option<String>,
        /// `PARTITION (…)`; empty when absent.
        partitions: Vec<String>,
        /// `USE INDEX` and its like.
        hints: Vec<IndexHint>,
    },
    /// `(query) AS alias [(columns)]`.
    Derived {
        /// The query.
        query: Box<Query>,
        /// Its name.
        alias: String,
        /// The names of its columns; empty when absent.
        columns: Vec<String>,
    },
    /// `(t1 JOIN t2 …)`.
    Nested(Box<JoinedTables>),
}

/// `JOIN table …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// The kind of join.
    pub kind: JoinKind,
    /// The table.
    pub table: TableFactor,
    /// The condition.
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
    /// None.
    None,
    /// `ON condition`.
    On(Expr),
    /// `USING (columns)`.
    Using(Vec<String>),
    /// `NATURAL`: the columns that both sides have.
    Natural,
}

/// `USE|FORCE|IGNORE INDEX [FOR …] (…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHint {
    /// The word.
    pub kind: HintKind,
    /// `FOR …`.
    pub scope: Option<HintScope>,
    /// The indexes; `PRIMARY` is the primary key. Empty: none at all.
    pub indexes: Vec<String>,
}

/// Kinds of index hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // SQL's own words
pub enum HintKind {
    Use,
    Force,
    Ignore,
}

/// What an index hint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // SQL's own words
pub enum HintScope {
    Join,
    OrderBy,
    GroupBy,
}

impl JoinedTables {
    /// A table without joins.
    pub fn of(first: TableFactor) -> Self {
        Self {
            first,
            joins: Vec::new(),
        }
    }

    /// The tables, from left to right.
    pub fn factors(&self) -> impl Iterator<Item = &TableFactor> {
        std::iter::once(&self.first).chain(self.joins.iter().map(|join| &join.table))
    }
}

impl TableFactor {
    /// A table by its name alone.
    pub fn of_table(name: TableName) -> Self {
        Self::Table {
            name,
            alias: None,
            partitions: Vec::new(),
            hints: Vec::new(),
        }
    }
}

/// The table of a simple `UPDATE` or `DELETE` with its alias.
///
/// # Returns
/// `None` for a join, a derived table or several tables.
pub fn single_table(from: &[JoinedTables]) -> Option<(&TableName, Option<&str>)> {
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
