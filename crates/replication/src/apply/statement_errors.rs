//! Statements that failed on the primary.
//!
//! A statement that changed non-transactional tables before it failed is in the log, with its error. A replica that
//! executes it must get the same result: then it has made the same changes. Any other result is a difference between
//! the two servers, and stops the connection. A statement that was interrupted cannot have the same result, and is not
//! executed at all.
//!
//! Some errors are not results of the statement, and `slave_skip_errors` does not apply to them: an interruption on
//! this server, for example by STOP SLAVE, and errors that may not occur when the transaction is retried.

use paceline_apply::replicated::{Failure, SkippedErrors, StatementCounts};
use paceline_binlog::event::QueryEvent;
use paceline_types::error_code::*;

/// Errors that end a statement in the middle of its rows.
const INTERRUPTIONS: [ErrorCode; 7] = [
    ER_NET_READ_ERROR,
    ER_NET_ERROR_ON_WRITE,
    ER_QUERY_INTERRUPTED,
    ER_STATEMENT_TIMEOUT,
    ER_CONNECTION_KILLED,
    ER_SERVER_SHUTDOWN,
    ER_NEW_ABORTING_CONNECTION,
];

/// Error numbers of the same problem.
const DUPLICATES: [ErrorCode; 3] = [ER_DUP_ENTRY, ER_DUP_ENTRY_WITH_KEY_NAME, ER_AUTOINC_READ_FAILED];

/// Whether a failed transaction can be retried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Retries {
    /// It can be retried.
    Left,
    /// The maximum number of retries is reached.
    UsedUp,
}

/// Returns whether an error may not occur when the transaction is retried.
pub(super) fn is_transient(code: ErrorCode) -> bool {
    [ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT].contains(&code)
}

/// Returns whether an error is a result of the statement, to be compared with that on the primary.
fn is_end(code: ErrorCode, retries: Retries) -> bool {
    match code {
        // A deadlock has also undone the transaction's earlier statements.
        ER_LOCK_DEADLOCK => false,
        ER_LOCK_WAIT_TIMEOUT => retries == Retries::UsedUp,
        code => !INTERRUPTIONS.contains(&code),
    }
}

/// Executes a statement and compares its result with that on the primary.
///
/// # Errors
/// The statement's error on the primary, if it was interrupted there; 3002 if the results differ; the statement's own
/// error.
pub(super) fn execute_as_primary(
    query: &QueryEvent<'_>,
    skipped: &SkippedErrors,
    counts: &StatementCounts,
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
        (Err(failure), _) if skipped.contains(failure.code) => {
            skip_counted(&failure, counts);
            Ok(())
        }
        (Err(failure), Some(expected)) if is_same(failure.code, expected) => {
            skip(&failure);
            Ok(())
        }
        (Ok(()), Some(expected)) => Err(different(expected, None, query)),
        (Err(failure), Some(expected)) => Err(different(expected, Some(&failure), query)),
        (Err(failure), None) => Err(on_query(failure, query)),
    }
}

/// Changes rows that fire triggers. If an error of a row is skipped, so are the rows after it, as for rows without
/// triggers.
///
/// # Errors
/// Those of `change` that `slave_skip_errors` does not skip.
pub(super) fn change_rows(
    skipped: &SkippedErrors,
    counts: &StatementCounts,
    retries: Retries,
    change: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    match change() {
        Err(failure) if is_end(failure.code, retries) && skipped.contains(failure.code) => {
            skip_counted(&failure, counts);
            Ok(())
        }
        done => done,
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

/// Returns the error that the statement should have, unless it is in `slave_skip_errors`.
fn expected(query: &QueryEvent<'_>, skipped: &SkippedErrors) -> Option<ErrorCode> {
    let code = (query.error_code != 0).then(|| ErrorCode::from_number(query.error_code));
    code.filter(|code| !skipped.contains(*code))
}

fn is_same(one: ErrorCode, other: ErrorCode) -> bool {
    one == other || (DUPLICATES.contains(&one) && DUPLICATES.contains(&other))
}

fn skip_counted(failure: &Failure, counts: &StatementCounts) {
    counts.count_skipped_error();
    skip(failure);
}

fn skip(failure: &Failure) {
    tracing::warn!(
        "a replicated statement failed and is passed over: {}",
        failure.message
    );
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

/// Returns MariaDB's text. MariaDB shows it with error number 0.
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
    fn errors_that_are_not_results_are_not_skipped() {
        let mut query = QueryEvent::new(b"d", b"insert into t values (1)");
        let counts = StatementCounts::default();
        for expected in [0, ER_DUP_ENTRY.number()] {
            query.error_code = expected;
            let end = |code: ErrorCode, retries| {
                let failed = || Err(Failure::new(code, "as it is"));
                execute_as_primary(&query, &SkippedErrors::All, &counts, retries, failed)
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
        assert_eq!(counts.skipped_errors(), 6);
        let rows = |code: ErrorCode, retries| {
            let failed = || Err(Failure::new(code, "as it is"));
            change_rows(&SkippedErrors::All, &counts, retries, failed).map_err(|failure| failure.code)
        };
        assert_eq!(
            rows(ER_LOCK_WAIT_TIMEOUT, Retries::Left),
            Err(ER_LOCK_WAIT_TIMEOUT)
        );
        assert_eq!(rows(ER_LOCK_WAIT_TIMEOUT, Retries::UsedUp), Ok(()));
        assert_eq!(counts.skipped_errors(), 7);
    }
}
