//! Types of a program's variables, and the conversion of values that are assigned to them.

use paceline_catalog::ddl::resolve_type;
use paceline_catalog::{Catalog, TableDefinition};
use paceline_expression::session::{SessionContext, SqlMode};
use paceline_expression::{Coercibility, EvalContext, EvalState, ExprType, refused_assignment, truth};
use paceline_syntax::{Error, Result, Variable, VariableKind};
use paceline_types::convert::{Severity, assign};
use paceline_types::error_code::{ER_BAD_FIELD_ERROR, ER_NO_DB_ERROR, ER_NO_SUCH_TABLE};
use paceline_types::{DataType, Value};
use std::sync::Arc;

/// Types of a program's variables, by number.
pub struct VariableTypes {
    variables: Vec<TypedVariable>,
}

struct TypedVariable {
    name: String,
    /// Database and table of a column, quoted.
    table: Option<String>,
    /// `None` for a variable that takes any value.
    data_type: Option<DataType>,
    /// Whether it is a column of NEW: messages name the row of the statement.
    is_column: bool,
}

impl VariableTypes {
    /// Resolves the declared types. Text without a character set has the character set of the current database.
    /// `table` is the table of a trigger.
    ///
    /// # Errors
    /// The errors of a column's type; 1146 and 1054 for `TYPE OF` a missing column.
    pub fn resolve(
        variables: &[Variable],
        table: Option<&TableDefinition>,
        catalog: &Catalog,
        session: &mut SessionContext,
    ) -> Result<VariableTypes> {
        let collation = session.settings.collation_database;
        let mut resolved = Vec::with_capacity(variables.len());
        for Variable { name, kind } in variables {
            let data_type = match kind {
                VariableKind::Typed(spec) => Some(resolve_type(name, spec, collation, session)?),
                VariableKind::TypeOf(column) => Some(column_type(column, catalog, session)?),
                VariableKind::TriggerColumn { .. } => {
                    table.and_then(|table| Some(table.columns()[table.column(name)?].data_type.clone()))
                }
                VariableKind::Bound => None,
            };
            let is_column = matches!(kind, VariableKind::TriggerColumn { .. });
            resolved.push(TypedVariable {
                name: name.clone(),
                table: table
                    .filter(|_| is_column)
                    .map(|table| format!("`{}`.`{}`", table.database(), table.name())),
                data_type,
                is_column,
            });
        }
        Ok(VariableTypes { variables: resolved })
    }

    /// Returns the types of the variables in expressions.
    pub fn of_expressions(&self) -> Arc<[ExprType]> {
        let types = self.variables.iter().map(|variable| match &variable.data_type {
            Some(data_type) => ExprType {
                nullable: true,
                coercibility: Coercibility::Implicit,
                ..ExprType::new(data_type.clone())
            },
            None => ExprType::parameter(),
        });
        types.collect()
    }

    /// Converts the arguments of a call, in the SQL mode of the caller. `row` is the number of
    /// the row in messages.
    ///
    /// # Errors
    /// Those of [`Self::convert`].
    pub fn convert_arguments(
        &self,
        arguments: &mut [Value],
        row: u64,
        mode: SqlMode,
        context: &mut SessionContext,
    ) -> Result<()> {
        let own = std::mem::replace(&mut context.settings.sql_mode, mode);
        let converted = arguments.iter_mut().enumerate().try_for_each(|(number, value)| {
            let given = std::mem::replace(value, Value::Null);
            *value = self.convert_in_row(row, number, given, context)?;
            Ok(())
        });
        context.settings.sql_mode = own;
        converted
    }

    /// Converts a value for a variable.
    ///
    /// # Errors
    /// In strict mode the errors of a column: 1264, 1292, 1366, 1406.
    pub fn convert(&self, variable: usize, value: Value, context: &mut SessionContext) -> Result<Value> {
        self.convert_in_row(0, variable, value, context)
    }

    /// Converts a value. `row` is the number of the row in messages.
    fn convert_in_row(
        &self,
        row: u64,
        variable: usize,
        value: Value,
        context: &mut SessionContext,
    ) -> Result<Value> {
        let variable = &self.variables[variable];
        let Some(data_type) = &variable.data_type else {
            return Ok(value);
        };
        let row = match variable.is_column {
            true => context.diagnostics.current_row(),
            false => row,
        };
        let target = Named {
            name: &variable.name,
            table: variable.table.as_deref(),
        };
        convert_to(value, data_type, target, row, context)
    }
}

/// Names the receiver of a value in messages.
#[derive(Clone, Copy)]
struct Named<'n> {
    name: &'n str,
    /// Database and table of a column, quoted. MariaDB shows variables as columns without a table.
    table: Option<&'n str>,
}

/// Converts a value to a type. `row` is the number of the row in messages.
fn convert_to(
    value: Value,
    data_type: &DataType,
    target: Named<'_>,
    row: u64,
    context: &mut SessionContext,
) -> Result<Value> {
    let is_strict = context.settings.sql_mode.is_strict();
    if !value.is_null() {
        let source = ExprType::of_value(&value, context.settings.collation_connection);
        let place = match target.table {
            Some(table) => format!("{table}.`{}`", target.name),
            None => format!("`{}`", target.name),
        };
        match refused_assignment(&source, data_type, &place) {
            Some(error) if is_strict => return Err(error),
            Some(error) => context.diagnostics.warn(error.code(), error.message()),
            None => {}
        }
    }
    let mut state = EvalState::new();
    let assigned = assign(
        value,
        data_type,
        &EvalContext::new(context, &mut state).convert_context(),
    );
    if let Some(problem) = assigned.problem {
        let name = target.name;
        let qualified = format!("{}.`{name}`", target.table.unwrap_or("``.``"));
        let warning = || problem.warning_message(&qualified, name, row);
        match problem.severity {
            Severity::Warning if is_strict => {
                let message = problem.message(&qualified, name, row);
                return Err(Error::with_message(problem.code, message));
            }
            Severity::Warning => context.diagnostics.warn(problem.warning_code, warning()),
            Severity::Note => context.diagnostics.note(problem.warning_code, warning()),
        }
    }
    Ok(assigned.value)
}

/// Converts the value of RETURN to the function's type. `call` is the call, for messages.
///
/// # Errors
/// In strict mode the errors of a column.
pub fn convert_returned(
    value: Value,
    data_type: &DataType,
    call: &str,
    session: &mut SessionContext,
) -> Result<Value> {
    let target = Named {
        name: call,
        table: None,
    };
    convert_to(value, data_type, target, 0, session)
}

fn column_type(
    column: &paceline_syntax::ColumnName,
    catalog: &Catalog,
    session: &SessionContext,
) -> Result<DataType> {
    let name = column.table.clone().unwrap_or_default();
    let database = column.database.clone().or_else(|| session.database.clone());
    let database = database.ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?;
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
