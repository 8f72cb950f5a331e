//! Counters of statements by kind: `Com_…`.
//!
//! As in MariaDB a statement counts when it begins, also if it then fails. What is counted is the statement within
//! EXPLAIN, ANALYZE and SET STATEMENT, and for EXECUTE both statements. Statements of stored programs count like those
//! of clients. CALL is counted where procedures are found, because programs call them without a statement.

use crate::status::{Counter, Counters};
use paceline_syntax::definition::{AlterOrigin, DdlStatement};
use paceline_syntax::{
    AccountStatement, Delete, HandlerStatement, Insert, InsertKind, InsertSource, PluginStatement, Purge,
    ReplicationStatement, RoutineType, Show, Statement, TableMaintenance, TransactionStatement, Update,
};

/// Counts a statement that begins.
#[inline]
pub fn count_command(statement: &Statement, counters: &Counters) {
    if let Statement::Insert(insert) = statement
        && !insert.returning.is_empty()
    {
        counters.feature_insert_returning.add(1);
    }
    if let Some(counter) = counter_of(statement, counters) {
        counter.add(1);
    }
}

/// Returns the counter that a statement of a client advances when it begins.
#[inline]
pub fn counter_of_client<'c>(statement: &Statement, counters: &'c Counters) -> Option<&'c Counter> {
    match statement {
        Statement::SetStatement { statement, .. } => counter_of_client(statement, counters),
        Statement::Call { .. } => Some(&counters.com_call_procedure),
        // The temporary table is a detail of these.
        Statement::Ddl(DdlStatement::CreateTable(_)) => Some(&counters.com_create_table),
        Statement::Ddl(DdlStatement::DropTables { .. }) => Some(&counters.com_drop_table),
        Statement::Ddl(DdlStatement::DropSequences { .. }) => Some(&counters.com_drop_sequence),
        _ => counter_of(statement, counters),
    }
}

#[inline]
fn counter_of<'c>(statement: &Statement, counters: &'c Counters) -> Option<&'c Counter> {
    Some(match statement {
        // The most frequent ones first.
        Statement::Query(_) => &counters.com_select,
        Statement::Insert(insert) => of_insert(insert, counters),
        Statement::Update(update) => of_update(update, counters),
        Statement::Delete(delete) => of_delete(delete, counters),
        Statement::Transaction(statement) => of_transaction(statement, counters),
        _ => return of_other(statement, counters),
    })
}

fn of_insert<'c>(insert: &Insert, counters: &'c Counters) -> &'c Counter {
    match (insert.kind, &insert.source) {
        (InsertKind::Insert, InsertSource::Values(_)) => &counters.com_insert,
        (InsertKind::Insert, InsertSource::Query(_)) => &counters.com_insert_select,
        (InsertKind::Replace, InsertSource::Values(_)) => &counters.com_replace,
        (InsertKind::Replace, InsertSource::Query(_)) => &counters.com_replace_select,
    }
}

fn of_update<'c>(update: &Update, counters: &'c Counters) -> &'c Counter {
    match &update.tables[..] {
        [table] if table.joins.is_empty() => &counters.com_update,
        _ => &counters.com_update_multi,
    }
}

fn of_delete<'c>(delete: &Delete, counters: &'c Counters) -> &'c Counter {
    match delete.targets.is_empty() {
        true => &counters.com_delete,
        false => &counters.com_delete_multi,
    }
}

fn of_transaction<'c>(statement: &TransactionStatement, counters: &'c Counters) -> &'c Counter {
    match statement {
        TransactionStatement::Start { .. } => &counters.com_begin,
        TransactionStatement::Commit(_) => &counters.com_commit,
        TransactionStatement::Rollback(_) => &counters.com_rollback,
        TransactionStatement::Savepoint(_) => &counters.com_savepoint,
        TransactionStatement::RollbackTo(_) => &counters.com_rollback_to_savepoint,
        TransactionStatement::Release(_) => &counters.com_release_savepoint,
    }
}

fn of_other<'c>(statement: &Statement, counters: &'c Counters) -> Option<&'c Counter> {
    Some(match statement {
        Statement::Empty => &counters.com_empty_query,
        Statement::Do(_) => &counters.com_do,
        Statement::LoadData(_) => &counters.com_load,
        Statement::Handler(handler) => match &**handler {
            HandlerStatement::Open { .. } => &counters.com_ha_open,
            HandlerStatement::Read(_) => &counters.com_ha_read,
            HandlerStatement::Close(_) => &counters.com_ha_close,
        },
        Statement::Set(_) => &counters.com_set_option,
        Statement::Use(_) => &counters.com_change_db,
        Statement::Show(show) => return of_show(show, counters),
        Statement::Explain(explain) => return counter_of(&explain.statement, counters),
        Statement::Prepare { .. } => &counters.com_prepare_sql,
        Statement::Execute { .. } => &counters.com_execute_sql,
        Statement::ExecuteImmediate { .. } => &counters.com_execute_immediate,
        Statement::Deallocate(_) => &counters.com_dealloc_sql,
        Statement::Ddl(statement) => of_definition(statement, counters),
        Statement::Compound(_) => &counters.com_compound_sql,
        Statement::Signal(signal) if signal.resignal => &counters.com_resignal,
        Statement::Signal(_) => &counters.com_signal,
        Statement::GetDiagnostics(_) => &counters.com_get_diagnostics,
        Statement::Account(statement) => of_account(statement, counters),
        Statement::TableMaintenance { operation, .. } => match operation {
            TableMaintenance::Analyze | TableMaintenance::AnalyzePersistent => &counters.com_analyze,
            TableMaintenance::Check => &counters.com_check,
            TableMaintenance::Optimize => &counters.com_optimize,
            TableMaintenance::Repair => &counters.com_repair,
        },
        Statement::ChecksumTable { .. } => &counters.com_checksum,
        Statement::Kill(_) => &counters.com_kill,
        Statement::Flush { .. } => &counters.com_flush,
        Statement::Purge(Purge::To(_)) => &counters.com_purge,
        Statement::Purge(Purge::Before(_)) => &counters.com_purge_before_date,
        Statement::Reset(_) => &counters.com_reset,
        Statement::LockTables(_) => &counters.com_lock_tables,
        Statement::UnlockTables => &counters.com_unlock_tables,
        Statement::Help(_) => &counters.com_help,
        Statement::Binlog(_) => &counters.com_binlog,
        Statement::Shutdown => &counters.com_shutdown,
        Statement::Replication(statement) => match statement {
            ReplicationStatement::ChangeMaster { .. } => &counters.com_change_master,
            ReplicationStatement::Start { all: false, .. } => &counters.com_start_slave,
            ReplicationStatement::Start { .. } => &counters.com_start_all_slaves,
            ReplicationStatement::Stop { all: false, .. } => &counters.com_stop_slave,
            ReplicationStatement::Stop { .. } => &counters.com_stop_all_slaves,
        },
        Statement::Plugin(statement) => match statement {
            PluginStatement::Install { .. } | PluginStatement::InstallLibrary(_) => {
                &counters.com_install_plugin
            }
            PluginStatement::Uninstall { .. } | PluginStatement::UninstallLibrary { .. } => {
                &counters.com_uninstall_plugin
            }
        },
        // The statement within is counted.
        Statement::SetStatement { .. }
        // Not MariaDB's.
        | Statement::Backup(_)
        // Counted elsewhere.
        | Statement::Call { .. }
        | Statement::Query(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Transaction(_)
        | Statement::Unsupported(_) => return None,
    })
}

fn of_account<'c>(statement: &AccountStatement, counters: &'c Counters) -> &'c Counter {
    match statement {
        AccountStatement::Create { .. } => &counters.com_create_user,
        AccountStatement::Alter { .. } => &counters.com_alter_user,
        AccountStatement::Drop { .. } => &counters.com_drop_user,
        AccountStatement::Rename(_) => &counters.com_rename_user,
        AccountStatement::Grant { .. } | AccountStatement::GrantProxy { .. } => &counters.com_grant,
        AccountStatement::Revoke { .. } | AccountStatement::RevokeProxy { .. } => &counters.com_revoke,
        AccountStatement::RevokeAll(_) => &counters.com_revoke_all,
        AccountStatement::CreateRoles { .. } => &counters.com_create_role,
        AccountStatement::DropRoles { .. } => &counters.com_drop_role,
        AccountStatement::GrantRole { .. } => &counters.com_grant_role,
        AccountStatement::RevokeRole { .. } => &counters.com_revoke_role,
        AccountStatement::SetPassword { .. } | AccountStatement::SetDefaultRole { .. } => {
            &counters.com_set_option
        }
    }
}

fn of_definition<'c>(statement: &DdlStatement, counters: &'c Counters) -> &'c Counter {
    match statement {
        DdlStatement::CreateDatabase { .. } => &counters.com_create_db,
        DdlStatement::AlterDatabase { .. } => &counters.com_alter_db,
        DdlStatement::DropDatabase { .. } => &counters.com_drop_db,
        DdlStatement::CreateTable(create) if create.temporary => &counters.com_create_temporary_table,
        DdlStatement::CreateTable(_) => &counters.com_create_table,
        DdlStatement::AlterTable(alter) => match alter.origin {
            AlterOrigin::AlterTable => &counters.com_alter_table,
            AlterOrigin::CreateIndex | AlterOrigin::CreateOrReplaceIndex => &counters.com_create_index,
            AlterOrigin::DropIndex => &counters.com_drop_index,
        },
        DdlStatement::DropTables { temporary: true, .. }
        | DdlStatement::DropSequences { temporary: true, .. } => &counters.com_drop_temporary_table,
        DdlStatement::DropTables { .. } => &counters.com_drop_table,
        DdlStatement::DropServer { .. } => &counters.com_drop_server,
        DdlStatement::CreateSequence(_) => &counters.com_create_sequence,
        DdlStatement::AlterSequence(_) => &counters.com_alter_sequence,
        DdlStatement::DropSequences { .. } => &counters.com_drop_sequence,
        DdlStatement::TruncateTable(_) => &counters.com_truncate,
        DdlStatement::RenameTables { .. } => &counters.com_rename_table,
        DdlStatement::CreateView(_) => &counters.com_create_view,
        DdlStatement::DropViews { .. } => &counters.com_drop_view,
        DdlStatement::CreateRoutine(routine) => match routine.kind.routine_type() {
            RoutineType::Procedure => &counters.com_create_procedure,
            RoutineType::Function => &counters.com_create_function,
        },
        DdlStatement::CreateLoadableFunction(_) => &counters.com_create_udf,
        DdlStatement::AlterRoutine { kind, .. } => match kind {
            RoutineType::Procedure => &counters.com_alter_procedure,
            RoutineType::Function => &counters.com_alter_function,
        },
        DdlStatement::DropRoutine { kind, .. } => match kind {
            RoutineType::Procedure => &counters.com_drop_procedure,
            RoutineType::Function => &counters.com_drop_function,
        },
        DdlStatement::CreateTrigger(_) => &counters.com_create_trigger,
        DdlStatement::DropTrigger { .. } => &counters.com_drop_trigger,
        DdlStatement::CreateEvent(_) => &counters.com_create_event,
        DdlStatement::AlterEvent(_) => &counters.com_alter_event,
        DdlStatement::DropEvent { .. } => &counters.com_drop_event,
    }
}

fn of_show<'c>(show: &Show, counters: &'c Counters) -> Option<&'c Counter> {
    Some(match show {
        Show::Databases(_) => &counters.com_show_databases,
        Show::Tables { .. } => &counters.com_show_tables,
        Show::TableStatus { .. } => &counters.com_show_table_status,
        Show::OpenTables { .. } => &counters.com_show_open_tables,
        Show::Columns { .. } => &counters.com_show_fields,
        Show::Index { .. } => &counters.com_show_keys,
        Show::Variables { .. } => &counters.com_show_variables,
        Show::Status { .. } => &counters.com_show_status,
        Show::Warnings(_) => &counters.com_show_warnings,
        Show::Errors(_) => &counters.com_show_errors,
        // In MariaDB these read system variables.
        Show::CountWarnings | Show::CountErrors => &counters.com_select,
        Show::Engines => &counters.com_show_storage_engines,
        Show::EngineStatus { what, .. } => match &what.to_ascii_uppercase()[..] {
            "MUTEX" => &counters.com_show_engine_mutex,
            "LOGS" => &counters.com_show_engine_logs,
            _ => &counters.com_show_engine_status,
        },
        Show::CharacterSets(_) => &counters.com_show_charsets,
        Show::Collations(_) => &counters.com_show_collations,
        Show::ProcessList { .. } => &counters.com_show_processlist,
        Show::Grants(_) => &counters.com_show_grants,
        Show::Privileges => &counters.com_show_privileges,
        Show::MasterStatus => &counters.com_show_binlog_status,
        Show::BinaryLogs => &counters.com_show_binlogs,
        Show::BinlogEvents { relay_log: false, .. } => &counters.com_show_binlog_events,
        Show::BinlogEvents { .. } => &counters.com_show_relaylog_events,
        Show::SlaveStatus { .. } => &counters.com_show_slave_status,
        Show::SlaveHosts => &counters.com_show_slave_hosts,
        Show::ClusterStatus => return None,
        Show::Triggers { .. } => &counters.com_show_triggers,
        Show::Events { .. } => &counters.com_show_events,
        Show::RoutineStatus { kind, .. } => match *kind {
            "FUNCTION" => &counters.com_show_function_status,
            "PROCEDURE" => &counters.com_show_procedure_status,
            "PACKAGE" => &counters.com_show_package_status,
            _ => &counters.com_show_package_body_status,
        },
        Show::Plugins => &counters.com_show_plugins,
        Show::CreateTable(_) => &counters.com_show_create_table,
        Show::CreateOther { kind, .. } => match *kind {
            "VIEW" | "SEQUENCE" => &counters.com_show_create_table,
            "PROCEDURE" => &counters.com_show_create_proc,
            "FUNCTION" => &counters.com_show_create_func,
            "TRIGGER" => &counters.com_show_create_trigger,
            "EVENT" => &counters.com_show_create_event,
            "PACKAGE" => &counters.com_show_create_package,
            "PACKAGE BODY" => &counters.com_show_create_package_body,
            _ => return None,
        },
        Show::CreateDatabase { .. } => &counters.com_show_create_db,
        Show::CreateUser(_) => &counters.com_show_create_user,
        Show::Profiles => &counters.com_show_profiles,
        Show::Profile => &counters.com_show_profile,
        Show::Authors => &counters.com_show_authors,
        Show::Contributors => &counters.com_show_contributors,
        Show::ExplainFor { flavour, .. } => match flavour.is_analyzed() {
            true => &counters.com_show_analyze,
            false => &counters.com_show_explain,
        },
        Show::Statistics(_) => &counters.com_show_generic,
    })
}
