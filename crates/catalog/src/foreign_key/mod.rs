//! Foreign keys at run time: checks of changed rows against other tables, and actions on the rows there.
//!
//! ```text
//!   insert, update of the child    its values ─▶ shared lock on the parent's key ─▶ does it exist, in the newest state? ─▶ write, or 1452
//!   delete, update of the parent   write (exclusive lock on its key) ─▶ children in the newest state ─▶ none, 1451, or changed as well
//! ```
//!
//! ## The protocol
//!
//! Checks and actions read the newest committed state under locks, never the snapshot: whether a reference is
//! valid does not depend on what a transaction sees.
//!
//! | First | Then | Otherwise |
//! |---|---|---|
//! | the child's writer gets the shared lock on the parent's key | it looks for the key | the parent disappears between the look and the write: a row that references nothing |
//! | the parent's writer gets the exclusive lock on its key | it looks for children | a child appears between the look and the write |
//! | the child's row that was found is locked (shared for a check, exclusive for an action) | it is read again | an error for a child that another transaction is just deleting; or a change of a row that is no longer a child |
//!
//! So each of the two excludes the other, in either order. The parent's writer waits for an earlier insert of
//! a child and then finds the child; a later insert waits and finds no parent. Both locks are held until the
//! end of the transaction, and take part in deadlock detection like all others.
//!
//! *Which key is locked.* If the referenced columns are all columns of a unique index, the key is the index's
//! own key, which a writer of the entry locks exclusively anyway. Otherwise (the index is not unique, or has
//! more columns) many entries can have the values. Then the lock is on their common *prefix*, which is no
//! entry's key, and the parent's writer takes it explicitly. Inserting a second parent does not take this
//! lock: while a parent is uncommitted, a child's insert fails with 1452 at once, where InnoDB waits.
//!
//! *Snapshot isolation.* A check locks and reads, and never fails with 1020, because it writes nothing there.
//! An action writes the child's row, and a writer must have seen the newest version: under REPEATABLE READ
//! with a snapshot, an action on a row that has changed since then fails with 1020, like any other update of
//! the row.
//!
//! ## Behaviour shared with InnoDB
//!
//! Checks are made row by row, immediately. A NULL in any column means that the row references nothing. A row
//! that references itself is its own child: it cannot be deleted under RESTRICT. Actions cascade up to the
//! depth [`CASCADE_DEPTH_MAX`]; beyond it the error is 1296. A chain of updates must not return to a table
//! that it is updating (1451); a chain of deletes may. Changed children are checked against their other
//! parents. `CHECK` constraints, `ON UPDATE CURRENT_TIMESTAMP` and default values are not applied.
//!
//! ## The log
//!
//! Replay is blind (invariant 8), so every row that an action changes is logged like any other, unlike in
//! MariaDB. The rows events of a statement that foreign keys concern carry the flag `NO_FOREIGN_KEY_CHECKS`:
//! a server that applies them, this one or MariaDB, neither checks nor acts, and gets the same rows. A check
//! during replay could also fail for a valid history: a session with `foreign_key_checks=0` takes no locks
//! for references, so its child can precede, in the log, the delete of a parent that had no children when it
//! was checked.
//!
//! [`ForeignKeys`] contains the keys around a statement's tables, resolved when it is planned.
//! [`ForeignKeyRun`] does the checks and actions.

mod run;

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use paceline_storage::RowPlacement;
use paceline_types::Value;

use crate::error::Result;
use crate::quote::quote_identifier;
use crate::{Catalog, ForeignKey, TableDefinition, TableDescription, TableEngine, TableReferrers, same_name};

pub use run::{ForeignKeyRun, RunMode, is_foreign_key_error};

/// Maximum number of rows in a chain of actions, including the first: the effect of InnoDB's
/// FK_MAX_CASCADE_DEL.
pub(crate) const CASCADE_DEPTH_MAX: usize = 15;

/// Changes that a statement makes to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changes {
    /// Rows are deleted.
    pub delete: bool,
    /// Rows are updated.
    pub update: bool,
}

/// Change of a referenced row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFate {
    /// The row was deleted.
    Deleted,
    /// The row has other values.
    Updated,
}

/// A foreign key with both of its tables.
#[derive(Debug)]
pub struct ResolvedKey {
    /// Definition in the child.
    pub key: ForeignKey,
    /// Table that has the key.
    pub child: Arc<TableDefinition>,
    /// Columns of the key in the child.
    pub columns: Vec<usize>,
    /// Index of the child that begins with these columns.
    pub index: usize,
    /// `None` if the referenced table does not exist.
    pub parent: Option<Parent>,
}

/// Referenced side of a foreign key.
#[derive(Debug)]
pub struct Parent {
    /// Referenced table.
    pub table: Arc<TableDefinition>,
    /// Referenced columns.
    pub columns: Vec<usize>,
    /// Index that begins with these columns.
    pub index: usize,
    /// Whether the index is unique and has no other columns.
    pub exact: bool,
}

impl ResolvedKey {
    fn new(key: &ForeignKey, child: &Arc<TableDefinition>, catalog: &Catalog) -> Option<Self> {
        let columns = columns_of(child, &key.columns)?;
        let parent = catalog
            .ordinary_table(&key.referenced_database, &key.referenced_table)
            .filter(|table| table.engine == TableEngine::InnoDb)
            .and_then(|table| {
                let index = serving_index(table, &key.referenced_columns)?;
                let definition = &table.indexes()[index];
                Some(Parent {
                    columns: columns_of(table, &key.referenced_columns)?,
                    index,
                    exact: definition.kind.is_unique()
                        && definition.parts.len() == key.referenced_columns.len(),
                    table: table.clone(),
                })
            });
        Some(ResolvedKey {
            index: serving_index(child, &key.columns)?,
            key: key.clone(),
            child: child.clone(),
            columns,
            parent,
        })
    }

    /// Returns the values of the child's columns; `None` if one is NULL, so that the row references nothing.
    fn values(&self, image: &[u8]) -> Result<Option<Vec<Value>>> {
        values_of(&self.child, &self.columns, image)
    }

    /// Returns the key of the parent with these values, or the prefix of all such entries.
    fn parent_key(&self, parent: &Parent, values: &[Value]) -> Result<Vec<u8>> {
        key_prefix(&parent.table, parent.index, values)
    }

    /// Returns the prefix of all entries of children with these values.
    fn child_prefix(&self, values: &[Value]) -> Result<Vec<u8>> {
        key_prefix(&self.child, self.index, values)
    }

    /// Returns whether an update changes the entry in the index that serves the key: a column of the index or
    /// of the clustered index changes. This is when InnoDB looks for the parent.
    fn changes_entry(&self, before: &[u8], after: &[u8]) -> Result<bool> {
        let schema = self.child.schema();
        let mut columns: Vec<usize> = schema.indexes()[self.index]
            .parts
            .iter()
            .map(|part| part.column)
            .collect();
        if let RowPlacement::Key(index) = schema.clustered() {
            columns.extend(schema.indexes()[index].parts.iter().map(|part| part.column));
        }
        let (before, after) = (schema.image(before), schema.image(after));
        for column in columns {
            if before.column(column)?.into_owned() != after.column(column)?.into_owned() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_action(&self) -> bool {
        self.key.on_delete.is_action() || self.key.on_update.is_action()
    }
}

impl ForeignKey {
    /// Returns the name of the index that serves the key in the referenced table.
    pub fn parent_index<'t>(&self, parent: &'t TableDescription) -> Option<&'t str> {
        serving_index(parent, &self.referenced_columns).map(|index| &*parent.indexes[index].name)
    }
}

impl Parent {
    fn values(&self, image: &[u8]) -> Result<Option<Vec<Value>>> {
        values_of(&self.table, &self.columns, image)
    }
}

fn values_of(table: &TableDefinition, columns: &[usize], image: &[u8]) -> Result<Option<Vec<Value>>> {
    let image = table.schema().image(image);
    let mut values = Vec::with_capacity(columns.len());
    for column in columns {
        match image.column(*column)?.into_owned() {
            Value::Null => return Ok(None),
            value => values.push(value),
        }
    }
    Ok(Some(values))
}

fn key_prefix(table: &TableDefinition, index: usize, values: &[Value]) -> Result<Vec<u8>> {
    let values: Vec<_> = values.iter().map(Value::as_ref).collect();
    let mut key = Vec::with_capacity(32);
    table.schema().append_key_prefix(index, &values, &mut key)?;
    Ok(key)
}

fn columns_of(table: &TableDefinition, names: &[String]) -> Option<Vec<usize>> {
    names.iter().map(|name| table.column(name)).collect()
}

/// Returns the first index that begins with these columns, whole and in this order.
pub(crate) fn serving_index(table: &TableDescription, columns: &[String]) -> Option<usize> {
    if columns.is_empty() {
        return None;
    }
    table.indexes.iter().position(|index| {
        !index.hashed
            && index.parts.len() >= columns.len()
            && index.parts.iter().zip(columns).all(|(part, name)| {
                part.prefix_length.is_none() && same_name(&table.columns[part.column].name, name)
            })
    })
}

/// Foreign keys around a table.
#[derive(Debug, Default)]
pub struct TableKeys {
    /// Keys of the table itself, in the order of the indexes that serve them.
    pub own: Vec<Arc<ResolvedKey>>,
    /// Keys that refer to the table, in the order of its indexes.
    pub referring: Vec<Arc<ResolvedKey>>,
}

/// A table that a statement needs only because of foreign keys.
#[derive(Debug, Clone)]
pub struct RelatedTable {
    /// Definition of the table.
    pub definition: Arc<TableDefinition>,
    /// Whether actions can change its rows.
    pub is_written: bool,
}

/// Looked-up state, kept to detect changes.
#[derive(Debug)]
struct TableLookup {
    database: String,
    name: String,
    referrers: Option<Arc<TableReferrers>>,
}

/// Foreign keys around the tables that a statement changes, and around those that actions can change.
#[derive(Debug)]
pub struct ForeignKeys {
    tables: HashMap<u32, TableKeys>,
    related: Vec<RelatedTable>,
    seen: Vec<TableLookup>,
    /// Referenced tables that do not exist.
    missing: Vec<(String, String)>,
    may_act: bool,
}

impl ForeignKeys {
    /// Resolves the keys around these tables. `None` if there are none.
    pub fn new(catalog: &Catalog, changed: &[(Arc<TableDefinition>, Changes)]) -> Option<Arc<Self>> {
        let concerns = |table: &TableDefinition| {
            !table.is_temporary()
                && (!table.foreign_keys.is_empty()
                    || catalog.referrers(table.database(), table.name()).is_some())
        };
        if !changed.iter().any(|(table, _)| concerns(table)) {
            return None;
        }
        let mut keys = ForeignKeys {
            tables: HashMap::new(),
            related: Vec::new(),
            seen: Vec::new(),
            missing: Vec::new(),
            may_act: false,
        };
        let mut next: Vec<Arc<TableDefinition>> = Vec::new();
        for (table, changes) in changed.iter().filter(|(table, _)| !table.is_temporary()) {
            next.push(table.clone());
            let acts = |key: &ForeignKey| {
                (changes.delete && key.on_delete.is_action()) || (changes.update && key.on_update.is_action())
            };
            let referring = catalog.referring_keys(table.database(), table.name());
            keys.may_act |= referring.iter().any(|(_, key)| acts(key));
        }
        while let Some(table) = next.pop() {
            if !keys.tables.contains_key(&table.id) {
                keys.add(&table, catalog, &mut next);
            }
        }
        Some(Arc::new(keys))
    }

    fn add(&mut self, table: &Arc<TableDefinition>, catalog: &Catalog, next: &mut Vec<Arc<TableDefinition>>) {
        let mut found = TableKeys::default();
        for key in &table.foreign_keys {
            let Some(resolved) = ResolvedKey::new(key, table, catalog) else {
                continue;
            };
            match catalog.ordinary_table(&key.referenced_database, &key.referenced_table) {
                Some(parent) => self.relate(parent, false),
                None => self
                    .missing
                    .push((key.referenced_database.clone(), key.referenced_table.clone())),
            }
            found.own.push(Arc::new(resolved));
        }
        self.seen.push(TableLookup {
            database: table.database().to_owned(),
            name: table.name().to_owned(),
            referrers: catalog.referrers(table.database(), table.name()).cloned(),
        });
        for (child, key) in catalog.referring_keys(table.database(), table.name()) {
            let Some(resolved) = ResolvedKey::new(&key, &child, catalog) else {
                continue;
            };
            self.relate(&child, resolved.has_action());
            if resolved.has_action() {
                next.push(child);
            }
            if resolved.parent.is_some() {
                found.referring.push(Arc::new(resolved));
            }
        }
        found
            .own
            .sort_by(|a, b| (a.index, &a.key.name).cmp(&(b.index, &b.key.name)));
        // A stable sort: within an index, by database and name.
        found
            .referring
            .sort_by_key(|key| key.parent.as_ref().map(|parent| parent.index));
        self.tables.insert(table.id, found);
    }

    fn relate(&mut self, table: &Arc<TableDefinition>, is_written: bool) {
        match self
            .related
            .iter_mut()
            .find(|known| known.definition.id == table.id)
        {
            Some(known) => known.is_written |= is_written,
            None => self.related.push(RelatedTable {
                definition: table.clone(),
                is_written,
            }),
        }
    }

    /// Returns the tables that are read or changed because of the keys. Tables that the statement itself
    /// changes can be among them.
    pub fn related(&self) -> &[RelatedTable] {
        &self.related
    }

    /// Returns whether the statement can change other rows than its own.
    pub fn may_act(&self) -> bool {
        self.may_act
    }

    /// Returns whether a change of a row of this table can change other rows.
    pub fn acts_on(&self, table: &TableDefinition, changed: RowFate) -> bool {
        let acts = |key: &Arc<ResolvedKey>| match changed {
            RowFate::Deleted => key.key.on_delete.is_action(),
            RowFate::Updated => key.key.on_update.is_action(),
        };
        self.of(table).is_some_and(|keys| keys.referring.iter().any(acts))
    }

    /// Returns whether the keys are still the same. The caller holds the metadata locks of all tables.
    pub fn is_current(&self, catalog: &Catalog) -> bool {
        let same = |seen: &TableLookup| match (catalog.referrers(&seen.database, &seen.name), &seen.referrers)
        {
            (None, None) => true,
            (Some(now), Some(then)) => Arc::ptr_eq(now, then),
            _ => false,
        };
        let is_there = |table: &RelatedTable| {
            catalog
                .ordinary_table(table.definition.database(), table.definition.name())
                .is_some_and(|now| Arc::ptr_eq(now, &table.definition))
        };
        self.seen.iter().all(same)
            && self.related.iter().all(is_there)
            && !self
                .missing
                .iter()
                .any(|(database, name)| catalog.ordinary_table(database, name).is_some())
    }

    /// Returns the keys around a table; `None` if it has none.
    pub fn of(&self, table: &TableDefinition) -> Option<&TableKeys> {
        self.tables.get(&table.id)
    }
}

/// Returns the text from after a table's name to the end of the message: ``CONSTRAINT `c` FOREIGN KEY (`a`)
/// REFERENCES `p` (`id`) ON DELETE CASCADE``.
pub(crate) fn constraint_text(database: &str, key: &ForeignKey) -> String {
    let mut out = String::new();
    write_constraint(database, key, quote_identifier, &mut out);
    out
}

/// Appends this text, with names quoted by `quote`. The referenced table is written with its database unless
/// that is `database`.
pub(crate) fn write_constraint(
    database: &str,
    key: &ForeignKey,
    quote: impl Fn(&str, &mut String),
    out: &mut String,
) {
    let columns = |names: &[String], out: &mut String| {
        out.push_str(" (");
        for (number, name) in names.iter().enumerate() {
            if number > 0 {
                out.push_str(", ");
            }
            quote(name, out);
        }
        out.push(')');
    };
    out.push_str("CONSTRAINT ");
    quote(&key.name, out);
    out.push_str(" FOREIGN KEY");
    columns(&key.columns, out);
    out.push_str(" REFERENCES ");
    if key.referenced_database != database {
        quote(&key.referenced_database, out);
        out.push('.');
    }
    quote(&key.referenced_table, out);
    columns(&key.referenced_columns, out);
    for (clause, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
        if action != crate::ReferentialAction::Restrict {
            let _ = write!(out, " ON {clause} {}", action.name());
        }
    }
}
