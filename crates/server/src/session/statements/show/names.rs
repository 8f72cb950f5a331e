//! Databases and tables that a SHOW names.

use crate::session::state::SessionState;
use crate::virtual_tables::{virtual_columns, virtual_database};
use paceline_catalog::no_such_table;
use paceline_expression::session::Privilege;
use paceline_syntax::{Error, Result, TableName};
use paceline_types::error_code::*;

/// Returns the database of a SHOW: the named one, or the current one.
///
/// # Errors
/// 1046 if there is no database; 1044 if the account may not see it; 1049 if it does not exist.
pub fn shown_database(named: Option<&str>, state: &SessionState) -> Result<String> {
    let database = match (named, &state.context.database) {
        (Some(name), _) => name.to_owned(),
        (None, Some(current)) => current.clone(),
        (None, None) => return Err(Error::new(ER_NO_DB_ERROR, &[])),
    };
    if let Some(name) = virtual_database(&database) {
        return Ok(name.to_owned());
    }
    state
        .services
        .authority(&state.context)
        .check_visible(&database)?;
    match state.find_database(&database) {
        Some(_) => Ok(database),
        None => Err(Error::new(ER_BAD_DB_ERROR, &[&database])),
    }
}

/// Checks that a table exists and is visible to the account. Returns its database and name.
///
/// # Errors
/// 1046, 1142, 1146 and, in `information_schema`, 1109.
pub fn shown_table(table: &TableName, state: &SessionState) -> Result<(String, String)> {
    let (database, name) = state.qualified(table)?;
    if let Some(virtual_name) = virtual_database(&database)
        && virtual_columns(virtual_name, &name).is_some()
    {
        let shown = if virtual_name == "information_schema" {
            name.to_uppercase()
        } else {
            name
        };
        return Ok((virtual_name.to_owned(), shown));
    }
    if state.temporary.catalog().table(&database, &name).is_some() {
        return Ok((database, name));
    }
    let authority = state.services.authority(&state.context);
    if !authority.can_see_table(&database, &name) {
        authority.check_table(&[Privilege::Select], &database, &name)?;
    }
    let on_demand = virtual_columns(&database, &name).is_some();
    match state.server.catalog.load().table(&database, &name) {
        Some(_) => Ok((database, name)),
        None if state.catalog().view(&database, &name).is_some() => Ok((database, name)),
        None if on_demand => Ok((database, name)),
        None => Err(no_such_table(&database, &name)),
    }
}
