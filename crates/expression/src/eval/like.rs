//! LIKE on values: text by its collation, binary strings by bytes.

use paceline_types::error_code::ER_WRONG_ARGUMENTS;
use paceline_types::{Collation, TimeZone, Value};

use super::convert;
use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;
use crate::session::SqlMode;
use crate::tree::DEFAULT_ESCAPE;

/// Returns the escape character that the operand of ESCAPE means. MariaDB takes none at all for the usual one.
///
/// # Errors
/// 1210 for more than one character, and for none under `NO_BACKSLASH_ESCAPES`.
pub(crate) fn escape_character(value: &Value, mode: SqlMode) -> Result<char> {
    let text = match value {
        Value::Null => return Ok(DEFAULT_ESCAPE),
        Value::Text(text) => text.clone(),
        value => paceline_types::text::to_string(&value.as_ref(), &TimeZone::UTC),
    };
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(character),
        (None, _) if !mode.contains(SqlMode::NO_BACKSLASH_ESCAPES) => Ok(DEFAULT_ESCAPE),
        _ => Err(errors::error(ER_WRONG_ARGUMENTS, &[&"ESCAPE"])),
    }
}

/// Returns whether `text` matches `pattern`. Neither is NULL.
pub(super) fn matches(
    text: &Value,
    pattern: &Value,
    escape: char,
    collation: Collation,
    context: &EvalContext<'_>,
) -> bool {
    if collation == Collation::Binary {
        // Convert bytes to the characters with the same numbers, so `_` matches one byte.
        let text = convert::latin_view(text, context);
        let pattern = convert::latin_view(pattern, context);
        return Collation::Utf8mb4Bin.like(&text, &pattern, Some(escape));
    }
    let text = convert::text_of(text, context);
    let pattern = convert::text_of(pattern, context);
    collation.like(&text, &pattern, Some(escape))
}
