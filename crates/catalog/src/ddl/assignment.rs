//! Conversion of values to the columns that they are stored in.

use paceline_types::convert::{self, ConvertContext, Severity};
use paceline_types::error_code::{ER_TRUNCATED_WRONG_VALUE, WARN_DATA_TRUNCATED};
use paceline_types::{DataType, Value};

use super::default_value::{current_timestamp, implicit_default, local_time};
use crate::error::{Error, Result};
use crate::{ColumnDefinition, TableDescription};
use paceline_expression::session::SessionContext;

/// Converts a value to its new column, as an assignment does.
pub(super) fn assign(
    value: Value,
    table: &TableDescription,
    column: &ColumnDefinition,
    row: u64,
    session: &mut SessionContext,
) -> Result<Value> {
    assign_noting(value, None, table, column, row, session)
}

/// Converts the value of a column whose type changes. It differs from an assignment in two ways: NULL becomes the
/// current time in a TIMESTAMP that becomes NOT NULL, and the note about a text with more digits than a time has shows
/// the text. For a DATE it precedes the usual note.
pub(super) fn assign_copied(
    value: Value,
    table: &TableDescription,
    column: &ColumnDefinition,
    row: u64,
    session: &mut SessionContext,
) -> Result<Value> {
    if let (Value::Null, false, DataType::Timestamp { decimals }) =
        (&value, column.nullable, &column.data_type)
    {
        return Ok(Value::Timestamp(current_timestamp(session, *decimals)));
    }
    let kind = match column.data_type {
        DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => Some("datetime"),
        DataType::Time { .. } => Some("time"),
        _ => None,
    };
    let cut = match (&value, kind) {
        (Value::Text(text), Some(kind)) if has_excess_digits(text) => Some(format!(
            "Incorrect {kind} value: '{text}' for column `{}`.`{}`.`{}` at row {row}",
            table.database, table.name, column.name
        )),
        _ => None,
    };
    assign_noting(value, cut, table, column, row, session)
}

/// Returns whether a text ends with a fraction of more digits than a time has.
fn has_excess_digits(text: &str) -> bool {
    let (_, fraction) = text.trim_end().rsplit_once('.').unwrap_or_default();
    fraction.len() > FRACTION_DIGITS_MAX && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

/// Maximum number of digits of a time's fraction.
const FRACTION_DIGITS_MAX: usize = 6;

/// Converts a value. `cut` is the note about digits that no time has.
fn assign_noting(
    value: Value,
    cut: Option<String>,
    table: &TableDescription,
    column: &ColumnDefinition,
    row: u64,
    session: &mut SessionContext,
) -> Result<Value> {
    let strict = session.settings.sql_mode.is_strict();
    if matches!(value, Value::Null) {
        if column.nullable {
            return Ok(value);
        }
        let message = WARN_DATA_TRUNCATED.message(&[&column.name as &dyn std::fmt::Display, &row]);
        if strict {
            return Err(Error::with_message(WARN_DATA_TRUNCATED, message));
        }
        session.diagnostics.warn(WARN_DATA_TRUNCATED, message);
        return Ok(implicit_default(&column.data_type));
    }
    let zone = session.settings.time_zone.clone();
    let now = local_time(session);
    let context = ConvertContext {
        date_modes: session.settings.date_modes(),
        time_zone: &zone,
        now,
    };
    let assigned = convert::assign(value, &column.data_type, &context);
    if let Some(problem) = assigned.problem {
        let qualified = format!("`{}`.`{}`.`{}`", table.database, table.name, column.name);
        let warning = || problem.warning_message(&qualified, &column.name, row);
        match problem.severity {
            Severity::Warning if strict => {
                let message = problem.message(&qualified, &column.name, row);
                return Err(Error::with_message(problem.code, message));
            }
            Severity::Warning => session.diagnostics.warn(problem.warning_code, warning()),
            Severity::Note => {
                let is_replaced = cut.is_some() && column.data_type != DataType::Date;
                if let Some(cut) = cut {
                    session.diagnostics.note(ER_TRUNCATED_WRONG_VALUE, cut);
                }
                if !is_replaced {
                    session.diagnostics.note(problem.warning_code, warning());
                }
            }
        }
    }
    match assigned.value {
        Value::Null if !column.nullable => Ok(implicit_default(&column.data_type)),
        value => Ok(value),
    }
}
