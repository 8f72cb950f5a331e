//! The error of this crate's functions.

use paceline_types::error_code;

pub use paceline_types::StatementError as Error;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Returns error 1064 at a position of a text, with MariaDB's message.
#[cold]
pub fn syntax_error(text: &[u8], position: usize) -> Error {
    let position = position.min(text.len());
    let near = String::from_utf8_lossy(&text[position..]);
    let line = 1 + text[..position].iter().filter(|&&byte| byte == b'\n').count();
    let message = error_code::ER_SYNTAX_ERROR.message(&[]);
    Error::new(error_code::ER_PARSE_ERROR, &[&message, &near, &line])
}
