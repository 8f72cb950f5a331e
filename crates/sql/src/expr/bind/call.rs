//! Function calls: native functions by the table, and those whose arguments are not all expressions.

use crate::expr::cast::CastTarget;
use paceline_types::Value;
use paceline_types::error_code::ER_SP_DOES_NOT_EXIST;
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};

use super::names::column_name;
use super::{aggregate, bind_expr, operators, window};
use crate::error::Result;
use crate::expr::errors;
use crate::expr::expr_type::ExprType;
use crate::expr::functions::{self, BindCall, Call};
use crate::expr::scope::{Scope, unique_id};
use crate::expr::tree::{ArithmeticOp, Expr, ExprKind};
use crate::session::SessionContext;

/// The unnamed expression arguments of a call.
pub(super) fn expressions(function: &ast::Function) -> Result<Vec<&ast::Expr>> {
    match &function.args {
        FunctionArguments::None => Ok(Vec::new()),
        FunctionArguments::List(list) => list
            .args
            .iter()
            .map(|arg| match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Ok(expr),
                other => Err(errors::syntax_near(&other.to_string())),
            })
            .collect(),
        FunctionArguments::Subquery(query) => Err(errors::syntax_near(&query.to_string())),
    }
}

/// Binds a call.
pub(super) fn function(function: &ast::Function, scope: &mut dyn Scope) -> Result<Expr> {
    let written = function.name.to_string();
    let lower = written.trim_matches(['`', '"']).to_ascii_lowercase();
    if let Some(over) = &function.over {
        return window::bind(&lower, function, over, scope);
    }
    if let Some(kind) = aggregate::function_named(&lower, function) {
        return aggregate::bind(kind, function, scope);
    }
    let args = expressions(function)?;
    match (lower.as_str(), &args[..]) {
        ("values", [column]) => {
            let name = name_of(column)?;
            return scope.resolve_values(&column_name(&name)?);
        }
        ("default", [column]) => {
            let name = name_of(column)?;
            return scope.resolve_default(Some(&column_name(&name)?));
        }
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
        ("timestampadd", [unit, amount, date]) => {
            let amount = bind_expr(amount, scope)?;
            let date = bind_expr(date, scope)?;
            return make("date_add", vec![date, amount, keyword(&unit_name(unit))], scope);
        }
        ("timestampdiff", [unit, from, to]) => {
            let from = bind_expr(from, scope)?;
            let to = bind_expr(to, scope)?;
            return make("timestampdiff", vec![keyword(&unit_name(unit)), from, to], scope);
        }
        ("get_format", [kind, region]) => {
            let region = bind_expr(region, scope)?;
            return make("get_format", vec![keyword(&unit_name(kind)), region], scope);
        }
        ("mod", [left, right]) => {
            let source = format!("({left} MOD {right})");
            let left = bind_expr(left, scope)?;
            let right = bind_expr(right, scope)?;
            return operators::arithmetic(ArithmeticOp::Modulo, left, right, &source, scope.session());
        }
        ("nextval" | "lastval" | "setval", _) => return Err(errors::not_supported("SEQUENCE")),
        _ => {}
    }
    let args = args
        .into_iter()
        .map(|arg| bind_expr(arg, scope))
        .collect::<Result<Vec<_>>>()?;
    make_written(&lower, &written, args, scope)
}

fn name_of(expr: &ast::Expr) -> Result<Vec<ast::Ident>> {
    match expr {
        ast::Expr::Identifier(name) => Ok(vec![name.clone()]),
        ast::Expr::CompoundIdentifier(parts) => Ok(parts.clone()),
        ast::Expr::Nested(inner) => name_of(inner),
        other => Err(errors::syntax_near(&other.to_string())),
    }
}

fn unit_name(expr: &ast::Expr) -> String {
    match expr {
        ast::Expr::Identifier(name) => name.value.to_ascii_uppercase(),
        other => other.to_string().to_ascii_uppercase(),
    }
}

/// A word among the arguments.
pub(super) fn keyword(word: &str) -> Expr {
    Expr::literal(Value::Text(word.to_owned()), ExprType::null())
}

/// `date ± INTERVAL value unit`.
pub(super) fn date_arithmetic(
    name: &str,
    date: Expr,
    interval: &ast::Interval,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    let amount = bind_expr(&interval.value, scope)?;
    let unit = interval
        .leading_field
        .as_ref()
        .map_or_else(String::new, ToString::to_string)
        .to_ascii_uppercase();
    make(name, vec![date, amount, keyword(&unit)], scope)
}

/// A call of a native function with bound arguments.
pub(super) fn make(name: &str, args: Vec<Expr>, scope: &mut dyn Scope) -> Result<Expr> {
    make_written(name, name, args, scope)
}

/// The same; messages call it as it was written.
fn make_written(name: &str, written: &str, mut args: Vec<Expr>, scope: &mut dyn Scope) -> Result<Expr> {
    let session = scope.session();
    let Some(function) = functions::find(name) else {
        if name.contains('.') {
            return Err(errors::error(ER_SP_DOES_NOT_EXIST, &[&"FUNCTION", &written]));
        }
        return Err(match &session.database {
            Some(database) => errors::error(
                ER_SP_DOES_NOT_EXIST,
                &[&"FUNCTION", &format!("{database}.{written}")],
            ),
            None => errors::error(ER_SP_DOES_NOT_EXIST, &[&"FUNCTION", &written]),
        });
    };
    let (fewest, most) = function.arguments;
    if args.len() < fewest || args.len() > most {
        return Err(errors::parameter_count(written));
    }
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
    let call = Call {
        function: call.function,
        args: call.args,
        id: unique_id(),
        compared: call.compared,
    };
    Ok(Expr {
        kind: ExprKind::Call(Box::new(call)),
        ty,
    })
}

/// Makes numbers, dates and times of the arguments that are read as such.
fn read_arguments(name: &str, args: &mut [Expr], session: &SessionContext) {
    // The amount of `INTERVAL '1 2' DAY_HOUR` is a text.
    let composite =
        matches!(args.get(2).and_then(Expr::as_literal), Some(Value::Text(unit)) if unit.contains('_'));
    for (index, arg) in args.iter_mut().enumerate() {
        let number = match name {
            "date_add" | "date_sub" => index == 1 && !composite,
            _ => functions::reads_number(name, index),
        };
        if number {
            operators::read_as_number(arg);
        } else if functions::reads_temporal(name, index) {
            operators::read_as_temporal(arg, session);
            // TIMEDIFF is NULL to what wants a whole date.
            if functions::wants_whole_date(name) && is_timediff(arg) {
                *arg = Expr::null();
            }
        }
    }
}

/// Whether it is TIMEDIFF, or that as a date.
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
