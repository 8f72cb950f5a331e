//! Prepared programs, kept by the session that ran them.

use std::collections::HashMap;
use std::sync::Arc;

use super::PreparedProgram;
use super::variables::check_column_types;
use crate::address_hasher::HashAddress;
use crate::error::Result;
use paceline_catalog::{Catalog, TableDefinition};
use paceline_expression::session::SessionContext;
use paceline_program::Code;

/// Maximum number of programs that a session keeps.
const PROGRAMS_MAX: usize = 256;

/// Programs that a session has run, with what was made for running them.
#[derive(Default)]
pub struct ProgramCache {
    /// By the address of the code, which the program keeps alive. `None` while it runs.
    programs: HashMap<usize, Option<Box<PreparedProgram>>, HashAddress>,
}

impl ProgramCache {
    /// Takes a program out, or prepares it. `table` is the table of a trigger.
    ///
    /// # Errors
    /// Those of [`PreparedProgram::new`].
    pub fn take(
        &mut self,
        code: &Arc<Code>,
        table: Option<&Arc<TableDefinition>>,
        catalog: impl FnOnce() -> Arc<Catalog>,
        session: &mut SessionContext,
    ) -> Result<Box<PreparedProgram>> {
        let known = self.programs.get_mut(&address(code)).and_then(Option::take);
        let catalog = match known {
            Some(known) if !known.names_tables() && known.is_of(table) => return Ok(known),
            Some(known) => {
                let catalog = catalog();
                if known.is_of(table) && known.has_types_of(&catalog) {
                    check_column_types(code.variables(), &catalog, session)?;
                    return Ok(known);
                }
                catalog
            }
            None => catalog(),
        };
        PreparedProgram::new(code.clone(), table, &catalog, session).map(Box::new)
    }

    /// Keeps a program for its next run.
    pub fn give_back(&mut self, program: Box<PreparedProgram>) {
        let address = address(program.code());
        if self.programs.len() >= PROGRAMS_MAX && !self.programs.contains_key(&address) {
            self.programs.clear();
        }
        self.programs.insert(address, Some(program));
    }
}

fn address(code: &Arc<Code>) -> usize {
    Arc::as_ptr(code).addr()
}
