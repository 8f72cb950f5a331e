//! Privileges for DDL: CREATE, ALTER, DROP, RENAME and TRUNCATE of tables, views and databases.

use super::check_events;
use crate::accounts::{Authority, PrivilegeSet};
use crate::names::qualified;
use paceline_catalog::ddl::{referenced_tables, temporary_renames};
use paceline_catalog::{Catalog, RoutineDefinition, SYSTEM_DATABASE, TemporaryCatalog};
use paceline_expression::session::{Privilege, PrivilegeTarget};
use paceline_syntax::definition::{AlterAction, AlterOrigin, CreateTableBody, ViewMode};
use paceline_syntax::{DdlStatement, Error, Result, RoutineType, TableName};
use paceline_types::error_code::ER_PROCACCESS_DENIED_ERROR;

/// Catalogs that decide which tables of a statement are temporary.
pub struct DefinitionCatalogs<'a> {
    /// The session's temporary tables alone.
    pub temporary: &'a TemporaryCatalog,
    /// All tables that the session sees.
    pub visible: &'a Catalog,
}

/// Checks whether the account may execute a statement that defines or drops something.
///
/// # Errors
/// 1142 and 1044 for objects that it may not define; 1046 if a name needs a current database.
pub fn check_definition(
    authority: Authority<'_>,
    ddl: &DdlStatement,
    catalogs: &DefinitionCatalogs<'_>,
) -> Result<()> {
    let is_temporary = |table: &TableName| -> Result<bool> {
        let (database, name) = qualified(table, authority.database())?;
        Ok(catalogs.temporary.table(&database, &name).is_some())
    };
    let of_table = |table: &TableName, privileges: &[Privilege]| -> Result<()> {
        let (database, name) = qualified(table, authority.database())?;
        authority.check_table(privileges, &database, &name)
    };
    let of_database =
        |name: &str, privilege: Privilege| authority.check(privilege, PrivilegeTarget::Database(name));
    match ddl {
        DdlStatement::CreateDatabase { name, or_replace, .. } => {
            of_database(name, Privilege::Create)?;
            match or_replace {
                true => of_database(name, Privilege::Drop),
                false => Ok(()),
            }
        }
        DdlStatement::DropDatabase { name, .. } => of_database(name, Privilege::Drop),
        DdlStatement::AlterDatabase { name, .. } => of_database(
            name.as_deref().or(authority.database()).unwrap_or_default(),
            Privilege::Alter,
        ),
        DdlStatement::CreateTable(create) => {
            match create.temporary {
                true => {
                    let (database, _) = qualified(&create.name, authority.database())?;
                    of_database(&database, Privilege::CreateTemporaryTables)?;
                }
                false => {
                    of_table(&create.name, &[Privilege::Create])?;
                    if create.or_replace {
                        of_table(&create.name, &[Privilege::Drop])?;
                    }
                    // Checked now: without the privilege no table must be created.
                    if create.select().is_some() {
                        of_table(&create.name, &[Privilege::Insert])?;
                    }
                    check_references(authority, ddl)?;
                }
            }
            match &create.body {
                CreateTableBody::Like(other) if !is_temporary(other)? => {
                    of_table(other, &[Privilege::Select])
                }
                _ => Ok(()),
            }
        }
        // A session may do anything with its temporary tables.
        DdlStatement::AlterTable(alter) if is_temporary(&alter.table)? => Ok(()),
        DdlStatement::AlterTable(alter) => {
            let privilege = match alter.origin {
                AlterOrigin::AlterTable => Privilege::Alter,
                _ => Privilege::Index,
            };
            of_table(&alter.table, &[privilege])?;
            let own = alter.table.database.clone();
            for action in &alter.actions {
                if let AlterAction::RenameTable(to) = action {
                    let to = TableName {
                        database: to.database.clone().or(own.clone()),
                        name: to.name.clone(),
                    };
                    of_table(&alter.table, &[Privilege::Drop])?;
                    of_table(&to, &[Privilege::Create, Privilege::Insert])?;
                }
            }
            check_references(authority, ddl)
        }
        DdlStatement::DropTables { temporary: true, .. } => Ok(()),
        DdlStatement::DropTables { tables, .. } => {
            tables.iter().try_for_each(|table| match is_temporary(table)? {
                true => Ok(()),
                false => of_table(table, &[Privilege::Drop]),
            })
        }
        DdlStatement::TruncateTable(table) if is_temporary(table)? => Ok(()),
        DdlStatement::TruncateTable(table) => of_table(table, &[Privilege::Drop]),
        DdlStatement::RenameTables { renames, .. } => {
            let temporary = temporary_renames(renames, catalogs.visible, authority.database())?;
            for ((from, to), _) in renames.iter().zip(temporary).filter(|(_, temporary)| !temporary) {
                of_table(from, &[Privilege::Alter, Privilege::Drop])?;
                of_table(to, &[Privilege::Create, Privilege::Insert])?;
            }
            Ok(())
        }
        DdlStatement::CreateSequence(create) => {
            if create.temporary {
                let (database, _) = qualified(&create.name, authority.database())?;
                return of_database(&database, Privilege::CreateTemporaryTables);
            }
            of_table(&create.name, &[Privilege::Create])?;
            match create.or_replace {
                true => of_table(&create.name, &[Privilege::Drop]),
                false => Ok(()),
            }
        }
        DdlStatement::AlterSequence(alter) => of_table(&alter.name, &[Privilege::Alter]),
        DdlStatement::DropSequences { temporary: true, .. } => Ok(()),
        DdlStatement::DropSequences { sequences, .. } => {
            sequences
                .iter()
                .try_for_each(|sequence| match is_temporary(sequence)? {
                    true => Ok(()),
                    false => of_table(sequence, &[Privilege::Drop]),
                })
        }
        DdlStatement::CreateView(view) => match view.mode {
            ViewMode::Create => of_table(&view.name, &[Privilege::CreateView]),
            _ => {
                of_table(&view.name, &[Privilege::CreateView])?;
                of_table(&view.name, &[Privilege::Drop])
            }
        },
        DdlStatement::DropViews { views, .. } => views
            .iter()
            .try_for_each(|view| of_table(view, &[Privilege::Drop])),
        DdlStatement::CreateRoutine(routine) => {
            let (database, _) = qualified(&routine.name, authority.database())?;
            of_database(&database, Privilege::CreateRoutine)?;
            match routine.or_replace {
                true => may_alter_routine(
                    authority,
                    catalogs.visible,
                    routine.kind.routine_type(),
                    &routine.name,
                ),
                false => Ok(()),
            }
        }
        DdlStatement::CreateLoadableFunction(create) => {
            of_database(SYSTEM_DATABASE, Privilege::Insert)?;
            match create.or_replace {
                true => of_database(SYSTEM_DATABASE, Privilege::Delete),
                false => Ok(()),
            }
        }
        DdlStatement::DropRoutine {
            kind: RoutineType::Function,
            name: TableName { database: None, name },
            ..
        } if catalogs.visible.loadable_function(name).is_some() => {
            of_database(SYSTEM_DATABASE, Privilege::Delete)
        }
        // There is no such loadable function, and nothing else can be meant.
        DdlStatement::DropRoutine {
            kind: RoutineType::Function,
            name: TableName { database: None, .. },
            ..
        } if authority.database().is_none() => Ok(()),
        DdlStatement::AlterRoutine { kind, name, .. } | DdlStatement::DropRoutine { kind, name, .. } => {
            may_alter_routine(authority, catalogs.visible, *kind, name)
        }
        DdlStatement::CreateTrigger(trigger) => of_table(&trigger.table, &[Privilege::Trigger]),
        DdlStatement::DropTrigger { name, .. } => {
            let (database, name) = qualified(name, authority.database())?;
            match catalogs.visible.trigger(&database, &name) {
                Some(trigger) => authority.check_table(&[Privilege::Trigger], &database, &trigger.table),
                None => Ok(()),
            }
        }
        DdlStatement::CreateEvent(event) => may_change_event(authority, &event.name),
        DdlStatement::AlterEvent(event) => {
            may_change_event(authority, &event.name)?;
            match &event.new_name {
                Some(new_name) => may_change_event(authority, new_name),
                None => Ok(()),
            }
        }
        DdlStatement::DropEvent { name, .. } => may_change_event(authority, name),
        DdlStatement::DropServer { .. } => Ok(()),
    }
}

/// Checks ALTER ROUTINE on a routine, which may be missing.
///
/// # Errors
/// 1044.
fn may_change_event(authority: Authority<'_>, name: &TableName) -> Result<()> {
    let (database, _) = qualified(name, authority.database())?;
    check_events(authority, &database)
}

/// # Errors
/// 1370.
fn may_alter_routine(
    authority: Authority<'_>,
    catalog: &Catalog,
    kind: RoutineType,
    name: &TableName,
) -> Result<()> {
    let (database, name) = qualified(name, authority.database())?;
    if let Some(routine) = catalog.routine(kind, &database, &name) {
        return check_routine(authority, Privilege::AlterRoutine, routine);
    }
    match authority.has_on_routine(Privilege::AlterRoutine, &database, kind, &name) {
        true => Ok(()),
        false => Err(routine_denied(
            authority,
            Privilege::AlterRoutine,
            &database,
            &name,
        )),
    }
}

/// Checks a privilege on a procedure or function. Its definer has EXECUTE and ALTER ROUTINE on it, as if
/// `automatic_sp_privileges` had granted them.
///
/// # Errors
/// 1370.
pub fn check_routine(
    authority: Authority<'_>,
    privilege: Privilege,
    routine: &RoutineDefinition,
) -> Result<()> {
    let (database, name) = (&routine.database, &routine.name);
    let (user, host) = authority.current_user();
    let is_own = routine.definer.0 == user && routine.definer.1.eq_ignore_ascii_case(host);
    if is_own || authority.has_on_routine(privilege, database, routine.kind, name) {
        return Ok(());
    }
    Err(routine_denied(authority, privilege, database, name))
}

/// Returns 1370.
fn routine_denied(authority: Authority<'_>, privilege: Privilege, database: &str, name: &str) -> Error {
    let command = PrivilegeSet::command(privilege).to_lowercase();
    let (user, host) = authority.current_user();
    let name = format!("{database}.{name}");
    Error::new(ER_PROCACCESS_DENIED_ERROR, &[&command, &user, &host, &name])
}

/// Returns 1142 for a foreign key to a table on which the account has no privilege. As in MariaDB, REFERENCES or any
/// privilege on rows is sufficient.
fn check_references(authority: Authority<'_>, ddl: &DdlStatement) -> Result<()> {
    let enough = PrivilegeSet::rows().with(Privilege::References);
    for (database, table) in referenced_tables(ddl, authority.database()) {
        let has = authority.privileges_in(&database);
        if has.minus(enough) == has {
            authority.check_table(&[Privilege::References], &database, &table)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::{Holder, outcome_of};
    use paceline_syntax::{ParseOptions, Statement, parse_first};

    /// Returns the error's number and the privilege that its message names.
    fn check(holder: &Holder, text: &str) -> (u16, String) {
        let parsed = parse_first(text.as_bytes(), &ParseOptions::default()).unwrap();
        let Statement::Ddl(ddl) = parsed.statement else {
            panic!("not a definition: {text}");
        };
        let catalogs = DefinitionCatalogs {
            temporary: &TemporaryCatalog::default(),
            visible: &Catalog::default(),
        };
        let (number, message) = outcome_of(check_definition(holder.authority(), &ddl, &catalogs));
        (
            number,
            message.split(" command").next().unwrap_or_default().to_owned(),
        )
    }

    #[test]
    fn each_definition_needs_its_privilege() {
        let nobody = Holder::new(&[], &[]);
        for (text, number, privilege) in [
            ("CREATE TABLE t (a int)", 1142, "CREATE"),
            ("DROP TABLE t", 1142, "DROP"),
            ("ALTER TABLE t ADD b int", 1142, "ALTER"),
            ("CREATE INDEX i ON t (a)", 1142, "INDEX"),
            ("TRUNCATE TABLE t", 1142, "DROP"),
            ("RENAME TABLE t TO u", 1142, "DROP, ALTER"),
            ("CREATE VIEW v AS SELECT 1", 1142, "CREATE VIEW"),
            ("DROP VIEW v", 1142, "DROP"),
            ("CREATE DATABASE e", 1044, ""),
            ("DROP DATABASE e", 1044, ""),
            ("CREATE TEMPORARY TABLE t (a int)", 1044, ""),
            ("DROP TEMPORARY TABLE t", 0, ""),
        ] {
            let (found, message) = check(&nobody, text);
            assert_eq!(found, number, "{text}");
            if number == 1142 {
                assert_eq!(message, privilege, "{text}");
            }
        }
    }

    #[test]
    fn replacing_and_filling_a_table_needs_more_than_creating_it() {
        let creator = Holder::new(&[], &[("d", &[Privilege::Create])]);
        assert_eq!(check(&creator, "CREATE TABLE t (a int)").0, 0);
        for (text, missing) in [
            ("CREATE OR REPLACE TABLE t (a int)", "DROP"),
            ("CREATE TABLE t SELECT 1", "INSERT"),
            ("CREATE TABLE t LIKE u", "SELECT"),
            ("CREATE TABLE t (a int REFERENCES u (a))", "REFERENCES"),
        ] {
            assert_eq!(check(&creator, text), (1142, missing.to_owned()), "{text}");
        }
        // Any privilege on the rows of the other table is enough for a foreign key.
        let reader = Holder::new(&[], &[("d", &[Privilege::Create, Privilege::Select])]);
        assert_eq!(check(&reader, "CREATE TABLE t (a int REFERENCES u (a))").0, 0);
        assert_eq!(check(&creator, "CREATE TABLE e.t (a int)").0, 1142);
    }

    #[test]
    fn a_name_without_a_database_needs_a_current_one() {
        let mut holder = Holder::new(&[Privilege::Create], &[]);
        holder.session.database = None;
        assert_eq!(check(&holder, "CREATE TABLE t (a int)").0, 1046);
    }
}
