//! Table of the system variables: name, scope, access, kind with its range, default.
//!
//! It contains all variables of MariaDB 10.11's `information_schema.SYSTEM_VARIABLES`, with their names, scopes, ranges
//! and defaults. An entry that ends with `Tuning` or `Absent` has no effect here ([`super::Effect`]); assigning such a
//! variable another value than its default reports that. One that ends with `NoOption` is not an option at startup.
//! Names that start with `paceline_` are our own.

use super::definition::{Access::*, Definition, Kind::*, Mark, Scope::*, variable};

/// Defines [`Variable`] and [`TABLE`] from one list, which must be in the order of the names.
macro_rules! system_variables {
    ($($variant:ident $name:literal $scope:ident $access:ident $kind:expr => $default:expr $(, $mark:ident)*;)*) => {
        /// A system variable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        #[allow(missing_docs)] // The names are MariaDB's.
        pub enum Variable {
            $($variant,)*
        }

        /// All variables, in the order of their names, which is also that of [`Variable`].
        pub static TABLE: &[Definition] = &[
            $(variable(Variable::$variant, $name, $scope, $access, $kind, $default)$(.with(Mark::$mark))*,)*
        ];
    };
}

#[rustfmt::skip]
mod list {
    use super::*;

    system_variables! {
        AllowSuspiciousUdfs "allow_suspicious_udfs" Global Fixed Boolean => Some("OFF");
        AlterAlgorithm "alter_algorithm" Both Dynamic Enum(&["DEFAULT", "COPY", "INPLACE", "NOCOPY", "INSTANT"]) => Some("DEFAULT");
        AnalyzeMaxLength "analyze_max_length" Both Dynamic Unsigned { min: 32, max: 4294967295, block: 1 } => Some("4294967295"), Absent;
        AnalyzeSamplePercentage "analyze_sample_percentage" Both Dynamic Double { min: 0.0, max: 100.0 } => Some("100.000000"), Tuning;
        AriaBlockSize "aria_block_size" Global Fixed Unsigned { min: 4096, max: 32768, block: 1024 } => Some("8192"), Absent;
        AriaCheckpointInterval "aria_checkpoint_interval" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("30"), Absent;
        AriaCheckpointLogActivity "aria_checkpoint_log_activity" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1048576"), Absent;
        AriaEncryptTables "aria_encrypt_tables" Global Dynamic Boolean => Some("OFF"), Absent;
        AriaForceStartAfterRecoveryFailures "aria_force_start_after_recovery_failures" Global Fixed Unsigned { min: 0, max: 255, block: 1 } => Some("0"), Absent;
        AriaGroupCommit "aria_group_commit" Global Dynamic Enum(&["none", "hard", "soft"]) => Some("none"), Absent;
        AriaGroupCommitInterval "aria_group_commit_interval" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0"), Absent;
        AriaLogDirPath "aria_log_dir_path" Global Fixed Text => Some(""), Absent;
        AriaLogFileSize "aria_log_file_size" Global Dynamic Unsigned { min: 8388608, max: 4294967295, block: 8192 } => Some("1073741824"), Absent;
        AriaLogPurgeType "aria_log_purge_type" Global Dynamic Enum(&["immediate", "external", "at_flush"]) => Some("immediate"), Absent;
        AriaMaxSortFileSize "aria_max_sort_file_size" Global Dynamic Unsigned { min: 0, max: 9223372036854775807, block: 1048576 } => Some("9223372036853727232"), Absent;
        AriaPageChecksum "aria_page_checksum" Global Dynamic Boolean => Some("ON"), Absent;
        AriaPagecacheAgeThreshold "aria_pagecache_age_threshold" Global Dynamic Unsigned { min: 100, max: u64::MAX, block: 100 } => Some("300"), Absent;
        AriaPagecacheBufferSize "aria_pagecache_buffer_size" Global Fixed Unsigned { min: 131072, max: u64::MAX, block: 1 } => Some("134217728"), Absent;
        AriaPagecacheDivisionLimit "aria_pagecache_division_limit" Global Dynamic Unsigned { min: 1, max: 100, block: 1 } => Some("100"), Absent;
        AriaPagecacheFileHashSize "aria_pagecache_file_hash_size" Global Fixed Unsigned { min: 128, max: 16384, block: 1 } => Some("512"), Absent;
        AriaRecoverOptions "aria_recover_options" Global Dynamic Set(&["NORMAL", "BACKUP", "FORCE", "QUICK", "OFF"]) => Some("BACKUP,QUICK"), Absent;
        AriaRepairThreads "aria_repair_threads" Both Dynamic Unsigned { min: 1, max: 128, block: 1 } => Some("1"), Absent;
        AriaSortBufferSize "aria_sort_buffer_size" Both Dynamic Unsigned { min: 16352, max: 1152921504606846975, block: 1 } => Some("268434432"), Absent;
        AriaStatsMethod "aria_stats_method" Both Dynamic Enum(&["nulls_unequal", "nulls_equal", "nulls_ignored"]) => Some("nulls_unequal"), Absent;
        AriaSyncLogDir "aria_sync_log_dir" Global Dynamic Enum(&["NEVER", "NEWFILE", "ALWAYS"]) => Some("NEWFILE"), Absent;
        AriaUsedForTempTables "aria_used_for_temp_tables" Global Fixed Boolean => Some("ON"), Absent;
        AutoIncrementIncrement "auto_increment_increment" Both Dynamic Unsigned { min: 1, max: 65535, block: 1 } => Some("1");
        AutoIncrementOffset "auto_increment_offset" Both Dynamic Unsigned { min: 1, max: 65535, block: 1 } => Some("1");
        Autocommit "autocommit" Both Dynamic Boolean => Some("ON");
        AutomaticSpPrivileges "automatic_sp_privileges" Global Dynamic Boolean => Some("ON"), Absent;
        BackLog "back_log" Global Fixed Unsigned { min: 0, max: 65535, block: 1 } => Some("150"), Tuning;
        Basedir "basedir" Global Fixed Text => Some("");
        BigTables "big_tables" Both Dynamic Boolean => Some("OFF"), Tuning;
        BindAddress "bind_address" Global Fixed Text => Some("127.0.0.1");
        BinlogAlterTwoPhase "binlog_alter_two_phase" Both Dynamic Boolean => Some("OFF"), Absent;
        BinlogAnnotateRowEvents "binlog_annotate_row_events" Both Dynamic Boolean => Some("ON");
        BinlogCacheSize "binlog_cache_size" Global Dynamic Unsigned { min: 4096, max: u64::MAX, block: 4096 } => Some("32768"), Tuning;
        BinlogChecksum "binlog_checksum" Global Dynamic Enum(&["NONE", "CRC32"]) => Some("CRC32");
        BinlogCommitWaitCount "binlog_commit_wait_count" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        BinlogCommitWaitUsec "binlog_commit_wait_usec" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("100000");
        BinlogDirectNonTransactionalUpdates "binlog_direct_non_transactional_updates" Both Dynamic Boolean => Some("OFF"), Absent;
        BinlogExpireLogsSeconds "binlog_expire_logs_seconds" Global Dynamic Unsigned { min: 0, max: 8553600, block: 1 } => Some("0");
        BinlogFileCacheSize "binlog_file_cache_size" Global Dynamic Unsigned { min: 8192, max: u64::MAX, block: 4096 } => Some("16384"), Absent;
        BinlogFormat "binlog_format" Both Dynamic Enum(&["MIXED", "STATEMENT", "ROW"]) => Some("ROW");
        BinlogLargeCommitThreshold "binlog_large_commit_threshold" Global Dynamic Unsigned { min: 10485760, max: u64::MAX, block: 1 } => Some("67108864");
        BinlogOptimizeThreadScheduling "binlog_optimize_thread_scheduling" Global Fixed Boolean => Some("ON"), Absent;
        BinlogRowEventMaxSize "binlog_row_event_max_size" Global Fixed Unsigned { min: 256, max: 4294967040, block: 256 } => Some("8192");
        BinlogRowImage "binlog_row_image" Both Dynamic Enum(&["MINIMAL", "NOBLOB", "FULL"]) => Some("FULL"), Absent;
        BinlogRowMetadata "binlog_row_metadata" Global Dynamic Enum(&["NO_LOG", "MINIMAL", "FULL"]) => Some("NO_LOG");
        BinlogStmtCacheSize "binlog_stmt_cache_size" Global Dynamic Unsigned { min: 4096, max: u64::MAX, block: 4096 } => Some("32768"), Tuning;
        BulkInsertBufferSize "bulk_insert_buffer_size" Both Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("8388608"), Tuning;
        CharacterSetClient "character_set_client" Both Dynamic Charset => Some("utf8mb4");
        CharacterSetConnection "character_set_connection" Both Dynamic Charset => Some("utf8mb4");
        CharacterSetDatabase "character_set_database" Both Dynamic Charset => Some("utf8mb4");
        CharacterSetFilesystem "character_set_filesystem" Both Dynamic Charset => Some("binary"), Absent;
        CharacterSetResults "character_set_results" Both Dynamic Charset => Some("utf8mb4");
        CharacterSetServer "character_set_server" Both Dynamic Charset => Some("utf8mb4");
        CharacterSetSystem "character_set_system" Global Fixed Charset => Some("utf8mb3"), NoOption;
        CharacterSetsDir "character_sets_dir" Global Fixed Text => Some(""), Tuning;
        CheckConstraintChecks "check_constraint_checks" Both Dynamic Boolean => Some("ON");
        CollationConnection "collation_connection" Both Dynamic Collation => Some("utf8mb4_general_ci");
        CollationDatabase "collation_database" Both Dynamic Collation => Some("utf8mb4_general_ci");
        CollationServer "collation_server" Both Dynamic Collation => Some("utf8mb4_general_ci");
        ColumnCompressionThreshold "column_compression_threshold" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("100"), Absent;
        ColumnCompressionZlibLevel "column_compression_zlib_level" Both Dynamic Unsigned { min: 0, max: 9, block: 1 } => Some("6"), Absent;
        ColumnCompressionZlibStrategy "column_compression_zlib_strategy" Both Dynamic Enum(&["DEFAULT_STRATEGY", "FILTERED", "HUFFMAN_ONLY", "RLE", "FIXED"]) => Some("DEFAULT_STRATEGY"), Absent;
        ColumnCompressionZlibWrap "column_compression_zlib_wrap" Both Dynamic Boolean => Some("OFF"), Absent;
        CompletionType "completion_type" Both Dynamic Enum(&["NO_CHAIN", "CHAIN", "RELEASE"]) => Some("NO_CHAIN");
        ConcurrentInsert "concurrent_insert" Global Dynamic Enum(&["NEVER", "AUTO", "ALWAYS"]) => Some("AUTO"), Tuning;
        ConnectTimeout "connect_timeout" Global Dynamic Unsigned { min: 2, max: 31536000, block: 1 } => Some("10");
        CoreFile "core_file" Global Fixed Boolean => Some("OFF"), Absent;
        Datadir "datadir" Global Fixed Text => Some("");
        DateFormat "date_format" Global Fixed Text => Some("%Y-%m-%d");
        DatetimeFormat "datetime_format" Global Fixed Text => Some("%Y-%m-%d %H:%i:%s");
        DeadlockSearchDepthLong "deadlock_search_depth_long" Both Dynamic Unsigned { min: 0, max: 33, block: 1 } => Some("15"), Absent;
        DeadlockSearchDepthShort "deadlock_search_depth_short" Both Dynamic Unsigned { min: 0, max: 32, block: 1 } => Some("4"), Absent;
        DeadlockTimeoutLong "deadlock_timeout_long" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("50000000"), Absent;
        DeadlockTimeoutShort "deadlock_timeout_short" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("10000"), Absent;
        DebugNoThreadAlarm "debug_no_thread_alarm" Global Fixed Boolean => Some("OFF"), Absent;
        DefaultMasterConnection "default_master_connection" SessionOnly Dynamic Text => Some("");
        DefaultPasswordLifetime "default_password_lifetime" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        DefaultRegexFlags "default_regex_flags" Both Dynamic Set(&["DOTALL", "DUPNAMES", "EXTENDED", "EXTENDED_MORE", "EXTRA", "MULTILINE", "UNGREEDY"]) => Some("");
        DefaultStorageEngine "default_storage_engine" Both Dynamic Text => Some("InnoDB");
        DefaultTmpStorageEngine "default_tmp_storage_engine" Both Dynamic Text => None, Absent;
        DefaultWeekFormat "default_week_format" Both Dynamic Unsigned { min: 0, max: 7, block: 1 } => Some("0");
        DelayKeyWrite "delay_key_write" Global Dynamic Enum(&["OFF", "ON", "ALL"]) => Some("ON"), Tuning;
        DelayedInsertLimit "delayed_insert_limit" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("100"), Absent;
        DelayedInsertTimeout "delayed_insert_timeout" Global Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("300"), Absent;
        DelayedQueueSize "delayed_queue_size" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("1000"), Absent;
        DisconnectOnExpiredPassword "disconnect_on_expired_password" Global Dynamic Boolean => Some("OFF");
        DivPrecisionIncrement "div_precision_increment" Both Dynamic Unsigned { min: 0, max: 38, block: 1 } => Some("4");
        EncryptBinlog "encrypt_binlog" Global Fixed Boolean => Some("OFF"), Absent;
        EncryptTmpDiskTables "encrypt_tmp_disk_tables" Global Dynamic Boolean => Some("OFF"), Absent;
        EncryptTmpFiles "encrypt_tmp_files" Global Fixed Boolean => Some("OFF"), Absent;
        EnforceStorageEngine "enforce_storage_engine" Both Dynamic Text => None, Absent;
        EqRangeIndexDiveLimit "eq_range_index_dive_limit" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("200"), Tuning;
        ErrorCount "error_count" SessionOnly Fixed Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        EventScheduler "event_scheduler" Global Dynamic Enum(&["OFF", "ON", "DISABLED", "ORIGINAL"]) => Some("OFF");
        ExpensiveSubqueryLimit "expensive_subquery_limit" Both Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("100"), Absent;
        ExpireLogsDays "expire_logs_days" Global Dynamic Double { min: 0.0, max: 99.0 } => Some("0.000000");
        ExplicitDefaultsForTimestamp "explicit_defaults_for_timestamp" Both Dynamic Boolean => Some("ON");
        ExternalUser "external_user" SessionOnly Fixed Text => Some("");
        ExtraMaxConnections "extra_max_connections" Global Dynamic Unsigned { min: 1, max: 100000, block: 1 } => Some("1"), Absent;
        ExtraPort "extra_port" Global Fixed Unsigned { min: 0, max: 65535, block: 1 } => Some("0"), Absent;
        Flush "flush" Global Dynamic Boolean => Some("OFF"), Absent;
        FlushTime "flush_time" Global Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("0"), Tuning;
        ForeignKeyChecks "foreign_key_checks" Both Dynamic Boolean => Some("ON");
        FtBooleanSyntax "ft_boolean_syntax" Global Dynamic Text => Some("+ -><()~*:\"\"&|"), Absent;
        FtMaxWordLen "ft_max_word_len" Global Fixed Unsigned { min: 10, max: 84, block: 1 } => Some("84"), Absent;
        FtMinWordLen "ft_min_word_len" Global Fixed Unsigned { min: 1, max: 84, block: 1 } => Some("4"), Absent;
        FtQueryExpansionLimit "ft_query_expansion_limit" Global Fixed Unsigned { min: 0, max: 1000, block: 1 } => Some("20"), Absent;
        FtStopwordFile "ft_stopword_file" Global Fixed Text => Some("(built-in)"), Absent;
        GeneralLog "general_log" Global Dynamic Boolean => Some("OFF");
        GeneralLogFile "general_log_file" Global Dynamic Text => Some("");
        GroupConcatMaxLen "group_concat_max_len" Both Dynamic Unsigned { min: 4, max: 1073741824, block: 1 } => Some("1048576");
        GtidBinlogPos "gtid_binlog_pos" Global Fixed Text => Some(""), NoOption;
        GtidBinlogState "gtid_binlog_state" Global Dynamic Text => Some(""), NoOption;
        GtidCleanupBatchSize "gtid_cleanup_batch_size" Global Dynamic Unsigned { min: 0, max: 2147483647, block: 1 } => Some("64"), Tuning;
        GtidCurrentPos "gtid_current_pos" Global Fixed Text => Some(""), NoOption;
        GtidDomainId "gtid_domain_id" Both Dynamic Unsigned { min: 0, max: 4294967294, block: 1 } => Some("0");
        GtidIgnoreDuplicates "gtid_ignore_duplicates" Global Dynamic Boolean => Some("OFF");
        GtidPosAutoEngines "gtid_pos_auto_engines" Global Dynamic Text => Some(""), Tuning;
        GtidSeqNo "gtid_seq_no" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        GtidSlavePos "gtid_slave_pos" Global Dynamic Text => Some(""), NoOption;
        GtidStrictMode "gtid_strict_mode" Global Dynamic Boolean => Some("OFF");
        HaveCompress "have_compress" Global Fixed Text => Some("NO"), NoOption;
        HaveCrypt "have_crypt" Global Fixed Text => Some("NO"), NoOption;
        HaveDynamicLoading "have_dynamic_loading" Global Fixed Text => Some("NO"), NoOption;
        HaveGeometry "have_geometry" Global Fixed Text => Some("NO"), NoOption;
        HaveOpenssl "have_openssl" Global Fixed Text => Some("YES"), NoOption;
        HaveProfiling "have_profiling" Global Fixed Text => Some("NO"), NoOption;
        HaveQueryCache "have_query_cache" Global Fixed Text => Some("NO"), NoOption;
        HaveRtreeKeys "have_rtree_keys" Global Fixed Text => Some("NO"), NoOption;
        HaveSsl "have_ssl" Global Fixed Text => Some("DISABLED"), NoOption;
        HaveSymlink "have_symlink" Global Fixed Text => Some("YES"), NoOption;
        HistogramSize "histogram_size" Both Dynamic Unsigned { min: 0, max: 255, block: 1 } => Some("254"), Tuning;
        HistogramType "histogram_type" Both Dynamic Enum(&["SINGLE_PREC_HB", "DOUBLE_PREC_HB", "JSON_HB"]) => Some("DOUBLE_PREC_HB"), Absent;
        HostCacheSize "host_cache_size" Global Dynamic Unsigned { min: 0, max: 65536, block: 1 } => Some("279"), Absent;
        Hostname "hostname" Global Fixed Text => Some(""), NoOption;
        Identity "identity" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        IdleReadonlyTransactionTimeout "idle_readonly_transaction_timeout" Both Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("0");
        IdleTransactionTimeout "idle_transaction_timeout" Both Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("0");
        IdleWriteTransactionTimeout "idle_write_transaction_timeout" Both Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("0");
        IgnoreBuiltinInnodb "ignore_builtin_innodb" Global Fixed Boolean => Some("OFF"), Absent;
        IgnoreDbDirs "ignore_db_dirs" Global Fixed Text => Some(""), Absent;
        InPredicateConversionThreshold "in_predicate_conversion_threshold" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1000"), Absent;
        InTransaction "in_transaction" SessionOnly Fixed Unsigned { min: 0, max: 1, block: 1 } => Some("0");
        InitConnect "init_connect" Global Dynamic Text => Some("");
        InitFile "init_file" Global Fixed Text => None;
        InitSlave "init_slave" Global Dynamic Text => Some(""), Absent;
        InnodbAdaptiveFlushing "innodb_adaptive_flushing" Global Dynamic Boolean => Some("ON"), Absent;
        InnodbAdaptiveFlushingLwm "innodb_adaptive_flushing_lwm" Global Dynamic Double { min: 0.0, max: 70.0 } => Some("10.000000"), Absent;
        InnodbAdaptiveHashIndex "innodb_adaptive_hash_index" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbAdaptiveHashIndexParts "innodb_adaptive_hash_index_parts" Global Fixed Unsigned { min: 1, max: 512, block: 1 } => Some("8"), Absent;
        InnodbAlterCopyBulk "innodb_alter_copy_bulk" Global Dynamic Boolean => Some("ON"), Absent;
        InnodbAutoextendIncrement "innodb_autoextend_increment" Global Dynamic Unsigned { min: 1, max: 1000, block: 1 } => Some("64"), Absent;
        InnodbAutoincLockMode "innodb_autoinc_lock_mode" Global Fixed Integer { min: 0, max: 2 } => Some("1"), Tuning;
        InnodbBufDumpStatusFrequency "innodb_buf_dump_status_frequency" Global Dynamic Unsigned { min: 0, max: 100, block: 1 } => Some("0"), Absent;
        InnodbBufferPoolChunkSize "innodb_buffer_pool_chunk_size" Global Fixed Unsigned { min: 0, max: u64::MAX, block: 1048576 } => Some("0"), Absent;
        InnodbBufferPoolDumpAtShutdown "innodb_buffer_pool_dump_at_shutdown" Global Dynamic Boolean => Some("ON"), Absent;
        InnodbBufferPoolDumpNow "innodb_buffer_pool_dump_now" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbBufferPoolDumpPct "innodb_buffer_pool_dump_pct" Global Dynamic Unsigned { min: 1, max: 100, block: 1 } => Some("25"), Absent;
        InnodbBufferPoolFilename "innodb_buffer_pool_filename" Global Fixed Text => Some("ib_buffer_pool"), Absent;
        InnodbBufferPoolInCoreDump "innodb_buffer_pool_in_core_dump" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbBufferPoolLoadAbort "innodb_buffer_pool_load_abort" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbBufferPoolLoadAtStartup "innodb_buffer_pool_load_at_startup" Global Fixed Boolean => Some("ON"), Absent;
        InnodbBufferPoolLoadNow "innodb_buffer_pool_load_now" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbBufferPoolSize "innodb_buffer_pool_size" Global Dynamic Unsigned { min: 2097152, max: 18446744073701163008, block: 1048576 } => Some("134217728"), Tuning;
        InnodbBufferPoolSizeAutoMin "innodb_buffer_pool_size_auto_min" Global Dynamic Unsigned { min: 0, max: 18446744073701163008, block: 8388608 } => Some("0"), Absent;
        InnodbBufferPoolSizeMax "innodb_buffer_pool_size_max" Global Fixed Unsigned { min: 8388608, max: 18446744073701163008, block: 8388608 } => Some("8796093022208"), Absent;
        InnodbChangeBufferMaxSize "innodb_change_buffer_max_size" Global Dynamic Unsigned { min: 0, max: 50, block: 1 } => Some("25"), Absent;
        InnodbChangeBuffering "innodb_change_buffering" Global Dynamic Enum(&["none", "inserts", "deletes", "changes", "purges", "all"]) => Some("none"), Absent;
        InnodbChecksumAlgorithm "innodb_checksum_algorithm" Global Dynamic Enum(&["crc32", "strict_crc32", "full_crc32", "strict_full_crc32"]) => Some("full_crc32"), Absent;
        InnodbCmpPerIndexEnabled "innodb_cmp_per_index_enabled" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbCompressionAlgorithm "innodb_compression_algorithm" Global Dynamic Enum(&["none", "zlib", "lz4", "lzo", "lzma", "bzip2", "snappy"]) => Some("zlib"), Absent;
        InnodbCompressionDefault "innodb_compression_default" Both Dynamic Boolean => Some("OFF"), Absent;
        InnodbCompressionFailureThresholdPct "innodb_compression_failure_threshold_pct" Global Dynamic Unsigned { min: 0, max: 100, block: 1 } => Some("5"), Absent;
        InnodbCompressionLevel "innodb_compression_level" Global Dynamic Unsigned { min: 0, max: 9, block: 1 } => Some("6"), Absent;
        InnodbCompressionPadPctMax "innodb_compression_pad_pct_max" Global Dynamic Unsigned { min: 0, max: 75, block: 1 } => Some("50"), Absent;
        InnodbDataFilePath "innodb_data_file_path" Global Fixed Text => Some("ibdata1:12M:autoextend"), Absent;
        InnodbDataHomeDir "innodb_data_home_dir" Global Fixed Text => None, Absent;
        InnodbDeadlockDetect "innodb_deadlock_detect" Global Dynamic Boolean => Some("ON"), Absent;
        InnodbDeadlockReport "innodb_deadlock_report" Global Dynamic Enum(&["off", "basic", "full"]) => Some("full"), Absent;
        InnodbDefaultEncryptionKeyId "innodb_default_encryption_key_id" Both Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("1"), Absent;
        InnodbDefaultRowFormat "innodb_default_row_format" Global Dynamic Enum(&["redundant", "compact", "dynamic"]) => Some("dynamic"), Tuning;
        InnodbDefragment "innodb_defragment" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbDefragmentFillFactor "innodb_defragment_fill_factor" Global Dynamic Double { min: 0.7, max: 1.0 } => Some("0.900000"), Absent;
        InnodbDefragmentFillFactorNRecs "innodb_defragment_fill_factor_n_recs" Global Dynamic Unsigned { min: 1, max: 100, block: 1 } => Some("20"), Absent;
        InnodbDefragmentFrequency "innodb_defragment_frequency" Global Dynamic Unsigned { min: 1, max: 1000, block: 1 } => Some("40"), Absent;
        InnodbDefragmentNPages "innodb_defragment_n_pages" Global Dynamic Unsigned { min: 2, max: 32, block: 1 } => Some("7"), Absent;
        InnodbDefragmentStatsAccuracy "innodb_defragment_stats_accuracy" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0"), Absent;
        InnodbDisableSortFileCache "innodb_disable_sort_file_cache" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbDoublewrite "innodb_doublewrite" Global Fixed Boolean => Some("ON"), Tuning;
        InnodbEncryptLog "innodb_encrypt_log" Global Fixed Boolean => Some("OFF"), Absent;
        InnodbEncryptTables "innodb_encrypt_tables" Global Dynamic Enum(&["OFF", "ON", "FORCE"]) => Some("OFF"), Absent;
        InnodbEncryptTemporaryTables "innodb_encrypt_temporary_tables" Global Fixed Boolean => Some("OFF"), Absent;
        InnodbEncryptionRotateKeyAge "innodb_encryption_rotate_key_age" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1"), Absent;
        InnodbEncryptionRotationIops "innodb_encryption_rotation_iops" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("100"), Absent;
        InnodbEncryptionThreads "innodb_encryption_threads" Global Dynamic Unsigned { min: 0, max: 255, block: 1 } => Some("0"), Absent;
        InnodbFastShutdown "innodb_fast_shutdown" Global Dynamic Unsigned { min: 0, max: 3, block: 1 } => Some("1"), Absent;
        InnodbFatalSemaphoreWaitThreshold "innodb_fatal_semaphore_wait_threshold" Global Fixed Unsigned { min: 1, max: 4294967295, block: 1 } => Some("600"), Absent;
        InnodbFilePerTable "innodb_file_per_table" Global Dynamic Boolean => Some("ON"), Tuning;
        InnodbFillFactor "innodb_fill_factor" Global Dynamic Unsigned { min: 10, max: 100, block: 1 } => Some("100"), Absent;
        InnodbFlushLogAtTimeout "innodb_flush_log_at_timeout" Global Dynamic Unsigned { min: 0, max: 2700, block: 1 } => Some("1"), Absent;
        InnodbFlushLogAtTrxCommit "innodb_flush_log_at_trx_commit" Global Dynamic Unsigned { min: 0, max: 3, block: 1 } => Some("1"), Absent;
        InnodbFlushMethod "innodb_flush_method" Global Fixed Enum(&["fsync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC"]) => Some("O_DIRECT"), Tuning;
        InnodbFlushNeighbors "innodb_flush_neighbors" Global Dynamic Unsigned { min: 0, max: 2, block: 1 } => Some("1"), Absent;
        InnodbFlushSync "innodb_flush_sync" Global Dynamic Boolean => Some("ON"), Absent;
        InnodbFlushingAvgLoops "innodb_flushing_avg_loops" Global Dynamic Unsigned { min: 1, max: 1000, block: 1 } => Some("30"), Absent;
        InnodbForcePrimaryKey "innodb_force_primary_key" Global Dynamic Boolean => Some("OFF");
        InnodbForceRecovery "innodb_force_recovery" Global Fixed Unsigned { min: 0, max: 6, block: 1 } => Some("0"), Absent;
        InnodbFtAuxTable "innodb_ft_aux_table" Global Dynamic Text => None, Absent;
        InnodbFtCacheSize "innodb_ft_cache_size" Global Dynamic Unsigned { min: 1600000, max: 1099511627776, block: 1 } => Some("8000000"), Absent;
        InnodbFtEnableDiagPrint "innodb_ft_enable_diag_print" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbFtEnableStopword "innodb_ft_enable_stopword" Both Dynamic Boolean => Some("ON");
        InnodbFtMaxTokenSize "innodb_ft_max_token_size" Global Fixed Unsigned { min: 10, max: 84, block: 1 } => Some("84"), Absent;
        InnodbFtMinTokenSize "innodb_ft_min_token_size" Global Fixed Unsigned { min: 1, max: 16, block: 1 } => Some("3"), Absent;
        InnodbFtNumWordOptimize "innodb_ft_num_word_optimize" Global Dynamic Unsigned { min: 1000, max: 10000, block: 1 } => Some("2000"), Absent;
        InnodbFtResultCacheLimit "innodb_ft_result_cache_limit" Global Dynamic Unsigned { min: 1000000, max: u64::MAX, block: 1 } => Some("2000000000"), Absent;
        InnodbFtServerStopwordTable "innodb_ft_server_stopword_table" Global Dynamic Text => None, Absent;
        InnodbFtSortPllDegree "innodb_ft_sort_pll_degree" Global Fixed Unsigned { min: 1, max: 16, block: 1 } => Some("2"), Absent;
        InnodbFtTotalCacheSize "innodb_ft_total_cache_size" Global Dynamic Unsigned { min: 32000000, max: 1099511627776, block: 1 } => Some("640000000"), Absent;
        InnodbFtUserStopwordTable "innodb_ft_user_stopword_table" Both Dynamic Text => None, Absent;
        InnodbImmediateScrubDataUncompressed "innodb_immediate_scrub_data_uncompressed" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbInstantAlterColumnAllowed "innodb_instant_alter_column_allowed" Global Dynamic Enum(&["never", "add_last", "add_drop_reorder"]) => Some("add_drop_reorder"), Absent;
        InnodbIoCapacity "innodb_io_capacity" Global Dynamic Unsigned { min: 100, max: 4294967295, block: 1 } => Some("200"), Tuning;
        InnodbIoCapacityMax "innodb_io_capacity_max" Global Dynamic Unsigned { min: 100, max: 4294967295, block: 1 } => Some("4294967295"), Absent;
        InnodbLinuxAio "innodb_linux_aio" Global Fixed Enum(&["auto", "io_uring", "aio"]) => Some("auto"), Absent;
        InnodbLockWaitTimeout "innodb_lock_wait_timeout" Both Dynamic Unsigned { min: 0, max: 100000000, block: 1 } => Some("50");
        InnodbLogBufferSize "innodb_log_buffer_size" Global Fixed Unsigned { min: 2097152, max: 2147479552, block: 4096 } => Some("16777216"), Tuning;
        InnodbLogCheckpointNow "innodb_log_checkpoint_now" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbLogFileBuffering "innodb_log_file_buffering" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbLogFileMmap "innodb_log_file_mmap" Global Fixed Boolean => Some("ON"), Absent;
        InnodbLogFileSize "innodb_log_file_size" Global Dynamic Unsigned { min: 4194304, max: u64::MAX, block: 4096 } => Some("100663296"), Tuning;
        InnodbLogGroupHomeDir "innodb_log_group_home_dir" Global Fixed Text => Some("./"), Absent;
        InnodbLogSpinWaitDelay "innodb_log_spin_wait_delay" Global Dynamic Unsigned { min: 0, max: 6000, block: 1 } => Some("0"), Absent;
        InnodbLogWriteAheadSize "innodb_log_write_ahead_size" Global Fixed Unsigned { min: 512, max: 4096, block: 1 } => Some("512"), Absent;
        InnodbLruFlushSize "innodb_lru_flush_size" Global Dynamic Unsigned { min: 1, max: u64::MAX, block: 1 } => Some("32"), Absent;
        InnodbLruScanDepth "innodb_lru_scan_depth" Global Dynamic Unsigned { min: 100, max: u64::MAX, block: 1 } => Some("1536"), Absent;
        InnodbMaxDirtyPagesPct "innodb_max_dirty_pages_pct" Global Dynamic Double { min: 0.0, max: 99.999 } => Some("90.000000"), Absent;
        InnodbMaxDirtyPagesPctLwm "innodb_max_dirty_pages_pct_lwm" Global Dynamic Double { min: 0.0, max: 99.999 } => Some("0.000000"), Absent;
        InnodbMaxPurgeLag "innodb_max_purge_lag" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0"), Absent;
        InnodbMaxPurgeLagDelay "innodb_max_purge_lag_delay" Global Dynamic Unsigned { min: 0, max: 10000000, block: 1 } => Some("0"), Absent;
        InnodbMaxPurgeLagWait "innodb_max_purge_lag_wait" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("4294967295"), Absent;
        InnodbMaxUndoLogSize "innodb_max_undo_log_size" Global Dynamic Unsigned { min: 10485760, max: 281474976710656, block: 1 } => Some("10485760"), Absent;
        InnodbMonitorDisable "innodb_monitor_disable" Global Dynamic Text => None, Absent;
        InnodbMonitorEnable "innodb_monitor_enable" Global Dynamic Text => None, Absent;
        InnodbMonitorReset "innodb_monitor_reset" Global Dynamic Text => None, Absent;
        InnodbMonitorResetAll "innodb_monitor_reset_all" Global Dynamic Text => None, Absent;
        InnodbNumaInterleave "innodb_numa_interleave" Global Fixed Boolean => Some("OFF"), Absent;
        InnodbOldBlocksPct "innodb_old_blocks_pct" Global Dynamic Unsigned { min: 5, max: 95, block: 1 } => Some("37"), Absent;
        InnodbOldBlocksTime "innodb_old_blocks_time" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1000"), Absent;
        InnodbOnlineAlterLogMaxSize "innodb_online_alter_log_max_size" Global Dynamic Unsigned { min: 65536, max: u64::MAX, block: 1 } => Some("134217728"), Absent;
        InnodbOpenFiles "innodb_open_files" Global Fixed Unsigned { min: 0, max: 9223372036854775807, block: 1 } => Some("2000"), Absent;
        InnodbOptimizeFulltextOnly "innodb_optimize_fulltext_only" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbPageSize "innodb_page_size" Global Fixed Unsigned { min: 4096, max: 65536, block: 1 } => Some("16384"), Tuning;
        InnodbPrefixIndexClusterOptimization "innodb_prefix_index_cluster_optimization" Global Dynamic Boolean => Some("ON"), Absent;
        InnodbPrintAllDeadlocks "innodb_print_all_deadlocks" Global Dynamic Boolean => Some("OFF");
        InnodbPurgeBatchSize "innodb_purge_batch_size" Global Dynamic Unsigned { min: 1, max: 5000, block: 1 } => Some("127"), Absent;
        InnodbPurgeRsegTruncateFrequency "innodb_purge_rseg_truncate_frequency" Global Dynamic Unsigned { min: 1, max: 128, block: 1 } => Some("128"), Absent;
        InnodbPurgeThreads "innodb_purge_threads" Global Dynamic Unsigned { min: 1, max: 32, block: 1 } => Some("4"), Tuning;
        InnodbRandomReadAhead "innodb_random_read_ahead" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbReadAheadThreshold "innodb_read_ahead_threshold" Global Dynamic Unsigned { min: 0, max: 64, block: 1 } => Some("56"), Absent;
        InnodbReadIoThreads "innodb_read_io_threads" Global Dynamic Unsigned { min: 1, max: 64, block: 1 } => Some("4"), Tuning;
        InnodbReadOnly "innodb_read_only" Global Fixed Boolean => Some("OFF"), Absent;
        InnodbReadOnlyCompressed "innodb_read_only_compressed" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbRollbackOnTimeout "innodb_rollback_on_timeout" Global Fixed Boolean => Some("OFF");
        InnodbSnapshotIsolation "innodb_snapshot_isolation" Both Dynamic Boolean => Some("ON");
        InnodbSortBufferSize "innodb_sort_buffer_size" Global Fixed Unsigned { min: 65536, max: 67108864, block: 1 } => Some("1048576"), Absent;
        InnodbSpinWaitDelay "innodb_spin_wait_delay" Global Dynamic Unsigned { min: 0, max: 6000, block: 1 } => Some("4"), Absent;
        InnodbStatsAutoRecalc "innodb_stats_auto_recalc" Global Dynamic Boolean => Some("ON"), Absent;
        InnodbStatsIncludeDeleteMarked "innodb_stats_include_delete_marked" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbStatsMethod "innodb_stats_method" Global Dynamic Enum(&["nulls_equal", "nulls_unequal", "nulls_ignored"]) => Some("nulls_equal"), Absent;
        InnodbStatsModifiedCounter "innodb_stats_modified_counter" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0"), Absent;
        InnodbStatsOnMetadata "innodb_stats_on_metadata" Global Dynamic Boolean => Some("OFF"), Tuning;
        InnodbStatsPersistent "innodb_stats_persistent" Global Dynamic Boolean => Some("ON"), Absent;
        InnodbStatsPersistentSamplePages "innodb_stats_persistent_sample_pages" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("20"), Absent;
        InnodbStatsTraditional "innodb_stats_traditional" Global Dynamic Boolean => Some("ON"), Absent;
        InnodbStatsTransientSamplePages "innodb_stats_transient_sample_pages" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("8"), Absent;
        InnodbStatusOutput "innodb_status_output" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbStatusOutputLocks "innodb_status_output_locks" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbStrictMode "innodb_strict_mode" Both Dynamic Boolean => Some("ON");
        InnodbSyncSpinLoops "innodb_sync_spin_loops" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("30"), Absent;
        InnodbTableLocks "innodb_table_locks" Both Dynamic Boolean => Some("ON"), Absent;
        InnodbTempDataFilePath "innodb_temp_data_file_path" Global Fixed Text => Some("ibtmp1:12M:autoextend"), Absent;
        InnodbTmpdir "innodb_tmpdir" Both Dynamic Text => None, Absent;
        InnodbUndoDirectory "innodb_undo_directory" Global Fixed Text => Some("./"), Absent;
        InnodbUndoLogTruncate "innodb_undo_log_truncate" Global Dynamic Boolean => Some("OFF"), Absent;
        InnodbUndoTablespaces "innodb_undo_tablespaces" Global Fixed Unsigned { min: 0, max: 127, block: 1 } => Some("0"), Absent;
        InnodbUseAtomicWrites "innodb_use_atomic_writes" Global Fixed Boolean => Some("ON"), Absent;
        InnodbUseNativeAio "innodb_use_native_aio" Global Fixed Boolean => Some("ON"), Absent;
        InnodbVersion "innodb_version" Global Fixed Text => Some(""), NoOption;
        InnodbWriteIoThreads "innodb_write_io_threads" Global Dynamic Unsigned { min: 2, max: 64, block: 1 } => Some("4"), Tuning;
        InsertId "insert_id" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        InteractiveTimeout "interactive_timeout" Both Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("28800");
        JoinBufferSize "join_buffer_size" Both Dynamic Unsigned { min: 128, max: u64::MAX, block: 128 } => Some("262144"), Tuning;
        JoinBufferSpaceLimit "join_buffer_space_limit" Both Dynamic Unsigned { min: 2048, max: u64::MAX, block: 2048 } => Some("2097152"), Absent;
        JoinCacheLevel "join_cache_level" Both Dynamic Unsigned { min: 0, max: 8, block: 1 } => Some("2"), Absent;
        KeepFilesOnCreate "keep_files_on_create" Both Dynamic Boolean => Some("OFF"), Absent;
        KeyBufferSize "key_buffer_size" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 4096 } => Some("134217728"), Tuning;
        KeyCacheAgeThreshold "key_cache_age_threshold" Global Dynamic Unsigned { min: 100, max: 4294967295, block: 100 } => Some("300"), Absent;
        KeyCacheBlockSize "key_cache_block_size" Global Dynamic Unsigned { min: 512, max: 16384, block: 512 } => Some("1024"), Absent;
        KeyCacheDivisionLimit "key_cache_division_limit" Global Dynamic Unsigned { min: 1, max: 100, block: 1 } => Some("100"), Absent;
        KeyCacheFileHashSize "key_cache_file_hash_size" Global Dynamic Unsigned { min: 128, max: 16384, block: 1 } => Some("512"), Absent;
        KeyCacheSegments "key_cache_segments" Global Dynamic Unsigned { min: 0, max: 64, block: 1 } => Some("0"), Absent;
        LargeFilesSupport "large_files_support" Global Fixed Boolean => Some("ON"), NoOption;
        LargePageSize "large_page_size" Global Fixed Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0"), NoOption;
        LargePages "large_pages" Global Fixed Boolean => Some("OFF"), Tuning;
        LastGtid "last_gtid" SessionOnly Fixed Text => Some("");
        LastInsertId "last_insert_id" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        LcMessages "lc_messages" Both Dynamic Locale => Some("en_US"), Absent;
        LcMessagesDir "lc_messages_dir" Global Fixed Text => Some(""), Tuning;
        LcTimeNames "lc_time_names" Both Dynamic TimeLocale => Some("en_US");
        License "license" Global Fixed Text => Some("Apache-2.0"), NoOption;
        LocalInfile "local_infile" Global Dynamic Boolean => Some("ON");
        LockWaitTimeout "lock_wait_timeout" Both Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("86400");
        LockedInMemory "locked_in_memory" Global Fixed Boolean => Some("OFF"), NoOption;
        LogBin "log_bin" Global Fixed Boolean => Some("ON");
        LogBinBasename "log_bin_basename" Global Fixed Text => Some(""), NoOption;
        LogBinCompress "log_bin_compress" Global Dynamic Boolean => Some("OFF"), Absent;
        LogBinCompressMinLen "log_bin_compress_min_len" Global Dynamic Unsigned { min: 10, max: 1024, block: 1 } => Some("256"), Absent;
        LogBinIndex "log_bin_index" Global Fixed Text => Some(""), NoOption;
        LogBinTrustFunctionCreators "log_bin_trust_function_creators" Global Dynamic Boolean => Some("OFF"), Tuning;
        LogDisabledStatements "log_disabled_statements" Both Dynamic Set(&["slave", "sp"]) => Some("sp"), Absent;
        LogError "log_error" Global Fixed Text => Some("");
        LogOutput "log_output" Global Dynamic Set(&["NONE", "FILE", "TABLE"]) => Some("FILE");
        LogQueriesNotUsingIndexes "log_queries_not_using_indexes" Both Dynamic Boolean => Some("OFF");
        LogSlaveUpdates "log_slave_updates" Global Fixed Boolean => Some("ON"), Absent;
        LogSlowAdminStatements "log_slow_admin_statements" Both Dynamic Boolean => Some("ON");
        LogSlowDisabledStatements "log_slow_disabled_statements" Both Dynamic Set(&["admin", "call", "slave", "sp"]) => Some("sp");
        LogSlowFilter "log_slow_filter" Both Dynamic Set(&["admin", "filesort", "filesort_on_disk", "filesort_priority_queue", "full_join", "full_scan", "not_using_index", "query_cache", "query_cache_miss", "tmp_table", "tmp_table_on_disk"]) => Some("admin,filesort,filesort_on_disk,filesort_priority_queue,full_join,full_scan,query_cache,query_cache_miss,tmp_table,tmp_table_on_disk");
        LogSlowMaxWarnings "log_slow_max_warnings" Both Dynamic Unsigned { min: 0, max: 1000, block: 1 } => Some("10");
        LogSlowMinExaminedRowLimit "log_slow_min_examined_row_limit" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        LogSlowQuery "log_slow_query" Both Dynamic Boolean => Some("OFF");
        LogSlowQueryFile "log_slow_query_file" Global Dynamic Text => Some("");
        LogSlowQueryTime "log_slow_query_time" Both Dynamic Double { min: 0.0, max: 31536000.0 } => Some("10.000000");
        LogSlowRateLimit "log_slow_rate_limit" Both Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("1");
        LogSlowSlaveStatements "log_slow_slave_statements" Both Dynamic Boolean => Some("ON");
        LogSlowVerbosity "log_slow_verbosity" Both Dynamic Set(&["innodb", "query_plan", "explain", "engine", "warnings", "full"]) => Some("");
        LogTcSize "log_tc_size" Global Fixed Unsigned { min: 12288, max: u64::MAX, block: 4096 } => Some("24576"), Tuning;
        LogWarnings "log_warnings" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("2"), Absent;
        LongQueryTime "long_query_time" Both Dynamic Double { min: 0.0, max: 31536000.0 } => Some("10.000000");
        LowPriorityUpdates "low_priority_updates" Both Dynamic Boolean => Some("OFF"), Tuning;
        LowerCaseFileSystem "lower_case_file_system" Global Fixed Boolean => Some("OFF"), NoOption;
        LowerCaseTableNames "lower_case_table_names" Global Fixed Unsigned { min: 0, max: 2, block: 1 } => Some("0"), Absent;
        MasterRetryCount "master_retry_count" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("100000");
        MasterVerifyChecksum "master_verify_checksum" Global Dynamic Boolean => Some("OFF"), Absent;
        MaxAllowedPacket "max_allowed_packet" Both Dynamic Unsigned { min: 1024, max: 1073741824, block: 1024 } => Some("16777216");
        MaxBinlogCacheSize "max_binlog_cache_size" Global Dynamic Unsigned { min: 4096, max: u64::MAX, block: 4096 } => Some("18446744073709547520");
        MaxBinlogSize "max_binlog_size" Global Dynamic Unsigned { min: 4096, max: 1073741824, block: 4096 } => Some("1073741824");
        MaxBinlogStmtCacheSize "max_binlog_stmt_cache_size" Global Dynamic Unsigned { min: 4096, max: u64::MAX, block: 4096 } => Some("18446744073709547520"), Absent;
        MaxConnectErrors "max_connect_errors" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("100");
        MaxConnections "max_connections" Global Dynamic Unsigned { min: 10, max: 100000, block: 1 } => Some("151");
        MaxDelayedThreads "max_delayed_threads" Both Dynamic Unsigned { min: 0, max: 16384, block: 1 } => Some("20"), Tuning;
        MaxDigestLength "max_digest_length" Global Fixed Unsigned { min: 0, max: 1048576, block: 1 } => Some("1024"), Absent;
        MaxErrorCount "max_error_count" Both Dynamic Unsigned { min: 0, max: 65535, block: 1 } => Some("64");
        MaxHeapTableSize "max_heap_table_size" Both Dynamic Unsigned { min: 16384, max: u64::MAX, block: 1024 } => Some("16777216"), Absent;
        MaxInsertDelayedThreads "max_insert_delayed_threads" Both Dynamic Unsigned { min: 0, max: 16384, block: 1 } => Some("20"), Absent;
        MaxJoinSize "max_join_size" Both Dynamic Unsigned { min: 1, max: u64::MAX, block: 1 } => Some("18446744073709551615");
        MaxLengthForSortData "max_length_for_sort_data" Both Dynamic Unsigned { min: 4, max: 8388608, block: 1 } => Some("1024"), Tuning;
        MaxPasswordErrors "max_password_errors" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("4294967295");
        MaxPreparedStmtCount "max_prepared_stmt_count" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("16382");
        MaxRecursiveIterations "max_recursive_iterations" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1000");
        MaxRelayLogSize "max_relay_log_size" Both Dynamic Unsigned { min: 4096, max: 1073741824, block: 4096 } => Some("1073741824"), Absent;
        MaxRowidFilterSize "max_rowid_filter_size" Both Dynamic Unsigned { min: 1024, max: u64::MAX, block: 1 } => Some("131072"), Absent;
        MaxSeeksForKey "max_seeks_for_key" Both Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("4294967295"), Tuning;
        MaxSessionMemUsed "max_session_mem_used" Both Dynamic Unsigned { min: 8192, max: u64::MAX, block: 1 } => Some("9223372036854775807");
        MaxSortLength "max_sort_length" Both Dynamic Unsigned { min: 64, max: 8388608, block: 1 } => Some("1024");
        MaxSpRecursionDepth "max_sp_recursion_depth" Both Dynamic Unsigned { min: 0, max: 255, block: 1 } => Some("0");
        MaxStatementTime "max_statement_time" Both Dynamic Double { min: 0.0, max: 31536000.0 } => Some("0.000000");
        MaxTmpTables "max_tmp_tables" Both Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("32"), Tuning;
        MaxUserConnections "max_user_connections" Both Dynamic Integer { min: -1, max: 2147483647 } => Some("0");
        MaxWriteLockCount "max_write_lock_count" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("4294967295"), Tuning;
        MetadataLocksCacheSize "metadata_locks_cache_size" Global Fixed Unsigned { min: 1, max: 1048576, block: 1 } => Some("1024"), Tuning;
        MetadataLocksHashInstances "metadata_locks_hash_instances" Global Fixed Unsigned { min: 1, max: 1024, block: 1 } => Some("8"), Absent;
        MinExaminedRowLimit "min_examined_row_limit" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        MrrBufferSize "mrr_buffer_size" Both Dynamic Unsigned { min: 8192, max: 2147483647, block: 1 } => Some("262144"), Absent;
        MyisamBlockSize "myisam_block_size" Global Fixed Unsigned { min: 1024, max: 16384, block: 1024 } => Some("1024"), Absent;
        MyisamDataPointerSize "myisam_data_pointer_size" Global Dynamic Unsigned { min: 2, max: 7, block: 1 } => Some("6"), Absent;
        MyisamMaxSortFileSize "myisam_max_sort_file_size" Global Dynamic Unsigned { min: 0, max: 9223372036854775807, block: 1048576 } => Some("9223372036853727232"), Tuning;
        MyisamMmapSize "myisam_mmap_size" Global Fixed Unsigned { min: 7, max: u64::MAX, block: 1 } => Some("18446744073709551615"), Absent;
        MyisamRecoverOptions "myisam_recover_options" Global Fixed Set(&["DEFAULT", "BACKUP", "FORCE", "QUICK", "BACKUP_ALL", "OFF"]) => Some("BACKUP,QUICK"), Absent;
        MyisamRepairThreads "myisam_repair_threads" Both Dynamic Unsigned { min: 1, max: u64::MAX, block: 1 } => Some("1"), Absent;
        MyisamSortBufferSize "myisam_sort_buffer_size" Both Dynamic Unsigned { min: 4096, max: 1152921504606846975, block: 1 } => Some("134216704"), Tuning;
        MyisamStatsMethod "myisam_stats_method" Both Dynamic Enum(&["NULLS_UNEQUAL", "NULLS_EQUAL", "NULLS_IGNORED"]) => Some("NULLS_UNEQUAL"), Absent;
        MyisamUseMmap "myisam_use_mmap" Global Dynamic Boolean => Some("OFF"), Absent;
        Mysql56TemporalFormat "mysql56_temporal_format" Global Dynamic Boolean => Some("ON"), Absent;
        NetBufferLength "net_buffer_length" Both Dynamic Unsigned { min: 1024, max: 1048576, block: 1024 } => Some("16384"), Tuning;
        NetReadTimeout "net_read_timeout" Both Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("30");
        NetRetryCount "net_retry_count" Both Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("10"), Tuning;
        NetWriteTimeout "net_write_timeout" Both Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("60");
        NoteVerbosity "note_verbosity" Both Dynamic Set(&["basic", "unusable_keys", "explain"]) => Some("basic,explain"), Absent;
        Old "old" Both Dynamic Boolean => Some("OFF"), Absent;
        OldAlterTable "old_alter_table" Both Dynamic Enum(&["DEFAULT", "COPY", "INPLACE", "NOCOPY", "INSTANT"]) => Some("DEFAULT"), Tuning;
        OldMode "old_mode" Both Dynamic Set(&["NO_DUP_KEY_WARNINGS_WITH_IGNORE", "NO_PROGRESS_INFO", "ZERO_DATE_TIME_CAST", "UTF8_IS_UTF8MB3", "IGNORE_INDEX_ONLY_FOR_JOIN", "COMPAT_5_1_CHECKSUM", "NO_NULL_COLLATION_IDS"]) => Some("UTF8_IS_UTF8MB3"), Absent;
        OldPasswords "old_passwords" Both Dynamic Boolean => Some("OFF");
        OpenFilesLimit "open_files_limit" Global Fixed Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        OptimizerAdjustSecondaryKeyCosts "optimizer_adjust_secondary_key_costs" Both Dynamic Set(&["adjust_secondary_key_cost", "disable_max_seek", "disable_forced_index_in_group_by", "fix_innodb_cardinality", "fix_reuse_range_for_ref", "fix_card_multiplier", "fix_derived_table_read_cost", "fix_order_by_index_choice"]) => Some("fix_reuse_range_for_ref,fix_card_multiplier"), Absent;
        OptimizerExtraPruningDepth "optimizer_extra_pruning_depth" Both Dynamic Unsigned { min: 0, max: 62, block: 1 } => Some("8"), Absent;
        OptimizerJoinLimitPrefRatio "optimizer_join_limit_pref_ratio" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0"), Absent;
        OptimizerMaxSelArgWeight "optimizer_max_sel_arg_weight" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("32000"), Absent;
        OptimizerMaxSelArgs "optimizer_max_sel_args" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("16000"), Absent;
        OptimizerPruneLevel "optimizer_prune_level" Both Dynamic Unsigned { min: 0, max: 2, block: 1 } => Some("2"), Tuning;
        OptimizerSearchDepth "optimizer_search_depth" Both Dynamic Unsigned { min: 0, max: 62, block: 1 } => Some("62"), Tuning;
        OptimizerSelectivitySamplingLimit "optimizer_selectivity_sampling_limit" Both Dynamic Unsigned { min: 10, max: 4294967295, block: 1 } => Some("100"), Absent;
        OptimizerSwitch "optimizer_switch" Both Dynamic Flags(&["index_merge", "index_merge_union", "index_merge_sort_union", "index_merge_intersection", "index_merge_sort_intersection", "engine_condition_pushdown", "index_condition_pushdown", "derived_merge", "derived_with_keys", "firstmatch", "loosescan", "materialization", "in_to_exists", "semijoin", "partial_match_rowid_merge", "partial_match_table_scan", "subquery_cache", "mrr", "mrr_cost_based", "mrr_sort_keys", "outer_join_with_cache", "semijoin_with_cache", "join_cache_incremental", "join_cache_hashed", "join_cache_bka", "optimize_join_buffer_size", "table_elimination", "extended_keys", "exists_to_in", "orderby_uses_equalities", "condition_pushdown_for_derived", "split_materialized", "condition_pushdown_for_subquery", "rowid_filter", "condition_pushdown_from_having", "not_null_range_scan", "hash_join_cardinality", "cset_narrowing"]) => Some("index_merge=on,index_merge_union=on,index_merge_sort_union=on,index_merge_intersection=on,index_merge_sort_intersection=off,engine_condition_pushdown=off,index_condition_pushdown=on,derived_merge=on,derived_with_keys=on,firstmatch=on,loosescan=on,materialization=on,in_to_exists=on,semijoin=on,partial_match_rowid_merge=on,partial_match_table_scan=on,subquery_cache=on,mrr=off,mrr_cost_based=off,mrr_sort_keys=off,outer_join_with_cache=on,semijoin_with_cache=on,join_cache_incremental=on,join_cache_hashed=on,join_cache_bka=on,optimize_join_buffer_size=on,table_elimination=on,extended_keys=on,exists_to_in=on,orderby_uses_equalities=on,condition_pushdown_for_derived=on,split_materialized=on,condition_pushdown_for_subquery=on,rowid_filter=on,condition_pushdown_from_having=on,not_null_range_scan=off,hash_join_cardinality=off,cset_narrowing=off"), Tuning;
        OptimizerTrace "optimizer_trace" Both Dynamic Flags(&["enabled"]) => Some("enabled=off");
        OptimizerTraceMaxMemSize "optimizer_trace_max_mem_size" Both Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("1048576");
        OptimizerUseConditionSelectivity "optimizer_use_condition_selectivity" Both Dynamic Unsigned { min: 1, max: 5, block: 1 } => Some("4"), Tuning;
        PacelineBlockCacheSize "paceline_block_cache_size" Global Fixed Unsigned { min: 1048576, max: u64::MAX, block: 1048576 } => Some("1073741824");
        PacelineCheckpointLogBytes "paceline_checkpoint_log_bytes" Global Dynamic Unsigned { min: 1048576, max: u64::MAX, block: 1048576 } => Some("67108864");
        PacelineCluster "paceline_cluster" Global Fixed Text => Some("");
        PacelineClusterAddress "paceline_cluster_address" Global Fixed Text => Some("");
        PacelineClusterMemberName "paceline_cluster_member_name" Global Fixed Text => Some("");
        PacelineClusterPriority "paceline_cluster_priority" Global Fixed Unsigned { min: 0, max: 255, block: 1 } => Some("0");
        PacelineClusterSecretFile "paceline_cluster_secret_file" Global Fixed Text => Some("");
        PacelineClusterStaleReads "paceline_cluster_stale_reads" Both Dynamic Enum(&["REFUSE", "WARN", "ALLOW"]) => Some("REFUSE");
        PacelineClusterZone "paceline_cluster_zone" Global Fixed Unsigned { min: 0, max: 63, block: 1 } => Some("0");
        PacelineCommitLeader "paceline_commit_leader" Global Dynamic Enum(&["inline", "thread", "adaptive"]) => Some("adaptive");
        PacelineEarlyLockRelease "paceline_early_lock_release" Global Dynamic Boolean => Some("ON");
        PacelineEtcd "paceline_etcd" Global Fixed Text => Some("");
        PacelineEtcdCaFile "paceline_etcd_ca_file" Global Fixed Text => Some("");
        PacelineEtcdCertFile "paceline_etcd_cert_file" Global Fixed Text => Some("");
        PacelineEtcdKeyFile "paceline_etcd_key_file" Global Fixed Text => Some("");
        PacelineEtcdPasswordFile "paceline_etcd_password_file" Global Fixed Text => Some("");
        PacelineEtcdUser "paceline_etcd_user" Global Fixed Text => Some("");
        PacelineHttpAddress "paceline_http_address" Global Fixed Text => Some("");
        PacelineHttpTokenFile "paceline_http_token_file" Global Fixed Text => Some("");
        PacelineIdlePollUsec "paceline_idle_poll_usec" Global Dynamic Unsigned { min: 0, max: 1000, block: 1 } => Some("50");
        PacelineLoadGenerated "paceline_load_generated" SessionOnly Dynamic Boolean => Some("OFF");
        PacelineLogBlockSize "paceline_log_block_size" Global Fixed Unsigned { min: 1048576, max: 1073741824, block: 1048576 } => Some("16777216");
        PacelineMemcachedAccount "paceline_memcached_account" Global Fixed Text => Some("");
        PacelineMemcachedAddress "paceline_memcached_address" Global Fixed Text => Some("127.0.0.1");
        PacelineMemcachedPort "paceline_memcached_port" Global Fixed Unsigned { min: 0, max: 65535, block: 1 } => Some("0");
        PacelineMemcachedTls "paceline_memcached_tls" Global Fixed Boolean => Some("OFF");
        PacelineMemoryLimit "paceline_memory_limit" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1048576 } => Some("0");
        PacelineMemtableSize "paceline_memtable_size" Global Fixed Unsigned { min: 1048576, max: u64::MAX, block: 1048576 } => Some("268435456");
        PacelineNativeFunctions "paceline_native_functions" Global Fixed Boolean => Some("OFF");
        PacelineReplicateLeaveOut "paceline_replicate_leave_out" Global Dynamic Set(&["TRIGGERS", "ROUTINES", "EVENTS", "ROLES", "PRIVILEGES"]) => Some("");
        PacelineRowLocksMax "paceline_row_locks_max" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        PacelineSemiSyncFallback "paceline_semi_sync_fallback" Global Dynamic Boolean => Some("ON");
        PacelineSessionMemoryMax "paceline_session_memory_max" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        PacelineTemporaryTablesMax "paceline_temporary_tables_max" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("1073741824");
        PacelineWasmCallMsMax "paceline_wasm_call_ms_max" Global Dynamic Unsigned { min: 1, max: 86_400_000, block: 1 } => Some("10000");
        PacelineWasmMemoryMax "paceline_wasm_memory_max" Global Dynamic Unsigned { min: 65_536, max: 2_147_483_648, block: 65_536 } => Some("16777216");
        PacelineWorkerThreads "paceline_worker_threads" Global Fixed Unsigned { min: 0, max: 1024, block: 1 } => Some("0");
        PerformanceSchema "performance_schema" Global Fixed Boolean => Some("ON");
        PerformanceSchemaAccountsSize "performance_schema_accounts_size" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaDigestsSize "performance_schema_digests_size" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1");
        PerformanceSchemaEventsStagesHistoryLongSize "performance_schema_events_stages_history_long_size" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaEventsStagesHistorySize "performance_schema_events_stages_history_size" Global Fixed Integer { min: -1, max: 1024 } => Some("-1"), Absent;
        PerformanceSchemaEventsStatementsHistoryLongSize "performance_schema_events_statements_history_long_size" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1");
        PerformanceSchemaEventsStatementsHistorySize "performance_schema_events_statements_history_size" Global Fixed Integer { min: -1, max: 1024 } => Some("-1");
        PerformanceSchemaEventsTransactionsHistoryLongSize "performance_schema_events_transactions_history_long_size" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaEventsTransactionsHistorySize "performance_schema_events_transactions_history_size" Global Fixed Integer { min: -1, max: 1024 } => Some("-1"), Absent;
        PerformanceSchemaEventsWaitsHistoryLongSize "performance_schema_events_waits_history_long_size" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaEventsWaitsHistorySize "performance_schema_events_waits_history_size" Global Fixed Integer { min: -1, max: 1024 } => Some("-1"), Absent;
        PerformanceSchemaHostsSize "performance_schema_hosts_size" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaMaxCondClasses "performance_schema_max_cond_classes" Global Fixed Unsigned { min: 0, max: 256, block: 1 } => Some("90"), Absent;
        PerformanceSchemaMaxCondInstances "performance_schema_max_cond_instances" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaMaxDigestLength "performance_schema_max_digest_length" Global Fixed Integer { min: 0, max: 1048576 } => Some("1024"), Absent;
        PerformanceSchemaMaxFileClasses "performance_schema_max_file_classes" Global Fixed Unsigned { min: 0, max: 256, block: 1 } => Some("80"), Absent;
        PerformanceSchemaMaxFileHandles "performance_schema_max_file_handles" Global Fixed Unsigned { min: 0, max: 1048576, block: 1 } => Some("32768"), Absent;
        PerformanceSchemaMaxFileInstances "performance_schema_max_file_instances" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaMaxIndexStat "performance_schema_max_index_stat" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaMaxMemoryClasses "performance_schema_max_memory_classes" Global Fixed Unsigned { min: 0, max: 1024, block: 1 } => Some("320"), Absent;
        PerformanceSchemaMaxMetadataLocks "performance_schema_max_metadata_locks" Global Fixed Integer { min: -1, max: 104857600 } => Some("-1"), Absent;
        PerformanceSchemaMaxMutexClasses "performance_schema_max_mutex_classes" Global Fixed Unsigned { min: 0, max: 256, block: 1 } => Some("210"), Absent;
        PerformanceSchemaMaxMutexInstances "performance_schema_max_mutex_instances" Global Fixed Integer { min: -1, max: 104857600 } => Some("-1"), Absent;
        PerformanceSchemaMaxPreparedStatementsInstances "performance_schema_max_prepared_statements_instances" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaMaxProgramInstances "performance_schema_max_program_instances" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaMaxRwlockClasses "performance_schema_max_rwlock_classes" Global Fixed Unsigned { min: 0, max: 256, block: 1 } => Some("50"), Absent;
        PerformanceSchemaMaxRwlockInstances "performance_schema_max_rwlock_instances" Global Fixed Integer { min: -1, max: 104857600 } => Some("-1"), Absent;
        PerformanceSchemaMaxSocketClasses "performance_schema_max_socket_classes" Global Fixed Unsigned { min: 0, max: 256, block: 1 } => Some("10"), Absent;
        PerformanceSchemaMaxSocketInstances "performance_schema_max_socket_instances" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaMaxSqlTextLength "performance_schema_max_sql_text_length" Global Fixed Integer { min: 0, max: 1048576 } => Some("1024");
        PerformanceSchemaMaxStageClasses "performance_schema_max_stage_classes" Global Fixed Unsigned { min: 0, max: 256, block: 1 } => Some("160"), Absent;
        PerformanceSchemaMaxStatementClasses "performance_schema_max_statement_classes" Global Fixed Unsigned { min: 0, max: 256, block: 1 } => Some("222"), Absent;
        PerformanceSchemaMaxStatementStack "performance_schema_max_statement_stack" Global Fixed Unsigned { min: 1, max: 256, block: 1 } => Some("10"), Absent;
        PerformanceSchemaMaxTableHandles "performance_schema_max_table_handles" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaMaxTableInstances "performance_schema_max_table_instances" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaMaxTableLockStat "performance_schema_max_table_lock_stat" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaMaxThreadClasses "performance_schema_max_thread_classes" Global Fixed Unsigned { min: 0, max: 256, block: 1 } => Some("50"), Absent;
        PerformanceSchemaMaxThreadInstances "performance_schema_max_thread_instances" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaSessionConnectAttrsSize "performance_schema_session_connect_attrs_size" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaSetupActorsSize "performance_schema_setup_actors_size" Global Fixed Integer { min: -1, max: 1024 } => Some("-1"), Absent;
        PerformanceSchemaSetupObjectsSize "performance_schema_setup_objects_size" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PerformanceSchemaUsersSize "performance_schema_users_size" Global Fixed Integer { min: -1, max: 1048576 } => Some("-1"), Absent;
        PidFile "pid_file" Global Fixed Text => Some("");
        PluginDir "plugin_dir" Global Fixed Text => Some("");
        PluginMaturity "plugin_maturity" Global Fixed Enum(&["unknown", "experimental", "alpha", "beta", "gamma", "stable"]) => Some("gamma"), Absent;
        Port "port" Global Fixed Unsigned { min: 0, max: 65535, block: 1 } => Some("3306");
        PreloadBufferSize "preload_buffer_size" Both Dynamic Unsigned { min: 1024, max: 1073741824, block: 1 } => Some("32768"), Absent;
        Profiling "profiling" Both Dynamic Boolean => Some("OFF"), Absent;
        ProfilingHistorySize "profiling_history_size" Both Dynamic Unsigned { min: 0, max: 100, block: 1 } => Some("15"), Absent;
        ProgressReportTime "progress_report_time" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("5");
        ProtocolVersion "protocol_version" Global Fixed Unsigned { min: 0, max: 4294967295, block: 1 } => Some("10"), NoOption;
        ProxyProtocolNetworks "proxy_protocol_networks" Global Dynamic Text => Some("");
        ProxyUser "proxy_user" SessionOnly Fixed Text => Some("");
        PseudoSlaveMode "pseudo_slave_mode" SessionOnly Dynamic Boolean => Some("OFF");
        PseudoThreadId "pseudo_thread_id" SessionOnly Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        QueryAllocBlockSize "query_alloc_block_size" Both Dynamic Unsigned { min: 1024, max: 4294967295, block: 1024 } => Some("32768"), Tuning;
        QueryCacheLimit "query_cache_limit" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1048576"), Absent;
        QueryCacheMinResUnit "query_cache_min_res_unit" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 8 } => Some("4096"), Absent;
        QueryCacheSize "query_cache_size" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1024 } => Some("1048576"), Absent;
        QueryCacheStripComments "query_cache_strip_comments" Both Dynamic Boolean => Some("OFF"), Absent;
        QueryCacheType "query_cache_type" Both Dynamic Enum(&["OFF", "ON", "DEMAND"]) => Some("OFF"), Absent;
        QueryCacheWlockInvalidate "query_cache_wlock_invalidate" Both Dynamic Boolean => Some("OFF"), Absent;
        QueryPreallocSize "query_prealloc_size" Both Dynamic Unsigned { min: 1024, max: 4294967295, block: 1024 } => Some("32768"), Tuning;
        RandSeed1 "rand_seed1" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        RandSeed2 "rand_seed2" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        RangeAllocBlockSize "range_alloc_block_size" Both Dynamic Unsigned { min: 4096, max: 4294967295, block: 1024 } => Some("4096"), Tuning;
        ReadBinlogSpeedLimit "read_binlog_speed_limit" Global Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0"), Absent;
        ReadBufferSize "read_buffer_size" Both Dynamic Unsigned { min: 8192, max: 2147483647, block: 4096 } => Some("131072"), Tuning;
        ReadOnly "read_only" Global Dynamic Boolean => Some("OFF");
        ReadRndBufferSize "read_rnd_buffer_size" Both Dynamic Unsigned { min: 1, max: 2147483647, block: 1 } => Some("262144"), Tuning;
        RelayLog "relay_log" Global Fixed Text => Some(""), Absent;
        RelayLogBasename "relay_log_basename" Global Fixed Text => Some(""), Absent;
        RelayLogIndex "relay_log_index" Global Fixed Text => Some(""), Absent;
        RelayLogInfoFile "relay_log_info_file" Global Fixed Text => Some("relay-log.info"), Absent;
        RelayLogPurge "relay_log_purge" Global Dynamic Boolean => Some("ON"), Absent;
        RelayLogRecovery "relay_log_recovery" Global Dynamic Boolean => Some("OFF"), Absent;
        RelayLogSpaceLimit "relay_log_space_limit" Global Fixed Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0"), Absent;
        ReplicateAnnotateRowEvents "replicate_annotate_row_events" Global Fixed Boolean => Some("ON"), Absent;
        ReplicateDoDb "replicate_do_db" Global Dynamic Text => Some("");
        ReplicateDoTable "replicate_do_table" Global Dynamic Text => Some("");
        ReplicateEventsMarkedForSkip "replicate_events_marked_for_skip" Global Dynamic Enum(&["REPLICATE", "FILTER_ON_SLAVE", "FILTER_ON_MASTER"]) => Some("REPLICATE");
        ReplicateIgnoreDb "replicate_ignore_db" Global Dynamic Text => Some("");
        ReplicateIgnoreTable "replicate_ignore_table" Global Dynamic Text => Some("");
        ReplicateRewriteDb "replicate_rewrite_db" Global Dynamic Text => Some("");
        ReplicateSameServerId "replicate_same_server_id" Global Fixed Boolean => Some("OFF");
        ReplicateWildDoTable "replicate_wild_do_table" Global Dynamic Text => Some("");
        ReplicateWildIgnoreTable "replicate_wild_ignore_table" Global Dynamic Text => Some("");
        ReportHost "report_host" Global Fixed Text => None;
        ReportPassword "report_password" Global Fixed Text => None;
        ReportPort "report_port" Global Fixed Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        ReportUser "report_user" Global Fixed Text => None;
        RequireSecureTransport "require_secure_transport" Global Dynamic Boolean => Some("OFF");
        RowidMergeBuffSize "rowid_merge_buff_size" Both Dynamic Unsigned { min: 0, max: 9223372036854775807, block: 1 } => Some("8388608"), Absent;
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
        SecureTimestamp "secure_timestamp" Global Fixed Enum(&["NO", "SUPER", "REPLICATION", "YES"]) => Some("NO"), Absent;
        ServerAuditEvents "server_audit_events" Global Dynamic Set(&["CONNECT", "QUERY", "TABLE", "QUERY_DDL", "QUERY_DML", "QUERY_DML_NO_SELECT", "QUERY_DCL"]) => Some("");
        ServerAuditExclUsers "server_audit_excl_users" Global Dynamic Text => Some("");
        ServerAuditFilePath "server_audit_file_path" Global Dynamic Text => Some("server_audit.log");
        ServerAuditFileRotateNow "server_audit_file_rotate_now" Global Dynamic Boolean => Some("OFF");
        ServerAuditFileRotateSize "server_audit_file_rotate_size" Global Dynamic Unsigned { min: 100, max: 9223372036854775807, block: 1 } => Some("1000000");
        ServerAuditFileRotations "server_audit_file_rotations" Global Dynamic Unsigned { min: 0, max: 999, block: 1 } => Some("9");
        ServerAuditInclUsers "server_audit_incl_users" Global Dynamic Text => Some("");
        ServerAuditLogging "server_audit_logging" Global Dynamic Boolean => Some("OFF");
        ServerAuditQueryLogLimit "server_audit_query_log_limit" Global Dynamic Unsigned { min: 0, max: 2147483647, block: 1 } => Some("1024");
        ServerId "server_id" Both Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("1");
        ServerUid "server_uid" Global Fixed Text => Some(""), NoOption;
        SessionTrackSchema "session_track_schema" Both Dynamic Boolean => Some("ON");
        SessionTrackStateChange "session_track_state_change" Both Dynamic Boolean => Some("OFF");
        SessionTrackSystemVariables "session_track_system_variables" Both Dynamic Text => Some("autocommit,character_set_client,character_set_connection,character_set_results,time_zone");
        SessionTrackTransactionInfo "session_track_transaction_info" Both Dynamic Enum(&["OFF", "STATE", "CHARACTERISTICS"]) => Some("OFF");
        SimplePasswordCheck "simple_password_check" Global Fixed Boolean => Some("OFF");
        SimplePasswordCheckDigits "simple_password_check_digits" Global Dynamic Unsigned { min: 0, max: 1000, block: 1 } => Some("1");
        SimplePasswordCheckLettersSameCase "simple_password_check_letters_same_case" Global Dynamic Unsigned { min: 0, max: 1000, block: 1 } => Some("1");
        SimplePasswordCheckMinimalLength "simple_password_check_minimal_length" Global Dynamic Unsigned { min: 0, max: 1000, block: 1 } => Some("8");
        SimplePasswordCheckOtherCharacters "simple_password_check_other_characters" Global Dynamic Unsigned { min: 0, max: 1000, block: 1 } => Some("1");
        SkipExternalLocking "skip_external_locking" Global Fixed Boolean => Some("ON"), Absent;
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
        SlaveLoadTmpdir "slave_load_tmpdir" Global Fixed Text => Some("/tmp"), Absent;
        SlaveMaxAllowedPacket "slave_max_allowed_packet" Global Dynamic Unsigned { min: 1024, max: 1073741824, block: 1024 } => Some("1073741824");
        SlaveMaxStatementTime "slave_max_statement_time" Global Dynamic Double { min: 0.0, max: 31536000.0 } => Some("0.000000"), Absent;
        SlaveNetTimeout "slave_net_timeout" Global Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("60");
        SlaveParallelMaxQueued "slave_parallel_max_queued" Global Dynamic Unsigned { min: 0, max: 2147483647, block: 1 } => Some("131072");
        SlaveParallelMode "slave_parallel_mode" Global Dynamic Enum(&["none", "minimal", "conservative", "optimistic", "aggressive"]) => Some("optimistic");
        SlaveParallelThreads "slave_parallel_threads" Global Dynamic Unsigned { min: 0, max: 16383, block: 1 } => Some("0");
        SlaveParallelWorkers "slave_parallel_workers" Global Dynamic Unsigned { min: 0, max: 16383, block: 1 } => Some("0"), Absent;
        SlaveRunTriggersForRbr "slave_run_triggers_for_rbr" Global Dynamic Enum(&["NO", "YES", "LOGGING", "ENFORCE"]) => Some("NO");
        SlaveSkipErrors "slave_skip_errors" Global Fixed Text => Some("OFF");
        SlaveSqlVerifyChecksum "slave_sql_verify_checksum" Global Dynamic Boolean => Some("ON"), Absent;
        SlaveTransactionRetries "slave_transaction_retries" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("10"), Absent;
        SlaveTransactionRetryErrors "slave_transaction_retry_errors" Global Fixed Text => Some("1158,1159,1160,1161,1205,1213,1020,1429,2013,12701"), Absent;
        SlaveTransactionRetryInterval "slave_transaction_retry_interval" Global Dynamic Unsigned { min: 0, max: 3600, block: 1 } => Some("0"), Absent;
        SlaveTypeConversions "slave_type_conversions" Global Dynamic Set(&["ALL_LOSSY", "ALL_NON_LOSSY"]) => Some("");
        SlowLaunchTime "slow_launch_time" Global Dynamic Unsigned { min: 0, max: 31536000, block: 1 } => Some("2"), Absent;
        SlowQueryLog "slow_query_log" Both Dynamic Boolean => Some("OFF");
        SlowQueryLogFile "slow_query_log_file" Global Dynamic Text => Some("");
        Socket "socket" Global Fixed Text => Some("");
        SortBufferSize "sort_buffer_size" Both Dynamic Unsigned { min: 1024, max: u64::MAX, block: 1 } => Some("2097152"), Tuning;
        SqlAutoIsNull "sql_auto_is_null" Both Dynamic Boolean => Some("OFF"), Absent;
        SqlBigSelects "sql_big_selects" Both Dynamic Boolean => Some("ON");
        SqlBufferResult "sql_buffer_result" Both Dynamic Boolean => Some("OFF"), Tuning;
        SqlIfExists "sql_if_exists" Both Dynamic Boolean => Some("OFF");
        SqlLogBin "sql_log_bin" Both Dynamic Boolean => Some("ON");
        SqlLogOff "sql_log_off" Both Dynamic Boolean => Some("OFF");
        SqlMode "sql_mode" Both Dynamic SqlMode => Some("STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION");
        SqlNotes "sql_notes" Both Dynamic Boolean => Some("ON");
        SqlQuoteShowCreate "sql_quote_show_create" Both Dynamic Boolean => Some("ON"), Absent;
        SqlSafeUpdates "sql_safe_updates" Both Dynamic Boolean => Some("OFF");
        SqlSelectLimit "sql_select_limit" Both Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("18446744073709551615");
        SqlSlaveSkipCounter "sql_slave_skip_counter" Both Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0");
        SqlWarnings "sql_warnings" Both Dynamic Boolean => Some("OFF"), Absent;
        SslCa "ssl_ca" Global Fixed Text => Some("");
        SslCapath "ssl_capath" Global Fixed Text => Some("");
        SslCert "ssl_cert" Global Fixed Text => Some("");
        SslCipher "ssl_cipher" Global Fixed Text => Some("");
        SslCrl "ssl_crl" Global Fixed Text => Some("");
        SslCrlpath "ssl_crlpath" Global Fixed Text => Some("");
        SslKey "ssl_key" Global Fixed Text => Some("");
        StandardCompliantCte "standard_compliant_cte" Both Dynamic Boolean => Some("ON"), Absent;
        StorageEngine "storage_engine" Both Dynamic Text => Some("InnoDB");
        StoredProgramCache "stored_program_cache" Global Dynamic Unsigned { min: 0, max: 524288, block: 1 } => Some("256"), Absent;
        StrictPasswordValidation "strict_password_validation" Global Dynamic Boolean => Some("ON");
        SyncBinlog "sync_binlog" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1");
        SyncFrm "sync_frm" Global Dynamic Boolean => Some("ON"), Tuning;
        SyncMasterInfo "sync_master_info" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("10000"), Tuning;
        SyncRelayLog "sync_relay_log" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("10000"), Tuning;
        SyncRelayLogInfo "sync_relay_log_info" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("10000"), Absent;
        SystemTimeZone "system_time_zone" Global Fixed Text => Some(""), NoOption;
        SystemVersioningAlterHistory "system_versioning_alter_history" Both Dynamic Enum(&["ERROR", "KEEP"]) => Some("ERROR"), Absent;
        SystemVersioningAsof "system_versioning_asof" Both Dynamic Text => Some("DEFAULT"), Absent;
        SystemVersioningInsertHistory "system_versioning_insert_history" Both Dynamic Boolean => Some("OFF"), Absent;
        TableDefinitionCache "table_definition_cache" Global Dynamic Unsigned { min: 400, max: 2097152, block: 1 } => Some("400"), Tuning;
        TableOpenCache "table_open_cache" Global Dynamic Unsigned { min: 10, max: 1048576, block: 1 } => Some("2000"), Tuning;
        TableOpenCacheInstances "table_open_cache_instances" Global Fixed Unsigned { min: 1, max: 64, block: 1 } => Some("1"), Tuning;
        TcpKeepaliveInterval "tcp_keepalive_interval" Global Dynamic Integer { min: 0, max: 2147483 } => Some("0"), Absent;
        TcpKeepaliveProbes "tcp_keepalive_probes" Global Dynamic Integer { min: 0, max: 2147483 } => Some("0"), Absent;
        TcpKeepaliveTime "tcp_keepalive_time" Global Dynamic Integer { min: 0, max: 2147483 } => Some("0"), Absent;
        TcpNodelay "tcp_nodelay" Both Dynamic Boolean => Some("ON"), Tuning;
        ThreadCacheSize "thread_cache_size" Global Dynamic Unsigned { min: 0, max: 16384, block: 1 } => Some("256"), Tuning;
        ThreadHandling "thread_handling" Global Fixed Enum(&["one-thread-per-connection", "no-threads", "pool-of-threads"]) => Some("pool-of-threads"), Tuning;
        ThreadPoolDedicatedListener "thread_pool_dedicated_listener" Global Dynamic Boolean => Some("OFF"), Absent;
        ThreadPoolExactStats "thread_pool_exact_stats" Global Dynamic Boolean => Some("OFF"), Absent;
        ThreadPoolIdleTimeout "thread_pool_idle_timeout" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("60"), Absent;
        ThreadPoolMaxThreads "thread_pool_max_threads" Global Dynamic Unsigned { min: 1, max: 65536, block: 1 } => Some("65536"), Absent;
        ThreadPoolOversubscribe "thread_pool_oversubscribe" Global Dynamic Unsigned { min: 1, max: 1000, block: 1 } => Some("3"), Absent;
        ThreadPoolPrioKickupTimer "thread_pool_prio_kickup_timer" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("1000"), Absent;
        ThreadPoolPriority "thread_pool_priority" Both Dynamic Enum(&["high", "low", "auto"]) => Some("auto"), Absent;
        ThreadPoolSize "thread_pool_size" Global Dynamic Unsigned { min: 1, max: 100000, block: 1 } => Some("2"), Absent;
        ThreadPoolStallLimit "thread_pool_stall_limit" Global Dynamic Unsigned { min: 1, max: 4294967295, block: 1 } => Some("500"), Absent;
        ThreadStack "thread_stack" Global Fixed Unsigned { min: 131072, max: u64::MAX, block: 1024 } => Some("299008"), Tuning;
        TimeFormat "time_format" Global Fixed Text => Some("%H:%i:%s");
        TimeZone "time_zone" Both Dynamic TimeZone => Some("SYSTEM");
        Timestamp "timestamp" SessionOnly Dynamic Double { min: 0.0, max: 2147483647.0 } => Some("0.000000");
        TlsVersion "tls_version" Global Fixed Set(&["TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"]) => Some("TLSv1.2,TLSv1.3");
        TmpDiskTableSize "tmp_disk_table_size" Both Dynamic Unsigned { min: 1024, max: u64::MAX, block: 1 } => Some("18446744073709551615"), Tuning;
        TmpMemoryTableSize "tmp_memory_table_size" Both Dynamic Unsigned { min: 0, max: u64::MAX, block: 16384 } => Some("16777216"), Tuning;
        TmpTableSize "tmp_table_size" Both Dynamic Unsigned { min: 0, max: u64::MAX, block: 16384 } => Some("16777216"), Tuning;
        Tmpdir "tmpdir" Global Fixed Text => Some("/tmp"), Absent;
        TransactionAllocBlockSize "transaction_alloc_block_size" Both Dynamic Unsigned { min: 1024, max: 134217728, block: 1024 } => Some("8192"), Tuning;
        TransactionPreallocSize "transaction_prealloc_size" Both Dynamic Unsigned { min: 1024, max: 134217728, block: 1024 } => Some("4096"), Tuning;
        TxIsolation "tx_isolation" Both Dynamic Enum(&["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"]) => Some("REPEATABLE-READ");
        TxReadOnly "tx_read_only" Both Dynamic Boolean => Some("OFF");
        UniqueChecks "unique_checks" Both Dynamic Boolean => Some("ON");
        UpdatableViewsWithLimit "updatable_views_with_limit" Both Dynamic Enum(&["NO", "YES"]) => Some("YES");
        UseStatTables "use_stat_tables" Both Dynamic Enum(&["NEVER", "COMPLEMENTARY", "PREFERABLY", "COMPLEMENTARY_FOR_QUERIES", "PREFERABLY_FOR_QUERIES"]) => Some("PREFERABLY_FOR_QUERIES"), Tuning;
        Userstat "userstat" Global Dynamic Boolean => Some("OFF");
        Version "version" Global Fixed Text => Some(""), NoOption;
        VersionComment "version_comment" Global Fixed Text => Some(""), NoOption;
        VersionCompileMachine "version_compile_machine" Global Fixed Text => Some(""), NoOption;
        VersionCompileOs "version_compile_os" Global Fixed Text => Some(""), NoOption;
        VersionMallocLibrary "version_malloc_library" Global Fixed Text => Some(""), NoOption;
        VersionSourceRevision "version_source_revision" Global Fixed Text => Some(""), NoOption;
        VersionSslLibrary "version_ssl_library" Global Fixed Text => Some(""), NoOption;
        WaitForGtid "wait_for_gtid" SessionOnly Dynamic Text => Some("");
        WaitForGtidTimeout "wait_for_gtid_timeout" Both Dynamic Double { min: 0.0, max: 31536000.0 } => Some("60.000000");
        WaitTimeout "wait_timeout" Both Dynamic Unsigned { min: 1, max: 31536000, block: 1 } => Some("28800");
        WarningCount "warning_count" SessionOnly Fixed Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0");
        WsrepAllowlist "wsrep_allowlist" Global Fixed Text => Some(""), Absent;
        WsrepAutoIncrementControl "wsrep_auto_increment_control" Global Dynamic Boolean => Some("ON"), Absent;
        WsrepCausalReads "wsrep_causal_reads" Both Dynamic Boolean => Some("OFF"), Absent;
        WsrepCertificationRules "wsrep_certification_rules" Global Dynamic Enum(&["strict", "optimized"]) => Some("strict"), Absent;
        WsrepCertifyNonpk "wsrep_certify_nonpk" Global Dynamic Boolean => Some("ON"), Absent;
        WsrepClusterAddress "wsrep_cluster_address" Global Dynamic Text => Some(""), Absent;
        WsrepClusterName "wsrep_cluster_name" Global Dynamic Text => Some("my_wsrep_cluster"), Absent;
        WsrepConvertLockToTrx "wsrep_convert_lock_to_trx" Global Dynamic Boolean => Some("OFF"), Absent;
        WsrepDataHomeDir "wsrep_data_home_dir" Global Fixed Text => Some(""), Absent;
        WsrepDbugOption "wsrep_dbug_option" Global Dynamic Text => Some(""), Absent;
        WsrepDebug "wsrep_debug" Global Dynamic Enum(&["NONE", "SERVER", "TRANSACTION", "STREAMING", "CLIENT"]) => Some("NONE"), Absent;
        WsrepDesync "wsrep_desync" Global Dynamic Boolean => Some("OFF"), Absent;
        WsrepDirtyReads "wsrep_dirty_reads" Both Dynamic Boolean => Some("OFF"), Absent;
        WsrepDrupal282555Workaround "wsrep_drupal_282555_workaround" Global Dynamic Boolean => Some("OFF"), Absent;
        WsrepForcedBinlogFormat "wsrep_forced_binlog_format" Global Dynamic Enum(&["MIXED", "STATEMENT", "ROW", "NONE"]) => Some("NONE"), Absent;
        WsrepGtidDomainId "wsrep_gtid_domain_id" Global Dynamic Unsigned { min: 0, max: 4294967295, block: 1 } => Some("0"), Absent;
        WsrepGtidMode "wsrep_gtid_mode" Global Dynamic Boolean => Some("OFF"), Absent;
        WsrepGtidSeqNo "wsrep_gtid_seq_no" SessionOnly Dynamic Unsigned { min: 0, max: u64::MAX, block: 1 } => Some("0"), Absent;
        WsrepIgnoreApplyErrors "wsrep_ignore_apply_errors" Global Dynamic Unsigned { min: 0, max: 7, block: 1 } => Some("7"), Absent;
        WsrepLoadDataSplitting "wsrep_load_data_splitting" Global Dynamic Boolean => Some("OFF"), Absent;
        WsrepLogConflicts "wsrep_log_conflicts" Global Dynamic Boolean => Some("OFF"), Absent;
        WsrepMaxWsRows "wsrep_max_ws_rows" Global Dynamic Unsigned { min: 0, max: 1048576, block: 1 } => Some("0"), Absent;
        WsrepMaxWsSize "wsrep_max_ws_size" Global Dynamic Unsigned { min: 1024, max: 2147483647, block: 1 } => Some("2147483647"), Absent;
        WsrepMode "wsrep_mode" Global Dynamic Set(&["STRICT_REPLICATION", "BINLOG_ROW_FORMAT_ONLY", "REQUIRED_PRIMARY_KEY", "REPLICATE_MYISAM", "REPLICATE_ARIA", "DISALLOW_LOCAL_GTID", "BF_ABORT_MARIABACKUP"]) => Some(""), Absent;
        WsrepMysqlReplicationBundle "wsrep_mysql_replication_bundle" Global Dynamic Unsigned { min: 0, max: 1000, block: 1 } => Some("0"), Absent;
        WsrepNodeAddress "wsrep_node_address" Global Dynamic Text => Some(""), Absent;
        WsrepNodeIncomingAddress "wsrep_node_incoming_address" Global Dynamic Text => Some("AUTO"), Absent;
        WsrepNodeName "wsrep_node_name" Global Dynamic Text => Some(""), Absent;
        WsrepNotifyCmd "wsrep_notify_cmd" Global Fixed Text => Some(""), Absent;
        WsrepOn "wsrep_on" Both Dynamic Boolean => Some("OFF"), Absent;
        WsrepOsuMethod "wsrep_osu_method" Both Dynamic Enum(&["TOI", "RSU"]) => Some("TOI"), Absent;
        WsrepPatchVersion "wsrep_patch_version" Global Fixed Text => Some("wsrep_26.22"), Absent;
        WsrepProvider "wsrep_provider" Global Fixed Text => Some("none"), Absent;
        WsrepProviderOptions "wsrep_provider_options" Global Dynamic Text => Some(""), Absent;
        WsrepRecover "wsrep_recover" Global Fixed Boolean => Some("OFF"), Absent;
        WsrepRejectQueries "wsrep_reject_queries" Global Dynamic Enum(&["NONE", "ALL", "ALL_KILL"]) => Some("NONE"), Absent;
        WsrepRestartSlave "wsrep_restart_slave" Global Dynamic Boolean => Some("OFF"), Absent;
        WsrepRetryAutocommit "wsrep_retry_autocommit" Both Dynamic Unsigned { min: 0, max: 10000, block: 1 } => Some("1"), Absent;
        WsrepSlaveFkChecks "wsrep_slave_fk_checks" Global Dynamic Boolean => Some("ON"), Absent;
        WsrepSlaveThreads "wsrep_slave_threads" Global Dynamic Unsigned { min: 1, max: 512, block: 1 } => Some("1"), Absent;
        WsrepSlaveUkChecks "wsrep_slave_uk_checks" Global Dynamic Boolean => Some("OFF"), Absent;
        WsrepSrStore "wsrep_sr_store" Global Fixed Enum(&["none", "table"]) => Some("table"), Absent;
        WsrepSstAuth "wsrep_sst_auth" Global Dynamic Text => Some(""), Absent;
        WsrepSstDonor "wsrep_sst_donor" Global Dynamic Text => Some(""), Absent;
        WsrepSstDonorRejectsQueries "wsrep_sst_donor_rejects_queries" Global Dynamic Boolean => Some("OFF"), Absent;
        WsrepSstMethod "wsrep_sst_method" Global Dynamic Text => Some("rsync"), Absent;
        WsrepSstReceiveAddress "wsrep_sst_receive_address" Global Dynamic Text => Some("AUTO"), Absent;
        WsrepStartPosition "wsrep_start_position" Global Dynamic Text => Some("00000000-0000-0000-0000-000000000000:-1"), Absent;
        WsrepStatusFile "wsrep_status_file" Global Fixed Text => Some(""), Absent;
        WsrepSyncWait "wsrep_sync_wait" Both Dynamic Unsigned { min: 0, max: 15, block: 1 } => Some("0"), Absent;
        WsrepTrxFragmentSize "wsrep_trx_fragment_size" Both Dynamic Unsigned { min: 0, max: 2147483647, block: 1 } => Some("0"), Absent;
        WsrepTrxFragmentUnit "wsrep_trx_fragment_unit" Both Dynamic Enum(&["bytes", "rows", "statements"]) => Some("bytes"), Absent;
    }
}
pub use list::{TABLE, Variable};

/// Options that are not named like their variables. MariaDB has variables of the last two names since 11.1.
const OTHER_OPTION_NAMES: [(&str, Variable); 21] = [
    ("cluster", Variable::PacelineCluster),
    ("cluster_address", Variable::PacelineClusterAddress),
    ("cluster_member_name", Variable::PacelineClusterMemberName),
    ("cluster_priority", Variable::PacelineClusterPriority),
    ("cluster_secret_file", Variable::PacelineClusterSecretFile),
    ("cluster_zone", Variable::PacelineClusterZone),
    ("etcd", Variable::PacelineEtcd),
    ("etcd_ca_file", Variable::PacelineEtcdCaFile),
    ("etcd_cert_file", Variable::PacelineEtcdCertFile),
    ("etcd_key_file", Variable::PacelineEtcdKeyFile),
    ("etcd_password_file", Variable::PacelineEtcdPasswordFile),
    ("etcd_user", Variable::PacelineEtcdUser),
    ("default_time_zone", Variable::TimeZone),
    ("http_address", Variable::PacelineHttpAddress),
    ("http_token_file", Variable::PacelineHttpTokenFile),
    ("memcached_account", Variable::PacelineMemcachedAccount),
    ("memcached_address", Variable::PacelineMemcachedAddress),
    ("memcached_port", Variable::PacelineMemcachedPort),
    ("memcached_tls", Variable::PacelineMemcachedTls),
    ("transaction_isolation", Variable::TxIsolation),
    ("transaction_read_only", Variable::TxReadOnly),
];

impl Variable {
    /// Returns its entry in [`TABLE`].
    pub fn definition(self) -> &'static Definition {
        &TABLE[self as usize]
    }

    /// Looks up the variable of an option.
    pub fn by_option(name: &str) -> Option<Variable> {
        let other = OTHER_OPTION_NAMES.iter().find(|(other, _)| *other == name);
        match other {
            Some((_, variable)) => Some(*variable),
            None => Self::by_name(name),
        }
    }

    /// Returns the other name that the variable's option has.
    pub fn other_option_name(self) -> Option<&'static str> {
        let other = OTHER_OPTION_NAMES.iter().find(|(_, variable)| *variable == self);
        other.map(|(name, _)| *name)
    }

    /// Looks up a variable by its name, in lower case with underscores.
    pub fn by_name(name: &str) -> Option<Variable> {
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
