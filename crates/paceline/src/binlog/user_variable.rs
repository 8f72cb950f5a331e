//! A user variable that the following statement reads, printed as SET.

use super::c_format::general;
use super::column::little_endian;
use super::rows_text::escaped_name;
use paceline_binlog::event::{UserVarEvent, UserVarValue};
use paceline_types::{Collation, Decimal};
use std::io::Write;

/// MariaDB's `Item_result`.
const REAL: u8 = 1;
const INT: u8 = 2;
const DECIMAL: u8 = 4;
const FLAG_UNSIGNED: u8 = 1;

/// Appends the SET without a delimiter.
pub fn append_user_variable(variable: &UserVarEvent<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"SET @`");
    out.extend_from_slice(&escaped_name(variable.name));
    out.extend_from_slice(b"`:=");
    match &variable.value {
        None => out.extend_from_slice(b"NULL"),
        Some(value) => append_value(value, out),
    }
}

fn append_value(value: &UserVarValue<'_>, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = match value.value_type {
        REAL => {
            let number = f64::from_bits(little_endian(value.bytes.get(..8).unwrap_or_default()));
            write!(out, "{}", general(number, 14))
        }
        INT => {
            let number = little_endian(value.bytes.get(..8).unwrap_or_default());
            if value.flags.unwrap_or(0) & FLAG_UNSIGNED != 0 {
                write!(out, "{number}")
            } else {
                write!(out, "{}", number as i64)
            }
        }
        DECIMAL => {
            let decimal = match value.bytes {
                [precision, scale, packed @ ..] if scale <= precision => {
                    let length = Decimal::binary_length(*precision, *scale);
                    packed
                        .get(..length)
                        .and_then(|packed| Decimal::from_binary(packed, *precision, *scale))
                }
                _ => None,
            };
            match decimal {
                Some(decimal) => decimal.append_text(out),
                // A statement that fails is better than a wrong value.
                None => out.extend_from_slice(b"???"),
            }
            Ok(())
        }
        _ => {
            let collation = u16::try_from(value.collation).ok().and_then(Collation::from_id);
            match collation {
                Some(collation) => {
                    let _ = write!(out, "_{} X'", collation.charset().name());
                    for byte in value.bytes {
                        let _ = write!(out, "{byte:02X}");
                    }
                    write!(out, "' COLLATE `{}`", collation.name())
                }
                None => write!(out, "???"),
            }
        }
    };
}
