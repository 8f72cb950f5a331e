//! Functions that choose among their arguments: IF, IFNULL, NULLIF, COALESCE, GREATEST, LEAST, INTERVAL, FIELD's kin.

use std::cmp::Ordering;

use paceline_types::{Collation, DataType, Value};

use super::arguments::{Args, BindCall};
use super::{Function, MANY, pure, steady};
use crate::error::Result;
use crate::expr::bind::{
    as_compared, common_type_in, comparison_rule, read_as_number, round_quotient, unquote_json,
};
use crate::expr::context::EvalContext;
use crate::expr::eval::{compare_values, compare_with};
use crate::expr::expr_type::{Class, ExprType};
use crate::expr::tree::{CompareOp, Comparison, ExprKind};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("if", (3, 3), bind_if, eval_if),
    pure("ifnull", (2, 2), bind_ifnull, eval_coalesce),
    pure("nvl", (2, 2), bind_ifnull, eval_coalesce),
    pure("nvl2", (3, 3), bind_if, eval_nvl2),
    pure("nullif", (2, 2), bind_nullif, eval_nullif),
    pure("coalesce", (1, MANY), bind_coalesce, eval_coalesce),
    pure("greatest", (2, MANY), bind_extreme, |args, context| {
        extreme(args, context, Ordering::Greater)
    }),
    pure("least", (2, MANY), bind_extreme, |args, context| {
        extreme(args, context, Ordering::Less)
    }),
    pure("isnull", (1, 1), |_| Ok(ExprType::boolean()), eval_isnull),
    pure("interval", (2, MANY), |_| Ok(ExprType::int(2)), eval_interval),
    steady(
        "name_const",
        (2, 2),
        |call| Ok(call.args[1].ty.clone()),
        |args, context| args.value(1, context).map(std::borrow::Cow::into_owned),
    ),
];

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

fn bind_ifnull(call: &mut BindCall<'_>) -> Result<ExprType> {
    let nullable = call.args.iter().all(|arg| arg.ty.nullable);
    Ok(call.common_type(0, "ifnull")?.with_nullable(nullable))
}

fn bind_coalesce(call: &mut BindCall<'_>) -> Result<ExprType> {
    let nullable = call.args.iter().all(|arg| arg.ty.nullable);
    Ok(call.common_type(0, "coalesce")?.with_nullable(nullable))
}

fn eval_coalesce(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    for index in 0..args.len() {
        if !args.value(index, context)?.is_null() {
            return choose(args, index, context);
        }
    }
    Ok(Value::Null)
}

fn bind_nullif(call: &mut BindCall<'_>) -> Result<ExprType> {
    let by = comparison_rule(&call.args[0].ty, &call.args[1].ty, call.connection())?;
    let mut ty = call.args[0].ty.clone().nullable();
    if let DataType::Text { collation, .. } = ty.data_type {
        ty.data_type = ExprType::long_text(ty.max_characters(), collation).data_type;
    }
    // What is compared is not what is returned.
    let mut compared = call.args[0].clone();
    match by {
        Comparison::Int | Comparison::Decimal | Comparison::Double => {
            read_as_number(&mut compared);
            read_as_number(&mut call.args[1]);
        }
        _ => unquote_json(&by, &mut compared, &mut call.args[1], call.session),
    }
    let charset = compared.ty.charset();
    as_compared(&mut compared, &by, call.session);
    as_compared(&mut call.args[1], &by, call.session);
    let converted = compared.ty.charset() != charset;
    let rounded = round_quotient(&by, &mut compared);
    round_quotient(&by, &mut call.args[1]);
    let read_otherwise =
        matches!(&call.args[0].kind, ExprKind::Call(returned) if returned.function.as_compared.is_some());
    if converted || rounded || read_otherwise {
        call.args.push(compared);
    }
    Ok(ty)
}

fn eval_nullif(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let left = args.value(0, context)?;
    let right = args.value(1, context)?;
    let connection = context.session.settings.collation_connection;
    let by = comparison_rule(args.ty_of(0), args.ty_of(1), connection)?;
    let equal = if args.len() > 2 {
        let compared = args.value(2, context)?;
        compare_with(CompareOp::Eq, &by, &compared, &right, context)?
    } else {
        compare_with(CompareOp::Eq, &by, &left, &right, context)?
    };
    if equal == Some(true) {
        return Ok(Value::Null);
    }
    Ok(left.into_owned())
}

fn bind_extreme(call: &mut BindCall<'_>) -> Result<ExprType> {
    let classes = || call.args.iter().map(|arg| arg.ty.class());
    if classes().any(|class| matches!(class, Class::Int | Class::Decimal | Class::Double))
        && !classes().any(Class::is_temporal)
    {
        call.args.iter_mut().for_each(read_as_number);
    }
    let all = types(call, 0);
    let temporal: Vec<&ExprType> = all
        .iter()
        .copied()
        .filter(|ty| ty.class().is_temporal())
        .collect();
    let texts = all
        .iter()
        .filter(|ty| ty.class() == Class::String && !ty.is_parameter())
        .count();
    let ty = if !temporal.is_empty() {
        // Texts beside dates are read as dates.
        common_type_in(&temporal, call.connection(), call.name)?
    } else if texts > 0 && texts < all.iter().filter(|ty| !ty.is_null()).count() {
        ExprType::double()
    } else {
        common_type_in(&all, call.connection(), call.name)?
    };
    Ok(call.with_nullability(ty))
}

/// GREATEST and LEAST: NULL if any argument is; compared in the common type, in which the result is returned.
fn extreme(args: &Args<'_>, context: &mut EvalContext<'_>, wanted: Ordering) -> Result<Value> {
    let by = match args.ty.class() {
        Class::Int => Comparison::Int,
        Class::Decimal => Comparison::Decimal,
        Class::Double => Comparison::Double,
        Class::Date | Class::DateTime => Comparison::DateTime,
        Class::Time => Comparison::Time,
        Class::String | Class::Null => match args.ty.collation() {
            Collation::Binary => Comparison::Bytes,
            collation => Comparison::Text(collation),
        },
    };
    let mut best: Option<Value> = None;
    for index in 0..args.len() {
        let value = choose(args, index, context)?;
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

fn eval_isnull(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(Value::Int(i64::from(args.value(0, context)?.is_null())))
}

/// INTERVAL(n, a, b, …): how many of the increasing numbers are at most n; -1 for NULL.
fn eval_interval(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let Some(needle) = args.double(0, context)? else {
        return Ok(Value::Int(-1));
    };
    let mut count = 0;
    for index in 1..args.len() {
        match args.double(index, context)? {
            Some(bound) if bound > needle => break,
            _ => count = index,
        }
    }
    Ok(Value::Int(count as i64))
}
