//! One error for everything that a session meets: MariaDB's number and message.

use paceline_sql::Error;
use paceline_types::ErrorCode;

/// The error that a client gets for one of a transaction's.
pub fn of_transaction(error: &paceline_txn::Error) -> Error {
    let code = match error {
        // The log's own errors have numbers of their own (1373, 1236 …).
        paceline_txn::Error::Log(error) => ErrorCode::from_number(error.code()),
        other => other.error_code(),
    };
    // Where MariaDB's message has places to fill, the text of the error says more.
    match code.format().contains('%') {
        true => Error::with_message(code, error.to_string()),
        false => Error::new(code, &[]),
    }
}
