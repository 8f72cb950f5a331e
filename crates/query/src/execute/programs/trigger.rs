//! Triggers of a row.
//!
//! The columns of NEW and OLD are variables of the trigger's program. They get the row's values before it runs; after a
//! BEFORE trigger the row gets those of NEW.

use std::sync::Arc;

use super::function::{Conditions, call_procedure, isolated};
use super::steps::{Place, Program, run_steps};
use crate::error::Result;
use crate::execute::context::{Execution, ProgramState, StatementState};
use crate::program::{enter_routine, leave_routine};
use paceline_catalog::{CompiledTrigger, TableDefinition, TriggerDefinition};
use paceline_expression::session::SessionContext;
use paceline_program::Run;
use paceline_syntax::{TriggerEvent, TriggerRow, TriggerTime};
use paceline_types::Value;

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
        self.before_noting(exec, old, new, &mut Vec::new())
    }

    /// Does as [`Self::before`], and adds the columns of the new row to which a trigger has assigned something to
    /// `assigned`.
    ///
    /// # Errors
    /// Those of [`Self::before`].
    pub fn before_noting(
        self,
        exec: &mut Execution<'_, '_>,
        old: &[Value],
        new: &mut [Value],
        assigned: &mut Vec<usize>,
    ) -> Result<()> {
        let mut triggers = self.before.iter();
        triggers.try_for_each(|trigger| {
            let rows = Rows {
                old,
                new: NewRow::Before(new, assigned),
            };
            fire(trigger, self.table, rows, exec.state, exec.session)
        })
    }

    /// Runs those after the change of a row.
    ///
    /// # Errors
    /// Those of [`Self::before`].
    pub fn after(self, exec: &mut Execution<'_, '_>, old: &[Value], new: &[Value]) -> Result<()> {
        let mut triggers = self.after.iter();
        triggers.try_for_each(|trigger| {
            let rows = Rows {
                old,
                new: NewRow::After(new),
            };
            fire(trigger, self.table, rows, exec.state, exec.session)
        })
    }
}

/// Rows of a trigger. One that the event does not have is empty.
struct Rows<'r> {
    old: &'r [Value],
    new: NewRow<'r>,
}

/// The new row.
enum NewRow<'r> {
    /// It gets the values that the trigger sets, and the list their columns.
    Before(&'r mut [Value], &'r mut Vec<usize>),
    /// It is written already.
    After(&'r [Value]),
}

/// Runs a trigger for a row.
fn fire(
    trigger: &TriggerDefinition,
    table: &Arc<TableDefinition>,
    rows: Rows<'_>,
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
) -> Result<()> {
    let compiled = trigger.compiled()?;
    session.counts.executed_triggers += 1;
    isolated(session, Conditions::Dropped, |session| {
        let definer = Some(&trigger.definer);
        let saved = enter_routine(&compiled.settings, &trigger.database, definer, session)?;
        let done = run_trigger(&compiled, table, rows, state, session);
        leave_routine(saved, session);
        done
    })
}

fn run_trigger(
    compiled: &CompiledTrigger,
    table: &Arc<TableDefinition>,
    rows: Rows<'_>,
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
) -> Result<()> {
    let ProgramState { host, cache, .. } = state.programs()?;
    let mut prepared = cache.take(&compiled.code, Some(table), || host.catalog(), session)?;
    let mut run = Run::new(&compiled.code, prepared.take_values());
    for (variable, row, column) in prepared.row_columns() {
        let value = match row {
            TriggerRow::Old => &rows.old[*column],
            TriggerRow::New => match &rows.new {
                NewRow::Before(new, _) => &new[*column],
                NewRow::After(new) => &new[*column],
            },
        };
        run.set_value(*variable, value.clone());
    }
    let program = Program {
        place: Place::Trigger,
        name: &compiled.full_name,
        returns: None,
        call_procedure,
    };
    let done = run_steps(&mut run, &mut prepared, program, None, state, session);
    let mut values = run.into_values();
    if let (Ok(_), NewRow::Before(new, assigned)) = (&done, rows.new) {
        for (variable, row, column) in prepared.row_columns() {
            if *row == TriggerRow::New {
                if prepared.is_assigned(*variable) {
                    assigned.push(*column);
                }
                new[*column] = std::mem::replace(&mut values[*variable], Value::Null);
            }
        }
    }
    prepared.give_back_values(values);
    state.programs()?.cache.give_back(prepared);
    done.map(|_| ())
}
