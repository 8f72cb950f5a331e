//! `mysql`: the tables of this database that programs read, as virtual tables.
//!
//! Accounts are catalog records; `mysql.user`, `mysql.db` and `mysql.global_priv` show them. `mysql.gtid_slave_pos`
//! shows the replicated position; `mysql.proc` shows procedures and functions. The other tables describe features that
//! do not exist here, and are empty.

use crate::accounts::{Account, Accounts, PrivilegeSet};
use crate::information_schema::{Row, declared};
use paceline_binlog::GtidPosition;
use paceline_expression::session::{Privilege, VirtualColumn};
use paceline_types::{DataType, Decimal, Value};
use paceline_wire::authentication::NATIVE_PASSWORD;
use std::sync::OnceLock;

static DECLARATIONS: &str = include_str!("columns.txt");

/// Name of the database.
pub const DATABASE: &str = "mysql";

/// Returns the tables with their columns.
pub fn tables() -> &'static [(&'static str, Vec<VirtualColumn>)] {
    static TABLES: OnceLock<Vec<(&'static str, Vec<VirtualColumn>)>> = OnceLock::new();
    TABLES.get_or_init(|| declared(DECLARATIONS))
}

/// Returns the columns of a table, or `None` if it does not exist here.
pub fn columns(table: &str) -> Option<&'static [VirtualColumn]> {
    tables()
        .iter()
        .find(|(name, _)| *name == table)
        .map(|(_, columns)| columns.as_slice())
}

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

fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
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
        "plugin" => text(method.plugin()),
        "is_role" | "password_expired" => text("N"),
        "ssl_type" => text(account.require.to_record().type_name()),
        "ssl_cipher" => text(account.require.to_record().ssl_cipher),
        "x509_issuer" => text(account.require.to_record().x509_issuer),
        "x509_subject" => text(account.require.to_record().x509_subject),
        "max_user_connections" => Value::Int(account.user_connections_max as i64),
        name => match name.strip_suffix("_priv").and_then(privilege) {
            Some(privilege) => text(if set.has(privilege) { "Y" } else { "N" }),
            None if name.ends_with("_priv") => text("N"),
            None if matches!(column.ty.data_type, DataType::Decimal(_)) => zero_seconds(),
            None if column.ty.data_type.is_numeric() => Value::Int(0),
            None => text(""),
        },
    };
    columns.iter().map(value).collect()
}

/// A `max_statement_time` without a limit.
fn zero_seconds() -> Value {
    "0.000000".parse::<Decimal>().map_or(Value::Null, Value::Decimal)
}

/// Returns the privilege of a column `…_priv`.
fn privilege(column: &str) -> Option<Privilege> {
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
