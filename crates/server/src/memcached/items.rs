//! Requests for items, as statements of a session.
//!
//! | request | statements |
//! |---|---|
//! | get | SELECT by the key |
//! | set, if the key is the table's only unique index | INSERT … ON DUPLICATE KEY UPDATE |
//! | delete | DELETE |
//! | everything else | BEGIN, SELECT … FOR UPDATE, one change, COMMIT |
//!
//! The last row locks the item, or its place, before it decides. If it loses a deadlock, or another session inserts
//! the key first, it begins again, at most [`ATTEMPTS_MAX`] times.
//!
//! An expired item is none for every request, but its row stays until something is stored under its key.

use super::container::Container;
use super::item_row::{
    CasSource, NEVER, RowValues, StoredItem, column_values, expiry_of, has_expired, key_value, now_seconds,
};
use super::open_batch::{KeptSet, OpenBatch};
use super::shared::Memcached;
use crate::memcached_counters::{MemcachedCounters, count};
use crate::server::Server;
use crate::session::Session;
use crate::session::direct::DirectStatement;
use paceline_memcached::{Arithmetic, Key, Reply, Store, StoreMode};
use paceline_query::execute::{Outcome, RowSink};
use paceline_query::plan::ResultColumn;
use paceline_syntax::Error;
use paceline_types::Value;
use paceline_types::error_code::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Maximum number of times that a change is tried.
const ATTEMPTS_MAX: usize = 10;
/// Number of containers whose statements a connection keeps.
const CONTAINERS_MAX: usize = 128;

/// Reason why a request has no result.
#[derive(Debug)]
pub enum Failure {
    /// The client's mistake.
    Client(String),
    /// A failure of the server.
    Server(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let of_value = [
            ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
            ER_WARN_DATA_OUT_OF_RANGE,
            ER_DATA_TOO_LONG,
            ER_TRUNCATED_WRONG_VALUE,
            WARN_DATA_TRUNCATED,
            ER_BAD_NULL_ERROR,
            ER_CONSTRAINT_FAILED,
            ER_NO_REFERENCED_ROW_2,
        ];
        let text = format!("{} {error}", error.code().number());
        match of_value.contains(&error.code()) {
            true => Failure::Client(text),
            false => Failure::Server(text),
        }
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Client(text) => Reply::ClientError(text),
            Failure::Server(text) => Reply::ServerError(text),
        }
    }
}

type Result<T> = std::result::Result<T, Failure>;

/// Statement of a container.
#[derive(Clone, Copy)]
enum Operation {
    Select,
    SelectForUpdate,
    Insert,
    Upsert,
    Update,
    Delete,
    DeleteAll,
}

const OPERATIONS: usize = 7;

/// A container with the statements that the session has prepared for it.
struct PreparedContainer {
    container: Arc<Container>,
    statements: [Option<DirectStatement>; OPERATIONS],
}

impl PreparedContainer {
    async fn run<S: RowSink + Default>(
        &mut self,
        operation: Operation,
        parameters: &[Value],
        session: &mut Session,
    ) -> paceline_syntax::Result<(S, Outcome)> {
        let place = &mut self.statements[operation as usize];
        let statement = match place {
            Some(statement) => statement,
            None => {
                let container = &self.container;
                let text = match operation {
                    Operation::Select => container.select(),
                    Operation::SelectForUpdate => container.select_for_update(),
                    Operation::Insert => container.insert(),
                    Operation::Upsert => container.upsert(),
                    Operation::Update => container.update(),
                    Operation::Delete => container.delete(),
                    Operation::DeleteAll => container.delete_all(),
                };
                place.insert(session.prepare_direct(&text)?)
            }
        };
        session.run_direct(statement, parameters).await
    }
}

/// Statements around others.
struct TransactionStatements {
    begin: DirectStatement,
    commit: DirectStatement,
    rollback: DirectStatement,
}

/// Sink of statements without rows.
#[derive(Default)]
struct NoRows;

impl RowSink for NoRows {
    fn columns(&mut self, _columns: &[ResultColumn]) -> paceline_syntax::Result<()> {
        Ok(())
    }

    fn row(&mut self, _row: &[Value]) -> paceline_syntax::Result<()> {
        Ok(())
    }
}

/// Decision about an item.
enum Change {
    /// It stays. The reply.
    None(Reply),
    /// It becomes this. Its CAS is chosen if it is 0.
    Write(StoredItem),
    /// It is removed.
    Remove,
}

/// Result of a change.
enum ChangeResult {
    None(Reply),
    Written(StoredItem),
    Removed,
}

/// A session that executes requests.
pub struct ItemSession {
    pub session: Session,
    memcached: Arc<Memcached>,
    /// By the address of the container, which lives as long as its entry.
    prepared: HashMap<usize, PreparedContainer>,
    transaction: Option<TransactionStatements>,
    batch: OpenBatch,
    /// Whether the error log has been told that a batch is lost.
    has_lost_batch: bool,
}

impl ItemSession {
    pub fn new(session: Session, memcached: Arc<Memcached>) -> ItemSession {
        ItemSession {
            session,
            memcached,
            prepared: HashMap::new(),
            transaction: None,
            batch: OpenBatch::default(),
            has_lost_batch: false,
        }
    }

    fn server(&self) -> &Arc<Server> {
        self.session.server()
    }

    fn counters(&self) -> &MemcachedCounters {
        &self.server().memcached
    }

    fn cas(&self) -> &CasSource {
        &self.memcached.cas
    }

    async fn container(&self, key: &Key) -> Result<Arc<Container>> {
        let found = self
            .memcached
            .containers
            .of_key(key.as_bytes(), self.server())
            .await;
        found.map_err(Failure::Server)
    }

    async fn run<S: RowSink + Default>(
        &mut self,
        container: &Arc<Container>,
        operation: Operation,
        parameters: &[Value],
    ) -> paceline_syntax::Result<(S, Outcome)> {
        let address = Arc::as_ptr(container) as usize;
        if self.prepared.len() >= CONTAINERS_MAX && !self.prepared.contains_key(&address) {
            // Those of containers that were changed are among them.
            self.prepared.clear();
        }
        let prepared = self.prepared.entry(address).or_insert_with(|| PreparedContainer {
            container: container.clone(),
            statements: Default::default(),
        });
        prepared.run(operation, parameters, &mut self.session).await
    }

    /// Returns an item.
    pub async fn get(&mut self, key: &Key) -> Result<Option<StoredItem>> {
        count(&self.counters().cmd_get);
        let container = self.container(key).await?;
        let item = match key_value(key.as_bytes(), &container) {
            None => None,
            Some(key) => {
                let (rows, _): (RowValues, _) = self.run(&container, Operation::Select, &[key]).await?;
                rows.into_item(&container)
            }
        };
        let counters = self.counters();
        match item {
            Some(item) if has_expired(item.expiry) => {
                count(&counters.get_expired);
                count(&counters.get_misses);
                Ok(None)
            }
            Some(item) => {
                count(&counters.get_hits);
                Ok(Some(item))
            }
            None => {
                count(&counters.get_misses);
                Ok(None)
            }
        }
    }

    /// Returns an item and sets its time to live.
    pub async fn get_and_touch(&mut self, key: &Key, time_to_live: i64) -> Result<Option<StoredItem>> {
        count(&self.counters().cmd_get);
        match self.touch(key, time_to_live).await? {
            Some(item) => {
                count(&self.counters().get_hits);
                Ok(Some(item))
            }
            None => {
                count(&self.counters().get_misses);
                Ok(None)
            }
        }
    }

    /// Sets an item's time to live. Returns the item.
    pub async fn touch(&mut self, key: &Key, time_to_live: i64) -> Result<Option<StoredItem>> {
        count(&self.counters().cmd_touch);
        let expiry = expiry_of(time_to_live);
        let container = self.container(key).await?;
        let changed = self
            .change(key, &container, |item| match item {
                // The CAS stays: the value is the same.
                Some(item) => Change::Write(StoredItem { expiry, ..item }),
                None => Change::None(Reply::NotFound),
            })
            .await?;
        let counters = self.counters();
        match changed {
            ChangeResult::Written(item) => {
                count(&counters.touch_hits);
                Ok(Some(item))
            }
            ChangeResult::None(_) | ChangeResult::Removed => {
                count(&counters.touch_misses);
                Ok(None)
            }
        }
    }

    /// Stores a value.
    pub async fn store(&mut self, store: Store) -> Result<Reply> {
        count(&self.counters().cmd_set);
        let container = self.container(&store.key).await?;
        let uses_cas = store.compare.is_some() || store.new_cas.is_some();
        check_cas(&container, uses_cas)?;
        let is_set = store.mode == StoreMode::Set && !uses_cas && container.is_only_key;
        if is_set && !container.row.sync {
            return self.set_in_batch(store, &container).await;
        }
        self.commit_batch().await;
        if is_set {
            return self.set(store, &container).await;
        }
        let compares = store.compare.is_some();
        let changed = self
            .change(&store.key, &container, |item| decide_store(&store, item))
            .await?;
        let counters = self.counters();
        Ok(match changed {
            ChangeResult::Written(item) => {
                if compares {
                    count(&counters.cas_hits);
                }
                Reply::Stored(item.seen())
            }
            ChangeResult::None(reply) => {
                match reply {
                    Reply::Exists => count(&counters.cas_badval),
                    Reply::NotFound if compares => count(&counters.cas_misses),
                    _ => {}
                }
                reply
            }
            ChangeResult::Removed => unreachable!("nothing is removed"),
        })
    }

    /// Stores a value without a condition, in one statement.
    async fn set(&mut self, store: Store, container: &Arc<Container>) -> Result<Reply> {
        let (item, parameters) = self.upsert_of(store, container)?;
        self.run_persistently(container, Operation::Upsert, &parameters)
            .await?;
        Ok(Reply::Stored(item.seen()))
    }

    /// Returns the item of a set, and the parameters of its statement.
    fn upsert_of(&self, store: Store, container: &Container) -> Result<(StoredItem, Vec<Value>)> {
        let item = StoredItem {
            value: store.value,
            flags: store.flags,
            cas: self.cas().after(0),
            expiry: expiry_of(store.time_to_live),
        };
        let key = key_value(store.key.as_bytes(), container).ok_or_else(no_such_key)?;
        let mut parameters = vec![key];
        parameters.extend(column_values(&item, container).map_err(Failure::Client)?);
        Ok((item, parameters))
    }

    /// Stores a value that is committed after the reply.
    async fn set_in_batch(&mut self, store: Store, container: &Arc<Container>) -> Result<Reply> {
        let (item, parameters) = self.upsert_of(store, container)?;
        let bytes = item.value.len();
        let set = KeptSet {
            container: container.clone(),
            parameters,
        };
        let mut attempts = 1;
        while let Err(error) = self.run_in_batch(&set).await {
            if self.batch.sets().is_empty() {
                self.roll_back_batch().await;
            }
            // Without their transaction the sets before begin again, whatever becomes of this one.
            let is_whole = self.session.is_in_transaction() || self.repeat_batch().await;
            if !is_whole || attempts >= ATTEMPTS_MAX || !is_transient(&error) {
                return Err(error.into());
            }
            attempts += 1;
        }
        self.batch.add(set, bytes);
        if self.batch.is_full() {
            self.commit_batch().await;
        }
        Ok(Reply::Stored(item.seen()))
    }

    async fn run_in_batch(&mut self, set: &KeptSet) -> paceline_syntax::Result<()> {
        if !self.session.is_in_transaction() {
            self.in_transaction(Around::Begin).await?;
        }
        let done: paceline_syntax::Result<(NoRows, _)> =
            self.run(&set.container, Operation::Upsert, &set.parameters).await;
        done.map(|_| ())
    }

    /// Executes the sets of a batch whose transaction was undone again. Returns whether that succeeded.
    async fn repeat_batch(&mut self) -> bool {
        let batch = std::mem::take(&mut self.batch);
        let mut attempts = 1;
        let error = loop {
            let error = match self.repeat_sets(batch.sets()).await {
                Ok(()) => {
                    self.batch = batch;
                    return true;
                }
                Err(error) => error,
            };
            self.roll_back_batch().await;
            if attempts >= ATTEMPTS_MAX || !is_transient(&error) {
                break error;
            }
            attempts += 1;
        };
        self.report_lost(batch.sets().len(), &error);
        false
    }

    async fn repeat_sets(&mut self, sets: &[KeptSet]) -> paceline_syntax::Result<()> {
        for set in sets {
            self.run_in_batch(set).await?;
        }
        Ok(())
    }

    /// Returns the time at which the open batch is to be committed, if there is one.
    pub fn batch_deadline(&self) -> Option<Instant> {
        self.batch.deadline()
    }

    /// Commits the open batch, if there is one.
    pub async fn commit_batch(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if batch.sets().is_empty() {
            return;
        }
        if let Err(error) = self.in_transaction(Around::Commit).await {
            self.roll_back_batch().await;
            self.report_lost(batch.sets().len(), &error);
        }
    }

    async fn roll_back_batch(&mut self) {
        if self.session.is_in_transaction() {
            // A failure ends the session, which rolls back.
            let _ = self.in_transaction(Around::Rollback).await;
        }
    }

    fn report_lost(&mut self, sets: usize, error: &Error) {
        let lost = &self.counters().unsynced_lost;
        lost.fetch_add(sets as u64, Ordering::Relaxed);
        if !std::mem::replace(&mut self.has_lost_batch, true) {
            tracing::warn!(
                "memcached: {sets} values that were answered (sync = 0) could not be committed: {error}"
            );
        }
    }

    /// Deletes an item.
    pub async fn delete(&mut self, key: &Key, compare: Option<u64>) -> Result<Reply> {
        let container = self.container(key).await?;
        check_cas(&container, compare.is_some())?;
        let reply = match compare {
            Some(expected) => {
                let changed = self
                    .change(key, &container, |item| match item {
                        Some(item) if item.cas == expected => Change::Remove,
                        Some(_) => Change::None(Reply::Exists),
                        None => Change::None(Reply::NotFound),
                    })
                    .await?;
                match changed {
                    ChangeResult::Removed => Reply::Deleted,
                    ChangeResult::None(reply) => reply,
                    ChangeResult::Written(_) => unreachable!("nothing is written"),
                }
            }
            None => match key_value(key.as_bytes(), &container) {
                None => Reply::NotFound,
                Some(key) => self.delete_row(key, &container).await?,
            },
        };
        match reply {
            Reply::Deleted => count(&self.counters().delete_hits),
            Reply::NotFound => count(&self.counters().delete_misses),
            _ => {}
        }
        Ok(reply)
    }

    async fn delete_row(&mut self, key: Value, container: &Arc<Container>) -> Result<Reply> {
        let mut parameters = vec![key];
        parameters.extend(
            container
                .row
                .expiry_column
                .as_ref()
                .map(|_| Value::UInt(now_seconds())),
        );
        let outcome = self
            .run_persistently(container, Operation::Delete, &parameters)
            .await?;
        Ok(match outcome.affected_rows {
            0 => Reply::NotFound,
            _ => Reply::Deleted,
        })
    }

    /// Executes a statement that is a transaction by itself. It begins again if it loses a deadlock.
    async fn run_persistently(
        &mut self,
        container: &Arc<Container>,
        operation: Operation,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let mut attempts = 1;
        loop {
            let done: paceline_syntax::Result<(NoRows, _)> = self.run(container, operation, parameters).await;
            match done {
                Ok((_, outcome)) => return Ok(outcome),
                Err(error) if attempts < ATTEMPTS_MAX && is_transient(&error) => attempts += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Changes a number.
    pub async fn calculate(&mut self, change: Arithmetic) -> Result<Reply> {
        let container = self.container(&change.key).await?;
        check_cas(&container, change.compare.is_some() || change.new_cas.is_some())?;
        let changed = self
            .change(&change.key, &container, |item| decide_number(&change, item))
            .await?;
        let counters = self.counters();
        let (hits, misses) = match change.is_decrement {
            true => (&counters.decr_hits, &counters.decr_misses),
            false => (&counters.incr_hits, &counters.incr_misses),
        };
        Ok(match changed {
            ChangeResult::Written(item) => {
                count(hits);
                let number = number_of(&item.value).unwrap_or(0);
                Reply::Number(number, item.seen())
            }
            ChangeResult::None(reply) => {
                if reply == Reply::NotFound {
                    count(misses);
                }
                reply
            }
            ChangeResult::Removed => unreachable!("nothing is removed"),
        })
    }

    /// Empties the containers that allow it.
    pub async fn flush_all(&mut self) -> Result<()> {
        count(&self.counters().cmd_flush);
        let containers = self.memcached.containers.to_flush(self.server()).await;
        let containers = containers.map_err(Failure::Server)?;
        if containers.is_empty() {
            return Err(Failure::Server("no container allows flush_all".to_owned()));
        }
        for container in containers {
            let _: (NoRows, _) = self.run(&container, Operation::DeleteAll, &[]).await?;
        }
        Ok(())
    }

    /// Changes an item, or the place of one, under its lock.
    async fn change(
        &mut self,
        key: &Key,
        container: &Arc<Container>,
        decide: impl Fn(Option<StoredItem>) -> Change,
    ) -> Result<ChangeResult> {
        let Some(key) = key_value(key.as_bytes(), container) else {
            return match decide(None) {
                Change::None(reply) => Ok(ChangeResult::None(reply)),
                Change::Write(_) | Change::Remove => Err(no_such_key()),
            };
        };
        let mut attempts = 1;
        loop {
            match self.try_change(&key, container, &decide).await {
                Err(ChangeError::Sql(error)) if attempts < ATTEMPTS_MAX && is_transient(&error) => {
                    attempts += 1
                }
                done => return done.map_err(Failure::from),
            }
        }
    }

    async fn try_change(
        &mut self,
        key: &Value,
        container: &Arc<Container>,
        decide: &impl Fn(Option<StoredItem>) -> Change,
    ) -> std::result::Result<ChangeResult, ChangeError> {
        self.in_transaction(Around::Begin).await?;
        let done = self.change_locked(key, container, decide).await;
        match done {
            Ok(changed) => {
                self.in_transaction(Around::Commit).await?;
                Ok(changed)
            }
            Err(error) => {
                if self.session.is_in_transaction() {
                    self.in_transaction(Around::Rollback).await?;
                }
                Err(error)
            }
        }
    }

    async fn change_locked(
        &mut self,
        key: &Value,
        container: &Arc<Container>,
        decide: &impl Fn(Option<StoredItem>) -> Change,
    ) -> std::result::Result<ChangeResult, ChangeError> {
        let parameters = std::slice::from_ref(key);
        let (rows, _): (RowValues, _) = self
            .run(container, Operation::SelectForUpdate, parameters)
            .await?;
        let row = rows.into_item(container);
        let has_row = row.is_some();
        let (cas_before, expiry) = row.as_ref().map_or((0, NEVER), |row| (row.cas, row.expiry));
        match decide(row.filter(|_| !has_expired(expiry))) {
            Change::None(reply) => Ok(ChangeResult::None(reply)),
            Change::Remove => {
                let mut parameters = vec![key.clone()];
                // Whether it has expired is decided already: every time of expiry is later than this.
                parameters.extend(container.row.expiry_column.as_ref().map(|_| Value::UInt(0)));
                let _: (NoRows, _) = self.run(container, Operation::Delete, &parameters).await?;
                Ok(ChangeResult::Removed)
            }
            Change::Write(mut item) => {
                if container.row.cas_column.is_none() {
                    item.cas = 0;
                } else if item.cas == 0 {
                    item.cas = self.cas().after(cas_before);
                }
                let mut parameters = column_values(&item, container).map_err(ChangeError::Client)?;
                let operation = match has_row {
                    true => {
                        parameters.push(key.clone());
                        Operation::Update
                    }
                    false => {
                        parameters.insert(0, key.clone());
                        Operation::Insert
                    }
                };
                let _: (NoRows, _) = self.run(container, operation, &parameters).await?;
                Ok(ChangeResult::Written(item))
            }
        }
    }

    async fn in_transaction(&mut self, around: Around) -> paceline_syntax::Result<()> {
        let session = &mut self.session;
        let statements = match &mut self.transaction {
            Some(statements) => statements,
            None => self.transaction.insert(TransactionStatements {
                begin: session.prepare_direct("BEGIN")?,
                commit: session.prepare_direct("COMMIT")?,
                rollback: session.prepare_direct("ROLLBACK")?,
            }),
        };
        let statement = match around {
            Around::Begin => &mut statements.begin,
            Around::Commit => &mut statements.commit,
            Around::Rollback => &mut statements.rollback,
        };
        let _: (NoRows, _) = session.run_direct(statement, &[]).await?;
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Around {
    Begin,
    Commit,
    Rollback,
}

/// Error of a change.
enum ChangeError {
    Sql(Error),
    Client(String),
}

impl From<Error> for ChangeError {
    fn from(error: Error) -> Self {
        ChangeError::Sql(error)
    }
}

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Sql(error) => error.into(),
            ChangeError::Client(text) => Failure::Client(text),
        }
    }
}

/// Refuses a request that reads or sets the CAS of items which have none.
fn check_cas(container: &Container, uses_cas: bool) -> Result<()> {
    match uses_cas && container.row.cas_column.is_none() {
        true => Err(Failure::Client("the container has no column for CAS".to_owned())),
        false => Ok(()),
    }
}

fn no_such_key() -> Failure {
    Failure::Client("the key column cannot have this key".to_owned())
}

/// Returns whether the same change may succeed if it begins again.
fn is_transient(error: &Error) -> bool {
    [ER_LOCK_DEADLOCK, ER_DUP_ENTRY, ER_CHECKREAD].contains(&error.code())
}

fn decide_store(store: &Store, item: Option<StoredItem>) -> Change {
    let cas = store.new_cas.unwrap_or(0);
    let new = |time_to_live| {
        Change::Write(StoredItem {
            value: store.value.clone(),
            flags: store.flags,
            cas,
            expiry: expiry_of(time_to_live),
        })
    };
    let expected = |item: &StoredItem| store.compare.is_none_or(|cas| cas == item.cas);
    match (store.mode, item) {
        (_, Some(item)) if !expected(&item) => Change::None(Reply::Exists),
        (StoreMode::Add, Some(_)) => Change::None(Reply::NotStored),
        (StoreMode::Append | StoreMode::Prepend, Some(item)) => {
            let value = match store.mode {
                StoreMode::Append => [&item.value[..], &store.value].concat(),
                _ => [&store.value[..], &item.value].concat(),
            };
            Change::Write(StoredItem { value, cas, ..item })
        }
        (StoreMode::Set | StoreMode::Replace, Some(_)) => new(store.time_to_live),
        (_, None) if store.compare.is_some() => Change::None(Reply::NotFound),
        (StoreMode::Set | StoreMode::Add, None) => new(store.time_to_live),
        (StoreMode::Append | StoreMode::Prepend, None) => match store.create {
            Some(time_to_live) => new(time_to_live),
            None => Change::None(Reply::NotStored),
        },
        (StoreMode::Replace, None) => Change::None(Reply::NotStored),
    }
}

fn number_of(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value)
        .ok()
        .filter(|_| is_number)?
        .parse()
        .ok()
}

fn decide_number(change: &Arithmetic, item: Option<StoredItem>) -> Change {
    match item {
        Some(item) if change.compare.is_some_and(|cas| cas != item.cas) => Change::None(Reply::Exists),
        Some(item) => {
            let Some(number) = number_of(&item.value) else {
                return Change::None(Reply::ClientError(
                    "cannot increment or decrement non-numeric value".to_owned(),
                ));
            };
            let number = match change.is_decrement {
                true => number.saturating_sub(change.delta),
                false => number.wrapping_add(change.delta),
            };
            Change::Write(StoredItem {
                value: number.to_string().into_bytes(),
                cas: change.new_cas.unwrap_or(0),
                expiry: change.time_to_live.map_or(item.expiry, expiry_of),
                flags: item.flags,
            })
        }
        None => match change.create {
            Some((initial, time_to_live)) => Change::Write(StoredItem {
                value: initial.to_string().into_bytes(),
                cas: change.new_cas.unwrap_or(0),
                expiry: expiry_of(time_to_live),
                flags: 0,
            }),
            None => Change::None(Reply::NotFound),
        },
    }
}
