//! From the syntax tree ([`paceline_syntax::ast`]) to [`Expr`].

mod aggregate;
mod call;
mod cast;
mod dynamic_column;
mod existence;
mod literal;
mod names;
mod predicates;
mod window;

pub use call::is_native_function;

use std::sync::Arc;

use paceline_types::{Collation, DataType};

use super::errors;
use super::expr_type::{Class, ExprType};
use super::scope::{Dependence, Scope};
use super::tree::{ArithmeticOp, BitOp, CompareOp, Comparison, Expr, ExprKind, Quantifier, Truth};
use crate::error::Result;
use crate::rules::{self, CollationMix, common_type_in};
use crate::session::SessionContext;
use crate::typing::operands::expect_value;
use crate::typing::{adaptation, arithmetic, comparison, fold, operands, reading, refusal};
use cast::{cast, cast_target, charset_named, collate, convert_using};
use names::{system_variable, user_variable};
use paceline_syntax::ast::{self, BinaryOp, UnaryOp};
use paceline_syntax::stack;
use predicates::{in_list, like, quantified, scalar_subquery};

/// Binds an expression that has a single value.
///
/// # Errors
/// 1054, 1052, 1241 (a row in place of a value), 1267, 1305, 1582, 1111 …
pub fn bind_expr(expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    expect_value(bind_operand(expr, scope)?)
}

/// Binds an expression used as a condition.
///
/// # Errors
/// Those of [`bind_expr`].
pub fn bind_condition(expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let condition = bind_expr(expr, scope)?;
    // HAVING accepts an aggregate.
    let is_aggregate = matches!(expr.without_parentheses(), ast::Expr::Call(_));
    if !is_aggregate {
        refusal::check_condition(&condition, "bigint", "<>")?;
    }
    Ok(condition)
}

/// Returns the comparison of two bound expressions by the rule for their types: for USING, NATURAL JOIN and
/// row values.
///
/// # Errors
/// 1267, 1241.
pub fn bind_comparison(op: CompareOp, left: Expr, right: Expr, scope: &dyn Scope) -> Result<Expr> {
    comparison::compare(op, left, right, scope.session())
}

/// Converts an expression to a type returned by [`common_type`]: for the SELECTs of a UNION.
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

/// Binds an operand, which can be a row.
fn bind_operand(expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let bound = stack::on_enough(|| bind_node(expr, scope))?;
    Ok(fold::fold(bound, scope.session()))
}

/// Binds the operand of an operation that MariaDB names when it refuses a row (4079).
fn bind_operand_of(operation: &str, expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let operand = bind_operand(expr, scope)?;
    match operands::is_value(&operand) {
        true => Ok(operand),
        false => Err(errors::row_operand(operation)),
    }
}

/// Returns a conversion to text with its nullability.
fn made_text(converted: Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let ty = call::nullable_text(converted.ty, scope.session());
    Ok(Expr { ty, ..converted })
}

fn bind_all<'e>(exprs: impl IntoIterator<Item = &'e ast::Expr>, scope: &mut dyn Scope) -> Result<Vec<Expr>> {
    exprs.into_iter().map(|expr| bind_expr(expr, scope)).collect()
}

/// Binds a parameter, or a variable of a program: a row is a row of its fields.
fn parameter(index: usize, scope: &mut dyn Scope) -> Result<Expr> {
    let variables = &scope.session().program_variables;
    variables.check(index)?;
    if let Some(fields) = variables.row(index) {
        let fields = fields.iter().map(|field| ast::Expr::Parameter(*field)).collect();
        return bind_node(&ast::Expr::Row(fields), scope);
    }
    Ok(Expr {
        kind: ExprKind::Parameter(index),
        ty: scope.bind_parameter(index)?,
    })
}

fn bind_node(expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    use ast::Expr as E;
    match expr {
        E::Column(name) => scope.resolve_column(name),
        E::UserVariable(name) => {
            let bound = user_variable(name, scope.session());
            if let ExprKind::UserVariable(name) = &bound.kind {
                scope.depend_on(Dependence::UserVariable(name));
            }
            Ok(bound)
        }
        E::SystemVariable {
            scope: variable_scope,
            name,
        } => system_variable(*variable_scope, name, scope),
        E::Assignment { variable, value } => assignment(variable, value, scope),
        E::Parameter(index) => parameter(*index, scope),
        E::Nested(inner) => bind_operand(inner, scope),
        E::Literal(literal) => literal_value(literal, scope.session()),
        E::Introduced { charset, literal } => literal::introduced(charset, literal),
        E::TemporalLiteral { kind, text } => literal::temporal(*kind, text, scope),
        E::Unary { op, operand } => unary(*op, operand, scope),
        E::Binary { left, op, right } => binary(left, *op, right, scope),
        E::Is {
            operand,
            test,
            negated,
        } => is(*test, *negated, operand, scope),
        E::Between {
            operand,
            negated,
            low,
            high,
        } => {
            let value = bind_operand(operand, scope)?;
            let low = bind_operand(low, scope)?;
            let high = bind_operand(high, scope)?;
            comparison::between(value, low, high, *negated, scope.session())
        }
        E::InList {
            operand,
            list,
            negated,
        } => in_list(operand, list, *negated, scope),
        E::InSubquery {
            operand,
            subquery,
            negated,
        } => {
            let (op, quantifier) = if *negated {
                (CompareOp::Ne, Quantifier::All)
            } else {
                (CompareOp::Eq, Quantifier::Any)
            };
            quantified(operand, op, quantifier, subquery, scope)
        }
        E::Quantified {
            left,
            op,
            quantifier,
            subquery,
        } => {
            let op = comparison(*op).ok_or_else(|| errors::syntax_near(&op.to_string()))?;
            let quantifier = match quantifier {
                ast::Quantifier::Any => Quantifier::Any,
                ast::Quantifier::All => Quantifier::All,
            };
            quantified(left, op, quantifier, subquery, scope)
        }
        E::Exists(subquery) => {
            let subquery = Arc::new(scope.bind_subquery(&existence::without_columns(subquery))?);
            Ok(Expr {
                kind: ExprKind::Exists {
                    subquery,
                    negated: false,
                },
                ty: ExprType::boolean(),
            })
        }
        E::Subquery(query) => Ok(scalar_subquery(scope.bind_subquery(query)?)),
        E::Row(items) => {
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
            text,
            pattern,
            escape,
            negated,
        } => like(text, pattern, escape.as_deref(), *negated, scope),
        E::Regexp {
            text,
            pattern,
            negated,
        } => {
            let args = bind_all([&**text, &**pattern], scope)?;
            let matched = call::make("regexp", args, scope)?;
            Ok(if *negated { negation(matched) } else { matched })
        }
        E::Case {
            operand,
            branches,
            otherwise,
        } => case(operand.as_deref(), branches, otherwise.as_deref(), scope),
        E::Cast { operand, target } => {
            let bound = bind_expr(operand, scope)?;
            let target = cast_target(operand, target, scope.session())?;
            made_text(cast(bound, target)?, scope)
        }
        E::ConvertUsing { operand, charset } => {
            let operand = bind_expr(operand, scope)?;
            let converted = convert_using(operand, charset_named(charset)?.default_collation())?;
            made_text(converted, scope)
        }
        E::Collate { operand, collation } => made_text(collate(operand, collation, scope)?, scope),
        E::Call(call) => call::function(call, scope),
        E::Sequence(value) => call::sequence_value(value, scope),
        E::Extract { unit, operand } => {
            let operation = format!("extract({})", unit.name().to_ascii_lowercase());
            let operand = bind_operand_of(&operation, operand, scope)?;
            call::make("extract", vec![call::keyword(unit.name()), operand], scope)
        }
        E::TimestampAdd { unit, amount, date } => {
            let amount = bind_expr(amount, scope)?;
            let date = bind_expr(date, scope)?;
            call::make("date_add", vec![date, amount, call::keyword(unit.name())], scope)
        }
        E::TimestampDiff { unit, from, to } => {
            let from = bind_operand_of("timestampdiff", from, scope)?;
            let to = bind_operand_of("timestampdiff", to, scope)?;
            call::make("timestampdiff", vec![call::keyword(unit.name()), from, to], scope)
        }
        E::GetFormat { kind, region } => {
            let region = bind_expr(region, scope)?;
            call::make("get_format", vec![call::keyword(kind.name()), region], scope)
        }
        E::DynamicColumns { base, columns } => dynamic_column::create(base.as_deref(), columns, scope),
        E::DynamicColumn {
            columns,
            name,
            target,
        } => dynamic_column::get(columns, name, target, scope),
        E::Trim { side, what, text } => {
            let name = match side {
                Some(ast::TrimSide::Leading) => "ltrim",
                Some(ast::TrimSide::Trailing) => "rtrim",
                Some(ast::TrimSide::Both) | None => "trim",
            };
            let args = bind_all(std::iter::once(&**text).chain(what.as_deref()), scope)?;
            call::make(name, args, scope)
        }
        E::Interval(interval) => Err(errors::syntax_near(&interval.to_string())),
    }
}

fn literal_value(literal: &ast::Literal, session: &SessionContext) -> Result<Expr> {
    use ast::Literal as L;
    Ok(match literal {
        L::Null => Expr::null(),
        L::Boolean(truth) => literal::boolean(*truth),
        L::Number(text) => literal::number(text)?,
        L::HexNumber(digits) => literal::hex_number(digits)?,
        L::Hex(digits) => literal::hex(digits)?,
        L::Bits(digits) => literal::bits(digits)?,
        L::Text(text) => literal::string(text, session),
    })
}

fn unary(op: UnaryOp, operand: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    // 2^63 is out of the signed range, but -2^63 is not.
    let operand = match op {
        UnaryOp::BitNot => bind_operand_of("~", operand, scope)?,
        _ => bind_expr(operand, scope)?,
    };
    match op {
        UnaryOp::Plus => Ok(operand),
        UnaryOp::Minus => arithmetic::negate(operand),
        UnaryOp::Not => {
            refusal::check_condition(&operand, "int", "=")?;
            Ok(negation(operand))
        }
        UnaryOp::BitNot => {
            refusal::check_operand(&operand.ty, "~")?;
            let nullable = operand.ty.nullable;
            Ok(Expr {
                kind: ExprKind::BitNot(Box::new(bit_operand(operand))),
                ty: ExprType::bigint_unsigned(21).with_nullable(nullable),
            })
        }
    }
}

fn bit_operand(mut operand: Expr) -> Expr {
    reading::read_as_decimal(&mut operand);
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

fn is(test: ast::TruthTest, negated: bool, operand: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let test = match test {
        ast::TruthTest::Null => Truth::Null,
        ast::TruthTest::True => Truth::True,
        ast::TruthTest::False => Truth::False,
    };
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

/// Returns the operator as a comparison, if it is one.
fn comparison(op: BinaryOp) -> Option<CompareOp> {
    Some(match op {
        BinaryOp::Equal => CompareOp::Eq,
        BinaryOp::NotEqual => CompareOp::Ne,
        BinaryOp::NullSafeEqual => CompareOp::NullSafeEq,
        BinaryOp::Less => CompareOp::Lt,
        BinaryOp::LessOrEqual => CompareOp::Le,
        BinaryOp::Greater => CompareOp::Gt,
        BinaryOp::GreaterOrEqual => CompareOp::Ge,
        _ => return None,
    })
}

fn binary(left: &ast::Expr, op: BinaryOp, right: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    use BinaryOp as B;
    let arithmetic = match op {
        B::Add | B::Subtract => {
            if let ast::Expr::Interval(interval) = right {
                let date = bind_expr(left, scope)?;
                let name = if op == B::Add { "date_add" } else { "date_sub" };
                return call::date_arithmetic(name, date, interval, scope);
            }
            if let (ast::Expr::Interval(interval), B::Add) = (left, op) {
                let date = bind_expr(right, scope)?;
                return call::date_arithmetic("date_add", date, interval, scope);
            }
            if op == B::Add {
                ArithmeticOp::Add
            } else {
                ArithmeticOp::Subtract
            }
        }
        B::Multiply => ArithmeticOp::Multiply,
        B::Divide => ArithmeticOp::Divide,
        B::Modulo => ArithmeticOp::Modulo,
        B::IntDivide => ArithmeticOp::IntDivide,
        B::And | B::Or => return logical(left, op, right, scope),
        B::Xor => {
            let operands = Box::new([bind_expr(left, scope)?, bind_expr(right, scope)?]);
            let nullable = operands.iter().any(|operand| operand.ty.nullable);
            return Ok(Expr {
                kind: ExprKind::Xor(operands),
                ty: ExprType::boolean().with_nullable(nullable),
            });
        }
        B::BitOr => return bits(BitOp::Or, "|", left, right, scope),
        B::BitAnd => return bits(BitOp::And, "&", left, right, scope),
        B::BitXor => return bits(BitOp::Xor, "^", left, right, scope),
        B::ShiftLeft => return bits(BitOp::ShiftLeft, "<<", left, right, scope),
        B::ShiftRight => return bits(BitOp::ShiftRight, ">>", left, right, scope),
        B::Equal
        | B::NullSafeEqual
        | B::NotEqual
        | B::Less
        | B::LessOrEqual
        | B::Greater
        | B::GreaterOrEqual => {
            let left = bind_operand(left, scope)?;
            let right = bind_operand(right, scope)?;
            let op = comparison(op).expect("one of those above");
            return comparison::compare(op, left, right, scope.session());
        }
    };
    bind_arithmetic(arithmetic, left, right, scope)
}

/// Binds an operator with two operands.
fn bind_arithmetic(
    op: ArithmeticOp,
    left: &ast::Expr,
    right: &ast::Expr,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    let left = bind_operand(left, scope)?;
    let right = bind_operand(right, scope)?;
    operands::check_values(op.as_str(), &left, &right)?;
    arithmetic::arithmetic(op, left, right, scope.session())
}

/// Binds AND and OR. `a AND b AND c` becomes one node.
fn logical(left: &ast::Expr, op: BinaryOp, right: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let mut operands = Vec::new();
    for side in [left, right] {
        let bound = bind_expr(side, scope)?;
        refusal::check_condition(&bound, "int", "<>")?;
        match (bound.kind, op) {
            (ExprKind::And(more), BinaryOp::And) | (ExprKind::Or(more), BinaryOp::Or) => {
                operands.extend(more);
            }
            (kind, _) => operands.push(Expr { kind, ty: bound.ty }),
        }
    }
    let nullable = operands.iter().any(|operand| operand.ty.nullable);
    let kind = if op == BinaryOp::And {
        ExprKind::And(operands)
    } else {
        ExprKind::Or(operands)
    };
    Ok(Expr {
        kind,
        ty: ExprType::boolean().with_nullable(nullable),
    })
}

fn bits(op: BitOp, name: &str, left: &ast::Expr, right: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let operands = Box::new([
        bit_operand(bind_operand_of(name, left, scope)?),
        bit_operand(bind_operand_of(name, right, scope)?),
    ]);
    for operand in &*operands {
        refusal::check_operand(&operand.ty, name)?;
    }
    let nullable = operands.iter().any(|operand| operand.ty.nullable);
    Ok(Expr {
        kind: ExprKind::Bits { op, operands },
        ty: ExprType::bigint_unsigned(21).with_nullable(nullable),
    })
}

fn assignment(variable: &str, value: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let name = variable.to_lowercase().into_boxed_str();
    let value = Box::new(bind_expr(value, scope)?);
    scope.assign_variable(&name);
    let ty = value.ty.clone();
    Ok(Expr {
        kind: ExprKind::AssignUserVariable { name, value },
        ty,
    })
}

/// Returns the rule by which CASE compares a text with the texts among its values: all in one collation.
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
    conditions: &[ast::CaseBranch],
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
    ty.nullable |= otherwise.is_none() || adaptation::any_may_become_null(&all, &ty);
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
                    _ => match rules::fixed_binary_rule("case..when", &operand.ty, &test.ty)? {
                        Some(by) => by,
                        None => rules::comparison_rule_for("case", &operand.ty, &test.ty, connection)?,
                    },
                };
                let mut unchanged = operand.clone();
                adaptation::adapt_each(&mut by, &mut unchanged, test, scope.session());
                rules.push(by);
            }
            adaptation::adapt_shared(&mut operand, &rules, scope.session());
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
