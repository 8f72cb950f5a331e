//! Resolution of a column's definition: its default and its checks.

use paceline_types::convert::{self, ConvertContext};
use paceline_types::error_code::*;
use paceline_types::{Collation, DataType, DateTime, TimeZone, Value, text};

use super::comment::shortened_comment;
use super::loadable::refuse_loadable;
use super::normal_form::{GENERATED_CLAUSE, normal_form};
use crate::column_type::resolve_type;
use crate::error::{Error, Result};
use crate::{ColumnDefault, ColumnDefinition, GeneratedColumn, GeneratedStorage, literal_value};
use paceline_expression::session::SessionContext;
use paceline_expression::{EmptyScope, EvalContext, EvalState, bind_expr};
use paceline_syntax::ast::visit::for_each_child;
use paceline_syntax::ast::{Expr, Literal, UnaryOp};
use paceline_syntax::definition::{ColumnSpec, DefaultSpec};

/// Resolves a column.
///
/// # Errors
/// Errors of its type; 1166, 1067, 1294, 1063, 1901, 1235.
pub fn resolve_column(
    spec: &ColumnSpec,
    table_collation: Collation,
    session: &mut SessionContext,
) -> Result<ColumnDefinition> {
    let name = &spec.name;
    if name.is_empty() || name.ends_with(' ') {
        return Err(Error::new(ER_WRONG_COLUMN_NAME, &[name]));
    }
    let data_type = resolve_type(name, &spec.data_type, table_collation, session)?;
    if spec.late_compression {
        let message = ER_WARN_DEPRECATED_SYNTAX.message(&[
            &"<data type> <character set clause> ... COMPRESSED...",
            &"'<data type> COMPRESSED... <character set clause> ...'",
        ]);
        session.diagnostics.warn(ER_WARN_DEPRECATED_SYNTAX, message);
    }
    if spec.data_type.compressed {
        let message = ER_NOT_SUPPORTED_YET.message(&[&"COMPRESSED"]);
        session.diagnostics.note(ER_NOT_SUPPORTED_YET, message);
    }
    let has_old_defaults = !session.settings.explicit_defaults_for_timestamp
        && matches!(data_type, DataType::Timestamp { .. })
        && spec.generated.is_none();
    let mut column = ColumnDefinition {
        name: name.clone(),
        nullable: spec.nullable.unwrap_or(!spec.primary_key && !has_old_defaults),
        default: ColumnDefault::None,
        on_update: None,
        auto_increment: spec.auto_increment,
        invisible: spec.invisible,
        compressed: spec.data_type.compressed,
        comment: spec.comment.clone().unwrap_or_default(),
        check: None,
        generated: None,
        data_type,
    };
    column.comment = shortened_comment(
        std::mem::take(&mut column.comment),
        1024,
        ER_TOO_LONG_FIELD_COMMENT,
        name,
        session,
    )?;
    if column.auto_increment {
        let counts = matches!(
            column.data_type,
            DataType::Integer(_) | DataType::Float(_) | DataType::Double(_)
        );
        if !counts {
            return Err(Error::new(ER_WRONG_FIELD_SPEC, &[name]));
        }
        if spec.default.is_some() {
            return Err(Error::new(ER_INVALID_DEFAULT, &[name]));
        }
    }
    column.default = match &spec.default {
        None if column.auto_increment => ColumnDefault::None,
        // See `give_old_timestamp_defaults`.
        Some(default) if has_old_defaults && !column.nullable && is_null(default) => ColumnDefault::None,
        default => resolve_default(&column, default.as_ref(), session)?,
    };
    if let Some(decimals) = spec.on_update {
        // Without digits those of the column apply; fewer than the column's are rejected.
        let own = temporal_decimals(&column.data_type).filter(|own| decimals == 0 || decimals >= *own);
        column.on_update = Some(own.ok_or_else(|| Error::new(ER_INVALID_ON_UPDATE, &[name]))?);
    }
    if let Some(generated) = &spec.generated {
        let storage = match generated.stored {
            true => GeneratedStorage::Stored,
            false => GeneratedStorage::Virtual,
        };
        refuse_loadable(&generated.expr, GENERATED_CLAUSE, name, session)?;
        column.generated = Some(GeneratedColumn {
            expression: normal_form(&generated.expr, GENERATED_CLAUSE, name)?,
            storage,
        });
    }
    column.check = match &spec.check {
        Some(check) => {
            refuse_loadable(&check.expr, "CHECK", name, session)?;
            Some(normal_form(&check.expr, "CHECK", name)?)
        }
        None if column.data_type == DataType::Json => Some(format!("json_valid({})", quoted(name))),
        None => None,
    };
    Ok(column)
}

fn is_null(default: &DefaultSpec) -> bool {
    let DefaultSpec::Expr { expr, .. } = default else {
        return false;
    };
    matches!(expr.without_parentheses(), Expr::Literal(Literal::Null))
}

/// Gives TIMESTAMP columns without a default the implicit one of `explicit_defaults_for_timestamp=OFF`: the
/// table's first TIMESTAMP column gets the current time, also ON UPDATE; others that the statement defines
/// get zero. `columns` are the table's columns in order, with whether the statement defines them.
///
/// # Errors
/// 1067 if `sql_mode` does not allow zero as a date.
pub(crate) fn give_old_timestamp_defaults<'c>(
    columns: impl Iterator<Item = (&'c mut ColumnDefinition, bool)>,
    session: &mut SessionContext,
) -> Result<()> {
    if session.settings.explicit_defaults_for_timestamp {
        return Ok(());
    }
    let timestamps = columns.filter(|(column, _)| matches!(column.data_type, DataType::Timestamp { .. }));
    for (place, (column, is_defined)) in timestamps.enumerate() {
        let says_nothing =
            column.default == ColumnDefault::None && !column.nullable && column.generated.is_none();
        if !is_defined || !says_nothing {
            continue;
        }
        match (temporal_decimals(&column.data_type), &column.on_update) {
            (Some(decimals), None) if place == 0 => {
                column.default = ColumnDefault::CurrentTimestamp(decimals);
                column.on_update = Some(decimals);
            }
            _ => column.default = ColumnDefault::Literal(literal_default(column, Value::Int(0), session)?),
        }
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    let mut out = String::new();
    super::normal_form::quote_identifier(name, &mut out);
    out
}

/// Returns the fractional digits of a column that can have CURRENT_TIMESTAMP.
fn temporal_decimals(data_type: &DataType) -> Option<u8> {
    match data_type {
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => Some(*decimals),
        _ => None,
    }
}

/// Resolves a column's default. `column` has its type and nullability already.
///
/// # Errors
/// 1067, 1901.
pub fn resolve_default(
    column: &ColumnDefinition,
    spec: Option<&DefaultSpec>,
    session: &mut SessionContext,
) -> Result<ColumnDefault> {
    let invalid = || Error::new(ER_INVALID_DEFAULT, &[&column.name]);
    match spec {
        None if column.nullable => Ok(ColumnDefault::Null),
        None => Ok(ColumnDefault::None),
        Some(DefaultSpec::CurrentTimestamp(decimals)) => match temporal_decimals(&column.data_type) {
            Some(own) if *decimals == 0 => Ok(ColumnDefault::CurrentTimestamp(own)),
            Some(own) => Ok(ColumnDefault::CurrentTimestamp(own.min(*decimals))),
            // For other types it is an expression: DATE DEFAULT NOW().
            None if *decimals == 0 => Ok(ColumnDefault::Expression("current_timestamp()".to_owned())),
            None => Ok(ColumnDefault::Expression(format!(
                "current_timestamp({decimals})"
            ))),
        },
        Some(DefaultSpec::Expr { expr, .. }) => match literal(expr, session)? {
            Some(Value::Null) if column.nullable => Ok(ColumnDefault::Null),
            Some(Value::Null) => Err(invalid()),
            Some(value) => literal_default(column, value, session).map(ColumnDefault::Literal),
            None => {
                let mut expr = expr.clone();
                qualify_sequences(&mut expr, session.database.as_deref())?;
                refuse_loadable(&expr, "DEFAULT", &column.name, session)?;
                let text = normal_form(&expr, "DEFAULT", &column.name)?;
                // As in MariaDB, an expression other than a column or a function call gets parentheses.
                Ok(ColumnDefault::Expression(match expr.without_parentheses() {
                    Expr::Column(_)
                    | Expr::Call(_)
                    | Expr::Sequence(_)
                    | Expr::Cast { .. }
                    | Expr::ConvertUsing { .. }
                    | Expr::DynamicColumns { .. }
                    | Expr::Trim { .. } => text,
                    _ => format!("({text})"),
                }))
            }
        },
    }
}

/// Adds the current database to the names of sequences without one.
///
/// # Errors
/// 1046 if there is no current database.
pub(super) fn qualify_sequences(expr: &mut Expr, database: Option<&str>) -> Result<()> {
    if let Expr::Sequence(value) = expr {
        let own = &mut value.sequence.database;
        if own.is_none() {
            let current = database.ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?;
            *own = Some(current.to_owned());
        }
    }
    for_each_child(expr, &mut |part| qualify_sequences(part, database))
}

/// Returns the value of a literal, with or without a sign or an introducer; `None` for any other expression.
fn literal(expr: &Expr, session: &mut SessionContext) -> Result<Option<Value>> {
    let is_literal = match expr {
        Expr::Literal(_) | Expr::Introduced { .. } | Expr::TemporalLiteral { .. } => true,
        Expr::Unary {
            op: UnaryOp::Minus | UnaryOp::Plus,
            operand,
        } => matches!(
            **operand,
            Expr::Literal(Literal::Number(_) | Literal::HexNumber(_))
        ),
        _ => false,
    };
    if !is_literal {
        return Ok(None);
    }
    // b'101' is a number in numeric context and a string elsewhere. As a default of BIT it is a number.
    let bound = bind_expr(expr, &mut EmptyScope::new(session))?;
    let mut state = EvalState::new();
    bound
        .eval(&[], &mut EvalContext::new(session, &mut state))
        .map(Some)
}

/// Returns a literal's text in the form of [`ColumnDefault::Literal`].
fn literal_default(column: &ColumnDefinition, value: Value, session: &mut SessionContext) -> Result<String> {
    let invalid = || Error::new(ER_INVALID_DEFAULT, &[&column.name]);
    let data_type = &column.data_type;
    let value = match (value, data_type) {
        // In a numeric column 0x41 and b'1000001' are numbers.
        (Value::Bytes(bytes), data_type) if data_type.is_numeric() && bytes.len() <= 8 => Value::UInt(
            bytes
                .iter()
                .fold(0, |number, byte| number << 8 | u64::from(*byte)),
        ),
        (value, _) => value,
    };
    let context = ConvertContext {
        date_modes: session.settings.date_modes(),
        time_zone: &session.settings.time_zone,
        now: DateTime::default(),
    };
    let assigned = convert::assign(value, data_type, &context);
    if let (DataType::FixedBinary(_), Some(problem)) = (data_type, &assigned.problem) {
        // MariaDB says what is wrong with these only.
        let qualified = format!("``.``.`{}`", column.name);
        let message = problem.warning_message(&qualified, &column.name, 0);
        session.diagnostics.warn(problem.warning_code, message);
    }
    let value = match (assigned.value, assigned.problem) {
        (Value::Null, _) => return Err(invalid()),
        (value, None) => value,
        (value, Some(problem)) => {
            if problem.severity == convert::Severity::Warning {
                return Err(invalid());
            }
            session
                .diagnostics
                .note(problem.code, problem.message("", &column.name, 0));
            value
        }
    };
    let stored = match &value {
        Value::Bytes(bytes) => bytes.iter().map(|byte| char::from(*byte)).collect(),
        Value::Bit(bits) => bits.bits.to_string(),
        // A TIMESTAMP is stored in UTC, whatever time zone it was written in.
        value => text::to_string(&value.as_ref(), &TimeZone::UTC),
    };
    // The stored text must have the same value when it is read.
    debug_assert!(
        !matches!(literal_value(column, &stored), Value::Null),
        "a literal default returns"
    );
    Ok(stored)
}
