//! Refusals of UUID, INET6 and INET4 where a number, a date or a truth value is wanted (4078, 4079).
//!
//! MariaDB refuses them where a function checks the types of its arguments. Other functions read 0 or the text. Which
//! do which follows no rule: the table is what MariaDB 10.11 answers.

use paceline_types::DataType;
use paceline_types::error_code::ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION;

use crate::error::{Error, Result};
use crate::errors;
use crate::expr_type::{Class, ExprType};
use crate::tree::{AggregateFunction, CastTarget, Distinctness, Expr, ExprKind};

fn is_fixed_binary(ty: &ExprType) -> bool {
    matches!(ty.class(), Class::FixedBinary(_))
}

/// Returns 4079 for an operand of this type.
pub(crate) fn check_operand(ty: &ExprType, operation: &str) -> Result<()> {
    match is_fixed_binary(ty) {
        true => Err(errors::illegal_type(ty.type_name(), operation)),
        false => Ok(()),
    }
}

/// Returns 4078 for operands of arithmetic.
pub(crate) fn check_operands(left: &ExprType, right: &ExprType, operation: &str) -> Result<()> {
    match is_fixed_binary(left) || is_fixed_binary(right) {
        true => Err(errors::illegal_types(
            left.type_name(),
            right.type_name(),
            operation,
        )),
        false => Ok(()),
    }
}

/// Returns 4078 for a column as a condition, which MariaDB compares by `operation` with the 0 of another type. Other
/// expressions are read as truth values.
pub(crate) fn check_condition(condition: &Expr, zero: &str, operation: &str) -> Result<()> {
    let is_column = matches!(condition.kind, ExprKind::Column(_));
    match is_column && is_fixed_binary(&condition.ty) {
        true => Err(errors::illegal_types(condition.ty.type_name(), zero, operation)),
        false => Ok(()),
    }
}

/// Returns 4079 for the operand of a cast.
pub(crate) fn check_cast(ty: &ExprType, target: &CastTarget) -> Result<()> {
    let operation = match target {
        CastTarget::Signed => "cast_as_signed",
        CastTarget::Unsigned => "cast_as_unsigned",
        CastTarget::Decimal { .. } => "decimal_typecast",
        CastTarget::Double { .. } => "double_typecast",
        CastTarget::Float => "float_typecast",
        CastTarget::Date => "cast_as_date",
        CastTarget::Time { .. } => "cast_as_time",
        CastTarget::DateTime { .. } => "cast_as_datetime",
        CastTarget::Char { .. } | CastTarget::Binary { .. } | CastTarget::FixedBinary(_) => return Ok(()),
    };
    check_operand(ty, operation)
}

/// Returns 4079 for the argument of an aggregate.
pub(crate) fn check_aggregate(
    function: AggregateFunction,
    distinct: Distinctness,
    argument: &ExprType,
) -> Result<()> {
    use AggregateFunction as A;
    let operation = match (function, distinct) {
        (A::Sum, Distinctness::All) => "sum(",
        (A::Sum, Distinctness::Distinct) => "sum(distinct ",
        (A::Avg, Distinctness::All) => "avg(",
        (A::Avg, Distinctness::Distinct) => "avg(distinct ",
        (A::BitAnd, _) => "bit_and(",
        (A::BitOr, _) => "bit_or(",
        (A::BitXor, _) => "bit_xor(",
        (A::StddevPop, _) => "std(",
        (A::StddevSamp, _) => "stddev_samp(",
        (A::VarPop, _) => "variance(",
        (A::VarSamp, _) => "var_samp(",
        _ => return Ok(()),
    };
    check_operand(argument, operation)
}

/// Returns 4078 for an assignment to or from a UUID or an address that MariaDB refuses by the types alone: a number, a
/// date or another type of this kind. `place` is what is assigned to, with its quotes. `None` if the assignment is
/// allowed.
pub fn refused_assignment(source: &ExprType, target: &DataType, place: &str) -> Option<Error> {
    let target = ExprType::new(target.clone());
    let is_string = |ty: &ExprType| matches!(ty.class(), Class::String | Class::Null);
    let is_allowed = match (source.class(), target.class()) {
        (Class::FixedBinary(a), Class::FixedBinary(b)) => a == b,
        (Class::FixedBinary(_), _) => is_string(&target),
        (_, Class::FixedBinary(_)) => is_string(source),
        _ => true,
    };
    (!is_allowed).then(|| {
        let (source, target) = (source.type_name(), target.type_name());
        let message = format!("Cannot cast '{source}' as '{target}' in assignment of {place}");
        Error::with_message(ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION, message)
    })
}

/// Returns 4078 or 4079 for the arguments of a function, whose name is in lower case.
pub(crate) fn check_arguments(name: &str, args: &[Expr]) -> Result<()> {
    let Some(place) = args.iter().position(|arg| is_fixed_binary(&arg.ty)) else {
        return Ok(());
    };
    if let ("addtime" | "subtime" | "str_to_date", [left, right]) = (name, args) {
        return check_operands(&left.ty, &right.ty, name);
    }
    if matches!(name, "date_add" | "date_sub") && place == 0 {
        let name = args[place].ty.type_name();
        return Err(errors::illegal_types(name, "interval", "date_add_interval"));
    }
    let refused = args
        .iter()
        .enumerate()
        .filter(|(_, arg)| is_fixed_binary(&arg.ty))
        .find_map(|(place, arg)| refusing(name, place, args).map(|operation| (operation, arg)));
    match refused {
        Some((operation, arg)) => check_operand(&arg.ty, &operation),
        None => Ok(()),
    }
}

/// Returns what MariaDB calls a function that refuses this argument.
fn refusing(name: &str, argument: usize, args: &[Expr]) -> Option<String> {
    let operation = match (name, argument) {
        ("atan2", _) => "atan",
        ("ceil", _) => "ceiling",
        ("date", _) => "cast_as_date",
        ("time", _) => "cast_as_time",
        ("timestamp", _) if args.len() == 1 => "cast_as_datetime",
        ("datediff", _) => "to_days",
        ("day", _) => "dayofmonth",
        ("power", _) => "pow",
        ("weekofyear", _) => "week",
        ("extract", _) => {
            let unit = match args.first().and_then(Expr::as_literal) {
                Some(paceline_types::Value::Text(unit)) => unit.to_ascii_lowercase(),
                _ => String::new(),
            };
            return Some(format!("extract({unit})"));
        }
        (
            "abs" | "acos" | "asin" | "atan" | "bit_count" | "ceiling" | "cos" | "cot" | "dayofmonth"
            | "dayofyear" | "degrees" | "exp" | "floor" | "from_days" | "hour" | "is_free_lock"
            | "is_used_lock" | "last_day" | "last_insert_id" | "ln" | "log" | "log10" | "log2" | "makedate"
            | "maketime" | "microsecond" | "minute" | "period_add" | "period_diff" | "pow" | "quarter"
            | "radians" | "rand" | "release_lock" | "sec_to_time" | "second" | "sign" | "sin" | "sleep"
            | "sqrt" | "tan" | "timediff" | "timestamp" | "timestampdiff" | "to_days" | "to_seconds" | "week"
            | "year" | "yearweek",
            _,
        )
        | (
            "benchmark" | "convert_tz" | "date_format" | "from_unixtime" | "get_lock" | "master_gtid_wait"
            | "round" | "time_format" | "truncate",
            0,
        )
        | ("get_lock", 1)
        | ("locate", 2) => name,
        _ => return None,
    };
    Some(operation.to_owned())
}
