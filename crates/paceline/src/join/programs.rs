//! Routines, triggers and events of the primary, which are created here too.
//!
//! ```text
//!   before the rows   databases ▸ tables ▸ routines ▸ views ▸ triggers ▸ events: what our server refuses ends the join
//!                     triggers are dropped again: they would be fired by the rows
//!   after the rows    triggers
//! ```
//! Each is created with the settings with which it was created on the primary. Events are disabled, as MariaDB's
//! replicas do: their effects are replicated.

use super::arguments::Kind;
use super::error::{Error, Result, is_error, read_error_text};
use super::schema::quoted;
use super::target::Session;
use crate::connection::{Connection, Row, quoted as literal};
use paceline_types::error_code::{
    ER_DBACCESS_DENIED_ERROR, ER_SP_DOES_NOT_EXIST, ER_TABLEACCESS_DENIED_ERROR,
};

/// Saves the session's settings, which every program replaces.
const SAVE: &str = "SET @mode = @@sql_mode, @collation = @@collation_connection, @zone = @@time_zone";
const RESTORE: &str = "SET sql_mode = @mode, collation_connection = @collation, time_zone = @zone";

/// A stored program of the primary.
#[derive(Clone)]
pub struct StoredProgram {
    pub kind: Kind,
    /// TRIGGER, PROCEDURE, FUNCTION or EVENT.
    noun: String,
    pub database: String,
    name: String,
    /// Table of a trigger.
    pub table: Option<String>,
    /// Statement that creates it.
    pub create: String,
    sql_mode: String,
    collation_connection: String,
    /// Time zone of an event.
    time_zone: Option<String>,
}

impl StoredProgram {
    /// Returns a program by its place in the primary's catalog. [`StoredProgram::read`] completes it.
    fn listed(kind: Kind, row: Row) -> Self {
        let mut next = row.into_iter().map(Option::unwrap_or_default);
        let mut text = || next.next().unwrap_or_default();
        let (noun, database, name, table) = (text(), text(), text(), text());
        StoredProgram {
            kind,
            noun,
            database,
            name,
            table: (kind == Kind::Triggers).then_some(table),
            create: String::new(),
            sql_mode: String::new(),
            collation_connection: String::new(),
            time_zone: None,
        }
    }

    /// Returns the program for users.
    pub fn line(&self) -> String {
        format!("{} {}.{}", self.noun.to_lowercase(), self.database, self.name)
    }

    /// Lists all programs outside of the databases in `system`: routines, triggers in the order in which they are
    /// fired, events.
    pub async fn list(session: &mut Connection, system: &str) -> Result<Vec<StoredProgram>> {
        let questions = [
            (
                Kind::Routines,
                format!(
                    "SELECT UPPER(type), db, name FROM mysql.proc WHERE db NOT IN {system} ORDER BY 2, 3"
                ),
            ),
            (
                Kind::Triggers,
                format!(
                    "SELECT 'TRIGGER', trigger_schema, trigger_name, event_object_table FROM information_schema.triggers \
                     WHERE trigger_schema NOT IN {system} \
                     ORDER BY 2, event_object_table, action_timing, event_manipulation, action_order"
                ),
            ),
            (
                Kind::Events,
                format!("SELECT 'EVENT', db, name FROM mysql.event WHERE db NOT IN {system} ORDER BY 2, 3"),
            ),
        ];
        let mut programs = vec![];
        for (kind, question) in questions {
            let rows = session.rows(&question).await?;
            programs.extend(rows.into_iter().map(|row| StoredProgram::listed(kind, row)));
        }
        Ok(programs)
    }

    /// Reads the statement that creates the program, and its settings. Returns what prevents it, for users.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn read(&mut self, session: &mut Connection) -> Result<std::result::Result<(), String>> {
        let question = format!(
            "SHOW CREATE {} {}.{}",
            self.noun,
            quoted(&self.database),
            quoted(&self.name)
        );
        let denied = [
            ER_DBACCESS_DENIED_ERROR,
            ER_TABLEACCESS_DENIED_ERROR,
            ER_SP_DOES_NOT_EXIST,
        ];
        let rows = match session.client.rows(&question).await {
            Ok(rows) => rows,
            Err(error) if denied.iter().any(|code| is_error(&error, *code)) => {
                return Ok(Err(self.unreadable()));
            }
            Err(error) => {
                return Err(Error::Table {
                    table: self.line(),
                    problem: read_error_text(&error),
                });
            }
        };
        let mut fields = rows.into_iter().flatten().skip(1);
        let mut text = || fields.next().flatten();
        self.sql_mode = text().unwrap_or_default();
        if self.kind == Kind::Events {
            self.time_zone = text();
        }
        let create = text();
        let _character_set_client = text();
        self.collation_connection = text().unwrap_or_default();
        Ok(match create {
            Some(create) if !create.is_empty() => {
                self.create = create;
                Ok(())
            }
            _ => Err(self.unreadable()),
        })
    }

    fn unreadable(&self) -> String {
        format!("{}: the user lacks the privilege to read it", self.line())
    }

    /// Creates the program. Returns the server's error.
    pub async fn create(&self, session: &mut Session) -> std::result::Result<(), String> {
        let mut settings = format!(
            "SET sql_mode = {}, collation_connection = {}",
            literal(&self.sql_mode),
            literal(&self.collation_connection)
        );
        if let Some(zone) = &self.time_zone {
            settings.push_str(&format!(", time_zone = {}", literal(zone)));
        }
        let mut statements = vec![
            SAVE.to_owned(),
            settings,
            format!("USE {}", quoted(&self.database)),
            self.create.clone(),
        ];
        if self.kind == Kind::Events {
            statements.push(format!("ALTER EVENT {} DISABLE ON SLAVE", quoted(&self.name)));
        }
        let mut done = Ok(());
        for statement in &statements {
            if let Err(error) = session.0.query(statement).await {
                done = Err(error.to_string());
                break;
            }
        }
        let restored = session.0.query(RESTORE).await;
        done.and(restored.map(drop).map_err(|error| error.to_string()))
    }

    /// Drops a trigger.
    pub async fn drop_trigger(&self, session: &mut Session) -> Result<()> {
        session
            .execute(&format!(
                "DROP TRIGGER {}.{}",
                quoted(&self.database),
                quoted(&self.name)
            ))
            .await
    }
}
