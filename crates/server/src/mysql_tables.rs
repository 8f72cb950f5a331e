//! `mysql`: the tables of this database that programs read, as virtual tables.
//!
//! Accounts are catalog records; `mysql.user`, `mysql.db`, `mysql.global_priv`, `mysql.tables_priv` and similar tables
//! show them. `mysql.gtid_slave_pos` shows the replicated position; `mysql.proc` shows procedures and functions. The
//! other tables describe features that do not exist here, and are empty.

use crate::accounts::privilege::ALL;
use crate::accounts::{Account, Accounts, PrivilegeSet, ProxyGrant, RoleGrant, RoutineGrant, TableGrant};
use crate::cells::{Row, text};
use crate::mysql_columns::columns;
use paceline_binlog::GtidPosition;
use paceline_catalog::{Catalog, LoadableCode, LoadableFunction};
use paceline_expression::session::{Privilege, VirtualColumn};
use paceline_syntax::Aggregation;
use paceline_syntax::definition::LoadableType;
use paceline_types::temporal::DateTime;
use paceline_types::{Decimal, Value};
use paceline_wire::authentication::NATIVE_PASSWORD;
use std::sync::Arc;

/// Returns all rows of a table.
pub fn rows(table: &str, accounts: &Accounts) -> Vec<Row> {
    let Some(columns) = columns(table) else {
        return vec![];
    };
    match table {
        "user" => accounts
            .iter()
            .map(|account| row(columns, account, account.global, None))
            .collect(),
        "db" => {
            let of = |account: &Account| -> Vec<Row> {
                let one =
                    |(database, set): &(String, PrivilegeSet)| row(columns, account, *set, Some(database));
                account.databases.iter().map(one).collect()
            };
            accounts.iter().flat_map(of).collect()
        }
        "tables_priv" => accounts.iter().flat_map(tables_priv).collect(),
        "columns_priv" => accounts.iter().flat_map(columns_priv).collect(),
        "procs_priv" => accounts.iter().flat_map(procs_priv).collect(),
        "roles_mapping" => accounts.iter().flat_map(roles_mapping).collect(),
        "proxies_priv" => accounts.iter().flat_map(proxies_priv).collect(),
        "global_priv" => accounts.iter().map(global_priv).collect(),
        _ => vec![],
    }
}

/// Returns the rows `domain_id, sub_id, server_id, seq_no`, one per domain. MariaDB's counter `sub_id` is not
/// maintained.
pub fn gtid_slave_pos(position: &GtidPosition) -> Vec<Row> {
    position
        .iter()
        .enumerate()
        .map(|(number, gtid)| {
            vec![
                Value::UInt(u64::from(gtid.domain_id.0)),
                Value::UInt(number as u64 + 1),
                Value::UInt(u64::from(gtid.server_id.0)),
                Value::UInt(gtid.sequence.0),
            ]
        })
        .collect()
}

/// Returns the loadable functions that are in libraries.
pub fn func(catalog: &Catalog) -> Vec<Row> {
    let row = |function: &Arc<LoadableFunction>| {
        let LoadableCode::Native { library, returns } = &function.code;
        // MariaDB's `Item_result`.
        let returns = match returns {
            LoadableType::String => 0,
            LoadableType::Real => 1,
            LoadableType::Integer => 2,
            LoadableType::Decimal => 4,
        };
        let kind = match function.aggregation {
            Aggregation::None => "function",
            Aggregation::Group => "aggregate",
        };
        vec![
            text(&function.name),
            Value::Int(returns),
            text(library),
            text(kind),
        ]
    };
    catalog.loadable_functions().map(row).collect()
}

/// Timestamp of all grants, as in MariaDB, which does not note when they were made.
fn no_time() -> Value {
    Value::DateTime(DateTime::default())
}

/// Returns privileges as a SET of MariaDB's table has them: `Select,Create View,Show view`.
fn privilege_words(set: PrivilegeSet) -> Value {
    let word = |(privilege, name): &(Privilege, &str)| match privilege {
        Privilege::GrantOption => "Grant".to_owned(),
        Privilege::CreateView => "Create View".to_owned(),
        Privilege::AlterRoutine => "Alter Routine".to_owned(),
        Privilege::DeleteHistory => "Delete versioning rows".to_owned(),
        _ => name[..1].to_owned() + &name[1..].to_lowercase(),
    };
    let words = ALL.iter().filter(|(privilege, _)| set.has(*privilege)).map(word);
    text(words.collect::<Vec<_>>().join(","))
}

/// Returns the privileges that such a list names.
pub fn privileges_of_words(words: &str) -> PrivilegeSet {
    let named = words.split(',').filter_map(|word| match word {
        "Grant" => Some(Privilege::GrantOption),
        "Delete versioning rows" => Some(Privilege::DeleteHistory),
        word => PrivilegeSet::named(&word.to_uppercase()),
    });
    PrivilegeSet::of(&named.collect::<Vec<_>>())
}

/// Returns privileges on a routine, in the order of MariaDB's SET.
fn routine_words(set: PrivilegeSet) -> String {
    let words = [
        (Privilege::Execute, "Execute"),
        (Privilege::AlterRoutine, "Alter Routine"),
        (Privilege::GrantOption, "Grant"),
    ];
    let held = words.iter().filter(|(privilege, _)| set.has(*privilege));
    held.map(|(_, word)| *word).collect::<Vec<_>>().join(",")
}

fn tables_priv(account: &Account) -> Vec<Row> {
    let row = |grant: &TableGrant| {
        vec![
            text(&account.host),
            text(&grant.database),
            text(&account.user),
            text(&grant.table),
            text(&grant.grantor),
            no_time(),
            privilege_words(grant.privileges),
            privilege_words(grant.on_any_column()),
        ]
    };
    account.tables.iter().map(row).collect()
}

fn columns_priv(account: &Account) -> Vec<Row> {
    let of_table = |grant: &TableGrant| {
        let row = |(column, set): &(String, PrivilegeSet)| {
            vec![
                text(&account.host),
                text(&grant.database),
                text(&account.user),
                text(&grant.table),
                text(column),
                no_time(),
                privilege_words(*set),
            ]
        };
        grant.columns.iter().map(row).collect::<Vec<Row>>()
    };
    account.tables.iter().flat_map(of_table).collect()
}

fn procs_priv(account: &Account) -> Vec<Row> {
    let row = |grant: &RoutineGrant| {
        vec![
            text(&account.host),
            text(&grant.database),
            text(&account.user),
            text(&grant.name),
            text(grant.kind.name()),
            text(&grant.grantor),
            text(routine_words(grant.privileges)),
            no_time(),
        ]
    };
    account.routines.iter().map(row).collect()
}

fn proxies_priv(account: &Account) -> Vec<Row> {
    let row = |grant: &ProxyGrant| {
        vec![
            text(&account.host),
            text(&account.user),
            text(&grant.host),
            text(&grant.user),
            Value::Int(grant.grant_option.into()),
            text(&grant.grantor),
            no_time(),
        ]
    };
    account.proxies.iter().map(row).collect()
}

fn roles_mapping(account: &Account) -> Vec<Row> {
    let row = |grant: &RoleGrant| {
        vec![
            text(&account.host),
            text(&account.user),
            text(&grant.role),
            text(if grant.admin { "Y" } else { "N" }),
        ]
    };
    account.roles.iter().map(row).collect()
}

/// Returns the row `Host, User, Priv`.
fn global_priv(account: &Account) -> Row {
    let description = String::from_utf8(account.to_record()).unwrap_or_default();
    vec![text(&account.host), text(&account.user), text(description)]
}

/// Returns an account's row for these columns.
fn row(columns: &[VirtualColumn], account: &Account, set: PrivilegeSet, database: Option<&str>) -> Row {
    let method = account.authentication.primary();
    let text_kept = method.text();
    let password = match method.plugin() {
        NATIVE_PASSWORD => text_kept.clone(),
        _ => String::new(),
    };
    let value = |column: &VirtualColumn| match column.name.as_str() {
        "Host" => text(&account.host),
        "User" => text(&account.user),
        "Db" => text(database.unwrap_or_default()),
        "Password" => text(&password),
        "authentication_string" => text(&text_kept),
        "plugin" if account.is_role => text(""),
        "plugin" => text(method.plugin()),
        "is_role" => text(if account.is_role { "Y" } else { "N" }),
        "default_role" => text(&account.default_role),
        "password_expired" => text(if account.password_age.is_marked() {
            "Y"
        } else {
            "N"
        }),
        "max_questions" => Value::UInt(account.limits.queries),
        "max_updates" => Value::UInt(account.limits.updates),
        "max_connections" => Value::UInt(account.limits.connections),
        "max_statement_time" => seconds(account.statement_time.seconds()),
        "ssl_type" => text(account.require.to_record().type_name()),
        "ssl_cipher" => text(account.require.to_record().ssl_cipher),
        "x509_issuer" => text(account.require.to_record().x509_issuer),
        "x509_subject" => text(account.require.to_record().x509_subject),
        "max_user_connections" => Value::Int(account.user_connections_max.into()),
        name => match name.strip_suffix("_priv").and_then(privilege) {
            Some(privilege) => text(if set.has(privilege) { "Y" } else { "N" }),
            None if name.ends_with("_priv") => text("N"),
            None if column.ty.data_type.is_numeric() => Value::Int(0),
            None => text(""),
        },
    };
    columns.iter().map(value).collect()
}

/// Returns a `max_statement_time`.
fn seconds(seconds: f64) -> Value {
    format!("{seconds:.6}")
        .parse::<Decimal>()
        .map_or(Value::Null, Value::Decimal)
}

/// Returns the privilege of a column `…_priv`, named without this end.
pub fn privilege(column: &str) -> Option<Privilege> {
    let name = match column {
        "Grant" => "GRANT OPTION".to_owned(),
        "Show_db" => "SHOW DATABASES".to_owned(),
        "Create_tmp_table" => "CREATE TEMPORARY TABLES".to_owned(),
        "Repl_slave" => "REPLICATION SLAVE".to_owned(),
        "Repl_client" => "BINLOG MONITOR".to_owned(),
        other => other.to_uppercase().replace('_', " "),
    };
    PrivilegeSet::named(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_privileges_are_read_as_they_are_written() {
        let of_tables = [
            Privilege::Select,
            Privilege::GrantOption,
            Privilege::CreateView,
            Privilege::ShowView,
            Privilege::DeleteHistory,
        ];
        let of_routines = [
            Privilege::Execute,
            Privilege::AlterRoutine,
            Privilege::GrantOption,
        ];
        let set = PrivilegeSet::of(&of_tables);
        let Value::Text(words) = privilege_words(set) else {
            panic!("it is a text")
        };
        assert_eq!(privileges_of_words(&words), set, "{words}");
        let set = PrivilegeSet::of(&of_routines);
        assert_eq!(privileges_of_words(&routine_words(set)), set);
        assert_eq!(privileges_of_words(""), PrivilegeSet::NONE);
    }

    #[test]
    fn accounts_are_rows() {
        let mut account = Account::new("sb", "%");
        account.global = PrivilegeSet::NONE.with(Privilege::Process);
        account
            .databases
            .push(("shop".into(), PrivilegeSet::NONE.with(Privilege::Select)));
        let accounts = Accounts::new(vec![account]);
        let cell = |table: &str, column: &str| {
            let at = columns(table)
                .unwrap()
                .iter()
                .position(|known| known.name == column)
                .unwrap();
            rows(table, &accounts)[0][at].clone()
        };
        assert_eq!(cell("user", "User"), text("sb"));
        assert_eq!(
            (cell("user", "Process_priv"), cell("user", "Super_priv")),
            (text("Y"), text("N"))
        );
        assert_eq!(
            (
                cell("db", "Db"),
                cell("db", "Select_priv"),
                cell("db", "Grant_priv")
            ),
            (text("shop"), text("Y"), text("N"))
        );
        assert!(rows("proc", &accounts).is_empty());
        assert!(columns("nothing").is_none());
    }
}
