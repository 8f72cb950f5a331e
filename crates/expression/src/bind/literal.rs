//! Literals: values and types, as in MariaDB.

use paceline_types::data_type::Sign;
use paceline_types::error_code::{
    ER_INVALID_CHARACTER_STRING, ER_TRUNCATED_WRONG_VALUE, ER_UNKNOWN_CHARACTER_SET, ER_WRONG_VALUE,
};
use paceline_types::temporal::{self, ParsedTemporal};
use paceline_types::{Charset, Collation, Decimal, Value};

use crate::error::{Error, Result};
use crate::errors;
use crate::expr_type::{ExprType, TypeNote};
use crate::scope::Scope;
use crate::session::{SessionContext, SqlMode};
use crate::tree::Expr;
use paceline_syntax::ast;

/// Returns a number as written: BIGINT, BIGINT UNSIGNED, DECIMAL, DOUBLE or `0x…`.
pub(super) fn number(text: &str) -> Result<Expr> {
    let digits_only = text.bytes().all(|byte| byte.is_ascii_digit());
    if digits_only {
        let trimmed = text.trim_start_matches('0');
        let width = trimmed.len().max(1) as u8;
        if let Ok(number) = text.parse::<i64>() {
            return Ok(Expr::literal(
                Value::Int(number),
                ExprType::integer_literal(width, Sign::Signed),
            ));
        }
        if let Ok(number) = text.parse::<u64>() {
            return Ok(Expr::literal(
                Value::UInt(number),
                ExprType::integer_literal(width, Sign::Unsigned),
            ));
        }
    } else if text.contains(['e', 'E']) {
        let number: f64 = text.parse().map_err(|_| errors::syntax_near(text))?;
        if !number.is_finite() {
            return Err(errors::error(
                paceline_types::error_code::ER_ILLEGAL_VALUE_FOR_TYPE,
                &[&"double", &text],
            ));
        }
        return Ok(Expr::literal(Value::Double(number), ExprType::double()));
    }
    let number: Decimal = text.parse().map_err(|_| errors::syntax_near(text))?;
    let written = text.bytes().filter(u8::is_ascii_digit).count() as u32;
    let scale = u32::from(number.scale());
    // As in MariaDB, zeros before the point are digits of the type, too.
    Ok(Expr::literal(
        Value::Decimal(number),
        ExprType::decimal(written, scale),
    ))
}

/// Returns a string in the connection's collation.
pub(super) fn string(text: &str, session: &SessionContext) -> Expr {
    if text.is_empty() && session.settings.sql_mode.contains(SqlMode::EMPTY_STRING_IS_NULL) {
        return Expr::null();
    }
    let ty = ExprType::literal_text(text, session.settings.collation_connection);
    Expr::literal(Value::Text(text.to_owned()), ty)
}

/// Returns `0x41`: a byte string, and a number in numeric context.
pub fn hex_number(digits: &str) -> Result<Expr> {
    let mut expr = hex(digits)?;
    expr.ty.note = TypeNote::HexLiteral;
    Ok(expr)
}

/// Returns `x'41'`.
pub(super) fn hex(digits: &str) -> Result<Expr> {
    let bytes = hex_bytes(digits)?;
    let ty = ExprType::bytes(bytes.len() as u64);
    Ok(Expr::literal(Value::Bytes(bytes), ty))
}

fn hex_bytes(digits: &str) -> Result<Vec<u8>> {
    let padded = if digits.len() % 2 == 1 {
        format!("0{digits}")
    } else {
        digits.to_owned()
    };
    (0..padded.len() / 2)
        .map(|at| u8::from_str_radix(&padded[2 * at..2 * at + 2], 16))
        .collect::<Result<Vec<u8>, _>>()
        .map_err(|_| errors::syntax_near(digits))
}

/// Returns `b'101'`: a byte string, and a number in numeric context.
pub(super) fn bits(digits: &str) -> Result<Expr> {
    let bytes = bit_bytes(digits)?;
    let mut ty = ExprType::bytes(bytes.len() as u64);
    ty.note = TypeNote::HexLiteral;
    Ok(Expr::literal(Value::Bytes(bytes), ty))
}

fn bit_bytes(digits: &str) -> Result<Vec<u8>> {
    let chunks = digits.as_bytes().rchunks(8).rev();
    chunks
        .map(|chunk| {
            let text = std::str::from_utf8(chunk).ok()?;
            u8::from_str_radix(text, 2).ok()
        })
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(|| errors::syntax_near(digits))
}

/// Returns `_charset'…'`.
pub(super) fn introduced(name: &str, literal: &ast::Literal) -> Result<Expr> {
    let charset =
        Charset::from_name(name).ok_or_else(|| errors::error(ER_UNKNOWN_CHARACTER_SET, &[&name]))?;
    let bytes = match literal {
        ast::Literal::Text(text) if charset == Charset::Binary => text.clone().into_bytes(),
        ast::Literal::Text(text) if charset != Charset::Utf8mb3 || charset.can_encode(text) => {
            let ty = ExprType::literal_text(text, charset.default_collation());
            return Ok(Expr::literal(Value::Text(text.clone()), ty));
        }
        ast::Literal::Text(text) => text.clone().into_bytes(),
        ast::Literal::Hex(digits) => hex_bytes(digits)?,
        ast::Literal::Bits(digits) => bit_bytes(digits)?,
        other => return Err(errors::syntax_near(&other.to_string())),
    };
    if charset == Charset::Binary {
        let ty = ExprType::bytes(bytes.len() as u64);
        return Ok(Expr::literal(Value::Bytes(bytes), ty));
    }
    let text = match charset {
        Charset::Utf8mb4 | Charset::Utf8mb3 => charset
            .decode_strict(&bytes)
            .map_err(|valid| invalid_bytes(charset, &bytes[valid..]))?,
        _ => charset.decode(&bytes),
    };
    let ty = ExprType::literal_text(&text, charset.default_collation());
    Ok(Expr::literal(Value::Text(text.into_owned()), ty))
}

/// Returns error 1300 for bytes that begin no character.
fn invalid_bytes(charset: Charset, bytes: &[u8]) -> Error {
    let shown: String = bytes.iter().take(3).map(|byte| format!("{byte:02X}")).collect();
    errors::error(ER_INVALID_CHARACTER_STRING, &[&charset.name(), &shown])
}

/// Returns `DATE '2020-01-31'`, `TIME '…'` or `TIMESTAMP '…'`. A date without a month or a day can become NULL in
/// MariaDB, whatever the mode.
pub(super) fn temporal(kind: ast::TemporalKind, text: &str, scope: &mut dyn Scope) -> Result<Expr> {
    let modes = scope.session().settings.date_modes();
    let time_modes = temporal::DateModes {
        fractions: modes.fractions,
        ..temporal::DateModes::default()
    };
    match kind {
        ast::TemporalKind::Date => match temporal::parse_datetime(text, modes) {
            Some(parsed) if !parsed.truncated && !parsed.has_time => {
                let date = parsed.value.date;
                let ty = ExprType::date().with_nullable(date.month == 0 || date.day == 0);
                Ok(Expr::literal(Value::Date(date), ty))
            }
            _ => Err(errors::error(ER_WRONG_VALUE, &[&"DATE", &text])),
        },
        ast::TemporalKind::Time => match temporal::parse_time_under(text, time_modes) {
            Some(ParsedTemporal::Time(parsed)) if !parsed.truncated && !parsed.clipped => {
                let decimals = parsed.value.decimals();
                if parsed.fraction_cut {
                    note_cut("TIME", text, scope);
                }
                Ok(Expr::literal(Value::Time(parsed.value), ExprType::time(decimals)))
            }
            _ => Err(errors::error(ER_WRONG_VALUE, &[&"TIME", &text])),
        },
        ast::TemporalKind::DateTime | ast::TemporalKind::Timestamp => {
            match temporal::parse_datetime(text, modes) {
                Some(parsed) if !parsed.truncated && (parsed.has_time || text.contains([' ', 'T'])) => {
                    let (date, decimals) = (parsed.value.date, parsed.value.decimals);
                    if parsed.fraction_cut {
                        note_cut("DATETIME", text, scope);
                    }
                    let ty = ExprType::datetime(decimals).with_nullable(date.month == 0 || date.day == 0);
                    Ok(Expr::literal(Value::DateTime(parsed.value), ty))
                }
                _ => Err(errors::error(ER_WRONG_VALUE, &[&"DATETIME", &text])),
            }
        }
    }
}

/// Notes that a literal has more digits than a fraction of a second can have.
fn note_cut(kind: &str, text: &str, scope: &mut dyn Scope) {
    scope.note(
        ER_TRUNCATED_WRONG_VALUE,
        ER_TRUNCATED_WRONG_VALUE.message(&[&kind, &text]),
    );
}

/// Returns TRUE or FALSE, both as wide as the longer word.
pub(super) fn boolean(truth: bool) -> Expr {
    Expr::literal(
        Value::Int(i64::from(truth)),
        ExprType {
            note: TypeNote::Boolean,
            ..ExprType::int(5)
        },
    )
}

/// Returns the collation of this name. It must belong to `charset`.
pub(super) fn collation(name: &str, charset: Charset) -> Result<Collation> {
    use paceline_types::error_code::{ER_COLLATION_CHARSET_MISMATCH, ER_UNKNOWN_COLLATION};
    let collation =
        Collation::from_name(name).ok_or_else(|| errors::error(ER_UNKNOWN_COLLATION, &[&name]))?;
    if collation.charset() != charset {
        return Err(errors::error(
            ER_COLLATION_CHARSET_MISMATCH,
            &[&collation.name(), &charset.name()],
        ));
    }
    Ok(collation)
}
