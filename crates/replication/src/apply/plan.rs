//! Planning: determines the tables of a transaction and the keys that it touches.

use super::options::ApplierParts;
use super::round::{KeySet, RoundBuilder, RoundNumber};
use paceline_apply::replicated::{
    Failure, MappedTable, MappedTables, ReplicatedRows, RowOptions, TableTarget, TouchedKeys, touched_keys,
};
use paceline_binlog::event::{Event, EventType, FormatDescription, RawEvent, TableId, TableMapEvent};
use paceline_catalog::{Catalog, TableDefinition};
use paceline_txn::{MetadataGuard, MetadataMode, MetadataObject, Session, Transaction};
use paceline_types::error_code::ER_NO_SUCH_TABLE;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of cached table maps.
const MAPS_MAX: usize = 4096;
/// Default of `lock_wait_timeout`, for table definitions.
const METADATA_LOCK_TIMEOUT: Duration = Duration::from_secs(86_400);

struct KnownMap {
    body: Vec<u8>,
    table: Option<Arc<MappedTable>>,
}

/// Cache of the table maps for the current catalog and options.
pub(super) struct TableMaps {
    catalog: Arc<Catalog>,
    options: Arc<RowOptions>,
    known: HashMap<TableId, KnownMap>,
}

impl TableMaps {
    pub(super) fn new(catalog: Arc<Catalog>) -> Self {
        TableMaps {
            catalog,
            options: Arc::default(),
            known: HashMap::new(),
        }
    }

    /// Locks and returns the tables that these events map.
    ///
    /// # Errors
    /// 1146; malformed events; a lock that is not granted.
    pub(super) fn of<'e>(
        &mut self,
        events: impl Iterator<Item = RawEvent<'e>>,
        format: &FormatDescription,
        locks: &mut TableLocks<'_>,
        parts: &ApplierParts,
    ) -> Result<MappedTables, Failure> {
        let mut tables = MappedTables::new();
        for event in events {
            if event.event_type() != EventType::TABLE_MAP {
                continue;
            }
            let Event::TableMap(map) = event.decode(format)? else {
                continue;
            };
            if tables.iter().any(|(known, _)| *known == map.table_id) {
                continue;
            }
            let table = self.table(&event, &map, locks, parts)?;
            tables.push((map.table_id, table));
        }
        Ok(tables)
    }

    fn table(
        &mut self,
        event: &RawEvent<'_>,
        map: &TableMapEvent<'_>,
        locks: &mut TableLocks<'_>,
        parts: &ApplierParts,
    ) -> Result<Option<Arc<MappedTable>>, Failure> {
        loop {
            let (catalog, options) = (parts.catalog.load(), parts.options.rows.get());
            let is_current = Arc::ptr_eq(&catalog, &self.catalog) && Arc::ptr_eq(&options, &self.options);
            if !is_current || self.known.len() >= MAPS_MAX {
                self.known.clear();
                (self.catalog, self.options) = (catalog, options);
            }
            let table = match self.known.get(&map.table_id) {
                Some(known) if known.body == event.body() => known.table.clone(),
                _ => {
                    let table =
                        find(map, &self.catalog, &self.options, parts).map_err(|failure| Failure {
                            end_log_pos: event.header().end_position,
                            ..failure
                        })?;
                    let body = event.body().to_vec();
                    let known = KnownMap {
                        body,
                        table: table.clone(),
                    };
                    self.known.insert(map.table_id, known);
                    table
                }
            };
            let Some(table) = table else { return Ok(None) };
            if locks.has(table.definition()) {
                return Ok(Some(table));
            }
            locks.take(table.definition())?;
            for related in table.foreign_keys().into_iter().flat_map(|keys| keys.related()) {
                locks.take(&related.definition)?;
            }
            // The table may have changed before the lock was granted.
            let now = parts.catalog.load();
            let definition = table.definition();
            let is_current = now
                .table(definition.database(), definition.name())
                .is_some_and(|now| Arc::ptr_eq(now, definition))
                && table.has_current_keys(&now);
            if is_current {
                locks.tables.push(definition.clone());
                return Ok(Some(table));
            }
        }
    }
}

fn find(
    map: &TableMapEvent<'_>,
    catalog: &Catalog,
    options: &RowOptions,
    parts: &ApplierParts,
) -> Result<Option<Arc<MappedTable>>, Failure> {
    let (database, table) = (
        String::from_utf8_lossy(map.database),
        String::from_utf8_lossy(map.table),
    );
    let (database, table) = match parts.filter.target(&database, &table) {
        TableTarget::Ignored => return Ok(None),
        TableTarget::Table { database, table } => (database.into_owned(), table.into_owned()),
    };
    let Some(definition) = catalog.table(&database, &table) else {
        let missing = ER_NO_SUCH_TABLE.message(&[&database, &table]);
        return Err(Failure::new(
            ER_NO_SUCH_TABLE,
            format!("Error executing row event: '{missing}'"),
        ));
    };
    let mapped = MappedTable::new(map, definition.clone(), options)?;
    Ok(Some(Arc::new(mapped.with_foreign_keys(catalog))))
}

/// Tables locked by a round, or by a transaction with rows between its statements.
pub(super) struct TableLocks<'a> {
    holder: Holder<'a>,
    tables: &'a mut Vec<Arc<TableDefinition>>,
}

enum Holder<'a> {
    Round {
        session: &'a Session,
        guards: &'a mut Vec<MetadataGuard>,
    },
    Transaction(&'a mut Transaction),
}

impl<'a> TableLocks<'a> {
    /// Locks for a round. Before its first table, the locks that conflict with a global read lock are taken, once.
    ///
    /// # Errors
    /// If the wait is interrupted.
    pub(super) fn of_round(round: &'a mut RoundBuilder) -> Result<Self, Failure> {
        let is_first = round.guards.is_empty();
        let mut locks = TableLocks {
            holder: Holder::Round {
                session: &round.session,
                guards: &mut round.guards,
            },
            tables: &mut round.locked,
        };
        if is_first {
            locks.lock(MetadataObject::Global)?;
            locks.lock(MetadataObject::Commit)?;
        }
        Ok(locks)
    }

    /// Locks for a transaction whose statements also lock tables and which locks commits at its end. All of these must
    /// have one owner: if a thread waits between the locks of two owners, the first blocks the second forever.
    ///
    /// # Errors
    /// If the wait is interrupted.
    pub(super) fn of_transaction(
        transaction: &'a mut Transaction,
        tables: &'a mut Vec<Arc<TableDefinition>>,
    ) -> Result<Self, Failure> {
        transaction.begin_writing()?;
        Ok(TableLocks {
            holder: Holder::Transaction(transaction),
            tables,
        })
    }

    fn has(&self, definition: &Arc<TableDefinition>) -> bool {
        self.tables.iter().any(|locked| Arc::ptr_eq(locked, definition))
    }

    fn take(&mut self, definition: &TableDefinition) -> Result<(), Failure> {
        self.lock(MetadataObject::Table {
            database: definition.database(),
            table: definition.name(),
        })
    }

    fn lock(&mut self, object: MetadataObject<'_>) -> Result<(), Failure> {
        match &mut self.holder {
            Holder::Round { session, guards } => {
                guards.push(session.lock_metadata(object, MetadataMode::Write, METADATA_LOCK_TIMEOUT)?);
            }
            Holder::Transaction(transaction) => transaction.lock_metadata(object, MetadataMode::Write)?,
        }
        Ok(())
    }
}

/// Keys of a dispatched round that is not placed yet.
struct UnplacedRound {
    number: RoundNumber,
    keys: KeySet,
    touches_everything: bool,
}

/// Round that a transaction can join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fit {
    /// It can join the current round. It may be prepared when the given earlier round is placed (0: at once).
    Joins(RoundNumber),
    /// It must wait for the next round.
    Conflicts,
}

/// Keys touched by the transactions in progress.
#[derive(Default)]
pub(super) struct Conflicts {
    unplaced: VecDeque<UnplacedRound>,
    /// Keys of the current transaction.
    keys: Vec<u64>,
    touched: Option<TouchedKeys>,
}

impl Conflicts {
    /// Computes the keys of a transaction.
    ///
    /// # Errors
    /// If it cannot be decoded.
    pub(super) fn take(&mut self, rows: &ReplicatedRows<'_>) -> Result<(), Failure> {
        self.keys.clear();
        self.touched = Some(touched_keys(rows, &mut self.keys)?);
        Ok(())
    }

    /// Returns whether the transaction can join the current round, and which earlier round it depends on.
    pub(super) fn fit(&mut self, round: &RoundBuilder, placed: RoundNumber) -> Fit {
        while self.unplaced.front().is_some_and(|front| front.number <= placed) {
            self.unplaced.pop_front();
        }
        let everything = self.touched == Some(TouchedKeys::Everything);
        if !round.is_empty()
            && (everything
                || round.touches_everything
                || self.keys.iter().any(|key| round.keys.contains(key)))
        {
            return Fit::Conflicts;
        }
        let conflicting = self.unplaced.iter().rev().find(|unplaced| {
            everything
                || unplaced.touches_everything
                || self.keys.iter().any(|key| unplaced.keys.contains(key))
        });
        Fit::Joins(conflicting.map_or(0, |unplaced| unplaced.number))
    }

    /// Adds the transaction's keys to the round.
    pub(super) fn join(&mut self, round: &mut RoundBuilder) {
        round.keys.extend(self.keys.drain(..));
        round.touches_everything |= self.touched == Some(TouchedKeys::Everything);
    }

    /// Records that the round was dispatched.
    pub(super) fn dispatched(&mut self, round: &mut RoundBuilder, number: RoundNumber) {
        self.unplaced.push_back(UnplacedRound {
            number,
            keys: std::mem::take(&mut round.keys),
            touches_everything: round.touches_everything,
        });
    }

    /// Forgets all rounds: nothing is in progress any more.
    pub(super) fn forget(&mut self) {
        self.unplaced.clear();
    }
}
