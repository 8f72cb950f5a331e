//! INNODB_TRX, INNODB_LOCKS and INNODB_LOCK_WAITS: open transactions and waits for row locks.

use super::key_place::KeyPlace;
use super::open_transaction::OpenTransaction;
use super::session_time;
use super::sources::Sources;
use crate::cells::{Row, number, text, text_or_null};
use paceline_storage::IndexId;
use paceline_txn::{LockMode, RowLock, RowLockWait};
use paceline_types::Value;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Approximate memory of a lock in bytes: its entry and its place in the owner's list.
pub(crate) const LOCK_BYTES: u64 = 160;

fn lock_id(transaction: u64, key: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let index = IndexId::of_key(key).map_or(0, IndexId::as_u32);
    format!("{transaction}:{index}:{:016x}", hasher.finish())
}

/// Returns InnoDB's name of the operation of a transaction that waits for a row.
pub(crate) fn operation(query: Option<&str>) -> &'static str {
    let first_word = query.and_then(|query| query.split_ascii_whitespace().next());
    match first_word.map(str::to_ascii_lowercase).as_deref() {
        Some("insert" | "replace" | "load") => "inserting",
        _ => "starting index read",
    }
}

pub(super) fn transactions(sources: &dyn Sources) -> Vec<Row> {
    let waits = sources.row_lock_waits();
    let row = |transaction: OpenTransaction| {
        let wait = waits
            .iter()
            .find(|wait| wait.wanted.session_id == transaction.session_id);
        let since = transaction.waits_since_micros.filter(|_| wait.is_some());
        let flag = |is_set: bool| Value::Int(is_set.into());
        let state = if wait.is_some() { "LOCK WAIT" } else { "RUNNING" };
        let operation = wait.map(|_| operation(transaction.query.as_deref()));
        vec![
            number(transaction.id),
            text(state),
            session_time::of_micros(sources, transaction.started_micros),
            text_or_null(wait.map(|wait| lock_id(transaction.id, &wait.key))),
            since.map_or(Value::Null, |micros| session_time::of_micros(sources, micros)),
            number(transaction.weight),
            number(transaction.connection_id),
            text_or_null(transaction.query.clone()),
            text_or_null(operation),
            number(transaction.query.is_some().into()),
            number((transaction.locks > 0).into()),
            number(transaction.locks),
            number(transaction.locks * LOCK_BYTES),
            number(transaction.locks),
            number(transaction.rows_changed),
            number(0),
            text(transaction.isolation),
            flag(transaction.unique_checks),
            flag(transaction.foreign_key_checks),
            Value::Null,
            flag(transaction.read_only),
            flag(transaction.is_single_statement && transaction.locks == 0 && wait.is_none()),
        ]
    };
    sources.transactions().into_iter().map(row).collect()
}

/// Returns the id of each session's transaction, by session id.
fn transaction_ids(sources: &dyn Sources) -> HashMap<u64, u64> {
    let transactions = sources.transactions().into_iter();
    transactions.map(|one| (one.session_id, one.id)).collect()
}

/// Returns the locks in waits: each requested lock, and those that block it.
pub(super) fn locks(sources: &dyn Sources) -> Vec<Row> {
    let ids = transaction_ids(sources);
    let catalog = sources.catalog();
    let mut seen = HashSet::new();
    let mut rows = vec![];
    for RowLockWait {
        key,
        wanted,
        blockers,
    } in sources.row_lock_waits()
    {
        let Some(place) = KeyPlace::of(&catalog, &key) else {
            continue;
        };
        for RowLock { session_id, mode } in std::iter::once(wanted).chain(blockers) {
            let Some(transaction) = ids.get(&session_id) else {
                continue;
            };
            let id = lock_id(*transaction, &key);
            if !seen.insert(id.clone()) {
                continue;
            }
            let mode = match mode {
                LockMode::Shared => "S",
                LockMode::Exclusive => "X",
            };
            rows.push(vec![
                text(id),
                number(*transaction),
                text(mode),
                text("RECORD"),
                text(place.table.clone()),
                text(place.index.clone()),
                Value::Null,
                Value::Null,
                Value::Null,
                text(place.values.clone()),
            ]);
        }
    }
    rows
}

pub(super) fn lock_waits(sources: &dyn Sources) -> Vec<Row> {
    let ids = transaction_ids(sources);
    let mut rows = vec![];
    for RowLockWait {
        key,
        wanted,
        blockers,
    } in sources.row_lock_waits()
    {
        let Some(waiting) = ids.get(&wanted.session_id) else {
            continue;
        };
        for blocker in blockers {
            let Some(blocking) = ids.get(&blocker.session_id) else {
                continue;
            };
            rows.push(vec![
                number(*waiting),
                text(lock_id(*waiting, &key)),
                number(*blocking),
                text(lock_id(*blocking, &key)),
            ]);
        }
    }
    rows
}
