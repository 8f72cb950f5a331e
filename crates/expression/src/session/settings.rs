//! Typed copies of the session variables that execution reads often. `server` keeps them equal to the
//! variables. Defaults are those of MariaDB 10.11.

use std::time::Duration;

use paceline_types::table_map_metadata::RowMetadata;
use paceline_types::temporal::{DateModes, Fractions};
use paceline_types::{Charset, Collation, IsolationLevel, Locale, TimeZone};

use super::SqlMode;

/// `alter_algorithm`: the slowest method that an ALTER TABLE without ALGORITHM= may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AlterAlgorithm {
    /// Any method.
    #[default]
    Default,
    /// Any method.
    Copy,
    /// Rows are not rewritten under a lock.
    InPlace,
    /// Rows are not rewritten.
    NoCopy,
    /// Only the definition changes.
    Instant,
}

impl AlterAlgorithm {
    /// Returns the algorithm with this number in the variable.
    pub const fn of_number(number: u64) -> Self {
        match number {
            1 => AlterAlgorithm::Copy,
            2 => AlterAlgorithm::InPlace,
            3 => AlterAlgorithm::NoCopy,
            4 => AlterAlgorithm::Instant,
            _ => AlterAlgorithm::Default,
        }
    }

    /// Returns the algorithm's name after ALGORITHM=.
    pub const fn as_str(self) -> &'static str {
        match self {
            AlterAlgorithm::Default => "DEFAULT",
            AlterAlgorithm::Copy => "COPY",
            AlterAlgorithm::InPlace => "INPLACE",
            AlterAlgorithm::NoCopy => "NOCOPY",
            AlterAlgorithm::Instant => "INSTANT",
        }
    }
}

/// Maximum idle time of a session within a transaction; `None` leaves the limit to `wait_timeout`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleTransactionTimeouts {
    /// `idle_transaction_timeout`: applies if neither of the others is set.
    pub any: Option<Duration>,
    /// `idle_readonly_transaction_timeout`: for a transaction that has changed nothing.
    pub read_only: Option<Duration>,
    /// `idle_write_transaction_timeout`: for a transaction that has changed rows.
    pub write: Option<Duration>,
}

/// `binlog_format`: form in which other servers get the changes of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinlogFormat {
    /// Text, unless executing it may have another result elsewhere.
    Mixed,
    /// Text.
    Statement,
    /// Rows.
    Row,
}

/// Settings of the optimizer trace.
#[derive(Debug, Clone, Copy, Default)]
pub struct OptimizerTraceSettings {
    /// Whether statements are traced.
    pub is_on: bool,
    /// Maximum length of a trace in bytes.
    pub bytes_max: usize,
}

/// Typed copies of a session's variables.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `sql_mode`.
    pub sql_mode: SqlMode,
    /// `time_zone`; `SYSTEM` if the server does not set it.
    pub time_zone: TimeZone,
    /// `autocommit`.
    pub autocommit: bool,
    /// `tx_isolation`.
    pub isolation: IsolationLevel,
    /// `innodb_snapshot_isolation`: a write to a row that has changed since the snapshot gets 1020.
    pub snapshot_isolation: bool,
    /// `innodb_strict_mode`: table options that InnoDB rejects are errors. Off when statements are replayed.
    pub innodb_strict_mode: bool,
    /// `alter_algorithm`.
    pub alter_algorithm: AlterAlgorithm,
    /// `tx_read_only`.
    pub transaction_read_only: bool,
    /// `character_set_client`: encoding of received statements.
    pub character_set_client: Charset,
    /// `collation_connection`: collation of literals and of functions that produce text.
    pub collation_connection: Collation,
    /// `character_set_results`: encoding of results; `None` sends them unconverted.
    pub character_set_results: Option<Charset>,
    /// `collation_database`.
    pub collation_database: Collation,
    /// `collation_server`.
    pub collation_server: Collation,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// `check_constraint_checks`.
    pub check_constraint_checks: bool,
    /// `updatable_views_with_limit`: LIMIT is allowed for a view that lacks the table's key.
    pub updatable_views_with_limit: bool,
    /// `paceline_load_generated`: LOAD DATA stores values for generated columns unchanged.
    pub load_generated: bool,
    /// `unique_checks`.
    pub unique_checks: bool,
    /// `explicit_defaults_for_timestamp`: a TIMESTAMP column has no implicit default or ON UPDATE.
    pub explicit_defaults_for_timestamp: bool,
    /// `sql_log_bin`.
    pub log_bin: bool,
    /// `binlog_format`.
    pub binlog_format: BinlogFormat,
    /// `binlog_row_metadata`: amount of column metadata in a table map.
    pub binlog_row_metadata: RowMetadata,
    /// `sql_select_limit`; `u64::MAX` means no limit.
    pub select_limit: u64,
    /// `max_join_size`, unless `sql_big_selects` is on; `u64::MAX` is no limit.
    pub join_rows_max: u64,
    /// Duration from which a statement leaves its plan with the rows that were read, for the slow query log; `None` if
    /// rows are not counted.
    pub shows_measured_plan_after: Option<std::time::Duration>,
    /// `optimizer_trace`, `optimizer_trace_max_mem_size`.
    pub optimizer_trace: OptimizerTraceSettings,
    /// `sql_safe_updates`.
    pub safe_updates: bool,
    /// `sql_auto_is_null`.
    pub auto_is_null: bool,
    /// `old_passwords`: PASSWORD() returns the hash of OLD_PASSWORD().
    pub old_passwords: bool,
    /// `idle_transaction_timeout` and its two variants.
    pub idle_transaction: IdleTransactionTimeouts,
    /// `max_error_count`: maximum number of conditions kept.
    pub max_error_count: usize,
    /// `group_concat_max_len`, in bytes.
    pub group_concat_max_len: usize,
    /// `div_precision_increment`: number of digits that `/` adds to the dividend's scale.
    pub div_precision_increment: u8,
    /// `default_regex_flags`.
    pub regex_options: RegexOptions,
    /// `max_allowed_packet`, in bytes. It also limits the values that functions produce.
    pub max_allowed_packet: usize,
    /// `max_sort_length`, in bytes.
    pub max_sort_length: usize,
    /// `max_recursive_iterations`: maximum number of rounds of a recursive query.
    pub max_recursive_iterations: u64,
    /// `default_week_format`.
    pub default_week_format: u8,
    /// `lc_time_names`: language of month and day names.
    pub time_locale: &'static Locale,
    /// `auto_increment_increment`.
    pub auto_increment_increment: u64,
    /// `auto_increment_offset`.
    pub auto_increment_offset: u64,
    /// `innodb_lock_wait_timeout`.
    pub row_lock_wait_timeout: Duration,
    /// `lock_wait_timeout`, for metadata locks.
    pub metadata_lock_wait_timeout: Duration,
    /// `max_statement_time`; zero means no limit.
    pub max_statement_time: Duration,
    /// `SET TIMESTAMP`: the value of `NOW()` instead of the clock's, in microseconds since 1970.
    pub timestamp_override: Option<i64>,
}

/// The flags that every regular expression has.
#[derive(Debug, Clone, Default)]
pub struct RegexOptions {
    /// Options that a pattern is to begin with, `(?s)`; empty for none.
    pub prefix: String,
    /// Whether EXTRA is among the flags, which PCRE2 does not know.
    pub has_extra: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sql_mode: SqlMode::DEFAULT,
            time_zone: TimeZone::system(),
            autocommit: true,
            isolation: IsolationLevel::RepeatableRead,
            snapshot_isolation: true,
            innodb_strict_mode: false,
            alter_algorithm: AlterAlgorithm::Default,
            transaction_read_only: false,
            character_set_client: Charset::Utf8mb4,
            collation_connection: Collation::Utf8mb4GeneralCi,
            character_set_results: Some(Charset::Utf8mb4),
            collation_database: Collation::Utf8mb4GeneralCi,
            collation_server: Collation::Utf8mb4GeneralCi,
            foreign_key_checks: true,
            check_constraint_checks: true,
            updatable_views_with_limit: true,
            load_generated: false,
            unique_checks: true,
            explicit_defaults_for_timestamp: true,
            log_bin: true,
            binlog_format: BinlogFormat::Row,
            binlog_row_metadata: RowMetadata::NoLog,
            select_limit: u64::MAX,
            join_rows_max: u64::MAX,
            shows_measured_plan_after: None,
            optimizer_trace: OptimizerTraceSettings::default(),
            safe_updates: false,
            auto_is_null: false,
            old_passwords: false,
            idle_transaction: IdleTransactionTimeouts::default(),
            max_error_count: 64,
            group_concat_max_len: 1 << 20,
            div_precision_increment: 4,
            regex_options: RegexOptions::default(),
            max_allowed_packet: 16 << 20,
            max_sort_length: 1024,
            max_recursive_iterations: 1000,
            default_week_format: 0,
            time_locale: Locale::english(),
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            row_lock_wait_timeout: Duration::from_secs(50),
            metadata_lock_wait_timeout: Duration::from_secs(86_400),
            max_statement_time: Duration::ZERO,
            timestamp_override: None,
        }
    }
}

impl Settings {
    /// Returns which invalid or incomplete dates `sql_mode` accepts.
    pub fn date_modes(&self) -> DateModes {
        DateModes {
            no_zero_date: self.sql_mode.contains(SqlMode::NO_ZERO_DATE),
            no_zero_in_date: self.sql_mode.contains(SqlMode::NO_ZERO_IN_DATE),
            allow_invalid_dates: self.sql_mode.contains(SqlMode::ALLOW_INVALID_DATES),
            fractions: match self.sql_mode.contains(SqlMode::TIME_ROUND_FRACTIONAL) {
                true => Fractions::Rounded,
                false => Fractions::Cut,
            },
        }
    }
}
