//! Variables of the program that is being executed, as its statements see them.

use crate::ExprType;
use crate::error::Result;
use crate::errors;
use paceline_types::error_code::ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD;

/// Types of a program's variables, by number. The statements have the variables as parameters.
#[derive(Debug, Default)]
pub struct ProgramVariables {
    types: Vec<ExprType>,
    /// Row variables, with the variables of their fields.
    rows: Vec<(usize, Vec<usize>)>,
    /// Variables of fields that their row does not have.
    missing: Vec<MissingField>,
}

/// A field that its row does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingField {
    /// The variable, by number.
    pub variable: usize,
    /// Name of the row.
    pub row: String,
    /// Name of the field.
    pub field: String,
}

impl ProgramVariables {
    /// Creates the types of variables. `rows` are the row variables with those of their fields.
    pub fn new(types: Vec<ExprType>, rows: Vec<(usize, Vec<usize>)>, missing: Vec<MissingField>) -> Self {
        ProgramVariables { types, rows, missing }
    }

    /// Returns the type of a variable; `None` without a program.
    pub fn get(&self, variable: usize) -> Option<&ExprType> {
        self.types.get(variable)
    }

    /// Returns the variables of a row's fields; `None` for any other variable.
    pub fn row(&self, variable: usize) -> Option<&[usize]> {
        let row = self.rows.iter().find(|(row, _)| *row == variable);
        row.map(|(_, fields)| &fields[..])
    }

    /// Checks that a variable is not a field that its row does not have.
    ///
    /// # Errors
    /// 4082.
    pub fn check(&self, variable: usize) -> Result<()> {
        let missing = self.missing.iter().find(|missing| missing.variable == variable);
        match missing {
            None => Ok(()),
            Some(MissingField { row, field, .. }) => {
                Err(errors::error(ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD, &[row, field]))
            }
        }
    }
}
