//! Evaluation of bound expressions on a row.
//!
//! Columns, constants and parameters are borrowed, not copied: a comparison `id = ?` allocates nothing. All decisions
//! that depend on types were made when the expression was bound. Only parameters whose type was unknown then
//! ([`Comparison::Dynamic`], [`Domain::Dynamic`]) depend on the values.

mod arithmetic;
pub(crate) mod cast;
mod compare;
pub(crate) mod convert;
mod in_set;
pub(crate) mod like;
mod readings;
mod subquery;
mod warned_operand;

use std::borrow::Cow;

use paceline_types::convert::in_charset;
use paceline_types::decimal::Rounding;
use paceline_types::{DataType, Value};

pub use arithmetic::division_by_zero;
pub(crate) use compare::read_operand;
pub use compare::{compare_row_values, compare_rows, compare_values, compare_with, own_rule, row_values};

use self::readings::SharedOperand;
use super::context::EvalContext;
use super::expr_type::{Class, ExprType, TypeNote};
use super::tree::{
    ArithmeticOp, BitOp, CastTarget, CompareOp, Comparison, Domain, Escape, Expr, ExprKind, Truth,
};
use crate::error::Result;
use crate::errors;
use crate::eval::convert::hex_number;
use crate::session::UserVariable;
use crate::tree::Frame;

/// Returns a three-valued truth value as SQL's INT.
pub(crate) fn truth_value(truth: Option<bool>) -> Value {
    match truth {
        Some(truth) => Value::Int(i64::from(truth)),
        None => Value::Null,
    }
}

/// Converts an expression's value for the assignment to a column.
pub fn as_assigned(value: Value, ty: &ExprType, target: &DataType) -> Value {
    match value {
        Value::Bytes(bytes)
            if ty.note == TypeNote::HexLiteral
                && target.is_numeric()
                && !matches!(target, DataType::Bit { .. }) =>
        {
            assigned_hex(&bytes, target)
        }
        value => in_charset(value, ty.charset(), target),
    }
}

/// Returns the number of a hexadecimal literal for a numeric column: the highest number if it has more than 8 bytes
/// (`Item_hex_hybrid::save_in_field`).
fn assigned_hex(bytes: &[u8], target: &DataType) -> Value {
    match (bytes.len() > 8, target) {
        (false, _) => hex_number(bytes),
        // Above the range of every integer column, which reports that itself.
        (true, DataType::Integer(_) | DataType::Year) => Value::Double(f64::MAX),
        (true, _) => Value::Int(i64::MAX),
    }
}

impl Expr {
    /// Evaluates the expression on a row.
    ///
    /// # Errors
    /// 1690; 1365 and 1292 in strict writes; 1242; the errors of a subquery's execution.
    pub fn eval(&self, row: &[Value], context: &mut EvalContext<'_>) -> Result<Value> {
        self.eval_ref(row, context).map(Cow::into_owned)
    }

    /// Evaluates the expression on a row. A value in the row, the plan or the parameters is borrowed.
    ///
    /// # Errors
    /// The errors of [`Expr::eval`].
    pub fn eval_ref<'a, 'c: 'a>(
        &'a self,
        row: &'a [Value],
        context: &mut EvalContext<'c>,
    ) -> Result<Cow<'a, Value>> {
        let frame = Frame {
            row,
            parameters: context.parameters,
        };
        self.eval_shown(&frame, context)
    }

    /// Evaluates the expression on a row. A quotient keeps all its digits, for further computation or storage in
    /// another type.
    ///
    /// # Errors
    /// The errors of [`Expr::eval`].
    pub fn eval_unrounded<'a, 'c: 'a>(
        &'a self,
        row: &'a [Value],
        context: &mut EvalContext<'c>,
    ) -> Result<Cow<'a, Value>> {
        let frame = Frame {
            row,
            parameters: context.parameters,
        };
        self.eval_in(&frame, context)
    }

    /// Evaluates the expression on a row for the assignment to a column of this type: a quotient keeps all its digits,
    /// text for a binary column becomes its own bytes, and a hexadecimal literal for a number becomes a number.
    ///
    /// # Errors
    /// The errors of [`Expr::eval`].
    pub fn eval_assigned(
        &self,
        row: &[Value],
        target: &DataType,
        context: &mut EvalContext<'_>,
    ) -> Result<Value> {
        let value = self.eval_unrounded(row, context)?.into_owned();
        Ok(as_assigned(value, &self.ty, target))
    }

    /// Returns whether a condition holds; `None` is UNKNOWN.
    ///
    /// # Errors
    /// The errors of [`Expr::eval`].
    pub fn eval_truth<'c>(&self, row: &[Value], context: &mut EvalContext<'c>) -> Result<Option<bool>> {
        let frame = Frame {
            row,
            parameters: context.parameters,
        };
        self.truth_in(&frame, context)
    }

    /// Returns whether a condition holds; false for UNKNOWN.
    ///
    /// # Errors
    /// The errors of [`Expr::eval`].
    pub fn is_true(&self, row: &[Value], context: &mut EvalContext<'_>) -> Result<bool> {
        let frame = Frame {
            row,
            parameters: context.parameters,
        };
        Ok(self.condition_in(&frame, context)?.unwrap_or(false))
    }

    /// Evaluates the expression with the digits that its type shows.
    pub(crate) fn eval_shown<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &mut EvalContext<'_>,
    ) -> Result<Cow<'a, Value>> {
        Ok(self.as_shown(self.eval_in(frame, context)?))
    }

    /// Reduces a value of this expression to the digits that its type shows.
    fn as_shown<'a>(&self, value: Cow<'a, Value>) -> Cow<'a, Value> {
        match (&*value, &self.ty.data_type) {
            // A variable's type may be older than its value.
            _ if matches!(self.kind, ExprKind::UserVariable(_)) => value,
            (Value::Decimal(number), DataType::Decimal(ty)) if number.scale() != ty.scale => Cow::Owned(
                Value::Decimal(number.round(i32::from(ty.scale), Rounding::HalfUp)),
            ),
            _ => value,
        }
    }

    /// Evaluates the expression. As in MariaDB, a quotient keeps all its digits: `1/3*3` is 1.0000 although 1/3 shows
    /// as 0.3333.
    pub(crate) fn eval_in<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &mut EvalContext<'_>,
    ) -> Result<Cow<'a, Value>> {
        let value = match &self.kind {
            ExprKind::Literal(value) => return Ok(Cow::Borrowed(value)),
            ExprKind::Column(index) => return Ok(Cow::Borrowed(&frame.row[*index])),
            ExprKind::Parameter(index) => {
                return match frame.parameters.get(*index) {
                    Some(value) => Ok(Cow::Borrowed(value)),
                    None => Err(errors::missing_parameter()),
                };
            }
            ExprKind::Collate(operand) => return operand.eval_in(frame, context),
            ExprKind::Rounded(operand) => return operand.eval_shown(frame, context),
            ExprKind::Aggregate(_) => {
                unreachable!("the planner replaces aggregates by columns")
            }
            ExprKind::UserVariable(name) => match context.session.user_variables.get(name) {
                Some(variable) => variable.value.clone(),
                None => Value::Null,
            },
            ExprKind::AssignUserVariable { name, value } => {
                let ty = value.ty.clone();
                let value = value.eval_in(frame, context)?.into_owned();
                let variable = UserVariable::new(&value, ty, &context.session.settings.time_zone);
                context.session.user_variables.set(name, variable)?;
                value
            }
            ExprKind::SystemVariable { name, scope } => {
                let variables = context.session.services.variables.clone();
                variables.get(context.session, name, *scope)?.value
            }
            ExprKind::Compare { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Xor(_)
            | ExprKind::Not(_)
            | ExprKind::Is { .. }
            | ExprKind::Between { .. }
            | ExprKind::InList { .. }
            | ExprKind::Like { .. }
            | ExprKind::Exists { .. }
            | ExprKind::Quantified { .. } => truth_value(self.truth_in(frame, context)?),
            ExprKind::Arithmetic { op, domain, operands } => {
                let left = operands[0].eval_in(frame, context)?;
                // Only for exact decimals the other operand is not evaluated then.
                let looks = *domain != Domain::Decimal && *op != ArithmeticOp::IntDivide;
                let says = operands[1].ty.nullable || operands[1].ty.class() == Class::String;
                if left.is_null() && !(looks && says) {
                    return Ok(left);
                }
                let right = operands[1].eval_in(frame, context)?;
                if left.is_null() {
                    if *domain == Domain::Double {
                        convert::to_double(&right, context)?;
                    }
                    return Ok(left);
                }
                if right.is_null() {
                    return Ok(right);
                }
                let call = arithmetic::Operation {
                    op: *op,
                    domain: *domain,
                    ty: &self.ty,
                    expr: self,
                    parameters: frame.parameters,
                    names: context.names,
                };
                arithmetic::binary(&call, &left, &right, context)?
            }
            ExprKind::Negate { domain, operand } => {
                let value = operand.eval_in(frame, context)?;
                let call = arithmetic::Operation {
                    op: ArithmeticOp::Subtract,
                    domain: *domain,
                    ty: &self.ty,
                    expr: self,
                    parameters: frame.parameters,
                    names: context.names,
                };
                arithmetic::negate(&call, &value, context)?
            }
            ExprKind::Bits { op, operands } => {
                let left = operands[0].eval_in(frame, context)?;
                let right = operands[1].eval_in(frame, context)?;
                let is_null = left.is_null() || right.is_null();
                if left.is_null() && *op != BitOp::Xor {
                    return Ok(Cow::Owned(Value::Null));
                }
                // Otherwise both are converted, which can cause warnings.
                let left = convert::to_bit_operand(&left, context)?;
                let right = convert::to_bit_operand(&right, context)?;
                if is_null {
                    return Ok(Cow::Owned(Value::Null));
                }
                Value::UInt(arithmetic::bits(*op, left, right))
            }
            ExprKind::BitNot(operand) => {
                let value = operand.eval_in(frame, context)?;
                if value.is_null() {
                    Value::Null
                } else {
                    Value::UInt(!convert::to_bit_operand(&value, context)?)
                }
            }
            ExprKind::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    if condition.truth_in(frame, context)? == Some(true) {
                        return result.eval_as(&self.ty, frame, context);
                    }
                }
                return match otherwise {
                    // A column of a UNION is a table column.
                    Some(otherwise) if branches.is_empty() => {
                        let value = otherwise.eval_in(frame, context)?;
                        let value = convert::to_union_type(value, &otherwise.ty, &self.ty, context)?;
                        Ok(convert::as_stored(value, &self.ty.data_type))
                    }
                    Some(otherwise) => otherwise.eval_as(&self.ty, frame, context),
                    None => Ok(Cow::Owned(Value::Null)),
                };
            }
            ExprKind::SimpleCase {
                operand,
                branches,
                otherwise,
            } => {
                let equal = equal_branch(operand, branches, frame, context)?;
                return match equal.or(otherwise.as_deref()) {
                    Some(result) => result.eval_as(&self.ty, frame, context),
                    None => Ok(Cow::Owned(Value::Null)),
                };
            }
            ExprKind::Cast { target, operand } => {
                let value = if target.is_string() {
                    operand.eval_shown(frame, context)?
                } else {
                    operand.eval_in(frame, context)?
                };
                let is_temporal = matches!(
                    target,
                    CastTarget::Date | CastTarget::Time { .. } | CastTarget::DateTime { .. }
                );
                return match is_temporal {
                    true => context
                        .convert_operand(operand, |context| cast::cast(value, &operand.ty, target, context)),
                    false => {
                        context.evaluate_cast(self, |context| cast::cast(value, &operand.ty, target, context))
                    }
                };
            }
            ExprKind::Call(call) => {
                let args = crate::tree::Args {
                    call,
                    ty: &self.ty,
                    frame: *frame,
                };
                let value = (call.function.eval)(&args, context)?;
                check_length(&value, context)?;
                return Ok(Cow::Owned(value));
            }
            ExprKind::Row(_) => return Err(errors::operand_columns(1)),
            ExprKind::ScalarSubquery(subquery) => {
                let value = subquery::scalar(subquery, frame, context)?;
                convert::as_computed(Cow::Owned(value)).into_owned()
            }
        };
        Ok(Cow::Owned(value))
    }

    /// Returns the operand that CASE, IF or NULLIF takes its value from: `Some(None)` where it is NULL, `None` for what
    /// is no such choice.
    pub(crate) fn chosen<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &mut EvalContext<'_>,
    ) -> Result<Option<Option<&'a Expr>>> {
        Ok(Some(match &self.kind {
            ExprKind::Case { branches, otherwise } if !branches.is_empty() => {
                for (condition, result) in branches {
                    if condition.truth_in(frame, context)? == Some(true) {
                        return Ok(Some(Some(result)));
                    }
                }
                otherwise.as_deref()
            }
            ExprKind::SimpleCase {
                operand,
                branches,
                otherwise,
            } => equal_branch(operand, branches, frame, context)?.or(otherwise.as_deref()),
            ExprKind::Call(call) => match (call.function.name, &call.args[..]) {
                ("if", [condition, then, otherwise]) => match condition.truth_in(frame, context)? {
                    Some(true) => Some(then),
                    _ => Some(otherwise),
                },
                ("nullif", [returned, _]) => match self.eval_in(frame, context)?.is_null() {
                    true => None,
                    false => Some(returned),
                },
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    /// Evaluates a branch of CASE or of a function that selects an argument. Returns the value in the common type.
    pub(crate) fn eval_as<'a>(
        &'a self,
        ty: &ExprType,
        frame: &Frame<'a>,
        context: &mut EvalContext<'_>,
    ) -> Result<Cow<'a, Value>> {
        let value = self.eval_branch(ty, frame, context)?;
        self.converted_as(value, ty, context)
    }

    /// Converts a value of this expression to the common type.
    pub(crate) fn converted_as<'a>(
        &self,
        value: Cow<'a, Value>,
        ty: &ExprType,
        context: &mut EvalContext<'_>,
    ) -> Result<Cow<'a, Value>> {
        match ty.class().is_temporal() {
            true => context.convert_operand(self, |context| {
                convert::to_common_type(value, &self.ty, ty, context)
            }),
            false => convert::to_common_type(value, &self.ty, ty, context),
        }
    }

    /// Evaluates a branch without the conversion to the common type.
    pub(crate) fn eval_branch<'a>(
        &'a self,
        ty: &ExprType,
        frame: &Frame<'a>,
        context: &mut EvalContext<'_>,
    ) -> Result<Cow<'a, Value>> {
        if ty.class() == Class::String {
            self.eval_shown(frame, context)
        } else {
            self.eval_in(frame, context)
        }
    }

    /// Returns whether a condition, or an operand of AND, OR or NOT, holds. MariaDB converts a column to
    /// `column <> 0` there; for a text column it warns as for a decimal.
    fn condition_in<'a>(&'a self, frame: &Frame<'a>, context: &mut EvalContext<'_>) -> Result<Option<bool>> {
        if !matches!(self.kind, ExprKind::Column(_)) || !self.ty.data_type.is_text() {
            return self.truth_in(frame, context);
        }
        let value = self.eval_in(frame, context)?;
        convert::truth_of_column(&value, context)
    }

    pub(crate) fn truth_in<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &mut EvalContext<'_>,
    ) -> Result<Option<bool>> {
        Ok(match &self.kind {
            ExprKind::Compare {
                op,
                by: Comparison::Row(by),
                operands,
            } => {
                return compare_rows(*op, by, &operands[0], &operands[1], frame, context);
            }
            ExprKind::Compare { op, by, operands } => {
                let left = operands[0].eval_in(frame, context)?;
                if left.is_null() && *op != CompareOp::NullSafeEq {
                    return Ok(None);
                }
                let right = operands[1].eval_in(frame, context)?;
                let left = compare::read_operand(by, &operands[0], left, context)?;
                let right = compare::read_operand(by, &operands[1], right, context)?;
                if right.is_null() {
                    // As in MariaDB, the left side has been converted by then, which can cause a warning.
                    convert_for(by, &left, context)?;
                } else if left.is_null() {
                    convert_for(by, &right, context)?;
                }
                compare_with(*op, by, &left, &right, context)?
            }
            ExprKind::And(operands) => decide(operands, false, frame, context)?,
            ExprKind::Or(operands) => decide(operands, true, frame, context)?,
            ExprKind::Xor(operands) => {
                match (
                    operands[0].truth_in(frame, context)?,
                    operands[1].truth_in(frame, context)?,
                ) {
                    (Some(left), Some(right)) => Some(left != right),
                    _ => None,
                }
            }
            ExprKind::Not(operand) => operand.condition_in(frame, context)?.map(|truth| !truth),
            ExprKind::Is {
                test,
                negated,
                operand,
            } => {
                let holds = match test {
                    Truth::Null => match &operand.kind {
                        ExprKind::Row(_) => return Err(errors::operand_columns(1)),
                        _ => operand.eval_in(frame, context)?.is_null(),
                    },
                    Truth::True => operand.truth_in(frame, context)? == Some(true),
                    Truth::False => operand.truth_in(frame, context)? == Some(false),
                };
                Some(holds != *negated)
            }
            ExprKind::Between {
                by,
                negated,
                operands,
            } => {
                let value = operands[0].eval_in(frame, context)?;
                if value.is_null() {
                    return Ok(None);
                }
                let value = compare::read_operand(by, &operands[0], value, context)?;
                let low = operands[1].eval_in(frame, context)?;
                let low = compare::read_operand(by, &operands[1], low, context)?;
                let high = operands[2].eval_in(frame, context)?;
                let high = compare::read_operand(by, &operands[2], high, context)?;
                let decided;
                let by = match by {
                    Comparison::Dynamic { collation, .. } => {
                        decided =
                            compare::rule_of_between(operands, [&value, &low, &high], *collation, context)?;
                        &decided
                    }
                    by => by,
                };
                if low.is_null() && high.is_null() {
                    convert_for(by, &value, context)?;
                }
                let from = compare_with(CompareOp::Ge, by, &value, &low, context)?;
                let to = compare_with(CompareOp::Le, by, &value, &high, context)?;
                let within = match (from, to) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                within.map(|within| within != *negated)
            }
            ExprKind::InList {
                by,
                negated,
                needle,
                list,
                set,
            } => compare::in_list(by, needle, list, set, frame, context)?.map(|found| found != *negated),
            ExprKind::Like {
                negated,
                collation,
                escape,
                operands,
            } => {
                let text = operands[0].eval_shown(frame, context)?;
                let pattern = operands[1].eval_shown(frame, context)?;
                if text.is_null() || pattern.is_null() {
                    return Ok(None);
                }
                let escape = match escape {
                    Escape::Character(character) => *character,
                    Escape::Computed(escape) => {
                        let mode = context.session.settings.sql_mode;
                        like::escape_character(&*escape.eval_shown(frame, context)?, mode)?
                    }
                };
                Some(like::matches(&text, &pattern, escape, *collation, context) != *negated)
            }
            ExprKind::Exists { subquery, negated } => {
                Some(subquery::exists(subquery, frame, context)? != *negated)
            }
            ExprKind::Quantified {
                op,
                by,
                quantifier,
                left,
                subquery,
            } => subquery::quantified(*op, by, *quantifier, left, subquery, frame, context)?,
            ExprKind::Collate(operand) => return operand.truth_in(frame, context),
            ExprKind::Call(call) => {
                let args = crate::tree::Args {
                    call,
                    ty: &self.ty,
                    frame: *frame,
                };
                let value = (call.number_function().eval)(&args, context)?;
                convert::truth(&value, context)?
            }
            _ => {
                let value = self.eval_in(frame, context)?;
                convert::truth(&value, context)?
            }
        })
    }
}

/// Returns the result of the first branch of a CASE whose value is equal to the operand.
fn equal_branch<'a>(
    operand: &'a Expr,
    branches: &'a [(Comparison, Expr, Expr)],
    frame: &Frame<'a>,
    context: &mut EvalContext<'_>,
) -> Result<Option<&'a Expr>> {
    let rules = branches.iter().map(|(by, ..)| by);
    let subject = SharedOperand::new(operand, rules, frame, context)?;
    // NULL is equal to nothing, and nothing is read for it.
    let branches = if subject.is_null() { &[] } else { branches };
    for (by, value, result) in branches {
        let value = compare::read_operand(by, value, value.eval_in(frame, context)?, context)?;
        let subject = subject.compared_by(by, context)?;
        if value.is_null() {
            convert_for(by, &subject, context)?;
        }
        if compare_with(CompareOp::Eq, by, &subject, &value, context)? == Some(true) {
            return Ok(Some(result));
        }
    }
    Ok(None)
}

/// Evaluates AND or OR. The first operand with the value `decisive`, false for AND and true for OR,
/// determines the result; the operands after it are not evaluated.
#[inline]
fn decide<'a>(
    operands: &'a [Expr],
    decisive: bool,
    frame: &Frame<'a>,
    context: &mut EvalContext<'_>,
) -> Result<Option<bool>> {
    let mut result = Some(!decisive);
    for operand in operands {
        match operand.condition_in(frame, context)? {
            Some(truth) if truth == decisive => return Ok(Some(decisive)),
            Some(_) => {}
            None => result = None,
        }
    }
    Ok(result)
}

/// Converts a value as a comparison does, for the warnings of the conversion.
pub(crate) fn convert_for(by: &Comparison, value: &Value, context: &mut EvalContext<'_>) -> Result<()> {
    match by {
        Comparison::Double => convert::to_double(value, context).map(drop),
        Comparison::Decimal => convert::to_decimal(value, context).map(drop),
        Comparison::Int => convert::to_i128(value, context).map(drop),
        Comparison::DateTime => convert::to_datetime_for_comparison(value, context).map(drop),
        Comparison::Time => convert::to_time_for_comparison(value, context).map(drop),
        Comparison::FixedBinary(t) => convert::to_fixed_binary(value, *t, context).map(drop),
        _ => Ok(()),
    }
}

/// Length in bytes from which the memory of a result is checked.
const LONG_RESULT_BYTES: usize = 1 << 20;

/// Rejects a long result for which the session has no memory: nested calls can make a text longer at each level.
///
/// # Errors
/// 1290, 1041; 1317 and related errors.
fn check_length(value: &Value, context: &EvalContext<'_>) -> Result<()> {
    match long_bytes(value) {
        Some(bytes) => {
            check_interrupt(context)?;
            context.session.memory.check_room(bytes)
        }
        None => Ok(()),
    }
}

/// Checks whether the statement was killed before a long text is processed, because one row may need many such
/// operations.
///
/// # Errors
/// 1317 and related errors.
pub(super) fn check_before_long(value: &Value, context: &EvalContext<'_>) -> Result<()> {
    match long_bytes(value) {
        Some(_) => check_interrupt(context),
        None => Ok(()),
    }
}

/// Checks whether the statement was killed.
///
/// # Errors
/// 1317 and related errors.
pub(super) fn check_interrupt(context: &EvalContext<'_>) -> Result<()> {
    let functions = &context.session.services.functions;
    functions.check_interrupt(context.session)
}

/// Returns the length of a long text.
fn long_bytes(value: &Value) -> Option<usize> {
    let bytes = match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => return None,
    };
    (bytes > LONG_RESULT_BYTES).then_some(bytes)
}
