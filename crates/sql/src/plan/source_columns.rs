//! Columns of the tables that an INSERT … SELECT reads, in its ON DUPLICATE KEY UPDATE.
//!
//! They need not be in the select list. They are put behind it, and come with each row into slots behind those of the table's own row. As in MariaDB, a
//! SELECT that groups, or is one of several, has no such columns; nor has one with DISTINCT here, whose rows would be told apart by them.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use paceline_types::error_code::ER_BAD_FIELD_ERROR;
use sqlparser::ast;

use super::block::{Block, TableColumn, VisibleColumn};
use super::tree::{QueryBody, QueryPlan, TableSource};
use super::{Planner, ResultColumn, TableUsage};
use crate::error::{Error, Result};
use crate::expr::ColumnName;
use crate::parse::{AssignedValue, Insert, QueryStatement};

const CLAUSE: &str = "UPDATE";

/// The columns that are read so, by table.
#[derive(Default)]
pub(super) struct SourceColumns {
    tables: Vec<SourceTable>,
}

/// A table of the source.
struct SourceTable {
    /// Its number there.
    number: usize,
    alias: Arc<str>,
    database: Arc<str>,
    columns: Vec<SourceColumn>,
}

struct SourceColumn {
    /// Its number in the table.
    number: usize,
    result: ResultColumn,
    /// As it is written.
    expr: ast::Expr,
    /// Whether it is named without its table.
    bare: bool,
}

impl SourceColumns {
    /// Looks which columns ON DUPLICATE KEY UPDATE names that are not the target's.
    pub fn of(target: &Block<'_, '_>, insert: &Insert, source: &QueryStatement) -> Result<Self> {
        let mut found = SourceColumns::default();
        let ast::SetExpr::Select(select) = &*source.query.body else {
            return Ok(found);
        };
        let is_grouped =
            !matches!(&select.group_by, ast::GroupByExpr::Expressions(exprs, _) if exprs.is_empty());
        if is_grouped || select.distinct.is_some() || source.query.with.is_some() {
            return Ok(found);
        }
        let mut unknown = Vec::new();
        for assignment in &insert.on_duplicate {
            if let AssignedValue::Expr(expr) = &assignment.value {
                let _ = ast::visit_expressions(expr, |node| {
                    if column_name(node).is_some() {
                        unknown.push(node.clone());
                    }
                    ControlFlow::<()>::Continue(())
                });
            }
        }
        let mut names = Vec::new();
        for expr in unknown {
            let is_known = match column_name(&expr) {
                Some(name) => target.find_column(&name, CLAUSE)?.is_some(),
                None => true,
            };
            if !is_known {
                names.push(expr);
            }
        }
        if names.is_empty() {
            return Ok(found);
        }
        let mut probe = Block::new(target.planner, None);
        let usage = TableUsage {
            select: true,
            ..TableUsage::default()
        };
        probe.bind_from(&select.from, usage)?;
        for expr in names {
            let Some(name) = column_name(&expr) else { continue };
            if let Some(column) = probe.find_column(&name, CLAUSE)? {
                let bare = name.table.is_none();
                found.add(&probe, column, expr, bare);
            }
        }
        Ok(found)
    }

    fn add(&mut self, probe: &Block<'_, '_>, found: VisibleColumn, expr: ast::Expr, bare: bool) {
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
                expr,
                bare,
            }),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tables.iter().map(|table| table.columns.len()).sum()
    }

    /// Gives the target's block names for them, in slots of their own; `plan` is the source's.
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

impl Planner<'_> {
    /// Plans the query that an INSERT takes its rows from, with these columns behind its own.
    pub(super) fn plan_source(&self, source: &QueryStatement, read: &SourceColumns) -> Result<QueryPlan> {
        if read.len() == 0 {
            return self.plan_top_query(&source.query, source.lock_wait_seconds);
        }
        let mut query = source.query.clone();
        let columns = || read.tables.iter().flat_map(|table| &table.columns);
        if let ast::SetExpr::Select(select) = &mut *query.body {
            let items = columns().map(|column| ast::SelectItem::UnnamedExpr(column.expr.clone()));
            select.projection.extend(items);
        }
        let plan = self.plan_top_query(&query, source.lock_wait_seconds)?;
        match &plan.body {
            QueryBody::Select(select) if select.aggregation.is_some() => {
                let expr = columns().next().map(|column| column.expr.to_string());
                Err(Error::new(
                    ER_BAD_FIELD_ERROR,
                    &[&expr.unwrap_or_default(), &CLAUSE],
                ))
            }
            _ => Ok(plan),
        }
    }
}

/// The column that an expression is.
fn column_name(expr: &ast::Expr) -> Option<ColumnName<'_>> {
    let (database, table, column) = match expr {
        ast::Expr::Identifier(column) => (None, None, column),
        ast::Expr::CompoundIdentifier(parts) => match &parts[..] {
            [table, column] => (None, Some(table), column),
            [database, table, column] => (Some(database), Some(table), column),
            _ => return None,
        },
        _ => return None,
    };
    Some(ColumnName {
        database: database.map(|name| name.value.as_str()),
        table: table.map(|name| name.value.as_str()),
        column: &column.value,
    })
}
