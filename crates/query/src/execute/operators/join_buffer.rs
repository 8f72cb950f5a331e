//! Join buffer: rows of a joined table that are read once and kept, as a hash table or a list, for all rows of the
//! tables before it.

use std::ops::ControlFlow;
use std::rc::Rc;

use paceline_storage::Direction;
use paceline_txn::LockWait;
use paceline_types::error_code::{ER_OPTION_PREVENTS_STATEMENT, ER_OUT_OF_RESOURCES};
use paceline_types::{ErrorCode, Value};

use crate::error::Result;
use crate::execute::collections::hash_table::{HashTable, HashedRow, append_key};
use crate::execute::context::{Execution, Visit};
use crate::execute::readers::base_table::{BaseReader, decode};
use crate::plan::measurements::{Collection, MeasuredAccess};
use crate::plan::tree::{HashKey, JoinStep, ReadMode, SelectPlan, TableAccess, TableInstance, TableSource};
use paceline_catalog::TableDefinition;
use paceline_expression::session::ReadStart;

/// Maximum size of a list that is kept. A longer one would take memory from the rest of the statement, and its rows can
/// be read again.
const LIST_BYTES_MAX: usize = 64 << 20;

/// Reader of the rows to keep: passes each to a consumer.
pub(super) type ReadSource<'s> =
    &'s mut dyn FnMut(&mut Execution<'_, '_>, &mut [Value], Visit<'_>) -> Result<ControlFlow<()>>;

/// A joined table whose rows are kept.
pub(super) struct BufferedTable<'p> {
    pub plan: &'p SelectPlan,
    pub access: &'p TableAccess,
    pub step: &'p JoinStep,
    /// Keys of the hash table; none for a list.
    pub keys: &'p [HashKey],
    pub measured: Option<&'p MeasuredAccess>,
}

impl BufferedTable<'_> {
    fn instance(&self) -> &TableInstance {
        &self.plan.tables[self.access.table]
    }

    /// Calls `visit` for each kept row that matches the rows of the tables before it. Reads the rows from `source` at
    /// the first use in a statement; if they are too many to keep, at each use.
    pub fn read(
        &self,
        exec: &mut Execution<'_, '_>,
        row: &mut [Value],
        source: ReadSource<'_>,
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let identity = std::ptr::from_ref(self.access).addr();
        let kept = match exec.state.join_buffers.get(identity) {
            Some(kept) => kept,
            None => {
                let kept = self.keep(exec, row, source)?;
                exec.state.join_buffers.insert(identity, kept.clone());
                kept
            }
        };
        let Some(table) = kept else {
            return source(exec, row, visit);
        };
        let mut key = Vec::with_capacity(32);
        for part in self.keys {
            let value = exec.eval_unrounded(&part.outer, row)?;
            if !append_key(&value, &part.by, &mut exec.context(), &mut key)? {
                return Ok(ControlFlow::Continue(()));
            }
        }
        let Some(rows) = table.rows.get(&key) else {
            return Ok(ControlFlow::Continue(()));
        };
        let instance = self.instance();
        let mode = self.plan.read.at(exec.state.transaction.isolation());
        let locking = match (&instance.source, mode) {
            (TableSource::Base(definition), ReadMode::Locking { strength, wait }) => {
                let reader = BaseReader::new(
                    self.plan,
                    self.access,
                    self.step,
                    instance,
                    definition,
                    self.measured,
                );
                Some((reader, strength, wait))
            }
            _ => None,
        };
        for hashed in rows {
            exec.tick()?;
            place(instance, &hashed.values, row);
            let flow = match &locking {
                Some((reader, strength, wait)) => {
                    if !exec.all_true(self.step.candidate_conditions(), row)? {
                        if let Some(measured) = self.measured {
                            measured.note_rejected();
                        }
                        continue;
                    }
                    reader.read_locked(exec, &hashed.key, *strength, *wait, row, visit)?
                }
                None => visit(exec, row)?,
            };
            if flow.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads and keeps the rows. Returns `None` if they exceed the statement's memory and can be read repeatedly
    /// instead.
    fn keep(
        &self,
        exec: &mut Execution<'_, '_>,
        row: &mut [Value],
        source: ReadSource<'_>,
    ) -> Result<Option<Rc<HashTable>>> {
        let mode = self.plan.read.at(exec.state.transaction.isolation());
        if let (TableSource::Base(definition), true) = (&self.instance().source, mode.is_locking()) {
            return Ok(Some(Rc::new(self.keep_newest(exec, definition, row)?)));
        }
        let mut table = HashTable::new(exec.state.reserve(self.access, Collection::JoinBuffer));
        let mut is_full = false;
        let _ = source(exec, row, &mut |exec, row| {
            let added = self.add(exec, &mut table, row, &[]);
            let exceeds_limit = table.bytes() > LIST_BYTES_MAX
                || added.as_ref().is_err_and(|error| is_memory_limit(error.code()));
            if exceeds_limit && self.keys.is_empty() {
                is_full = true;
                return Ok(ControlFlow::Break(()));
            }
            added.map(|()| ControlFlow::Continue(()))
        })?;
        Ok((!is_full).then(|| Rc::new(table)))
    }

    /// Keeps the newest state of a whole table. Rows are locked when they match.
    fn keep_newest(
        &self,
        exec: &mut Execution<'_, '_>,
        definition: &TableDefinition,
        row: &mut [Value],
    ) -> Result<HashTable> {
        let instance = self.instance();
        let mut table = HashTable::new(exec.state.reserve(self.access, Collection::JoinBuffer));
        let schema = definition.schema();
        let range = schema.rows_range();
        let transaction = &mut *exec.state.transaction;
        if transaction.locks_ranges() {
            transaction.lock_range(&range, LockWait::Default)?;
        }
        let mut scan = transaction.scan_newest(range, Direction::Forward)?;
        let mut rows = 0;
        while scan.advance()? {
            exec.tick()?;
            let Some(entry) = scan.entry() else { break };
            rows += 1;
            let slots = &mut row[instance.slots.clone()];
            decode(schema, &schema.row_image(entry.value)?, &instance.used, slots)?;
            instance.pad(slots);
            self.add(exec, &mut table, row, entry.key)?;
        }
        exec.session
            .counts
            .count_read(ReadStart::Table, false, rows, true);
        definition.count_read(None, rows, exec.session.user_statistics);
        Ok(table)
    }

    /// Adds the row's columns of the table, and its clustered key.
    fn add(
        &self,
        exec: &mut Execution<'_, '_>,
        table: &mut HashTable,
        row: &[Value],
        row_key: &[u8],
    ) -> Result<()> {
        let mut key = Vec::with_capacity(32);
        for part in self.keys {
            let value = exec.eval_unrounded(&part.inner, row)?;
            if !append_key(&value, &part.by, &mut exec.context(), &mut key)? {
                return Ok(());
            }
        }
        let instance = self.instance();
        let columns = instance.used.iter();
        let values = columns.map(|&column| row[instance.slots.start + column].clone());
        let hashed = HashedRow {
            values: values.collect(),
            key: row_key.to_vec(),
        };
        table.add(key, hashed)
    }
}

fn place(instance: &TableInstance, values: &[Value], row: &mut [Value]) {
    for (&column, value) in instance.used.iter().zip(values) {
        row[instance.slots.start + column] = value.clone();
    }
}

fn is_memory_limit(code: ErrorCode) -> bool {
    code == ER_OPTION_PREVENTS_STATEMENT || code == ER_OUT_OF_RESOURCES
}
