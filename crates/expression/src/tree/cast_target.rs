//! Targets of CAST and CONVERT.

use paceline_types::{Collation, DataType, FixedBinaryType, FixedPoint, FloatType};

use crate::expr_type::{Class, Coercibility, ExprType};

/// The target of a CAST.
#[derive(Clone, Debug, PartialEq)]
pub enum CastTarget {
    /// SIGNED.
    Signed,
    /// UNSIGNED.
    Unsigned,
    /// DECIMAL(precision, scale).
    Decimal {
        /// Number of digits.
        precision: u8,
        /// Number of digits after the point.
        scale: u8,
    },
    /// DOUBLE, or DOUBLE(precision, scale).
    Double {
        /// The digits, if they are fixed.
        fixed: Option<FixedPoint>,
    },
    /// FLOAT.
    Float,
    /// CHAR(length) in a character set; also CONVERT(… USING …).
    Char {
        /// Maximum number of characters.
        length: Option<u32>,
        /// Collation of the result. With `Collation::Binary` the result is bytes.
        collation: Collation,
    },
    /// BINARY(length): truncated, or padded with zero bytes, to the length if there is one.
    Binary {
        /// Length in bytes.
        length: Option<u32>,
    },
    /// DATE.
    Date,
    /// TIME(decimals).
    Time {
        /// Number of fractional digits.
        decimals: u8,
    },
    /// DATETIME(decimals).
    DateTime {
        /// Number of fractional digits.
        decimals: u8,
    },
    /// UUID, INET6, INET4.
    FixedBinary(FixedBinaryType),
}

impl CastTarget {
    /// Returns whether the result is text or bytes.
    pub fn is_string(&self) -> bool {
        matches!(self, CastTarget::Char { .. } | CastTarget::Binary { .. })
    }

    /// Returns the type of the result.
    pub fn result_type(&self, operand: &ExprType) -> ExprType {
        let ty = match self {
            CastTarget::Signed if operand.class() == Class::Double => ExprType::bigint(20),
            // There is room for a digit and a sign.
            CastTarget::Signed => ExprType::int(operand.max_characters().clamp(2, 21) as u8),
            // A negative operand becomes a number of 20 digits. A text of one character is no negative number.
            CastTarget::Unsigned => match operand.class() {
                Class::Int if operand.is_unsigned() => {
                    ExprType::int_unsigned(operand.max_characters().clamp(1, 21) as u8)
                }
                Class::String if operand.max_characters() <= 1 => ExprType::int_unsigned(1),
                _ => ExprType::bigint_unsigned(20),
            },
            CastTarget::Decimal { precision, scale } => {
                ExprType::decimal(u32::from(*precision), u32::from(*scale))
            }
            CastTarget::Double { fixed } => ExprType::new(DataType::Double(FloatType {
                fixed: *fixed,
                ..FloatType::default()
            }))
            .nullable(),
            CastTarget::Float => ExprType::new(DataType::Float(FloatType::default())).nullable(),
            CastTarget::Char { length, collation } => {
                let length = length.map_or_else(|| operand.max_characters(), u64::from);
                ExprType::text(length, *collation).with_coercibility(Coercibility::Implicit)
            }
            CastTarget::Binary { length } => {
                let length = length.map_or_else(
                    || match operand.class() {
                        Class::FixedBinary(t) => t.bytes() as u64,
                        _ => operand.max_bytes(),
                    },
                    u64::from,
                );
                let ty = match (operand.class(), u16::try_from(length)) {
                    (Class::FixedBinary(_), Ok(length @ 0..=255)) => {
                        ExprType::new(DataType::Binary { length })
                    }
                    _ => ExprType::bytes(length),
                };
                ty.with_coercibility(Coercibility::Implicit)
            }
            CastTarget::Date => ExprType::date().nullable(),
            CastTarget::Time { decimals } => ExprType::time(*decimals).nullable(),
            CastTarget::DateTime { decimals } => ExprType::datetime(*decimals).nullable(),
            CastTarget::FixedBinary(t) => ExprType::new(DataType::FixedBinary(*t)),
        };
        let nullable = ty.nullable || operand.nullable;
        ty.with_nullable(nullable)
    }
}
