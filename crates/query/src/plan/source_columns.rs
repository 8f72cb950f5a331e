//! Columns of the tables that an INSERT … SELECT reads, in its ON DUPLICATE KEY UPDATE.
//!
//! They need not be in the select list. They are appended to it, and stored with each row in the slots after those of
//! the table's row. As in MariaDB, a SELECT with groups or in a UNION has no such columns. Here a SELECT DISTINCT has
//! none either, because they would make equal rows different.

use std::ops::Range;
use std::sync::Arc;

use paceline_types::error_code::{ER_BAD_FIELD_ERROR, ER_NON_UNIQ_ERROR};

use super::block::{Block, VisibleColumn};
use super::table_ref::TableColumn;
use super::tree::{QueryBody, QueryPlan, TableSource};
use super::{Planner, ResultColumn, TableUsage};
use crate::error::{Error, Result};
use paceline_syntax::ast::visit::for_each_expr;
use paceline_syntax::ast::{self, ColumnName};
use paceline_syntax::{AssignedValue, Insert, QueryStatement};

const CLAUSE: &str = "UPDATE";

/// Columns that ON DUPLICATE KEY UPDATE reads, by table.
#[derive(Default)]
pub(super) struct SourceColumns {
    tables: Vec<SourceTable>,
}

/// A table of the source.
struct SourceTable {
    /// Index of the table in the source.
    number: usize,
    alias: Arc<str>,
    database: Arc<str>,
    columns: Vec<SourceColumn>,
}

struct SourceColumn {
    /// Index in the table.
    number: usize,
    result: ResultColumn,
    /// Name in the statement.
    name: ColumnName,
    /// Whether the name has no table.
    bare: bool,
}

impl SourceColumns {
    /// Returns the columns that ON DUPLICATE KEY UPDATE names and the target does not have.
    ///
    /// # Errors
    /// 1052 for a name that is also that of a column of the target.
    pub fn of(target: &Block<'_, '_>, insert: &Insert, source: &QueryStatement) -> Result<Self> {
        let mut found = SourceColumns::default();
        let ast::QueryBody::Select(select) = &source.query.body else {
            return Ok(found);
        };
        if !select.group_by.is_empty() || select.from.is_empty() || source.query.with.is_some() {
            return Ok(found);
        }
        let mut used = Vec::new();
        // Columns of VALUES(c) are those of the target.
        let mut inserted = Vec::new();
        for assignment in &insert.on_duplicate {
            if let AssignedValue::Expr(expr) = &assignment.value {
                for_each_expr(expr, |node| match node {
                    ast::Expr::Column(name) => used.push(name.clone()),
                    ast::Expr::Call(call) if is_values(&call.name) => {
                        inserted.extend(call.arguments.exprs().iter().filter_map(
                            |argument| match argument {
                                ast::Expr::Column(name) => Some(name.clone()),
                                _ => None,
                            },
                        ));
                    }
                    _ => {}
                });
            }
        }
        for name in inserted {
            if let Some(place) = used.iter().position(|used| *used == name) {
                used.swap_remove(place);
            }
        }
        if used.is_empty() {
            return Ok(found);
        }
        let mut probe = Block::new(target.planner, None);
        let usage = TableUsage {
            select: true,
            queried: true,
            ..TableUsage::default()
        };
        probe.bind_from(&select.from, usage)?;
        for name in used {
            let is_known = target.find_column(&name, CLAUSE)?.is_some();
            match probe.find_column(&name, CLAUSE)? {
                Some(_) if is_known => return Err(Error::new(ER_NON_UNIQ_ERROR, &[&name, &CLAUSE])),
                Some(column) if !select.distinct => found.add(&probe, column, name),
                _ => {}
            }
        }
        Ok(found)
    }

    fn add(&mut self, probe: &Block<'_, '_>, found: VisibleColumn, name: ColumnName) {
        let bare = name.table.is_none();
        let reference = &probe.tables[found.table];
        let known = self.tables.iter().position(|table| table.number == found.table);
        let place = known.unwrap_or_else(|| {
            self.tables.push(SourceTable {
                number: found.table,
                alias: reference.alias.clone(),
                database: reference.database.clone(),
                columns: Vec::new(),
            });
            self.tables.len() - 1
        });
        let columns = &mut self.tables[place].columns;
        match columns.iter_mut().find(|column| column.number == found.column) {
            Some(column) => column.bare |= bare,
            None => columns.push(SourceColumn {
                number: found.column,
                result: reference.columns[found.column].result.clone(),
                name,
                bare,
            }),
        }
    }

    /// Returns the number of columns.
    pub fn len(&self) -> usize {
        self.tables.iter().map(|table| table.columns.len()).sum()
    }

    /// Adds the columns to the target's block, in separate slots. `plan` is the plan of the source.
    pub fn bind(self, target: &mut Block<'_, '_>, plan: &Arc<QueryPlan>) -> Result<Range<usize>> {
        let mut types = plan.types[plan.types.len() - self.len()..].iter();
        let start = target.slot_count;
        for table in self.tables {
            let bare: Vec<bool> = table.columns.iter().map(|column| column.bare).collect();
            let columns = table.columns.into_iter().zip(&mut types);
            let columns = columns
                .map(|(column, ty)| TableColumn {
                    result: column.result,
                    ty: ty.clone(),
                    invisible: false,
                })
                .collect();
            let source = TableSource::Derived(plan.clone());
            let number = target.add_table(table.alias, table.database, columns, source, &[])?;
            let named = bare.into_iter().enumerate().filter(|(_, bare)| *bare);
            target.visible.extend(named.map(|(column, _)| VisibleColumn {
                table: number,
                column,
            }));
        }
        Ok(start..target.slot_count)
    }
}

fn is_values(function: &str) -> bool {
    ["values", "value"]
        .iter()
        .any(|name| function.eq_ignore_ascii_case(name))
}

impl Planner<'_> {
    /// Plans the source of an INSERT, with these columns after its own.
    pub(super) fn plan_source(&self, source: &QueryStatement, read: &SourceColumns) -> Result<QueryPlan> {
        if read.len() == 0 {
            return self.plan_top_query(&source.query);
        }
        let mut query = source.query.clone();
        let columns = || read.tables.iter().flat_map(|table| &table.columns);
        if let ast::QueryBody::Select(select) = &mut query.body {
            let items =
                columns().map(|column| ast::SelectItem::unnamed(ast::Expr::Column(column.name.clone())));
            select.items.extend(items);
        }
        let plan = self.plan_top_query(&query)?;
        match &plan.body {
            QueryBody::Select(select) if select.aggregation.is_some() => {
                let name = columns().next().map(|column| column.name.to_string());
                Err(Error::new(
                    ER_BAD_FIELD_ERROR,
                    &[&name.unwrap_or_default(), &CLAUSE],
                ))
            }
            _ => Ok(plan),
        }
    }
}
