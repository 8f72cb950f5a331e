//! SIGNAL and RESIGNAL.

use super::evaluate::evaluate_typed;
use paceline_expression::session::{Level, SessionContext};
use paceline_expression::{EvalContext, EvalState, hex_number, text_of, to_i64};
use paceline_syntax::ast::{Expr, Literal};
use paceline_syntax::{ConditionValue, Error, Result, Signal, SignalItem};
use paceline_types::error_code::*;
use paceline_types::{ErrorCode, SignalledCondition, Value};
use std::sync::Arc;

/// Executes SIGNAL or RESIGNAL.
///
/// # Errors
/// The raised condition, unless it is a warning; 1645 for RESIGNAL outside of a handler; 1231 for an invalid value of
/// an item.
pub fn signal(signal: &Signal, session: &mut SessionContext, parameters: &[Value]) -> Result<()> {
    let handled = match signal.resignal {
        true => match &session.handled_condition {
            Some(handled) => Some((**handled).clone()),
            None => return Err(Error::new(ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER, &[])),
        },
        false => None,
    };
    let (mut code, mut message, sqlstate, mut items) = match (&signal.condition, &handled) {
        (Some(ConditionValue::SqlState(sqlstate)), _) => {
            let code = match &sqlstate[..2] {
                "01" => ER_SIGNAL_WARN,
                "02" => ER_SIGNAL_NOT_FOUND,
                _ => ER_SIGNAL_EXCEPTION,
            };
            // RESIGNAL keeps what it does not change of the condition that is handled.
            match &handled {
                Some(error) => (
                    code,
                    error.message().to_owned(),
                    sqlstate.clone(),
                    // The origin of the new condition is unknown.
                    without_origin(items_of(error)),
                ),
                None => (code, code.message(&[]), sqlstate.clone(), Vec::new()),
            }
        }
        // The parser accepts no other condition.
        (Some(_), _) => return Err(Error::new(ER_SIGNAL_BAD_CONDITION_TYPE, &[])),
        (None, Some(error)) => {
            let (message, sqlstate) = (error.message().to_owned(), error.sqlstate().to_owned());
            (error.code(), message, sqlstate, items_of(error))
        }
        (None, None) => return Err(Error::new(ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER, &[])),
    };
    let mut truncated = Vec::new();
    // MariaDB evaluates the text and then the number last.
    let mut ordered: Vec<&(SignalItem, Expr)> = signal.items.iter().collect();
    ordered.sort_by_key(|(item, _)| match item {
        SignalItem::MysqlErrno => 2,
        SignalItem::MessageText => 1,
        _ => 0,
    });
    for (item, expr) in ordered {
        let (value, _) = evaluate_typed(expr, parameters, session)?;
        let mut evaluation = EvalState::new();
        let mut context = EvalContext::new(session, &mut evaluation);
        let shown = match &value {
            Value::Null => return Err(wrong_value(*item, "NULL")),
            value => text_of(value, &context),
        };
        match item {
            SignalItem::MysqlErrno => {
                let number = match (expr, &value) {
                    (Expr::Literal(Literal::HexNumber(_) | Literal::Bits(_)), Value::Bytes(bytes)) => {
                        to_i64(&hex_number(bytes), &mut context)?
                    }
                    _ => to_i64(&value, &mut context)?,
                };
                match u16::try_from(number) {
                    // 65535 in an error packet means a report of progress: the client would wait for more.
                    Ok(number) if number > 0 && number < u16::MAX => code = ErrorCode::from_number(number),
                    _ => return Err(wrong_value(*item, &shown)),
                }
            }
            SignalItem::MessageText => {
                let shown = shown.into_owned();
                message = fitted(*item, shown, MESSAGE_CHARACTERS_MAX, &mut truncated, session)?;
            }
            other => {
                let shown = shown.into_owned();
                let shown = fitted(*item, shown, NAME_CHARACTERS_MAX, &mut truncated, session)?;
                items.retain(|(name, _)| *name != other.name());
                items.push((other.name(), shown));
            }
        }
    }
    let class_is_warning = sqlstate.starts_with("01");
    let condition = Arc::new(SignalledCondition { sqlstate, items });
    // SIGNAL empties the diagnostics area. RESIGNAL adds to it, or replaces the condition that is being handled.
    if !signal.resignal || signal.condition.is_none() {
        let most = session.settings.max_error_count;
        session.diagnostics.clear(most);
    } else {
        session.diagnostics.make_room(RESIGNALLED_CONDITIONS);
        if class_is_warning {
            // The condition that is being handled stays after its handler.
            session.diagnostics.adopt();
        }
    }
    for message in truncated {
        session.diagnostics.warn(WARN_COND_ITEM_TRUNCATED, message);
    }
    if let (Some(error), None, []) = (handled, &signal.condition, &signal.items[..])
        && !class_is_warning
    {
        return Err(error);
    }
    match class_is_warning {
        true => {
            let diagnostics = &mut session.diagnostics;
            diagnostics.push_signalled(Level::Warning, code, message, Some(condition));
            Ok(())
        }
        false => Err(Error::with_message(code, message).signalled(condition)),
    }
}

fn without_origin(mut items: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let origins = [SignalItem::ClassOrigin.name(), SignalItem::SubclassOrigin.name()];
    items.retain(|(name, _)| !origins.contains(name));
    items
}

/// Returns the items that SIGNAL has set of an error.
fn items_of(error: &Error) -> Vec<(&'static str, String)> {
    { error.signalled_condition() }.map_or(Vec::new(), |known| known.items.clone())
}

/// Conditions that RESIGNAL adds: its own, and the place in the program.
const RESIGNALLED_CONDITIONS: usize = 2;

/// Maximum length of MESSAGE_TEXT.
const MESSAGE_CHARACTERS_MAX: usize = 512;

/// Maximum length of the other texts.
const NAME_CHARACTERS_MAX: usize = 64;

/// Returns the text of an item with at most `most` characters. Adds the warning about a longer one to `truncated`.
///
/// # Errors
/// 1648 for a longer text in strict mode.
fn fitted(
    item: SignalItem,
    text: String,
    most: usize,
    truncated: &mut Vec<String>,
    session: &SessionContext,
) -> Result<String> {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return Ok(text);
    };
    if session.settings.sql_mode.is_strict() {
        return Err(Error::new(ER_COND_ITEM_TOO_LONG, &[&item.name()]));
    }
    truncated.push(WARN_COND_ITEM_TRUNCATED.message(&[&item.name()]));
    Ok(text[..end].to_owned())
}

fn wrong_value(item: SignalItem, value: &str) -> Error {
    Error::new(ER_WRONG_VALUE_FOR_VAR, &[&item.name(), &value])
}
