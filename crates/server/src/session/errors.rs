//! Conversion of transaction errors to MariaDB's numbers and messages.

use paceline_syntax::Error;
use paceline_types::ErrorCode;

/// Returns the error that a client gets for a transaction's error.
pub fn of_transaction(error: &paceline_txn::Error) -> Error {
    let code = match error {
        // Errors of the log have their own numbers (1373, 1236 …).
        paceline_txn::Error::Log(error) => ErrorCode::from_number(error.code()),
        other => other.error_code(),
    };
    // If MariaDB's message has placeholders, the error's own text is more informative.
    match code.format().contains('%') {
        true => Error::with_message(code, error.to_string()),
        false => Error::new(code, &[]),
    }
}
