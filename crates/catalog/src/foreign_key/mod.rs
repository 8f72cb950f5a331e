//! Foreign keys at run time: what a changed row asks of other tables, and what becomes of the rows there.
//!
//! ```text
//!   insert, update of the child    its values ─▶ shared lock on the parent's key ─▶ is it there, at the newest? ─▶ write, or 1452
//!   delete, update of the parent   write (exclusive lock on its key) ─▶ children at the newest ─▶ none, 1451, or changed as well
//! ```
//!
//! ## The protocol
//!
//! Everything here reads the newest committed state under locks, never the snapshot: whether a reference holds is no
//! matter of what a transaction sees.
//!
//! | First | Then | Otherwise |
//! |---|---|---|
//! | the child's writer has the shared lock on the parent's key | it looks whether the key is there | the parent goes between look and write: a row that refers to nothing |
//! | the parent's writer has the exclusive lock on its key | it looks for children | a child comes between look and write |
//! | the child's row that was found is locked (shared to refuse, exclusive to change) | it is read again | it is refused for a child that another transaction is just deleting; or a row is changed that is no child any more |
//!
//! So the two exclude each other in either order: a child's insert that comes first is waited for and then found, one
//! that comes second waits and finds no parent. Both locks last until the end of the transaction, and take part in the
//! search for deadlocks as all others do.
//!
//! *Which key is locked.* Where the referenced columns are all the columns of a unique index, the key is the index's
//! own, which whoever writes such an entry locks exclusively anyway. Elsewhere (an index that is not unique, or that
//! has more columns) many entries may have the values: then the lock is on their common *prefix*, which no entry has as
//! its key, and the parent's writer takes it explicitly. Inserting a second parent takes no such lock: a child's insert
//! that does not see a parent that is not committed yet gets 1452 at once, where InnoDB waits.
//!
//! *Snapshot isolation.* A check locks, reads and gives no 1020: it writes nothing there. An action writes the child's
//! row, and who writes a row must have seen its newest version: under REPEATABLE READ with a snapshot an action on a
//! row that has changed since gets 1020, as any update of it would.
//!
//! ## What InnoDB does, and so does this
//!
//! Checks are made row by row, at once. NULL in any column refers to nothing. A row that refers to itself is its own
//! child: it cannot be deleted under RESTRICT. Actions go on to any depth up to [`CASCADE_DEPTH_MAX`], beyond which
//! there is 1296. A chain of updates may not come to a table that it is updating already (1451); one of deletes may.
//! Changed children are checked against their other parents; `CHECK` constraints, `ON UPDATE CURRENT_TIMESTAMP` and
//! default values take no part.
//!
//! ## The log
//!
//! Replay is blind (invariant 8), so each row that an action changes is logged as any other, unlike in MariaDB. The
//! rows events of a statement that foreign keys concern carry `NO_FOREIGN_KEY_CHECKS`: who applies them, here or in
//! MariaDB, neither checks nor acts, and comes to the same rows. A check there could also fail for what was right here:
//! a session with `foreign_key_checks=0` takes no locks for references, so that the log may have its child in front of
//! the delete of a parent that had none when it was checked.
//!
//! [`ForeignKeys`] is what a statement has to know of the keys around its tables, resolved when it is planned;
//! [`ForeignKeyRun`] does what they ask for.

mod run;

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use paceline_storage::RowPlacement;
use paceline_types::Value;

use crate::ddl::quote_identifier;
use crate::error::Result;
use crate::{Catalog, ForeignKey, TableDefinition, TableDescription, TableEngine, TableReferrers, same_name};

pub use run::{ForeignKeyRun, RunMode, is_foreign_key_error};

/// How many rows a chain of actions may have, the first one among them: what InnoDB's FK_MAX_CASCADE_DEL comes to.
pub const CASCADE_DEPTH_MAX: usize = 15;

/// What a statement does with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changes {
    /// Rows go.
    pub delete: bool,
    /// Rows are changed.
    pub update: bool,
}

/// What became of a row that others refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFate {
    /// It is gone.
    Deleted,
    /// It has other values.
    Updated,
}

/// A foreign key with both of its tables.
#[derive(Debug)]
pub struct ResolvedKey {
    /// The definition.
    pub key: ForeignKey,
    /// The table that has the key.
    pub child: Arc<TableDefinition>,
    /// Its columns in the child.
    pub columns: Vec<usize>,
    /// The index of the child that begins with them.
    pub index: usize,
    /// `None`: the table that it refers to is not there.
    pub parent: Option<Parent>,
}

/// The side that a foreign key refers to.
#[derive(Debug)]
pub struct Parent {
    /// The table.
    pub table: Arc<TableDefinition>,
    /// The columns there.
    pub columns: Vec<usize>,
    /// The index that begins with them.
    pub index: usize,
    /// Whether they are all of its columns, and it is unique.
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

    /// The values of the child's columns; `None` where one is NULL, so that the row refers to nothing.
    fn values(&self, image: &[u8]) -> Result<Option<Vec<Value>>> {
        values_of(&self.child, &self.columns, image)
    }

    /// The key under which the parent of these values is, or with which all its entries begin.
    fn parent_key(&self, parent: &Parent, values: &[Value]) -> Result<Vec<u8>> {
        key_prefix(&parent.table, parent.index, values)
    }

    /// What all entries of children with these values begin with.
    fn child_prefix(&self, values: &[Value]) -> Result<Vec<u8>> {
        key_prefix(&self.child, self.index, values)
    }

    /// Whether an update makes another entry in the index that serves the key, which is when InnoDB looks for the
    /// parent: a column of it changes, or one of the key that the row lives under.
    fn is_written_anew(&self, before: &[u8], after: &[u8]) -> Result<bool> {
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
    /// The name of the index of the table that it refers to.
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

/// The first index that begins with these columns, whole and in this order.
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

/// The keys around a table.
#[derive(Debug, Default)]
pub struct TableKeys {
    /// Its own, in the order of the indexes that serve them.
    pub own: Vec<Arc<ResolvedKey>>,
    /// Those that refer to it, in the order of its indexes.
    pub referring: Vec<Arc<ResolvedKey>>,
}

/// A table that a statement needs for foreign keys alone.
#[derive(Debug, Clone)]
pub struct RelatedTable {
    /// It.
    pub definition: Arc<TableDefinition>,
    /// Whether actions may change its rows.
    pub is_written: bool,
}

/// What was looked up, to see whether it is still so.
#[derive(Debug)]
struct Seen {
    database: String,
    name: String,
    referrers: Option<Arc<TableReferrers>>,
}

/// The foreign keys around the tables that a statement changes, and around those that their actions may change.
#[derive(Debug)]
pub struct ForeignKeys {
    tables: HashMap<u32, TableKeys>,
    related: Vec<RelatedTable>,
    seen: Vec<Seen>,
    /// Tables that keys refer to and that are not there.
    missing: Vec<(String, String)>,
    may_act: bool,
}

impl ForeignKeys {
    /// Those around these tables. `None`: there are none.
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
        self.seen.push(Seen {
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
        // Stable: by database and name within an index.
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

    /// The tables that are read or changed for them, those that the statement itself changes perhaps among them.
    pub fn related(&self) -> &[RelatedTable] {
        &self.related
    }

    /// Whether the statement may change rows beside its own.
    pub fn may_act(&self) -> bool {
        self.may_act
    }

    /// Whether other rows may change when a row of this table does.
    pub fn acts_on(&self, table: &TableDefinition, changed: RowFate) -> bool {
        let acts = |key: &Arc<ResolvedKey>| match changed {
            RowFate::Deleted => key.key.on_delete.is_action(),
            RowFate::Updated => key.key.on_update.is_action(),
        };
        self.of(table).is_some_and(|keys| keys.referring.iter().any(acts))
    }

    /// Whether these are all keys still. Must be asked under the metadata locks of all tables.
    pub fn is_current(&self, catalog: &Catalog) -> bool {
        let same = |seen: &Seen| match (catalog.referrers(&seen.database, &seen.name), &seen.referrers) {
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

/// What stands between a table's name and its message's end: ``CONSTRAINT `c` FOREIGN KEY (`a`) REFERENCES `p` (`id`)
/// ON DELETE CASCADE``.
pub fn constraint_text(database: &str, key: &ForeignKey) -> String {
    let mut out = String::new();
    write_constraint(database, key, quote_identifier, &mut out);
    out
}

/// Writes that with names quoted as `quote` does. The other table has its database where that is not `database`.
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
