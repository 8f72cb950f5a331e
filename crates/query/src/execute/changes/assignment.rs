//! Assignment of values to columns: conversion, NOT NULL, and errors or warnings by SQL mode.

use paceline_types::convert::{Severity, assign};
use paceline_types::error_code::{
    ER_BAD_NULL_ERROR, ER_CONSTRAINT_FAILED, ER_INVALID_DEFAULT_VALUE_FOR_FIELD, ER_NO_DEFAULT_FOR_FIELD,
    ER_NO_DEFAULT_FOR_VIEW_FIELD, ER_TRUNCATED_WRONG_VALUE, ER_VIEW_CHECK_FAILED,
    ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN,
};
use paceline_types::temporal::DateModes;
use paceline_types::text::append_column_value;
use paceline_types::{DataType, Date, EnumValue, TimeZone, Timestamp, Value};

use crate::error::{Error, Result};
use crate::execute::context::Execution;
use crate::plan::{CheckPlan, ViewCheckPlan};
use paceline_catalog::{TableDefinition, ViewDefinition};
use paceline_expression::session::SqlMode;
use paceline_expression::{Expr, ExprType, refused_assignment};

/// Treatment of problems with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// They are errors.
    Strict,
    /// They are warnings, and the nearest value is stored.
    Lenient,
}

impl Strictness {
    /// Returns the strictness for the SQL mode and IGNORE.
    pub fn new(sql_mode: SqlMode, ignore: Ignore) -> Self {
        match ignore {
            Ignore::No if sql_mode.is_strict() => Strictness::Strict,
            _ => Strictness::Lenient,
        }
    }
}

/// Whether the statement has IGNORE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignore {
    /// It does not.
    No,
    /// It does.
    Yes,
}

impl From<bool> for Ignore {
    fn from(ignore: bool) -> Self {
        if ignore { Ignore::Yes } else { Ignore::No }
    }
}

/// Treatment of NULL in a NOT NULL column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullRule {
    /// 1048, also in lenient mode: in an INSERT of one row.
    Refuse,
    /// 1048 in strict mode; otherwise a warning, and the type's zero.
    BySqlMode,
}

/// Evaluates an expression for the assignment to a column.
pub(crate) fn assigned_value(
    exec: &mut Execution<'_, '_>,
    expr: &Expr,
    row: &[Value],
    table: &TableDefinition,
    column: usize,
) -> Result<Value> {
    expr.eval_assigned(row, &table.columns()[column].data_type, &mut exec.context())
}

/// Converts a value to the column's type. Messages contain the number of the current row.
pub(crate) fn assign_column(
    exec: &mut Execution<'_, '_>,
    table: &TableDefinition,
    column: usize,
    value: Value,
    strictness: Strictness,
    null_rule: NullRule,
) -> Result<Value> {
    let definition = &table.columns()[column];
    if definition.generated.is_some() {
        // Generated columns are computed after all others. NULL and DEFAULT request exactly that.
        if !value.is_null() {
            let code = ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN;
            let error = Error::new(code, &[&definition.name, &table.name()]);
            if strictness == Strictness::Strict {
                return Err(error);
            }
            exec.session.diagnostics.warn(error.code(), error.message());
        }
        return Ok(Value::Null);
    }
    stored_value(exec, table, column, value, strictness, null_rule)
}

/// Converts a value to the column's type, also for a generated column.
pub(crate) fn stored_value(
    exec: &mut Execution<'_, '_>,
    table: &TableDefinition,
    column: usize,
    value: Value,
    strictness: Strictness,
    null_rule: NullRule,
) -> Result<Value> {
    let definition = &table.columns()[column];
    if value.is_null() {
        if definition.nullable {
            return Ok(Value::Null);
        }
        if let DataType::Timestamp { decimals } = definition.data_type
            && definition.generated.is_none()
        {
            return Ok(present(exec, decimals));
        }
        let error = Error::new(ER_BAD_NULL_ERROR, &[&definition.name]);
        if strictness == Strictness::Strict || null_rule == NullRule::Refuse {
            return Err(error);
        }
        exec.session.diagnostics.warn(error.code(), error.message());
        return Ok(implicit_default(&definition.data_type));
    }
    let assigned = assign(value, &definition.data_type, &exec.context().convert_context());
    if let Some(problem) = assigned.problem {
        let row = exec.session.diagnostics.current_row();
        let qualified = format!("`{}`.`{}`.`{}`", table.database(), table.name(), definition.name);
        // The number of the warning can differ from that of the error.
        let warning = || problem.warning_message(&qualified, &definition.name, row);
        let diagnostics = &mut exec.session.diagnostics;
        match (problem.severity, strictness) {
            (Severity::Warning, Strictness::Strict) => {
                let message = problem.message(&qualified, &definition.name, row);
                return Err(Error::with_message(problem.code, message));
            }
            (Severity::Warning, Strictness::Lenient) => diagnostics.warn(problem.warning_code, warning()),
            (Severity::Note, _) => diagnostics.note(problem.warning_code, warning()),
        }
    }
    if assigned.value.is_null() && !definition.nullable {
        return Ok(zero_value(&definition.data_type));
    }
    Ok(assigned.value)
}

/// Checks before the first row that MariaDB assigns values of these types to these columns. In lenient mode a refusal
/// is a warning, and the column gets its zero.
///
/// # Errors
/// 4078.
pub(crate) fn check_types<'t>(
    exec: &mut Execution<'_, '_>,
    table: &TableDefinition,
    assigned: impl Iterator<Item = (usize, &'t ExprType)>,
    strictness: Strictness,
) -> Result<()> {
    for (column, ty) in assigned {
        let definition = &table.columns()[column];
        let is_concerned = |data_type: &DataType| matches!(data_type, DataType::FixedBinary(_));
        if !is_concerned(&definition.data_type) && !is_concerned(&ty.data_type) {
            continue;
        }
        let place = format!("`{}`.`{}`.`{}`", table.database(), table.name(), definition.name);
        match (refused_assignment(ty, &definition.data_type, &place), strictness) {
            (Some(error), Strictness::Strict) => return Err(error),
            (Some(error), Strictness::Lenient) => {
                exec.session.diagnostics.warn(error.code(), error.message());
            }
            (None, _) => {}
        }
    }
    Ok(())
}

/// Returns the start time of the statement, the meaning of NULL for a TIMESTAMP NOT NULL.
fn present(exec: &mut Execution<'_, '_>, decimals: u8) -> Value {
    let statement = &mut exec.session.statement;
    statement.used_current_time = true;
    let unit = 10_i64.pow(6 - u32::from(decimals.min(6)));
    let micros = statement.start_micros.rem_euclid(1_000_000) / unit * unit;
    let seconds = u32::try_from(statement.start_seconds()).unwrap_or(Timestamp::SECONDS_MAX);
    Value::Timestamp(Timestamp::new(seconds, micros as u32, decimals))
}

/// Returns the value of a column without a default: 1364 in strict mode, or 1423 if the statement inserts into a view
/// and does not name the column; otherwise a warning and the type's zero. An ENUM gets its first member, without a
/// warning.
pub(crate) fn missing_default(
    exec: &mut Execution<'_, '_>,
    table: &TableDefinition,
    column: usize,
    strictness: Strictness,
    view: Option<&ViewDefinition>,
) -> Result<Value> {
    let definition = &table.columns()[column];
    if matches!(definition.data_type, DataType::Enum { .. }) {
        return Ok(implicit_default(&definition.data_type));
    }
    let error = match view {
        Some(view) => Error::new(ER_NO_DEFAULT_FOR_VIEW_FIELD, &[&view.database, &view.name]),
        None => Error::new(ER_NO_DEFAULT_FOR_FIELD, &[&definition.name]),
    };
    if strictness == Strictness::Strict {
        return Err(error);
    }
    exec.session.diagnostics.warn(error.code(), error.message());
    Ok(implicit_default(&definition.data_type))
}

/// Checks the WITH CHECK OPTION of the view through which a row is changed: 1369.
pub(crate) fn passes_view_check(
    exec: &mut Execution<'_, '_>,
    check: Option<&ViewCheckPlan>,
    row: &[Value],
    ignore: Ignore,
) -> Result<bool> {
    let Some(check) = check else { return Ok(true) };
    if exec.all_true(&check.conditions, row)? {
        return Ok(true);
    }
    let error = Error::new(ER_VIEW_CHECK_FAILED, &[&check.view.database, &check.view.name]);
    if ignore == Ignore::No {
        return Err(error);
    }
    exec.session.diagnostics.warn(error.code(), error.message());
    Ok(false)
}

/// Returns 1978 for the default of a date that `sql_mode` has allowed when the table was defined, and does not allow
/// now.
pub(crate) fn invalid_default(
    exec: &Execution<'_, '_>,
    table: &TableDefinition,
    column: usize,
    value: &Value,
) -> Option<Error> {
    let date = match value {
        Value::Date(date) => *date,
        Value::DateTime(datetime) => datetime.date,
        Value::Timestamp(timestamp) if timestamp.is_zero() => Date::ZERO,
        _ => return None,
    };
    if date.is_valid(exec.session.settings.date_modes()) {
        return None;
    }
    let definition = &table.columns()[column];
    let mut shown = Vec::new();
    append_column_value(&value.as_ref(), &definition.data_type, &TimeZone::UTC, &mut shown);
    let names: [&dyn std::fmt::Display; 2] = [&String::from_utf8_lossy(&shown), &definition.name];
    Some(Error::new(ER_INVALID_DEFAULT_VALUE_FOR_FIELD, &names))
}

/// Returns the implicit default of a NOT NULL column.
pub(crate) fn implicit_default(data_type: &DataType) -> Value {
    match data_type {
        DataType::Enum { labels, .. } => Value::Enum(EnumValue {
            index: 1,
            labels: labels.clone(),
        }),
        data_type => zero_value(data_type),
    }
}

/// Returns the zero of a type: 0, an empty string, a zero date.
pub(crate) fn zero_value(data_type: &DataType) -> Value {
    if data_type.is_text() {
        return Value::Text(String::new());
    }
    if data_type.is_binary_string() {
        let length = match data_type {
            DataType::Binary { length } => usize::from(*length),
            _ => 0,
        };
        return Value::Bytes(vec![0; length]);
    }
    let zone = paceline_types::TimeZone::UTC;
    let context = paceline_types::convert::ConvertContext {
        date_modes: DateModes::default(),
        time_zone: &zone,
        now: zone.to_local(0),
    };
    match data_type {
        DataType::Set { .. } | DataType::Enum { .. } => {
            assign(Value::Text(String::new()), data_type, &context).value
        }
        data_type => assign(Value::Int(0), data_type, &context).value,
    }
}

/// Checks the table's check constraints for a row: 4025.
pub(crate) fn check_constraints(
    exec: &mut Execution<'_, '_>,
    table: &TableDefinition,
    checks: &[CheckPlan],
    row: &[Value],
    ignore: Ignore,
) -> Result<bool> {
    if !exec.session.settings.check_constraint_checks {
        return Ok(true);
    }
    for check in checks {
        let failed = || {
            Error::new(
                ER_CONSTRAINT_FAILED,
                &[&check.name, &table.database(), &table.name()],
            )
        };
        let truth = check.condition.eval_truth(row, &mut exec.context());
        if let Err(error) = &truth
            && error.code() == ER_TRUNCATED_WRONG_VALUE
        {
            // In MariaDB the condition is also not met.
            let failed = failed();
            exec.session
                .diagnostics
                .error_after_error(failed.code(), failed.message());
        }
        if truth? == Some(false) {
            let error = failed();
            if ignore == Ignore::No {
                return Err(error);
            }
            exec.session.diagnostics.warn(error.code(), error.message());
            return Ok(false);
        }
    }
    Ok(true)
}
