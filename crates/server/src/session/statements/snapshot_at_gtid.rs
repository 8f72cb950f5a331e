//! `START TRANSACTION WITH CONSISTENT SNAPSHOT AT GTID '…'`: the state at a GTID position, on any server that has
//! reached it.
//!
//! With it, several servers, or several sessions of a parallel dump, read exactly the same state. If the position is
//! not reached yet, the statement waits (`wait_for_gtid_timeout`). A position in the past is reconstructed by undoing
//! the transactions logged since then ([`paceline_apply::undo_to`]). The transaction is READ ONLY at REPEATABLE READ,
//! whatever the session's settings are.

use crate::errors::of_gtid_list;
use crate::recovery::{EventOrigins, ServerHost};
use crate::session::state::SessionState;
use crate::variables::Variable;
use paceline_apply::{CatalogDefinitions, undo_to};
use paceline_binlog::GtidPosition;
use paceline_syntax::{Error, Result};
use paceline_txn::{AccessMode, IsolationLevel, Lifetime, Transaction, TransactionOptions};
use paceline_types::error_code::*;
use paceline_types::{LogPosition, ServerId};

/// Maximum length of the log to undo, in bytes. The log is in memory for a short time, and its rows for the whole
/// transaction.
const BYTES_MAX: u64 = 256 << 20;

/// Begins the transaction.
///
/// # Errors
/// 1941 for an invalid GTID list; 1205 if the position is not reached in time; 1945 if it is not in the log; 1236
/// if the log since then is not available any more or too long; 1221 for READ WRITE.
pub fn begin_at(position: &str, access: Option<AccessMode>, state: &mut SessionState) -> Result<Transaction> {
    if access == Some(AccessMode::ReadWrite) {
        return Err(Error::new(ER_WRONG_USAGE, &[&"AT GTID", &"READ WRITE"]));
    }
    let position: GtidPosition = position.parse().map_err(of_gtid_list)?;
    state.services.wait_until_logged(&position)?;
    let options = TransactionOptions {
        isolation: IsolationLevel::RepeatableRead,
        ..state.transaction_options(Lifetime::Explicit, Some(AccessMode::ReadOnly))
    };
    let transactions = &state.server.transactions;
    let mut transaction = transactions.begin_with_snapshot(&state.services.locks, options);
    let snapshot = transaction.snapshot();
    let host = ServerHost {
        initial_accounts: state.server.accounts.initial(),
        events: match state.server.cluster {
            Some(_) => EventOrigins::All,
            None => EventOrigins::Only(ServerId(state.server.globals.number(Variable::ServerId) as u32)),
        },
    };
    let definitions = CatalogDefinitions::new(state.server.catalog.clone(), &host);
    let log = transactions.log();
    let _lease = transactions.lease(LogPosition::ZERO, "a snapshot at a GTID");
    let found = tokio::task::block_in_place(|| undo_to(log, &snapshot, &position, &definitions, BYTES_MAX));
    let found = found.map_err(|error| of_apply(&error, &position))?;
    transaction.read_as_of(found.undo, found.version);
    Ok(transaction)
}

fn of_apply(error: &paceline_apply::Error, position: &GtidPosition) -> Error {
    match error {
        paceline_apply::Error::NotInLog(gtid) => Error::with_message(
            ER_GTID_POSITION_NOT_FOUND_IN_BINLOG,
            format!("There is no state at GTID {gtid}, which is not in the binary log"),
        ),
        paceline_apply::Error::Log(paceline_binlog::Error::Purged) => Error::with_message(
            ER_MASTER_FATAL_ERROR_READING_BINLOG,
            format!("The state at '{position}' is gone: binary log files since then have been purged"),
        ),
        paceline_apply::Error::UndoTooLarge { .. } => Error::with_message(
            ER_MASTER_FATAL_ERROR_READING_BINLOG,
            format!("The state at '{position}' is too old: {error}"),
        ),
        error => Error::with_message(ER_UNKNOWN_ERROR, error.to_string()),
    }
}
