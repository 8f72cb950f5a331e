//! Triggers of a row.
//!
//! The columns of NEW and OLD are variables of the trigger's program. They get the row's values before it runs; after a
//! BEFORE trigger the row gets those of NEW.

use std::sync::Arc;

use super::function::{call_procedure, isolated};
use super::steps::{Place, Program, run_steps};
use crate::error::{Error, Result};
use crate::execute::context::{Execution, StatementState};
use crate::program::{CodeOwner, enter_routine, leave_routine};
use paceline_catalog::{TableDefinition, TriggerDefinition};
use paceline_expression::session::SessionContext;
use paceline_program::{Code, Run};
use paceline_syntax::{TriggerEvent, TriggerRow, TriggerTime, VariableKind};
use paceline_types::Value;
use paceline_types::error_code::ER_BAD_FIELD_ERROR;

/// Triggers of a table for an event.
#[derive(Clone, Copy)]
pub(crate) struct Triggers<'p> {
    table: &'p Arc<TableDefinition>,
    before: &'p [Arc<TriggerDefinition>],
    after: &'p [Arc<TriggerDefinition>],
}

impl<'p> Triggers<'p> {
    /// Returns the triggers of a table for an event.
    pub fn of(table: &'p Arc<TableDefinition>, event: TriggerEvent) -> Self {
        let triggers = table.triggers();
        Triggers {
            table,
            before: triggers.of(TriggerTime::Before, event),
            after: triggers.of(TriggerTime::After, event),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Returns whether some run before the change, and may change the new row.
    pub fn has_before(&self) -> bool {
        !self.before.is_empty()
    }

    /// Runs those before the change of a row, in their order. A row that the event does not have is empty.
    ///
    /// # Errors
    /// The errors of their bodies; 1054 for a column that the table no longer has.
    pub fn before(self, exec: &mut Execution<'_, '_>, old: &[Value], new: &mut [Value]) -> Result<()> {
        let mut triggers = self.before.iter();
        triggers.try_for_each(|trigger| fire(trigger, self.table, old, new, exec.state, exec.session))
    }

    /// Runs those after the change of a row.
    ///
    /// # Errors
    /// Those of [`Self::before`].
    pub fn after(self, exec: &mut Execution<'_, '_>, old: &[Value], new: &[Value]) -> Result<()> {
        if self.after.is_empty() {
            return Ok(());
        }
        let mut new = new.to_vec();
        let mut triggers = self.after.iter();
        triggers.try_for_each(|trigger| fire(trigger, self.table, old, &mut new, exec.state, exec.session))
    }
}

/// Runs a trigger for a row.
fn fire(
    trigger: &TriggerDefinition,
    table: &Arc<TableDefinition>,
    old: &[Value],
    new: &mut [Value],
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
) -> Result<()> {
    let code = trigger.compiled()?;
    isolated(session, |session| {
        let saved = enter_routine(
            &trigger.environment,
            &trigger.database,
            Some(&trigger.definer),
            session,
        )?;
        let done = run_trigger(trigger, &code, table, old, new, state, session);
        leave_routine(saved, session);
        done
    })
}

fn run_trigger(
    trigger: &TriggerDefinition,
    code: &Arc<Code>,
    table: &Arc<TableDefinition>,
    old: &[Value],
    new: &mut [Value],
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
) -> Result<()> {
    let columns = row_columns(code, table)?;
    let mut run = Run::new(code, Vec::new());
    for (variable, row, column) in &columns {
        let value = match row {
            TriggerRow::Old => &old[*column],
            TriggerRow::New => &new[*column],
        };
        run.set_value(*variable, value.clone());
    }
    let owner = CodeOwner::Trigger(code.clone());
    let programs = state.programs()?;
    let catalog = programs.host.catalog();
    let mut prepared = programs.cache.take(&owner, Some(table), &catalog, session)?;
    let name = format!("{}.{}", trigger.database, trigger.name);
    let program = Program {
        place: Place::Trigger,
        name: &name,
        returns: None,
        call_procedure,
    };
    let done = run_steps(&mut run, code, &mut prepared, program, state, session);
    state.programs()?.cache.give_back(prepared);
    done?;
    if trigger.time == TriggerTime::Before {
        let values = run.into_values();
        for (variable, row, column) in columns {
            if row == TriggerRow::New {
                new[column].clone_from(&values[variable]);
            }
        }
    }
    Ok(())
}

/// Returns the variables that are columns of NEW or OLD, with the column.
fn row_columns(code: &Code, table: &TableDefinition) -> Result<Vec<(usize, TriggerRow, usize)>> {
    let mut columns = Vec::new();
    for (variable, declared) in code.variables().iter().enumerate() {
        if let VariableKind::TriggerColumn { row } = declared.kind {
            let column = table.column(&declared.name).ok_or_else(|| {
                let row = match row {
                    TriggerRow::Old => "OLD",
                    TriggerRow::New => "NEW",
                };
                Error::new(ER_BAD_FIELD_ERROR, &[&declared.name, &row])
            })?;
            columns.push((variable, row, column));
        }
    }
    Ok(columns)
}
