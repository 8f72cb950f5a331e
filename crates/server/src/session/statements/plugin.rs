//! INSTALL and UNINSTALL: nothing is ever loaded. But scripts begin with INSTALL for authentication methods that
//! MariaDB loads from a library and that are always here.

use crate::information_schema::is_plugin;
use crate::session::protocol::Reply;
use crate::session::state::SessionState;
use paceline_expression::session::{Privilege, PrivilegeTarget};
use paceline_syntax::{Error, PluginStatement, Result};
use paceline_types::error_code::*;

/// Libraries of MariaDB whose plugins are part of this server.
const BUILT_IN_LIBRARIES: [&str; 4] = [
    "auth_ed25519",
    "auth_socket",
    "caching_sha2_password",
    "ha_blackhole",
];

/// Executes INSTALL or UNINSTALL. INSTALL SONAME of a library whose plugins are here has no effect, as in MariaDB.
///
/// # Errors
/// 1142 without INSERT or DELETE on `mysql.plugin`; 1223 under the session's global read lock; 1124 for a library with
/// a path; 1968, 1305 and 1619 for the state of the plugin; 1235 for a plugin that is not here.
pub async fn execute(statement: &PluginStatement, state: &mut SessionState) -> Result<Reply> {
    if state.table_locks.is_globally_locked() {
        return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
    }
    state.commit().await?;
    let privilege = match statement {
        PluginStatement::Install { .. } | PluginStatement::InstallLibrary(_) => Privilege::Insert,
        PluginStatement::Uninstall { .. } | PluginStatement::UninstallLibrary { .. } => Privilege::Delete,
    };
    let records = PrivilegeTarget::Table {
        database: "mysql",
        table: "plugin",
    };
    state
        .services
        .authority(&state.context)
        .check(privilege, records)?;
    match statement {
        PluginStatement::Install {
            name,
            library,
            if_not_exists,
        } => {
            check_path(library)?;
            if !is_plugin(name) {
                return Err(Error::unsupported("INSTALL PLUGIN"));
            }
            unless_note(*if_not_exists, Error::new(ER_PLUGIN_INSTALLED, &[name]), state)?;
        }
        PluginStatement::InstallLibrary(library) => {
            check_path(library)?;
            if !is_built_in(library) {
                return Err(Error::unsupported("INSTALL SONAME"));
            }
        }
        PluginStatement::Uninstall { name, if_exists } => {
            if is_plugin(name) {
                return Err(Error::new(ER_PLUGIN_DELETE_BUILTIN, &[]));
            }
            let missing = Error::new(ER_SP_DOES_NOT_EXIST, &[&"PLUGIN", name]);
            unless_note(*if_exists, missing, state)?;
        }
        PluginStatement::UninstallLibrary { library, if_exists } => {
            if is_built_in(library) {
                return Err(Error::new(ER_PLUGIN_DELETE_BUILTIN, &[]));
            }
            let file = format!("{}.so", library.strip_suffix(".so").unwrap_or(library));
            let missing = Error::new(ER_SP_DOES_NOT_EXIST, &[&"SONAME", &file]);
            unless_note(*if_exists, missing, state)?;
        }
    }
    Ok(Reply::ok())
}

fn is_built_in(library: &str) -> bool {
    BUILT_IN_LIBRARIES.contains(&library.strip_suffix(".so").unwrap_or(library))
}

fn check_path(library: &str) -> Result<()> {
    match library.contains('/') {
        true => Err(Error::new(ER_UDF_NO_PATHS, &[])),
        false => Ok(()),
    }
}

/// Returns the error, or makes it a note if the statement permits this state.
fn unless_note(permitted: bool, error: Error, state: &mut SessionState) -> Result<()> {
    match permitted {
        true => {
            state.context.diagnostics.note(error.code(), error.message());
            Ok(())
        }
        false => Err(error),
    }
}
