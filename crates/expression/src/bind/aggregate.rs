//! Aggregate functions: names, arguments, and types of the results.

use paceline_native_functions::NativeFunction;
use paceline_types::data_type::{IntegerType, IntegerWidth, Sign};
use paceline_types::error_code::ER_BAD_FIELD_ERROR;
use paceline_types::{Collation, DataType, FixedPoint, FloatType, Value};

use super::bind_expr;
use super::call::argument_names;
use crate::error::Result;
use crate::errors;
use crate::expr_type::{Class, Coercibility, ExprType, NOT_FIXED_DECIMALS};
use crate::function_id::StoredFunction;
use crate::loadable;
use crate::rules::CollationMix;
use crate::scope::{Dependence, Scope};
use crate::tree::window::SortOrder;
use crate::tree::{Aggregate, AggregateFunction, Distinctness, Expr};
use crate::typing::refusal;
use paceline_syntax::ast::{self, Arguments};
use std::sync::Arc;

pub(super) fn function_named(name: &str, call: &ast::FunctionCall) -> Option<AggregateFunction> {
    use AggregateFunction as A;
    Some(match name {
        "count" => match call.arguments {
            Arguments::Star => A::CountRows,
            _ => A::Count,
        },
        "sum" => A::Sum,
        "avg" => A::Avg,
        "min" => A::Min,
        "max" => A::Max,
        "group_concat" => A::GroupConcat,
        "bit_and" => A::BitAnd,
        "bit_or" => A::BitOr,
        "bit_xor" => A::BitXor,
        "std" | "stddev" | "stddev_pop" => A::StddevPop,
        "stddev_samp" => A::StddevSamp,
        "variance" | "var_pop" => A::VarPop,
        "var_samp" => A::VarSamp,
        "json_arrayagg" => A::JsonArrayAgg,
        "json_objectagg" => A::JsonObjectAgg,
        _ => return None,
    })
}

/// Binds a call of an aggregate and passes it to the scope.
pub(super) fn bind(kind: AggregateFunction, call: &ast::FunctionCall, scope: &mut dyn Scope) -> Result<Expr> {
    scope.enter_aggregate()?;
    let aggregate = bind_arguments(kind, call, scope)?;
    scope.exit_aggregate(aggregate)
}

/// Binds a call of a stored aggregate function and passes it to the scope.
pub(super) fn bind_stored(
    stored: StoredFunction,
    call: &ast::FunctionCall,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    scope.enter_aggregate()?;
    let args = call.arguments.exprs().iter().map(|arg| bind_expr(arg, scope));
    let args = args.collect::<Result<_>>()?;
    scope.exit_aggregate(Aggregate {
        function: AggregateFunction::Stored,
        distinct: Distinctness::All,
        args,
        order_by: Vec::new(),
        separator: "".into(),
        limit: None,
        ty: stored.ty,
        stored: Some(Box::new(stored.call)),
        loadable: None,
    })
}

/// Binds a call of a loadable aggregate function and passes it to the scope.
pub(super) fn bind_loadable(
    function: &Arc<NativeFunction>,
    call: &ast::FunctionCall,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    scope.enter_aggregate()?;
    let aggregate = loadable_arguments(function, call, scope)?;
    scope.exit_aggregate(aggregate)
}

/// Binds the arguments of a loadable aggregate function.
pub(super) fn loadable_arguments(
    function: &Arc<NativeFunction>,
    call: &ast::FunctionCall,
    scope: &mut dyn Scope,
) -> Result<Aggregate> {
    let args = call.arguments.exprs().iter().map(|arg| bind_expr(arg, scope));
    let args = args.collect::<Result<Vec<_>>>()?;
    let bound = loadable::bind(function, argument_names(call), &args, scope.session())?;
    scope.depend_on(Dependence::Loadable);
    Ok(Aggregate {
        function: AggregateFunction::Loadable,
        distinct: Distinctness::All,
        args,
        order_by: Vec::new(),
        separator: "".into(),
        limit: None,
        ty: bound.ty,
        stored: None,
        loadable: Some(bound.call),
    })
}

pub(super) fn bind_arguments(
    kind: AggregateFunction,
    call: &ast::FunctionCall,
    scope: &mut dyn Scope,
) -> Result<Aggregate> {
    let mut aggregate = Aggregate {
        function: kind,
        distinct: Distinctness::All,
        args: Vec::new(),
        order_by: Vec::new(),
        separator: ",".into(),
        limit: None,
        ty: ExprType::null(),
        stored: None,
        loadable: None,
    };
    if call.distinct {
        aggregate.distinct = Distinctness::Distinct;
    }
    if let Some(separator) = &call.separator {
        aggregate.separator = separator.as_str().into();
    }
    if let Some(limit) = &call.limit {
        let count = match bind_expr(limit, scope)?.as_literal() {
            Some(Value::Int(count)) => u64::try_from(*count).unwrap_or(0),
            _ => return Err(errors::not_supported("GROUP_CONCAT with a variable LIMIT")),
        };
        aggregate.limit = Some((0, count));
    }
    if kind != AggregateFunction::CountRows {
        for arg in call.arguments.exprs() {
            aggregate.args.push(bind_expr(arg, scope)?);
        }
        let fits = match kind {
            AggregateFunction::Count => {
                aggregate.args.len() == 1
                    || (!aggregate.args.is_empty() && aggregate.distinct == Distinctness::Distinct)
            }
            AggregateFunction::GroupConcat => !aggregate.args.is_empty(),
            AggregateFunction::JsonObjectAgg => aggregate.args.len() == 2,
            _ => aggregate.args.len() == 1,
        };
        if !fits {
            return Err(errors::syntax_near(&call.to_string()));
        }
    }
    aggregate.order_by = order_by(&call.order_by, &aggregate.args, scope)?;
    use AggregateFunction as A;
    for arg in &mut aggregate.args {
        refusal::check_aggregate(kind, aggregate.distinct, &arg.ty)?;
        match kind {
            // MIN and MAX compare.
            A::Min | A::Max => crate::typing::reading::read_leniently(arg),
            A::GroupConcat | A::JsonArrayAgg | A::Count => {}
            A::JsonObjectAgg => crate::typing::reading::hex_to_number(arg),
            // DISTINCT compares the texts.
            _ if aggregate.distinct == Distinctness::Distinct => crate::typing::reading::hex_to_number(arg),
            _ => crate::typing::reading::read_as_number(arg),
        }
    }
    aggregate.ty = result_type(&aggregate, scope)?;
    Ok(aggregate)
}

/// An integer is the number of an argument.
fn order_by(
    items: &[ast::OrderItem],
    args: &[Expr],
    scope: &mut dyn Scope,
) -> Result<Vec<(Expr, SortOrder)>> {
    let mut order = Vec::with_capacity(items.len());
    for item in items {
        let expr = match &item.expr {
            ast::Expr::Literal(ast::Literal::Number(place))
                if place.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                place
                    .parse()
                    .ok()
                    .and_then(|place: usize| args.get(place.checked_sub(1)?))
                    .cloned()
                    .ok_or_else(|| errors::error(ER_BAD_FIELD_ERROR, &[place, &"ORDER BY"]))?
            }
            expr => bind_expr(expr, scope)?,
        };
        order.push((expr, item.order));
    }
    Ok(order)
}

/// Returns the type of one of an argument's values: the smallest, the largest, the previous one.
pub(super) fn extreme_type(argument: &ExprType) -> ExprType {
    let ty = argument.clone().nullable();
    match &ty.data_type {
        DataType::Enum { collation, .. } | DataType::Set { collation, .. } => {
            ExprType::text(ty.max_characters(), *collation)
                .with_coercibility(ty.coercibility)
                .nullable()
        }
        DataType::Year => ty.with_coercibility(Coercibility::Numeric),
        _ => ty,
    }
}

fn result_type(aggregate: &Aggregate, scope: &mut dyn Scope) -> Result<ExprType> {
    use AggregateFunction as A;
    let argument = aggregate.args.first().map(|arg| &arg.ty);
    let increment = u32::from(scope.session().settings.div_precision_increment);
    let bigint = |sign| {
        ExprType::new(DataType::Integer(IntegerType {
            display_width: 21,
            ..IntegerType::new(IntegerWidth::Big, sign)
        }))
    };
    let decimals = |ty: &ExprType| match ty.class() {
        Class::String => 0,
        _ => ty.decimals(),
    };
    let numeric = |ty: &ExprType| match ty.class() {
        // ENUM and SET values count as their numbers.
        Class::String => matches!(ty.data_type, DataType::Enum { .. } | DataType::Set { .. }),
        Class::Int | Class::Decimal | Class::Date => true,
        Class::Time | Class::DateTime => true,
        Class::Double | Class::Null | Class::FixedBinary(_) => false,
    };
    Ok(match aggregate.function {
        A::CountRows | A::Count => bigint(Sign::Signed),
        A::Sum => match argument {
            Some(ty) if numeric(ty) => {
                let scale = u32::from(decimals(ty));
                ExprType::decimal(ty.integer_digits() + scale + 22, scale)
            }
            Some(ty) if ty.class() == Class::Double => ExprType::double_with(ty.decimals()),
            _ => ExprType::double(),
        }
        .nullable(),
        A::Avg => match argument {
            Some(ty) if numeric(ty) => {
                let scale = (u32::from(decimals(ty)) + increment).min(38);
                ExprType::decimal(ty.integer_digits() + u32::from(decimals(ty)) + increment, scale)
            }
            Some(ty) if ty.class() == Class::Double && ty.decimals() < NOT_FIXED_DECIMALS => {
                ExprType::double_with(ty.decimals() + increment as u8)
            }
            _ => ExprType::double(),
        }
        .nullable(),
        A::Min | A::Max => argument.map_or_else(|| ExprType::null().nullable(), extreme_type),
        A::BitAnd | A::BitOr | A::BitXor => bigint(Sign::Unsigned),
        A::StddevPop | A::StddevSamp | A::VarPop | A::VarSamp => match argument {
            Some(ty) if numeric(ty) || ty.decimals() < NOT_FIXED_DECIMALS => {
                let scale = (u32::from(decimals(ty)) + increment).min(30) as u8;
                let fixed = Some(FixedPoint {
                    precision: 22 + scale,
                    scale,
                });
                ExprType::new(DataType::Double(FloatType {
                    fixed,
                    ..FloatType::default()
                }))
            }
            _ => ExprType::double(),
        }
        .nullable(),
        A::GroupConcat => {
            let types: Vec<&ExprType> = aggregate.args.iter().map(|arg| &arg.ty).collect();
            let settings = &scope.session().settings;
            let (collation, coercibility) =
                CollationMix::of(&types, settings.collation_connection, "group_concat")?;
            let bytes = settings.group_concat_max_len as u64;
            let characters = bytes / u64::from(collation.charset().max_bytes_per_character());
            ExprType::text(characters, collation)
                .with_coercibility(coercibility)
                .nullable()
        }
        // It has the type of the function.
        A::Stored | A::Loadable => aggregate.ty.clone(),
        A::JsonArrayAgg | A::JsonObjectAgg => {
            ExprType::text(4_294_967_295 / 4, Collation::Utf8mb4GeneralCi).nullable()
        }
    })
}
