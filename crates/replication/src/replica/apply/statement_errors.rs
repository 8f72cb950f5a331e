//! Statements that failed on their primary.
//!
//! A statement that changed tables without transactions before it failed is in the log, with its error. A replica that executes it must come to the
//! same end: then it has changed the same. Any other end is a difference between the two servers, and stops the connection. A statement that
//! was interrupted cannot come to the same end, and is not executed at all.
//!
//! What says nothing of the statement is no end, and `slave_skip_errors` does not mean it: that it was interrupted here, as by STOP SLAVE, and what may go
//! well when its transaction is tried again.

use paceline_apply::replicated::{Failure, SkippedErrors};
use paceline_binlog::event::QueryEvent;
use paceline_types::error_code::*;

/// What ends a statement in the middle of its rows, wherever it was.
const INTERRUPTIONS: [ErrorCode; 7] = [
    ER_NET_READ_ERROR,
    ER_NET_ERROR_ON_WRITE,
    ER_QUERY_INTERRUPTED,
    ER_STATEMENT_TIMEOUT,
    ER_CONNECTION_KILLED,
    ER_SERVER_SHUTDOWN,
    ER_NEW_ABORTING_CONNECTION,
];

/// The same problem by several numbers.
const DUPLICATES: [ErrorCode; 3] = [ER_DUP_ENTRY, ER_DUP_ENTRY_WITH_KEY_NAME, ER_AUTOINC_READ_FAILED];

/// Whether a transaction that has failed can be tried again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Retries {
    /// Yes.
    Left,
    /// It was, often enough.
    UsedUp,
}

/// Whether an error may be gone when the transaction is tried again.
pub(super) fn is_of_the_moment(code: ErrorCode) -> bool {
    [ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT].contains(&code)
}

/// Whether an error is the end of the statement, to be held against the one on its primary.
fn is_end(code: ErrorCode, retries: Retries) -> bool {
    match code {
        // It has undone what was before the statement, too.
        ER_LOCK_DEADLOCK => false,
        ER_LOCK_WAIT_TIMEOUT => retries == Retries::UsedUp,
        code => !INTERRUPTIONS.contains(&code),
    }
}

/// Executes a statement, and compares its end with the one on its primary.
///
/// # Errors
/// The statement's number of error on its primary, if it was interrupted there. 3002 for two different ends. The statement's own error.
pub(super) fn execute_as_primary(
    query: &QueryEvent<'_>,
    skipped: &SkippedErrors,
    retries: Retries,
    execute: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let expected = expected(query, skipped);
    if let Some(interruption) = expected.filter(|code| INTERRUPTIONS.contains(code)) {
        return Err(Failure::new(
            interruption,
            partially_completed(interruption, query),
        ));
    }
    match (execute(), expected) {
        (Ok(()), None) => Ok(()),
        (Err(failure), _) if !is_end(failure.code, retries) => Err(on_query(failure, query)),
        (Err(failure), _) if skipped.contains(failure.code) => pass_over(&failure),
        (Err(failure), Some(expected)) if is_same(failure.code, expected) => pass_over(&failure),
        (Ok(()), Some(expected)) => Err(different(expected, None, query)),
        (Err(failure), Some(expected)) => Err(different(expected, Some(&failure), query)),
        (Err(failure), None) => Err(on_query(failure, query)),
    }
}

fn on_query(failure: Failure, query: &QueryEvent<'_>) -> Failure {
    Failure {
        message: format!(
            "Error '{}' on query. Default database: '{}'. Query: '{}'",
            failure.message,
            String::from_utf8_lossy(query.database),
            String::from_utf8_lossy(&query.sql)
        ),
        ..failure
    }
}

/// The error that the statement is to end with, unless such errors mean nothing.
fn expected(query: &QueryEvent<'_>, skipped: &SkippedErrors) -> Option<ErrorCode> {
    let code = (query.error_code != 0).then(|| ErrorCode::from_number(query.error_code));
    code.filter(|code| !skipped.contains(*code))
}

fn is_same(one: ErrorCode, other: ErrorCode) -> bool {
    one == other || (DUPLICATES.contains(&one) && DUPLICATES.contains(&other))
}

fn pass_over(failure: &Failure) -> Result<(), Failure> {
    tracing::warn!(
        "a replicated statement failed and is passed over: {}",
        failure.message
    );
    Ok(())
}

fn partially_completed(code: ErrorCode, query: &QueryEvent<'_>) -> String {
    format!(
        "Query partially completed on the master (error on master: {}) and was aborted. There is a chance that your master is inconsistent at this \
         point. If you are sure that your master is ok, run this query manually on the slave and then restart the slave with SET GLOBAL \
         SQL_SLAVE_SKIP_COUNTER=1; START SLAVE; . Query: '{}'",
        code.number(),
        String::from_utf8_lossy(&query.sql)
    )
}

/// MariaDB's text; it shows it under the number 0.
fn different(expected: ErrorCode, actual: Option<&Failure>, query: &QueryEvent<'_>) -> Failure {
    let (message, number) = match actual {
        Some(failure) => (failure.message.as_str(), failure.code.number()),
        None => ("no error", 0),
    };
    Failure::new(
        ER_INCONSISTENT_ERROR,
        format!(
            "Query caused different errors on master and slave.     Error on master: message (format)='{}' error code={} ; Error on slave: actual \
             message='{message}', error code={number}. Default database: '{}'. Query: '{}'",
            expected.format(),
            expected.number(),
            String::from_utf8_lossy(query.database),
            String::from_utf8_lossy(&query.sql)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_of_a_statement_is_not_passed_over() {
        let mut query = QueryEvent::new(b"d", b"insert into t values (1)");
        for expected in [0, ER_DUP_ENTRY.number()] {
            query.error_code = expected;
            let end = |code: ErrorCode, retries| {
                let failed = || Err(Failure::new(code, "as it is"));
                execute_as_primary(&query, &SkippedErrors::All, retries, failed)
                    .map_err(|failure| failure.code)
            };
            for retries in [Retries::Left, Retries::UsedUp] {
                for code in [ER_CONNECTION_KILLED, ER_QUERY_INTERRUPTED, ER_LOCK_DEADLOCK] {
                    assert_eq!(end(code, retries), Err(code));
                }
                assert_eq!(end(ER_NO_SUCH_TABLE, retries), Ok(()));
            }
            assert_eq!(
                end(ER_LOCK_WAIT_TIMEOUT, Retries::Left),
                Err(ER_LOCK_WAIT_TIMEOUT)
            );
            assert_eq!(end(ER_LOCK_WAIT_TIMEOUT, Retries::UsedUp), Ok(()));
        }
    }
}
