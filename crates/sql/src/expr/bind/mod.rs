//! From `sqlparser`'s syntax tree (by the conventions of [`crate::parse`]) to [`Expr`].

mod aggregate;
mod call;
mod cast;
mod existence;
mod fold;
mod literal;
mod names;
mod operators;
mod predicates;
mod rules;
mod window;

use std::sync::Arc;

use paceline_types::{Charset, Collation, DataType, Value};
use sqlparser::ast::{self, BinaryOperator, UnaryOperator};

pub(crate) use aggregate::sort_order;
pub(crate) use cast::{as_compared, compared_charset, in_common_charset};
pub(crate) use operators::{
    arithmetic, compare_exactly, compare_fixed, fixed_decimals, hex_number, literal_to_number,
    literal_to_year, read_as_number, read_as_temporal, read_leniently, reads_text, unquote_json,
};
pub(crate) use rules::{
    CollationMix, common_type_in, comparison_rule_for, is_exact_quotient, repertoire_of, round_quotient,
    rule_of_classes,
};
pub use rules::{common_type, comparison_rule, union_type};

use super::cast::CastTarget;
use super::errors;
use super::expr_type::{Class, ExprType};
use super::scope::Scope;
use super::tree::{ArithmeticOp, BitOp, CompareOp, Comparison, Expr, ExprKind, Quantifier, Truth};
use crate::error::Result;
use crate::stack;
use cast::{cast, cast_target, charset_named, collate};
use names::{column_name, identifier};
use operators::expect_value;
use predicates::{in_list, like, quantified, scalar_subquery, subquery_of};

/// Binds an expression that gives one value.
///
/// # Errors
/// 1054, 1052, 1241 (a row where a value is wanted), 1267, 1305, 1582, 1111 …
pub fn bind_expr(expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    expect_value(bind_operand(expr, scope)?)
}

/// Binds an expression used as a condition.
///
/// # Errors
/// As [`bind_expr`].
pub fn bind_condition(expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    bind_expr(expr, scope)
}

/// `left op right` of two bound expressions, by the rule that their types ask for: for USING, NATURAL JOIN and row values.
///
/// # Errors
/// 1267, 1241.
pub fn bind_comparison(op: CompareOp, left: Expr, right: Expr, scope: &dyn Scope) -> Result<Expr> {
    operators::compare(op, left, right, scope.session())
}

/// Converts an expression's values to a type that [`common_type`] gave: for the selects of a UNION.
pub fn convert_to_common_type(expr: Expr, ty: &ExprType) -> Expr {
    let shows_otherwise =
        matches!(ty.data_type, DataType::Bit { .. } | DataType::Year) && !expr.ty.is_column();
    if expr.ty.data_type == ty.data_type && !shows_otherwise {
        return expr;
    }
    let otherwise = Some(Box::new(expr));
    Expr {
        kind: ExprKind::Case {
            branches: Vec::new(),
            otherwise,
        },
        ty: ty.clone(),
    }
}

/// Binds an operand, which may be a row.
fn bind_operand(expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let bound = stack::on_enough(|| bind_node(expr, scope))?;
    Ok(fold::fold(bound, scope.session()))
}

fn bind_all<'e>(exprs: impl IntoIterator<Item = &'e ast::Expr>, scope: &mut dyn Scope) -> Result<Vec<Expr>> {
    exprs.into_iter().map(|expr| bind_expr(expr, scope)).collect()
}

fn bind_node(expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    use ast::Expr as E;
    match expr {
        E::Identifier(name) => identifier(name, scope),
        E::CompoundIdentifier(parts) => scope.resolve_column(&column_name(parts)?),
        E::Nested(inner) => bind_operand(inner, scope),
        E::Value(value) => value_literal(&value.value, scope),
        E::Prefixed { prefix, value } => literal::introduced(&prefix.value, value),
        E::TypedString(typed) => match &typed.value.value {
            ast::Value::SingleQuotedString(text) => {
                literal::temporal(&typed.data_type, text, scope.session())
            }
            _ => Err(errors::syntax_near(&typed.to_string())),
        },
        E::UnaryOp { op, expr: operand } => unary(*op, operand, expr, scope),
        E::BinaryOp { left, op, right } => binary(left, op, right, expr, scope),
        E::IsNull(operand) => is(Truth::Null, false, operand, scope),
        E::IsNotNull(operand) => is(Truth::Null, true, operand, scope),
        E::IsUnknown(operand) => is(Truth::Null, false, operand, scope),
        E::IsNotUnknown(operand) => is(Truth::Null, true, operand, scope),
        E::IsTrue(operand) => is(Truth::True, false, operand, scope),
        E::IsNotTrue(operand) => is(Truth::True, true, operand, scope),
        E::IsFalse(operand) => is(Truth::False, false, operand, scope),
        E::IsNotFalse(operand) => is(Truth::False, true, operand, scope),
        E::Between {
            expr,
            negated,
            low,
            high,
        } => {
            let value = bind_operand(expr, scope)?;
            let low = bind_operand(low, scope)?;
            let high = bind_operand(high, scope)?;
            operators::between(value, low, high, *negated, scope.session())
        }
        E::InList { expr, list, negated } => in_list(expr, list, *negated, scope),
        E::InSubquery {
            expr,
            subquery,
            negated,
        } => {
            let (op, quantifier) = if *negated {
                (CompareOp::Ne, Quantifier::All)
            } else {
                (CompareOp::Eq, Quantifier::Any)
            };
            quantified(expr, op, quantifier, subquery, scope)
        }
        E::AnyOp {
            left,
            compare_op,
            right,
            ..
        } => quantified(
            left,
            compare_operator(compare_op)?,
            Quantifier::Any,
            subquery_of(right)?,
            scope,
        ),
        E::AllOp {
            left,
            compare_op,
            right,
        } => quantified(
            left,
            compare_operator(compare_op)?,
            Quantifier::All,
            subquery_of(right)?,
            scope,
        ),
        E::Exists { subquery, negated } => {
            let subquery = Arc::new(scope.bind_subquery(&existence::without_columns(subquery))?);
            Ok(Expr {
                kind: ExprKind::Exists {
                    subquery,
                    negated: *negated,
                },
                ty: ExprType::boolean(),
            })
        }
        E::Subquery(query) => Ok(scalar_subquery(scope.bind_subquery(query)?)),
        E::Tuple(items) => {
            let items = items
                .iter()
                .map(|item| bind_operand(item, scope))
                .collect::<Result<Vec<_>>>()?;
            let ty = ExprType::null().with_nullable(items.iter().any(|item| item.ty.nullable));
            Ok(Expr {
                kind: ExprKind::Row(items),
                ty,
            })
        }
        E::Like {
            negated,
            expr,
            pattern,
            escape_char,
            ..
        } => like(expr, pattern, escape_char.as_deref(), *negated, scope),
        E::RLike {
            negated,
            expr,
            pattern,
            ..
        } => {
            let args = bind_all([&**expr, &**pattern], scope)?;
            let matched = call::make("regexp", args, scope)?;
            Ok(if *negated { negation(matched) } else { matched })
        }
        E::Case {
            operand,
            conditions,
            else_result,
            ..
        } => case(operand.as_deref(), conditions, else_result.as_deref(), scope),
        E::Cast { expr, data_type, .. } => {
            let operand = bind_expr(expr, scope)?;
            let target = cast_target(expr, data_type, None, scope.session())?;
            cast(operand, target)
        }
        E::Convert {
            expr,
            data_type,
            charset,
            ..
        } => {
            let operand = bind_expr(expr, scope)?;
            let charset = charset
                .as_ref()
                .map(|name| charset_named(&name.to_string()))
                .transpose()?;
            let target = match data_type {
                Some(data_type) => cast_target(expr, data_type, charset, scope.session())?,
                None => {
                    let collation = charset.unwrap_or(Charset::Utf8mb4).default_collation();
                    CastTarget::Char {
                        length: None,
                        collation,
                    }
                }
            };
            cast(operand, target)
        }
        E::Collate { expr, collation } => collate(expr, &collation.to_string(), scope),
        E::Function(function) => call::function(function, scope),
        E::Extract { field, expr, .. } => {
            let unit = Expr::literal(
                Value::Text(field.to_string().to_ascii_uppercase()),
                ExprType::null(),
            );
            let operand = bind_expr(expr, scope)?;
            call::make("extract", vec![unit, operand], scope)
        }
        E::Ceil { expr, .. } => {
            let args = bind_all([&**expr], scope)?;
            call::make("ceiling", args, scope)
        }
        E::Floor { expr, .. } => {
            let args = bind_all([&**expr], scope)?;
            call::make("floor", args, scope)
        }
        E::Position { expr, r#in } => {
            let args = bind_all([&**expr, &**r#in], scope)?;
            call::make("locate", args, scope)
        }
        E::Substring {
            expr,
            substring_from,
            substring_for,
            ..
        } => {
            let rest = substring_from.iter().chain(substring_for).map(|part| &**part);
            let args = bind_all(std::iter::once(&**expr).chain(rest), scope)?;
            call::make("substr", args, scope)
        }
        E::Trim {
            trim_where,
            trim_what,
            expr,
            ..
        } => {
            let name = match trim_where {
                Some(ast::TrimWhereField::Leading) => "ltrim",
                Some(ast::TrimWhereField::Trailing) => "rtrim",
                _ => "trim",
            };
            let args = bind_all(
                std::iter::once(&**expr).chain(trim_what.iter().map(|what| &**what)),
                scope,
            )?;
            call::make(name, args, scope)
        }
        E::Interval(interval) => Err(errors::syntax_near(&interval.to_string())),
        other => Err(errors::not_supported(other)),
    }
}

fn value_literal(value: &ast::Value, scope: &mut dyn Scope) -> Result<Expr> {
    use ast::Value as V;
    Ok(match value {
        V::Number(text, _) => literal::number(text)?,
        V::SingleQuotedString(text) | V::DoubleQuotedString(text) => literal::string(text, scope.session()),
        V::NationalStringLiteral(text) => literal::string(text, scope.session()),
        V::HexStringLiteral(digits) => literal::hex(digits)?,
        V::SingleQuotedByteStringLiteral(digits) => literal::bits(digits)?,
        V::Boolean(truth) => literal::boolean(*truth),
        V::Null => Expr::null(),
        V::Placeholder(text) => {
            let index = text
                .strip_prefix('?')
                .and_then(|number| number.parse().ok())
                .unwrap_or(0);
            let ty = scope.bind_parameter(index)?;
            Expr {
                kind: ExprKind::Parameter(index),
                ty,
            }
        }
        other => return Err(errors::syntax_near(&other.to_string())),
    })
}

fn unary(op: UnaryOperator, operand: &ast::Expr, whole: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    // A number of 2^63 is out of the signed range only without its minus.
    let operand = bind_expr(operand, scope)?;
    match op {
        UnaryOperator::Plus => Ok(operand),
        UnaryOperator::Minus => operators::negate(operand, &source_of(whole)),
        UnaryOperator::Not | UnaryOperator::BangNot => Ok(negation(operand)),
        UnaryOperator::BitwiseNot => {
            let nullable = operand.ty.nullable;
            Ok(Expr {
                kind: ExprKind::BitNot(Box::new(bit_operand(operand))),
                ty: ExprType::bigint_unsigned(21).with_nullable(nullable),
            })
        }
        other => Err(errors::syntax_near(&other.to_string())),
    }
}

/// The text of arithmetic as error 1690 shows it.
fn source_of(expr: &ast::Expr) -> String {
    match expr {
        ast::Expr::Nested(_) => expr.to_string(),
        _ => expr.to_string(),
    }
}

fn bit_operand(mut operand: Expr) -> Expr {
    operators::read_as_number(&mut operand);
    operand
}

fn negation(operand: Expr) -> Expr {
    let nullable = operand.ty.nullable;
    let ty = ExprType::boolean().with_nullable(nullable);
    let kind = match operand.kind {
        ExprKind::Exists { subquery, negated } => ExprKind::Exists {
            subquery,
            negated: !negated,
        },
        ExprKind::Between {
            by,
            negated,
            operands,
        } => ExprKind::Between {
            by,
            negated: !negated,
            operands,
        },
        ExprKind::InList {
            by,
            negated,
            needle,
            list,
            set,
        } => ExprKind::InList {
            by,
            negated: !negated,
            needle,
            list,
            set,
        },
        ExprKind::Like {
            negated,
            collation,
            escape,
            operands,
        } => ExprKind::Like {
            negated: !negated,
            collation,
            escape,
            operands,
        },
        ExprKind::Is {
            test,
            negated,
            operand,
        } => ExprKind::Is {
            test,
            negated: !negated,
            operand,
        },
        kind => ExprKind::Not(Box::new(Expr { kind, ty: operand.ty })),
    };
    Expr { kind, ty }
}

fn is(test: Truth, negated: bool, operand: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let operand = Box::new(bind_expr(operand, scope)?);
    Ok(Expr {
        kind: ExprKind::Is {
            test,
            negated,
            operand,
        },
        ty: ExprType::boolean(),
    })
}

fn compare_operator(op: &BinaryOperator) -> Result<CompareOp> {
    Ok(match op {
        BinaryOperator::Eq => CompareOp::Eq,
        BinaryOperator::NotEq => CompareOp::Ne,
        BinaryOperator::Spaceship => CompareOp::NullSafeEq,
        BinaryOperator::Lt => CompareOp::Lt,
        BinaryOperator::LtEq => CompareOp::Le,
        BinaryOperator::Gt => CompareOp::Gt,
        BinaryOperator::GtEq => CompareOp::Ge,
        other => return Err(errors::syntax_near(&other.to_string())),
    })
}

fn binary(
    left: &ast::Expr,
    op: &BinaryOperator,
    right: &ast::Expr,
    whole: &ast::Expr,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    use BinaryOperator as B;
    let arithmetic = match op {
        B::Plus | B::Minus => {
            if let ast::Expr::Interval(interval) = right {
                let date = bind_expr(left, scope)?;
                let name = if *op == B::Plus { "date_add" } else { "date_sub" };
                return call::date_arithmetic(name, date, interval, scope);
            }
            if let (ast::Expr::Interval(interval), B::Plus) = (left, op) {
                let date = bind_expr(right, scope)?;
                return call::date_arithmetic("date_add", date, interval, scope);
            }
            if *op == B::Plus {
                ArithmeticOp::Add
            } else {
                ArithmeticOp::Subtract
            }
        }
        B::Multiply => ArithmeticOp::Multiply,
        B::Divide => ArithmeticOp::Divide,
        B::Modulo => ArithmeticOp::Modulo,
        B::MyIntegerDivide | B::DuckIntegerDivide => ArithmeticOp::IntDivide,
        B::And | B::Or => return logical(left, op, right, scope),
        B::Xor => {
            let operands = Box::new([bind_expr(left, scope)?, bind_expr(right, scope)?]);
            let nullable = operands.iter().any(|operand| operand.ty.nullable);
            return Ok(Expr {
                kind: ExprKind::Xor(operands),
                ty: ExprType::boolean().with_nullable(nullable),
            });
        }
        B::BitwiseOr => return bits(BitOp::Or, left, right, scope),
        B::BitwiseAnd => return bits(BitOp::And, left, right, scope),
        B::BitwiseXor | B::PGBitwiseXor => return bits(BitOp::Xor, left, right, scope),
        B::PGBitwiseShiftLeft => return bits(BitOp::ShiftLeft, left, right, scope),
        B::PGBitwiseShiftRight => return bits(BitOp::ShiftRight, left, right, scope),
        B::StringConcat => {
            let args = bind_all([left, right], scope)?;
            return call::make("concat", args, scope);
        }
        B::Regexp => {
            let args = bind_all([left, right], scope)?;
            return call::make("regexp", args, scope);
        }
        B::Assignment => return assign(left, right, scope),
        B::Eq | B::NotEq | B::Spaceship | B::Lt | B::LtEq | B::Gt | B::GtEq => {
            let op = compare_operator(op)?;
            let left = bind_operand(left, scope)?;
            let right = bind_operand(right, scope)?;
            return operators::compare(op, left, right, scope.session());
        }
        other => return Err(errors::syntax_near(&other.to_string())),
    };
    let left = bind_expr(left, scope)?;
    let right = bind_expr(right, scope)?;
    operators::arithmetic(arithmetic, left, right, &source_of(whole), scope.session())
}

/// AND and OR, flattened: `a AND b AND c` is one node.
fn logical(left: &ast::Expr, op: &BinaryOperator, right: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let mut operands = Vec::new();
    for side in [left, right] {
        let bound = bind_expr(side, scope)?;
        match (bound.kind, op) {
            (ExprKind::And(more), BinaryOperator::And) | (ExprKind::Or(more), BinaryOperator::Or) => {
                operands.extend(more);
            }
            (kind, _) => operands.push(Expr { kind, ty: bound.ty }),
        }
    }
    let nullable = operands.iter().any(|operand| operand.ty.nullable);
    let kind = if *op == BinaryOperator::And {
        ExprKind::And(operands)
    } else {
        ExprKind::Or(operands)
    };
    Ok(Expr {
        kind,
        ty: ExprType::boolean().with_nullable(nullable),
    })
}

fn bits(op: BitOp, left: &ast::Expr, right: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let operands = Box::new([
        bit_operand(bind_expr(left, scope)?),
        bit_operand(bind_expr(right, scope)?),
    ]);
    let nullable = operands.iter().any(|operand| operand.ty.nullable);
    Ok(Expr {
        kind: ExprKind::Bits { op, operands },
        ty: ExprType::bigint_unsigned(21).with_nullable(nullable),
    })
}

fn assign(variable: &ast::Expr, value: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let ast::Expr::Identifier(name) = variable else {
        return Err(errors::syntax_near(&variable.to_string()));
    };
    let name = name.value.trim_start_matches('@').to_lowercase().into_boxed_str();
    let value = Box::new(bind_expr(value, scope)?);
    scope.assign_variable(&name);
    let ty = value.ty.clone();
    Ok(Expr {
        kind: ExprKind::AssignUserVariable { name, value },
        ty,
    })
}

/// How CASE compares a text with the texts among its values: all in one collation.
fn case_of_texts(operand: &Expr, tests: &[Expr], connection: Collation) -> Result<Option<Comparison>> {
    let is_text = |expr: &&Expr| expr.ty.class() == Class::String && !expr.ty.is_parameter();
    if !is_text(&operand) || !tests.iter().any(|test| is_text(&test)) {
        return Ok(None);
    }
    let all: Vec<&Expr> = std::iter::once(operand).chain(tests).collect();
    let types: Vec<&ExprType> = all.iter().map(|expr| &expr.ty).collect();
    let collation = CollationMix::for_comparison(&types, connection, "case")?;
    CollationMix::check_literals(&all, collation, connection, "case")?;
    Ok(Some(Comparison::of_texts(collation)))
}

fn case(
    operand: Option<&ast::Expr>,
    conditions: &[ast::CaseWhen],
    otherwise: Option<&ast::Expr>,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    let operand = operand.map(|operand| bind_expr(operand, scope)).transpose()?;
    let mut tests = Vec::with_capacity(conditions.len());
    let mut results = Vec::with_capacity(conditions.len());
    for branch in conditions {
        tests.push(bind_expr(&branch.condition, scope)?);
        results.push(bind_expr(&branch.result, scope)?);
    }
    let otherwise = otherwise
        .map(|otherwise| bind_expr(otherwise, scope))
        .transpose()?
        .map(Box::new);
    let connection = scope.session().settings.collation_connection;
    let types: Vec<&ExprType> = results
        .iter()
        .chain(otherwise.as_deref())
        .map(|result| &result.ty)
        .collect();
    let mut ty = common_type_in(&types, connection, "case")?;
    let all: Vec<&Expr> = results.iter().chain(otherwise.as_deref()).collect();
    CollationMix::check_literals(&all, ty.collation(), connection, "case")?;
    ty.nullable |= otherwise.is_none();
    let kind = match operand {
        None => ExprKind::Case {
            branches: tests.into_iter().zip(results).collect(),
            otherwise,
        },
        Some(mut operand) => {
            let mut rules = Vec::with_capacity(tests.len());
            let of_texts = case_of_texts(&operand, &tests, connection)?;
            for test in &mut tests {
                let mut by = match &of_texts {
                    Some(by) if test.ty.class() == Class::String && !test.ty.is_parameter() => by.clone(),
                    _ => rules::comparison_rule_for("case", &operand.ty, &test.ty, connection)?,
                };
                let mut unchanged = operand.clone();
                operators::adapt_each(&mut by, &mut unchanged, test, scope.session());
                rules.push(by);
            }
            operators::adapt_shared(&mut operand, &rules, scope.session());
            let branches = rules
                .into_iter()
                .zip(tests)
                .zip(results)
                .map(|((by, test), result)| (by, test, result))
                .collect();
            ExprKind::SimpleCase {
                operand: Box::new(operand),
                branches,
                otherwise,
            }
        }
    };
    Ok(Expr { kind, ty })
}
