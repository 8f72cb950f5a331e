//! Effects of system variables beyond their stored values.

use super::store::{Globals, SessionValues};
use super::table::Variable;
use super::value::VariableValue;
use crate::memory;
use paceline_expression::session::{
    AlterAlgorithm, BinlogFormat, Notes, RegexOptions, SessionContext, SqlMode,
};
use paceline_log_stream::primary::{Fallback, SemiSyncMode, SemiSyncSettings, TooFewReplicas};
use paceline_txn::{Config, GtidStrictMode, LeaderMode, LockRelease, ROW_LOCK_BYTES, SyncBinlog};
use paceline_types::{Charset, Collation, IsolationLevel, Locale, TimeZone};
use std::time::Duration;

/// Copies a session variable's value to the settings that execution reads.
pub fn apply_to_session(
    session: &mut SessionContext,
    values: &mut SessionValues,
    variable: Variable,
    setting: &VariableValue,
) {
    let settings = &mut session.settings;
    match variable {
        Variable::Autocommit => settings.autocommit = setting.as_bool(),
        Variable::SqlMode => settings.sql_mode = SqlMode::parse(setting.as_str()).unwrap_or_default(),
        Variable::TimeZone => settings.time_zone = TimeZone::parse(setting.as_str()).unwrap_or(TimeZone::UTC),
        Variable::TxIsolation => settings.isolation = isolation(setting),
        Variable::InnodbSnapshotIsolation => settings.snapshot_isolation = setting.as_bool(),
        Variable::InnodbStrictMode => settings.innodb_strict_mode = setting.as_bool(),
        Variable::AlterAlgorithm => settings.alter_algorithm = AlterAlgorithm::of_number(setting.as_u64()),
        Variable::TxReadOnly => settings.transaction_read_only = setting.as_bool(),
        Variable::CharacterSetClient => {
            settings.character_set_client = Charset::from_name(setting.as_str()).unwrap_or(Charset::Utf8mb4);
        }
        Variable::CharacterSetResults => {
            settings.character_set_results = Charset::from_name(setting.as_str())
        }
        Variable::CharacterSetConnection => {
            if let Some(charset) = Charset::from_name(setting.as_str()) {
                settings.collation_connection = charset.default_collation();
                values.set(
                    Variable::CollationConnection,
                    text(charset.default_collation().name()),
                );
            }
        }
        Variable::CollationConnection => {
            if let Some(collation) = Collation::from_name(setting.as_str()) {
                settings.collation_connection = collation;
                values.set(Variable::CharacterSetConnection, text(collation.charset().name()));
            }
        }
        Variable::CharacterSetDatabase => {
            if let Some(charset) = Charset::from_name(setting.as_str()) {
                settings.collation_database = charset.default_collation();
                values.set(
                    Variable::CollationDatabase,
                    text(charset.default_collation().name()),
                );
            }
        }
        Variable::CollationDatabase => {
            if let Some(collation) = Collation::from_name(setting.as_str()) {
                settings.collation_database = collation;
                values.set(Variable::CharacterSetDatabase, text(collation.charset().name()));
            }
        }
        Variable::CharacterSetServer => {
            if let Some(charset) = Charset::from_name(setting.as_str()) {
                settings.collation_server = charset.default_collation();
                values.set(
                    Variable::CollationServer,
                    text(charset.default_collation().name()),
                );
            }
        }
        Variable::CollationServer => {
            if let Some(collation) = Collation::from_name(setting.as_str()) {
                settings.collation_server = collation;
                values.set(Variable::CharacterSetServer, text(collation.charset().name()));
            }
        }
        Variable::CheckConstraintChecks => settings.check_constraint_checks = setting.as_bool(),
        Variable::UpdatableViewsWithLimit => settings.updatable_views_with_limit = setting.as_bool(),
        Variable::PacelineLoadGenerated => settings.load_generated = setting.as_bool(),
        Variable::ForeignKeyChecks => settings.foreign_key_checks = setting.as_bool(),
        Variable::UniqueChecks => settings.unique_checks = setting.as_bool(),
        Variable::ExplicitDefaultsForTimestamp => {
            settings.explicit_defaults_for_timestamp = setting.as_bool()
        }
        Variable::SqlLogBin => settings.log_bin = setting.as_bool(),
        Variable::BinlogFormat => settings.binlog_format = binlog_format(setting),
        Variable::SqlSelectLimit => settings.select_limit = setting.as_u64(),
        Variable::MaxJoinSize => {
            let is_unlimited = setting.as_u64() == u64::MAX;
            settings.join_rows_max = setting.as_u64();
            values.set(Variable::SqlBigSelects, VariableValue::Boolean(is_unlimited));
        }
        Variable::SqlBigSelects => {
            settings.join_rows_max = match setting.as_bool() {
                true => u64::MAX,
                false => values.get(Variable::MaxJoinSize).as_u64(),
            }
        }
        Variable::OptimizerTrace => settings.optimizer_trace.is_on = setting.as_u64() != 0,
        Variable::OptimizerTraceMaxMemSize => settings.optimizer_trace.bytes_max = size(setting),
        Variable::SqlSafeUpdates => settings.safe_updates = setting.as_bool(),
        Variable::OldPasswords => settings.old_passwords = setting.as_bool(),
        Variable::SqlAutoIsNull => settings.auto_is_null = setting.as_bool(),
        Variable::MaxSessionMemUsed => session.memory.set_limit(setting.as_u64()),
        Variable::SqlNotes => session.diagnostics.set_notes(match setting.as_bool() {
            true => Notes::Kept,
            false => Notes::Dropped,
        }),
        Variable::IdleTransactionTimeout => settings.idle_transaction.any = idle(setting),
        Variable::IdleReadonlyTransactionTimeout => settings.idle_transaction.read_only = idle(setting),
        Variable::IdleWriteTransactionTimeout => settings.idle_transaction.write = idle(setting),
        Variable::MaxErrorCount => settings.max_error_count = size(setting),
        Variable::GroupConcatMaxLen => settings.group_concat_max_len = size(setting),
        Variable::DefaultRegexFlags => settings.regex_options = regex_options(setting.as_u64()),
        Variable::DivPrecisionIncrement => settings.div_precision_increment = setting.as_u64() as u8,
        Variable::MaxAllowedPacket => settings.max_allowed_packet = size(setting),
        Variable::MaxSortLength => settings.max_sort_length = size(setting),
        Variable::MaxRecursiveIterations => settings.max_recursive_iterations = setting.as_u64(),
        Variable::DefaultWeekFormat => settings.default_week_format = setting.as_u64() as u8,
        Variable::LcTimeNames => {
            if let Some(locale) = Locale::from_name(setting.as_str()) {
                settings.time_locale = locale;
            }
        }
        Variable::AutoIncrementIncrement => settings.auto_increment_increment = setting.as_u64(),
        Variable::AutoIncrementOffset => settings.auto_increment_offset = setting.as_u64(),
        Variable::InnodbLockWaitTimeout => {
            settings.row_lock_wait_timeout = Duration::from_secs(setting.as_u64())
        }
        Variable::LockWaitTimeout => {
            settings.metadata_lock_wait_timeout = Duration::from_secs(setting.as_u64())
        }
        Variable::MaxStatementTime => settings.max_statement_time = Duration::from_secs_f64(setting.as_f64()),
        _ => {}
    }
}

/// Returns the value of `binlog_format`.
pub fn binlog_format(setting: &VariableValue) -> BinlogFormat {
    match setting.as_u64() {
        0 => BinlogFormat::Mixed,
        1 => BinlogFormat::Statement,
        _ => BinlogFormat::Row,
    }
}

/// Returns the flags of `default_regex_flags`, in the order of its words, as options at the beginning of a pattern.
fn regex_options(flags: u64) -> RegexOptions {
    const EXTRA: usize = 4;
    let letters = ["s", "J", "x", "xx", "", "m", "U"];
    let is_set = |index: usize| flags >> index & 1 == 1;
    let chosen = letters.iter().enumerate().filter(|(index, _)| is_set(*index));
    let chosen: String = chosen.map(|(_, letters)| *letters).collect();
    RegexOptions {
        prefix: match chosen.is_empty() {
            true => chosen,
            false => format!("(?{chosen})"),
        },
        has_extra: is_set(EXTRA),
    }
}

/// Copies all values of a new session to its settings.
pub fn apply_all_to_session(session: &mut SessionContext, values: &mut SessionValues) {
    use Variable::*;
    for variable in [
        Autocommit,
        SqlMode,
        TimeZone,
        TxIsolation,
        InnodbSnapshotIsolation,
        InnodbStrictMode,
        AlterAlgorithm,
        TxReadOnly,
        CharacterSetClient,
        CharacterSetResults,
        CollationConnection,
        CollationDatabase,
        CollationServer,
        CheckConstraintChecks,
        ForeignKeyChecks,
        UniqueChecks,
        PacelineLoadGenerated,
        ExplicitDefaultsForTimestamp,
        SqlLogBin,
        SqlSelectLimit,
        SqlBigSelects,
        // After `SqlBigSelects`, which a limit switches off.
        MaxJoinSize,
        OptimizerTrace,
        OptimizerTraceMaxMemSize,
        SqlSafeUpdates,
        SqlAutoIsNull,
        OldPasswords,
        MaxSessionMemUsed,
        SqlNotes,
        IdleTransactionTimeout,
        IdleReadonlyTransactionTimeout,
        IdleWriteTransactionTimeout,
        MaxErrorCount,
        GroupConcatMaxLen,
        DefaultRegexFlags,
        DivPrecisionIncrement,
        MaxAllowedPacket,
        MaxSortLength,
        MaxRecursiveIterations,
        DefaultWeekFormat,
        LcTimeNames,
        AutoIncrementIncrement,
        AutoIncrementOffset,
        InnodbLockWaitTimeout,
        LockWaitTimeout,
        MaxStatementTime,
    ] {
        let setting = values.get(variable).clone();
        apply_to_session(session, values, variable, &setting);
    }
}

/// Returns the isolation level for a value of `tx_isolation`.
pub fn isolation(setting: &VariableValue) -> IsolationLevel {
    match setting.as_u64() {
        0 => IsolationLevel::ReadUncommitted,
        1 => IsolationLevel::ReadCommitted,
        3 => IsolationLevel::Serializable,
        _ => IsolationLevel::RepeatableRead,
    }
}

/// Returns the value of `tx_isolation` for a level.
pub fn isolation_setting(level: IsolationLevel) -> VariableValue {
    VariableValue::Unsigned(match level {
        IsolationLevel::ReadUncommitted => 0,
        IsolationLevel::ReadCommitted => 1,
        IsolationLevel::RepeatableRead => 2,
        IsolationLevel::Serializable => 3,
    })
}

/// Returns `config` with the values of the global variables for the commit pipeline.
pub fn transaction_config(globals: &Globals, config: Config) -> Config {
    use Variable::*;
    Config {
        leader_mode: match globals.number(PacelineCommitLeader) {
            0 => LeaderMode::Inline,
            1 => LeaderMode::Thread,
            _ => LeaderMode::Adaptive,
        },
        lock_release: match globals.is_on(PacelineEarlyLockRelease) {
            true => LockRelease::Early,
            false => LockRelease::AfterPublish,
        },
        sync_binlog: match globals.number(SyncBinlog) {
            // A replica acknowledges only durable transactions.
            0 if !globals.is_on(RplSemiSyncMasterEnabled) => self::SyncBinlog::Background,
            _ => self::SyncBinlog::EveryGroup,
        },
        binlog_commit_wait_count: u32::try_from(globals.number(BinlogCommitWaitCount)).unwrap_or(u32::MAX),
        binlog_commit_wait: Duration::from_micros(globals.number(BinlogCommitWaitUsec)),
        gtid_strict_mode: match globals.is_on(GtidStrictMode) {
            true => self::GtidStrictMode::On,
            false => self::GtidStrictMode::Off,
        },
        max_binlog_size: globals.number(MaxBinlogSize),
        binlog_expire_after: match globals.number(BinlogExpireLogsSeconds) {
            0 => None,
            seconds => Some(Duration::from_secs(seconds)),
        },
        checkpoint_log_bytes: globals.number(PacelineCheckpointLogBytes),
        max_binlog_cache_size: globals.number(MaxBinlogCacheSize),
        row_locks_max: match globals.number(PacelineRowLocksMax) {
            0 => usize::try_from(memory_limit(globals) / 4 / ROW_LOCK_BYTES).unwrap_or(usize::MAX),
            number => usize::try_from(number).unwrap_or(usize::MAX),
        },
        large_transaction_bytes: globals.number(BinlogLargeCommitThreshold),
        binlog_row_event_max_size: usize::try_from(globals.number(BinlogRowEventMaxSize)).unwrap_or(8192),
        ..config
    }
}

/// Returns the settings of semi-synchronous replication from the global variables.
pub fn semi_sync_settings(globals: &Globals) -> SemiSyncSettings {
    SemiSyncSettings {
        mode: match globals.is_on(Variable::RplSemiSyncMasterEnabled) {
            true => SemiSyncMode::Enabled,
            false => SemiSyncMode::Disabled,
        },
        timeout: Duration::from_millis(globals.number(Variable::RplSemiSyncMasterTimeout)),
        wait_for: globals.number(Variable::RplSemiSyncMasterWaitForSlaveCount) as usize,
        too_few: match globals.is_on(Variable::RplSemiSyncMasterWaitNoSlave) {
            true => TooFewReplicas::Wait,
            false => TooFewReplicas::GoOn,
        },
        fallback: match globals.is_on(Variable::PacelineSemiSyncFallback) {
            true => Fallback::AfterTimeout,
            false => Fallback::Never,
        },
    }
}

/// Returns the limit of the process's memory in bytes: that of the variable, or nine tenths of the machine's memory.
pub fn memory_limit(globals: &Globals) -> u64 {
    match globals.number(Variable::PacelineMemoryLimit) {
        0 => memory::machine_bytes() / 10 * 9,
        bytes => bytes,
    }
}

/// Returns the memory limit of all sessions together, in bytes.
pub fn session_memory_max(globals: &Globals) -> u64 {
    match globals.number(Variable::PacelineSessionMemoryMax) {
        0 => memory_limit(globals) / 4,
        bytes => bytes,
    }
}

/// Returns whether [`transaction_config`] or [`semi_sync_settings`] reads a variable.
pub fn is_transaction_config(variable: Variable) -> bool {
    use Variable::*;
    matches!(
        variable,
        PacelineCommitLeader
            | PacelineEarlyLockRelease
            | SyncBinlog
            | RplSemiSyncMasterEnabled
            | RplSemiSyncMasterTimeout
            | RplSemiSyncMasterWaitForSlaveCount
            | RplSemiSyncMasterWaitNoSlave
            | PacelineSemiSyncFallback
            | BinlogCommitWaitCount
            | BinlogCommitWaitUsec
            | GtidStrictMode
            | MaxBinlogSize
            | BinlogExpireLogsSeconds
            | PacelineCheckpointLogBytes
            | PacelineMemoryLimit
            | PacelineRowLocksMax
            | MaxBinlogCacheSize
            | BinlogLargeCommitThreshold
    )
}

/// Returns the time that a session may sleep; 0 seconds means no limit.
fn idle(setting: &VariableValue) -> Option<Duration> {
    Some(setting.as_u64())
        .filter(|seconds| *seconds > 0)
        .map(Duration::from_secs)
}

fn text(value: &str) -> VariableValue {
    VariableValue::Text(value.into())
}

fn size(setting: &VariableValue) -> usize {
    usize::try_from(setting.as_u64()).unwrap_or(usize::MAX)
}
