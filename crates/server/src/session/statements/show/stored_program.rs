//! SHOW CREATE PROCEDURE, SHOW CREATE FUNCTION, SHOW CREATE TRIGGER and SHOW CREATE EVENT.

use crate::accounts::checks::{check_events, may_see_triggers, routine_access};
use crate::information_schema::RoutineAccess;
use crate::information_schema::trigger_time;
use crate::names::qualified;
use crate::session::protocol::Output;
use crate::session::state::SessionState;
use paceline_catalog::ddl::{show_create_event, show_create_routine, show_create_trigger};
use paceline_catalog::{ProgramEnvironment, RoutineDescription};
use paceline_expression::ExprType;
use paceline_syntax::{Error, Result, RoutineType, TableName};
use paceline_types::error_code::*;
use paceline_types::{DataType, Value};

/// Minimum length of a column that contains a statement, in characters.
const STATEMENT_LENGTH_MIN: usize = 1024;

/// Columns of a stored program's SHOW CREATE that differ between its kinds.
struct Form {
    /// Name of the first column, which has the program's name, and its length in characters.
    name: (&'static str, u32),
    /// Name of the column with the statement.
    statement: &'static str,
    /// Length of the column with the database's collation, in characters.
    collation_length: u32,
}

/// Returns a row of SHOW CREATE, with its columns.
fn shown(
    form: &Form,
    name: &str,
    statement: Option<String>,
    environment: &ProgramEnvironment,
) -> (Output, Vec<Value>) {
    let mode = environment.sql_mode().to_string();
    let length = statement.as_deref().map_or(0, |text| text.chars().count());
    let mut output = Output::new();
    output
        .text(form.name.0, form.name.1)
        .text("sql_mode", mode.len() as u32)
        .text(form.statement, length.max(STATEMENT_LENGTH_MIN) as u32)
        .text("character_set_client", 32)
        .text("collation_connection", 64)
        .text("Database Collation", form.collation_length);
    let row = vec![
        Value::Text(name.to_owned()),
        Value::Text(mode),
        statement.map_or(Value::Null, Value::Text),
        Value::Text(environment.character_set_client.clone()),
        Value::Text(environment.collation_connection.clone()),
        Value::Text(environment.collation_database.clone()),
    ];
    (output, row)
}

/// Returns SHOW CREATE PROCEDURE or SHOW CREATE FUNCTION: NULL instead of the statement for an account that may not see
/// the body.
///
/// # Errors
/// 1305 if it does not exist or the account may not see it; 1046.
pub fn routine(kind: RoutineType, name: &TableName, state: &SessionState) -> Result<Output> {
    let (database, name) = qualified(name, state.context.database.as_deref())?;
    let catalog = state.catalog();
    let authority = state.services.authority(&state.context);
    let found = catalog
        .routine(kind, &database, &name)
        .map(|routine| (routine, routine_access(authority, routine)));
    let (routine, access) = match found {
        None | Some((_, RoutineAccess::Hidden)) => {
            return Err(Error::new(ER_SP_DOES_NOT_EXIST, &[&kind.name(), &name]));
        }
        Some(found) => found,
    };
    let form = match kind {
        RoutineType::Procedure => Form {
            name: ("Procedure", 64),
            statement: "Create Procedure",
            collation_length: 32,
        },
        RoutineType::Function => Form {
            name: ("Function", 64),
            statement: "Create Function",
            collation_length: 32,
        },
    };
    // As in MariaDB, the name is shown as it was asked for.
    let description = RoutineDescription {
        name,
        ..routine.description().clone()
    };
    let statement = (access == RoutineAccess::Whole).then(|| show_create_routine(&description));
    let (mut output, row) = shown(&form, &description.name, statement, &description.environment);
    output.row(row);
    Ok(output)
}

/// Returns SHOW CREATE TRIGGER.
///
/// # Errors
/// 1360 if it does not exist; 1227 without the privilege TRIGGER on its table; 1046.
pub fn trigger(name: &TableName, state: &SessionState) -> Result<Output> {
    let (database, name) = qualified(name, state.context.database.as_deref())?;
    let catalog = state.catalog();
    let Some(trigger) = catalog.trigger(&database, &name) else {
        return Err(Error::new(ER_TRG_DOES_NOT_EXIST, &[]));
    };
    if !may_see_triggers(
        state.services.authority(&state.context),
        &database,
        &trigger.table,
    ) {
        return Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&"TRIGGER"]));
    }
    let form = Form {
        name: ("Trigger", 192),
        statement: "SQL Original Statement",
        collation_length: 64,
    };
    let statement = Some(show_create_trigger(trigger));
    let (mut output, mut row) = shown(&form, &trigger.name, statement, &trigger.environment);
    output.column(
        "Created",
        ExprType {
            nullable: true,
            ..ExprType::new(DataType::DateTime { decimals: 2 })
        },
    );
    row.push(trigger_time(trigger, &state.context.settings.time_zone));
    output.row(row);
    Ok(output)
}

/// Returns the database of SHOW EVENTS, which need not exist.
///
/// # Errors
/// 1046; 1044 without the privilege EVENT on it.
pub fn database_of_events(named: Option<&str>, state: &SessionState) -> Result<String> {
    let current = state.context.database.as_deref();
    let database = named.or(current).ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?;
    check_events(state.services.authority(&state.context), database)?;
    Ok(database.to_owned())
}

/// Returns SHOW CREATE EVENT.
///
/// # Errors
/// 1539 if it does not exist; 1044 without the privilege EVENT on its database; 1046.
pub fn event(name: &TableName, state: &SessionState) -> Result<Output> {
    let (database, name) = qualified(name, state.context.database.as_deref())?;
    check_events(state.services.authority(&state.context), &database)?;
    let catalog = state.catalog();
    let Some(event) = catalog.event(&database, &name) else {
        return Err(Error::new(ER_EVENT_DOES_NOT_EXIST, &[&name]));
    };
    let mode = event.environment.sql_mode().to_string();
    let statement = show_create_event(event);
    let mut output = Output::new();
    output
        .text("Event", 64)
        .text("sql_mode", mode.len() as u32)
        .text("time_zone", event.time_zone.len() as u32)
        .text(
            "Create Event",
            statement.chars().count().max(STATEMENT_LENGTH_MIN) as u32,
        )
        .text("character_set_client", 32)
        .text("collation_connection", 64)
        .text("Database Collation", 64);
    let environment = &event.environment;
    output.row(vec![
        Value::Text(event.name.clone()),
        Value::Text(mode),
        Value::Text(event.time_zone.clone()),
        Value::Text(statement),
        Value::Text(environment.character_set_client.clone()),
        Value::Text(environment.collation_connection.clone()),
        Value::Text(environment.collation_database.clone()),
    ]);
    Ok(output)
}
