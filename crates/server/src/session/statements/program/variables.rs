//! Types of a program's variables, and the conversion of values that are assigned to them.

use crate::session::state::SessionState;
use paceline_catalog::ddl::resolve_type;
use paceline_expression::session::SessionContext;
use paceline_expression::{Coercibility, EvalContext, EvalState, ExprType, refused_assignment, truth};
use paceline_syntax::{Error, Result, Variable, VariableKind};
use paceline_types::convert::{Severity, assign};
use paceline_types::error_code::{ER_BAD_FIELD_ERROR, ER_NO_SUCH_TABLE};
use paceline_types::{DataType, Value};
use std::sync::Arc;

/// Types of a program's variables, by number.
pub struct VariableTypes {
    variables: Vec<(String, Option<DataType>)>,
}

impl VariableTypes {
    /// Resolves the declared types. Text without a character set has the character set of the current database.
    ///
    /// # Errors
    /// The errors of a column's type; 1146 and 1054 for `TYPE OF` a missing column.
    pub fn resolve(variables: &[Variable], state: &mut SessionState) -> Result<VariableTypes> {
        let collation = state.context.settings.collation_database;
        let mut resolved = Vec::with_capacity(variables.len());
        for Variable { name, kind } in variables {
            let data_type = match kind {
                VariableKind::Typed(spec) => Some(resolve_type(name, spec, collation, &mut state.context)?),
                VariableKind::TypeOf(column) => Some(column_type(column, state)?),
                VariableKind::TriggerColumn { .. } | VariableKind::Bound => None,
            };
            resolved.push((name.clone(), data_type));
        }
        Ok(VariableTypes { variables: resolved })
    }

    /// Returns the types of the variables in expressions.
    pub fn of_expressions(&self) -> Arc<[ExprType]> {
        let types = self.variables.iter().map(|(_, data_type)| match data_type {
            Some(data_type) => ExprType {
                nullable: true,
                coercibility: Coercibility::Implicit,
                ..ExprType::new(data_type.clone())
            },
            None => ExprType::parameter(),
        });
        types.collect()
    }

    /// Converts a value for a variable.
    ///
    /// # Errors
    /// In strict mode the errors of a column: 1264, 1292, 1366, 1406.
    pub fn convert(&self, variable: usize, value: Value, context: &mut SessionContext) -> Result<Value> {
        let (name, data_type) = &self.variables[variable];
        let Some(data_type) = data_type else {
            return Ok(value);
        };
        let is_strict = context.settings.sql_mode.is_strict();
        if !value.is_null() {
            let source = ExprType::of_value(&value, context.settings.collation_connection);
            if let Some(error) = refused_assignment(&source, data_type, &format!("`{name}`")) {
                if is_strict {
                    return Err(error);
                }
                context.diagnostics.warn(error.code(), error.message());
            }
        }
        let mut state = EvalState::new();
        let assigned = assign(
            value,
            data_type,
            &EvalContext::new(context, &mut state).convert_context(),
        );
        if let Some(problem) = assigned.problem {
            // MariaDB names a column without a table, in row 0.
            let qualified = format!("``.``.`{name}`");
            let warning = || problem.warning_message(&qualified, name, 0);
            match problem.severity {
                Severity::Warning if is_strict => {
                    let message = problem.message(&qualified, name, 0);
                    return Err(Error::with_message(problem.code, message));
                }
                Severity::Warning => context.diagnostics.warn(problem.warning_code, warning()),
                Severity::Note => context.diagnostics.note(problem.warning_code, warning()),
            }
        }
        Ok(assigned.value)
    }
}

fn column_type(column: &paceline_syntax::ColumnName, state: &SessionState) -> Result<DataType> {
    let table = paceline_syntax::TableName {
        database: column.database.clone(),
        name: column.table.clone().unwrap_or_default(),
    };
    let (database, name) = state.qualified(&table)?;
    let catalog = state.catalog();
    let definition = catalog
        .table(&database, &name)
        .ok_or_else(|| Error::new(ER_NO_SUCH_TABLE, &[&database, &name]))?;
    let mut columns = definition.columns().iter();
    match columns.find(|known| known.name.to_lowercase() == column.name.to_lowercase()) {
        Some(known) => Ok(known.data_type.clone()),
        None => Err(Error::new(ER_BAD_FIELD_ERROR, &[&column.name, &name])),
    }
}

/// Returns whether a condition holds: it is neither NULL nor zero.
///
/// # Errors
/// The errors of the conversion to a number.
pub fn is_true(value: &Value, context: &mut SessionContext) -> Result<bool> {
    let mut state = EvalState::new();
    Ok(truth(value, &mut EvalContext::new(context, &mut state))? == Some(true))
}
