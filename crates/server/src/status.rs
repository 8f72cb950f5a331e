//! Counters of `SHOW STATUS`.
//!
//! Each session has its own counters, which only its task writes: executing a statement touches no cache line that is
//! shared between sessions. A global value is the sum over the living sessions and of the sessions that have ended.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($name:ident $status:literal;)*) => {
        /// Counters of one session, or sums of the sessions that have ended.
        #[derive(Debug, Default)]
        #[allow(missing_docs)] // The names are those of MariaDB's status variables.
        pub struct Counters {
            $(pub $name: Counter,)*
        }

        impl Counters {
            /// Returns name and value of each counter, by name.
            pub fn list(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$(($status, self.$name.get()),)*].into_iter()
            }

            /// Adds the values of other counters.
            pub fn add_all(&self, other: &Counters) {
                $(self.$name.0.fetch_add(other.$name.get(), Ordering::Relaxed);)*
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
    bytes_received "Bytes_received";
    bytes_sent "Bytes_sent";
    com_admin_commands "Com_admin_commands";
    com_alter_db "Com_alter_db";
    com_alter_event "Com_alter_event";
    com_alter_function "Com_alter_function";
    com_alter_procedure "Com_alter_procedure";
    com_alter_sequence "Com_alter_sequence";
    com_alter_table "Com_alter_table";
    com_alter_user "Com_alter_user";
    com_analyze "Com_analyze";
    com_begin "Com_begin";
    com_binlog "Com_binlog";
    com_call_procedure "Com_call_procedure";
    com_change_db "Com_change_db";
    com_change_master "Com_change_master";
    com_check "Com_check";
    com_checksum "Com_checksum";
    com_commit "Com_commit";
    com_create_db "Com_create_db";
    com_create_event "Com_create_event";
    com_create_function "Com_create_function";
    com_create_index "Com_create_index";
    com_create_procedure "Com_create_procedure";
    com_create_role "Com_create_role";
    com_create_sequence "Com_create_sequence";
    com_create_table "Com_create_table";
    com_create_trigger "Com_create_trigger";
    com_create_user "Com_create_user";
    com_create_view "Com_create_view";
    com_dealloc_sql "Com_dealloc_sql";
    com_delete "Com_delete";
    com_do "Com_do";
    com_drop_db "Com_drop_db";
    com_drop_event "Com_drop_event";
    com_drop_function "Com_drop_function";
    com_drop_index "Com_drop_index";
    com_drop_procedure "Com_drop_procedure";
    com_drop_role "Com_drop_role";
    com_drop_sequence "Com_drop_sequence";
    com_drop_table "Com_drop_table";
    com_drop_trigger "Com_drop_trigger";
    com_drop_user "Com_drop_user";
    com_drop_view "Com_drop_view";
    com_execute_immediate "Com_execute_immediate";
    com_execute_sql "Com_execute_sql";
    com_flush "Com_flush";
    com_grant "Com_grant";
    com_grant_role "Com_grant_role";
    com_help "Com_help";
    com_insert "Com_insert";
    com_insert_select "Com_insert_select";
    com_kill "Com_kill";
    com_load "Com_load";
    com_lock_tables "Com_lock_tables";
    com_optimize "Com_optimize";
    com_prepare_sql "Com_prepare_sql";
    com_purge "Com_purge";
    com_release_savepoint "Com_release_savepoint";
    com_rename_table "Com_rename_table";
    com_rename_user "Com_rename_user";
    com_repair "Com_repair";
    com_replace "Com_replace";
    com_replace_select "Com_replace_select";
    com_reset "Com_reset";
    com_revoke "Com_revoke";
    com_revoke_role "Com_revoke_role";
    com_rollback "Com_rollback";
    com_rollback_to_savepoint "Com_rollback_to_savepoint";
    com_savepoint "Com_savepoint";
    com_select "Com_select";
    com_set_option "Com_set_option";
    com_show "Com_show";
    com_shutdown "Com_shutdown";
    com_start_slave "Com_start_slave";
    com_stmt_close "Com_stmt_close";
    com_stmt_execute "Com_stmt_execute";
    com_stmt_fetch "Com_stmt_fetch";
    com_stmt_prepare "Com_stmt_prepare";
    com_stmt_reprepare "Com_stmt_reprepare";
    com_stmt_reset "Com_stmt_reset";
    com_stmt_send_long_data "Com_stmt_send_long_data";
    com_stop_slave "Com_stop_slave";
    com_truncate "Com_truncate";
    com_unlock_tables "Com_unlock_tables";
    com_update "Com_update";
    empty_queries "Empty_queries";
    feature_window_functions "Feature_window_functions";
    master_gtid_wait_count "Master_gtid_wait_count";
    master_gtid_wait_time "Master_gtid_wait_time";
    master_gtid_wait_timeouts "Master_gtid_wait_timeouts";
    max_statement_time_exceeded "Max_statement_time_exceeded";
    questions "Questions";
    rows_sent "Rows_sent";
    slow_queries "Slow_queries";
}

/// Counters of the whole server. They change rarely enough to be shared.
#[derive(Debug, Default)]
pub struct ServerCounters {
    /// Number of attempted connections: `Connections`, and the source of connection ids.
    pub connections: AtomicU64,
    /// `Aborted_connects`.
    pub aborted_connects: AtomicU64,
    /// `Aborted_clients`.
    pub aborted_clients: AtomicU64,
    /// `Access_denied_errors`.
    pub access_denied: AtomicU64,
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
        let list: std::collections::HashMap<_, _> = total.list().collect();
        assert_eq!(
            (list["Com_select"], list["Questions"], list["Com_insert"]),
            (4, 6, 0)
        );
        let names: Vec<_> = total.list().map(|(name, _)| name).collect();
        assert!(names.is_sorted());
    }
}
