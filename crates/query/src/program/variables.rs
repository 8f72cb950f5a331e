//! Types of a program's variables, and the conversion of values that are assigned to them.

use crate::plan::ResultColumn;
use paceline_catalog::ddl::resolve_type;
use paceline_catalog::{Catalog, ColumnDefinition, TableDefinition};
use paceline_expression::session::{MissingField, ProgramVariables, SessionContext, SqlMode};
use paceline_expression::{Coercibility, EvalContext, EvalState, ExprType, refused_assignment, truth};
use paceline_program::RowValue;
use paceline_syntax::ast::Expr;
use paceline_syntax::{ColumnName, Error, Result, VARIABLES_MAX, Variable, VariableKind};
use paceline_types::convert::{Severity, assign};
use paceline_types::data_type::Sign;
use paceline_types::error_code::*;
use paceline_types::{Charset, DataType, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Types of a program's variables, by number.
pub struct VariableTypes {
    /// Those of the program; after them fields of rows that the program does not name.
    variables: Vec<TypedVariable>,
    /// Number of the program's own.
    declared: usize,
    /// Fields that the program does not name and that no row has any more: the next row takes them.
    spare: Vec<usize>,
    /// Tables whose columns' types they have.
    tables: Vec<Arc<TableDefinition>>,
}

#[derive(Clone)]
struct TypedVariable {
    name: String,
    /// Database and table of a column, quoted.
    table: Option<String>,
    /// `None` for a variable that takes any value, and for a row.
    data_type: Option<DataType>,
    role: Role,
}

/// Kind of a variable.
#[derive(Clone, PartialEq)]
enum Role {
    Plain,
    /// A column of NEW or OLD: messages name the row of the statement.
    Column,
    /// The variable of a FOR loop: it cannot be NULL.
    Counter,
    /// A row, with the variables of its fields.
    Row(Vec<usize>),
    /// A field of a row that does not have it, or whose fields are not known yet.
    Missing {
        row: usize,
    },
}

/// Origin of the value of a row's field.
pub(super) enum FieldSource<'v> {
    /// NULL.
    Null,
    /// The value of another variable.
    Variable(usize),
    /// The value of an expression.
    Expr(&'v Expr),
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
        let mut tables = Vec::new();
        for Variable { name, kind } in variables {
            let mut name = name.clone();
            let data_type = match kind {
                VariableKind::Typed(spec) => Some(resolve_type(&name, spec, collation, session)?),
                VariableKind::TypeOf(column) => {
                    // Messages name the column.
                    name.clone_from(&column.name);
                    Some(column_type(column, catalog, session, &mut tables)?)
                }
                VariableKind::TriggerColumn { .. } => {
                    table.and_then(|table| Some(table.columns()[table.column(&name)?].data_type.clone()))
                }
                VariableKind::Counter => Some(ExprType::bigint(20).data_type),
                VariableKind::Operand
                | VariableKind::Row { .. }
                | VariableKind::RowOf { .. }
                | VariableKind::RowField { .. } => None,
            };
            let role = match kind {
                VariableKind::TriggerColumn { .. } => Role::Column,
                VariableKind::Counter => Role::Counter,
                VariableKind::Row { fields } => Role::Row(fields.clone().collect()),
                VariableKind::RowOf { .. } => Role::Row(Vec::new()),
                VariableKind::RowField { row } => Role::Missing { row: *row },
                VariableKind::Typed(_) | VariableKind::TypeOf(_) | VariableKind::Operand => Role::Plain,
            };
            resolved.push(TypedVariable {
                name,
                table: table
                    .filter(|_| role == Role::Column)
                    .map(|table| format!("`{}`.`{}`", table.database(), table.name())),
                data_type,
                role,
            });
        }
        Ok(VariableTypes {
            declared: resolved.len(),
            spare: Vec::new(),
            variables: resolved,
            tables,
        })
    }

    /// Gives a row variable the columns of a query as its fields. Returns whether they are others than before.
    ///
    /// # Errors
    /// 1060 for two columns of the same name; 1117 beyond [`VARIABLES_MAX`].
    pub(super) fn define_row(&mut self, row: usize, columns: &[ResultColumn]) -> Result<bool> {
        if let Role::Row(fields) = &self.variables[row].role
            && fields.len() == columns.len()
            && (fields.iter().zip(columns)).all(|(field, column)| {
                let field = &self.variables[*field];
                *field.name == *column.name && field.data_type.as_ref() == Some(&column.data_type)
            })
        {
            return Ok(false);
        }
        // An error leaves the row as it is.
        let mut names = HashSet::with_capacity(columns.len());
        for column in columns {
            if !names.insert(column.name.to_lowercase()) {
                return Err(Error::new(ER_DUP_FIELDNAME, &[&column.name]));
            }
        }
        let is_missing = |variable: &&TypedVariable| variable.role == Role::Missing { row };
        let missing = self.variables[..self.declared].iter().filter(is_missing).count();
        let reusable = missing + self.spare.len() + self.row(row).map_or(0, <[usize]>::len);
        if self.variables.len() + columns.len().saturating_sub(reusable) > VARIABLES_MAX {
            return Err(Error::new(ER_TOO_MANY_FIELDS, &[]));
        }
        self.undefine_row(row);
        let declared = self.variables[..self.declared].iter().enumerate();
        let named: HashMap<String, usize> = declared
            .filter(|(_, variable)| variable.role == Role::Missing { row })
            .map(|(number, variable)| (variable.name.to_lowercase(), number))
            .collect();
        let mut fields = Vec::with_capacity(columns.len());
        for column in columns {
            let named = named.get(&column.name.to_lowercase()).copied();
            let field = TypedVariable {
                name: column.name.to_string(),
                table: None,
                data_type: Some(column.data_type.clone()),
                role: Role::Plain,
            };
            fields.push(match named.or_else(|| self.spare.pop()) {
                Some(variable) => {
                    self.variables[variable] = field;
                    variable
                }
                None => {
                    self.variables.push(field);
                    self.variables.len() - 1
                }
            });
        }
        self.variables[row].role = Role::Row(fields);
        Ok(true)
    }

    /// Takes a row's fields from it. Returns whether it had any.
    pub(super) fn undefine_row(&mut self, row: usize) -> bool {
        let Role::Row(fields) = &mut self.variables[row].role else {
            return false;
        };
        let fields = std::mem::take(fields);
        let had_fields = !fields.is_empty();
        for field in fields {
            if field < self.declared {
                self.variables[field].role = Role::Missing { row };
                self.variables[field].data_type = None;
            } else {
                self.spare.push(field);
            }
        }
        had_fields
    }

    /// Returns the variables of a row's fields; `None` for any other variable.
    pub fn row(&self, variable: usize) -> Option<&[usize]> {
        match &self.variables[variable].role {
            Role::Row(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the fields of a row that is assigned, with the origins of their values.
    ///
    /// # Errors
    /// 1241 for a value with another number of fields.
    pub(super) fn row_assignment<'v>(
        &self,
        row: usize,
        value: &'v RowValue,
    ) -> Result<Vec<(usize, FieldSource<'v>)>> {
        let fields = self.row(row).unwrap_or_default();
        let sources: Vec<FieldSource<'v>> = match value {
            RowValue::Null => fields.iter().map(|_| FieldSource::Null).collect(),
            RowValue::Fields(values) => values.iter().map(FieldSource::Expr).collect(),
            RowValue::Variable(other) => {
                let others = self.row(*other).unwrap_or_default().iter();
                others.map(|other| FieldSource::Variable(*other)).collect()
            }
            RowValue::Scalar => return Err(columns_error(fields.len())),
        };
        match sources.len() == fields.len() {
            true => Ok(fields.iter().copied().zip(sources).collect()),
            false => Err(columns_error(fields.len())),
        }
    }

    /// Returns the variables that receive a row: `into`, or the fields of the only one.
    pub(crate) fn receivers<'i>(&'i self, into: &'i [usize]) -> &'i [usize] {
        match into {
            [row] => self.row(*row).unwrap_or(into),
            _ => into,
        }
    }

    /// Returns the tables whose columns' types variables have.
    pub(super) fn tables(&self) -> &[Arc<TableDefinition>] {
        &self.tables
    }

    /// Returns the variables as expressions see them.
    pub fn of_expressions(&self) -> Arc<ProgramVariables> {
        let types = self.variables.iter().map(|variable| match &variable.data_type {
            Some(data_type) => ExprType {
                nullable: true,
                coercibility: Coercibility::Implicit,
                ..ExprType::new(data_type.clone())
            },
            None => ExprType::parameter(),
        });
        let mut rows = Vec::new();
        let mut missing = Vec::new();
        for (number, variable) in self.variables.iter().enumerate() {
            match &variable.role {
                Role::Row(fields) => rows.push((number, fields.clone())),
                Role::Missing { row } => missing.push(MissingField {
                    variable: number,
                    row: self.variables[*row].name.clone(),
                    field: variable.name.clone(),
                }),
                Role::Plain | Role::Column | Role::Counter => {}
            }
        }
        Arc::new(ProgramVariables::new(types.collect(), rows, missing))
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
        let row = match &variable.role {
            Role::Plain => row,
            Role::Column => context.diagnostics.current_row(),
            Role::Counter if value.is_null() => {
                return Err(Error::new(ER_BAD_NULL_ERROR, &[&variable.name]));
            }
            Role::Counter => row,
            Role::Row(fields) => return Err(columns_error(fields.len())),
            Role::Missing { row } => {
                let row = &self.variables[*row].name;
                let code = ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD;
                return Err(Error::new(code, &[row, &variable.name]));
            }
        };
        let Some(data_type) = &variable.data_type else {
            return Ok(value);
        };
        let target = Named {
            name: &variable.name,
            table: variable.table.as_deref(),
        };
        convert_to(value, data_type, target, row, context)
    }
}

impl VariableTypes {
    /// Returns the error of an assignment. A row that is assigned to a column of NEW is a type that cannot be cast
    /// (4078); to a variable, an operand with too many columns.
    pub fn refused_row(&self, variable: usize, value: &Expr, error: Error) -> Error {
        let variable = &self.variables[variable];
        let is_row = matches!(value.without_parentheses(), Expr::Row(_) | Expr::Subquery(_));
        let (Role::Column, Some(data_type), Some(table), true, ER_OPERAND_COLUMNS) = (
            &variable.role,
            &variable.data_type,
            &variable.table,
            is_row,
            error.code(),
        ) else {
            return error;
        };
        let target = ExprType::new(data_type.clone());
        Error::with_message(
            ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION,
            format!(
                "Cannot cast 'row' as '{}' in assignment of {table}.`{}`",
                target.type_name(),
                variable.name
            ),
        )
    }
}

/// Returns the error of a value with another number of columns than it should have.
fn columns_error(columns: usize) -> Error {
    Error::new(ER_OPERAND_COLUMNS, &[&columns])
}

/// Names the receiver of a value in messages.
#[derive(Clone, Copy)]
struct Named<'n> {
    name: &'n str,
    /// Database and table of a column, quoted. MariaDB shows variables as columns without a table.
    table: Option<&'n str>,
}

/// Returns whether a value is certainly one of a type, so that a conversion would change nothing.
fn is_stored_unchanged(value: &Value, data_type: &DataType) -> bool {
    match (value, data_type) {
        (Value::Null, _) => true,
        (Value::Int(number), DataType::Integer(integer)) => {
            let (lowest, highest) = integer.width.signed_range();
            integer.sign == Sign::Signed && (lowest..=highest).contains(number)
        }
        // A text has at most as many characters as bytes.
        (Value::Text(text), DataType::VarChar { length, collation }) => {
            text.len() <= *length as usize && collation.charset() == Charset::Utf8mb4
        }
        _ => false,
    }
}

/// Converts a value to a type. `row` is the number of the row in messages.
fn convert_to(
    value: Value,
    data_type: &DataType,
    target: Named<'_>,
    row: u64,
    context: &mut SessionContext,
) -> Result<Value> {
    if is_stored_unchanged(&value, data_type) {
        return Ok(value);
    }
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

/// Checks that the session may read the columns whose types variables have. A program that is kept for its next run is
/// checked again: the caller may be another one.
///
/// # Errors
/// 1142, 1143; 1046 without a database.
pub(super) fn check_column_types(
    variables: &[Variable],
    catalog: &Catalog,
    session: &SessionContext,
) -> Result<()> {
    for variable in variables {
        let VariableKind::TypeOf(column) = &variable.kind else {
            continue;
        };
        let (database, table) = table_of(column, session)?;
        let definition = catalog.table(database, table);
        if definition.is_some_and(|definition| definition.is_temporary()) {
            continue;
        }
        let known = definition.and_then(|definition| find_column(definition, &column.name));
        let known = known.map(|column| column.name.as_str());
        (session.services.privileges).check_column(session, database, table, known)?;
    }
    Ok(())
}

/// Returns the database and the table of a column.
///
/// # Errors
/// 1046 without a database.
fn table_of<'a>(column: &'a ColumnName, session: &'a SessionContext) -> Result<(&'a str, &'a str)> {
    let database = column.database.as_ref().or(session.database.as_ref());
    let database = database.ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?;
    Ok((database, column.table.as_deref().unwrap_or_default()))
}

fn find_column<'t>(table: &'t TableDefinition, name: &str) -> Option<&'t ColumnDefinition> {
    table.column(name).map(|index| &table.columns()[index])
}

fn column_type(
    column: &ColumnName,
    catalog: &Catalog,
    session: &SessionContext,
    tables: &mut Vec<Arc<TableDefinition>>,
) -> Result<DataType> {
    let (database, table) = table_of(column, session)?;
    let definition = catalog
        .table(database, table)
        .ok_or_else(|| Error::new(ER_NO_SUCH_TABLE, &[&database, &table]))?;
    match find_column(definition, &column.name) {
        Some(known) => {
            tables.push(definition.clone());
            Ok(known.data_type.clone())
        }
        None => Err(Error::new(ER_BAD_FIELD_ERROR, &[&column.name, &table])),
    }
}

/// Returns whether a condition holds: it is neither NULL nor zero.
///
/// # Errors
/// The errors of the conversion to a number.
pub fn is_true(value: &Value, context: &mut SessionContext) -> Result<bool> {
    match value {
        Value::Null => return Ok(false),
        Value::Int(number) => return Ok(*number != 0),
        _ => {}
    }
    let mut state = EvalState::new();
    Ok(truth(value, &mut EvalContext::new(context, &mut state))? == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_types::Collation;

    fn columns(columns: &[(&str, ExprType)]) -> Vec<ResultColumn> {
        let of = |(name, ty): &(&str, ExprType)| ResultColumn::of_expression(*name, ty);
        columns.iter().map(of).collect()
    }

    /// A row without fields, and its field `a`, which the program names.
    fn row_with_a() -> VariableTypes {
        let variable = |name: &str, role| TypedVariable {
            name: name.to_owned(),
            table: None,
            data_type: None,
            role,
        };
        VariableTypes {
            variables: vec![
                variable("r", Role::Row(Vec::new())),
                variable("a", Role::Missing { row: 0 }),
            ],
            declared: 2,
            spare: Vec::new(),
            tables: Vec::new(),
        }
    }

    #[test]
    fn a_row_keeps_its_fields_if_a_definition_fails() {
        let mut types = row_with_a();
        let number = ExprType::bigint(20);
        let twice = columns(&[("a", number.clone()), ("A", number.clone())]);
        assert!(types.define_row(0, &twice).is_err());
        assert_eq!(types.row(0), Some(&[][..]));
        let once = columns(&[("x", number.clone()), ("A", number)]);
        assert!(types.define_row(0, &once).unwrap());
        assert_eq!(types.row(0), Some(&[2, 1][..]));
        assert!(types.define_row(0, &twice).is_err());
        assert_eq!(types.row(0), Some(&[2, 1][..]));
        assert!(!types.define_row(0, &once).unwrap());
    }

    #[test]
    fn fields_without_a_row_are_used_again() {
        let mut types = row_with_a();
        let text = ExprType::text(10, Collation::Binary);
        for _ in 0..10 {
            let numbers = columns(&[("x", ExprType::bigint(20)), ("y", ExprType::bigint(20))]);
            assert!(types.define_row(0, &numbers).unwrap());
            let texts = columns(&[("x", text.clone()), ("a", text.clone()), ("y", text.clone())]);
            assert!(types.define_row(0, &texts).unwrap());
            assert!(types.row(0).unwrap().contains(&1));
            assert!(types.define_row(0, &columns(&[("x", text.clone())])).unwrap());
        }
        assert_eq!(types.variables.len(), 4);
    }
}
