//! GET DIAGNOSTICS.

use super::evaluate::evaluate_typed;
use paceline_expression::session::{Condition, Level, SessionContext, UserVariable};
use paceline_expression::{EvalContext, EvalState, ExprType, to_i64};
use paceline_syntax::{
    ConditionItem, DiagnosticsInformation, Error, GetDiagnostics, Result, SignalItem, StatementItem, Target,
};
use paceline_types::Value;
use paceline_types::error_code::{ER_DA_INVALID_CONDITION_NUMBER, ER_NOT_SUPPORTED_YET};

/// Executes GET DIAGNOSTICS for user variables. A condition that does not exist is not an error of the statement, but
/// is added to the conditions (1758).
///
/// # Errors
/// 1235 for a variable of a program. The program executes such a statement itself.
pub fn get_diagnostics(
    get: &GetDiagnostics,
    session: &mut SessionContext,
    parameters: &[Value],
) -> Result<()> {
    for (target, value) in diagnostics_values(get, session, parameters)? {
        match target {
            Target::User(name) => set_user_variable(&name, &value, session)?,
            Target::Variable(_) => return Err(Error::new(ER_NOT_SUPPORTED_YET, &[&"GET DIAGNOSTICS"])),
        }
    }
    Ok(())
}

/// Sets a user variable, whose type is that of the value.
///
/// # Errors
/// 1290 and 1041 for lack of memory.
pub fn set_user_variable(name: &str, value: &Value, session: &mut SessionContext) -> Result<()> {
    let ty = ExprType::of_value(value, session.settings.collation_connection);
    set_typed_user_variable(name, value, ty, session)
}

/// Sets a user variable to a value of an expression with this type.
///
/// # Errors
/// 1290 and 1041 for lack of memory.
pub fn set_typed_user_variable(
    name: &str,
    value: &Value,
    ty: ExprType,
    session: &mut SessionContext,
) -> Result<()> {
    let variable = UserVariable::new(value, ty, &session.settings.time_zone);
    session.user_variables.set(&name.to_lowercase(), variable)
}

/// Returns the targets of a GET DIAGNOSTICS with their values; empty if the condition does not exist.
///
/// # Errors
/// Those of the condition's number.
pub fn diagnostics_values(
    get: &GetDiagnostics,
    session: &mut SessionContext,
    parameters: &[Value],
) -> Result<Vec<(Target, Value)>> {
    match &get.information {
        DiagnosticsInformation::Statement(items) => {
            let diagnostics = &session.diagnostics;
            let of = |item: StatementItem| match item {
                StatementItem::Number => Value::Int(diagnostics.conditions().len() as i64),
                StatementItem::RowCount => Value::Int(session.row_count),
            };
            Ok(items
                .iter()
                .map(|(target, item)| (target.clone(), of(*item)))
                .collect())
        }
        DiagnosticsInformation::Condition { number, items } => {
            let (number, _) = evaluate_typed(number, parameters, session)?;
            let index = match number {
                Value::Null => None,
                number => {
                    let mut evaluation = EvalState::new();
                    let number = to_i64(&number, &mut EvalContext::new(session, &mut evaluation))?;
                    usize::try_from(number - 1).ok()
                }
            };
            let diagnostics = &mut session.diagnostics;
            let Some(condition) = index.and_then(|index| diagnostics.conditions().get(index)) else {
                let code = ER_DA_INVALID_CONDITION_NUMBER;
                diagnostics.push(Level::Error, code, code.message(&[]));
                return Ok(Vec::new());
            };
            Ok((items.iter())
                .map(|(target, item)| (target.clone(), item_of(condition, *item)))
                .collect())
        }
    }
}

fn item_of(condition: &Condition, item: ConditionItem) -> Value {
    let item = match item {
        ConditionItem::ReturnedSqlState => return Value::Text(condition.sqlstate().to_owned()),
        ConditionItem::Signal(item) => item,
    };
    let signalled = || {
        let items = condition.signalled.as_ref()?.items.iter();
        let mut named = items.filter(|(name, _)| *name == item.name());
        named.next().map(|(_, value)| value.clone())
    };
    match item {
        SignalItem::MysqlErrno => Value::Int(i64::from(condition.code.number())),
        SignalItem::MessageText => Value::Text(condition.message.clone()),
        SignalItem::RowNumber => Value::Int(signalled().and_then(|text| text.parse().ok()).unwrap_or(0)),
        // The server's conditions are defined by the standard. For a condition of SIGNAL, only the items that it has
        // set are known.
        SignalItem::ClassOrigin | SignalItem::SubclassOrigin if condition.signalled.is_none() => {
            Value::Text("ISO 9075".to_owned())
        }
        _ => Value::Text(signalled().unwrap_or_default()),
    }
}
