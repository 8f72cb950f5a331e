//! Comments of tables, columns and indexes.

use paceline_types::ErrorCode;

use crate::error::{Error, Result};
use paceline_expression::session::SessionContext;

/// Returns a comment of at most `characters_max` characters. A longer one is an error in strict mode;
/// otherwise it is truncated with a warning.
///
/// # Errors
/// `code`, which depends on the commented object.
pub(super) fn shortened_comment(
    mut comment: String,
    characters_max: usize,
    code: ErrorCode,
    name: &str,
    session: &mut SessionContext,
) -> Result<String> {
    let Some((end, _)) = comment.char_indices().nth(characters_max) else {
        return Ok(comment);
    };
    let error = Error::new(code, &[&name, &characters_max]);
    if session.settings.sql_mode.is_strict() {
        return Err(error);
    }
    session.diagnostics.warn(error.code(), error.message());
    comment.truncate(end);
    Ok(comment)
}
