//! Format of the rows in a file, for LOAD DATA and SELECT … INTO OUTFILE.

use paceline_types::Charset;
use paceline_types::error_code::{ER_UNKNOWN_CHARACTER_SET, ER_WRONG_FIELD_TERMINATORS};

use crate::error::{Error, Result};
use paceline_expression::session::SqlMode;
use paceline_syntax::FileFormat;

/// A checked [`FileFormat`], completed with the session's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFormat {
    /// Character set of the text.
    pub charset: Charset,
    /// Separator after each field but the last one of a line.
    pub field_end: Vec<u8>,
    /// Optional quote around a field.
    pub quote: Option<u8>,
    /// Escape character.
    pub escape: Option<u8>,
    /// Text before a line.
    pub line_start: Vec<u8>,
    /// Separator after a line. Empty if it equals `field_end`: then all lines have the same number of fields.
    pub line_end: Vec<u8>,
}

impl RowFormat {
    /// Checks a format. `default_charset` is used if the format names none.
    ///
    /// # Errors
    /// 1083, 1115; 1235 for rows of fixed length.
    pub fn new(format: &FileFormat, default_charset: Charset, sql_mode: SqlMode) -> Result<Self> {
        let charset = match &format.charset {
            None => default_charset,
            Some(name) => {
                Charset::from_name(name).ok_or_else(|| Error::new(ER_UNKNOWN_CHARACTER_SET, &[name]))?
            }
        };
        let escaped_by = match &format.fields_escaped_by {
            Some(text) => &text[..],
            None if sql_mode.contains(SqlMode::NO_BACKSLASH_ESCAPES) => b"",
            None => b"\\",
        };
        let one = |text: &[u8]| match text {
            [] => Ok(None),
            [byte] => Ok(Some(*byte)),
            _ => Err(Error::new(ER_WRONG_FIELD_TERMINATORS, &[])),
        };
        let (escape, quote) = (one(escaped_by)?, one(&format.fields_enclosed_by)?);
        if format.fields_terminated_by.is_empty() && quote.is_none() {
            return Err(Error::unsupported("rows of fixed length in files"));
        }
        let line_end = match format.lines_terminated_by == format.fields_terminated_by {
            true => Vec::new(),
            false => format.lines_terminated_by.clone(),
        };
        Ok(RowFormat {
            charset,
            field_end: format.fields_terminated_by.clone(),
            quote,
            escape,
            line_start: format.lines_starting_by.clone(),
            line_end,
        })
    }
}

/// Returns whether MariaDB warns about a format's separators (1638).
pub fn has_odd_separators(format: &FileFormat) -> bool {
    let escaped_by = format.fields_escaped_by.as_deref().unwrap_or_default();
    let separators = [
        escaped_by,
        &format.fields_enclosed_by,
        &format.fields_terminated_by,
        &format.lines_terminated_by,
        &format.lines_starting_by,
    ];
    separators.iter().any(|text| !text.is_ascii())
}
