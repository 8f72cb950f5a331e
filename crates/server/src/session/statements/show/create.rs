//! SHOW CREATE TABLE, SHOW CREATE VIEW and SHOW CREATE DATABASE.

use super::names::{shown_database, shown_table};
use crate::accounts::PrivilegeSet;
use crate::session::protocol::Output;
use crate::session::state::SessionState;
use crate::sql_text::identifier;
use crate::virtual_tables::virtual_database;
use paceline_catalog::DatabaseDefinition;
use paceline_catalog::ddl::{
    IfNotExists, ViewValidity, read_sequence_row, show_create_database, show_create_sequence,
    show_create_table, show_create_view,
};
use paceline_expression::session::Privilege;
use paceline_syntax::{Error, Result, TableName};
use paceline_types::Value;
use paceline_types::error_code::*;

/// Returns SHOW CREATE TABLE.
///
/// # Errors
/// 1046, 1142 and 1146 for the name.
pub fn table(table: &TableName, state: &mut SessionState) -> Result<Output> {
    check_whole_table(table, state)?;
    let (database, name) = shown_table(table, state)?;
    let catalog = state.catalog();
    if catalog.view(&database, &name).is_some() {
        return view(table, state);
    }
    let statement = match catalog.table(&database, &name) {
        Some(definition) => {
            let snapshot = state.server.transactions.snapshot();
            let start = definition.description().auto_increment_start;
            let next = match definition.auto_increment_column() {
                Some(_) => definition
                    .auto_increment()
                    .next(start, || definition.auto_increment_highest(&snapshot))?,
                None => 0,
            };
            show_create_table(definition, state.context.settings.sql_mode, next)
        }
        None => virtual_create_table(&database, &name),
    };
    let mut output = Output::new();
    output
        .text("Table", 64)
        .text("Create Table", statement_length(&statement));
    output.row(vec![Value::Text(name), Value::Text(statement)]);
    Ok(output)
}

/// Returns the length of a statement's column, in characters, as MariaDB announces it: its text, at least 1,024.
fn statement_length(statement: &str) -> u32 {
    u32::try_from(statement.len()).map_or(65_535, |length| length.clamp(1024, 65_535))
}

/// Checks that the account has a privilege on a whole table: those on columns are not sufficient to see its definition.
fn check_whole_table(table: &TableName, state: &SessionState) -> Result<()> {
    let (database, name) = state.qualified(table)?;
    let is_virtual = virtual_database(&database).is_some();
    if is_virtual || state.temporary.catalog().table(&database, &name).is_some() {
        return Ok(());
    }
    let authority = state.services.authority(&state.context);
    let held = authority.privileges_in(&database);
    let held = held.union(authority.account().on_table(&database, &name).whole);
    if !held.intersection(PrivilegeSet::grantable_on_table()).is_empty() {
        return Ok(());
    }
    let (user, host) = (&state.context.current_user.user, &state.context.user.host);
    Err(Error::new(
        ER_TABLEACCESS_DENIED_ERROR,
        &[&"SHOW", user, host, &database, &name],
    ))
}

/// Returns SHOW CREATE VIEW. A warning reports an invalid view.
///
/// # Errors
/// 1142; 1146; 1347 for a table.
pub fn view(name: &TableName, state: &mut SessionState) -> Result<Output> {
    let (database, name) = shown_table(name, state)?;
    let catalog = state.catalog();
    // A temporary table does not hide a view from this statement.
    let Some(view) = catalog.ordinary_view(&database, &name) else {
        return Err(match catalog.ordinary_table(&database, &name) {
            Some(_) => Error::new(ER_WRONG_OBJECT, &[&database, &name, &"VIEW"]),
            None => Error::new(ER_NO_SUCH_TABLE, &[&database, &name]),
        });
    };
    state.services.authority(&state.context).check_any_column(
        &[Privilege::Select, Privilege::ShowView],
        &database,
        &name,
    )?;
    state.table_locks.check_view(&database, &name, &name)?;
    let is_hidden = state.temporary.catalog().table(&database, &name).is_some();
    let mut validity = ViewValidity::Valid;
    if !is_hidden && let Err(error) = state.plan_of_table(&database, &name) {
        state.context.diagnostics.warn(error.code(), error.message());
        validity = ViewValidity::Invalid;
    }
    let statement = show_create_view(view, &catalog, state.context.database.as_deref(), validity)?;
    let mut output = Output::new();
    output
        .text("View", 64)
        .text("Create View", statement_length(&statement))
        .text("character_set_client", 32)
        .text("collation_connection", 64);
    output.row(vec![
        Value::Text(name),
        Value::Text(statement),
        Value::Text(view.character_set_client.clone()),
        Value::Text(view.collation_connection.clone()),
    ]);
    Ok(output)
}

/// Returns SHOW CREATE SEQUENCE.
///
/// # Errors
/// 1046, 1142 and 1146 for the name; 4089 for a table or a view.
pub fn sequence(sequence: &TableName, state: &mut SessionState) -> Result<Output> {
    let (database, name) = shown_table(sequence, state)?;
    let catalog = state.catalog();
    let definition = catalog.sequence(&database, &name)?;
    let row = read_sequence_row(definition, &state.server.transactions.snapshot())?;
    let statement = show_create_sequence(definition, &row, state.context.settings.sql_mode);
    let mut output = Output::new();
    output.text("Table", 64).text("Create Table", 1024);
    output.row(vec![Value::Text(name), Value::Text(statement)]);
    Ok(output)
}

/// Returns SHOW CREATE DATABASE.
///
/// # Errors
/// 1044 and 1049 for the name.
pub fn database(name: &str, if_not_exists: IfNotExists, state: &SessionState) -> Result<Output> {
    let name = shown_database(Some(name), state)?;
    let catalog = state.server.catalog.load();
    let definition = match catalog.database(&name) {
        Some(database) => database.definition().clone(),
        None => DatabaseDefinition {
            name: name.clone(),
            collation: paceline_types::Collation::Utf8mb3GeneralCi,
            comment: String::new(),
        },
    };
    let statement = show_create_database(&definition, if_not_exists, state.context.settings.sql_mode);
    let mut output = Output::new();
    output.text("Database", 64).text("Create Database", 1024);
    output.row(vec![Value::Text(name), Value::Text(statement)]);
    Ok(output)
}

/// Returns the error of SHOW CREATE for kinds of objects that do not exist here.
pub fn no_such_object(kind: &str, name: &TableName) -> Error {
    Error::new(ER_SP_DOES_NOT_EXIST, &[&kind, &name.name])
}

/// Returns SHOW CREATE TABLE of a virtual table.
fn virtual_create_table(database: &str, name: &str) -> String {
    let columns = crate::virtual_tables::virtual_columns(database, name).unwrap_or_default();
    let lines: Vec<String> = columns
        .iter()
        .map(|column| {
            let null = if column.ty.nullable { "" } else { " NOT NULL" };
            format!("  {} {}{null}", identifier(&column.name), column.ty.data_type)
        })
        .collect();
    // `mariadb-dump` ignores the temporary tables of information_schema. It creates the others again if they are
    // missing, so their engine must accept LONGTEXT.
    let (kind, engine) = match database.eq_ignore_ascii_case("information_schema") {
        true => ("TEMPORARY TABLE", "MEMORY"),
        false => ("TABLE", "InnoDB"),
    };
    format!(
        "CREATE {kind} {} (\n{}\n) ENGINE={engine} DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci",
        identifier(name),
        lines.join(",\n")
    )
}
