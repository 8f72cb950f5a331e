//! Window functions: arguments and types of the results.

use paceline_native_functions::CallKind;
use paceline_types::data_type::IntegerWidth;
use paceline_types::error_code::{ER_WRONG_TYPE_FOR_PERCENTILE_FUNC, ER_WRONG_TYPE_OF_ARGUMENT};
use paceline_types::{DataType, FixedPoint, FloatType};

use super::aggregate::{bind_arguments, extreme_type, function_named, loadable_arguments};
use super::bind_expr;
use super::call::loadable_function;
use crate::error::Result;
use crate::errors;
use crate::expr_type::{Class, ExprType, NOT_FIXED_DECIMALS, TypeNote};
use crate::scope::Scope;
use crate::tree::window::{WindowCall, WindowFunction};
use crate::tree::{Aggregate, AggregateFunction, Distinctness, Expr, ExprKind};
use paceline_syntax::ast;

/// Binds `name(…) OVER …`.
///
/// # Errors
/// 4015, 4074, 4009, 4017, 4018 from the scope; 1235 for functions that MariaDB does not support over
/// windows; 4101, 4104 for types.
pub(super) fn bind(
    name: &str,
    call: &ast::FunctionCall,
    over: &ast::Over,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    // A call of the general form, such as `row_number`() with the quotes, is none of the functions below.
    if call.over_refusal.is_some() {
        return bind_loadable(call, over, scope);
    }
    if let Some(kind) = function_named(name, call) {
        scope.enter_window(None, over)?;
        let aggregate = bind_arguments(kind, call, scope)?;
        refuse(&aggregate)?;
        let ty = aggregate.ty.clone();
        return scope.exit_window(WindowCall {
            args: aggregate.args.clone(),
            function: WindowFunction::Aggregate(Box::new(aggregate)),
            over: over.clone(),
            within: None,
            ty,
        });
    }
    let Some(kind) = WindowFunction::named(name) else {
        return bind_loadable(call, over, scope);
    };
    scope.enter_window(Some(&kind), over)?;
    let mut args = call
        .arguments
        .exprs()
        .iter()
        .map(|arg| bind_expr(arg, scope))
        .collect::<Result<Vec<_>>>()?;
    let within = match &call.within_group {
        Some(item) => Some((bind_expr(&item.expr, scope)?, item.order)),
        None => None,
    };
    if matches!(kind, WindowFunction::Lag | WindowFunction::Lead) && args.len() == 1 {
        args.push(Expr::literal(paceline_types::Value::Int(1), ExprType::int(1)));
    }
    if let Some((ordered, _)) = &within {
        check_percentile(&kind, &args[0].ty, &ordered.ty)?;
        args.push(ordered.clone());
    }
    let ty = result_type(&kind, &args);
    scope.exit_window(WindowCall {
        function: kind,
        args,
        over: over.clone(),
        within,
        ty,
    })
}

/// Binds an aggregate of a library over a window. Other functions cannot have one.
fn bind_loadable(call: &ast::FunctionCall, over: &ast::Over, scope: &mut dyn Scope) -> Result<Expr> {
    let function = loadable_function(call, scope)?.filter(|function| function.kind() == CallKind::Group);
    let Some(function) = function else {
        return Err(match &call.over_refusal {
            Some(refusal) => (**refusal).clone(),
            None => errors::syntax_near("OVER"),
        });
    };
    scope.enter_window(None, over)?;
    let aggregate = loadable_arguments(&function, call, scope)?;
    let ty = aggregate.ty.clone();
    scope.exit_window(WindowCall {
        args: aggregate.args.clone(),
        function: WindowFunction::Aggregate(Box::new(aggregate)),
        over: over.clone(),
        within: None,
        ty,
    })
}

/// Rejects aggregates that MariaDB does not support over windows.
fn refuse(aggregate: &Aggregate) -> Result<()> {
    use AggregateFunction as A;
    let distinct = aggregate.distinct == Distinctness::Distinct;
    let name = match aggregate.function {
        A::Count if distinct => "COUNT(DISTINCT)",
        A::Sum if distinct => "SUM(DISTINCT)",
        A::Avg if distinct => "AVG(DISTINCT)",
        A::GroupConcat => "GROUP_CONCAT()",
        A::JsonArrayAgg => "JSON_ARRAYAGG()",
        A::JsonObjectAgg => "JSON_OBJECTAGG()",
        _ => return Ok(()),
    };
    Err(errors::not_supported(format_args!(
        "{name} aggregate as window function"
    )))
}

fn check_percentile(function: &WindowFunction, fraction: &ExprType, ordered: &ExprType) -> Result<()> {
    if matches!(function, WindowFunction::PercentileCont)
        && matches!(ordered.class(), Class::String | Class::Null)
    {
        return Err(errors::error(
            ER_WRONG_TYPE_FOR_PERCENTILE_FUNC,
            &[&function.name()],
        ));
    }
    if !matches!(fraction.class(), Class::Int | Class::Decimal | Class::Double) && !fraction.is_parameter() {
        return Err(errors::error(ER_WRONG_TYPE_OF_ARGUMENT, &[&function.name()]));
    }
    Ok(())
}

/// Returns DOUBLE with ten decimals, the type of MariaDB's percentiles and of ranks between 0 and 1.
fn ten_decimals(width: u8) -> ExprType {
    ExprType::new(DataType::Double(FloatType {
        fixed: Some(FixedPoint {
            precision: width,
            scale: 10,
        }),
        ..FloatType::default()
    }))
    .nullable()
}

fn result_type(function: &WindowFunction, args: &[Expr]) -> ExprType {
    match function {
        WindowFunction::RowNumber
        | WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::Ntile => ExprType::bigint(21),
        WindowFunction::PercentRank | WindowFunction::CumeDist => ten_decimals(17),
        WindowFunction::PercentileCont => ten_decimals(match args[0].ty.decimals() {
            NOT_FIXED_DECIMALS => 23,
            decimals => 17 + decimals,
        }),
        WindowFunction::PercentileDisc => value_type(&args[1]),
        _ => value_type(&args[0]),
    }
}

/// Returns the type of a function whose result is the value of one of the rows.
fn value_type(arg: &Expr) -> ExprType {
    let mut ty = extreme_type(&arg.ty);
    match &mut ty.data_type {
        // MariaDB keeps the type of a column. Other expressions get the widest type of their kind.
        DataType::Integer(integer)
            if !matches!(arg.kind, ExprKind::Column(_)) && ty.note != TypeNote::Boolean =>
        {
            integer.width = IntegerWidth::Big;
        }
        DataType::Char { length, collation } => {
            ty.data_type = DataType::VarChar {
                length: u32::from(*length),
                collation: *collation,
            };
        }
        DataType::Binary { length } => {
            ty.data_type = DataType::VarBinary {
                length: u32::from(*length),
            };
        }
        _ => {}
    }
    ty
}
