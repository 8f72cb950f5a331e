//! LIKE on values: text by its collation, binary strings by bytes.

use paceline_types::{Collation, Value};

use super::convert;
use crate::context::EvalContext;

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
