//! Privileges for seeing stored programs.
//!
//! | object | shown with | its body with |
//! |---|---|---|
//! | procedure, function | CREATE ROUTINE, ALTER ROUTINE or EXECUTE on its database, or its body's privileges | its definer's account, or SELECT on `mysql.proc` |
//! | trigger | TRIGGER on its table | the same |
//! | event | EVENT on its database | the same |

use crate::accounts::{Authority, PrivilegeSet};
use crate::information_schema;
use crate::information_schema::RoutineAccess;
use paceline_catalog::RoutineDescription;
use paceline_expression::session::{Privilege, PrivilegeTarget};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::ER_DBACCESS_DENIED_ERROR;

/// Returns what the account may see of a procedure or function.
pub fn routine_access(authority: Authority<'_>, routine: &RoutineDescription) -> RoutineAccess {
    let (user, host) = &routine.definer;
    if authority.current_user() == (user, host) || authority.privileges_in("mysql").has(Privilege::Select) {
        return RoutineAccess::Whole;
    }
    let enough = PrivilegeSet::NONE
        .with(Privilege::CreateRoutine)
        .with(Privilege::AlterRoutine)
        .with(Privilege::Execute);
    let (database, kind, name) = (&routine.database, routine.kind, &routine.name);
    let on_routine = authority.account().on_routine(database, kind, name);
    let held = authority.privileges_in(database).union(on_routine);
    match held.minus(enough) == held {
        true => RoutineAccess::Hidden,
        false => RoutineAccess::WithoutBody,
    }
}

/// Returns whether the account may see the triggers of a table.
pub fn may_see_triggers(authority: Authority<'_>, database: &str, table: &str) -> bool {
    let needed = PrivilegeSet::NONE.with(Privilege::Trigger);
    authority.missing_on_table(needed, database, table).is_empty()
}

/// Returns whether the account may see the events of a database.
pub fn may_see_events(authority: Authority<'_>, database: &str) -> bool {
    authority.privileges_in(database).has(Privilege::Event)
}

/// Checks whether the account may define, drop or show events of a database.
///
/// # Errors
/// 1044.
pub fn check_events(authority: Authority<'_>, database: &str) -> Result<()> {
    if database.eq_ignore_ascii_case(information_schema::DATABASE) {
        let (user, host) = authority.current_user();
        return Err(Error::new(ER_DBACCESS_DENIED_ERROR, &[&user, &host, &database]));
    }
    authority.check(Privilege::Event, PrivilegeTarget::Database(database))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::Holder;
    use paceline_catalog::{ProgramEnvironment, ViewSecurity};
    use paceline_syntax::{DataAccess, RoutineType};

    fn routine(definer: &str) -> RoutineDescription {
        RoutineDescription {
            database: "d".to_owned(),
            name: "p".to_owned(),
            kind: RoutineType::Procedure,
            parameters: String::new(),
            returns: String::new(),
            body: String::new(),
            comment: String::new(),
            deterministic: false,
            data_access: DataAccess::default(),
            aggregation: paceline_syntax::Aggregation::None,
            security: ViewSecurity::Definer,
            definer: (definer.to_owned(), "%".to_owned()),
            environment: ProgramEnvironment {
                sql_mode: 0,
                character_set_client: String::new(),
                collation_connection: String::new(),
                collation_database: String::new(),
            },
            created_seconds: 0,
            modified_seconds: 0,
        }
    }

    #[test]
    fn a_body_needs_more_than_a_name() {
        let access = |holder: &Holder, definer| routine_access(holder.authority(), &routine(definer));
        let nobody = Holder::new(&[], &[("d", &[Privilege::Select, Privilege::Trigger])]);
        assert_eq!(access(&nobody, "other"), RoutineAccess::Hidden);
        assert_eq!(access(&nobody, "u"), RoutineAccess::Whole);
        let caller = Holder::new(&[], &[("d", &[Privilege::Execute])]);
        assert_eq!(access(&caller, "other"), RoutineAccess::WithoutBody);
        let reader = Holder::new(&[], &[("mysql", &[Privilege::Select])]);
        assert_eq!(access(&reader, "other"), RoutineAccess::Whole);
        assert!(
            may_see_triggers(nobody.authority(), "d", "t") && !may_see_triggers(caller.authority(), "d", "t")
        );
    }
}
