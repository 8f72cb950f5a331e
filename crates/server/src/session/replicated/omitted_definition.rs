//! Definitions of a primary that a replica may omit (`paceline_replicate_leave_out`).
//!
//! A primary with row format logs the effects of triggers, routines and events as rows, so a replica does not need
//! them, but a primary does. Definitions that this server does not support stop a connection (1235), unless the
//! variable allows omitting them: then only the position moves, and the error log reports it. Supported ones are
//! omitted, too, if the variable says so.
//!
//! A statement that the primary logged as text has no rows. If its tables have triggers, it would change less here than
//! there, and it is unknown which tables have them. If triggers are omitted, such a statement stops the connection. (A
//! statement that calls a stored function cannot be executed at all: 1305.)

use crate::variables::{Globals, Variable};
use paceline_syntax::Error;
use paceline_syntax::{AccountStatement, DdlStatement, PrivilegeLevel, SetItem, Statement};
use paceline_types::error_code::ER_NOT_SUPPORTED_YET;

/// Kind of definition that can be omitted: a bit of the variable, in the order of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmittedDefinition {
    /// `TRIGGER`.
    Triggers,
    /// `PROCEDURE`, `FUNCTION`, `PACKAGE`, and aggregate functions.
    Routines,
    /// `EVENT`.
    Events,
    /// Roles and their members.
    Roles,
    /// GRANT and REVOKE on tables, columns and routines.
    Privileges,
}

impl OmittedDefinition {
    /// Returns the kind that a statement defines or drops, or `None` if it cannot be omitted.
    pub fn of(statement: &Statement) -> Option<Self> {
        let object = match statement {
            Statement::Unsupported(object) => object,
            Statement::Ddl(DdlStatement::CreateTrigger(_) | DdlStatement::DropTrigger { .. }) => &"TRIGGER",
            Statement::Ddl(
                DdlStatement::CreateRoutine(_)
                | DdlStatement::CreateLoadableFunction(_)
                | DdlStatement::AlterRoutine { .. }
                | DdlStatement::DropRoutine { .. },
            ) => &"PROCEDURE",
            Statement::Ddl(
                DdlStatement::CreateEvent(_) | DdlStatement::AlterEvent(_) | DdlStatement::DropEvent { .. },
            ) => &"EVENT",
            Statement::Set(items) if matches!(items[..], [SetItem::DefaultRole { .. }]) => {
                return Some(OmittedDefinition::Roles);
            }
            Statement::Account(
                AccountStatement::CreateRoles { .. }
                | AccountStatement::DropRoles { .. }
                | AccountStatement::GrantRole { .. }
                | AccountStatement::RevokeRole { .. }
                | AccountStatement::SetDefaultRole { .. },
            ) => return Some(OmittedDefinition::Roles),
            Statement::Account(
                AccountStatement::Grant { level, .. } | AccountStatement::Revoke { level, .. },
            ) => {
                let is_fine = matches!(level, PrivilegeLevel::Table(_) | PrivilegeLevel::Routine(..));
                return is_fine.then_some(OmittedDefinition::Privileges);
            }
            _ => return None,
        };
        match *object {
            "TRIGGER" => Some(OmittedDefinition::Triggers),
            "PROCEDURE" | "FUNCTION" | "PACKAGE" | "AGGREGATE" => Some(OmittedDefinition::Routines),
            "EVENT" => Some(OmittedDefinition::Events),
            _ => None,
        }
    }

    /// Returns whether a primary's statement is omitted under the current value of the variable.
    pub fn is_omitted(statement: &Statement, globals: &Globals) -> bool {
        Self::of(statement).is_some_and(|kind| kind.is_chosen(globals))
    }

    fn is_chosen(self, globals: &Globals) -> bool {
        globals.number(Variable::PacelineReplicateLeaveOut) >> self as u64 & 1 == 1
    }
}

/// Returns whether a primary's statement may have fired triggers there that are omitted here.
pub fn lacks_triggers(statement: &Statement, globals: &Globals) -> bool {
    fires_triggers(statement) && OmittedDefinition::Triggers.is_chosen(globals)
}

/// Returns the error with which such a statement stops the connection.
pub fn without_triggers() -> Error {
    let message = "A statement that was not logged as rows may have fired triggers on the primary, and here they are left out \
                   (paceline_replicate_leave_out): SET GLOBAL binlog_format=ROW there, which sessions that are connected do not take up";
    Error::with_message(ER_NOT_SUPPORTED_YET, message)
}

fn fires_triggers(statement: &Statement) -> bool {
    match statement {
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::LoadData(_) => true,
        Statement::SetStatement { statement, .. } => fires_triggers(statement),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::Kind;
    use paceline_syntax::{ParseOptions, ProgramBodies, parse_first};

    /// Returns the options for statements of a primary.
    fn options() -> ParseOptions {
        ParseOptions {
            programs: ProgramBodies::Opaque,
            ..ParseOptions::default()
        }
    }

    #[test]
    fn kinds_of_definitions_are_recognized() {
        let cases = [
            (
                "CREATE DEFINER=`root`@`localhost` TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET new.b = 1",
                Some(OmittedDefinition::Triggers),
            ),
            ("DROP TRIGGER IF EXISTS d.t", Some(OmittedDefinition::Triggers)),
            (
                "CREATE OR REPLACE DEFINER=`r`@`%` PROCEDURE p() SELECT 1",
                Some(OmittedDefinition::Routines),
            ),
            (
                "CREATE DEFINER=`root`@`localhost` FUNCTION f() RETURNS int RETURN 1",
                Some(OmittedDefinition::Routines),
            ),
            ("ALTER PROCEDURE p COMMENT 'x'", Some(OmittedDefinition::Routines)),
            ("DROP FUNCTION f", Some(OmittedDefinition::Routines)),
            (
                "CREATE DEFINER=`root`@`localhost` EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1",
                Some(OmittedDefinition::Events),
            ),
            (
                "ALTER DEFINER=`root`@`localhost` EVENT e DISABLE",
                Some(OmittedDefinition::Events),
            ),
            ("CREATE ROLE r", Some(OmittedDefinition::Roles)),
            ("DROP ROLE r", Some(OmittedDefinition::Roles)),
            (
                "SET DEFAULT ROLE 'r' FOR 'u'@'localhost'",
                Some(OmittedDefinition::Roles),
            ),
            ("GRANT r TO u@localhost", Some(OmittedDefinition::Roles)),
            (
                "GRANT SELECT (a) ON d.t TO u@localhost",
                Some(OmittedDefinition::Privileges),
            ),
            (
                "REVOKE EXECUTE ON PROCEDURE d.p FROM u@localhost",
                Some(OmittedDefinition::Privileges),
            ),
            ("GRANT SELECT ON d.* TO u@localhost", None),
            ("CREATE SEQUENCE s", None),
            ("CREATE TABLE t (a int)", None),
            ("INSERT INTO t VALUES (1)", None),
        ];
        for (text, kind) in cases {
            let parsed = parse_first(text.as_bytes(), &options()).unwrap();
            assert_eq!(OmittedDefinition::of(&parsed.statement), kind, "{text}");
        }
    }

    #[test]
    fn statements_that_fire_triggers_are_recognized() {
        let changes = [
            "REPLACE t VALUES (1)",
            "UPDATE t, u SET t.a = u.a",
            "DELETE FROM t",
            "LOAD DATA INFILE 'f' INTO TABLE t",
            "SET STATEMENT binlog_format=mixed FOR INSERT INTO t SELECT 1",
        ];
        let others = ["CREATE TABLE t (a int)", "TRUNCATE TABLE t", "SELECT 1", "COMMIT"];
        let fires = |text: &&str| {
            let parsed = parse_first(text.as_bytes(), &options()).unwrap();
            fires_triggers(&parsed.statement)
        };
        assert!(changes.iter().all(fires) && !others.iter().any(fires));
    }

    #[test]
    fn every_kind_has_the_bit_of_its_word() {
        let kinds = [
            OmittedDefinition::Triggers,
            OmittedDefinition::Routines,
            OmittedDefinition::Events,
            OmittedDefinition::Roles,
            OmittedDefinition::Privileges,
        ];
        let Kind::Set(words) = Variable::PacelineReplicateLeaveOut.definition().kind else {
            panic!("the variable is a set");
        };
        assert_eq!(words.len(), kinds.len());
        for kind in kinds {
            assert_eq!(words[kind as usize], format!("{kind:?}").to_uppercase());
        }
    }
}
