//! Dynamic columns: a BLOB with columns of its own, each with a number or a name, and a value with a type.
//!
//! [`format`] has the layout, [`value`] the values. The binder ([`crate::bind`]) adds the types that the statement
//! names to the arguments. COLUMN_DELETE is a COLUMN_ADD of NULLs.
//!
//! Columns have names if an argument that names one is not an integer, if the changed columns have names, or if a value
//! is dynamic columns itself.

mod format;
mod value;

use std::borrow::Cow;

use paceline_types::error_code::{
    ER_BAD_DATA, ER_DATA_OVERFLOW, ER_DYN_COL_DATA, ER_DYN_COL_IMPLEMENTATION_LIMIT,
    ER_DYN_COL_WRONG_CHARSET, ER_DYN_COL_WRONG_FORMAT, ER_OUT_OF_RESOURCES, ER_UNKNOWN_ERROR,
};
use paceline_types::{Collation, DataType, Decimal, SqlMode, TimeZone, Value, convert, text};

use self::format::{Change, ColumnKey, ColumnReader, FormatError, KeyKind, check, create, update};
use self::value::{DynamicValue, can_be_empty};
use super::arguments::some;
use super::string::within_packet;
use crate::context::EvalContext;
use crate::error::{Error, Result};
use crate::errors;
use crate::eval::convert::latin_view_of;
use crate::expr_type::{Class, ExprType};
use crate::tree::{Args, BindCall, Expr, Function, MANY, pure};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("column_create", (3, MANY), bind_columns, eval_create),
    pure("column_add", (4, MANY), bind_columns, eval_add),
    pure("column_get", (3, 3), bind_columns, eval_get),
    pure(
        "column_exists",
        (2, 2),
        |_| Ok(ExprType::int(1).nullable()),
        eval_exists,
    ),
    pure(
        "column_check",
        (1, 1),
        |_| Ok(ExprType::int(1).nullable()),
        eval_check,
    ),
    pure("column_list", (1, 1), bind_text, eval_list),
    pure("column_json", (1, 1), bind_text, eval_json),
];

/// Levels of dynamic columns within one another that COLUMN_JSON shows.
const JSON_DEPTH_MAX: usize = 9;

fn argument(word: String) -> Expr {
    Expr::literal(Value::Text(word), ExprType::null())
}

/// Type that a value is stored with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredType {
    /// That of the value.
    OfValue,
    Signed,
    Unsigned,
    Double,
    Decimal,
    /// The value's bytes, in this character set.
    Text(Collation),
    Date,
    Time,
    DateTime,
    /// Dynamic columns.
    Columns,
}

impl StoredType {
    const WORDS: [(&'static str, StoredType); 9] = [
        ("", StoredType::OfValue),
        ("int", StoredType::Signed),
        ("unsigned int", StoredType::Unsigned),
        ("double", StoredType::Double),
        ("decimal", StoredType::Decimal),
        ("date", StoredType::Date),
        ("time", StoredType::Time),
        ("datetime", StoredType::DateTime),
        ("columns", StoredType::Columns),
    ];

    /// Returns the type as an argument of the call.
    pub(crate) fn to_argument(self) -> Expr {
        let word = Self::WORDS.iter().find(|(_, ty)| *ty == self);
        argument(match self {
            StoredType::Text(collation) => collation.name().to_owned(),
            _ => word.map_or("", |(word, _)| word).to_owned(),
        })
    }

    fn of_argument(word: &str) -> StoredType {
        match Self::WORDS.iter().find(|(known, _)| *known == word) {
            Some((_, ty)) => *ty,
            None => StoredType::Text(Collation::from_name(word).unwrap_or(Collation::Binary)),
        }
    }
}

/// Kind of the type that COLUMN_GET returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetKind {
    Signed,
    Unsigned,
    Double,
    Decimal,
    Text,
    Bytes,
    Temporal,
}

impl TargetKind {
    const WORDS: [(&'static str, TargetKind); 7] = [
        ("INT", TargetKind::Signed),
        ("UNSIGNED INT", TargetKind::Unsigned),
        ("DOUBLE", TargetKind::Double),
        ("DECIMAL", TargetKind::Decimal),
        ("CHAR", TargetKind::Text),
        ("BINARY", TargetKind::Bytes),
        ("DATETIME", TargetKind::Temporal),
    ];

    /// Returns the kind as an argument of the call: its name in warnings.
    pub(crate) fn to_argument(self) -> Expr {
        let word = Self::WORDS.iter().find(|(_, kind)| *kind == self);
        argument(word.map_or("", |(word, _)| word).to_owned())
    }

    fn of_argument(word: &str) -> TargetKind {
        let kind = Self::WORDS.iter().find(|(known, _)| *known == word);
        kind.map_or(TargetKind::Text, |(_, kind)| *kind)
    }
}

fn bind_columns(_: &mut BindCall<'_>) -> Result<ExprType> {
    Ok(ExprType::bytes(u64::from(u32::MAX)).nullable())
}

fn bind_text(_: &mut BindCall<'_>) -> Result<ExprType> {
    Ok(ExprType::text(u64::from(u32::MAX) / 4, Collation::Utf8mb4GeneralCi).nullable())
}

fn refused(error: FormatError) -> Error {
    let code = match error {
        FormatError::Malformed => ER_DYN_COL_WRONG_FORMAT,
        FormatError::Limit => ER_DYN_COL_IMPLEMENTATION_LIMIT,
        FormatError::Data => ER_DYN_COL_DATA,
        FormatError::Charset => ER_DYN_COL_WRONG_CHARSET,
        FormatError::Depth => ER_OUT_OF_RESOURCES,
    };
    errors::error(code, &[])
}

/// Returns the values of the columns in the arguments; `None` if a name is NULL.
fn changes<'a>(
    args: &Args<'a>,
    kind: KeyKind,
    context: &mut EvalContext<'_>,
) -> Result<Option<Vec<Change<'a>>>> {
    let mut changes = Vec::with_capacity(args.len() / 3);
    for index in (0..args.len() / 3).map(|column| 3 * column) {
        let key = match kind {
            KeyKind::Numbers => args
                .int(index, context)?
                .map(|number| ColumnKey::Number(number as u32)),
            KeyKind::Names => name(args, index, context)?,
        };
        let Some(key) = key else {
            return Ok(None);
        };
        let ty = StoredType::of_argument(args.keyword(index + 2));
        let value = stored_value(args, index + 1, ty, context)?;
        changes.push((key, value.map(|value| value.stored(kind))));
    }
    Ok(Some(changes))
}

/// Evaluates an argument as the name of a column.
fn name<'a>(args: &Args<'a>, index: usize, context: &mut EvalContext<'_>) -> Result<Option<ColumnKey<'a>>> {
    let name = args.text(index, context)?;
    Ok(name.map(|name| {
        ColumnKey::Name(match name {
            Cow::Borrowed(name) => Cow::Borrowed(name.as_bytes()),
            Cow::Owned(name) => Cow::Owned(name.into_bytes()),
        })
    }))
}

/// Evaluates an argument as the value of a column; `None` for NULL.
fn stored_value<'a>(
    args: &Args<'a>,
    index: usize,
    ty: StoredType,
    context: &mut EvalContext<'_>,
) -> Result<Option<DynamicValue<'a>>> {
    let value = args.shown(index, context)?;
    if value.is_null() {
        return Ok(None);
    }
    let ty = match (ty, &*value) {
        (StoredType::OfValue, Value::Int(_)) => StoredType::Signed,
        (StoredType::OfValue, Value::UInt(_) | Value::Year(_) | Value::Bit(_)) => StoredType::Unsigned,
        (StoredType::OfValue, Value::Float(_) | Value::Double(_)) => StoredType::Double,
        (StoredType::OfValue, Value::Decimal(_)) => StoredType::Decimal,
        (StoredType::OfValue, Value::Date(_)) => StoredType::Date,
        (StoredType::OfValue, Value::Time(_)) => StoredType::Time,
        (StoredType::OfValue, Value::DateTime(_) | Value::Timestamp(_)) => StoredType::DateTime,
        (StoredType::OfValue, _) => StoredType::Text(args.ty_of(index).shown_collation()),
        (ty, _) => ty,
    };
    Ok(match ty {
        StoredType::Signed => args.int(index, context)?.map(DynamicValue::Int),
        StoredType::Unsigned => args
            .int(index, context)?
            .map(|number| DynamicValue::UInt(number as u64)),
        StoredType::Double => args.double(index, context)?.map(DynamicValue::Double),
        StoredType::Decimal => args
            .decimal(index, context)?
            .map(|number| DynamicValue::Decimal(number, integer_digits(&number, args.ty_of(index)))),
        StoredType::Text(collation) => args
            .bytes(index, context)?
            .map(|bytes| DynamicValue::Text(collation, bytes)),
        StoredType::Columns => args.bytes(index, context)?.map(DynamicValue::Columns),
        // A text that is not a date is stored as zero, with a warning.
        StoredType::Date => Some(DynamicValue::Date(
            args.datetime(index, context)?.unwrap_or_default().date,
        )),
        StoredType::DateTime => Some(DynamicValue::DateTime(
            args.datetime(index, context)?.unwrap_or_default(),
        )),
        StoredType::Time => Some(DynamicValue::Time(args.time(index, context)?.unwrap_or_default())),
        StoredType::OfValue => unreachable!("replaced above"),
    })
}

/// Returns the number of digits before the point that a decimal is stored with: as many as its column has, and at least
/// one.
fn integer_digits(number: &Decimal, ty: &ExprType) -> u8 {
    let of_column = match ty.data_type {
        DataType::Decimal(declared) if ty.is_column() => declared.precision - declared.scale,
        _ => 1,
    };
    number.integer_digits().max(of_column)
}

/// Returns whether the arguments ask for names.
fn key_kind(args: &Args<'_>) -> KeyKind {
    let columns = (0..args.len() / 3).map(|column| 3 * column);
    let mut is_named = columns.map(|index| {
        args.ty_of(index).class() != Class::Int
            || StoredType::of_argument(args.keyword(index + 2)) == StoredType::Columns
    });
    match is_named.any(|is_named| is_named) {
        true => KeyKind::Names,
        false => KeyKind::Numbers,
    }
}

fn eval_create(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let kind = key_kind(args);
    let changes = some!(changes(args, kind, context)?);
    let bytes = create(kind, changes).map_err(refused)?;
    within_packet(Value::Bytes(bytes), args, context)
}

fn eval_add(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let base = some!(args.bytes(args.len() - 1, context)?);
    // Whether the columns have names is read from the first byte, before they are checked.
    let kind = match base.first() {
        Some(flags) if flags & 4 != 0 => KeyKind::Names,
        _ => key_kind(args),
    };
    let changes = some!(changes(args, kind, context)?);
    let bytes = update(&base, kind, changes).map_err(refused)?;
    within_packet(Value::Bytes(bytes), args, context)
}

/// Evaluates the argument that says which column is read; `None` for NULL and for numbers that no column has.
fn key<'a>(args: &Args<'a>, context: &mut EvalContext<'_>) -> Result<Option<ColumnKey<'a>>> {
    if args.ty_of(1).class() != Class::Int {
        return name(args, 1, context);
    }
    let number = args.int(1, context)?;
    Ok(number
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| *number <= i32::MAX as u32)
        .map(ColumnKey::Number))
}

fn eval_exists(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let key = some!(key(args, context)?);
    let bytes = some!(args.bytes(0, context)?);
    let found = match ColumnReader::new(&bytes).map_err(refused)? {
        Some(columns) => columns.find(&key).map_err(refused)?.is_some(),
        None => false,
    };
    Ok(Value::Int(i64::from(found)))
}

fn eval_check(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bytes = some!(args.bytes(0, context)?);
    let is_valid = check(&bytes, can_be_empty).and_then(|()| {
        let columns = ColumnReader::new(&bytes)?;
        for index in 0..columns.map_or(0, |columns| columns.count) {
            if let Some(columns) = columns {
                DynamicValue::read(columns.value(index)?)?;
            }
        }
        Ok(())
    });
    Ok(Value::Int(i64::from(is_valid.is_ok())))
}

fn eval_get(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let key = some!(key(args, context)?);
    let bytes = some!(args.bytes(0, context)?);
    let columns = some!(ColumnReader::new(&bytes).map_err(refused)?);
    let index = some!(columns.find(&key).map_err(refused)?);
    let value = columns
        .value(index)
        .and_then(DynamicValue::read)
        .map_err(refused)?;
    let word = args.keyword(2);
    let kind = TargetKind::of_argument(word);
    let is_integer = matches!(kind, TargetKind::Signed | TargetKind::Unsigned);
    Ok(match value {
        DynamicValue::UInt(number) if kind == TargetKind::Signed => signed(number, context),
        // MariaDB reads a date from the double.
        DynamicValue::UInt(number) if kind == TargetKind::Temporal && number > i64::MAX as u64 => {
            Value::Double(number as f64)
        }
        DynamicValue::Int(number) => Value::Int(number),
        DynamicValue::UInt(number) => Value::UInt(number),
        DynamicValue::Double(number) if is_integer => integer_of_double(number, kind, word, context)?,
        DynamicValue::Double(number) => Value::Double(number),
        DynamicValue::Decimal(number, _) => Value::Decimal(number),
        DynamicValue::Date(day) if is_integer => Value::Int(i64::from(day.to_number())),
        DynamicValue::Time(time) if is_integer => Value::Int(time.to_number()),
        DynamicValue::DateTime(datetime) if is_integer => Value::Int(datetime.to_number()),
        DynamicValue::Date(day) => Value::Date(day),
        DynamicValue::Time(time) => Value::Time(time),
        DynamicValue::DateTime(datetime) => Value::DateTime(datetime),
        DynamicValue::Columns(bytes) => match kind {
            TargetKind::Text | TargetKind::Bytes => Value::Bytes(bytes.into_owned()),
            _ => Value::Null,
        },
        DynamicValue::Text(_, bytes) if kind == TargetKind::Bytes => Value::Bytes(bytes.into_owned()),
        DynamicValue::Text(Collation::Binary, bytes) if kind == TargetKind::Text => {
            Value::Bytes(bytes.into_owned())
        }
        DynamicValue::Text(collation, bytes) => {
            let text = collation.charset().decode(&bytes);
            match kind {
                TargetKind::Signed | TargetKind::Unsigned => integer_of_text(&text, kind, word, context)?,
                TargetKind::Double | TargetKind::Decimal => number_of_text(text, kind, word, context)?,
                _ => Value::Text(text.into_owned()),
            }
        }
    })
}

/// Returns the signed number with the same bits, with a note if it is negative.
fn signed(number: u64, context: &mut EvalContext<'_>) -> Value {
    if i64::try_from(number).is_err() {
        context.session.diagnostics.note(
            ER_UNKNOWN_ERROR,
            "Cast to signed converted positive out-of-range integer to it's negative complement",
        );
    }
    Value::Int(number as i64)
}

fn integer_of_double(
    number: f64,
    kind: TargetKind,
    word: &str,
    context: &mut EvalContext<'_>,
) -> Result<Value> {
    let rounded = number.round_ties_even();
    let (least, most) = match kind {
        TargetKind::Unsigned => (0, i128::from(u64::MAX)),
        _ => (i128::from(i64::MIN), i128::from(i64::MAX)),
    };
    let whole = rounded as i128;
    if whole < least || whole > most {
        let shown = text::to_string(&Value::Double(number).as_ref(), &TimeZone::UTC);
        context.warn(ER_DATA_OVERFLOW, ER_DATA_OVERFLOW.message(&[&shown, &word]))?;
    }
    let whole = whole.clamp(least, most);
    Ok(match kind {
        TargetKind::Unsigned => Value::UInt(whole as u64),
        _ => Value::Int(whole as i64),
    })
}

fn warn_bad_data(text: &str, word: &str, context: &mut EvalContext<'_>) -> Result<()> {
    context.warn(ER_BAD_DATA, ER_BAD_DATA.message(&[&text, &word]))
}

/// Reads the integer at the start of a text as MariaDB's `my_strtoll10` does: a number out of range is the nearest one.
fn integer_of_text(text: &str, kind: TargetKind, word: &str, context: &mut EvalContext<'_>) -> Result<Value> {
    let start = text.trim_start_matches([' ', '\t']);
    let (is_negative, digits) = match start.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, start.strip_prefix('+').unwrap_or(start)),
    };
    let end = digits
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(end);
    let magnitude = digits.trim_start_matches('0');
    let magnitude = match magnitude.len() {
        0 => 0,
        1..=20 => magnitude.parse().unwrap_or(u128::MAX),
        _ => u128::MAX,
    };
    let limit = match is_negative {
        true => 1 << 63,
        false => u128::from(u64::MAX),
    };
    let is_out_of_range = magnitude > limit;
    if digits.is_empty() || !rest.is_empty() || is_out_of_range {
        warn_bad_data(text, word, context)?;
    }
    let magnitude = magnitude.min(limit) as u64;
    let bits = if is_negative {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    // A number that was cut counts as unsigned.
    Ok(match is_negative && !is_out_of_range {
        true => Value::Int(bits as i64),
        false if kind == TargetKind::Signed => signed(bits, context),
        false => Value::UInt(bits),
    })
}

/// Reads the number at the start of a text.
fn number_of_text(
    text: Cow<'_, str>,
    kind: TargetKind,
    word: &str,
    context: &mut EvalContext<'_>,
) -> Result<Value> {
    let text = Value::Text(text.into_owned());
    let zone = &context.session.settings.time_zone;
    let read = match kind {
        TargetKind::Double => convert::to_double(&text, zone)
            .map(|(number, completeness)| (Value::Double(number), completeness)),
        _ => convert::to_decimal(&text, zone)
            .map(|(number, completeness)| (Value::Decimal(number), completeness)),
    };
    let (number, completeness) = some!(read);
    if completeness == convert::Completeness::Truncated
        && let Value::Text(text) = &text
    {
        warn_bad_data(text, word, context)?;
    }
    Ok(number)
}

fn eval_list(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bytes = some!(args.bytes(0, context)?);
    let mut out = String::new();
    if let Some(columns) = ColumnReader::new(&bytes).map_err(refused)? {
        let quote = match context.session.settings.sql_mode.contains(SqlMode::ANSI_QUOTES) {
            true => '"',
            false => '`',
        };
        for index in 0..columns.count {
            if index > 0 {
                out.push(',');
            }
            let name = shown_key(&columns.key(index).map_err(refused)?);
            out.push(quote);
            for character in name.chars() {
                if character == quote {
                    out.push(quote);
                }
                out.push(character);
            }
            out.push(quote);
        }
    }
    within_packet(Value::Text(out), args, context)
}

fn shown_key(key: &ColumnKey<'_>) -> String {
    match key {
        ColumnKey::Number(number) => number.to_string(),
        ColumnKey::Name(name) => String::from_utf8_lossy(name).into_owned(),
    }
}

fn eval_json(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bytes = some!(args.bytes(0, context)?);
    let mut out = String::new();
    append_json(&bytes, 1, &mut out).map_err(refused)?;
    within_packet(Value::Text(out), args, context)
}

/// Appends dynamic columns as a JSON object. Names are written as they are.
fn append_json(bytes: &[u8], depth: usize, out: &mut String) -> std::result::Result<(), FormatError> {
    if depth > JSON_DEPTH_MAX {
        return Err(FormatError::Depth);
    }
    let Some(columns) = ColumnReader::new(bytes)? else {
        return Ok(());
    };
    out.push('{');
    for index in 0..columns.count {
        if index > 0 {
            out.push(',');
        }
        out.push('"');
        out.push_str(&shown_key(&columns.key(index)?));
        out.push_str("\":");
        let plain = |value: Value| text::to_string(&value.as_ref(), &TimeZone::UTC);
        match DynamicValue::read(columns.value(index)?)? {
            DynamicValue::Columns(bytes) => append_json(&bytes, depth + 1, out)?,
            // The bytes are characters of Latin-1.
            DynamicValue::Text(Collation::Binary, bytes) => append_json_text(&latin_view_of(&bytes), out),
            DynamicValue::Text(collation, bytes) => {
                append_json_text(&collation.charset().decode(&bytes), out);
            }
            DynamicValue::Int(number) => out.push_str(&number.to_string()),
            DynamicValue::UInt(number) => out.push_str(&number.to_string()),
            DynamicValue::Double(number) => out.push_str(&plain(Value::Double(number))),
            DynamicValue::Decimal(number, _) => out.push_str(&number.to_string()),
            DynamicValue::Date(day) => append_json_text(&plain(Value::Date(day)), out),
            DynamicValue::Time(time) => append_json_text(&plain(Value::Time(time)), out),
            DynamicValue::DateTime(datetime) => append_json_text(&plain(Value::DateTime(datetime)), out),
        }
    }
    out.push('}');
    Ok(())
}

fn append_json_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            '\0'..='\x1f' => out.push_str(&format!("\\u{:04X}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}
