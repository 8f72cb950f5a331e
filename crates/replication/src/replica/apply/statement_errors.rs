//! Statements that failed on their primary.
//!
//! A statement that changed tables without transactions before it failed is in the log, with its error. A replica that executes it must come to the
//! same end: then it has changed the same. Any other end is a difference between the two servers, and stops the connection. A statement that
//! was interrupted cannot come to the same end, and is not executed at all.

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

/// Executes a statement, and compares its end with the one on its primary.
///
/// # Errors
/// The statement's number of error on its primary, if it was interrupted there. 3002 for two different ends. The statement's own error.
pub(super) fn execute_as_primary(
    query: &QueryEvent<'_>,
    skipped: &SkippedErrors,
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
        (Err(failure), _) if skipped.contains(failure.code) => pass_over(&failure),
        (Err(failure), Some(expected)) if is_same(failure.code, expected) => pass_over(&failure),
        (Ok(()), Some(expected)) => Err(different(expected, None, query)),
        (Err(failure), Some(expected)) => Err(different(expected, Some(&failure), query)),
        (Err(failure), None) => Err(Failure {
            message: format!(
                "Error '{}' on query. Default database: '{}'. Query: '{}'",
                failure.message,
                String::from_utf8_lossy(query.database),
                String::from_utf8_lossy(&query.sql)
            ),
            ..failure
        }),
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
