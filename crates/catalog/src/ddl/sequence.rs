//! CREATE, ALTER and DROP SEQUENCE, and ALTER TABLE of a sequence.
//!
//! The log carries the statements. A replay plans them again: the row of CREATE depends only on the statement, that of
//! ALTER on the row at the statement's position, which the snapshot of the plan contains. The session holds the
//! sequence's exclusive metadata lock, so no reservation is under way.

use std::sync::Arc;

use paceline_storage::StorageSnapshot;
use paceline_types::error_code::*;

use super::create_table::checked_table_comment;
use super::plan::{LoggedStatement, Planner, SequenceRowWrite};
use super::table::check_table_name;
use super::table_options::OptionStatement;
use crate::error::{Error, Result};
use crate::sequence::SequenceRow;
use crate::{CatalogChange, TableDefinition, TableDescription, TableEngine};
use paceline_syntax::TableName;
use paceline_syntax::definition::{
    AlterAction, AlterSequence, AlterTable, CreateSequence, SequenceSpec, TableOptions,
};

impl Planner<'_> {
    pub(super) fn create_sequence(&mut self, create: &CreateSequence) -> Result<()> {
        let (database, name) = self.qualified(&create.name)?;
        check_table_name(&name)?;
        if !self.make_room(
            create.temporary,
            create.or_replace,
            create.if_not_exists,
            &database,
            &name,
        )? {
            return Ok(());
        }
        let collation = self.default_collation(&database)?;
        let engine = self.sequence_engine(&name, &create.options)?;
        let row = SequenceRow::created(&create.values)
            .ok_or_else(|| Error::new(ER_SEQUENCE_INVALID_DATA, &[&database, &name]))?;
        let comment = checked_table_comment(&create.options, &name, self.session)?.unwrap_or_default();
        let mut description = TableDescription {
            database,
            name,
            id: self.new_id(engine)?,
            temporary: create.temporary,
            sequence: true,
            engine,
            collation,
            columns: SequenceRow::columns(),
            indexes: Vec::new(),
            hidden: [self.new_id(engine)?, self.new_id(engine)?],
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            auto_increment_start: 1,
            comment,
            row_format: None,
            options: Vec::new(),
            created_seconds: self.session.statement.start_micros / 1_000_000,
            earlier_rows: Vec::new(),
        };
        self.set_options(&mut description, &create.options, OptionStatement::Create)?;
        self.put_sequence(description, &row)
    }

    /// Returns the engine of a sequence.
    ///
    /// # Errors
    /// 1478 for other engines: in MEMORY the sequence would have no row after a restart.
    pub(super) fn sequence_engine(&mut self, name: &str, options: &TableOptions) -> Result<TableEngine> {
        if options.engine.is_none() {
            return Ok(TableEngine::InnoDb);
        }
        match self.table_engine(name, options)? {
            TableEngine::InnoDb => Ok(TableEngine::InnoDb),
            engine => Err(Error::new(
                ER_ILLEGAL_HA_CREATE_OPTION,
                &[&engine.name(), &"SEQUENCE"],
            )),
        }
    }

    /// Creates or replaces the definition and the row of a sequence.
    ///
    /// # Errors
    /// 4086 if the table cannot be a sequence.
    pub(super) fn put_sequence(&mut self, description: TableDescription, row: &SequenceRow) -> Result<()> {
        SequenceRow::check_structure(&description)?;
        let table = TableDefinition::new(description.clone(), Default::default(), Default::default())?;
        self.write_sequence_row(&table, row)?;
        self.change(CatalogChange::PutTable(Box::new(description)))
    }

    fn write_sequence_row(&mut self, table: &TableDefinition, row: &SequenceRow) -> Result<()> {
        let schema = table.schema();
        self.plan.sequence_row = Some(SequenceRowWrite {
            key: schema.single_row_key().expect("a sequence has one row"),
            image: row.image(schema)?,
            temporary: table.is_temporary(),
        });
        Ok(())
    }

    /// Creates a sequence for a table that is defined like one: with the default values.
    pub(super) fn put_default_sequence(&mut self, description: TableDescription) -> Result<()> {
        let row = SequenceRow::created(&SequenceSpec::default()).expect("the defaults fit together");
        self.put_sequence(description, &row)
    }

    pub(super) fn alter_sequence(&mut self, alter: &AlterSequence) -> Result<()> {
        let (database, name) = self.qualified(&alter.name)?;
        self.refuse_virtual(&database)?;
        // As in MariaDB, a temporary sequence is not altered.
        let Some(table) = self.catalog.ordinary_table(&database, &name).cloned() else {
            if self.catalog.ordinary_view(&database, &name).is_some() {
                return Err(Error::new(ER_NOT_SEQUENCE, &[&database, &name]));
            }
            let shown = match alter.if_exists {
                true => format!("{database}.{name}"),
                false => name.clone(),
            };
            return self.note_or_fail(
                alter.if_exists.into(),
                Error::new(ER_UNKNOWN_SEQUENCES, &[&shown]),
            );
        };
        if !table.is_sequence() {
            return Err(Error::new(ER_NOT_SEQUENCE, &[&database, &name]));
        }
        let snapshot = self
            .data
            .map(|data| data.snapshot)
            .ok_or_else(|| Error::unsupported("ALTER SEQUENCE here"))?;
        let row = read_row(&table, snapshot)?
            .altered(&alter.values)
            .ok_or_else(|| Error::new(ER_SEQUENCE_INVALID_DATA, &[&database, &name]))?;
        self.write_sequence_row(&table, &row)?;
        // The new definition has an empty cache, and row events before it do not fit it.
        self.change(CatalogChange::PutTable(Box::new(table.description().clone())))
    }

    pub(super) fn drop_sequences(
        &mut self,
        temporary: bool,
        if_exists: bool,
        sequences: &[TableName],
    ) -> Result<()> {
        for (n, name) in sequences.iter().enumerate() {
            let full = self.qualified(name)?;
            self.refuse_virtual(&full.0)?;
            let same = |other: &TableName| self.qualified(other).is_ok_and(|other| other == full);
            if sequences[..n].iter().any(same) {
                return Err(Error::new(ER_NONUNIQ_TABLE, &[&full.1]));
            }
        }
        let (mut missing, mut wrong, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
        for name in sequences {
            let (database, name) = self.qualified(name)?;
            let shown = format!("{database}.{name}");
            let own = self.catalog.temporary_table(&database, &name).cloned();
            if let Some(sequence) = own.filter(|table| table.is_sequence()) {
                self.drop_table(&sequence)?;
                continue;
            }
            if temporary {
                missing.push(shown);
                continue;
            }
            match self.catalog.ordinary_table(&database, &name).cloned() {
                Some(table) if table.is_sequence() => {
                    self.drop_table(&table)?;
                    dropped.push((database, name));
                }
                Some(_) => wrong.push(Error::new(ER_NOT_SEQUENCE2, &[&shown])),
                None if self.catalog.ordinary_view(&database, &name).is_some() => {
                    wrong.push(Error::new(ER_IT_IS_A_VIEW, &[&shown]));
                }
                None => missing.push(shown),
            }
        }
        if !missing.is_empty() {
            wrong.push(Error::new(ER_UNKNOWN_SEQUENCES, &[&missing.join(",")]));
        }
        // Existing sequences are dropped in spite of the errors.
        for error in wrong {
            self.note_or_fail_after(if_exists, error);
        }
        let is_whole = dropped.len() == sequences.len();
        self.plan.logged = match (is_whole, dropped.is_empty()) {
            (true, _) => LoggedStatement::Rewritten(self.drop_text("SEQUENCE", if_exists, &dropped)),
            (false, true) => LoggedStatement::Nothing,
            (false, false) => LoggedStatement::Rewritten(self.drop_text("SEQUENCE", true, &dropped)),
        };
        Ok(())
    }

    /// Plans ALTER TABLE of a sequence: it can get another name, comment or options. FORCE and ENGINE have no effect,
    /// because there is only one way to store it.
    ///
    /// # Errors
    /// 4086 for a change of the structure; 1235 for SEQUENCE=0.
    pub(super) fn alter_sequence_table(
        &mut self,
        alter: &AlterTable,
        old: &Arc<TableDefinition>,
    ) -> Result<()> {
        let refused = |reason: &str| {
            Err(Error::new(
                ER_SEQUENCE_INVALID_TABLE_STRUCTURE,
                &[&old.database(), &old.name(), &reason],
            ))
        };
        let mut description = old.description().clone();
        let mut target = None;
        for action in &alter.actions {
            match action {
                AlterAction::RenameTable(to) => {
                    let own = TableName {
                        database: to.database.clone().or_else(|| Some(old.database().to_owned())),
                        name: to.name.clone(),
                    };
                    target = Some(self.qualified(&own)?);
                }
                AlterAction::Options(options) => {
                    if options.sequence == Some(false) {
                        return Err(Error::unsupported("SEQUENCE=0"));
                    }
                    self.sequence_engine(old.name(), options)?;
                    if let Some(comment) = checked_table_comment(options, old.name(), self.session)? {
                        description.comment = comment;
                    }
                    self.set_options(&mut description, options, OptionStatement::Alter)?;
                }
                AlterAction::Force | AlterAction::Keys { .. } => {}
                AlterAction::OrderBy => return refused("ORDER BY"),
                AlterAction::AddConstraint(constraint) => {
                    use paceline_syntax::definition::TableConstraint;
                    return refused(match constraint {
                        TableConstraint::Index(_) => "Sequence tables cannot have any keys",
                        _ => "Sequence tables cannot have any constraints",
                    });
                }
                _ => return refused("Wrong number of columns"),
            }
        }
        if let Some((database, name)) = target
            && (&*database, &*name) != (old.database(), old.name())
        {
            check_table_name(&name)?;
            self.check_new_name(old, &database, &name, true)?;
            description.database = database;
            description.name = name;
            self.change(CatalogChange::PutTable(Box::new(description)))?;
            return self.forget_name(old);
        }
        self.change(CatalogChange::PutTable(Box::new(description)))
    }
}

/// Returns the row of a sequence.
///
/// # Errors
/// 1032 if it has none.
pub fn read_row(table: &TableDefinition, snapshot: &StorageSnapshot) -> Result<SequenceRow> {
    let key = table.schema().single_row_key().unwrap_or_default();
    let row = snapshot
        .get(&key)?
        .ok_or_else(|| Error::new(ER_KEY_NOT_FOUND, &[&table.name()]))?;
    SequenceRow::of_image(table.schema(), row.payload())
}

/// Returns the statement that creates a sequence with the options of a row (SHOW CREATE SEQUENCE).
pub fn show_create_sequence(
    table: &TableDefinition,
    row: &SequenceRow,
    sql_mode: paceline_types::SqlMode,
) -> String {
    use std::fmt::Write;
    let mut out = "CREATE SEQUENCE ".to_owned();
    super::show_create::identifier(table.name(), sql_mode, &mut out);
    let _ = write!(
        out,
        " start with {} minvalue {} maxvalue {} increment by {}",
        row.start, row.minimum, row.maximum, row.increment
    );
    match row.cache {
        0 => out.push_str(" nocache"),
        cache => {
            let _ = write!(out, " cache {cache}");
        }
    }
    out.push_str(if row.cycle { " cycle" } else { " nocycle" });
    let _ = write!(out, " ENGINE={}", table.engine.name());
    if !table.comment.is_empty() {
        out.push_str(" COMMENT=");
        super::normal_form::quote_text(&table.comment, &mut out);
    }
    out.push_str(&super::show_create::engine_options(&table.options));
    out
}
