//! What a function sees of its call: at bind its arguments' types, at evaluation their values.

use std::borrow::Cow;

use paceline_types::{Collation, DateTime, Decimal, Time, Value};

use super::{Call, Function};
use crate::error::Result;
use crate::expr::bind::{CollationMix, common_type_in, in_common_charset, repertoire_of};
use crate::expr::context::EvalContext;
use crate::expr::eval::{Frame, Reading, check_before_long, convert};
use crate::expr::expr_type::{Class, Coercibility, ExprType, Repertoire};
use crate::expr::tree::{Expr, ExprKind};
use crate::session::SessionContext;

/// A call being bound.
pub(crate) struct BindCall<'b> {
    /// The name in lower case, for messages.
    pub name: &'b str,
    /// The name as it was written.
    pub written: &'b str,
    /// The arguments; a function may convert them.
    pub args: Vec<Expr>,
    /// The session.
    pub session: &'b SessionContext,
    /// What is called; a function whose argument's types ask for another says so here.
    pub function: &'static Function,
    /// How the first argument is compared, where that is not as it is returned.
    pub compared: Option<Box<Reading>>,
}

impl BindCall<'_> {
    /// The collation that text made from nothing has.
    pub fn connection(&self) -> Collation {
        self.session.settings.collation_connection
    }

    /// Whether any argument may be NULL.
    pub fn any_nullable(&self) -> bool {
        self.args.iter().any(|arg| arg.ty.nullable)
    }

    /// A result of this type, nullable if an argument is.
    pub fn with_nullability(&self, ty: ExprType) -> ExprType {
        let nullable = ty.nullable || self.any_nullable();
        ty.with_nullable(nullable)
    }

    /// The longest text that an argument has, in characters; 0 for one that is not there.
    pub fn length(&self, index: usize) -> u64 {
        self.args.get(index).map_or(0, |arg| arg.ty.max_characters())
    }

    /// The integer value of a constant argument.
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

    /// The collation that the arguments of these numbers have together, and brings them to its character set.
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

    /// The collation in which the first `count` arguments are compared, and brings them to its character set.
    pub fn compared_collation(&mut self, count: usize) -> Result<Collation> {
        let indexes: Vec<usize> = (0..count).collect();
        self.compared_collation_of(&indexes, self.name)
    }

    /// The collation in which the arguments of these numbers are compared, in this order in errors of the operation, and brings them to its character set.
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

    /// The type of a value that is one of the arguments from that one on; `operation` is for messages.
    pub fn common_type(&self, from: usize, operation: &str) -> Result<ExprType> {
        let args: Vec<&Expr> = self.args[from..].iter().collect();
        let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
        let ty = common_type_in(&types, self.connection(), operation)?;
        if ty.class() == Class::String {
            CollationMix::check_literals(&args, ty.collation(), self.connection(), operation)?;
        }
        Ok(ty)
    }

    /// Text of at most `characters`, in the collation of these arguments, nullable if any argument is.
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

    /// Text of at most `characters` in the connection's collation, nullable if any argument is.
    pub fn connection_text(&self, characters: u64) -> ExprType {
        self.with_nullability(ExprType::text(characters, self.connection()))
    }

    /// As [`BindCall::connection_text`], of ASCII.
    pub fn ascii_text(&self, characters: u64) -> ExprType {
        self.connection_text(characters)
            .with_repertoire(Repertoire::Ascii)
    }
}

/// A call being evaluated.
pub(crate) struct Args<'a> {
    pub call: &'a Call,
    /// The result's type.
    pub ty: &'a ExprType,
    pub frame: Frame<'a>,
}

impl<'a> Args<'a> {
    pub fn len(&self) -> usize {
        self.call.args.len()
    }

    /// The name in lower case.
    pub fn name(&self) -> &'static str {
        self.call.function.name
    }

    /// The call's text, for error 1690.
    pub fn described(&self) -> String {
        let args: Vec<String> = self.call.args.iter().map(described).collect();
        format!("{}({})", self.name(), args.join(","))
    }

    pub fn ty_of(&self, index: usize) -> &'a ExprType {
        &self.call.args[index].ty
    }

    /// Whether the result is a binary string.
    pub fn is_binary(&self) -> bool {
        self.ty.collation() == Collation::Binary
    }

    /// With all the digits that a division gave.
    pub fn value(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Cow<'a, Value>> {
        let value = self.call.args[index].eval_in(&self.frame, context)?;
        check_before_long(&value, context)?;
        Ok(value)
    }

    /// With the digits that its type shows, for what becomes text.
    pub fn shown(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Cow<'a, Value>> {
        let value = self.call.args[index].eval_shown(&self.frame, context)?;
        check_before_long(&value, context)?;
        Ok(value)
    }

    pub fn truth(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<bool>> {
        self.call.args[index].truth_in(&self.frame, context)
    }

    /// As BIGINT; `None` for NULL.
    pub fn int(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<i64>> {
        let value = self.shown(index, context)?;
        if value.is_null() {
            Ok(None)
        } else {
            convert::to_i64(&value, context).map(Some)
        }
    }

    /// As a number of characters: an unsigned one past BIGINT is its highest, not the negative number of the same bits.
    pub fn count(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<i64>> {
        let value = self.shown(index, context)?;
        match &*value {
            Value::Null => Ok(None),
            Value::UInt(number) => Ok(Some(i64::try_from(*number).unwrap_or(i64::MAX))),
            value => convert::to_i64(value, context).map(Some),
        }
    }

    /// As an integer of either sign; `None` for NULL.
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

    /// As text: numbers as their type shows them.
    pub fn text(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Cow<'a, str>>> {
        let ty = self.ty_of(index);
        Ok(match self.shown(index, context)? {
            Cow::Borrowed(Value::Text(text)) => Some(Cow::Borrowed(text)),
            Cow::Owned(Value::Text(text)) => Some(Cow::Owned(text)),
            value if value.is_null() => None,
            value => Some(Cow::Owned(convert::typed_text(&value, ty, context))),
        })
    }

    /// As text whose characters are what the result counts: of a binary result, each byte as a character.
    pub fn view(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Cow<'a, str>>> {
        if !self.is_binary() {
            return self.text(index, context);
        }
        Ok(self
            .bytes(index, context)?
            .map(|bytes| Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect())))
    }

    /// Makes the result of text that [`Args::view`] gave the pieces of.
    pub fn text_of_view(&self, text: impl Into<String>) -> Value {
        let text = text.into();
        if self.is_binary() {
            Value::Bytes(convert::from_latin_view(&text))
        } else {
            Value::Text(text)
        }
    }

    /// Makes the result of text: bytes where the result is binary.
    pub fn text_value(&self, text: impl Into<String>) -> Value {
        let text = text.into();
        if self.is_binary() {
            Value::Bytes(text.into_bytes())
        } else {
            Value::Text(text)
        }
    }

    /// As bytes in the character set of its type.
    pub fn bytes(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Cow<'a, [u8]>>> {
        let ty = self.ty_of(index);
        Ok(match self.shown(index, context)? {
            Cow::Borrowed(Value::Bytes(bytes)) => Some(Cow::Borrowed(bytes)),
            Cow::Owned(Value::Bytes(bytes)) => Some(Cow::Owned(bytes)),
            value if value.is_null() => None,
            value => Some(Cow::Owned(crate::expr::cast::bytes_of_type(&value, ty, context))),
        })
    }

    /// As a day and time; `None` for NULL and, with a warning, for what is none.
    pub fn datetime(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<DateTime>> {
        let value = self.value(index, context)?;
        convert::to_datetime(&value, context)
    }

    /// As a day and time of which the day is wanted: see [`convert::to_day`].
    pub fn day(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<DateTime>> {
        let value = self.value(index, context)?;
        convert::to_day(&value, context)
    }

    /// As a day and time whose month and day are not zero; `None` for one that has zeros, with a warning unless it is a date already.
    pub fn real_datetime(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<DateTime>> {
        let value = self.value(index, context)?;
        let datetime = convert::to_datetime(&value, context)?;
        if datetime.is_some_and(|datetime| datetime.date.month == 0 || datetime.date.day == 0) {
            if !matches!(&*value, Value::Date(_) | Value::DateTime(_) | Value::Timestamp(_)) {
                context.warn_incorrect("datetime", &value)?;
            }
            return Ok(None);
        }
        Ok(datetime)
    }

    /// As a time; `None` for NULL and, with a warning, for what is none.
    pub fn time(&self, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Time>> {
        let value = self.value(index, context)?;
        convert::to_time(&value, context)
    }

    /// The constant text that the binder put at the end of the arguments: a unit, a flag.
    pub fn keyword(&self, index: usize) -> &'a str {
        match self.call.args[index].as_literal() {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }
}

fn described(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Literal(Value::Text(text)) => format!("'{text}'"),
        ExprKind::Literal(Value::Null) => "NULL".to_owned(),
        ExprKind::Literal(value) => {
            paceline_types::text::to_string(&value.as_ref(), &paceline_types::TimeZone::UTC)
        }
        ExprKind::Arithmetic { source, .. } | ExprKind::Negate { source, .. } => source.to_string(),
        _ => "…".to_owned(),
    }
}

/// Gives NULL from a function where the value is `None`.
macro_rules! some {
    ($value:expr) => {
        match $value {
            Some(value) => value,
            None => return Ok(paceline_types::Value::Null),
        }
    };
}
pub(crate) use some;
