//! Session state that a stored program replaces while it runs.
//!
//! A program runs with the SQL mode, character sets and database of its creation, and with the account of its definer
//! or of its caller. Everything is restored when it ends, however it ends.

use paceline_catalog::ProgramSettings;
use paceline_expression::session::{Account, ProgramVariables, SessionContext, SqlMode};
use paceline_types::StatementError;
use paceline_types::{Charset, Collation};
use std::sync::Arc;

use crate::error::Result;

/// Settings of the caller, while a program runs.
#[must_use = "the caller gets its settings back with leave_routine"]
pub struct CallerSettings {
    sql_mode: SqlMode,
    character_set_client: Charset,
    collation_connection: Collation,
    collation_database: Collation,
    /// The current database, if the program has another one.
    database: Option<Option<String>>,
    /// Account and role, if others are used meanwhile.
    current_user: Option<(Account, Option<String>)>,
    program_variables: Arc<ProgramVariables>,
    handled_condition: Option<Box<StatementError>>,
}

impl CallerSettings {
    /// Returns the caller's SQL mode, which applies to the conversion of arguments.
    pub fn sql_mode(&self) -> SqlMode {
        self.sql_mode
    }
}

/// Gives the session the settings of a stored program. `definer` is the account that it runs with, if it is not its
/// caller's.
///
/// # Errors
/// 1449 for a definer that does not exist.
pub fn enter_routine(
    program: &ProgramSettings,
    database: &str,
    definer: Option<&(String, String)>,
    session: &mut SessionContext,
) -> Result<CallerSettings> {
    let current = &session.current_user;
    let definer = definer.filter(|(user, host)| (user, host) != (&current.user, &current.host));
    let mut current_user = None;
    if let Some((user, host)) = definer {
        session.services.privileges.begin_definer(user, host)?;
        // A role has no host; its program has no user.
        let (account, role) = match host.is_empty() {
            true => (Account::default(), Some(user.clone())),
            false => {
                let (user, host) = (user.clone(), host.clone());
                (Account { user, host }, None)
            }
        };
        current_user = Some((
            std::mem::replace(&mut session.current_user, account),
            std::mem::replace(&mut session.current_role, role),
        ));
    }
    let settings = &mut session.settings;
    let saved = CallerSettings {
        sql_mode: settings.sql_mode,
        character_set_client: settings.character_set_client,
        collation_connection: settings.collation_connection,
        collation_database: settings.collation_database,
        database: (session.database.as_deref() != Some(database))
            .then(|| session.database.replace(database.to_owned())),
        current_user,
        program_variables: session.program_variables.clone(),
        handled_condition: session.handled_condition.take(),
    };
    settings.sql_mode = program.sql_mode;
    settings.character_set_client = program
        .character_set_client
        .unwrap_or(settings.character_set_client);
    settings.collation_connection = program
        .collation_connection
        .unwrap_or(settings.collation_connection);
    settings.collation_database = program.collation_database.unwrap_or(settings.collation_database);
    Ok(saved)
}

/// Gives the session its caller's settings again.
pub fn leave_routine(saved: CallerSettings, session: &mut SessionContext) {
    let settings = &mut session.settings;
    settings.sql_mode = saved.sql_mode;
    settings.character_set_client = saved.character_set_client;
    settings.collation_connection = saved.collation_connection;
    settings.collation_database = saved.collation_database;
    if let Some(database) = saved.database {
        session.database = database;
    }
    session.program_variables = saved.program_variables;
    session.handled_condition = saved.handled_condition;
    if let Some((account, role)) = saved.current_user {
        session.current_user = account;
        session.current_role = role;
        session.services.privileges.end_definer();
    }
}
