//! Tables of FROM during binding.

use std::ops::Range;
use std::sync::Arc;

use paceline_types::DataType;

use super::tree::TableSource;
use super::{Access, ResultColumn};
use paceline_catalog::{IndexDefinition, IndexKind, ViewDefinition, same_name};
use paceline_expression::{Expr, ExprType};
use paceline_syntax::ast;

/// Maximum number of tables in one FROM: MariaDB's limit.
pub(crate) const TABLES_MAX: usize = 61;

/// A table of FROM during the binding of its block.
pub(crate) struct TableRef {
    pub alias: Arc<str>,
    pub database: Arc<str>,
    /// First slot of the table.
    pub base: usize,
    pub columns: Vec<TableColumn>,
    pub source: TableSource,
    /// For each column, whether the query names it.
    pub used: Vec<bool>,
    /// Whether an outer join may replace the row by NULLs.
    pub nullable: bool,
    pub hints: Vec<ast::IndexHint>,
    /// Whether equal rows count once: for a subquery of IN that was converted to a join.
    pub distinct: bool,
    /// The FROM that names the table: 0 for the block's own, other numbers for merged views.
    pub owner: usize,
    /// Number among the statement's used tables, which records the named columns; `None` for a table within the
    /// statement.
    pub number: Option<usize>,
    /// Account and view through which the statement uses the table.
    pub access: Access,
    /// The view, if the table is one.
    pub view: Option<Arc<ViewDefinition>>,
    /// Contents of a merged view.
    pub merged: Option<MergedView>,
}

/// A view whose tables are tables of the block.
pub(crate) struct MergedView {
    /// Expressions of its columns.
    pub exprs: Vec<Expr>,
    /// Its tables in the block, and the views within it.
    pub tables: Range<usize>,
    /// Conditions of its own WHERE and ON, without those of the views within it.
    pub conditions: Vec<Expr>,
}

/// A column of a [`TableRef`].
pub(crate) struct TableColumn {
    pub result: ResultColumn,
    pub ty: ExprType,
    /// Whether `*` omits it.
    pub invisible: bool,
}

impl TableColumn {
    pub fn name(&self) -> &str {
        &self.result.name
    }
}

impl TableRef {
    /// Returns the slots in the block's row.
    pub fn slots(&self) -> std::ops::Range<usize> {
        match self.merged {
            Some(_) => self.base..self.base,
            None => self.base..self.base + self.columns.len(),
        }
    }

    /// Returns whether MariaDB merges the table: a view, or a derived table, whose columns are those of its own tables.
    /// `mysql.user` is a view in MariaDB.
    pub fn is_merged(&self) -> bool {
        match &self.source {
            TableSource::Derived(plan) => plan.is_mergeable(),
            TableSource::Virtual { database, table, .. } => **database == *"mysql" && **table == *"user",
            _ => self.merged.is_some(),
        }
    }

    /// Returns the column that `_rowid` means: the only column of the primary key, or of the unique index that replaces
    /// it, if it is an integer.
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
