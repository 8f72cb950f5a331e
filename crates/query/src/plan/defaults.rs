//! Expressions of a table's definition: defaults, ON UPDATE CURRENT_TIMESTAMP, generated columns, check constraints.

use std::sync::Arc;

use paceline_types::Value;

use super::Planner;
use super::block::{BindMode, Block, VisibleColumn};
use super::change_plan::{AssignmentPlan, CheckPlan, DefaultPlan};
use crate::error::Result;
use paceline_catalog::{ColumnDefault, TableDefinition};
use paceline_expression::{Expr, ExprType};
use paceline_syntax::parse_expression;

/// Returns a column's default as an expression over the table's columns in slots from 0; `None` without a default.
pub(super) fn column_default(
    planner: &Planner<'_>,
    table: &Arc<TableDefinition>,
    column: usize,
) -> Result<Option<Expr>> {
    let definition = &table.columns()[column];
    let ty = ExprType::of_column(definition.data_type.clone(), definition.nullable);
    Ok(match &definition.default {
        ColumnDefault::None if definition.auto_increment => {
            Some(Expr::literal(Value::Int(0), ExprType::bigint(1)))
        }
        ColumnDefault::None if definition.nullable => Some(Expr::literal(Value::Null, ty)),
        ColumnDefault::None => None,
        ColumnDefault::Null => Some(Expr::literal(Value::Null, ty)),
        ColumnDefault::Literal(_) => table
            .default_value(column)
            .map(|value| Expr::literal(value.clone(), ty)),
        ColumnDefault::CurrentTimestamp(decimals) => Some(current_timestamp(planner, *decimals)?),
        ColumnDefault::Expression(text) => Some(bind_text(planner, table, text)?),
    })
}

/// Returns the defaults of the columns. `is_used` says whether the statement needs a column's default: an expression
/// that it does not need is not bound, so that the statement needs neither its sequences nor privileges on them.
pub(super) fn default_plans(
    planner: &Planner<'_>,
    table: &Arc<TableDefinition>,
    is_used: impl Fn(usize) -> bool,
) -> Result<Vec<DefaultPlan>> {
    let mut plans = Vec::with_capacity(table.columns().len());
    for (number, column) in table.columns().iter().enumerate() {
        if matches!(column.default, ColumnDefault::Expression(_)) && !is_used(number) {
            plans.push(DefaultPlan::None);
            continue;
        }
        if column.auto_increment {
            plans.push(DefaultPlan::AutoIncrement);
            continue;
        }
        plans.push(match column_default(planner, table, number)? {
            None => DefaultPlan::None,
            Some(expr) => match expr.as_literal() {
                Some(value) => DefaultPlan::Value(value.clone()),
                None => DefaultPlan::Expr(expr),
            },
        });
    }
    Ok(plans)
}

pub(super) fn check_plans(planner: &Planner<'_>, table: &Arc<TableDefinition>) -> Result<Vec<CheckPlan>> {
    let mut plans = Vec::new();
    for column in table.columns() {
        if let Some(text) = &column.check {
            let name = format!("{}.{}", table.name(), column.name);
            plans.push(CheckPlan {
                name,
                condition: bind_text(planner, table, text)?,
            });
        }
    }
    for check in table.checks() {
        plans.push(CheckPlan {
            name: check.name.clone(),
            condition: bind_text(planner, table, &check.expression)?,
        });
    }
    Ok(plans)
}

/// Returns the assignments by ON UPDATE CURRENT_TIMESTAMP to the columns that a statement does not assign.
pub(super) fn on_update_plans(
    planner: &Planner<'_>,
    table: &TableDefinition,
    assigned: &[usize],
) -> Result<Vec<AssignmentPlan>> {
    let mut plans = Vec::new();
    for (column, definition) in table.columns().iter().enumerate() {
        if let Some(decimals) = definition.on_update
            && !assigned.contains(&column)
        {
            plans.push(AssignmentPlan {
                column,
                value: current_timestamp(planner, decimals)?,
            });
        }
    }
    Ok(plans)
}

/// Returns the assignments to the generated columns of a table whose columns are in slots from `base`.
pub(super) fn generated_plans(
    planner: &Planner<'_>,
    table: &Arc<TableDefinition>,
    base: usize,
) -> Result<Vec<AssignmentPlan>> {
    let mut plans = Vec::new();
    for (column, definition) in table.columns().iter().enumerate() {
        if let Some(generated) = &definition.generated {
            let mut value = bind_text(planner, table, &generated.expression)?;
            value.map_columns(&mut |slot| slot + base);
            plans.push(AssignmentPlan { column, value });
        }
    }
    Ok(plans)
}

/// Binds an expression that the catalog stores as text.
fn bind_text(planner: &Planner<'_>, table: &Arc<TableDefinition>, text: &str) -> Result<Expr> {
    let expr = parse_expression(text)?;
    let mut block = Block::new(planner, None);
    block.add_base(table.name(), table, &[])?;
    block.visible = (0..table.columns().len())
        .map(|column| VisibleColumn { table: 0, column })
        .collect();
    block.bind(&expr, BindMode::named("DEFAULT"))
}

pub(super) fn current_timestamp(planner: &Planner<'_>, decimals: u8) -> Result<Expr> {
    let text = if decimals == 0 {
        "current_timestamp()".to_owned()
    } else {
        format!("current_timestamp({decimals})")
    };
    let expr = parse_expression(&text)?;
    Block::new(planner, None).bind(&expr, BindMode::named("DEFAULT"))
}
