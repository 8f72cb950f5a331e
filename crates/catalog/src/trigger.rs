//! Triggers.
//!
//! A trigger belongs to a table: a [`TableDefinition`](crate::TableDefinition) has its triggers, in the order in which
//! they run. A changed trigger makes a new definition object, so plans that were made before are made again; the
//! version of the definition, which row events and snapshots depend on, stays.
//!
//! Like a [routine](crate::RoutineDefinition), a trigger is parsed when it first runs.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use paceline_program::Code;
use paceline_types::error_code::ER_SP_PROC_TABLE_CORRUPT;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::routine::{ProgramEnvironment, ProgramSettings};
use paceline_syntax::definition::DdlStatement;
use paceline_syntax::{Statement, TriggerEvent, TriggerTime, parse_first};

/// A trigger in the form of its catalog record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub struct TriggerDescription {
    pub database: String,
    pub name: String,
    /// Name of its table, which is in the same database.
    pub table: String,
    pub time: TriggerTime,
    pub event: TriggerEvent,
    /// Place among the table's triggers of the same time and event, from 1.
    pub order: u32,
    /// Text of the statement from the word TRIGGER on.
    pub text: String,
    /// Bytes of `text` from ON to the name of the table, which a renamed table replaces.
    pub on_table: std::ops::Range<usize>,
    /// Text of the body.
    pub body: String,
    /// `DEFINER`: user and host.
    pub definer: (String, String),
    pub environment: ProgramEnvironment,
    /// Time of creation in microseconds since 1970.
    pub created_micros: i64,
}

/// Definition of a trigger as the rest of the server uses it. Immutable; dereferences to its [`TriggerDescription`].
pub struct TriggerDefinition {
    description: TriggerDescription,
    compiled: OnceLock<Result<Arc<CompiledTrigger>>>,
}

/// A trigger that is ready to run.
#[derive(Debug)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub struct CompiledTrigger {
    pub code: Arc<Code>,
    pub settings: ProgramSettings,
    /// Database and name, for messages.
    pub full_name: String,
}

impl TriggerDefinition {
    /// Creates a definition.
    pub fn new(description: TriggerDescription) -> Self {
        TriggerDefinition {
            description,
            compiled: OnceLock::new(),
        }
    }

    /// Returns the description in the catalog record.
    pub fn description(&self) -> &TriggerDescription {
        &self.description
    }

    /// Returns the compiled program.
    ///
    /// # Errors
    /// 1457 if this version cannot parse the text.
    pub fn compiled(&self) -> Result<Arc<CompiledTrigger>> {
        let compile = || {
            let text = format!("CREATE {}", self.text);
            let options = self.environment.parse_options();
            match parse_first(text.as_bytes(), &options).map(|parsed| parsed.statement) {
                Ok(Statement::Ddl(DdlStatement::CreateTrigger(trigger))) => Ok(Arc::new(CompiledTrigger {
                    code: Arc::new(Code::compile(&trigger.program)),
                    settings: self.environment.settings(),
                    full_name: format!("{}.{}", self.database, self.name),
                })),
                _ => {
                    let name = format!("{}.{}", self.database, self.name);
                    Err(Error::new(ER_SP_PROC_TABLE_CORRUPT, &[&name, &-6]))
                }
            }
        };
        self.compiled.get_or_init(compile).clone()
    }

    /// Returns what decides when the trigger runs: time, event, and its place among those.
    pub(crate) fn place(&self) -> (TriggerTime, TriggerEvent, u32) {
        (self.time, self.event, self.order)
    }
}

impl Deref for TriggerDefinition {
    type Target = TriggerDescription;

    fn deref(&self) -> &TriggerDescription {
        &self.description
    }
}

impl fmt::Debug for TriggerDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TriggerDefinition")
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}

/// Triggers of a table, in the order in which they run.
#[derive(Debug, Clone, Default)]
pub struct TableTriggers {
    triggers: Vec<Arc<TriggerDefinition>>,
}

impl TableTriggers {
    /// Creates the list from triggers in any order.
    pub fn new(mut triggers: Vec<Arc<TriggerDefinition>>) -> Self {
        triggers.sort_by_key(|trigger| trigger.place());
        TableTriggers { triggers }
    }

    /// Returns all of them: BEFORE ahead of AFTER, then by event.
    pub fn all(&self) -> &[Arc<TriggerDefinition>] {
        &self.triggers
    }

    /// Returns those of a time and event, in the order in which they run.
    pub fn of(&self, time: TriggerTime, event: TriggerEvent) -> &[Arc<TriggerDefinition>] {
        let start = self
            .triggers
            .partition_point(|trigger| (trigger.time, trigger.event) < (time, event));
        let end = self
            .triggers
            .partition_point(|trigger| (trigger.time, trigger.event) <= (time, event));
        &self.triggers[start..end]
    }
}
