//! HANDLER: rows of a table in the order of an index, read by several statements.
//!
//! The session keeps the position as the key of an entry ([`paceline_expression::session::OpenHandlers`]), not as a
//! cursor: each READ scans from there in the snapshot of its own statement or transaction, so no snapshot is held in
//! between. OPEN holds no lock either. DDL gives the table another version, which READ notices: 1109, as in MariaDB,
//! where DDL closes the table.

use std::sync::Arc;

use paceline_types::Value;
use paceline_types::error_code::*;

use super::block::{BindMode, Block};
use super::conditions::split_and;
use super::handler_plan::{HandlerPlan, HandlerReadPlan, HandlerStartPlan};
use super::tree::Limit;
use super::{PlanKind, Planner, ResultColumn, TableUsage};
use crate::error::{Error, Result};
use paceline_catalog::{IndexDefinition, TableDefinition};
use paceline_expression::{Clause, Expr, ExprKind, ExprType, is_native_function};
use paceline_syntax::ast::visit::any_expr;
use paceline_syntax::ast::{self, SelectItem};
use paceline_syntax::{HandlerRead, HandlerStart, HandlerStatement, TableName};

const READ: &str = "HANDLER ... READ";

/// Whether a statement needs SELECT on the table or one of its columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NeedsSelect {
    Yes,
    No,
}

impl Planner<'_> {
    pub(super) fn plan_handler(&self, statement: &HandlerStatement) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let (plan, columns) = match statement {
            HandlerStatement::Open { table, alias } => {
                (self.open_handler(table, alias.as_deref())?, Vec::new())
            }
            HandlerStatement::Close(name) => {
                self.opened(name)?;
                (HandlerPlan::Close { name: name.clone() }, Vec::new())
            }
            HandlerStatement::Read(read) => {
                let (plan, columns) = self.read_handler(read)?;
                (HandlerPlan::Read(Box::new(plan)), columns)
            }
        };
        Ok((PlanKind::Handler(plan), columns))
    }

    fn open_handler(&self, table: &TableName, alias: Option<&str>) -> Result<HandlerPlan> {
        let database = self.database_or_current(table.database.as_deref())?;
        if database.eq_ignore_ascii_case("information_schema") {
            let parts: [&dyn std::fmt::Display; 2] = [&"HANDLER OPEN", &"information_schema"];
            return Err(Error::new(ER_WRONG_USAGE, &parts));
        }
        let name = alias.unwrap_or(&table.name);
        if self.opened(name).is_ok() {
            return Err(Error::new(ER_NONUNIQ_TABLE, &[&name]));
        }
        if self.context.catalog.view(database, &table.name).is_some() {
            return Err(Error::new(
                ER_WRONG_OBJECT,
                &[&database, &table.name, &"BASE TABLE"],
            ));
        }
        let definition = self.find_table(table.database.as_deref(), &table.name)?;
        // As in MariaDB, privileges are those of the time of the opening.
        self.use_read_table(&definition, NeedsSelect::Yes);
        Ok(HandlerPlan::Open {
            name: name.to_owned(),
            definition,
        })
    }

    fn use_read_table(&self, definition: &Arc<TableDefinition>, needs_select: NeedsSelect) {
        let usage = TableUsage {
            select: true,
            queried: needs_select == NeedsSelect::Yes,
            ..TableUsage::default()
        };
        self.use_table(definition.database(), definition.name(), Some(definition), usage);
    }

    /// Returns the definition of an open table.
    ///
    /// # Errors
    /// 1109 for a name that is not open, or whose table has been defined again.
    fn opened(&self, name: &str) -> Result<Arc<TableDefinition>> {
        let open = self.session().handlers.get(name);
        let definition = open.and_then(|open| {
            let current = self.context.catalog.table(&open.database, &open.table);
            current.filter(|current| current.version() == open.version)
        });
        definition
            .cloned()
            .ok_or_else(|| Error::new(ER_UNKNOWN_TABLE, &[&name, &"HANDLER"]))
    }

    fn read_handler(&self, read: &HandlerRead) -> Result<(HandlerReadPlan, Vec<ResultColumn>)> {
        refuse_nested_statements(read)?;
        let definition = self.opened(&read.name)?;
        self.use_read_table(&definition, NeedsSelect::No);
        let index = (read.index.as_deref())
            .map(|name| find_index(&definition, name, &read.name))
            .transpose()?;
        let mut block = Block::new(self, None);
        block.add_base(&read.name, &definition, &[])?;
        block.visible = block.bound_table(0).visible;
        let start = match &read.start {
            HandlerStart::First => HandlerStartPlan::First,
            HandlerStart::Next => HandlerStartPlan::Next,
            HandlerStart::Previous => HandlerStartPlan::Previous,
            HandlerStart::Last => HandlerStartPlan::Last,
            HandlerStart::Key { by, values } => {
                let parts = index.map_or(0, |index| definition.indexes()[index].parts.len());
                if values.len() > parts {
                    return Err(Error::new(ER_TOO_MANY_KEY_PARTS, &[&parts]));
                }
                HandlerStartPlan::Key {
                    by: *by,
                    values: (values.iter())
                        .map(|value| bind_key_value(&mut block, value))
                        .collect::<Result<_>>()?,
                }
            }
        };
        let mut conditions = Vec::new();
        if let Some(selection) = &read.selection {
            let bound = block.bind_condition(selection, BindMode::condition(Clause::Where))?;
            split_and(bound, &mut conditions);
        }
        let limit = bind_limit(&mut block, read.limit.as_ref())?;
        let outputs = block.bind_returning(&[SelectItem::Wildcard])?;
        let columns = outputs.iter().map(|output| output.result.clone()).collect();
        let plan = HandlerReadPlan {
            name: read.name.clone(),
            definition,
            index,
            start,
            conditions,
            limit,
            projection: outputs.into_iter().map(|output| output.expr).collect(),
        };
        Ok((plan, columns))
    }
}

fn find_index(definition: &TableDefinition, name: &str, table: &str) -> Result<usize> {
    let is_named = |index: &IndexDefinition| index.name.eq_ignore_ascii_case(name);
    let Some(index) = definition.indexes().iter().position(is_named) else {
        return Err(Error::new(ER_KEY_DOES_NOT_EXISTS, &[&name, &table]));
    };
    match definition.indexes()[index].hashed {
        true => Err(Error::unsupported("HANDLER … READ of an index of hashes")),
        false => Ok(index),
    }
}

fn bind_key_value(block: &mut Block<'_, '_>, value: &ast::Expr) -> Result<Expr> {
    let bound = block.bind(value, BindMode::named("HANDLER"))?;
    match bound.any(&mut |node| matches!(node.kind, ExprKind::Column(_))) {
        true => Err(Error::new(ER_WRONG_ARGUMENTS, &[&READ])),
        false => Ok(bound),
    }
}

/// Refuses subqueries and calls of stored functions, even of functions that do not exist and before the table is looked
/// up, as MariaDB's parser does.
fn refuse_nested_statements(read: &HandlerRead) -> Result<()> {
    let values = match &read.start {
        HandlerStart::Key { values, .. } => &values[..],
        HandlerStart::First | HandlerStart::Next | HandlerStart::Previous | HandlerStart::Last => &[],
    };
    let exprs = || values.iter().chain(&read.selection);
    if exprs().any(ast::visit::has_subquery) {
        return Err(Error::new(ER_SUBQUERIES_NOT_SUPPORTED, &[&"HANDLER..READ"]));
    }
    let is_stored = |expr: &ast::Expr| matches!(expr, ast::Expr::Call(call) if !is_native_function(call));
    if exprs().any(|expr| any_expr(expr, &mut |part| is_stored(part))) {
        return Err(Error::new(
            ER_NOT_SUPPORTED_YET,
            &[&"stored functions in HANDLER ... READ"],
        ));
    }
    Ok(())
}

/// Binds LIMIT. Without one, a single row is read.
fn bind_limit(block: &mut Block<'_, '_>, limit: Option<&ast::Limit>) -> Result<Limit> {
    let Some(limit) = limit else {
        return Ok(Limit {
            count: Some(Expr::literal(Value::Int(1), ExprType::bigint(1))),
            ..Limit::default()
        });
    };
    let mut bind = |expr: &Option<ast::Expr>| {
        let bound = expr
            .as_ref()
            .map(|expr| block.bind(expr, BindMode::named("LIMIT")));
        bound.transpose()
    };
    Ok(Limit {
        count: bind(&limit.count)?,
        offset: bind(&limit.offset)?,
        ..Limit::default()
    })
}
