//! The grant tables that statements may change, and their columns as MariaDB defines them.

/// Grant table that statements may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GrantTable {
    /// `mysql.global_priv`: an account, described as JSON.
    GlobalPriv,
    /// `mysql.user`: a view in MariaDB, whose definer may only delete.
    User,
    /// `mysql.db`: an account's privileges on a database.
    Db,
    /// `mysql.tables_priv`: an account's privileges on a table.
    TablesPriv,
    /// `mysql.columns_priv`: an account's privileges on a column.
    ColumnsPriv,
    /// `mysql.procs_priv`: an account's privileges on a procedure or function.
    ProcsPriv,
    /// `mysql.roles_mapping`: a role that an account may take.
    RolesMapping,
    /// `mysql.proxies_priv`: an account as which another one may act.
    ProxiesPriv,
}

/// Columns that every grant table has.
const ACCOUNT: &str = "Host CHAR(255) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL DEFAULT '', \
     User CHAR(128) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL DEFAULT ''";
/// Column of the tables about objects.
const DATABASE_NAME: &str = "Db CHAR(64) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL DEFAULT ''";
/// Columns for the grantor and the time of the grant.
const GRANTED: &str = "Grantor VARCHAR(384) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL DEFAULT '', \
     Timestamp TIMESTAMP NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp()";
/// Privileges that a column can have.
const COLUMN_PRIVILEGES: &str =
    "Column_priv SET('Select','Insert','Update','References') CHARACTER SET utf8mb3 NOT NULL DEFAULT ''";

impl GrantTable {
    const ALL: [GrantTable; 8] = [
        GrantTable::GlobalPriv,
        GrantTable::User,
        GrantTable::Db,
        GrantTable::TablesPriv,
        GrantTable::ColumnsPriv,
        GrantTable::ProcsPriv,
        GrantTable::RolesMapping,
        GrantTable::ProxiesPriv,
    ];

    pub(super) fn of_name(name: &str) -> Option<GrantTable> {
        GrantTable::ALL.into_iter().find(|table| table.name() == name)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            GrantTable::GlobalPriv => "global_priv",
            GrantTable::User => "user",
            GrantTable::Db => "db",
            GrantTable::TablesPriv => "tables_priv",
            GrantTable::ColumnsPriv => "columns_priv",
            GrantTable::ProcsPriv => "procs_priv",
            GrantTable::RolesMapping => "roles_mapping",
            GrantTable::ProxiesPriv => "proxies_priv",
        }
    }

    /// Returns the definitions of those columns that are not as a SELECT would make them.
    pub(super) fn columns(self) -> String {
        match self {
            GrantTable::GlobalPriv | GrantTable::User => format!("{ACCOUNT}, PRIMARY KEY (Host, User)"),
            GrantTable::Db => format!("{ACCOUNT}, {DATABASE_NAME}, PRIMARY KEY (Host, Db, User)"),
            GrantTable::TablesPriv => format!(
                "{ACCOUNT}, {DATABASE_NAME}, {}, {GRANTED}, Table_priv SET('Select','Insert','Update','Delete','Create',\
                 'Drop','Grant','References','Index','Alter','Create View','Show view','Trigger','Delete versioning rows') \
                 CHARACTER SET utf8mb3 NOT NULL DEFAULT '', {COLUMN_PRIVILEGES}, \
                 PRIMARY KEY (Host, Db, User, Table_name)",
                name_column("Table_name")
            ),
            GrantTable::ColumnsPriv => format!(
                "{ACCOUNT}, {DATABASE_NAME}, {}, {}, Timestamp TIMESTAMP NOT NULL DEFAULT current_timestamp() \
                 ON UPDATE current_timestamp(), {COLUMN_PRIVILEGES}, \
                 PRIMARY KEY (Host, Db, User, Table_name, Column_name)",
                name_column("Table_name"),
                name_column("Column_name"),
            ),
            GrantTable::ProcsPriv => format!(
                "{ACCOUNT}, {DATABASE_NAME}, Routine_name CHAR(64) CHARACTER SET utf8mb3 NOT NULL DEFAULT '', \
                 Routine_type ENUM('FUNCTION','PROCEDURE','PACKAGE','PACKAGE BODY') CHARACTER SET utf8mb3 NOT NULL, {GRANTED}, \
                 Proc_priv SET('Execute','Alter Routine','Grant') CHARACTER SET utf8mb3 NOT NULL DEFAULT '', \
                 PRIMARY KEY (Host, Db, User, Routine_name, Routine_type)"
            ),
            GrantTable::RolesMapping => format!(
                "{ACCOUNT}, Role CHAR(128) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL DEFAULT '', \
                 Admin_option ENUM('N','Y') CHARACTER SET utf8mb3 NOT NULL DEFAULT 'N', UNIQUE KEY Host (Host, User, Role)"
            ),
            GrantTable::ProxiesPriv => format!(
                "{ACCOUNT}, Proxied_host CHAR(255) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL DEFAULT '', \
                 Proxied_user CHAR(128) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL DEFAULT '', \
                 With_grant TINYINT(1) NOT NULL DEFAULT 0, {GRANTED}, \
                 PRIMARY KEY (Host, User, Proxied_host, Proxied_user)"
            ),
        }
    }
}

/// Returns the definition of a column with the name of a table or column.
fn name_column(name: &str) -> String {
    format!("{name} CHAR(64) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL DEFAULT ''")
}
