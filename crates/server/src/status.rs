//! Counters of sessions and of the server, which SHOW STATUS and the other views of [`crate::metrics`] show.
//!
//! Each session has its own counters, which only its task writes: executing a statement touches no cache line that is
//! shared between sessions. A global value is the sum over the living sessions and of the sessions that have ended.

use crate::statistic::{Kind, Statistic, Unit};
use paceline_expression::session::StatementCounts;
use paceline_syntax::Features;
use std::sync::atomic::{AtomicU64, Ordering};

/// Declaration of a counter that each session has, and its reader.
pub struct SessionCounter {
    /// The declaration.
    pub statistic: Statistic,
    /// Returns its value.
    pub read: fn(&Counters) -> u64,
}

macro_rules! counters {
    (
        $($name:ident $status:literal $unit:ident $help:literal;)*
        ---
        $($work:ident)*
    ) => {
        /// Counters of one session, or sums of the sessions that have ended.
        #[derive(Debug, Default)]
        #[repr(C)] // The order is that of the declarations.
        #[allow(missing_docs)] // The names are those of MariaDB's status variables.
        pub struct Counters {
            $(pub $name: Counter,)*
        }

        /// Declarations of the counters, by name.
        pub static SESSION_COUNTERS: &[SessionCounter] = &[$(SessionCounter {
            statistic: Statistic {
                name: $status,
                kind: Kind::Counter,
                unit: Unit::$unit,
                help: $help,
            },
            read: |counters| counters.$name.get(),
        },)*];

        impl Counters {
            /// Returns the position of one of these counters in [`SESSION_COUNTERS`].
            #[inline]
            pub fn position(&self, counter: &Counter) -> usize {
                let offset = std::ptr::from_ref(counter).addr() - std::ptr::from_ref(self).addr();
                offset / size_of::<Counter>()
            }

            /// Adds the values of other counters.
            pub fn add_all(&self, other: &Counters) {
                $(self.$name.0.fetch_add(other.$name.get(), Ordering::Relaxed);)*
            }

            /// Adds the work of a statement.
            #[inline]
            pub fn add_work(&self, counts: &StatementCounts) {
                // Most are zero.
                $(if counts.$work > 0 {
                    self.$work.add(counts.$work);
                })*
            }

            /// Sets all counters to zero.
            pub fn reset(&self) {
                $(self.$name.0.store(0, Ordering::Relaxed);)*
            }
        }
    };
}

/// A counter with a single writer.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `by`. Only the session's own task may call it, because the addition is not atomic.
    #[inline]
    pub fn add(&self, by: u64) {
        self.0
            .store(self.0.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
    }

    /// Returns the value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

counters! {
    access_denied_errors "Access_denied_errors" Count "Logins and statements that were refused for lack of a privilege.";
    busy_time "Busy_time" FractionalSeconds "Duration of statements while userstat is on.";
    bytes_received "Bytes_received" Bytes "Bytes received from clients.";
    bytes_sent "Bytes_sent" Bytes "Bytes sent to clients.";
    com_admin_commands "Com_admin_commands" Count "Statements or commands of this kind.";
    com_alter_db "Com_alter_db" Count "Statements or commands of this kind.";
    com_alter_event "Com_alter_event" Count "Statements or commands of this kind.";
    com_alter_function "Com_alter_function" Count "Statements or commands of this kind.";
    com_alter_procedure "Com_alter_procedure" Count "Statements or commands of this kind.";
    com_alter_sequence "Com_alter_sequence" Count "Statements or commands of this kind.";
    com_alter_table "Com_alter_table" Count "Statements or commands of this kind.";
    com_alter_user "Com_alter_user" Count "Statements or commands of this kind.";
    com_analyze "Com_analyze" Count "Statements or commands of this kind.";
    com_begin "Com_begin" Count "Statements or commands of this kind.";
    com_binlog "Com_binlog" Count "Statements or commands of this kind.";
    com_call_procedure "Com_call_procedure" Count "Statements or commands of this kind.";
    com_change_db "Com_change_db" Count "Statements or commands of this kind.";
    com_change_master "Com_change_master" Count "Statements or commands of this kind.";
    com_check "Com_check" Count "Statements or commands of this kind.";
    com_checksum "Com_checksum" Count "Statements or commands of this kind.";
    com_commit "Com_commit" Count "Statements or commands of this kind.";
    com_compound_sql "Com_compound_sql" Count "Statements or commands of this kind.";
    com_create_db "Com_create_db" Count "Statements or commands of this kind.";
    com_create_event "Com_create_event" Count "Statements or commands of this kind.";
    com_create_function "Com_create_function" Count "Statements or commands of this kind.";
    com_create_index "Com_create_index" Count "Statements or commands of this kind.";
    com_create_procedure "Com_create_procedure" Count "Statements or commands of this kind.";
    com_create_role "Com_create_role" Count "Statements or commands of this kind.";
    com_create_sequence "Com_create_sequence" Count "Statements or commands of this kind.";
    com_create_table "Com_create_table" Count "Statements or commands of this kind.";
    com_create_temporary_table "Com_create_temporary_table" Count "Statements or commands of this kind.";
    com_create_trigger "Com_create_trigger" Count "Statements or commands of this kind.";
    com_create_udf "Com_create_udf" Count "Statements or commands of this kind.";
    com_create_user "Com_create_user" Count "Statements or commands of this kind.";
    com_create_view "Com_create_view" Count "Statements or commands of this kind.";
    com_dealloc_sql "Com_dealloc_sql" Count "Statements or commands of this kind.";
    com_delete "Com_delete" Count "Statements or commands of this kind.";
    com_delete_multi "Com_delete_multi" Count "Statements or commands of this kind.";
    com_do "Com_do" Count "Statements or commands of this kind.";
    com_drop_db "Com_drop_db" Count "Statements or commands of this kind.";
    com_drop_event "Com_drop_event" Count "Statements or commands of this kind.";
    com_drop_function "Com_drop_function" Count "Statements or commands of this kind.";
    com_drop_index "Com_drop_index" Count "Statements or commands of this kind.";
    com_drop_procedure "Com_drop_procedure" Count "Statements or commands of this kind.";
    com_drop_role "Com_drop_role" Count "Statements or commands of this kind.";
    com_drop_sequence "Com_drop_sequence" Count "Statements or commands of this kind.";
    com_drop_server "Com_drop_server" Count "Statements or commands of this kind.";
    com_drop_table "Com_drop_table" Count "Statements or commands of this kind.";
    com_drop_temporary_table "Com_drop_temporary_table" Count "Statements or commands of this kind.";
    com_drop_trigger "Com_drop_trigger" Count "Statements or commands of this kind.";
    com_drop_user "Com_drop_user" Count "Statements or commands of this kind.";
    com_drop_view "Com_drop_view" Count "Statements or commands of this kind.";
    com_empty_query "Com_empty_query" Count "Statements or commands of this kind.";
    com_execute_immediate "Com_execute_immediate" Count "Statements or commands of this kind.";
    com_execute_sql "Com_execute_sql" Count "Statements or commands of this kind.";
    com_flush "Com_flush" Count "Statements or commands of this kind.";
    com_get_diagnostics "Com_get_diagnostics" Count "Statements or commands of this kind.";
    com_grant "Com_grant" Count "Statements or commands of this kind.";
    com_grant_role "Com_grant_role" Count "Statements or commands of this kind.";
    com_ha_close "Com_ha_close" Count "Statements or commands of this kind.";
    com_ha_open "Com_ha_open" Count "Statements or commands of this kind.";
    com_ha_read "Com_ha_read" Count "Statements or commands of this kind.";
    com_help "Com_help" Count "Statements or commands of this kind.";
    com_insert "Com_insert" Count "Statements or commands of this kind.";
    com_insert_select "Com_insert_select" Count "Statements or commands of this kind.";
    com_install_plugin "Com_install_plugin" Count "Statements or commands of this kind.";
    com_kill "Com_kill" Count "Statements or commands of this kind.";
    com_load "Com_load" Count "Statements or commands of this kind.";
    com_lock_tables "Com_lock_tables" Count "Statements or commands of this kind.";
    com_optimize "Com_optimize" Count "Statements or commands of this kind.";
    com_prepare_sql "Com_prepare_sql" Count "Statements or commands of this kind.";
    com_purge "Com_purge" Count "Statements or commands of this kind.";
    com_purge_before_date "Com_purge_before_date" Count "Statements or commands of this kind.";
    com_release_savepoint "Com_release_savepoint" Count "Statements or commands of this kind.";
    com_rename_table "Com_rename_table" Count "Statements or commands of this kind.";
    com_rename_user "Com_rename_user" Count "Statements or commands of this kind.";
    com_repair "Com_repair" Count "Statements or commands of this kind.";
    com_replace "Com_replace" Count "Statements or commands of this kind.";
    com_replace_select "Com_replace_select" Count "Statements or commands of this kind.";
    com_reset "Com_reset" Count "Statements or commands of this kind.";
    com_resignal "Com_resignal" Count "Statements or commands of this kind.";
    com_revoke "Com_revoke" Count "Statements or commands of this kind.";
    com_revoke_all "Com_revoke_all" Count "Statements or commands of this kind.";
    com_revoke_role "Com_revoke_role" Count "Statements or commands of this kind.";
    com_rollback "Com_rollback" Count "Statements or commands of this kind.";
    com_rollback_to_savepoint "Com_rollback_to_savepoint" Count "Statements or commands of this kind.";
    com_savepoint "Com_savepoint" Count "Statements or commands of this kind.";
    com_select "Com_select" Count "Statements or commands of this kind.";
    com_set_option "Com_set_option" Count "Statements or commands of this kind.";
    com_show_analyze "Com_show_analyze" Count "Statements or commands of this kind.";
    com_show_authors "Com_show_authors" Count "Statements or commands of this kind.";
    com_show_binlog_events "Com_show_binlog_events" Count "Statements or commands of this kind.";
    com_show_binlog_status "Com_show_binlog_status" Count "Statements or commands of this kind.";
    com_show_binlogs "Com_show_binlogs" Count "Statements or commands of this kind.";
    com_show_charsets "Com_show_charsets" Count "Statements or commands of this kind.";
    com_show_collations "Com_show_collations" Count "Statements or commands of this kind.";
    com_show_contributors "Com_show_contributors" Count "Statements or commands of this kind.";
    com_show_create_db "Com_show_create_db" Count "Statements or commands of this kind.";
    com_show_create_event "Com_show_create_event" Count "Statements or commands of this kind.";
    com_show_create_func "Com_show_create_func" Count "Statements or commands of this kind.";
    com_show_create_package "Com_show_create_package" Count "Statements or commands of this kind.";
    com_show_create_package_body "Com_show_create_package_body" Count "Statements or commands of this kind.";
    com_show_create_proc "Com_show_create_proc" Count "Statements or commands of this kind.";
    com_show_create_table "Com_show_create_table" Count "Statements or commands of this kind.";
    com_show_create_trigger "Com_show_create_trigger" Count "Statements or commands of this kind.";
    com_show_create_user "Com_show_create_user" Count "Statements or commands of this kind.";
    com_show_databases "Com_show_databases" Count "Statements or commands of this kind.";
    com_show_engine_logs "Com_show_engine_logs" Count "Statements or commands of this kind.";
    com_show_engine_mutex "Com_show_engine_mutex" Count "Statements or commands of this kind.";
    com_show_engine_status "Com_show_engine_status" Count "Statements or commands of this kind.";
    com_show_errors "Com_show_errors" Count "Statements or commands of this kind.";
    com_show_events "Com_show_events" Count "Statements or commands of this kind.";
    com_show_explain "Com_show_explain" Count "Statements or commands of this kind.";
    com_show_fields "Com_show_fields" Count "Statements or commands of this kind.";
    com_show_function_status "Com_show_function_status" Count "Statements or commands of this kind.";
    com_show_generic "Com_show_generic" Count "Statements or commands of this kind.";
    com_show_grants "Com_show_grants" Count "Statements or commands of this kind.";
    com_show_keys "Com_show_keys" Count "Statements or commands of this kind.";
    com_show_open_tables "Com_show_open_tables" Count "Statements or commands of this kind.";
    com_show_package_body_status "Com_show_package_body_status" Count "Statements or commands of this kind.";
    com_show_package_status "Com_show_package_status" Count "Statements or commands of this kind.";
    com_show_plugins "Com_show_plugins" Count "Statements or commands of this kind.";
    com_show_privileges "Com_show_privileges" Count "Statements or commands of this kind.";
    com_show_procedure_status "Com_show_procedure_status" Count "Statements or commands of this kind.";
    com_show_processlist "Com_show_processlist" Count "Statements or commands of this kind.";
    com_show_profile "Com_show_profile" Count "Statements or commands of this kind.";
    com_show_profiles "Com_show_profiles" Count "Statements or commands of this kind.";
    com_show_relaylog_events "Com_show_relaylog_events" Count "Statements or commands of this kind.";
    com_show_slave_hosts "Com_show_slave_hosts" Count "Statements or commands of this kind.";
    com_show_slave_status "Com_show_slave_status" Count "Statements or commands of this kind.";
    com_show_status "Com_show_status" Count "Statements or commands of this kind.";
    com_show_storage_engines "Com_show_storage_engines" Count "Statements or commands of this kind.";
    com_show_table_status "Com_show_table_status" Count "Statements or commands of this kind.";
    com_show_tables "Com_show_tables" Count "Statements or commands of this kind.";
    com_show_triggers "Com_show_triggers" Count "Statements or commands of this kind.";
    com_show_variables "Com_show_variables" Count "Statements or commands of this kind.";
    com_show_warnings "Com_show_warnings" Count "Statements or commands of this kind.";
    com_shutdown "Com_shutdown" Count "Statements or commands of this kind.";
    com_signal "Com_signal" Count "Statements or commands of this kind.";
    com_start_all_slaves "Com_start_all_slaves" Count "Statements or commands of this kind.";
    com_start_slave "Com_start_slave" Count "Statements or commands of this kind.";
    com_stmt_close "Com_stmt_close" Count "Statements or commands of this kind.";
    com_stmt_execute "Com_stmt_execute" Count "Statements or commands of this kind.";
    com_stmt_fetch "Com_stmt_fetch" Count "Statements or commands of this kind.";
    com_stmt_prepare "Com_stmt_prepare" Count "Statements or commands of this kind.";
    com_stmt_reprepare "Com_stmt_reprepare" Count "Statements or commands of this kind.";
    com_stmt_reset "Com_stmt_reset" Count "Statements or commands of this kind.";
    com_stmt_send_long_data "Com_stmt_send_long_data" Count "Statements or commands of this kind.";
    com_stop_all_slaves "Com_stop_all_slaves" Count "Statements or commands of this kind.";
    com_stop_slave "Com_stop_slave" Count "Statements or commands of this kind.";
    com_truncate "Com_truncate" Count "Statements or commands of this kind.";
    com_uninstall_plugin "Com_uninstall_plugin" Count "Statements or commands of this kind.";
    com_unlock_tables "Com_unlock_tables" Count "Statements or commands of this kind.";
    com_update "Com_update" Count "Statements or commands of this kind.";
    com_update_multi "Com_update_multi" Count "Statements or commands of this kind.";
    cpu_time "Cpu_time" FractionalSeconds "Processor time of statements while userstat is on.";
    created_tmp_disk_tables "Created_tmp_disk_tables" Count "Temporary results that did not fit in memory.";
    created_tmp_files "Created_tmp_files" Count "Temporary files of sorts.";
    created_tmp_tables "Created_tmp_tables" Count "Temporary results: derived tables, groups, DISTINCT, UNION, tables of information_schema.";
    delete_scan "Delete_scan" Count "DELETE statements that searched a table without an index.";
    empty_queries "Empty_queries" Count "Queries that returned no rows.";
    executed_events "Executed_events" Count "Runs of events.";
    executed_triggers "Executed_triggers" Count "Runs of triggers.";
    feature_dynamic_columns "Feature_dynamic_columns" Count "Uses of COLUMN_CREATE() and COLUMN_ADD() in statements.";
    feature_insert_returning "Feature_insert_returning" Count "INSERT and REPLACE with RETURNING.";
    feature_json "Feature_json" Count "Uses of functions of JSON in statements.";
    feature_subquery "Feature_subquery" Count "Subqueries in expressions of statements.";
    feature_window_functions "Feature_window_functions" Count "Statements with window functions.";
    feature_xml "Feature_xml" Count "Uses of functions of XML in statements.";
    handler_commit "Handler_commit" Count "Statements and transactions that were committed after they used a table.";
    handler_delete "Handler_delete" Count "Rows that statements deleted.";
    handler_read_first "Handler_read_first" Count "Reads of the first entry of an index.";
    handler_read_key "Handler_read_key" Count "Reads of a row or a range by a key.";
    handler_read_last "Handler_read_last" Count "Reads of the last entry of an index.";
    handler_read_next "Handler_read_next" Count "Reads of the next entry of an index.";
    handler_read_prev "Handler_read_prev" Count "Reads of the previous entry of an index.";
    handler_read_rnd "Handler_read_rnd" Count "Reads of a row at its known place: sorted rows, rows to be changed.";
    handler_read_rnd_next "Handler_read_rnd_next" Count "Reads of the next row of a table or of a temporary result.";
    handler_rollback "Handler_rollback" Count "Statements and transactions that were rolled back after they used a table.";
    handler_savepoint "Handler_savepoint" Count "Savepoints in transactions that used a table.";
    handler_savepoint_rollback "Handler_savepoint_rollback" Count "Rollbacks to such a savepoint.";
    handler_tmp_update "Handler_tmp_update" Count "Changes of rows of temporary results: rows that join a group.";
    handler_tmp_write "Handler_tmp_write" Count "Rows written to temporary results.";
    handler_update "Handler_update" Count "Rows that statements updated.";
    handler_write "Handler_write" Count "Rows that statements tried to insert.";
    master_gtid_wait_count "Master_gtid_wait_count" Count "Calls of MASTER_GTID_WAIT().";
    master_gtid_wait_time "Master_gtid_wait_time" Microseconds "Time spent in MASTER_GTID_WAIT().";
    master_gtid_wait_timeouts "Master_gtid_wait_timeouts" Count "Calls of MASTER_GTID_WAIT() that ended by their timeout.";
    max_statement_time_exceeded "Max_statement_time_exceeded" Count "Statements that were ended by max_statement_time.";
    query_time "Query_time" FractionalSeconds "Duration of statements.";
    questions "Questions" Count "Commands and statements sent by clients.";
    rows_read "Rows_read" Count "Rows fetched from tables.";
    rows_sent "Rows_sent" Count "Rows sent to clients.";
    rows_tmp_read "Rows_tmp_read" Count "Rows read from temporary results.";
    select_full_join "Select_full_join" Count "Joined tables that were read without an index.";
    select_full_range_join "Select_full_range_join" Count "Joined tables that were read by ranges of an index.";
    select_range "Select_range" Count "Queries whose first table was read by ranges of an index.";
    select_scan "Select_scan" Count "Queries whose first table was read without an index or in whole.";
    slave_connections "Slave_connections" Count "Registrations of replicas.";
    slow_queries "Slow_queries" Count "Statements that took longer than long_query_time.";
    sort_merge_passes "Sort_merge_passes" Count "Sorts that were merged from files.";
    sort_priority_queue_sorts "Sort_priority_queue_sorts" Count "Sorts that kept only the rows of a LIMIT.";
    sort_range "Sort_range" Count "Sorts of rows found by an index.";
    sort_rows "Sort_rows" Count "Rows that were sorted.";
    sort_scan "Sort_scan" Count "Sorts of rows found without an index, and of temporary results.";
    subquery_cache_hit "Subquery_cache_hit" Count "Results of correlated subqueries that were found among those of earlier outer rows.";
    subquery_cache_miss "Subquery_cache_miss" Count "Correlated subqueries that ran because no earlier outer row had the same values.";
    update_scan "Update_scan" Count "UPDATE statements that searched a table without an index.";
    ---
    created_tmp_disk_tables
    executed_triggers
    created_tmp_files
    created_tmp_tables
    delete_scan
    handler_commit
    handler_delete
    handler_read_first
    handler_read_key
    handler_read_last
    handler_read_next
    handler_read_prev
    handler_read_rnd
    handler_read_rnd_next
    handler_rollback
    handler_savepoint
    handler_savepoint_rollback
    handler_tmp_update
    handler_tmp_write
    handler_update
    handler_write
    rows_read
    rows_tmp_read
    select_full_join
    select_full_range_join
    select_range
    select_scan
    sort_merge_passes
    sort_priority_queue_sorts
    sort_range
    sort_rows
    sort_scan
    subquery_cache_hit
    subquery_cache_miss
    update_scan
}

impl Counters {
    /// Adds the features that a text uses.
    #[cold]
    pub fn add_features(&self, features: &Features) {
        self.feature_subquery.add(features.subqueries.into());
        self.feature_json.add(features.json.into());
        self.feature_xml.add(features.xml.into());
        self.feature_dynamic_columns.add(features.dynamic_columns.into());
    }
}

/// Counters of the whole server. They change rarely enough to be shared.
#[derive(Debug, Default)]
pub struct ServerCounters {
    /// Number of attempted connections: `Connections`, and the source of connection ids.
    pub connections: AtomicU64,
    /// `Aborted_connects`.
    pub aborted_connects: AtomicU64,
    /// `Aborted_connects_preauth`: those of them whose login did not begin.
    pub aborted_connects_preauth: AtomicU64,
    /// `Aborted_clients`.
    pub aborted_clients: AtomicU64,
    /// `Connection_errors_accept`.
    pub accept_errors: AtomicU64,
    /// `Connection_errors_max_connections`.
    pub too_many_connections: AtomicU64,
    /// `Max_used_connections`.
    pub connections_max: AtomicU64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_sessions_add_up_under_sorted_names() {
        let (total, session) = (Counters::default(), Counters::default());
        session.com_select.add(2);
        session.questions.add(3);
        total.add_all(&session);
        total.add_all(&session);
        assert_eq!(
            (
                total.com_select.get(),
                total.questions.get(),
                total.com_insert.get()
            ),
            (4, 6, 0)
        );
        assert!(SESSION_COUNTERS.is_sorted_by_key(|counter| counter.statistic.name));
    }

    #[test]
    fn positions_are_those_of_the_declarations() {
        let counters = Counters::default();
        let name = |counter| SESSION_COUNTERS[counters.position(counter)].statistic.name;
        assert_eq!(name(&counters.access_denied_errors), "Access_denied_errors");
        assert_eq!(name(&counters.com_select), "Com_select");
        assert_eq!(name(&counters.update_scan), "Update_scan");
    }
}
