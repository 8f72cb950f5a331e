//! CREATE TRIGGER, DROP TRIGGER, and what other definitions do to triggers.
//!
//! The places of triggers of the same time and event are numbered without gaps, so a trigger that gets a place before
//! others changes their records, too.

use paceline_types::error_code::*;

use super::normal_form::{quote_identifier, write_definer};
use super::plan::{LoggedStatement, Planner};
use super::routine::NAME_LENGTH_MAX;
use crate::error::{Error, Result};
use crate::{
    CatalogChange, ProgramEnvironment, SYSTEM_DATABASE, TableDefinition, TriggerDefinition,
    TriggerDescription,
};
use paceline_syntax::{TableName, Trigger, TriggerOrder, TriggerRow, VariableKind};
use std::sync::Arc;

impl Planner<'_> {
    pub(super) fn create_trigger(&mut self, trigger: &Trigger) -> Result<()> {
        let (table_database, table_name) = self.qualified(&trigger.table)?;
        let (database, name) = match &trigger.name.database {
            Some(database) => (database.clone(), trigger.name.name.clone()),
            None => (table_database.clone(), trigger.name.name.clone()),
        };
        if name.chars().count() > NAME_LENGTH_MAX {
            return Err(Error::new(ER_TOO_LONG_IDENT, &[&name]));
        }
        let is_view = self.catalog.view(&table_database, &table_name).is_some();
        let is_temporary = self
            .catalog
            .temporary_table(&table_database, &table_name)
            .is_some();
        if is_view || is_temporary {
            return Err(Error::new(ER_TRG_ON_VIEW_OR_TEMP_TABLE, &[&table_name]));
        }
        if table_database == SYSTEM_DATABASE {
            return Err(Error::new(ER_NO_TRIGGERS_ON_SYSTEM_SCHEMA, &[]));
        }
        let table = self.table(&trigger.table)?;
        if database != table_database {
            return Err(Error::new(ER_TRG_IN_WRONG_SCHEMA, &[]));
        }
        let collation = self.database(&database)?.definition().collation;
        let definer = self.definer(trigger.definer.as_ref())?;
        let mut logged = "CREATE ".to_owned();
        if trigger.or_replace {
            logged.push_str("OR REPLACE ");
        }
        write_definer(&definer, &mut logged);
        logged.push(' ');
        logged.push_str(&trigger.text);
        self.plan.logged = LoggedStatement::Rewritten(logged);
        if let Some(known) = self.catalog.trigger(&database, &name).cloned() {
            if !trigger.or_replace || known.table != table_name {
                let error = Error::new(ER_TRG_ALREADY_EXISTS, &[&format!("{database}.{name}")]);
                return self.note_or_fail(trigger.if_not_exists.into(), error);
            }
            self.remove_trigger(&known)?;
        }
        check_columns(trigger, &table)?;
        // Removing one of the same name has made a new definition.
        let table = self.table(&trigger.table)?;
        let others = table.triggers().of(trigger.time, trigger.event);
        let place = match &trigger.order {
            None => others.len(),
            Some((order, other)) => {
                let found = others.iter().position(|known| known.name == *other);
                let found = found.ok_or_else(|| Error::new(ER_REFERENCED_TRG_DOES_NOT_EXIST, &[other]))?;
                match order {
                    TriggerOrder::Follows => found + 1,
                    TriggerOrder::Precedes => found,
                }
            }
        };
        for later in &others[place..] {
            let mut description = later.description().clone();
            description.order += 1;
            self.change(CatalogChange::PutTrigger(Box::new(description)))?;
        }
        // As in MariaDB, the order is in the log but not in the definition: the other trigger may be dropped.
        let mut text = trigger.text.clone();
        text.replace_range(trigger.order_text.clone(), "");
        let description = TriggerDescription {
            environment: ProgramEnvironment::of(self.session, collation.name()),
            database,
            name,
            table: table_name,
            time: trigger.time,
            event: trigger.event,
            order: place as u32 + 1,
            text,
            on_table: trigger.on_table.clone(),
            body: trigger.body_text.clone(),
            definer,
            created_micros: self.session.statement.start_micros,
        };
        self.change(CatalogChange::PutTrigger(Box::new(description)))
    }

    pub(super) fn drop_trigger(&mut self, if_exists: bool, name: &TableName) -> Result<()> {
        let (database, name) = self.qualified(name)?;
        match self.catalog.trigger(&database, &name).cloned() {
            Some(known) => self.remove_trigger(&known),
            None => self.note_or_fail(if_exists.into(), Error::new(ER_TRG_DOES_NOT_EXIST, &[])),
        }
    }

    /// Removes a trigger; those after it move up.
    fn remove_trigger(&mut self, trigger: &TriggerDefinition) -> Result<()> {
        let table = self
            .catalog
            .ordinary_table(&trigger.database, &trigger.table)
            .cloned();
        let later: Vec<Arc<TriggerDefinition>> = table
            .iter()
            .flat_map(|table| table.triggers().of(trigger.time, trigger.event))
            .filter(|other| other.order > trigger.order)
            .cloned()
            .collect();
        self.forget_trigger(trigger)?;
        for other in later {
            let mut description = other.description().clone();
            description.order -= 1;
            self.change(CatalogChange::PutTrigger(Box::new(description)))?;
        }
        Ok(())
    }

    fn forget_trigger(&mut self, trigger: &TriggerDefinition) -> Result<()> {
        self.change(CatalogChange::DropTrigger {
            database: trigger.database.clone(),
            name: trigger.name.clone(),
        })
    }

    /// Drops the triggers of a table that is dropped.
    pub(super) fn drop_triggers(&mut self, table: &TableDefinition) -> Result<()> {
        let own = table.triggers().all();
        own.iter().try_for_each(|trigger| self.forget_trigger(trigger))
    }

    /// Gives the triggers of a table to the table under its new name, which exists already.
    ///
    /// # Errors
    /// 1435 for another database.
    pub(super) fn move_triggers(
        &mut self,
        table: &TableDefinition,
        database: &str,
        name: &str,
    ) -> Result<()> {
        let own = table.triggers().all();
        if !own.is_empty() && database != table.database() {
            return Err(Error::new(ER_TRG_IN_WRONG_SCHEMA, &[]));
        }
        for trigger in own {
            let mut description = trigger.description().clone();
            name.clone_into(&mut description.table);
            let mut on_table = "ON ".to_owned();
            quote_identifier(name, &mut on_table);
            let end = description.on_table.start + on_table.len();
            description
                .text
                .replace_range(description.on_table.clone(), &on_table);
            description.on_table.end = end;
            self.change(CatalogChange::PutTrigger(Box::new(description)))?;
        }
        Ok(())
    }
}

/// # Errors
/// 1054 for a column of NEW or OLD that the table does not have.
fn check_columns(trigger: &Trigger, table: &TableDefinition) -> Result<()> {
    for variable in &trigger.program.variables {
        let VariableKind::TriggerColumn { row } = variable.kind else {
            continue;
        };
        if table.column(&variable.name).is_none() {
            let row = match row {
                TriggerRow::Old => "OLD",
                TriggerRow::New => "NEW",
            };
            return Err(Error::new(ER_BAD_FIELD_ERROR, &[&variable.name, &row]));
        }
    }
    Ok(())
}

/// Returns the statement of SHOW CREATE TRIGGER.
pub fn show_create_trigger(trigger: &TriggerDescription) -> String {
    let mut text = "CREATE ".to_owned();
    write_definer(&trigger.definer, &mut text);
    text.push(' ');
    text.push_str(&trigger.text);
    text
}
