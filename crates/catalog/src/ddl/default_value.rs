//! Values of defaults.

use paceline_types::convert::{self, ConvertContext};
use paceline_types::{DataType, DateTime, TimeZone, Timestamp, Value};

use crate::{ColumnDefault, ColumnDefinition, literal_value};
use paceline_expression::session::{KeepDiagnostics, Services, SessionContext};

/// Returns the statement's time in the session's time zone.
pub(super) fn local_time(session: &SessionContext) -> DateTime {
    let micros = session.statement.start_micros;
    let local = session.settings.time_zone.to_local(micros.div_euclid(1_000_000));
    let of_day = local.micros_of_day() + micros.rem_euclid(1_000_000);
    DateTime::from_date_and_micros(local.date, of_day, 6)
}

/// Returns the statement's time with this number of decimals.
pub(super) fn current_timestamp(session: &SessionContext, decimals: u8) -> Timestamp {
    let micros = session.statement.start_micros;
    let seconds = u32::try_from(micros.div_euclid(1_000_000)).unwrap_or(0);
    Timestamp::new(seconds, micros.rem_euclid(1_000_000) as u32, 6).truncated(decimals)
}

/// Returns the value of a NOT NULL column without a default: zero, the empty string, the first label of an
/// ENUM.
pub(super) fn implicit_default(data_type: &DataType) -> Value {
    let value = match data_type {
        DataType::Enum { .. } => Value::Int(1),
        data_type if data_type.is_binary_string() => Value::Bytes(Vec::new()),
        data_type if data_type.is_text() || matches!(data_type, DataType::Set { .. }) => {
            Value::Text(String::new())
        }
        DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => {
            Value::Text("0000-00-00 00:00:00".to_owned())
        }
        DataType::Time { .. } => Value::Text("00:00:00".to_owned()),
        _ => Value::Int(0),
    };
    let context = ConvertContext {
        date_modes: Default::default(),
        time_zone: &TimeZone::UTC,
        now: DateTime::default(),
    };
    convert::assign(value, data_type, &context).value
}

/// Returns the value of a column's default if it does not depend on the row.
pub(super) fn constant_default(column: &ColumnDefinition, session: &SessionContext) -> Option<Value> {
    match &column.default {
        ColumnDefault::None => Some(implicit_default(&column.data_type)),
        ColumnDefault::Null => Some(Value::Null),
        ColumnDefault::Literal(text) => Some(literal_value(column, text)),
        ColumnDefault::CurrentTimestamp(decimals) => Some(match column.data_type {
            DataType::Timestamp { .. } => Value::Timestamp(current_timestamp(session, *decimals)),
            _ => Value::DateTime(local_time(session).truncated(*decimals)),
        }),
        ColumnDefault::Expression(_) => None,
    }
}

/// Returns the value of a column that a replicated row does not contain: its default, if that can be computed
/// without a session (the current time for `CURRENT_TIMESTAMP`), else NULL or the type's zero.
pub fn default_of_absent(column: &ColumnDefinition) -> Value {
    let value = match &column.default {
        ColumnDefault::Expression(_) | ColumnDefault::None => None,
        ColumnDefault::CurrentTimestamp(_) => {
            let mut session = SessionContext::new(0, Services::default());
            session.begin_statement(KeepDiagnostics::No);
            constant_default(column, &session)
        }
        ColumnDefault::Null => Some(Value::Null),
        ColumnDefault::Literal(text) => Some(literal_value(column, text)),
    };
    match value {
        Some(value) if !value.is_null() || column.nullable => value,
        _ if column.nullable => Value::Null,
        _ => implicit_default(&column.data_type),
    }
}
