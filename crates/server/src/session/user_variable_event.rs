//! User variables that a statement in a log uses: an event each.

use paceline_binlog::event::UserVarEvent;
use paceline_expression::ExprType;
use paceline_expression::session::UserVariable;
use paceline_types::{
    Charset, Collation, DataType, Decimal, DecimalType, IntegerType, IntegerWidth, Sign, Value,
};

/// Returns the variable's value and type.
pub fn user_variable(event: &UserVarEvent<'_>) -> UserVariable {
    let number = |bytes: &[u8]| {
        bytes
            .first_chunk::<8>()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    let text_type = |length: usize| DataType::VarChar {
        length: length as u32,
        collation: Collation::Utf8mb4GeneralCi,
    };
    let (value, data_type) = match &event.value {
        None => (Value::Null, text_type(0)),
        Some(value) => match value.value_type {
            1 => (
                Value::Double(f64::from_bits(number(value.bytes))),
                DataType::Double(Default::default()),
            ),
            2 => {
                let is_unsigned = value.flags.is_some_and(|flags| flags & 1 != 0);
                let number = number(value.bytes);
                let sign = match is_unsigned {
                    true => Sign::Unsigned,
                    false => Sign::Signed,
                };
                let data_type = DataType::Integer(IntegerType::new(IntegerWidth::Big, sign));
                match is_unsigned {
                    true => (Value::UInt(number), data_type),
                    false => (Value::Int(number as i64), data_type),
                }
            }
            4 => {
                let decimal = match value.bytes {
                    [precision, scale, packed @ ..] => Decimal::from_binary(packed, *precision, *scale)
                        .map(|decimal| (decimal, *precision, *scale)),
                    _ => None,
                };
                match decimal {
                    Some((decimal, precision, scale)) => (
                        Value::Decimal(decimal),
                        DataType::Decimal(DecimalType::new(precision, scale)),
                    ),
                    None => (Value::Null, text_type(0)),
                }
            }
            _ => {
                let collation = u16::try_from(value.collation).ok().and_then(Collation::from_id);
                match collation {
                    Some(collation) if collation.charset() != Charset::Binary => {
                        let text = collation.charset().decode(value.bytes).into_owned();
                        let data_type = DataType::VarChar {
                            length: text.chars().count() as u32,
                            collation,
                        };
                        (Value::Text(text), data_type)
                    }
                    _ => (
                        Value::Bytes(value.bytes.to_vec()),
                        DataType::VarBinary {
                            length: value.bytes.len() as u32,
                        },
                    ),
                }
            }
        },
    };
    UserVariable {
        value,
        ty: ExprType::new(data_type),
    }
}
