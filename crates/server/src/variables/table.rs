//! The system variables: name, scope, whether it can be set, type with its range, default.
//!
//! Names, scopes, ranges and defaults are those of MariaDB 10.11's `information_schema.SYSTEM_VARIABLES`, less the variables of
//! engines and features that are not here. Some are accepted for the sake of clients and dumps and change nothing; docs/variables.md
//! says which. Those that start with `paceline_` are ours.

use super::definition::{Access::*, Definition, Kind::*, Scope::*, variable};

/// Makes [`Variable`] and [`TABLE`] of one list, which must be in the order of the names.
macro_rules! system_variables {
    ($($variant:ident $name:literal $scope:ident $access:ident $kind:expr => $default:expr;)*) => {
        /// A system variable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        #[allow(missing_docs)] // The names are MariaDB's.
        pub enum Variable {
            $($variant,)*
        }

        /// All variables, in the order of their names, which is that of [`Variable`].
        pub static TABLE: &[Definition] = &[
            $(variable(Variable::$variant, $name, $scope, $access, $kind, $default),)*
        ];
    };
}

#[rustfmt::skip]
mod list {
    use super::*;

    system_variables! {
        AlterAlgorithm "alter_algorithm" Both Dynamic Enum(&["DEFAULT", "COPY", "INPLACE", "NOCOPY", "INSTANT"]) => Some("DEFAULT");
        AnalyzeSamplePercentage "analyze_sample_percentage" Both Dynamic Double { min: 0.0, max: 100.0 } => Some("100.000000");
        AutoIncrementIncrement "auto_increment_increment" Both Dynamic Unsigned { min: 1, max: 65535, block: 1 } => Some("1");
        AutoIncrementOffset "auto_increment_offset" Both Dynamic Unsigned { min: 1, max: 65535, block: 1 } => Some("1");
        Autocommit "autocommit" Both Dynamic Boolean => Some("ON");
        AutomaticSpPrivileges "automatic_sp_privileges" Global Dynamic Boolean => Some("ON");
        BackLog "back_log" Global Fixed Unsigned { min: 0, max: 65535, block: 1 } => Some("150");
        Basedir "basedir" Global Fixed Text => Some("");
        BigTables "big_tables" Both Dynamic Boolean => Some("OFF");
        BindAddress "bind_address" Global Fixed Text => Some("127.0.0.1");
        BinlogAnnotateRowEvents "binlog_annotate_row_events" Both Dynamic Boolean => Some("ON");
        BinlogCacheSize "binlog_cache_size" Global Dynamic Unsigned { min: 4096, max: u64::MAX, block: 4096 } => Some("32768");
        BinlogChecksum "binlog_checksum" Global Dynamic Enum(&["NONE", "CRC32"]) => Some("CRC32");
        BinlogCommitWaitCount "binlog_commit_wait_count" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        BinlogCommitWaitUsec "binlog_commit_wait_usec" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("100000");
        BinlogExpireLogsSeconds "binlog_expire_logs_seconds" Global Dynamic Unsigned { min: 0, max: 8553600, block: 1 } => Some("0");
        BinlogFormat "binlog_format" Both Dynamic Enum(&["MIXED", "STATEMENT", "ROW"]) => Some("ROW");
        BinlogLargeCommitThreshold "binlog_large_commit_threshold" Global Dynamic Unsigned { min: 10485760, max: u64::MAX, block: 1 } => Some("67108864");
        BinlogRowEventMaxSize "binlog_row_event_max_size" Global Fixed Unsigned { min: 256, max: 4294967040, block: 256 } => Some("8192");
        BinlogRowImage "binlog_row_image" Both Dynamic Enum(&["MINIMAL", "NOBLOB", "FULL"]) => Some("FULL");
        BinlogRowMetadata "binlog_row_metadata" Global Dynamic Enum(&["NO_LOG", "MINIMAL", "FULL"]) => Some("NO_LOG");
        BinlogStmtCacheSize "binlog_stmt_cache_size" Global Dynamic Unsigned { min: 4096, max: u64::MAX, block: 4096 } => Some("32768");
        BulkInsertBufferSize "bulk_insert_buffer_size" Both Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("8388608");
        CharacterSetClient "character_set_client" Both Dynamic Charset => Some("utf8mb4");
        CharacterSetConnection "character_set_connection" Both Dynamic Charset => Some("utf8mb4");
        CharacterSetDatabase "character_set_database" Both Dynamic Charset => Some("utf8mb4");
        CharacterSetFilesystem "character_set_filesystem" Both Dynamic Charset => Some("binary");
        CharacterSetResults "character_set_results" Both Dynamic Charset => Some("utf8mb4");
        CharacterSetServer "character_set_server" Both Dynamic Charset => Some("utf8mb4");
        CharacterSetSystem "character_set_system" Global Fixed Charset => Some("utf8mb3");
        CharacterSetsDir "character_sets_dir" Global Fixed Text => Some("");
        CheckConstraintChecks "check_constraint_checks" Both Dynamic Boolean => Some("ON");
        CollationConnection "collation_connection" Both Dynamic Collation => Some("utf8mb4_general_ci");
        CollationDatabase "collation_database" Both Dynamic Collation => Some("utf8mb4_general_ci");
        CollationServer "collation_server" Both Dynamic Collation => Some("utf8mb4_general_ci");
        CompletionType "completion_type" Both Dynamic Enum(&["NO_CHAIN", "CHAIN", "RELEASE"]) => Some("NO_CHAIN");
        ConcurrentInsert "concurrent_insert" Global Dynamic Enum(&["NEVER", "AUTO", "ALWAYS"]) => Some("AUTO");
        ConnectTimeout "connect_timeout" Global Dynamic Unsigned { min: 2, max: 31536000, block: 1 } => Some("10");
        CoreFile "core_file" Global Fixed Boolean => Some("OFF");
        Datadir "datadir" Global Fixed Text => Some("");
        DateFormat "date_format" Global Fixed Text => Some("%Y-%m-%d");
        DatetimeFormat "datetime_format" Global Fixed Text => Some("%Y-%m-%d %H:%i:%s");
        DefaultMasterConnection "default_master_connection" SessionOnly Dynamic Text => Some("");
        DefaultStorageEngine "default_storage_engine" Both Dynamic Text => Some("InnoDB");
        DefaultTmpStorageEngine "default_tmp_storage_engine" Both Dynamic Text => None;
        DefaultWeekFormat "default_week_format" Both Dynamic Unsigned { min: 0, max: 7, block: 1 } => Some("0");
        DelayKeyWrite "delay_key_write" Global Dynamic Enum(&["OFF", "ON", "ALL"]) => Some("ON");
        DivPrecisionIncrement "div_precision_increment" Both Dynamic Unsigned { min: 0, max: 38, block: 1 } => Some("4");
        EqRangeIndexDiveLimit "eq_range_index_dive_limit" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("200");
        ErrorCount "error_count" SessionOnly Fixed Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        EventScheduler "event_scheduler" Global Dynamic Enum(&["OFF", "ON", "DISABLED", "ORIGINAL"]) => Some("OFF");
        ExpireLogsDays "expire_logs_days" Global Dynamic Double { min: 0.0, max: 99.0 } => Some("0");
        ExplicitDefaultsForTimestamp "explicit_defaults_for_timestamp" Both Dynamic Boolean => Some("ON");
        ExternalUser "external_user" SessionOnly Fixed Text => Some("");
        Flush "flush" Global Dynamic Boolean => Some("OFF");
        FlushTime "flush_time" Global Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("0");
        ForeignKeyChecks "foreign_key_checks" Both Dynamic Boolean => Some("ON");
        FtMaxWordLen "ft_max_word_len" Global Fixed Unsigned { min: 10, max: 84, block: 1 } => Some("84");
        FtMinWordLen "ft_min_word_len" Global Fixed Unsigned { min: 1, max: 84, block: 1 } => Some("4");
        GeneralLog "general_log" Global Dynamic Boolean => Some("OFF");
        GeneralLogFile "general_log_file" Global Dynamic Text => Some("");
        GroupConcatMaxLen "group_concat_max_len" Both Dynamic Unsigned { min: 4, max: 1073741824, block: 1 } => Some("1048576");
        GtidBinlogPos "gtid_binlog_pos" Global Fixed Text => Some("");
        GtidBinlogState "gtid_binlog_state" Global Dynamic Text => Some("");
        GtidCleanupBatchSize "gtid_cleanup_batch_size" Global Dynamic Unsigned { min: 0, max: 2147483647, block: 1 } => Some("64");
        GtidCurrentPos "gtid_current_pos" Global Fixed Text => Some("");
        GtidDomainId "gtid_domain_id" Both Dynamic Unsigned { min: 0, max: 4294967294, block: 1 } => Some("0");
        GtidIgnoreDuplicates "gtid_ignore_duplicates" Global Dynamic Boolean => Some("OFF");
        GtidPosAutoEngines "gtid_pos_auto_engines" Global Dynamic Text => Some("");
        GtidSeqNo "gtid_seq_no" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        GtidSlavePos "gtid_slave_pos" Global Dynamic Text => Some("");
        GtidStrictMode "gtid_strict_mode" Global Dynamic Boolean => Some("OFF");
        HaveCompress "have_compress" Global Fixed Text => Some("NO");
        HaveCrypt "have_crypt" Global Fixed Text => Some("NO");
        HaveDynamicLoading "have_dynamic_loading" Global Fixed Text => Some("NO");
        HaveGeometry "have_geometry" Global Fixed Text => Some("NO");
        HaveOpenssl "have_openssl" Global Fixed Text => Some("YES");
        HaveProfiling "have_profiling" Global Fixed Text => Some("NO");
        HaveQueryCache "have_query_cache" Global Fixed Text => Some("NO");
        HaveRtreeKeys "have_rtree_keys" Global Fixed Text => Some("NO");
        HaveSsl "have_ssl" Global Fixed Text => Some("DISABLED");
        HaveSymlink "have_symlink" Global Fixed Text => Some("YES");
        HistogramSize "histogram_size" Both Dynamic Unsigned { min: 0, max: 255, block: 1 } => Some("254");
        Hostname "hostname" Global Fixed Text => Some("");
        Identity "identity" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        IdleReadonlyTransactionTimeout "idle_readonly_transaction_timeout" Both Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("0");
        IdleTransactionTimeout "idle_transaction_timeout" Both Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("0");
        IdleWriteTransactionTimeout "idle_write_transaction_timeout" Both Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("0");
        InTransaction "in_transaction" SessionOnly Fixed Unsigned { min: 0, max: 1, block: 1 } => Some("0");
        InitConnect "init_connect" Global Dynamic Text => Some("");
        InitFile "init_file" Global Fixed Text => Some("");
        InitSlave "init_slave" Global Dynamic Text => Some("");
        InnodbAutoincLockMode "innodb_autoinc_lock_mode" Global Fixed Integer { min: 0, max: 2 } => Some("1");
        InnodbBufferPoolSize "innodb_buffer_pool_size" Global Dynamic Unsigned { min: 2097152, max: 18446744073701163008, block: 1048576 } => Some("134217728");
        InnodbDataHomeDir "innodb_data_home_dir" Global Fixed Text => Some("");
        InnodbDefaultRowFormat "innodb_default_row_format" Global Dynamic Enum(&["redundant", "compact", "dynamic"]) => Some("dynamic");
        InnodbDoublewrite "innodb_doublewrite" Global Fixed Boolean => Some("ON");
        InnodbFilePerTable "innodb_file_per_table" Global Dynamic Boolean => Some("ON");
        InnodbFlushLogAtTrxCommit "innodb_flush_log_at_trx_commit" Global Dynamic Unsigned { min: 0, max: 3, block: 1 } => Some("1");
        InnodbFlushMethod "innodb_flush_method" Global Fixed Enum(&["fsync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC"]) => Some("O_DIRECT");
        InnodbIoCapacity "innodb_io_capacity" Global Dynamic Unsigned { min: 100, max: 4294967295, block: 1 } => Some("200");
        InnodbLockWaitTimeout "innodb_lock_wait_timeout" Both Dynamic Unsigned { min: 0, max: 100000000, block: 1 } => Some("50");
        InnodbLogBufferSize "innodb_log_buffer_size" Global Fixed Unsigned { min: 2097152, max: 2147479552, block: 4096 } => Some("16777216");
        InnodbLogFileSize "innodb_log_file_size" Global Dynamic Unsigned { min: 4194304, max: u64::MAX, block: 4096 } => Some("100663296");
        InnodbPageSize "innodb_page_size" Global Fixed Unsigned { min: 4096, max: 65536, block: 1 } => Some("16384");
        InnodbPrintAllDeadlocks "innodb_print_all_deadlocks" Global Dynamic Boolean => Some("OFF");
        InnodbPurgeThreads "innodb_purge_threads" Global Dynamic Unsigned { min: 1, max: 32, block: 1 } => Some("1");
        InnodbReadIoThreads "innodb_read_io_threads" Global Dynamic Unsigned { min: 1, max: 64, block: 1 } => Some("4");
        InnodbReadOnly "innodb_read_only" Global Fixed Boolean => Some("OFF");
        InnodbRollbackOnTimeout "innodb_rollback_on_timeout" Global Fixed Boolean => Some("OFF");
        InnodbSnapshotIsolation "innodb_snapshot_isolation" Both Dynamic Boolean => Some("ON");
        InnodbStatsOnMetadata "innodb_stats_on_metadata" Global Dynamic Boolean => Some("OFF");
        InnodbStrictMode "innodb_strict_mode" Both Dynamic Boolean => Some("ON");
        InnodbVersion "innodb_version" Global Fixed Text => Some("");
        InnodbWriteIoThreads "innodb_write_io_threads" Global Dynamic Unsigned { min: 2, max: 64, block: 1 } => Some("4");
        InsertId "insert_id" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        InteractiveTimeout "interactive_timeout" Both Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("28800");
        JoinBufferSize "join_buffer_size" Both Dynamic Unsigned { min: 128, max: u64::MAX, block: 128 } => Some("262144");
        KeyBufferSize "key_buffer_size" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 4096 } => Some("134217728");
        LargeFilesSupport "large_files_support" Global Fixed Boolean => Some("ON");
        LargePageSize "large_page_size" Global Fixed Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        LargePages "large_pages" Global Fixed Boolean => Some("OFF");
        LastGtid "last_gtid" SessionOnly Fixed Text => Some("");
        LastInsertId "last_insert_id" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        LcMessages "lc_messages" Both Dynamic Locale => Some("en_US");
        LcMessagesDir "lc_messages_dir" Global Fixed Text => Some("");
        LcTimeNames "lc_time_names" Both Dynamic Locale => Some("en_US");
        License "license" Global Fixed Text => Some("Apache-2.0");
        LocalInfile "local_infile" Global Dynamic Boolean => Some("ON");
        LockWaitTimeout "lock_wait_timeout" Both Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("86400");
        LockedInMemory "locked_in_memory" Global Fixed Boolean => Some("OFF");
        LogBin "log_bin" Global Fixed Boolean => Some("ON");
        LogBinBasename "log_bin_basename" Global Fixed Text => Some("");
        LogBinIndex "log_bin_index" Global Fixed Text => Some("");
        LogBinTrustFunctionCreators "log_bin_trust_function_creators" Global Dynamic Boolean => Some("OFF");
        LogError "log_error" Global Fixed Text => Some("");
        LogOutput "log_output" Global Dynamic Set(&["NONE", "FILE", "TABLE"]) => Some("FILE");
        LogQueriesNotUsingIndexes "log_queries_not_using_indexes" Both Dynamic Boolean => Some("OFF");
        LogSlaveUpdates "log_slave_updates" Global Fixed Boolean => Some("ON");
        LogSlowQuery "log_slow_query" Both Dynamic Boolean => Some("OFF");
        LogSlowQueryFile "log_slow_query_file" Global Dynamic Text => Some("");
        LogSlowQueryTime "log_slow_query_time" Both Dynamic Double { min: 0.0, max: 31536000.0 } => Some("10.000000");
        LogTcSize "log_tc_size" Global Fixed Unsigned { min: 12288, max: u64::MAX, block: 4096 } => Some("24576");
        LogWarnings "log_warnings" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("2");
        LongQueryTime "long_query_time" Both Dynamic Double { min: 0.0, max: 31536000.0 } => Some("10.000000");
        LowPriorityUpdates "low_priority_updates" Both Dynamic Boolean => Some("OFF");
        LowerCaseFileSystem "lower_case_file_system" Global Fixed Boolean => Some("OFF");
        LowerCaseTableNames "lower_case_table_names" Global Fixed Unsigned { min: 0, max: 2, block: 1 } => Some("0");
        MasterRetryCount "master_retry_count" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("100000");
        MaxAllowedPacket "max_allowed_packet" Both Dynamic Unsigned { min: 1024, max: 1073741824, block: 1024 } => Some("16777216");
        MaxBinlogCacheSize "max_binlog_cache_size" Global Dynamic Unsigned { min: 4096, max: u64::MAX, block: 4096 } => Some("18446744073709547520");
        MaxBinlogSize "max_binlog_size" Global Dynamic Unsigned { min: 4096, max: 1073741824, block: 4096 } => Some("1073741824");
        MaxConnectErrors "max_connect_errors" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("100");
        MaxConnections "max_connections" Global Dynamic Unsigned { min: 10, max: 100000, block: 1 } => Some("151");
        MaxDelayedThreads "max_delayed_threads" Both Dynamic Unsigned { min: 0, max: 16384, block: 1 } => Some("20");
        MaxErrorCount "max_error_count" Both Dynamic Unsigned { min: 0, max: 65535, block: 1 } => Some("64");
        MaxHeapTableSize "max_heap_table_size" Both Dynamic Unsigned { min: 16384, max: u64::MAX, block: 1024 } => Some("16777216");
        MaxJoinSize "max_join_size" Both Dynamic Unsigned { min: 1, max: u64::MAX, block: 1 } => Some("18446744073709551615");
        MaxLengthForSortData "max_length_for_sort_data" Both Dynamic Unsigned { min: 4, max: 8388608, block: 1 } => Some("1024");
        MaxPasswordErrors "max_password_errors" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("4294967295");
        MaxPreparedStmtCount "max_prepared_stmt_count" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("16382");
        MaxRecursiveIterations "max_recursive_iterations" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1000");
        MaxSeeksForKey "max_seeks_for_key" Both Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("4294967295");
        MaxSessionMemUsed "max_session_mem_used" Both Dynamic Unsigned { min: 8192, max: u64::MAX, block: 1 } => Some("9223372036854775807");
        MaxSortLength "max_sort_length" Both Dynamic Unsigned { min: 64, max: 8388608, block: 1 } => Some("1024");
        MaxSpRecursionDepth "max_sp_recursion_depth" Both Dynamic Unsigned { min: 0, max: 255, block: 1 } => Some("0");
        MaxStatementTime "max_statement_time" Both Dynamic Double { min: 0.0, max: 31536000.0 } => Some("0.000000");
        MaxTmpTables "max_tmp_tables" Both Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("32");
        MaxUserConnections "max_user_connections" Both Dynamic Integer { min: -1, max: 2147483647 } => Some("0");
        MaxWriteLockCount "max_write_lock_count" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("4294967295");
        MetadataLocksCacheSize "metadata_locks_cache_size" Global Fixed Unsigned { min: 1, max: 1048576, block: 1 } => Some("1024");
        MinExaminedRowLimit "min_examined_row_limit" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        MyisamMaxSortFileSize "myisam_max_sort_file_size" Global Dynamic Unsigned { min: 0, max: 9223372036854775807, block: 1048576 } => Some("9223372036853727232");
        MyisamRecoverOptions "myisam_recover_options" Global Fixed Set(&["DEFAULT", "BACKUP", "FORCE", "QUICK", "BACKUP_ALL", "OFF"]) => Some("BACKUP,QUICK");
        MyisamSortBufferSize "myisam_sort_buffer_size" Both Dynamic Unsigned { min: 4096, max: 1152921504606846975, block: 1 } => Some("134216704");
        NetBufferLength "net_buffer_length" Both Dynamic Unsigned { min: 1024, max: 1048576, block: 1024 } => Some("16384");
        NetReadTimeout "net_read_timeout" Both Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("30");
        NetRetryCount "net_retry_count" Both Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("10");
        NetWriteTimeout "net_write_timeout" Both Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("60");
        Old "old" Both Dynamic Boolean => Some("OFF");
        OldAlterTable "old_alter_table" Both Dynamic Enum(&["DEFAULT", "COPY", "INPLACE", "NOCOPY", "INSTANT"]) => Some("DEFAULT");
        OldMode "old_mode" Both Dynamic Set(&["NO_DUP_KEY_WARNINGS_WITH_IGNORE", "NO_PROGRESS_INFO", "ZERO_DATE_TIME_CAST", "UTF8_IS_UTF8MB3", "IGNORE_INDEX_ONLY_FOR_JOIN", "COMPAT_5_1_CHECKSUM", "NO_NULL_COLLATION_IDS"]) => Some("UTF8_IS_UTF8MB3");
        OldPasswords "old_passwords" Both Dynamic Boolean => Some("OFF");
        OpenFilesLimit "open_files_limit" Global Fixed Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        OptimizerPruneLevel "optimizer_prune_level" Both Dynamic Unsigned { min: 0, max: 2, block: 1 } => Some("2");
        OptimizerSearchDepth "optimizer_search_depth" Both Dynamic Unsigned { min: 0, max: 62, block: 1 } => Some("62");
        OptimizerSwitch "optimizer_switch" Both Dynamic Flags(&["index_merge", "index_merge_union", "index_merge_sort_union", "index_merge_intersection", "index_merge_sort_intersection", "engine_condition_pushdown", "index_condition_pushdown", "derived_merge", "derived_with_keys", "firstmatch", "loosescan", "materialization", "in_to_exists", "semijoin", "partial_match_rowid_merge", "partial_match_table_scan", "subquery_cache", "mrr", "mrr_cost_based", "mrr_sort_keys", "outer_join_with_cache", "semijoin_with_cache", "join_cache_incremental", "join_cache_hashed", "join_cache_bka", "optimize_join_buffer_size", "table_elimination", "extended_keys", "exists_to_in", "orderby_uses_equalities", "condition_pushdown_for_derived", "split_materialized", "condition_pushdown_for_subquery", "rowid_filter", "condition_pushdown_from_having", "not_null_range_scan", "hash_join_cardinality", "cset_narrowing"]) => Some("index_merge=on,index_merge_union=on,index_merge_sort_union=on,index_merge_intersection=on,index_merge_sort_intersection=off,engine_condition_pushdown=off,index_condition_pushdown=on,derived_merge=on,derived_with_keys=on,firstmatch=on,loosescan=on,materialization=on,in_to_exists=on,semijoin=on,partial_match_rowid_merge=on,partial_match_table_scan=on,subquery_cache=on,mrr=off,mrr_cost_based=off,mrr_sort_keys=off,outer_join_with_cache=on,semijoin_with_cache=on,join_cache_incremental=on,join_cache_hashed=on,join_cache_bka=on,optimize_join_buffer_size=on,table_elimination=on,extended_keys=on,exists_to_in=on,orderby_uses_equalities=on,condition_pushdown_for_derived=on,split_materialized=on,condition_pushdown_for_subquery=on,rowid_filter=on,condition_pushdown_from_having=on,not_null_range_scan=off,hash_join_cardinality=off,cset_narrowing=off");
        OptimizerTrace "optimizer_trace" Both Dynamic Flags(&["enabled"]) => Some("enabled=off");
        OptimizerUseConditionSelectivity "optimizer_use_condition_selectivity" Both Dynamic Unsigned { min: 1, max: 5, block: 1 } => Some("4");
        PacelineBlockCacheSize "paceline_block_cache_size" Global Fixed Unsigned { min: 1048576, max: u64::MAX, block: 1048576 } => Some("1073741824");
        PacelineCheckpointLogBytes "paceline_checkpoint_log_bytes" Global Dynamic Unsigned { min: 1048576, max: u64::MAX, block: 1048576 } => Some("67108864");
        PacelineCommitLeader "paceline_commit_leader" Global Dynamic Enum(&["inline", "thread", "adaptive", "handoff"]) => Some("adaptive");
        PacelineEarlyLockRelease "paceline_early_lock_release" Global Dynamic Boolean => Some("ON");
        PacelineIdlePollUsec "paceline_idle_poll_usec" Global Dynamic Unsigned { min: 0, max: 1000, block: 1 } => Some("50");
        PacelineLoadGenerated "paceline_load_generated" SessionOnly Dynamic Boolean => Some("OFF");
        PacelineLogBlockSize "paceline_log_block_size" Global Fixed Unsigned { min: 1048576, max: 1073741824, block: 1048576 } => Some("16777216");
        PacelineMemtableSize "paceline_memtable_size" Global Fixed Unsigned { min: 1048576, max: u64::MAX, block: 1048576 } => Some("268435456");
        PacelineReplicateLeaveOut "paceline_replicate_leave_out" Global Dynamic Set(crate::session::left_out::Kind::WORDS) => Some("");
        PacelineRowLocksMax "paceline_row_locks_max" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        PacelineTemporaryTablesMax "paceline_temporary_tables_max" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("1073741824");
        PacelineWorkerThreads "paceline_worker_threads" Global Fixed Unsigned { min: 0, max: 1024, block: 1 } => Some("0");
        PerformanceSchema "performance_schema" Global Fixed Boolean => Some("OFF");
        PidFile "pid_file" Global Fixed Text => Some("");
        PluginDir "plugin_dir" Global Fixed Text => Some("");
        PluginMaturity "plugin_maturity" Global Fixed Enum(&["unknown", "experimental", "alpha", "beta", "gamma", "stable"]) => Some("gamma");
        Port "port" Global Fixed Unsigned { min: 0, max: 65535, block: 1 } => Some("3306");
        Profiling "profiling" Both Dynamic Boolean => Some("OFF");
        ProtocolVersion "protocol_version" Global Fixed Unsigned { min: 0, max: 4294967295, block: 1 } => Some("10");
        ProxyUser "proxy_user" SessionOnly Fixed Text => Some("");
        PseudoSlaveMode "pseudo_slave_mode" SessionOnly Dynamic Boolean => Some("OFF");
        PseudoThreadId "pseudo_thread_id" SessionOnly Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        QueryAllocBlockSize "query_alloc_block_size" Both Dynamic Unsigned { min: 1024, max: 4294967295, block: 1024 } => Some("32768");
        QueryCacheLimit "query_cache_limit" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1048576");
        QueryCacheSize "query_cache_size" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1024 } => Some("0");
        QueryCacheType "query_cache_type" Both Dynamic Enum(&["OFF", "ON", "DEMAND"]) => Some("OFF");
        QueryCacheWlockInvalidate "query_cache_wlock_invalidate" Both Dynamic Boolean => Some("OFF");
        QueryPreallocSize "query_prealloc_size" Both Dynamic Unsigned { min: 1024, max: 4294967295, block: 1024 } => Some("32768");
        RandSeed1 "rand_seed1" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        RandSeed2 "rand_seed2" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        RangeAllocBlockSize "range_alloc_block_size" Both Dynamic Unsigned { min: 4096, max: 4294967295, block: 1024 } => Some("4096");
        ReadBufferSize "read_buffer_size" Both Dynamic Unsigned { min: 8192, max: 2147483647, block: 4096 } => Some("131072");
        ReadOnly "read_only" Global Dynamic Boolean => Some("OFF");
        ReadRndBufferSize "read_rnd_buffer_size" Both Dynamic Unsigned { min: 1, max: 2147483647, block: 1 } => Some("262144");
        ReplicateAnnotateRowEvents "replicate_annotate_row_events" Global Fixed Boolean => Some("ON");
        ReplicateDoDb "replicate_do_db" Global Dynamic Text => Some("");
        ReplicateDoTable "replicate_do_table" Global Dynamic Text => Some("");
        ReplicateEventsMarkedForSkip "replicate_events_marked_for_skip" Global Dynamic Enum(&["REPLICATE", "FILTER_ON_SLAVE", "FILTER_ON_MASTER"]) => Some("REPLICATE");
        ReplicateIgnoreDb "replicate_ignore_db" Global Dynamic Text => Some("");
        ReplicateIgnoreTable "replicate_ignore_table" Global Dynamic Text => Some("");
        ReplicateRewriteDb "replicate_rewrite_db" Global Dynamic Text => Some("");
        ReplicateSameServerId "replicate_same_server_id" Global Fixed Boolean => Some("OFF");
        ReplicateWildDoTable "replicate_wild_do_table" Global Dynamic Text => Some("");
        ReplicateWildIgnoreTable "replicate_wild_ignore_table" Global Dynamic Text => Some("");
        ReportHost "report_host" Global Fixed Text => Some("");
        ReportPassword "report_password" Global Fixed Text => Some("");
        ReportPort "report_port" Global Fixed Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        ReportUser "report_user" Global Fixed Text => Some("");
        RequireSecureTransport "require_secure_transport" Global Dynamic Boolean => Some("OFF");
        RplSemiSyncMasterEnabled "rpl_semi_sync_master_enabled" Global Dynamic Boolean => Some("OFF");
        RplSemiSyncMasterTimeout "rpl_semi_sync_master_timeout" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("10000");
        RplSemiSyncMasterTraceLevel "rpl_semi_sync_master_trace_level" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("32");
        RplSemiSyncMasterWaitForSlaveCount "rpl_semi_sync_master_wait_for_slave_count" Global Dynamic Unsigned { min: 1, max: 65535, block: 1 } => Some("1");
        RplSemiSyncMasterWaitNoSlave "rpl_semi_sync_master_wait_no_slave" Global Dynamic Boolean => Some("ON");
        RplSemiSyncMasterWaitPoint "rpl_semi_sync_master_wait_point" Global Dynamic Enum(&["AFTER_SYNC", "AFTER_COMMIT"]) => Some("AFTER_COMMIT");
        RplSemiSyncSlaveDelayMaster "rpl_semi_sync_slave_delay_master" Global Dynamic Boolean => Some("OFF");
        RplSemiSyncSlaveEnabled "rpl_semi_sync_slave_enabled" Global Dynamic Boolean => Some("OFF");
        RplSemiSyncSlaveKillConnTimeout "rpl_semi_sync_slave_kill_conn_timeout" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("5");
        RplSemiSyncSlaveTraceLevel "rpl_semi_sync_slave_trace_level" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("32");
        SecureAuth "secure_auth" Global Dynamic Boolean => Some("ON");
        SecureFilePriv "secure_file_priv" Global Fixed Text => Some("");
        ServerId "server_id" Both Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("1");
        ServerUid "server_uid" Global Fixed Text => Some("");
        SessionTrackSchema "session_track_schema" Both Dynamic Boolean => Some("ON");
        SessionTrackStateChange "session_track_state_change" Both Dynamic Boolean => Some("OFF");
        SessionTrackSystemVariables "session_track_system_variables" Both Dynamic Text => Some("autocommit,character_set_client,character_set_connection,character_set_results,time_zone");
        SessionTrackTransactionInfo "session_track_transaction_info" Both Dynamic Enum(&["OFF", "STATE", "CHARACTERISTICS"]) => Some("OFF");
        SkipExternalLocking "skip_external_locking" Global Fixed Boolean => Some("ON");
        SkipGrantTables "skip_grant_tables" Global Fixed Boolean => Some("OFF");
        SkipNameResolve "skip_name_resolve" Global Fixed Boolean => Some("OFF");
        SkipNetworking "skip_networking" Global Fixed Boolean => Some("OFF");
        SkipParallelReplication "skip_parallel_replication" SessionOnly Dynamic Boolean => Some("OFF");
        SkipReplication "skip_replication" SessionOnly Dynamic Boolean => Some("OFF");
        SkipShowDatabase "skip_show_database" Global Fixed Boolean => Some("OFF");
        SkipSlaveStart "skip_slave_start" Global Fixed Boolean => Some("OFF");
        SlaveCompressedProtocol "slave_compressed_protocol" Global Dynamic Boolean => Some("OFF");
        SlaveDdlExecMode "slave_ddl_exec_mode" Global Dynamic Enum(&["STRICT", "IDEMPOTENT"]) => Some("IDEMPOTENT");
        SlaveDomainParallelThreads "slave_domain_parallel_threads" Global Dynamic Unsigned { min: 0, max: 16383, block: 1 } => Some("0");
        SlaveExecMode "slave_exec_mode" Global Dynamic Enum(&["STRICT", "IDEMPOTENT"]) => Some("STRICT");
        SlaveMaxAllowedPacket "slave_max_allowed_packet" Global Dynamic Unsigned { min: 1024, max: 1073741824, block: 1024 } => Some("1073741824");
        SlaveNetTimeout "slave_net_timeout" Global Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("60");
        SlaveParallelMaxQueued "slave_parallel_max_queued" Global Dynamic Unsigned { min: 0, max: 2147483647, block: 1 } => Some("131072");
        SlaveParallelMode "slave_parallel_mode" Global Dynamic Enum(&["none", "minimal", "conservative", "optimistic", "aggressive"]) => Some("optimistic");
        SlaveParallelThreads "slave_parallel_threads" Global Dynamic Unsigned { min: 0, max: 16383, block: 1 } => Some("0");
        SlaveSkipErrors "slave_skip_errors" Global Fixed Text => Some("OFF");
        SlaveTypeConversions "slave_type_conversions" Global Dynamic Set(&["ALL_LOSSY", "ALL_NON_LOSSY"]) => Some("");
        SlowLaunchTime "slow_launch_time" Global Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("2");
        SlowQueryLog "slow_query_log" Both Dynamic Boolean => Some("OFF");
        SlowQueryLogFile "slow_query_log_file" Global Dynamic Text => Some("");
        Socket "socket" Global Fixed Text => Some("");
        SortBufferSize "sort_buffer_size" Both Dynamic Unsigned { min: 1024, max: u64::MAX, block: 1 } => Some("2097152");
        SqlAutoIsNull "sql_auto_is_null" Both Dynamic Boolean => Some("OFF");
        SqlBigSelects "sql_big_selects" Both Dynamic Boolean => Some("OFF");
        SqlBufferResult "sql_buffer_result" Both Dynamic Boolean => Some("OFF");
        SqlIfExists "sql_if_exists" Both Dynamic Boolean => Some("OFF");
        SqlLogBin "sql_log_bin" Both Dynamic Boolean => Some("ON");
        SqlLogOff "sql_log_off" Both Dynamic Boolean => Some("OFF");
        SqlMode "sql_mode" Both Dynamic SqlMode => Some("STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION");
        SqlNotes "sql_notes" Both Dynamic Boolean => Some("ON");
        SqlQuoteShowCreate "sql_quote_show_create" Both Dynamic Boolean => Some("ON");
        SqlSafeUpdates "sql_safe_updates" Both Dynamic Boolean => Some("OFF");
        SqlSelectLimit "sql_select_limit" Both Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("18446744073709551615");
        SqlSlaveSkipCounter "sql_slave_skip_counter" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        SqlWarnings "sql_warnings" Both Dynamic Boolean => Some("OFF");
        SslCa "ssl_ca" Global Fixed Text => Some("");
        SslCapath "ssl_capath" Global Fixed Text => Some("");
        SslCert "ssl_cert" Global Fixed Text => Some("");
        SslCipher "ssl_cipher" Global Fixed Text => Some("");
        SslCrl "ssl_crl" Global Fixed Text => Some("");
        SslCrlpath "ssl_crlpath" Global Fixed Text => Some("");
        SslKey "ssl_key" Global Fixed Text => Some("");
        StandardCompliantCte "standard_compliant_cte" Both Dynamic Boolean => Some("ON");
        StorageEngine "storage_engine" Both Dynamic Text => Some("InnoDB");
        SyncBinlog "sync_binlog" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1");
        SyncFrm "sync_frm" Global Dynamic Boolean => Some("ON");
        SyncMasterInfo "sync_master_info" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("10000");
        SyncRelayLog "sync_relay_log" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("10000");
        SystemTimeZone "system_time_zone" Global Fixed Text => Some("");
        SystemVersioningAlterHistory "system_versioning_alter_history" Both Dynamic Enum(&["ERROR", "KEEP"]) => Some("ERROR");
        SystemVersioningAsof "system_versioning_asof" Both Dynamic Text => Some("");
        SystemVersioningInsertHistory "system_versioning_insert_history" Both Dynamic Boolean => Some("OFF");
        TableDefinitionCache "table_definition_cache" Global Dynamic Unsigned { min: 400, max: 2097152, block: 1 } => Some("400");
        TableOpenCache "table_open_cache" Global Dynamic Unsigned { min: 10, max: 1048576, block: 1 } => Some("2000");
        TableOpenCacheInstances "table_open_cache_instances" Global Fixed Unsigned { min: 1, max: 64, block: 1 } => Some("1");
        TcpNodelay "tcp_nodelay" Both Dynamic Boolean => Some("ON");
        ThreadCacheSize "thread_cache_size" Global Dynamic Unsigned { min: 0, max: 16384, block: 1 } => Some("256");
        ThreadHandling "thread_handling" Global Fixed Enum(&["one-thread-per-connection", "no-threads", "pool-of-threads"]) => Some("pool-of-threads");
        ThreadStack "thread_stack" Global Fixed Unsigned { min: 131072, max: u64::MAX, block: 1024 } => Some("299008");
        TimeFormat "time_format" Global Fixed Text => Some("%H:%i:%s");
        TimeZone "time_zone" Both Dynamic TimeZone => Some("SYSTEM");
        Timestamp "timestamp" SessionOnly Dynamic Double { min: 0.0, max: 2147483647.0 } => Some("0");
        TlsVersion "tls_version" Global Fixed Set(&["TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"]) => Some("TLSv1.2,TLSv1.3");
        TmpDiskTableSize "tmp_disk_table_size" Both Dynamic Unsigned { min: 1024, max: u64::MAX, block: 1 } => Some("18446744073709551615");
        TmpMemoryTableSize "tmp_memory_table_size" Both Dynamic Unsigned { min: 0, max: u64::MAX, block: 16384 } => Some("16777216");
        TmpTableSize "tmp_table_size" Both Dynamic Unsigned { min: 0, max: u64::MAX, block: 16384 } => Some("16777216");
        Tmpdir "tmpdir" Global Fixed Text => Some("/tmp");
        TransactionAllocBlockSize "transaction_alloc_block_size" Both Dynamic Unsigned { min: 1024, max: 134217728, block: 1024 } => Some("8192");
        TransactionPreallocSize "transaction_prealloc_size" Both Dynamic Unsigned { min: 1024, max: 134217728, block: 1024 } => Some("4096");
        TxIsolation "tx_isolation" Both Dynamic Enum(&["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"]) => Some("REPEATABLE-READ");
        TxReadOnly "tx_read_only" Both Dynamic Boolean => Some("OFF");
        UniqueChecks "unique_checks" Both Dynamic Boolean => Some("ON");
        UpdatableViewsWithLimit "updatable_views_with_limit" Both Dynamic Enum(&["NO", "YES"]) => Some("YES");
        UseStatTables "use_stat_tables" Both Dynamic Enum(&["NEVER", "COMPLEMENTARY", "PREFERABLY", "COMPLEMENTARY_FOR_QUERIES", "PREFERABLY_FOR_QUERIES"]) => Some("PREFERABLY_FOR_QUERIES");
        Version "version" Global Fixed Text => Some("");
        VersionComment "version_comment" Global Fixed Text => Some("");
        VersionCompileMachine "version_compile_machine" Global Fixed Text => Some("");
        VersionCompileOs "version_compile_os" Global Fixed Text => Some("");
        VersionMallocLibrary "version_malloc_library" Global Fixed Text => Some("");
        VersionSourceRevision "version_source_revision" Global Fixed Text => Some("");
        VersionSslLibrary "version_ssl_library" Global Fixed Text => Some("");
        WaitForGtid "wait_for_gtid" SessionOnly Dynamic Text => Some("");
        WaitForGtidTimeout "wait_for_gtid_timeout" Both Dynamic Double { min: 0.0, max: 31536000.0 } => Some("60.000000");
        WaitTimeout "wait_timeout" Both Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("28800");
        WarningCount "warning_count" SessionOnly Fixed Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        WsrepOn "wsrep_on" Both Dynamic Boolean => Some("OFF");
    }
}
pub use list::{TABLE, Variable};

impl Variable {
    /// Its row in [`TABLE`].
    pub fn definition(self) -> &'static Definition {
        &TABLE[self as usize]
    }

    /// The variable of that name; in lower case, with underscores. The names of MariaDB 11 for the isolation level are known too.
    pub fn by_name(name: &str) -> Option<Variable> {
        match name {
            "transaction_isolation" => return Some(Variable::TxIsolation),
            "transaction_read_only" => return Some(Variable::TxReadOnly),
            _ => {}
        }
        TABLE
            .binary_search_by(|row| row.name.cmp(name))
            .ok()
            .map(|index| TABLE[index].variable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(TABLE.windows(2).all(|pair| pair[0].name < pair[1].name));
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.variable as usize, index, "{}", row.name);
            assert_eq!(Variable::by_name(row.name), Some(row.variable));
        }
    }
}
