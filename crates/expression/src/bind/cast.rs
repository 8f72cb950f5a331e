//! CAST, CONVERT and COLLATE: their targets, and the errors of types that do not exist.

use paceline_types::error_code::{
    ER_M_BIGGER_THAN_D, ER_TOO_BIG_PRECISION, ER_TOO_BIG_SCALE, ER_UNKNOWN_CHARACTER_SET,
};
use paceline_types::{Charset, Collation, DataType, FixedPoint, Value};

use crate::bind::{bind_expr, literal};
use crate::error::Result;
use crate::errors;
use crate::expr_type::{Class, Coercibility, ExprType};
use crate::functions::CONVERTED_NUMBER;
use crate::rules::CollationMix;
use crate::scope::Scope;
use crate::session::SessionContext;
use crate::tree::{Call, CastTarget, Expr, ExprKind, unique_id};
use crate::typing::{adaptation, reading, refusal};
use paceline_syntax::ast::{self, CastType};

pub(super) fn charset_named(name: &str) -> Result<Charset> {
    Charset::from_name(name).ok_or_else(|| errors::error(ER_UNKNOWN_CHARACTER_SET, &[&name]))
}

pub(super) fn collate(operand: &ast::Expr, name: &str, scope: &mut dyn Scope) -> Result<Expr> {
    let operand = bind_expr(operand, scope)?;
    let connection = scope.session().settings.collation_connection;
    let charset = match operand.ty.is_null() || operand.ty.is_parameter() {
        true => connection.charset(),
        false => CollationMix::of_type(&operand.ty, connection).0.charset(),
    };
    let collation = literal::collation(name, charset)?;
    let characters = operand.ty.max_characters();
    let ty = match operand.ty.data_type.clone() {
        DataType::Char { length, .. } => ExprType::new(DataType::Char { length, collation }),
        DataType::Text { size, .. } => ExprType::new(DataType::Text { size, collation }),
        _ => ExprType::text(characters, collation),
    };
    let ty = ty
        .with_coercibility(Coercibility::Explicit)
        .with_nullable(operand.ty.nullable);
    if operand.ty.class() == Class::String && !operand.ty.is_parameter() {
        return Ok(Expr {
            kind: ExprKind::Collate(Box::new(operand)),
            ty,
        });
    }
    let target = CastTarget::Char {
        length: None,
        collation,
    };
    Ok(Expr {
        kind: ExprKind::Cast {
            target,
            operand: Box::new(operand),
        },
        ty,
    })
}

pub(super) fn cast_target(
    operand: &ast::Expr,
    target: &CastType,
    session: &SessionContext,
) -> Result<CastTarget> {
    let name = || match operand {
        ast::Expr::Literal(ast::Literal::Text(text)) => text.clone(),
        ast::Expr::UserVariable(name) => format!("@`{name}`"),
        other => other.to_string(),
    };
    let fraction = |decimals: &Option<u64>| match decimals {
        None => Ok(0),
        Some(decimals @ 0..=6) => Ok(*decimals as u8),
        Some(_) => Err(errors::error(ER_TOO_BIG_PRECISION, &[&name(), &6])),
    };
    Ok(match target {
        CastType::Signed => CastTarget::Signed,
        CastType::Unsigned => CastTarget::Unsigned,
        CastType::Decimal { precision, scale } => {
            let (precision, scale) = (precision.unwrap_or(10), scale.unwrap_or(0));
            if scale > 38 {
                return Err(errors::error(ER_TOO_BIG_SCALE, &[&name(), &38]));
            }
            if precision > 65 {
                return Err(errors::error(ER_TOO_BIG_PRECISION, &[&name(), &65]));
            }
            let precision = if precision == 0 { 10 } else { precision };
            if precision < scale {
                return Err(errors::error(ER_M_BIGGER_THAN_D, &[&""]));
            }
            CastTarget::Decimal {
                precision: precision as u8,
                scale: scale as u8,
            }
        }
        CastType::Double(digits) => CastTarget::Double {
            fixed: match digits {
                None => None,
                Some((precision, _)) if *precision > 65 => {
                    return Err(errors::error(ER_TOO_BIG_PRECISION, &[&name(), &65]));
                }
                Some((precision, scale)) if precision < scale => {
                    return Err(errors::error(ER_M_BIGGER_THAN_D, &[&""]));
                }
                // As in MariaDB, more decimals than a column can have are not fixed.
                Some((_, 31..)) => None,
                Some((precision, scale)) => Some(FixedPoint {
                    precision: *precision as u8,
                    scale: *scale as u8,
                }),
            },
        },
        CastType::Float => CastTarget::Float,
        CastType::Char { length, charset } => CastTarget::Char {
            length: length.map(|length| u32::try_from(length).unwrap_or(u32::MAX)),
            collation: match charset {
                Some(charset) => charset_named(charset)?.default_collation(),
                None => session.settings.collation_connection,
            },
        },
        CastType::Binary(length) => CastTarget::Binary {
            length: length.map(|length| u32::try_from(length).unwrap_or(u32::MAX)),
        },
        CastType::Date => CastTarget::Date,
        CastType::Time(decimals) => CastTarget::Time {
            decimals: fraction(decimals)?,
        },
        CastType::DateTime(decimals) => CastTarget::DateTime {
            decimals: fraction(decimals)?,
        },
        CastType::FixedBinary(t) => CastTarget::FixedBinary(*t),
    })
}

/// `CONVERT(operand USING …)`. Of a number it is the number where a number or a date is wanted.
pub(super) fn convert_using(operand: Expr, collation: Collation) -> Result<Expr> {
    let is_number = matches!(operand.ty.class(), Class::Int | Class::Decimal | Class::Double);
    let target = CastTarget::Char {
        length: None,
        collation,
    };
    if !is_number || operand.ty.is_parameter() || operand.as_literal().is_some() {
        return cast(operand, target);
    }
    let ty = target.result_type(&operand.ty);
    let call = Call {
        function: &CONVERTED_NUMBER,
        args: vec![operand],
        id: unique_id(),
        compared: None,
        stored: None,
        loadable: None,
    };
    Ok(Expr {
        kind: ExprKind::Call(Box::new(call)),
        ty,
    })
}

pub(super) fn cast(mut operand: Expr, target: CastTarget) -> Result<Expr> {
    refusal::check_cast(&operand.ty, &target)?;
    match target {
        CastTarget::Char { .. } | CastTarget::Binary { .. } | CastTarget::FixedBinary(_) => {}
        CastTarget::Decimal { .. } => reading::read_as_decimal(&mut operand),
        CastTarget::Double { .. } | CastTarget::Float => reading::read_as_number(&mut operand),
        // For an integer, MariaDB reads the text form of JSON and of texts that are dates.
        CastTarget::Signed | CastTarget::Unsigned => reading::hex_to_number(&mut operand),
        _ => {
            reading::hex_to_number(&mut operand);
            if let ExprKind::Call(call) = &mut operand.kind {
                call.function = call.temporal_function();
            }
        }
    }
    let mut ty = target.result_type(&operand.ty);
    if let (CastTarget::Unsigned, Some(Value::Int(number @ 0..=0xffff_ffff))) =
        (&target, operand.as_literal())
    {
        ty = ExprType::int_unsigned(number.to_string().len() as u8).with_nullable(ty.nullable);
    }
    if let CastTarget::FixedBinary(t) = target {
        ty.nullable |= adaptation::may_become_null(&operand, t);
    }
    Ok(Expr {
        kind: ExprKind::Cast {
            target,
            operand: Box::new(operand),
        },
        ty,
    })
}
