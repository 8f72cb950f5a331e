//! Conversion of values to the columns that they are stored in.

use paceline_types::Value;
use paceline_types::convert::{self, ConvertContext, Severity};
use paceline_types::error_code::WARN_DATA_TRUNCATED;

use super::default_value::{implicit_default, local_time};
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
            Severity::Note => session.diagnostics.note(problem.warning_code, warning()),
        }
    }
    match assigned.value {
        Value::Null if !column.nullable => Ok(implicit_default(&column.data_type)),
        value => Ok(value),
    }
}
