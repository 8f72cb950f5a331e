//! Resolution of a column's type: lengths, signs, character sets.
//!
//! Rules and errors are those of `Column_definition::check` and related functions (`sql/field.cc`,
//! `sql/sql_type.cc`).

use std::sync::Arc;

use paceline_types::error_code::*;
use paceline_types::{
    BlobSize, Charset, Collation, DataType, DecimalType, ErrorCode, FixedPoint, FloatType, IntegerType,
    IntegerWidth, Labels, Sign, SqlMode,
};

use crate::error::{Error, Result};
use paceline_expression::session::SessionContext;
use paceline_syntax::definition::{CharsetName, DEFAULT_COLLATION, TypeKind, TypeSpec};

/// Maximum length of a VARCHAR or VARBINARY, in bytes.
const VARCHAR_BYTES_MAX: u64 = 65_532;

/// Returns a character set by its name.
///
/// # Errors
/// 1115; 1235 for one that MariaDB has and this server does not.
pub fn charset(name: &str) -> Result<Charset> {
    Charset::from_name(name).ok_or_else(|| Error::new(ER_UNKNOWN_CHARACTER_SET, &[&name]))
}

/// Returns a collation by its name.
///
/// # Errors
/// 1273.
pub fn collation(name: &str) -> Result<Collation> {
    Collation::from_name(name).ok_or_else(|| Error::new(ER_UNKNOWN_COLLATION, &[&name]))
}

/// Returns the meaning of `CHARACTER SET` and `COLLATE` together, where `default` applies otherwise; `None`
/// if neither is written.
///
/// # Errors
/// 1115, 1273, 1253.
pub(crate) fn resolve_collation(
    charset_name: Option<&CharsetName>,
    collation_name: Option<&str>,
    default: Collation,
) -> Result<Option<Collation>> {
    let named = match charset_name {
        None => None,
        Some(CharsetName::Default) => Some((default.charset(), default.charset().default_collation())),
        Some(CharsetName::NameAndDefault { name, default_first }) => {
            let charset = charset(name)?;
            if charset != default.charset() {
                let named = charset.name().to_owned();
                let default = format!("DEFAULT ({})", default.charset().name());
                let (first, second) = match default_first {
                    true => (default, named),
                    false => (named, default),
                };
                let clause = "CHARACTER SET ";
                return Err(Error::new(
                    ER_CONFLICTING_DECLARATIONS,
                    &[&clause, &first, &clause, &second],
                ));
            }
            Some((charset, charset.default_collation()))
        }
        Some(CharsetName::Name(name)) => {
            let charset = charset(name)?;
            Some((charset, charset.default_collation()))
        }
    };
    match (named, collation_name) {
        (None, None) => Ok(None),
        (Some((_, collation)), None) => Ok(Some(collation)),
        (named, Some(name)) => {
            if name.eq_ignore_ascii_case(DEFAULT_COLLATION) {
                let charset = named.map_or(default.charset(), |(charset, _)| charset);
                return Ok(Some(charset.default_collation()));
            }
            let collation = collation(name)?;
            match named {
                Some((charset, _)) if charset != collation.charset() => Err(Error::new(
                    ER_COLLATION_CHARSET_MISMATCH,
                    &[&collation.name(), &charset.name()],
                )),
                _ => Ok(Some(collation)),
            }
        }
    }
}

/// SQL mode in which types are resolved, and the notes about them.
struct Notes<'n> {
    mode: SqlMode,
    notes: &'n mut Vec<(ErrorCode, String)>,
}

impl Notes<'_> {
    fn note(&mut self, code: ErrorCode, message: String) {
        self.notes.push((code, message));
    }
}

/// Resolves a column's type. `table_collation` applies to columns that name none.
///
/// # Errors
/// 1063, 1074, 1115, 1253, 1273, 1291, 1367, 1097, 1425, 1426, 1427, 1439, 1235.
pub fn resolve_type(
    column: &str,
    spec: &TypeSpec,
    table_collation: Collation,
    session: &mut SessionContext,
) -> Result<DataType> {
    let mut notes = Vec::new();
    let resolved = resolve_with_notes(
        column,
        spec,
        table_collation,
        session.settings.sql_mode,
        &mut notes,
    );
    for (code, message) in notes {
        session.diagnostics.note(code, message);
    }
    resolved
}

/// Resolves a column's type like [`resolve_type`], in this SQL mode. Appends the notes to `notes`.
///
/// # Errors
/// Those of [`resolve_type`].
pub fn resolve_with_notes(
    column: &str,
    spec: &TypeSpec,
    table_collation: Collation,
    mode: SqlMode,
    notes: &mut Vec<(ErrorCode, String)>,
) -> Result<DataType> {
    let context = &mut Notes { mode, notes };
    let sign = if spec.unsigned {
        Sign::Unsigned
    } else {
        Sign::Signed
    };
    let is_of_characters = matches!(
        spec.kind,
        TypeKind::VarChar | TypeKind::VarBinary | TypeKind::Text | TypeKind::Blob
    );
    if is_of_characters && spec.length.is_some_and(|length| length > u64::from(u32::MAX)) {
        return Err(Error::new(ER_TOO_BIG_DISPLAYWIDTH, &[&column, &u32::MAX]));
    }
    let decimals = |length: Option<u64>| match length {
        None => Ok(0),
        Some(digits @ 0..=6) => Ok(digits as u8),
        Some(_) => Err(Error::new(ER_TOO_BIG_PRECISION, &[&column, &6])),
    };
    Ok(match spec.kind {
        TypeKind::TinyInt => integer(column, IntegerWidth::Tiny, spec)?,
        TypeKind::SmallInt => integer(column, IntegerWidth::Small, spec)?,
        TypeKind::MediumInt => integer(column, IntegerWidth::Medium, spec)?,
        TypeKind::Int => integer(column, IntegerWidth::Int, spec)?,
        TypeKind::BigInt | TypeKind::Serial => integer(column, IntegerWidth::Big, spec)?,
        TypeKind::Bool => DataType::Integer(IntegerType {
            display_width: 1,
            ..IntegerType::new(IntegerWidth::Tiny, Sign::Signed)
        }),
        TypeKind::Decimal => decimal(column, spec, sign)?,
        TypeKind::Float => float(column, spec, sign)?,
        TypeKind::Double => double(column, spec, sign)?,
        TypeKind::Bit => match spec.length {
            None | Some(0) => DataType::Bit { length: 1 },
            Some(length @ 1..=64) => DataType::Bit { length: length as u8 },
            Some(_) => return Err(Error::new(ER_TOO_BIG_DISPLAYWIDTH, &[&column, &64])),
        },
        TypeKind::Date => DataType::Date,
        TypeKind::Time => DataType::Time {
            decimals: decimals(spec.length)?,
        },
        TypeKind::DateTime => DataType::DateTime {
            decimals: decimals(spec.length)?,
        },
        TypeKind::Timestamp => DataType::Timestamp {
            decimals: decimals(spec.length)?,
        },
        TypeKind::Year => match spec.length {
            None | Some(4) => DataType::Year,
            Some(2) => return Err(Error::unsupported("YEAR(2)")),
            Some(_) => DataType::Year,
        },
        TypeKind::Binary => binary(column, spec.length)?,
        TypeKind::VarBinary => var_binary(column, spec.length.unwrap_or(0), context)?,
        TypeKind::TinyBlob => DataType::Blob { size: BlobSize::Tiny },
        TypeKind::Blob => DataType::Blob {
            size: blob_size(spec.length, 1),
        },
        TypeKind::MediumBlob => DataType::Blob {
            size: BlobSize::Medium,
        },
        TypeKind::LongBlob => DataType::Blob { size: BlobSize::Long },
        TypeKind::Json => DataType::Json,
        TypeKind::FixedBinary(t) => DataType::FixedBinary(t),
        TypeKind::Unsupported(name) => return Err(Error::unsupported(format_args!("the type {name}"))),
        TypeKind::Char
        | TypeKind::VarChar
        | TypeKind::TinyText
        | TypeKind::Text
        | TypeKind::MediumText
        | TypeKind::LongText
        | TypeKind::Enum
        | TypeKind::Set => {
            let mut collation =
                resolve_collation(spec.charset.as_ref(), spec.collation.as_deref(), table_collation)?
                    .unwrap_or(table_collation);
            if spec.binary && spec.collation.is_none() {
                collation = collation.charset().bin_collation();
            }
            character(column, spec, collation, context)?
        }
    })
}

fn integer(column: &str, width: IntegerWidth, spec: &TypeSpec) -> Result<DataType> {
    let sign = if spec.unsigned {
        Sign::Unsigned
    } else {
        Sign::Signed
    };
    let mut integer = IntegerType {
        zerofill: spec.zerofill,
        ..IntegerType::new(width, sign)
    };
    if let Some(length) = spec.length {
        let width =
            u8::try_from(length).map_err(|_| Error::new(ER_TOO_BIG_DISPLAYWIDTH, &[&column, &255]))?;
        if width > 0 {
            integer.display_width = width;
        }
    }
    Ok(DataType::Integer(integer))
}

fn decimal(column: &str, spec: &TypeSpec, sign: Sign) -> Result<DataType> {
    let scale = spec.decimals.unwrap_or(0);
    let precision = match spec.length {
        None | Some(0) => 10.max(u64::from(scale)),
        Some(precision) => precision,
    };
    if precision > 65 {
        return Err(Error::new(ER_TOO_BIG_PRECISION, &[&column, &65]));
    }
    if scale > 38 {
        return Err(Error::new(ER_TOO_BIG_SCALE, &[&column, &38]));
    }
    if u64::from(scale) > precision {
        return Err(Error::new(ER_M_BIGGER_THAN_D, &[&column]));
    }
    Ok(DataType::Decimal(DecimalType {
        precision: precision as u8,
        scale: scale as u8,
        sign,
        zerofill: spec.zerofill,
    }))
}

fn float(column: &str, spec: &TypeSpec, sign: Sign) -> Result<DataType> {
    let plain = FloatType {
        sign,
        zerofill: spec.zerofill,
        fixed: None,
    };
    match (spec.length, spec.decimals) {
        (None, _) => Ok(DataType::Float(plain)),
        (Some(0..=24), None) => Ok(DataType::Float(plain)),
        (Some(25..=53), None) => Ok(DataType::Double(plain)),
        (Some(_), None) => Err(Error::new(ER_WRONG_FIELD_SPEC, &[&column])),
        (Some(precision), Some(scale)) => Ok(DataType::Float(FloatType {
            fixed: Some(fixed_point(column, precision, scale)?),
            ..plain
        })),
    }
}

fn double(column: &str, spec: &TypeSpec, sign: Sign) -> Result<DataType> {
    let fixed = match (spec.length, spec.decimals) {
        (Some(precision), Some(scale)) => Some(fixed_point(column, precision, scale)?),
        // MariaDB's grammar does not have DOUBLE(10).
        (Some(_), None) => return Err(Error::new(ER_WRONG_FIELD_SPEC, &[&column])),
        _ => None,
    };
    Ok(DataType::Double(FloatType {
        sign,
        zerofill: spec.zerofill,
        fixed,
    }))
}

fn fixed_point(column: &str, precision: u64, scale: u32) -> Result<FixedPoint> {
    let precision =
        u8::try_from(precision).map_err(|_| Error::new(ER_TOO_BIG_DISPLAYWIDTH, &[&column, &255]))?;
    if scale > 30 {
        return Err(Error::new(ER_TOO_BIG_SCALE, &[&column, &30]));
    }
    if scale > u32::from(precision) {
        return Err(Error::new(ER_M_BIGGER_THAN_D, &[&column]));
    }
    Ok(FixedPoint {
        precision,
        scale: scale as u8,
    })
}

fn binary(column: &str, length: Option<u64>) -> Result<DataType> {
    match length.unwrap_or(1) {
        length @ 0..=255 => Ok(DataType::Binary {
            length: length as u16,
        }),
        _ => Err(Error::new(ER_TOO_BIG_FIELDLENGTH, &[&column, &255])),
    }
}

fn var_binary(column: &str, length: u64, context: &mut Notes<'_>) -> Result<DataType> {
    if length <= VARCHAR_BYTES_MAX {
        return Ok(DataType::VarBinary {
            length: length as u32,
        });
    }
    too_long(column, VARCHAR_BYTES_MAX, "VARBINARY", "BLOB", context)?;
    Ok(DataType::Blob {
        size: blob_size(Some(length), 1),
    })
}

/// Returns 1074 in strict mode. Otherwise adds a note that the column gets a longer type.
fn too_long(column: &str, max: u64, from: &str, to: &str, context: &mut Notes<'_>) -> Result<()> {
    if context.mode.is_strict() {
        return Err(Error::new(ER_TOO_BIG_FIELDLENGTH, &[&column, &max]));
    }
    let message = ER_AUTO_CONVERT.message(&[&column, &from, &to]);
    context.note(ER_AUTO_CONVERT, message);
    Ok(())
}

/// Returns the smallest size for this number of characters; 64 KiB if none is given.
fn blob_size(length: Option<u64>, bytes_per_character: u32) -> BlobSize {
    let Some(length) = length else {
        return BlobSize::Normal;
    };
    if length == 0 {
        return BlobSize::Normal;
    }
    BlobSize::fitting(length.saturating_mul(u64::from(bytes_per_character)))
}

fn character(
    column: &str,
    spec: &TypeSpec,
    collation: Collation,
    context: &mut Notes<'_>,
) -> Result<DataType> {
    let charset = collation.charset();
    let per_character = charset.max_bytes_per_character();
    let is_binary = charset == Charset::Binary;
    Ok(match spec.kind {
        TypeKind::Char if is_binary => binary(column, spec.length)?,
        TypeKind::Char => match spec.length.unwrap_or(1) {
            length @ 0..=255 => DataType::Char {
                length: length as u16,
                collation,
            },
            _ => return Err(Error::new(ER_TOO_BIG_FIELDLENGTH, &[&column, &255])),
        },
        TypeKind::VarChar if is_binary => var_binary(column, spec.length.unwrap_or(0), context)?,
        TypeKind::VarChar => {
            let length = spec.length.unwrap_or(0);
            let max = VARCHAR_BYTES_MAX / u64::from(per_character);
            if length <= max {
                DataType::VarChar {
                    length: length as u32,
                    collation,
                }
            } else {
                let size = blob_size(Some(length), per_character);
                let name = DataType::Text { size, collation }.name();
                too_long(column, max, "VARCHAR", name, context)?;
                DataType::Text { size, collation }
            }
        }
        TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText | TypeKind::LongText => {
            let size = match spec.kind {
                TypeKind::TinyText => BlobSize::Tiny,
                TypeKind::MediumText => BlobSize::Medium,
                TypeKind::LongText => BlobSize::Long,
                _ => blob_size(spec.length, per_character),
            };
            if is_binary {
                DataType::Blob { size }
            } else {
                DataType::Text { size, collation }
            }
        }
        TypeKind::Enum | TypeKind::Set => labels(column, spec, collation, context)?,
        _ => unreachable!("only types with a character set come here"),
    })
}

fn labels(column: &str, spec: &TypeSpec, collation: Collation, context: &mut Notes<'_>) -> Result<DataType> {
    let is_set = spec.kind == TypeKind::Set;
    let kind = if is_set { "SET" } else { "ENUM" };
    let labels: Vec<&str> = spec
        .labels
        .iter()
        .map(|label| match collation {
            Collation::Binary => label.as_str(),
            _ => label.trim_end_matches(' '),
        })
        .collect();
    if is_set && labels.len() > 64 {
        return Err(Error::new(ER_TOO_BIG_SET, &[&column]));
    }
    if labels.len() > 65_535 {
        return Err(Error::new(ER_TOO_BIG_SET, &[&column]));
    }
    for (n, label) in labels.iter().enumerate() {
        if is_set && label.contains(',') {
            return Err(Error::new(ER_ILLEGAL_VALUE_FOR_TYPE, &[&"set", label]));
        }
        if let Some(other) = labels[..n].iter().find(|other| collation.equals(other, label)) {
            let message = ER_DUPLICATED_VALUE_IN_TYPE.message(&[&column, other, &kind]);
            if context.mode.is_strict() {
                return Err(Error::with_message(ER_DUPLICATED_VALUE_IN_TYPE, message));
            }
            context.note(ER_DUPLICATED_VALUE_IN_TYPE, message);
        }
    }
    let labels = Arc::new(Labels::new(labels));
    Ok(if is_set {
        DataType::Set { labels, collation }
    } else {
        DataType::Enum { labels, collation }
    })
}

/// Returns the maximum length of a type's values in an index, in bytes; `None` for BLOB and TEXT.
pub fn key_bytes(data_type: &DataType) -> Option<u64> {
    Some(match data_type {
        DataType::Integer(integer) => integer.width.bytes() as u64,
        DataType::Decimal(decimal) => {
            let digits_bytes =
                |digits: u64| digits / 9 * 4 + [0, 1, 1, 2, 2, 3, 3, 4, 4][(digits % 9) as usize];
            digits_bytes(u64::from(decimal.precision - decimal.scale))
                + digits_bytes(u64::from(decimal.scale))
        }
        DataType::Float(_) => 4,
        DataType::Double(_) => 8,
        DataType::Bit { length } => u64::from(length.div_ceil(8)),
        DataType::Char { length, collation } => {
            u64::from(*length) * u64::from(collation.charset().max_bytes_per_character())
        }
        DataType::VarChar { length, collation } => {
            u64::from(*length) * u64::from(collation.charset().max_bytes_per_character())
        }
        DataType::Binary { length } => u64::from(*length),
        DataType::VarBinary { length } => u64::from(*length),
        DataType::Text { .. } | DataType::Blob { .. } | DataType::Json => return None,
        DataType::Date => 3,
        DataType::Time { decimals } => 3 + u64::from(decimals.div_ceil(2)),
        DataType::DateTime { decimals } => 5 + u64::from(decimals.div_ceil(2)),
        DataType::Timestamp { decimals } => 4 + u64::from(decimals.div_ceil(2)),
        DataType::Year => 1,
        DataType::Enum { labels, .. } => {
            if labels.len() < 256 {
                1
            } else {
                2
            }
        }
        DataType::Set { labels, .. } => match labels.len().div_ceil(8) {
            bytes @ 0..=4 => bytes.max(1) as u64,
            _ => 8,
        },
        DataType::FixedBinary(t) => t.bytes() as u64,
    })
}

/// Returns the number of bytes that a type takes of the 65,535 that MariaDB allows in a row.
pub fn row_bytes(data_type: &DataType) -> u64 {
    match data_type {
        DataType::VarChar { .. } | DataType::VarBinary { .. } => {
            let bytes = key_bytes(data_type).unwrap_or(0);
            bytes + if bytes > 255 { 2 } else { 1 }
        }
        DataType::Text { size, .. } | DataType::Blob { size } => size.length_bytes() as u64 + 8,
        DataType::Json => 12,
        other => key_bytes(other).unwrap_or(0),
    }
}
