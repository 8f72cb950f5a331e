//! Tables of FROM while their block is bound.

use std::sync::Arc;

use paceline_types::DataType;

use super::ResultColumn;
use super::tree::TableSource;
use paceline_catalog::{IndexDefinition, IndexKind, same_name};
use paceline_expression::{Expr, ExprType};
use paceline_syntax::ast;

/// Tables in one FROM, at most: MariaDB's limit.
pub(crate) const TABLES_MAX: usize = 61;

/// A table of FROM while its block is bound.
pub(crate) struct TableRef {
    pub alias: Arc<str>,
    pub database: Arc<str>,
    /// Its first slot.
    pub base: usize,
    pub columns: Vec<TableColumn>,
    pub source: TableSource,
    /// Whether a column was named, for each column.
    pub used: Vec<bool>,
    /// Whether an outer join may put NULLs in its place.
    pub nullable: bool,
    pub hints: Vec<ast::IndexHint>,
    /// Equal rows count once: a subquery of IN that was turned into a join.
    pub distinct: bool,
    /// Whose FROM names it: 0 is the block's own, the others are those of merged views.
    pub owner: usize,
    /// Of a merged view: what its columns are.
    pub merged: Option<Vec<Expr>>,
}

/// A column of a [`TableRef`].
pub(crate) struct TableColumn {
    pub result: ResultColumn,
    pub ty: ExprType,
    /// Not in `*`.
    pub invisible: bool,
}

impl TableColumn {
    pub fn name(&self) -> &str {
        &self.result.name
    }
}

impl TableRef {
    /// Its slots in the block's row.
    pub fn slots(&self) -> std::ops::Range<usize> {
        match self.merged {
            Some(_) => self.base..self.base,
            None => self.base..self.base + self.columns.len(),
        }
    }

    /// Whether its columns are those of the tables within, as MariaDB sees it: a view or a derived table that is
    /// merged. `mysql.user` is a view there.
    pub fn is_merged(&self) -> bool {
        match &self.source {
            TableSource::Derived(plan) => plan.is_mergeable(),
            TableSource::Virtual { database, table, .. } => **database == *"mysql" && **table == *"user",
            _ => self.merged.is_some(),
        }
    }

    /// The column that `_rowid` means: the only one of the primary key, or of the unique index that stands in for it,
    /// if it is an integer.
    pub fn row_id(&self) -> Option<usize> {
        let TableSource::Base(definition) = &self.source else {
            return None;
        };
        let columns = definition.columns();
        let is_whole = |index: &&IndexDefinition| {
            !index.hashed
                && (index.parts.iter())
                    .all(|part| !columns[part.column].nullable && part.prefix_length.is_none())
        };
        let indexes = definition.indexes();
        let primary = indexes.iter().find(|index| index.kind == IndexKind::Primary);
        let unique = || {
            let mut unique = indexes.iter().filter(|index| index.kind == IndexKind::Unique);
            unique.find(is_whole)
        };
        let index = primary.or_else(unique)?;
        let is_integer = |column: usize| {
            matches!(
                columns[column].data_type,
                DataType::Integer(_) | DataType::Year | DataType::Bit { .. }
            )
        };
        match &index.parts[..] {
            [part] if is_integer(part.column) => Some(part.column),
            _ => None,
        }
    }

    pub fn find(&self, column: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|candidate| same_name(candidate.name(), column))
    }
}
