//! Functions that select an argument: IF, IFNULL, NULLIF, COALESCE, GREATEST, LEAST, INTERVAL, and related functions.

use std::cmp::Ordering;

use paceline_types::{Collation, DataType, Value};

use super::temporal_fraction::{ReadAs, shown_decimals, text_fraction, value_fraction};
use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::convert::{self, as_computed};
use crate::eval::{compare_values, compare_with, convert_for, read_operand};
use crate::expr_type::{Class, Coercibility, ExprType, NOT_FIXED_DECIMALS};
use crate::rules::{
    CollationMix, common_type_in, compared_charset, comparison_rule_for, is_exact_quotient, round_quotient,
};
use crate::tree::{
    Args, BindCall, CompareOp, Comparison, Expr, ExprKind, Function, MANY, Reading, pure, steady,
};
use crate::typing::adaptation::reads_text;
use crate::typing::adaptation::{
    compare_exactly, literal_to_column, literal_to_fixed_binary, literal_to_number, unquote_json,
};
use crate::typing::charset::as_compared;
use crate::typing::comparison::{compare_fixed, fixed_decimals};
use crate::typing::reading::{read_as_number, read_as_temporal, read_leniently};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("if", (3, 3), bind_if, eval_if).without_own_text(),
    pure("ifnull", (2, 2), bind_ifnull, eval_coalesce).without_own_text(),
    pure("nvl", (2, 2), bind_ifnull, eval_coalesce).without_own_text(),
    pure("nvl2", (3, 3), bind_if, eval_nvl2).without_own_text(),
    pure("nullif", (2, 2), bind_nullif, eval_nullif).without_own_text(),
    pure("coalesce", (1, MANY), bind_coalesce, eval_coalesce).without_own_text(),
    pure("greatest", (2, MANY), bind_extreme, eval_greatest).without_own_text(),
    pure("least", (2, MANY), bind_extreme, eval_least).without_own_text(),
    pure("isnull", (1, 1), |_| Ok(ExprType::boolean()), eval_isnull),
    pure("interval", (2, MANY), |_| Ok(ExprType::int(2)), eval_interval),
    pure(
        "last_value",
        (1, MANY),
        |call| Ok(call.args[call.args.len() - 1].ty.clone()),
        eval_last_value,
    )
    .without_own_text(),
    steady(
        "name_const",
        (2, 2),
        |call| {
            // It stands for a variable of a program, so its collation yields to a column's as a variable's does.
            let value = call.args[1].ty.clone().nullable();
            Ok(match value.class() {
                Class::String | Class::Null => value.with_coercibility(Coercibility::Implicit),
                _ => value,
            })
        },
        |args, context| args.value(1, context).map(std::borrow::Cow::into_owned),
    )
    .without_own_text(),
];

/// GREATEST of texts. As a number it is the greatest of their numbers.
static GREATEST_OF_TEXTS: Function = Function {
    as_number: Some(&GREATEST_NUMBER),
    ..pure("greatest", (2, MANY), bind_extreme, eval_greatest)
};
static GREATEST_NUMBER: Function = pure("greatest", (2, MANY), bind_extreme, |args, context| {
    extreme_number(args, context, f64::max)
});
/// LEAST of texts, like [`GREATEST_OF_TEXTS`].
static LEAST_OF_TEXTS: Function = Function {
    as_number: Some(&LEAST_NUMBER),
    ..pure("least", (2, MANY), bind_extreme, eval_least)
};
static LEAST_NUMBER: Function = pure("least", (2, MANY), bind_extreme, |args, context| {
    extreme_number(args, context, f64::min)
});

fn eval_greatest(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    extreme(args, context, Ordering::Greater)
}

fn eval_least(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    extreme(args, context, Ordering::Less)
}

/// Returns the greatest or least of the texts' numbers.
fn extreme_number(
    args: &Args<'_>,
    context: &mut EvalContext<'_>,
    better: fn(f64, f64) -> f64,
) -> Result<Value> {
    let mut best: Option<f64> = None;
    for index in 0..args.len() {
        let Some(number) = args.double(index, context)? else {
            return Ok(Value::Null);
        };
        best = Some(best.map_or(number, |best| better(best, number)));
    }
    Ok(best.map_or(Value::Null, Value::Double))
}

fn types<'b>(call: &'b BindCall<'_>, from: usize) -> Vec<&'b ExprType> {
    call.args[from..].iter().map(|arg| &arg.ty).collect()
}

fn bind_if(call: &mut BindCall<'_>) -> Result<ExprType> {
    call.common_type(1, "if")
}

fn eval_if(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let chosen = if args.truth(0, context)? == Some(true) {
        1
    } else {
        2
    };
    choose(args, chosen, context)
}

fn eval_nvl2(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let chosen = if args.value(0, context)?.is_null() { 2 } else { 1 };
    choose(args, chosen, context)
}

fn choose(args: &Args<'_>, index: usize, context: &mut EvalContext<'_>) -> Result<Value> {
    args.call.args[index]
        .eval_as(args.ty, &args.frame, context)
        .map(std::borrow::Cow::into_owned)
}

/// Evaluates all arguments, for what they do: they assign variables.
fn eval_last_value(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let last = args.len() - 1;
    for index in 0..last {
        args.value(index, context)?;
    }
    choose(args, last, context)
}

fn bind_ifnull(call: &mut BindCall<'_>) -> Result<ExprType> {
    call.type_of_first_value("ifnull")
}

fn bind_coalesce(call: &mut BindCall<'_>) -> Result<ExprType> {
    call.type_of_first_value("coalesce")
}

fn eval_coalesce(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    // Evaluate each argument once. Twice would be 2ⁿ times for the innermost of n nested calls.
    for branch in args.call.args.iter() {
        let value = branch.eval_branch(args.ty, &args.frame, context)?;
        if !value.is_null() {
            let converted = branch.converted_as(value, args.ty, context)?;
            // A text that is no UUID counts as NULL.
            if converted.is_null() && matches!(args.ty.class(), Class::FixedBinary(_)) {
                continue;
            }
            return Ok(converted.into_owned());
        }
    }
    Ok(Value::Null)
}

fn bind_nullif(call: &mut BindCall<'_>) -> Result<ExprType> {
    // As in `=`, a constant is read as the column beside it, which may be on either side.
    let mut constant = None;
    if let [subject, other] = &mut call.args[..]
        && !literal_to_column(subject, other, call.session)
        && subject.as_literal().is_some()
    {
        let mut compared = subject.clone();
        if literal_to_column(other, &mut compared, call.session) {
            constant = compared.as_literal().cloned();
        }
    }
    let mut by = comparison_rule_for("nullif", &call.args[0].ty, &call.args[1].ty, call.connection())?;
    if let Comparison::Text(collation) = &by {
        let args: Vec<&Expr> = call.args.iter().collect();
        CollationMix::check_literals(&args, *collation, call.connection(), "nullif")?;
    }
    let of_types = by.clone();
    compare_exactly(&mut by, &call.args[0], &call.args[1]);
    if by != of_types {
        literal_to_number(&by, &mut call.args[1]);
    }
    if constant.is_some() {
        by = Comparison::Int;
    }
    let mut ty = call.args[0].ty.clone().nullable();
    ty.data_type = match ty.data_type {
        DataType::Text { collation, .. } => ExprType::long_text(ty.max_characters(), collation).data_type,
        DataType::Enum { collation, .. } | DataType::Set { collation, .. } => {
            ExprType::text(call.args[0].ty.max_characters(), collation).data_type
        }
        same => same,
    };
    // The compared form of the first argument may differ from the returned form.
    let [subject, other] = &mut call.args[..] else {
        return Ok(ty);
    };
    if let Comparison::FixedBinary(t) = by {
        literal_to_fixed_binary(other, t);
    }
    if matches!(by, Comparison::DateTime | Comparison::Time) {
        read_as_temporal(other, call.session);
        read_leniently(other);
    }
    let mut reading = Reading::default();
    match (&subject.kind, by.is_numeric()) {
        (ExprKind::Call(subject), true) if by == Comparison::Decimal => {
            let function = subject.decimal_function();
            reading.function = (!std::ptr::eq(function, subject.function)).then_some(function);
        }
        (ExprKind::Call(subject), true) if subject.has_number_function() => {
            reading.function = Some(subject.number_function());
        }
        (ExprKind::Call(subject), false) if reads_text(&by) => {
            reading.function = subject.function.as_compared
        }
        _ => {}
    }
    if by.is_numeric() {
        read_as_number(other);
    } else if reading.function.is_none() {
        unquote_json(&by, &mut Expr::null(), other, call.session);
    }
    reading.target = compared_charset(&subject.ty, &by);
    as_compared(other, &by, call.session);
    reading.is_rounded = is_exact_quotient(&by, subject);
    round_quotient(&by, other);
    reading.constant = constant;
    call.compared = (!reading.is_plain()).then(|| Box::new(reading));
    Ok(ty)
}

fn eval_nullif(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    // Evaluate the first argument once. Twice would be 2ⁿ times for the innermost of n nested calls.
    let subject = &args.call.args[0];
    let (returned, compared) = match &args.call.compared {
        None => (args.value(0, context)?, None),
        Some(reading) => {
            let (returned, compared) = reading.values(subject, &args.frame, context)?;
            (returned, Some(compared))
        }
    };
    let compared = compared.as_ref().unwrap_or(&returned);
    if compared.is_null() {
        return Ok(as_computed(returned).into_owned());
    }
    let right = args.value(1, context)?;
    let connection = context.session.settings.collation_connection;
    let mut by = match &args.call.compared {
        Some(reading) if reading.constant.is_some() => Comparison::Int,
        _ => comparison_rule_for("nullif", args.ty_of(0), args.ty_of(1), connection)?,
    };
    let decimals = fixed_decimals(&by, args.ty_of(0), args.ty_of(1));
    compare_fixed(&mut by, decimals);
    let compared = read_operand(&by, subject, std::borrow::Cow::Borrowed(&**compared), context)?;
    let right = read_operand(&by, &args.call.args[1], right, context)?;
    if right.is_null() {
        convert_for(&by, &compared, context)?;
    }
    if compare_with(CompareOp::Eq, &by, &compared, &right, context)? == Some(true) {
        return Ok(Value::Null);
    }
    Ok(as_computed(returned).into_owned())
}

fn bind_extreme(call: &mut BindCall<'_>) -> Result<ExprType> {
    let classes = || call.args.iter().map(|arg| arg.ty.class());
    let has_numbers = classes().any(|class| matches!(class, Class::Int | Class::Decimal | Class::Double));
    let has_days = classes().any(|class| matches!(class, Class::Date | Class::DateTime));
    let classes_are_temporal = classes().any(Class::is_temporal);
    if has_numbers && !classes_are_temporal {
        call.args.iter_mut().for_each(read_as_number);
    }
    if has_days {
        call.args.iter_mut().for_each(read_leniently);
    }
    if classes_are_temporal {
        let session = call.session;
        call.args
            .iter_mut()
            .for_each(|arg| read_as_temporal(arg, session));
    }
    let all = types(call, 0);
    let temporal: Vec<&ExprType> = all
        .iter()
        .copied()
        .filter(|ty| ty.class().is_temporal())
        .collect();
    // NULL is a text among numbers.
    let texts = all
        .iter()
        .filter(|ty| ty.is_null() || ty.class() == Class::String && !ty.is_parameter())
        .count();
    let has_fixed_binary = all.iter().any(|ty| matches!(ty.class(), Class::FixedBinary(_)));
    let ty = if !temporal.is_empty() && !has_fixed_binary {
        // With dates among them, texts and numbers are read as dates. The result is a TIMESTAMP only if all arguments
        // are.
        let ty = common_type_in(&temporal, call.connection(), call.name)?;
        let fraction = |arg: &Expr| match &arg.kind {
            _ if arg.ty.is_null() => 0,
            ExprKind::Literal(Value::Text(text)) if matches!(ty.data_type, DataType::Time { .. }) => {
                text_fraction(text, ReadAs::Time, call.session.settings.date_modes())
            }
            _ => value_fraction(arg),
        };
        let decimals = call.args.iter().map(fraction).max().unwrap_or(0);
        match ty.data_type {
            DataType::Timestamp { .. } if temporal.len() == all.len() => ty,
            DataType::Timestamp { .. } | DataType::DateTime { .. } => ExprType::datetime(decimals),
            DataType::Time { .. } => ExprType::time(decimals),
            _ => ty,
        }
    } else if has_fixed_binary {
        call.common_type(0, call.name)?
    } else if texts > 0 && has_numbers {
        let decimals = call.args.iter().map(shown_decimals);
        ExprType::double_with(decimals.max().unwrap_or(NOT_FIXED_DECIMALS))
    } else {
        call.common_type(0, call.name)?
    };
    if ty.class() == Class::String && !ty.is_parameter() {
        call.function = match call.name {
            "greatest" => &GREATEST_OF_TEXTS,
            _ => &LEAST_OF_TEXTS,
        };
    }
    Ok(call.with_nullability(ty))
}

/// Computes GREATEST and LEAST: NULL if any argument is NULL. The arguments are compared and returned in the common
/// type.
fn extreme(args: &Args<'_>, context: &mut EvalContext<'_>, wanted: Ordering) -> Result<Value> {
    let by = match args.ty.class() {
        Class::Int => Comparison::Int,
        Class::Decimal => Comparison::Decimal,
        Class::Double => Comparison::Double,
        Class::Date | Class::DateTime => Comparison::DateTime,
        Class::Time => Comparison::Time,
        Class::FixedBinary(t) => Comparison::FixedBinary(t),
        Class::String | Class::Null => match args.ty.collation() {
            Collation::Binary => Comparison::Bytes,
            collation => Comparison::Text(collation),
        },
    };
    let mut best: Option<Value> = None;
    for index in 0..args.len() {
        let value = match args.ty.class() {
            Class::Date | Class::DateTime => day_choice(args, index, context)?,
            _ => choose(args, index, context)?,
        };
        if value.is_null() {
            return Ok(Value::Null);
        }
        let better = match &best {
            None => true,
            Some(best) => compare_values(&by, &value, best, context)? == Some(wanted),
        };
        if better {
            best = Some(value);
        }
    }
    Ok(best.unwrap_or_default())
}

/// Evaluates an argument as a date or datetime. A value that is neither compares as zero.
fn day_choice(args: &Args<'_>, index: usize, context: &mut EvalContext<'_>) -> Result<Value> {
    let value = args.value(index, context)?;
    if matches!(args.ty.data_type, DataType::Timestamp { .. }) {
        return Ok(value.into_owned());
    }
    let read = context.convert_operand(&args.call.args[index], |context| {
        convert::to_datetime_for_comparison(&value, context)
    })?;
    let Some(datetime) = read else {
        return Ok(Value::Null);
    };
    Ok(match &args.ty.data_type {
        DataType::Date => Value::Date(datetime.date),
        data_type => Value::DateTime(datetime.truncated(data_type.decimals())),
    })
}

fn eval_isnull(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(Value::Int(i64::from(args.value(0, context)?.is_null())))
}

/// Computes INTERVAL(n, a, b, …): the number of values that are at most n in an ascending list; -1 for NULL. Integers
/// and decimals are compared exactly.
fn eval_interval(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let is_exact = |index: usize| matches!(args.ty_of(index).class(), Class::Int | Class::Decimal);
    let needle = args.value(0, context)?;
    if needle.is_null() {
        return Ok(Value::Int(-1));
    }
    let exact = match is_exact(0) {
        true => Some(convert::to_decimal(&needle, context)?),
        false => None,
    };
    let needle = convert::to_double(&needle, context)?;
    let mut count = 0;
    for index in 1..args.len() {
        let bound = args.value(index, context)?;
        let is_above = match exact {
            _ if bound.is_null() => false,
            Some(needle) if is_exact(index) => convert::to_decimal(&bound, context)? > needle,
            _ => convert::to_double(&bound, context)? > needle,
        };
        if is_above {
            break;
        }
        count = index;
    }
    Ok(Value::Int(count as i64))
}
