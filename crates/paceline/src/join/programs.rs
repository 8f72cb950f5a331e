//! Routines, triggers and events of the primary, which are created here too.
//!
//! ```text
//!   before the rows   databases ▸ tables ▸ routines ▸ views ▸ triggers ▸ events: what our server refuses ends the join
//!                     triggers are dropped again: they would be fired by the rows
//!   after the rows    triggers
//! ```
//! Each is created under the `sql_mode`, the `collation_connection` and, for an event, the time zone under which it was
//! created on the primary. Its database must have the collation that it had then, which types without a collation
//! depend on. `character_set_client` is not taken over: the text arrives in the character set of our connections, so
//! that of the program would misread it.
//!
//! Events are disabled, as on MariaDB's replicas: their effects are replicated. An event whose last run has passed is
//! created only if it is preserved.

use super::arguments::Kind;
use super::error::{Error, Result, is_error, read_error_text};
use super::target::Session;
use crate::connection::{Connection, Row, quoted, quoted_identifier};
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
    /// Collation of its database when the program was created.
    database_collation: String,
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
            database_collation: String::new(),
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
            quoted_identifier(&self.database),
            quoted_identifier(&self.name)
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
        self.database_collation = text().unwrap_or_default();
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

    /// Creates the program. Returns what prevents it, for users.
    pub async fn create(&self, session: &mut Session) -> std::result::Result<(), String> {
        let create = match self.kind {
            Kind::Events => disabled_event(&self.create).ok_or("its text has no status")?,
            _ => self.create.clone(),
        };
        let mut settings = format!(
            "SET sql_mode = {}, collation_connection = {}",
            quoted(&self.sql_mode),
            quoted(&self.collation_connection)
        );
        if let Some(zone) = &self.time_zone {
            settings.push_str(&format!(", time_zone = {}", quoted(zone)));
        }
        let made = async {
            for statement in [
                SAVE,
                &settings,
                &format!("USE {}", quoted_identifier(&self.database)),
            ] {
                session
                    .0
                    .query(statement)
                    .await
                    .map_err(|error| error.to_string())?;
            }
            let collation = session.0.rows("SELECT @@collation_database").await;
            let collation = collation.map_err(|error| error.to_string())?;
            let collation = collation
                .into_iter()
                .flatten()
                .flatten()
                .next()
                .unwrap_or_default();
            if collation != self.database_collation {
                return Err(format!(
                    "it was created when its database had the collation {}, which is now {collation}; create it again on the primary",
                    self.database_collation
                ));
            }
            session
                .0
                .query(&create)
                .await
                .map(drop)
                .map_err(|error| error.to_string())
        };
        let done = made.await;
        let restored = session.0.query(RESTORE).await;
        done.and(restored.map(drop).map_err(|error| error.to_string()))
    }

    /// Drops a trigger.
    pub async fn drop_trigger(&self, session: &mut Session) -> Result<()> {
        session
            .execute(&format!(
                "DROP TRIGGER {}.{}",
                quoted_identifier(&self.database),
                quoted_identifier(&self.name)
            ))
            .await
    }
}

/// Returns the output of SHOW CREATE EVENT with the status DISABLE ON SLAVE: the event is never enabled here, not even
/// for a moment. `None` if the text has no status.
fn disabled_event(create: &str) -> Option<String> {
    const COMPLETION: &str = " ON COMPLETION ";
    // Names and times before it are quoted; a quote within a name is doubled, which ends one text and begins another.
    let mut quote = None;
    let place = create.char_indices().find_map(|(place, character)| {
        match quote {
            Some(open) if character == open => quote = None,
            None if matches!(character, '`' | '\'' | '"') => quote = Some(character),
            None if create[place..].starts_with(COMPLETION) => return Some(place + COMPLETION.len()),
            _ => {}
        }
        None
    })?;
    let rest = &create[place..];
    let rest = rest
        .strip_prefix("NOT ")
        .unwrap_or(rest)
        .strip_prefix("PRESERVE ")?;
    let statuses = ["DISABLE ON SLAVE", "DISABLE", "ENABLE"];
    let after = statuses.iter().find_map(|status| rest.strip_prefix(status))?;
    let before = &create[..create.len() - rest.len()];
    Some(format!("{before}DISABLE ON SLAVE{after}"))
}

#[cfg(test)]
mod tests {
    use super::disabled_event;

    #[test]
    fn an_event_gets_the_status_of_a_replica_whatever_its_names_and_body_contain() {
        for (before, status, after) in [
            (
                "CREATE DEFINER=`root`@`%` EVENT `e` ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' ON COMPLETION NOT PRESERVE ",
                "ENABLE",
                " DO select 1",
            ),
            (
                "CREATE EVENT `a`` ON COMPLETION PRESERVE ENABLE` ON SCHEDULE AT '2030-01-01 00:00:00' ON COMPLETION PRESERVE ",
                "DISABLE",
                " COMMENT 'c' DO select ' ON COMPLETION PRESERVE ENABLE'",
            ),
            (
                "CREATE EVENT `e` ON SCHEDULE AT '2030-01-01 00:00:00' ON COMPLETION NOT PRESERVE ",
                "DISABLE ON SLAVE",
                " DO select 'ENABLE'",
            ),
        ] {
            let disabled = disabled_event(&format!("{before}{status}{after}"));
            assert_eq!(disabled, Some(format!("{before}DISABLE ON SLAVE{after}")));
        }
        assert_eq!(
            disabled_event("CREATE EVENT `e` ON SCHEDULE EVERY 1 DAY DO select 1"),
            None
        );
    }
}
