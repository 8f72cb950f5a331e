//! Conversion of other crates' errors to MariaDB's numbers and messages.

use paceline_log_stream::source::error::ReplicaError;
use paceline_syntax::Error;
use paceline_txn::InterruptReason;
use paceline_types::ErrorCode;
use paceline_types::error_code::*;

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

/// Returns the error that a client gets for an error of the log.
pub fn of_log(error: paceline_binlog::Error) -> Error {
    of_transaction(&paceline_txn::Error::from(error))
}

/// Returns the error that a client gets for an error of a connection to a primary.
pub fn of_replica(error: ReplicaError) -> Error {
    Error::with_message(error.code, error.message)
}

/// Returns the error of an interrupted session.
pub fn interrupted(reason: InterruptReason) -> Error {
    Error::new(
        match reason {
            InterruptReason::StatementTimeout => ER_STATEMENT_TIMEOUT,
            InterruptReason::Query => ER_QUERY_INTERRUPTED,
            InterruptReason::Connection => ER_CONNECTION_KILLED,
            InterruptReason::Shutdown => ER_SERVER_SHUTDOWN,
        },
        &[],
    )
}

/// Returns the error for an invalid GTID list.
pub fn of_gtid_list(error: paceline_binlog::Error) -> Error {
    Error::with_message(ErrorCode::from_number(error.code()), error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_with_placeholders_keeps_its_own_text() {
        let timeout = of_transaction(&paceline_txn::Error::LockWaitTimeout);
        assert_eq!(
            (timeout.code().number(), timeout.message()),
            (1205, "Lock wait timeout exceeded; try restarting transaction")
        );
        let purged = of_log(paceline_binlog::Error::Purged);
        assert_eq!(purged.code().number(), paceline_binlog::Error::Purged.code());
        assert!(!purged.message().contains('%'));
    }

    #[test]
    fn each_interruption_has_its_number() {
        for (reason, number) in [
            (InterruptReason::Query, 1317),
            (InterruptReason::Connection, 1927),
            (InterruptReason::Shutdown, 1053),
            (InterruptReason::StatementTimeout, 1969),
        ] {
            assert_eq!(interrupted(reason).code().number(), number);
        }
    }
}
