//! Prepared programs, kept by the session that ran them.

use std::collections::HashMap;
use std::sync::Arc;

use super::VariableTypes;
use crate::error::{Error, Result};
use crate::plan::Plan;
use paceline_catalog::{Catalog, TableDefinition};
use paceline_expression::session::SessionContext;
use paceline_expression::{Expr, ExprType};
use paceline_program::Code;
use paceline_syntax::{Statement, TriggerRow, VariableKind};
use paceline_types::error_code::ER_BAD_FIELD_ERROR;

/// Maximum number of programs that a session keeps.
const PROGRAMS_MAX: usize = 256;

/// Programs that a session has run, with what was made for running them.
#[derive(Default)]
pub struct ProgramCache {
    /// By the address of the code, which the program keeps alive. `None` while it runs.
    programs: HashMap<usize, Option<PreparedProgram>>,
}

impl ProgramCache {
    /// Takes a program out, or prepares it.
    ///
    /// # Errors
    /// The errors of the types of its variables.
    pub(crate) fn take(
        &mut self,
        code: &CodeOwner,
        table: Option<&Arc<TableDefinition>>,
        catalog: &Catalog,
        session: &mut SessionContext,
    ) -> Result<PreparedProgram> {
        let known = self.programs.get_mut(&code.address()).and_then(Option::take);
        if let Some(known) = known
            && known.is_for(table)
        {
            return Ok(known);
        }
        PreparedProgram::new(code.clone(), table, catalog, session)
    }

    /// Keeps a program for its next run.
    pub(crate) fn give_back(&mut self, program: PreparedProgram) {
        let address = program.code.address();
        if self.programs.len() >= PROGRAMS_MAX && !self.programs.contains_key(&address) {
            self.programs.clear();
        }
        self.programs.insert(address, Some(program));
    }
}

/// The code of a program, and what keeps it alive.
#[derive(Clone)]
pub(crate) enum CodeOwner {
    Routine(Arc<paceline_catalog::CompiledRoutine>),
    Trigger(Arc<paceline_catalog::CompiledTrigger>),
}

impl CodeOwner {
    pub fn code(&self) -> &Code {
        match self {
            CodeOwner::Routine(routine) => &routine.code,
            CodeOwner::Trigger(trigger) => &trigger.code,
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self.code()).addr()
    }
}

/// A program with what was made for running it.
pub(crate) struct PreparedProgram {
    code: CodeOwner,
    /// Table of a trigger.
    table: Option<Arc<TableDefinition>>,
    pub types: VariableTypes,
    /// Of a trigger: the variables that are columns of NEW or OLD, with the column.
    pub row_columns: Vec<(usize, TriggerRow, usize)>,
    pub expression_types: Arc<[ExprType]>,
    /// Bound expressions, by address in the code.
    pub expressions: HashMap<usize, Bound>,
    /// Plans of statements, by address in the code.
    pub plans: HashMap<usize, KeptPlan>,
}

/// An expression of a program.
#[derive(Clone)]
pub(crate) enum Bound {
    /// It is evaluated directly.
    Direct(Arc<Expr>),
    /// It contains queries or stored functions, and is executed as this statement.
    Query(Arc<Statement>),
}

/// A plan that is kept.
pub(crate) struct KeptPlan {
    pub plan: Arc<Plan>,
    /// Number of rows that the last execution read.
    pub rows_read: u64,
}

impl PreparedProgram {
    fn new(
        code: CodeOwner,
        table: Option<&Arc<TableDefinition>>,
        catalog: &Catalog,
        session: &mut SessionContext,
    ) -> Result<Self> {
        let types = VariableTypes::resolve(
            code.code().variables(),
            table.map(|table| &**table),
            catalog,
            session,
        )?;
        Ok(PreparedProgram {
            expression_types: types.of_expressions(),
            row_columns: match table {
                Some(table) => row_columns(code.code(), table)?,
                None => Vec::new(),
            },
            types,
            table: table.cloned(),
            code,
            expressions: HashMap::new(),
            plans: HashMap::new(),
        })
    }

    fn is_for(&self, table: Option<&Arc<TableDefinition>>) -> bool {
        match (&self.table, table) {
            (None, None) => true,
            (Some(known), Some(table)) => Arc::ptr_eq(known, table),
            _ => false,
        }
    }
}

/// Returns the variables that are columns of NEW or OLD.
///
/// # Errors
/// 1054 for a column that the table no longer has.
fn row_columns(code: &Code, table: &TableDefinition) -> Result<Vec<(usize, TriggerRow, usize)>> {
    let mut columns = Vec::new();
    for (variable, declared) in code.variables().iter().enumerate() {
        let VariableKind::TriggerColumn { row } = declared.kind else {
            continue;
        };
        let column = table.column(&declared.name).ok_or_else(|| {
            let row = match row {
                TriggerRow::Old => "OLD",
                TriggerRow::New => "NEW",
            };
            Error::new(ER_BAD_FIELD_ERROR, &[&declared.name, &row])
        })?;
        columns.push((variable, row, column));
    }
    Ok(columns)
}
