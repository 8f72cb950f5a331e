//! Comparisons: binding, rules and BETWEEN.

use super::adaptation::{
    adapt, adapt_each, check_literals, compare_exactly, is_temporal, literal_to_integer, literal_to_number,
    literal_to_year, unquote_json,
};
use super::operands::{check_rows, column_types, elements, flatten, width};
use super::reading::hex_to_number;
use crate::error::Result;
use crate::errors;
use crate::expr_type::{Class, ExprType, NOT_FIXED_DECIMALS};
use crate::rules::{CollationMix, between_rule, comparison_rule_for, round_quotient};
use crate::session::SessionContext;
use crate::tree::{CompareOp, Comparison, Expr, ExprKind};

/// Binds a comparison.
pub(crate) fn compare(
    op: CompareOp,
    mut left: Expr,
    mut right: Expr,
    session: &SessionContext,
) -> Result<Expr> {
    let connection = session.settings.collation_connection;
    if width(&left) != 1 || width(&right) != 1 {
        check_rows(op.as_str(), &left, &right)?;
        flatten(&mut left);
        flatten(&mut right);
        let mut by = row_rules(op.as_str(), &column_types(&left), &column_types(&right), session)?;
        for ((by, left), right) in by.iter_mut().zip(elements(&mut left)).zip(elements(&mut right)) {
            check_literals(by, op, left, right, session)?;
            compare_exactly(by, left, right);
            unquote_json(by, left, right, session);
            let decimals = fixed_decimals(by, &left.ty, &right.ty);
            adapt_each(by, left, right, session);
            literal_to_number(by, left);
            literal_to_number(by, right);
            compare_fixed(by, decimals);
        }
        for operand in [&mut left, &mut right] {
            for (by, element) in by.iter().zip(elements(operand)) {
                round_quotient(by, element);
            }
        }
        return Ok(Expr {
            kind: ExprKind::Compare {
                op,
                by: Comparison::Row(by),
                operands: Box::new([left, right]),
            },
            ty: ExprType::boolean().nullable(),
        });
    }
    let mut by = comparison_rule_for(op.as_str(), &left.ty, &right.ty, connection)?;
    check_literals(&by, op, &left, &right, session)?;
    compare_exactly(&mut by, &left, &right);
    unquote_json(&by, &mut left, &mut right, session);
    let decimals = fixed_decimals(&by, &left.ty, &right.ty);
    adapt(&mut by, &mut left, &mut right, session);
    compare_fixed(&mut by, decimals);
    round_quotient(&by, &mut left);
    round_quotient(&by, &mut right);
    let is_convertible =
        |operand: &Expr| !matches!(by, Comparison::FixedBinary(_)) || operand.ty.class() != Class::String;
    let nullable = op != CompareOp::NullSafeEq
        && (left.ty.nullable
            || right.ty.nullable
            || is_temporal(&by)
            || ![&left, &right].into_iter().all(is_convertible));
    Ok(Expr {
        kind: ExprKind::Compare {
            op,
            by,
            operands: Box::new([left, right]),
        },
        ty: ExprType::boolean().with_nullable(nullable),
    })
}

/// Returns the larger number of decimals of two numbers that are compared as doubles and both have fixed
/// decimals.
pub fn fixed_decimals(by: &Comparison, left: &ExprType, right: &ExprType) -> Option<u8> {
    let decimals = [left, right].map(|ty| match ty.class() {
        Class::Int | Class::Decimal | Class::Double => ty.decimals(),
        _ => NOT_FIXED_DECIMALS,
    });
    let most = decimals[0].max(decimals[1]);
    (*by == Comparison::Double && most < NOT_FIXED_DECIMALS).then_some(most)
}

/// Compares doubles with this number of decimals, if it is fixed.
pub fn compare_fixed(by: &mut Comparison, decimals: Option<u8>) {
    if let (Comparison::Double, Some(decimals)) = (&*by, decimals) {
        *by = Comparison::FixedDouble(decimals);
    }
}

/// Returns the comparison rules for the columns of two rows.
pub(crate) fn row_rules(
    operation: &str,
    left: &[ExprType],
    right: &[ExprType],
    session: &SessionContext,
) -> Result<Vec<Comparison>> {
    let connection = session.settings.collation_connection;
    left.iter()
        .zip(right)
        .map(|(left, right)| comparison_rule_for(operation, left, right, connection))
        .collect()
}

/// Binds `value BETWEEN low AND high`.
pub(crate) fn between(
    mut value: Expr,
    mut low: Expr,
    mut high: Expr,
    negated: bool,
    session: &SessionContext,
) -> Result<Expr> {
    let (value_columns, connection) = (width(&value), session.settings.collation_connection);
    if value_columns != 1 || width(&low) != 1 || width(&high) != 1 {
        return Err(errors::operand_columns(1));
    }
    let mut by = between_rule(&value.ty, &low.ty, &high.ty, connection)?;
    if !is_temporal(&by) {
        for bound in [&mut low, &mut high] {
            if by.is_numeric() {
                hex_to_number(bound);
            }
            literal_to_year(&value, bound, session);
        }
        by = between_rule(&value.ty, &low.ty, &high.ty, connection)?;
    }
    let nullable = value.ty.nullable || low.ty.nullable || high.ty.nullable;
    let ty = ExprType::boolean().with_nullable(nullable);
    if let Comparison::Text(collation) = by {
        CollationMix::check_literals(&[&value, &low, &high], collation, connection, "between")?;
    }
    let saved = (value.clone(), low.clone());
    if is_temporal(&by) {
        adapt_each(&mut by, &mut value, &mut low, session);
        adapt_each(&mut by, &mut value, &mut high, session);
        return Ok(Expr {
            kind: ExprKind::Between {
                by,
                negated,
                operands: Box::new([value, low, high]),
            },
            ty,
        });
    }
    adapt_each(&mut by, &mut value, &mut low, session);
    literal_to_number(&by, &mut low);
    if by == Comparison::Int && from_is_not_int(&saved.0.ty, &high, session)? {
        // The upper bound is not an integer, so both bounds keep the wider rule.
        (value, low) = saved;
        by = Comparison::Decimal;
        if matches!(high.ty.class(), Class::String | Class::Double) || low.ty.class() == Class::String {
            by = Comparison::Double;
        }
    } else {
        adapt_each(&mut by.clone(), &mut value, &mut high, session);
        literal_to_number(&by, &mut value);
        literal_to_number(&by, &mut high);
        if by == Comparison::Int {
            literal_to_integer(&mut high);
        }
    }
    Ok(Expr {
        kind: ExprKind::Between {
            by,
            negated,
            operands: Box::new([value, low, high]),
        },
        ty,
    })
}

pub(super) fn from_is_not_int(value: &ExprType, high: &Expr, session: &SessionContext) -> Result<bool> {
    let rule = comparison_rule_for("between", value, &high.ty, session.settings.collation_connection)?;
    if rule == Comparison::Int {
        return Ok(false);
    }
    Ok(!literal_to_integer(&mut high.clone()))
}
