//! Calls as functions see them: argument types when a call is bound, argument values when it is evaluated.

use std::borrow::Cow;

use paceline_types::error_code::ER_WRONG_VALUE_FOR_TYPE;
use paceline_types::temporal;
use paceline_types::{Collation, DateTime, Decimal, Time, Value};

use crate::context::EvalContext;
use crate::error::{Error, Result};
use crate::errors;
use crate::eval::{check_before_long, convert};
use crate::expr_type::{Class, Coercibility, ExprType, Repertoire};
use crate::print::Printer;
use crate::rules::{CollationMix, common_type_in, repertoire_of};
use crate::tree::{Args, BindCall, CastTarget, Expr, ExprKind, Frame};
use crate::typing::adaptation::any_may_become_null;
use crate::typing::charset::in_common_charset;

impl BindCall<'_> {
    /// Returns the collation of text that does not come from an argument.
    pub fn connection(&self) -> Collation {
        self.session.settings.collation_connection
    }

    /// Returns whether any argument is nullable.
    pub fn any_nullable(&self) -> bool {
        self.args.iter().any(|arg| arg.ty.nullable)
    }

    /// Returns the type, nullable if an argument is.
    pub fn with_nullability(&self, ty: ExprType) -> ExprType {
        let nullable = ty.nullable || self.any_nullable();
        ty.with_nullable(nullable)
    }

    /// Returns the maximum length of an argument's text in characters; 0 for a missing argument.
    pub fn length(&self, index: usize) -> u64 {
        self.args.get(index).map_or(0, |arg| arg.ty.max_characters())
    }

    /// Returns the integer value of a constant argument.
    pub fn constant_int(&self, index: usize) -> Option<i64> {
        match self.args.get(index)?.as_literal()? {
            Value::Int(number) => Some(*number),
            Value::UInt(number) => i64::try_from(*number).ok(),
            Value::Decimal(number) => number.to_i64().ok(),
            Value::Double(number) => Some(number.round() as i64),
            Value::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// Returns the common collation of these arguments, and converts them to its character set.
    pub fn collation(&mut self, indexes: &[usize]) -> Result<(Collation, Coercibility)> {
        let args: Vec<&Expr> = indexes.iter().filter_map(|index| self.args.get(*index)).collect();
        let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
        let (collation, coercibility) = CollationMix::of(&types, self.connection(), self.name)?;
        CollationMix::check_literals(&args, collation, self.connection(), self.name)?;
        for index in indexes {
            if let Some(arg) = self.args.get_mut(*index) {
                in_common_charset(arg, collation, self.session);
            }
        }
        Ok((collation, coercibility))
    }

    /// Returns the collation for comparing the first `count` arguments, and converts them to its character set.
    pub fn compared_collation(&mut self, count: usize) -> Result<Collation> {
        let indexes: Vec<usize> = (0..count).collect();
        self.compared_collation_of(&indexes, self.name)
    }

    /// Returns the collation for comparing these arguments, and converts them to its character set. Errors name
    /// `operation` and the arguments in this order.
    pub fn compared_collation_of(&mut self, indexes: &[usize], operation: &str) -> Result<Collation> {
        let args: Vec<&Expr> = indexes.iter().filter_map(|index| self.args.get(*index)).collect();
        let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
        let collation = CollationMix::for_comparison(&types, self.connection(), operation)?;
        CollationMix::check_literals(&args, collation, self.connection(), operation)?;
        for index in indexes {
            if let Some(arg) = self.args.get_mut(*index) {
                in_common_charset(arg, collation, self.session);
            }
        }
        Ok(collation)
    }

    /// Returns the common type of the arguments from `from` on. `operation` is for messages.
    pub fn common_type(&self, from: usize, operation: &str) -> Result<ExprType> {
        let args: Vec<&Expr> = self.args[from..].iter().collect();
        let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
        let ty = common_type_in(&types, self.connection(), operation)?;
        if ty.class() == Class::String {
            CollationMix::check_literals(&args, ty.collation(), self.connection(), operation)?;
        }
        let nullable = ty.nullable || any_may_become_null(&args, &ty);
        Ok(ty.with_nullable(nullable))
    }

    /// Returns the common type of the arguments, nullable if each of them can be NULL as a value of that type.
    pub fn type_of_first_value(&self, operation: &str) -> Result<ExprType> {
        let ty = self.common_type(0, operation)?;
        let nullable = self
            .args
            .iter()
            .all(|arg| arg.ty.nullable || any_may_become_null(&[arg], &ty));
        Ok(ty.with_nullable(nullable))
    }

    /// Returns a text type of at most `characters` with the collation of these arguments, nullable if any argument is.
    pub fn text(&mut self, characters: u64, indexes: &[usize]) -> Result<ExprType> {
        let (collation, coercibility) = self.collation(indexes)?;
        let ty = ExprType::text(characters, collation).with_coercibility(coercibility);
        let repertoire = match collation {
            Collation::Binary => Repertoire::Full,
            _ => repertoire_of(
                indexes
                    .iter()
                    .filter_map(|index| self.args.get(*index))
                    .map(|arg| &arg.ty),
            ),
        };
        Ok(self.with_nullability(ty.with_repertoire(repertoire)))
    }

    /// Returns a text type of at most `characters` with the connection's collation, nullable if any argument is.
    pub fn connection_text(&self, characters: u64) -> ExprType {
        self.with_nullability(ExprType::text(characters, self.connection()))
    }

    /// Like [`BindCall::connection_text`], for ASCII text.
    pub fn ascii_text(&self, characters: u64) -> ExprType {
        self.connection_text(characters)
            .with_repertoire(Repertoire::Ascii)
    }
}

impl<'a> Args<'a> {
    pub fn len(&self) -> usize {
        self.call.args.len()
    }

    /// Returns the name in lower case.
    pub fn name(&self) -> &'static str {
        self.call.function.name
    }

    /// Returns 1690 for the call's result.
    #[cold]
    pub fn out_of_range(&self, kind: &str, context: &EvalContext<'_>) -> Error {
        let printer = Printer::new(context.names, self.frame.parameters);
        errors::out_of_range(kind, printer.function(self.call))
    }

    pub fn ty_of(&self, index: usize) -> &'a ExprType {
        &self.call.args[index].ty
    }

    /// Returns whether the result is a binary string.
    pub fn is_binary(&self) -> bool {
        self.ty.collation() == Collation::Binary
    }

    /// Evaluates an argument. A quotient keeps all its digits.
    pub fn value(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Cow<'a, Value>> {
        let value = self.call.args[index].eval_in(&self.frame, context)?;
        check_before_long(&value, context)?;
        Ok(value)
    }

    /// Evaluates an argument with the digits that its type shows, for conversion to text.
    pub fn shown(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Cow<'a, Value>> {
        let value = self.call.args[index].eval_shown(&self.frame, context)?;
        check_before_long(&value, context)?;
        Ok(value)
    }

    pub fn truth(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<bool>> {
        self.call.args[index].truth_in(&self.frame, context)
    }

    /// Evaluates an argument as BIGINT; `None` for NULL.
    pub fn int(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<i64>> {
        let value = self.shown(index, context)?;
        if value.is_null() {
            Ok(None)
        } else {
            convert::to_i64(&value, context).map(Some)
        }
    }

    /// Evaluates an argument as a number of characters. An unsigned number above the range of BIGINT is the maximum,
    /// not a negative number.
    pub fn count(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<i64>> {
        let value = self.shown(index, context)?;
        match &*value {
            Value::Null => Ok(None),
            Value::UInt(number) => Ok(Some(i64::try_from(*number).unwrap_or(i64::MAX))),
            value => convert::to_i64(value, context).map(Some),
        }
    }

    /// Evaluates an argument as an integer of either sign; `None` for NULL.
    pub fn wide_int(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<i128>> {
        let value = self.value(index, context)?;
        if value.is_null() {
            Ok(None)
        } else {
            convert::to_i128(&value, context).map(Some)
        }
    }

    pub fn double(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<f64>> {
        let value = self.value(index, context)?;
        if value.is_null() {
            Ok(None)
        } else {
            convert::to_double(&value, context).map(Some)
        }
    }

    pub fn decimal(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Decimal>> {
        let value = self.value(index, context)?;
        if value.is_null() {
            Ok(None)
        } else {
            convert::to_decimal(&value, context).map(Some)
        }
    }

    /// Evaluates an argument as text. Numbers have the format of their type.
    pub fn text(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Cow<'a, str>>> {
        let ty = self.ty_of(index);
        Ok(match self.shown(index, context)? {
            Cow::Borrowed(Value::Text(text)) => Some(Cow::Borrowed(text)),
            Cow::Owned(Value::Text(text)) => Some(Cow::Owned(text)),
            value if value.is_null() => None,
            value => Some(Cow::Owned(convert::typed_text(&value, ty, context))),
        })
    }

    /// Evaluates an argument as text in the result's unit of counting: for a binary result, each byte is a character.
    pub fn view(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Cow<'a, str>>> {
        if !self.is_binary() {
            return self.text(index, context);
        }
        Ok(self
            .bytes(index, context)?
            .map(|bytes| Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect())))
    }

    /// Returns the result for text composed of pieces from [`Args::view`].
    pub fn text_of_view(&self, text: impl Into<String>) -> Value {
        let text = text.into();
        if self.is_binary() {
            Value::Bytes(convert::from_latin_view(&text))
        } else {
            Value::Text(text)
        }
    }

    /// Evaluates an argument as bytes in the character set of its type.
    pub fn bytes(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Cow<'a, [u8]>>> {
        let ty = self.ty_of(index);
        Ok(match self.shown(index, context)? {
            Cow::Borrowed(Value::Bytes(bytes)) => Some(Cow::Borrowed(bytes)),
            Cow::Owned(Value::Bytes(bytes)) => Some(Cow::Owned(bytes)),
            value if value.is_null() => None,
            value => Some(Cow::Owned(crate::eval::convert::bytes_of_type(
                &value, ty, context,
            ))),
        })
    }

    /// Evaluates an argument as a datetime. Returns `None` for NULL, and with a warning for a value that is not a
    /// datetime.
    pub fn datetime(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<DateTime>> {
        let value = self.value(index, context)?;
        context.convert_operand(&self.call.args[index], |context| {
            convert::to_datetime(&value, context)
        })
    }

    /// Evaluates an argument as a datetime that is used as a day: see [`convert::to_day`].
    pub fn day(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<DateTime>> {
        let value = self.value(index, context)?;
        context.convert_operand(&self.call.args[index], |context| convert::to_day(&value, context))
    }

    /// Evaluates an argument as a datetime whose month and day are not zero. Returns `None` for one with zeros, with a
    /// warning unless the argument is a date already.
    pub fn real_datetime(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<DateTime>> {
        real_datetime_of(&self.call.args[index], &self.frame, context)
    }

    /// Evaluates an argument as a time. Returns `None` for NULL, and with a warning for a value that is not a time.
    pub fn time(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Time>> {
        let value = self.value(index, context)?;
        context.convert_operand(&self.call.args[index], |context| {
            convert::to_time(&value, context)
        })
    }

    /// Returns a constant text that the binder added to the arguments: a unit, a flag.
    pub fn keyword(&self, index: usize) -> &'a str {
        match self.call.args[index].as_literal() {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }
}

/// Returns NULL from the function if the value is `None`.
macro_rules! some {
    ($value:expr) => {
        match $value {
            Some(value) => value,
            None => return Ok(paceline_types::Value::Null),
        }
    };
}
pub(crate) use some;

/// Like [`Args::real_datetime`]. For IFNULL and similar functions, the first argument that is a date counts.
fn real_datetime_of(
    expr: &Expr,
    frame: &Frame<'_>,
    context: &mut EvalContext<'_>,
) -> Result<Option<DateTime>> {
    if let ExprKind::Call(call) = &expr.kind
        && matches!(call.function.name, "coalesce" | "ifnull" | "nvl")
        && expr.ty.class().is_temporal()
    {
        for branch in call.args.iter().filter(|branch| !is_timediff(branch)) {
            if let Some(datetime) = real_datetime_of(branch, frame, context)? {
                return Ok(Some(datetime));
            }
        }
        return Ok(None);
    }
    if matches!(expr.ty.class(), Class::Date | Class::DateTime)
        && let Some(chosen) = expr.chosen(frame, context)?
    {
        return match chosen {
            Some(chosen) if !is_timediff(chosen) => real_datetime_of(chosen, frame, context),
            _ => Ok(None),
        };
    }
    // The day of a choice among dates is that of the first that is one.
    if let Some(choice) = choice_under_date(expr) {
        let datetime = real_datetime_of(choice, frame, context)?;
        return Ok(datetime.map(|datetime| datetime.date.at_midnight()));
    }
    if let ExprKind::Call(call) = &under_casts(expr).kind
        && call.function.name == "last_day"
    {
        let datetime = real_datetime_of(&call.args[0], frame, context)?;
        let day = datetime.and_then(|datetime| temporal::last_day(datetime.date));
        return Ok(day.map(|day| day.at_midnight()));
    }
    let value = expr.eval_in(frame, context)?;
    check_before_long(&value, context)?;
    let datetime = context.convert_operand(expr, |context| convert::to_datetime(&value, context))?;
    if datetime.is_some_and(|datetime| datetime.date.month == 0 || datetime.date.day == 0) {
        // MariaDB accepts the zero date of FROM_DAYS, except for day 0.
        if let ExprKind::Call(call) = &under_casts(expr).kind
            && call.function.name == "from_days"
        {
            let days = call.args[0].eval_in(frame, context)?;
            let is_past = !days.is_null() && convert::to_i64(&days, context)? != 0;
            return Ok(datetime.filter(|_| is_past));
        }
        match &under_casts(expr).kind {
            ExprKind::Call(call) if call.function.name == "str_to_date" => {
                let text = call.args[0].eval_in(frame, context)?;
                let text = convert::text_of(&text, context).into_owned();
                let message = ER_WRONG_VALUE_FOR_TYPE.message(&[&"datetime", &text, &"str_to_date"]);
                context.warn(ER_WRONG_VALUE_FOR_TYPE, message)?;
            }
            _ if !is_temporal_source(expr) => {
                context.convert_operand(expr, |context| context.warn_incorrect("datetime", &value))?;
            }
            _ => {}
        }
        return Ok(None);
    }
    Ok(datetime)
}

/// Returns the COALESCE of dates whose day DATE() takes.
fn choice_under_date(expr: &Expr) -> Option<&Expr> {
    let operand = match &expr.kind {
        ExprKind::Cast {
            target: CastTarget::Date,
            operand,
        } => operand,
        ExprKind::Call(call) if call.function.name == "date" => call.args.first()?,
        _ => return None,
    };
    match &operand.kind {
        ExprKind::Call(call)
            if matches!(call.function.name, "coalesce" | "ifnull" | "nvl")
                && operand.ty.class().is_temporal() =>
        {
            Some(operand)
        }
        _ => None,
    }
}

/// Returns whether an expression is a TIMEDIFF, which MariaDB takes for a zero date where a choice wants a date.
fn is_timediff(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call(call) if call.function.name == "timediff")
}

/// Returns whether an expression is a date itself, not a number or text cast to one.
fn is_temporal_source(expr: &Expr) -> bool {
    under_casts(expr).ty.class().is_temporal()
}

/// Returns the operand under casts to a date.
fn under_casts(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast {
            target: CastTarget::Date | CastTarget::DateTime { .. },
            operand,
        } => under_casts(operand),
        ExprKind::Call(call)
            if matches!(call.function.name, "date" | "timestamp") && call.args.len() == 1 =>
        {
            under_casts(&call.args[0])
        }
        _ => expr,
    }
}
