//! Checks and actions of foreign keys, row by row. The parent module describes the order of locks and reads.

use paceline_storage::{Direction, KeyRange, Row};
use paceline_txn::{LockMode, LockWait, RowChange, Transaction};
use paceline_types::error_code::*;
use paceline_types::table_map_metadata::RowMetadata;
use paceline_types::{TimeZone, Value, text};

use super::{CASCADE_DEPTH_MAX, ForeignKeys, Parent, ResolvedKey, TableKeys, constraint_text};
use crate::error::{Error, Result};
use crate::{IndexKind, ReferentialAction, TableDefinition};

/// Extent of the work for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMode {
    /// Checks and actions.
    Full,
    /// Actions only: the row was checked on the server that changed it first.
    ActionsOnly,
}

/// A row whose change is in progress while its consequences are executed.
struct Ancestor {
    table: u32,
    before: Vec<u8>,
    is_delete: bool,
}

/// Checks and actions of one statement.
pub struct ForeignKeyRun<'k> {
    keys: &'k ForeignKeys,
    mode: RunMode,
    metadata: RowMetadata,
    ancestors: Vec<Ancestor>,
    changed: u64,
}

/// Returns whether an error means that a foreign key forbids the change of a row, which IGNORE skips.
pub fn is_foreign_key_error(error: &Error) -> bool {
    // A duplicate that a cascade would make (1761) it does not pass over.
    [ER_NO_REFERENCED_ROW_2, ER_ROW_IS_REFERENCED_2].contains(&error.code())
}

#[derive(Clone, Copy)]
enum ChildChange<'v> {
    Delete,
    /// The key's columns get these values.
    Update(&'v [Value]),
}

impl<'k> ForeignKeyRun<'k> {
    /// Creates the object for a statement.
    pub fn new(keys: &'k ForeignKeys, mode: RunMode, metadata: RowMetadata) -> Self {
        ForeignKeyRun {
            keys,
            mode,
            metadata,
            ancestors: Vec::new(),
            changed: 0,
        }
    }

    /// Returns the number of rows changed by actions.
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// Announces the tables whose rows actions can change, before the statement's rows.
    pub fn announce(&self, transaction: &mut Transaction) {
        for table in self.keys.related.iter().filter(|table| table.is_written) {
            transaction.map_table(table.definition.logged(self.metadata));
        }
    }

    /// Checks that the parents of a row exist before it is written. For an update, only those keys are
    /// checked whose entry changes. `wanted` selects keys by the child's index that serves them.
    ///
    /// # Errors
    /// 1452; those of locks.
    pub fn check_parents(
        &self,
        keys: &TableKeys,
        before: Option<&[u8]>,
        after: &[u8],
        wanted: impl Fn(&ResolvedKey) -> bool,
        transaction: &mut Transaction,
    ) -> Result<()> {
        if self.mode == RunMode::ActionsOnly {
            return Ok(());
        }
        for key in keys.own.iter().filter(|key| wanted(key)) {
            let Some(values) = key.values(after)? else {
                continue;
            };
            if let Some(before) = before
                && !key.changes_entry(before, after)?
            {
                continue;
            }
            if !has_parent(key, &values, after, transaction)? {
                return Err(Error::new(ER_NO_REFERENCED_ROW_2, &[&shown(key)]));
            }
        }
        Ok(())
    }

    /// Checks that the referenced values of a row can change, before they do: this error has precedence over
    /// a duplicate key.
    ///
    /// # Errors
    /// 1451; those of locks.
    pub fn check_children(
        &self,
        keys: &TableKeys,
        before: &[u8],
        after: &[u8],
        wanted: impl Fn(&Parent) -> bool,
        transaction: &mut Transaction,
    ) -> Result<()> {
        for key in &keys.referring {
            let Some(parent) = key.parent.as_ref().filter(|parent| wanted(parent)) else {
                continue;
            };
            // A chain of updates must not return to its table.
            let refuses = !key.key.on_update.is_action() || parent.table.id == key.child.id;
            let Some(values) = parent.values(before)?.filter(|_| refuses) else {
                continue;
            };
            if parent.values(after)?.as_ref() == Some(&values) {
                continue;
            }
            let locked = key.parent_key(parent, &values)?;
            transaction.lock(&locked, LockMode::Exclusive, LockWait::Default)?;
            self.refuse_if_referenced(key, &values, transaction)?;
        }
        Ok(())
    }

    /// Executes the consequences of a row's change for the keys that refer to it. The change is in the write
    /// set.
    ///
    /// # Errors
    /// 1451, 1452, 1761, 1296; those of locks, including 1020. The caller then rolls back what was done.
    pub fn row_changed(
        &mut self,
        table: &TableDefinition,
        before: &[u8],
        after: Option<&[u8]>,
        transaction: &mut Transaction,
    ) -> Result<()> {
        self.ancestors.clear();
        self.follow(table, before, after, 0, transaction)
    }

    fn follow(
        &mut self,
        table: &TableDefinition,
        before: &[u8],
        after: Option<&[u8]>,
        depth: usize,
        transaction: &mut Transaction,
    ) -> Result<()> {
        let keys: &'k ForeignKeys = self.keys;
        let Some(keys) = keys.of(table).filter(|keys| !keys.referring.is_empty()) else {
            return Ok(());
        };
        self.ancestors.push(Ancestor {
            table: table.id,
            before: before.to_vec(),
            is_delete: after.is_none(),
        });
        for key in &keys.referring {
            self.follow_key(key, table, before, after, depth, transaction)?;
        }
        self.ancestors.pop();
        Ok(())
    }

    fn follow_key(
        &mut self,
        key: &ResolvedKey,
        table: &TableDefinition,
        before: &[u8],
        after: Option<&[u8]>,
        depth: usize,
        transaction: &mut Transaction,
    ) -> Result<()> {
        let Some(parent) = &key.parent else { return Ok(()) };
        let Some(values) = parent.values(before)? else {
            return Ok(());
        };
        let mut new_values = Vec::new();
        if let Some(after) = after {
            let image = parent.table.schema().image(after);
            for column in &parent.columns {
                new_values.push(image.column(*column)?.into_owned());
            }
            if new_values == values {
                return Ok(());
            }
        }
        let action = match after {
            None => key.key.on_delete,
            Some(_) => key.key.on_update,
        };
        if !action.is_action() && self.mode == RunMode::ActionsOnly {
            return Ok(());
        }
        if !parent.exact {
            let prefix = key.parent_key(parent, &values)?;
            transaction.lock(&prefix, LockMode::Exclusive, LockWait::Default)?;
        }
        let change = match (action, after) {
            (ReferentialAction::Restrict | ReferentialAction::NoAction, _) => {
                return self.refuse_if_referenced(key, &values, transaction);
            }
            (ReferentialAction::Cascade, None) => ChildChange::Delete,
            (ReferentialAction::Cascade, Some(_)) => ChildChange::Update(&new_values),
            (ReferentialAction::SetNull, _) => {
                new_values = vec![Value::Null; key.columns.len()];
                ChildChange::Update(&new_values)
            }
        };
        let is_cyclic = matches!(change, ChildChange::Update(_))
            && self
                .ancestors
                .iter()
                .any(|ancestor| ancestor.table == key.child.id && !ancestor.is_delete);
        if is_cyclic {
            return self.refuse_if_referenced(key, &values, transaction);
        }
        let parent_row = after.map(|after| (table, after));
        self.change_children(key, &values, change, parent_row, depth, transaction)
    }

    /// Returns 1451 if a child has these values.
    fn refuse_if_referenced(
        &self,
        key: &ResolvedKey,
        values: &[Value],
        transaction: &mut Transaction,
    ) -> Result<()> {
        let refused = || Err(Error::new(ER_ROW_IS_REFERENCED_2, &[&shown(key)]));
        let prefix = key.child_prefix(values)?;
        // A row that is being deleted or changed still references them.
        for ancestor in self
            .ancestors
            .iter()
            .filter(|ancestor| ancestor.table == key.child.id)
        {
            if has_values(key, &ancestor.before, &prefix)? {
                return refused();
            }
        }
        let mut scan = transaction.scan_newest(KeyRange::prefix(&prefix), Direction::Forward)?;
        let mut row_key = Vec::new();
        while let Some(entry) = scan.next()? {
            row_key.clear();
            key.child
                .schema()
                .append_row_key_of_entry(key.index, entry.key, entry.value, &mut row_key)?;
            let mark = transaction.lock_mark();
            transaction.lock(&row_key, LockMode::Shared, LockWait::Default)?;
            let is_child = match transaction.probe_newest(&row_key)? {
                Some(row) => has_values(key, &key.child.schema().row_image(&row)?, &prefix)?,
                None => false,
            };
            if is_child {
                return refused();
            }
            // Another transaction has changed the row: it is no longer a child.
            transaction.unlock_since(mark);
        }
        Ok(())
    }

    fn change_children(
        &mut self,
        key: &ResolvedKey,
        values: &[Value],
        change: ChildChange<'_>,
        parent_row: Option<(&TableDefinition, &[u8])>,
        depth: usize,
        transaction: &mut Transaction,
    ) -> Result<()> {
        let prefix = key.child_prefix(values)?;
        let mut scan = transaction.scan_newest(KeyRange::prefix(&prefix), Direction::Forward)?;
        let mut row_key = Vec::new();
        while let Some(entry) = scan.next()? {
            row_key.clear();
            key.child
                .schema()
                .append_row_key_of_entry(key.index, entry.key, entry.value, &mut row_key)?;
            transaction.lock(&row_key, LockMode::Exclusive, LockWait::Default)?;
            let newest = transaction.get_newest(&row_key);
            let image = match newest.map_err(|error| key.child.transaction_error(error))? {
                Some(row) => {
                    let image = key.child.schema().row_image(&row)?;
                    match has_values(key, &image, &prefix)? {
                        true => image.into_owned(),
                        false => continue,
                    }
                }
                None => continue,
            };
            if depth + 1 >= CASCADE_DEPTH_MAX {
                return Err(too_deep(key));
            }
            // Of identical rows it is always the first one.
            let meant = transaction.lock_row_like(key.child.schema(), &image);
            if let Some(meant) = meant.map_err(|error| key.child.transaction_error(error))? {
                row_key = meant;
            }
            match change {
                ChildChange::Delete => self.delete_child(key, &row_key, &image, depth, transaction)?,
                ChildChange::Update(values) => {
                    self.update_child(key, &row_key, &image, values, parent_row, depth, transaction)?;
                }
            }
        }
        Ok(())
    }

    fn delete_child(
        &mut self,
        key: &ResolvedKey,
        row_key: &[u8],
        image: &[u8],
        depth: usize,
        transaction: &mut Transaction,
    ) -> Result<()> {
        let child = &key.child;
        let row = Row {
            image,
            key: Some(row_key),
        };
        transaction.write_row(child.schema(), Some(row), None)?;
        transaction.log_row(child.logged(self.metadata), RowChange::Delete { before: image })?;
        self.changed += 1;
        self.follow(child, image, None, depth + 1, transaction)
    }

    #[allow(clippy::too_many_arguments)] // A changed child depends on all of them.
    fn update_child(
        &mut self,
        key: &ResolvedKey,
        row_key: &[u8],
        image: &[u8],
        values: &[Value],
        parent_row: Option<(&TableDefinition, &[u8])>,
        depth: usize,
        transaction: &mut Transaction,
    ) -> Result<()> {
        let child = &key.child;
        let schema = child.schema();
        let mut row = schema.decode_row(image)?;
        for (column, value) in key.columns.iter().zip(values) {
            if !can_hold(child, *column, value) {
                return Err(Error::new(ER_ROW_IS_REFERENCED_2, &[&shown(key)]));
            }
            row[*column] = value.clone();
        }
        let mut after = Vec::with_capacity(image.len() + 16);
        schema.encode_row(&row, &mut after)?;
        if after == image {
            return Ok(());
        }
        if let Some(keys) = self.keys.of(child) {
            let is_other = |other: &ResolvedKey| other.key.name != key.key.name;
            self.check_parents(keys, Some(image), &after, is_other, transaction)?;
        }
        if let Some(index) = taken_key(child, image, &after, transaction)? {
            return Err(duplicate_child(key, index, parent_row));
        }
        let before = Row {
            image,
            key: Some(row_key),
        };
        transaction.write_row(schema, Some(before), Some(&after))?;
        let change = RowChange::Update {
            before: image,
            after: &after,
        };
        transaction.log_row(child.logged(self.metadata), change)?;
        self.changed += 1;
        self.follow(child, image, Some(&after), depth + 1, transaction)
    }
}

/// Locks the parent of these values against deletion, and returns whether it exists.
fn has_parent(
    key: &ResolvedKey,
    values: &[Value],
    row: &[u8],
    transaction: &mut Transaction,
) -> Result<bool> {
    let Some(parent) = &key.parent else {
        return Ok(false);
    };
    let wanted = key.parent_key(parent, values)?;
    // A row can be its own parent. If other rows can have these values too, the lock is needed for them: none
    // of them may be deleted without seeing this child.
    let is_own = parent.table.id == key.child.id
        && match parent.values(row)? {
            Some(own) => key.parent_key(parent, &own)? == wanted,
            None => false,
        };
    if is_own && parent.exact {
        return Ok(true);
    }
    transaction.lock(&wanted, LockMode::Shared, LockWait::Default)?;
    if is_own {
        return Ok(true);
    }
    if parent.exact {
        return Ok(transaction.probe_newest(&wanted)?.is_some());
    }
    let mut scan = transaction.scan_newest(KeyRange::prefix(&wanted), Direction::Forward)?;
    Ok(scan.next()?.is_some())
}

/// Returns whether a child's row has the values that belong to this prefix.
fn has_values(key: &ResolvedKey, image: &[u8], prefix: &[u8]) -> Result<bool> {
    match key.values(image)? {
        Some(values) => Ok(key.child_prefix(&values)? == prefix),
        None => Ok(false),
    }
}

/// Returns whether the child's column can hold a value of the parent's column: it may be too long, or NULL.
fn can_hold(child: &TableDefinition, column: usize, value: &Value) -> bool {
    let column = &child.columns()[column];
    let longest = column.data_type.max_characters().unwrap_or(u64::MAX);
    match value {
        Value::Null => column.nullable,
        Value::Text(text) => text.chars().count() as u64 <= longest,
        Value::Bytes(bytes) => bytes.len() as u64 <= longest,
        _ => true,
    }
}

/// Locks the new unique keys of a row. Returns the index of the first one that another row has.
fn taken_key(
    table: &TableDefinition,
    before: &[u8],
    after: &[u8],
    transaction: &mut Transaction,
) -> Result<Option<usize>> {
    let schema = table.schema();
    for (index, definition) in table.indexes().iter().enumerate() {
        if definition.kind == IndexKind::Plain {
            continue;
        }
        let (mut old, mut new) = (Vec::new(), Vec::new());
        if !schema.append_unique_key(index, after, &mut new)?
            || (schema.append_unique_key(index, before, &mut old)? && old == new)
        {
            continue;
        }
        transaction.lock(&new, LockMode::Exclusive, LockWait::Default)?;
        if transaction.probe_newest(&new)?.is_some() {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Returns the table and the key as shown by 1451 and 1452.
fn shown(key: &ResolvedKey) -> String {
    let (database, table) = (key.child.database(), key.child.name());
    format!("`{database}`.`{table}`, {}", constraint_text(database, &key.key))
}

/// Returns 1296, the result of InnoDB's HA_ERR_FK_DEPTH_EXCEEDED.
fn too_deep(key: &ResolvedKey) -> Error {
    const HA_ERR_FK_DEPTH_EXCEEDED: u32 = 193;
    Error::new(
        ER_GET_ERRMSG,
        &[&HA_ERR_FK_DEPTH_EXCEEDED, &shown(key), &"InnoDB"],
    )
}

/// Returns 1761: a duplicate key in a child.
fn duplicate_child(key: &ResolvedKey, index: usize, parent_row: Option<(&TableDefinition, &[u8])>) -> Error {
    let mut record = Vec::new();
    if let Some((parent, image)) = parent_row {
        let image = parent.schema().image(image);
        for (number, column) in parent.columns().iter().enumerate() {
            if number > 0 {
                record.push(b'-');
            }
            match image.column(number) {
                Ok(value) if !value.is_null() => {
                    text::append_column_value(&value, &column.data_type, &TimeZone::UTC, &mut record);
                }
                _ => record.extend_from_slice(b"NULL"),
            }
        }
    }
    let parent = parent_row.map_or("", |(parent, _)| parent.name());
    let record = String::from_utf8_lossy(&record).into_owned();
    Error::new(
        ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO,
        &[
            &parent,
            &record,
            &key.child.name(),
            &key.child.indexes()[index].name,
        ],
    )
}
