//! Rows of a joined table that are read once and kept, as a hash table or a list, for all rows of the tables before it.

use std::ops::ControlFlow;
use std::rc::Rc;

use paceline_storage::Direction;
use paceline_txn::{IsolationLevel, LockWait};
use paceline_types::error_code::{ER_OPTION_PREVENTS_STATEMENT, ER_OUT_OF_RESOURCES};
use paceline_types::{ErrorCode, Value};

use super::hash::{HashTable, HashedRow, append_key};
use super::join::join;
use super::run::Exec;
use super::table_reader::{BaseReader, Visit, decode};
use crate::error::Result;
use crate::plan::tree::{HashKey, JoinStep, ReadMode, SelectPlan, TableAccess, TableInstance, TableSource};
use paceline_catalog::TableDefinition;

/// Maximum size of a list that is kept. A longer one would take memory from the rest of the statement, and its rows can
/// be read again.
const LIST_BYTES_MAX: usize = 64 << 20;

/// Calls `visit` for each kept row of a table that matches the rows before it. Reads the rows at the first use in a
/// statement.
pub(super) fn read_kept(
    exec: &mut Exec<'_, '_>,
    plan: &SelectPlan,
    access: &TableAccess,
    step: &JoinStep,
    (keys, source): (&[HashKey], &JoinStep),
    row: &mut [Value],
    visit: Visit<'_>,
) -> Result<ControlFlow<()>> {
    let instance = &plan.tables[access.table];
    let identity = std::ptr::from_ref(access).addr();
    let kept = match exec.runtime.kept_rows.get(&identity) {
        Some(kept) => kept.clone(),
        None => {
            let kept = keep(exec, plan, instance, (keys, source), row)?;
            exec.runtime.kept_rows.insert(identity, kept.clone());
            kept
        }
    };
    let Some(table) = kept else {
        let source = std::slice::from_ref(source);
        return join(exec, plan, source, row, visit);
    };
    let mut key = Vec::with_capacity(32);
    for part in keys {
        let value = exec.eval_unrounded(&part.outer, row)?;
        if !append_key(&value, &part.by, &mut exec.context(), &mut key)? {
            return Ok(ControlFlow::Continue(()));
        }
    }
    let Some(rows) = table.rows.get(&key) else {
        return Ok(ControlFlow::Continue(()));
    };
    let mode = plan.read.at(exec.runtime.transaction.isolation());
    let locking = match (&instance.source, mode) {
        (TableSource::Base(definition), ReadMode::Locking { strength, wait }) => {
            let reader = BaseReader::new(plan, access, step, instance, definition);
            Some((reader, strength, wait))
        }
        _ => None,
    };
    for hashed in rows {
        exec.tick()?;
        place(instance, &hashed.values, row);
        let flow = match &locking {
            Some((reader, strength, wait)) => {
                if !exec.all_true(step.candidate_conditions(), row)? {
                    exec.note_rejected(access);
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

fn place(instance: &TableInstance, values: &[Value], row: &mut [Value]) {
    for (&column, value) in instance.used.iter().zip(values) {
        row[instance.slots.start + column] = value.clone();
    }
}

/// Reads and keeps a table's rows. Returns `None` if they exceed the statement's memory and can be read repeatedly
/// instead.
fn keep(
    exec: &mut Exec<'_, '_>,
    plan: &SelectPlan,
    instance: &TableInstance,
    (keys, source): (&[HashKey], &JoinStep),
    row: &mut [Value],
) -> Result<Option<Rc<HashTable>>> {
    let mode = plan.read.at(exec.runtime.transaction.isolation());
    if let (TableSource::Base(definition), true) = (&instance.source, mode.is_locking()) {
        return Ok(Some(Rc::new(keep_newest(exec, instance, definition, keys, row)?)));
    }
    let mut table = HashTable::new(exec.runtime.memory.part());
    let mut is_full = false;
    let _ = join(exec, plan, std::slice::from_ref(source), row, &mut |exec, row| {
        let added = add(exec, &mut table, instance, keys, row, &[]);
        let is_too_much = table.bytes() > LIST_BYTES_MAX
            || added.as_ref().is_err_and(|error| is_memory_limit(error.code()));
        if is_too_much && keys.is_empty() {
            is_full = true;
            return Ok(ControlFlow::Break(()));
        }
        added.map(|()| ControlFlow::Continue(()))
    })?;
    Ok((!is_full).then(|| Rc::new(table)))
}

fn is_memory_limit(code: ErrorCode) -> bool {
    code == ER_OPTION_PREVENTS_STATEMENT || code == ER_OUT_OF_RESOURCES
}

/// Adds the row's columns of one table, and its clustered key.
fn add(
    exec: &mut Exec<'_, '_>,
    table: &mut HashTable,
    instance: &TableInstance,
    keys: &[HashKey],
    row: &[Value],
    row_key: &[u8],
) -> Result<()> {
    let mut key = Vec::with_capacity(32);
    for part in keys {
        let value = exec.eval_unrounded(&part.inner, row)?;
        if !append_key(&value, &part.by, &mut exec.context(), &mut key)? {
            return Ok(());
        }
    }
    let columns = instance.used.iter();
    let values = columns.map(|&column| row[instance.slots.start + column].clone());
    let hashed = HashedRow {
        values: values.collect(),
        key: row_key.to_vec(),
    };
    table.add(key, hashed)
}

/// Keeps the newest state of a whole table. Rows are locked when they match.
fn keep_newest(
    exec: &mut Exec<'_, '_>,
    instance: &TableInstance,
    definition: &TableDefinition,
    keys: &[HashKey],
    row: &mut [Value],
) -> Result<HashTable> {
    let mut table = HashTable::new(exec.runtime.memory.part());
    let schema = definition.schema();
    let range = schema.rows_range();
    let transaction = &mut *exec.runtime.transaction;
    if transaction.isolation() == IsolationLevel::Serializable {
        transaction.lock_range(&range, LockWait::Default)?;
    }
    let mut scan = transaction.scan_newest(range, Direction::Forward)?;
    while scan.advance()? {
        exec.tick()?;
        let Some(entry) = scan.entry() else { break };
        let slots = &mut row[instance.slots.clone()];
        decode(schema, entry.payload(), &instance.used, slots)?;
        instance.pad(slots);
        add(exec, &mut table, instance, keys, row, entry.key)?;
    }
    Ok(table)
}
