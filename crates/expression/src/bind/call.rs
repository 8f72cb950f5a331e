//! Function calls: native functions by the table, and functions whose arguments are not all expressions.

use crate::tree::{ArithmeticOp, BindCall, Call, CastTarget, Expr, ExprKind, Function, unique_id};
use paceline_native_functions::{CallKind, NativeFunction};
use paceline_types::Value;
use paceline_types::error_code::{
    ER_SP_DOES_NOT_EXIST, ER_WRONG_PARAMETERS_TO_NATIVE_FCT, ER_WRONG_PARAMETERS_TO_STORED_FCT,
};
use std::sync::Arc;

use crate::bind::{aggregate, bind_arithmetic, bind_expr, bind_operand, bind_operand_of, window};
use crate::error::{Error, Result};
use crate::errors;
use crate::expr_type::{Class, ExprType};
use crate::functions;
use crate::loadable;
use crate::scope::{Dependence, Scope};
use crate::session::SessionContext;
use crate::stored_function::stored_function_call;
use crate::typing::{operands, reading, refusal};
use paceline_syntax::ast::{self, ColumnName, SequenceOperation};

/// Binds a function call.
pub(super) fn function(call: &ast::FunctionCall, scope: &mut dyn Scope) -> Result<Expr> {
    let written = call.full_name();
    let lower = written.to_ascii_lowercase();
    if call.has_given_names() && is_native_function(call) {
        return Err(errors::error(ER_WRONG_PARAMETERS_TO_NATIVE_FCT, &[&call.name]));
    }
    if let Some(over) = &call.over {
        return window::bind(&lower, call, over, scope);
    }
    if let Some(kind) = aggregate::function_named(&lower, call) {
        return aggregate::bind(kind, call, scope);
    }
    let args = call.arguments.exprs();
    match (lower.as_str(), args) {
        ("values", [column]) => return scope.resolve_values(name_of(column)?),
        ("default", [column]) => return scope.resolve_default(name_of(column)?),
        ("date_add" | "date_sub" | "adddate" | "subdate", [date, ast::Expr::Interval(interval)]) => {
            let date = bind_expr(date, scope)?;
            let name = if matches!(lower.as_str(), "date_add" | "adddate") {
                "date_add"
            } else {
                "date_sub"
            };
            return date_arithmetic(name, date, interval, scope);
        }
        ("adddate" | "subdate", [date, days]) => {
            let date = bind_expr(date, scope)?;
            let days = bind_expr(days, scope)?;
            let name = if lower == "adddate" {
                "date_add"
            } else {
                "date_sub"
            };
            return make(name, vec![date, days, keyword("DAY")], scope);
        }
        ("add_months", [date, months]) => {
            let date = bind_expr(date, scope)?;
            let months = bind_expr(months, scope)?;
            return make("date_add", vec![date, months, keyword("MONTH")], scope);
        }
        ("add_months", _) => return Err(errors::parameter_count(&written)),
        ("mod", [left, right]) => {
            return bind_arithmetic(ArithmeticOp::Modulo, left, right, scope);
        }
        ("rownum", []) => {
            let number = scope.resolve_row_number()?;
            return make("rownum", vec![number], scope);
        }
        ("rownum", _) => return Err(errors::parameter_count(&written)),
        ("last_value", []) => return Err(errors::syntax_near(")")),
        _ => {}
    }
    let native = functions::find(&lower);
    if native.is_none()
        && let Some(function) = loadable_function(call, scope)?
    {
        return bind_loadable(&function, call, scope);
    }
    refuse_names(call, native.is_some())?;
    if native.is_none()
        && let Some(stored) = scope.find_stored_function(call)?
    {
        return match stored.is_aggregate {
            true => aggregate::bind_stored(stored, call, scope),
            false => {
                let args = args.iter().map(|arg| bind_expr(arg, scope));
                Ok(stored_function_call(stored, args.collect::<Result<_>>()?))
            }
        };
    }
    let is_extreme = matches!(lower.as_str(), "least" | "greatest") && args.len() > 1;
    let args = args
        .iter()
        .enumerate()
        .map(|(index, arg)| match functions::row_operation(&lower, index) {
            Some(operation) => bind_operand_of(operation, arg, scope),
            None if is_extreme => bind_operand(arg, scope),
            None => bind_expr(arg, scope),
        })
        .collect::<Result<Vec<_>>>()?;
    if is_extreme {
        check_compared(&lower, &args, scope)?;
    }
    make_written(native, &lower, &written, args, scope)
}

/// Returns the loadable function that a call means.
pub(super) fn loadable_function(
    call: &ast::FunctionCall,
    scope: &mut dyn Scope,
) -> Result<Option<Arc<NativeFunction>>> {
    match call.database {
        Some(_) => Ok(None),
        None => scope.session().services.functions.loadable_function(&call.name),
    }
}

/// Binds a call of a loadable function.
fn bind_loadable(
    function: &Arc<NativeFunction>,
    call: &ast::FunctionCall,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    if function.kind() == CallKind::Group {
        return aggregate::bind_loadable(function, call, scope);
    }
    let args = call.arguments.exprs().iter().map(|arg| bind_expr(arg, scope));
    let args = args.collect::<Result<Vec<_>>>()?;
    let bound = loadable::bind(function, argument_names(call), &args, scope.session())?;
    scope.depend_on(Dependence::Loadable);
    Ok(bound.into_expr(args))
}

/// Returns the names of a loadable function's arguments.
pub(super) fn argument_names(call: &ast::FunctionCall) -> Vec<String> {
    let count = call.arguments.exprs().len();
    (0..count).map(|index| call.argument_name(index)).collect()
}

/// Rejects names of arguments of a function that is no loadable one.
fn refuse_names(call: &ast::FunctionCall, is_native: bool) -> Result<()> {
    if !call.has_given_names() {
        return Ok(());
    }
    let code = match is_native {
        true => ER_WRONG_PARAMETERS_TO_NATIVE_FCT,
        false => ER_WRONG_PARAMETERS_TO_STORED_FCT,
    };
    Err(errors::error(code, &[&call.name]))
}

/// Returns 4078 if there is a row among the arguments of LEAST or GREATEST, which find their type from left to right.
fn check_compared(name: &str, args: &[Expr], scope: &mut dyn Scope) -> Result<()> {
    let Some(row) = args.iter().position(|arg| !operands::is_value(arg)) else {
        return Ok(());
    };
    let (left, right) = match row {
        0 => ("row", operands::type_name(&args[1])),
        1 => (operands::type_name(&args[0]), "row"),
        _ => (make(name, args[..row].to_vec(), scope)?.ty.type_name(), "row"),
    };
    Err(errors::illegal_types(left, right, name))
}

/// Binds a value of a sequence: a call with the sequence's database and name as arguments.
pub(super) fn sequence_value(value: &ast::SequenceValue, scope: &mut dyn Scope) -> Result<Expr> {
    let (database, name) = scope.resolve_sequence(value)?;
    let text = |text: String| Expr::literal(Value::Text(text), ExprType::null());
    let mut args = vec![text(database), text(name)];
    if let SequenceOperation::Set {
        value,
        is_used,
        round,
    } = value.operation
    {
        args.push(Expr::literal(Value::Int(value), ExprType::bigint(20)));
        args.push(Expr::literal(Value::Int(i64::from(is_used)), ExprType::bigint(1)));
        args.push(Expr::literal(Value::UInt(round), ExprType::bigint_unsigned(20)));
    }
    make(value.operation.name(), args, scope)
}

/// Returns whether a call means a function of the server, and not a stored one.
pub fn is_native_function(call: &ast::FunctionCall) -> bool {
    const SPECIAL: [&str; 6] = ["values", "default", "adddate", "subdate", "rownum", "last_value"];
    let lower = call.name.to_ascii_lowercase();
    call.database.is_none()
        && (call.over.is_some()
            || functions::find(&lower).is_some()
            || SPECIAL.contains(&lower.as_str())
            || aggregate::function_named(&lower, call).is_some())
}

fn name_of(expr: &ast::Expr) -> Result<&ColumnName> {
    match expr.without_parentheses() {
        ast::Expr::Column(name) => Ok(name),
        other => Err(errors::syntax_near(&other.to_string())),
    }
}

/// Returns a keyword as an argument.
pub(super) fn keyword(word: &str) -> Expr {
    Expr::literal(Value::Text(word.to_owned()), ExprType::null())
}

/// Binds `date ± INTERVAL value unit`.
pub(super) fn date_arithmetic(
    name: &str,
    date: Expr,
    interval: &ast::Interval,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    let amount = bind_expr(&interval.value, scope)?;
    make(name, vec![date, amount, keyword(interval.unit.name())], scope)
}

/// Returns a call of a native function with bound arguments.
pub(super) fn make(name: &str, args: Vec<Expr>, scope: &mut dyn Scope) -> Result<Expr> {
    make_written(functions::find(name), name, name, args, scope)
}

/// Like [`make`], with the function, and with its name as written for messages.
fn make_written(
    function: Option<&'static Function>,
    name: &str,
    written: &str,
    mut args: Vec<Expr>,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    let Some(function) = function else {
        return Err(unknown_function(name, written, scope.session()));
    };
    scope.depend_on(Dependence::Function(function));
    let session = scope.session();
    let (fewest, most) = function.arguments;
    if args.len() < fewest || args.len() > most {
        return Err(errors::parameter_count(written));
    }
    refusal::check_arguments(name, &args)?;
    read_arguments(name, &mut args, session);
    let mut call = BindCall {
        name,
        written,
        args,
        session,
        function,
        compared: None,
    };
    let ty = (function.bind)(&mut call)?;
    let ty = match function.makes_text {
        true => nullable_text(ty, session),
        false => ty,
    };
    let call = Call {
        function: call.function,
        args: call.args,
        id: unique_id(),
        compared: call.compared,
        stored: None,
        loadable: None,
    };
    Ok(Expr {
        kind: ExprKind::Call(Box::new(call)),
        ty,
    })
}

/// Returns 1305 for a function that is neither native nor stored.
#[cold]
fn unknown_function(name: &str, written: &str, session: &SessionContext) -> Error {
    match &session.database {
        Some(database) if !name.contains('.') => {
            let full = format!("{database}.{written}");
            errors::error(ER_SP_DOES_NOT_EXIST, &[&"FUNCTION", &full])
        }
        _ => errors::error(ER_SP_DOES_NOT_EXIST, &[&"FUNCTION", &written]),
    }
}

/// Returns the type of a text that is made by a function. In strict mode it is nullable: MariaDB's functions are NULL
/// if the bytes of the text are invalid.
pub(super) fn nullable_text(ty: ExprType, session: &SessionContext) -> ExprType {
    match ty.class() == Class::String && session.settings.sql_mode.is_strict() {
        true => ty.nullable(),
        false => ty,
    }
}

/// Selects the numeric or temporal form of the arguments that the function reads as such.
fn read_arguments(name: &str, args: &mut [Expr], session: &SessionContext) {
    // In `INTERVAL '1 2' DAY_HOUR` the amount is text.
    let composite =
        matches!(args.get(2).and_then(Expr::as_literal), Some(Value::Text(unit)) if unit.contains('_'));
    for (index, arg) in args.iter_mut().enumerate() {
        let number = match name {
            "date_add" | "date_sub" => index == 1 && !composite,
            _ => functions::reads_number(name, index),
        };
        if number {
            reading::read_as_number(arg);
        } else if functions::reads_temporal(name, index) {
            reading::read_as_temporal(arg, session);
            // A function that needs a whole date reads TIMEDIFF as NULL.
            if functions::wants_whole_date(name) && is_timediff(arg) {
                *arg = Expr::null();
            }
        }
    }
}

/// Returns whether the expression is TIMEDIFF, possibly cast to a date.
fn is_timediff(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Cast {
            target: CastTarget::Date | CastTarget::DateTime { .. },
            operand,
        } => is_timediff(operand),
        ExprKind::Call(call) => match (call.function.name, &call.args[..]) {
            ("timediff", _) => true,
            ("date" | "timestamp" | "last_day", [operand]) => is_timediff(operand),
            _ => false,
        },
        _ => false,
    }
}
