//! Numeric functions: rounding, powers, logarithms, trigonometry, RAND.

use paceline_types::data_type::{DecimalType, IntegerType, IntegerWidth, Sign};
use paceline_types::decimal::Rounding;
use paceline_types::temporal::{Interval, add_interval};
use paceline_types::{DataType, DateTime, FixedPoint, FloatType, Time, Value};

use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::convert;
use crate::expr_type::{Class, ExprType, NOT_FIXED_DECIMALS};
use crate::functions::arguments::some;
use crate::session::RandomGenerator;
use crate::tree::{Args, BindCall, Function, pure, volatile};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("abs", (1, 1), bind_same_number, eval_abs),
    pure("ceiling", (1, 1), bind_integral, |args, context| {
        integral(args, context, Rounding::Ceiling)
    }),
    pure("ceil", (1, 1), bind_integral, |args, context| {
        integral(args, context, Rounding::Ceiling)
    }),
    pure("floor", (1, 1), bind_integral, |args, context| {
        integral(args, context, Rounding::Floor)
    }),
    pure("round", (1, 2), bind_round, |args, context| {
        round(args, context, Rounding::HalfUp)
    }),
    pure("truncate", (2, 2), bind_round, |args, context| {
        round(args, context, Rounding::Truncate)
    }),
    pure(
        "sign",
        (1, 1),
        |call| Ok(call.with_nullability(ExprType::int(2))),
        eval_sign,
    ),
    pure("pow", (2, 2), bind_double, |args, context| {
        double2(args, context, f64::powf)
    }),
    pure("power", (2, 2), bind_double, |args, context| {
        double2(args, context, f64::powf)
    }),
    pure("sqrt", (1, 1), bind_nullable_double, |args, context| {
        double1(args, context, |x| if x < 0.0 { None } else { Some(x.sqrt()) })
    }),
    pure("exp", (1, 1), bind_double, |args, context| {
        double1(args, context, |x| Some(x.exp()))
    }),
    pure("ln", (1, 1), bind_nullable_double, |args, context| {
        logarithm(args, context, f64::ln)
    }),
    pure("log", (1, 2), bind_nullable_double, eval_log),
    pure("log2", (1, 1), bind_nullable_double, |args, context| {
        logarithm(args, context, |number| number.ln() / std::f64::consts::LN_2)
    }),
    pure("log10", (1, 1), bind_nullable_double, |args, context| {
        logarithm(args, context, f64::log10)
    }),
    pure("sin", (1, 1), bind_double, |args, context| {
        double1(args, context, |x| Some(x.sin()))
    }),
    pure("cos", (1, 1), bind_double, |args, context| {
        double1(args, context, |x| Some(x.cos()))
    }),
    pure("tan", (1, 1), bind_double, |args, context| {
        double1(args, context, |x| Some(x.tan()))
    }),
    pure("cot", (1, 1), bind_double, |args, context| {
        double1(args, context, |x| Some(1.0 / x.tan()))
    }),
    pure("asin", (1, 1), bind_nullable_double, |args, context| {
        double1(
            args,
            context,
            |x| if x.abs() > 1.0 { None } else { Some(x.asin()) },
        )
    }),
    pure("acos", (1, 1), bind_nullable_double, |args, context| {
        double1(
            args,
            context,
            |x| if x.abs() > 1.0 { None } else { Some(x.acos()) },
        )
    }),
    pure("atan", (1, 2), bind_double, eval_atan),
    pure("atan2", (1, 2), bind_double, eval_atan),
    pure("radians", (1, 1), bind_double, |args, context| {
        double1(args, context, |x| Some(x * (std::f64::consts::PI / 180.0)))
    }),
    pure("degrees", (1, 1), bind_double, |args, context| {
        double1(args, context, |x| Some(x * (180.0 / std::f64::consts::PI)))
    }),
    pure("pi", (0, 0), bind_pi, |_, _| {
        Ok(Value::Double(std::f64::consts::PI))
    }),
    volatile("rand", (0, 1), |_| Ok(ExprType::double()), eval_rand),
    pure(
        "bit_count",
        (1, 1),
        |call| Ok(call.with_nullability(ExprType::int(2))),
        |args, context| {
            let value = args.value(0, context)?;
            if value.is_null() {
                return Ok(Value::Null);
            }
            Ok(Value::Int(i64::from(
                convert::to_bit_operand(&value, context)?.count_ones(),
            )))
        },
    ),
];

fn bind_double(call: &mut BindCall<'_>) -> Result<ExprType> {
    Ok(call.with_nullability(ExprType::double()))
}

fn bind_nullable_double(_call: &mut BindCall<'_>) -> Result<ExprType> {
    Ok(ExprType::double().nullable())
}

fn bind_pi(_call: &mut BindCall<'_>) -> Result<ExprType> {
    let fixed = Some(FixedPoint {
        precision: 8,
        scale: 6,
    });
    Ok(ExprType::new(DataType::Double(FloatType {
        fixed,
        ..FloatType::default()
    })))
}

/// Returns the numeric class in which a function computes: double for text and parameters.
fn class(ty: &ExprType) -> Class {
    match ty.class() {
        _ if ty.is_parameter() => Class::Double,
        // ENUM and SET are treated as their numbers.
        _ if matches!(ty.data_type, DataType::Enum { .. } | DataType::Set { .. }) => Class::Int,
        Class::Int | Class::Date => Class::Int,
        Class::Time | Class::DateTime if ty.decimals() == 0 => Class::Int,
        Class::Decimal | Class::Time | Class::DateTime => Class::Decimal,
        _ => Class::Double,
    }
}

fn bind_same_number(call: &mut BindCall<'_>) -> Result<ExprType> {
    let argument = &call.args[0].ty;
    let ty = match class(argument) {
        _ if argument.is_null() => ExprType::double_with(0),
        Class::Int | Class::Decimal
            if matches!(argument.data_type, DataType::Integer(_) | DataType::Decimal(_)) =>
        {
            ExprType::new(argument.data_type.clone())
        }
        Class::Int if argument.data_type == DataType::Year => year_number(),
        // A date or a time is a decimal of its characters.
        Class::Int if argument.class().is_temporal() => {
            let sign = sign_of(argument);
            let digits = argument.display_length(1) - u32::from(sign == Sign::Signed);
            ExprType::new(DataType::Decimal(DecimalType {
                sign,
                ..DecimalType::new(digits as u8, 0)
            }))
        }
        Class::Int if matches!(argument.data_type, DataType::Bit { .. }) => {
            ExprType::bigint_unsigned(argument.integer_digits().min(20) as u8)
        }
        Class::Int => ExprType::bigint(20),
        Class::Decimal => ExprType::decimal(
            argument.integer_digits() + u32::from(argument.decimals()),
            u32::from(argument.decimals()),
        ),
        _ if argument.class() == Class::Double => ExprType::double_with(argument.decimals()),
        _ => ExprType::double(),
    };
    Ok(call.with_nullability(ty))
}

fn eval_abs(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let value = args.value(0, context)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    Ok(match args.ty.class() {
        Class::Int => {
            let number = convert::to_i128(&value, context)?.abs();
            if args.ty.is_unsigned() {
                Value::UInt(number as u64)
            } else {
                Value::Int(i64::try_from(number).map_err(|_| args.out_of_range("BIGINT", context))?)
            }
        }
        Class::Decimal => Value::Decimal(convert::to_decimal(&value, context)?.abs()),
        _ => Value::Double(convert::to_double(&value, context)?.abs()),
    })
}

fn sign_of(ty: &ExprType) -> Sign {
    match ty.is_unsigned() {
        true => Sign::Unsigned,
        false => Sign::Signed,
    }
}

/// A YEAR as a number.
fn year_number() -> ExprType {
    integer_type(4, Sign::Unsigned)
}

/// An integer of a display width.
fn integer_type(display_width: u8, sign: Sign) -> ExprType {
    let width = match display_width < 10 {
        true => IntegerWidth::Int,
        false => IntegerWidth::Big,
    };
    ExprType::new(DataType::Integer(IntegerType {
        display_width,
        ..IntegerType::new(width, sign)
    }))
}

/// Returns the type of an integral argument as a rounded number: ENUM and SET have five characters, dates
/// eight.
fn whole_number(argument: &ExprType) -> ExprType {
    let display_width = match argument.data_type {
        DataType::Enum { .. } | DataType::Set { .. } => 5,
        DataType::Date => 8,
        _ => return ExprType::bigint(20),
    };
    ExprType::new(DataType::Integer(IntegerType {
        display_width,
        ..IntegerType::new(IntegerWidth::Int, Sign::Unsigned)
    }))
}

fn bind_integral(call: &mut BindCall<'_>) -> Result<ExprType> {
    let argument = &call.args[0].ty;
    let ty = match class(argument) {
        _ if argument.class() == Class::Time => ExprType::time(0),
        _ if argument.class() == Class::DateTime => ExprType::datetime(0).nullable(),
        Class::Int => match &argument.data_type {
            DataType::Integer(_) => ExprType::new(argument.data_type.clone()),
            DataType::Bit { length } => integer_type(bit_digits(*length), Sign::Unsigned),
            DataType::Year => year_number(),
            _ => whole_number(argument),
        },
        _ if argument.class() == Class::Date => whole_number(argument),
        Class::Decimal => {
            // Rounding up may need one digit more.
            let digits = argument.integer_digits() + u32::from(argument.decimals() > 0);
            let width = match digits {
                0..10 => IntegerWidth::Int,
                10..18 => IntegerWidth::Big,
                _ => return Ok(call.with_nullability(ExprType::decimal(digits, 0))),
            };
            ExprType::new(DataType::Integer(IntegerType {
                display_width: digits as u8 + 1,
                ..IntegerType::new(width, Sign::Signed)
            }))
        }
        _ => {
            let fixed = Some(FixedPoint {
                precision: 17,
                scale: 0,
            });
            ExprType::new(DataType::Double(FloatType {
                fixed,
                ..FloatType::default()
            }))
        }
    };
    Ok(call.with_nullability(ty))
}

fn integral(args: &Args<'_>, context: &mut EvalContext<'_>, rounding: Rounding) -> Result<Value> {
    let value = args.value(0, context)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let whole_second = |micros: i64| match rounding {
        Rounding::Ceiling => -(-micros).div_euclid(1_000_000) * 1_000_000,
        _ => micros.div_euclid(1_000_000) * 1_000_000,
    };
    let value = match class(args.ty_of(0)) {
        _ if args.ty.class() == Class::Time => {
            let time = some!(convert::to_time(&value, context)?);
            return Ok(Value::Time(Time::from_micros(whole_second(time.micros()), 0)));
        }
        _ if args.ty.class() == Class::DateTime => {
            let datetime = some!(convert::to_datetime(&value, context)?);
            let added = whole_second(i64::from(datetime.micros));
            return Ok(Value::DateTime(later(datetime.truncated(0), added).truncated(0)));
        }
        Class::Int => {
            let number = convert::to_i128(&value, context)?;
            return Ok(integer(number, args.ty));
        }
        Class::Decimal => convert::to_decimal(&value, context)?.round(0, rounding),
        _ => {
            let number = convert::to_double(&value, context)?;
            return Ok(Value::Double(if rounding == Rounding::Ceiling {
                number.ceil()
            } else {
                number.floor()
            }));
        }
    };
    Ok(match args.ty.class() {
        Class::Int => Value::Int(value.to_i64().unwrap_or(i64::MAX)),
        _ => Value::Decimal(value),
    })
}

fn is_bigint(ty: &ExprType) -> bool {
    matches!(&ty.data_type, DataType::Integer(integer) if integer.width == IntegerWidth::Big)
}

/// How many digits the numbers of a BIT have.
fn bit_digits(length: u8) -> u8 {
    (u32::from(length) * 30103 / 100_000 + 1) as u8
}

fn integer(number: i128, ty: &ExprType) -> Value {
    if ty.is_unsigned() {
        Value::UInt(number as u64)
    } else {
        Value::Int(number as i64)
    }
}

fn bind_round(call: &mut BindCall<'_>) -> Result<ExprType> {
    let argument = call.args[0].ty.clone();
    let digits = if call.args.len() < 2 {
        Some(0)
    } else {
        match call.args[1].as_literal() {
            Some(Value::UInt(_)) => Some(i64::MAX),
            _ => call.constant_int(1),
        }
    };
    let nullable_digits = call.args.get(1).is_some_and(|arg| arg.ty.is_null());
    let never_rounds = { call.args.get(1) }.is_some_and(|arg| matches!(arg.as_literal(), Some(Value::Null)));
    let fraction = digits.map_or(argument.decimals(), |digits| digits.clamp(0, 6) as u8);
    let ty = match class(&argument) {
        _ if argument.class() == Class::Time => ExprType::time(fraction),
        _ if argument.class() == Class::DateTime => ExprType::datetime(fraction).nullable(),
        Class::Int if let DataType::Bit { length } = argument.data_type => {
            integer_type(bit_digits(length), Sign::Unsigned)
        }
        Class::Int if matches!(argument.data_type, DataType::Enum { .. } | DataType::Set { .. }) => {
            whole_number(&argument)
        }
        // Rounding up may need one digit more than the integer type has.
        Class::Int if call.name == "round" && !never_rounds && digits.is_none_or(|digits| digits < 0) => {
            match (sign_of(&argument), argument.integer_digits() + 1) {
                _ if argument.class() == Class::Date => integer_type(9, Sign::Unsigned),
                (Sign::Signed, digits) if !is_bigint(&argument) => {
                    let width = match digits < 10 {
                        true => IntegerWidth::Int,
                        false => IntegerWidth::Big,
                    };
                    ExprType::new(DataType::Integer(IntegerType {
                        display_width: argument.display_width() as u8 + 1,
                        ..IntegerType::new(width, Sign::Signed)
                    }))
                }
                (Sign::Unsigned, width) if !is_bigint(&argument) => integer_type(width as u8, Sign::Unsigned),
                (sign, width) => ExprType::new(DataType::Decimal(DecimalType {
                    sign,
                    ..DecimalType::new(width.min(65) as u8, 0)
                })),
            }
        }
        Class::Int => match &argument.data_type {
            DataType::Integer(integer) => ExprType::new(DataType::Integer(*integer)),
            DataType::Year => year_number(),
            _ => whole_number(&argument),
        },
        _ if nullable_digits => ExprType::double(),
        Class::Decimal => {
            let scale = i64::from(argument.decimals());
            let wanted = digits.map_or(scale, |digits| digits.clamp(0, 38));
            let increase = u32::from(call.name == "round" && wanted < scale);
            let wanted = wanted as u32;
            ExprType::decimal(argument.integer_digits() + increase + wanted, wanted)
        }
        _ => match digits {
            Some(digits) if (0..=30).contains(&digits) => {
                let fixed = Some(FixedPoint {
                    precision: (17 + digits) as u8,
                    scale: digits as u8,
                });
                ExprType::new(DataType::Double(FloatType {
                    fixed,
                    ..FloatType::default()
                }))
            }
            Some(digits) if digits < 0 => {
                let fixed = Some(FixedPoint {
                    precision: 17,
                    scale: 0,
                });
                ExprType::new(DataType::Double(FloatType {
                    fixed,
                    ..FloatType::default()
                }))
            }
            None if argument.class() == Class::Double => ExprType::double_with(argument.decimals()),
            _ => ExprType::double(),
        },
    };
    Ok(if nullable_digits {
        ty.nullable()
    } else {
        call.with_nullability(ty)
    })
}

fn round(args: &Args<'_>, context: &mut EvalContext<'_>, rounding: Rounding) -> Result<Value> {
    let value = args.value(0, context)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let digits = if args.len() < 2 {
        0
    } else {
        some!(args.count(1, context)?)
    };
    let digits = digits.clamp(-400, 400) as i32;
    let decimals = digits.clamp(0, i32::from(args.ty.decimals().min(6))) as u8;
    Ok(match class(args.ty_of(0)) {
        _ if args.ty.class() == Class::Time => {
            let time = some!(convert::to_time(&value, context)?);
            let micros = round_micros(time.micros(), decimals, rounding);
            Value::Time(Time::from_micros(micros, args.ty.decimals().min(6)))
        }
        _ if args.ty.class() == Class::DateTime => {
            let datetime = some!(convert::to_datetime(&value, context)?);
            let added = round_micros(i64::from(datetime.micros), decimals, rounding);
            Value::DateTime(DateTime {
                decimals: args.ty.decimals().min(6),
                ..later(datetime.truncated(0), added)
            })
        }
        Class::Int => {
            let number = convert::to_i128(&value, context)?;
            if !(-20..0).contains(&digits) {
                let number = if digits >= 0 { number } else { 0 };
                return Ok(match args.ty.class() {
                    Class::Decimal => Value::Decimal(number.to_string().parse()?),
                    _ => integer(number, args.ty),
                });
            }
            let unit = 10i128.pow(-digits as u32);
            let half = if rounding == Rounding::HalfUp {
                unit / 2 * number.signum()
            } else {
                0
            };
            let rounded = (number + half) / unit * unit;
            if args.ty.class() == Class::Decimal {
                return Ok(Value::Decimal(rounded.to_string().parse()?));
            }
            let in_range = if args.ty.is_unsigned() {
                u64::try_from(rounded).is_ok()
            } else {
                i64::try_from(rounded).is_ok()
            };
            if !in_range {
                let kind = match args.ty.is_unsigned() {
                    true => "BIGINT UNSIGNED",
                    false => "BIGINT",
                };
                return Err(args.out_of_range(kind, context));
            }
            integer(rounded, args.ty)
        }
        Class::Decimal => {
            let number = convert::to_decimal(&value, context)?;
            let scale = match args.ty.decimals() {
                NOT_FIXED_DECIMALS => digits,
                decimals => digits.min(i32::from(decimals)),
            };
            let rounded = number.round(scale, rounding);
            // More digits than the number has are zeros.
            Value::Decimal(match scale > i32::from(rounded.scale()) {
                true => rounded.round(scale, rounding),
                false => rounded,
            })
        }
        _ => Value::Double(round_double(
            convert::to_double(&value, context)?,
            digits,
            rounding,
        )),
    })
}

/// Returns the datetime `micros` microseconds later, if it is valid.
fn later(datetime: DateTime, micros: i64) -> DateTime {
    let interval = Interval {
        months: 0,
        micros: i128::from(micros),
    };
    add_interval(datetime, interval).unwrap_or(datetime)
}

/// Rounds microseconds to `decimals` digits of a second.
fn round_micros(micros: i64, decimals: u8, rounding: Rounding) -> i64 {
    let unit = 10i64.pow(6 - u32::from(decimals));
    let half = match rounding {
        Rounding::HalfUp => unit / 2 * micros.signum(),
        _ => 0,
    };
    (micros + half) / unit * unit
}

/// Rounds a double to a number of decimals like MariaDB's `my_double_round`: half to even, by `rint`.
pub(super) fn round_double(number: f64, digits: i32, rounding: Rounding) -> f64 {
    // The nearest double, as in MariaDB's table. `powi` is less exact from 1e23 on.
    let factor = match digits.abs() {
        digits @ 0..=22 => 10f64.powi(digits),
        digits => format!("1e{}", digits.min(400)).parse().unwrap_or(f64::INFINITY),
    };
    let truncate = rounding == Rounding::Truncate;
    let cut = |x: f64| {
        if truncate { x.trunc() } else { x.round_ties_even() }
    };
    if digits < 0 {
        if factor.is_infinite() {
            return 0.0;
        }
        return cut(number / factor) * factor;
    }
    let scaled = number * factor;
    if factor.is_infinite() || scaled.is_infinite() {
        return number;
    }
    cut(scaled) / factor
}

fn eval_sign(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let number = some!(args.double(0, context)?);
    Ok(Value::Int(if number > 0.0 {
        1
    } else if number < 0.0 {
        -1
    } else {
        0
    }))
}

fn finite(number: f64, args: &Args<'_>, context: &EvalContext<'_>) -> Result<Value> {
    if number.is_finite() {
        Ok(Value::Double(number))
    } else {
        Err(args.out_of_range("DOUBLE", context))
    }
}

fn double1(
    args: &Args<'_>,
    context: &mut EvalContext<'_>,
    function: impl Fn(f64) -> Option<f64>,
) -> Result<Value> {
    let number = some!(args.double(0, context)?);
    match function(number) {
        Some(result) => finite(result, args, context),
        None => Ok(Value::Null),
    }
}

fn double2(
    args: &Args<'_>,
    context: &mut EvalContext<'_>,
    function: impl Fn(f64, f64) -> f64,
) -> Result<Value> {
    let left = some!(args.double(0, context)?);
    let right = some!(args.double(1, context)?);
    finite(function(left, right), args, context)
}

fn logarithm(args: &Args<'_>, context: &mut EvalContext<'_>, function: impl Fn(f64) -> f64) -> Result<Value> {
    let number = some!(args.double(0, context)?);
    if number <= 0.0 {
        return crate::eval::division_by_zero(context);
    }
    Ok(Value::Double(function(number)))
}

/// Computes LOG(x) and LOG(base, x).
fn eval_log(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    if args.len() == 1 {
        return logarithm(args, context, f64::ln);
    }
    let base = some!(args.double(0, context)?);
    let number = some!(args.double(1, context)?);
    if number <= 0.0 || base <= 0.0 || base == 1.0 {
        return crate::eval::division_by_zero(context);
    }
    Ok(Value::Double(number.ln() / base.ln()))
}

fn eval_atan(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    if args.len() == 2 {
        double2(args, context, f64::atan2)
    } else {
        double1(args, context, |x| Some(x.atan()))
    }
}

fn eval_rand(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    if args.len() == 0 {
        return Ok(Value::Double(context.session.random.next_f64()));
    }
    let constant = args.call.args[0].is_constant_during_execution();
    if let (true, Some(generator)) = (constant, context.state.generators.get_mut(&args.call.id)) {
        return Ok(Value::Double(generator.next_f64()));
    }
    let seed = args.int(0, context)?.unwrap_or(0) as u32;
    let mut generator = RandomGenerator::from_rand_argument(seed);
    let number = generator.next_f64();
    if constant {
        context.state.generators.insert(args.call.id, generator);
    }
    Ok(Value::Double(number))
}
