//! State of a session that its statements use: everything except the connection.

use super::named_statements::NamedStatements;
use super::protocol::StateChanges;
use super::restrictions::Restrictions;
use super::services::SessionServices;
use super::table_locks::TableLocks;
use super::temporary_tables::SessionTemporaryTables;
use super::tracking::Tracking;
use super::transaction_slot::TransactionSlot;
use crate::audit_log::AuditedTable;
use crate::names::qualified;
use crate::registry::SessionHandle;
use crate::server::Server;
use crate::statement_logs::StatementLogSettings;
use crate::user_statistics::SessionStatistics;
use crate::variables::{SessionValues, Variable};
use paceline_binlog::event::FormatDescription;
use paceline_catalog::Catalog;
use paceline_expression::session::{ServerFunctions, Services, SessionContext, SqlMode};
use paceline_query::program::ProgramCache;
use paceline_syntax::{Error, Result, TableName};
use paceline_types::error_code::ER_LOCK_OR_ACTIVE_TRANSACTION;
use paceline_wire::response::Status;
use std::sync::Arc;

/// State of a session that its statements use.
pub struct SessionState {
    pub(super) server: Arc<Server>,
    /// Part that other sessions can access.
    pub(super) shared: Arc<SessionHandle>,
    pub(super) services: Arc<SessionServices>,
    pub(super) context: SessionContext,
    pub(super) transaction: TransactionSlot,
    pub(super) temporary: SessionTemporaryTables,
    /// Locks of LOCK TABLES and FLUSH TABLES WITH READ LOCK.
    pub(super) table_locks: TableLocks,
    /// Stored programs that the session has run.
    pub(super) programs: ProgramCache,
    /// Whether functions or triggers have run in the client's statement.
    pub(super) has_run_programs: bool,
    /// Whether the running statement uses stored tables, so that its end counts as a commit or a rollback.
    pub(super) uses_tables: bool,
    /// Statements of PREPARE.
    pub(super) prepared: NamedStatements,
    /// Format of the events in BINLOG statements, after one of them has set it.
    pub(super) binlog_format: Option<FormatDescription>,
    /// Changes to report in the next OK packet.
    pub(super) changes: StateChanges,
    /// Other changes that the client tracks.
    pub(super) tracking: Tracking,
    pub(super) log_settings: StatementLogSettings,
    /// Statistics of its user, while `userstat` is on.
    pub(super) user_statistics: Option<Box<SessionStatistics>>,
    /// Tables that the running statement has used, while there is an audit log.
    pub(super) audited_tables: Vec<AuditedTable>,
    /// Restrictions of the account; `None` without any.
    pub(super) restrictions: Option<Box<Restrictions>>,
    /// Whether the session ends after the reply: COMMIT RELEASE, or a broken transfer of a file.
    pub(super) ends_with_reply: bool,
}

impl SessionState {
    /// Returns 1192 within a transaction or under locks, for statements that would wait for their own session.
    pub(super) fn refuse_locks_and_transaction(&self) -> Result<()> {
        match self.table_locks.is_globally_locked() {
            true => Err(Error::new(ER_LOCK_OR_ACTIVE_TRANSACTION, &[])),
            false => self.refuse_table_locks_and_transaction(),
        }
    }

    /// Returns 1192 within a transaction or under locks of tables.
    pub(super) fn refuse_table_locks_and_transaction(&self) -> Result<()> {
        match self.transaction.is_open() || self.table_locks.has_tables() {
            true => Err(Error::new(ER_LOCK_OR_ACTIVE_TRANSACTION, &[])),
            false => Ok(()),
        }
    }

    /// Creates the state of a new session.
    pub(super) fn new(services: Arc<SessionServices>) -> Self {
        let context = SessionContext::charged_to(
            services.shared.memory.clone(),
            u64::from(services.shared.id),
            Services {
                variables: services.clone(),
                privileges: services.clone(),
                virtual_tables: services.clone(),
                functions: services.clone(),
            },
        );
        let keeps_plans = services.server.slow_statements.is_on();
        SessionState {
            server: services.server.clone(),
            shared: services.shared.clone(),
            temporary: SessionTemporaryTables::new(&services.server),
            services,
            context,
            transaction: TransactionSlot::default(),
            table_locks: TableLocks::default(),
            programs: ProgramCache::default(),
            has_run_programs: false,
            uses_tables: false,
            prepared: NamedStatements::default(),
            binlog_format: None,
            changes: StateChanges::default(),
            tracking: Tracking::default(),
            log_settings: StatementLogSettings::new(keeps_plans),
            user_statistics: None,
            audited_tables: Vec::new(),
            restrictions: None,
            ends_with_reply: false,
        }
    }

    /// Resets the state: rolls back the transaction and clears everything except the names of the account.
    pub(super) fn reset(&mut self) {
        self.roll_back();
        self.transaction = TransactionSlot::default();
        self.drop_temporary_tables();
        self.table_locks = TableLocks::default();
        self.programs = ProgramCache::default();
        self.prepared.clear();
        self.binlog_format = None;
        self.services.release_all_locks(&self.context);
        let user = self.context.user.clone();
        let current_user = self.context.current_user.clone();
        let current_role = self.context.current_role.take();
        self.context = SessionContext::charged_to(
            self.context.memory.clone(),
            u64::from(self.shared.id),
            self.context.services.clone(),
        );
        self.context.user = user;
        self.context.current_user = current_user;
        self.context.current_role = current_role;
        self.changes.clear();
        self.tracking = Tracking::default();
        self.services.reset();
        self.shared.update(|activity| activity.database = None);
    }

    /// Takes over the variables of the statement logs.
    pub(super) fn heed_log_settings(&mut self, values: &SessionValues) {
        self.log_settings.heed(values);
        self.context.settings.shows_measured_plan_after = self.log_settings.shows_measured_plan_after();
    }

    /// Returns the catalog as the session's statements see it.
    #[inline]
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        self.temporary.tables.over(self.server.catalog.load())
    }

    /// Returns a table's database and name, with the current database if none is named.
    ///
    /// # Errors
    /// 1046 if neither exists.
    pub(super) fn qualified(&self, table: &TableName) -> Result<(String, String)> {
        qualified(table, self.context.database.as_deref())
    }

    /// Returns the status flags of every OK and EOF packet.
    pub(super) fn status(&self) -> Status {
        let mut status = Status::default();
        let settings = &self.context.settings;
        if settings.autocommit {
            status = status.with(Status::AUTOCOMMIT);
        }
        if self.transaction.is_open() {
            status = status.with(Status::IN_TRANSACTION);
            if self.transaction.is_read_only() {
                status = status.with(Status::IN_READ_ONLY_TRANSACTION);
            }
        }
        if self.context.statement.has_dropped_database {
            status = status.with(Status::DATABASE_DROPPED);
        }
        if self.context.counts.no_index_used > 0 {
            status = status.with(Status::NO_INDEX_USED);
        }
        if settings.sql_mode.contains(SqlMode::NO_BACKSLASH_ESCAPES) {
            status = status.with(Status::NO_BACKSLASH_ESCAPES);
        }
        if settings.sql_mode.contains(SqlMode::ANSI_QUOTES) {
            status = status.with(Status::ANSI_QUOTES);
        }
        status
    }

    /// Returns 1290 if the server is read only and the account has no exemption.
    pub(super) fn check_writable(&self) -> Result<()> {
        self.services.check_writable()
    }

    /// Returns whether the statement's text is logged with its rows (`binlog_annotate_row_events`).
    pub(super) fn annotates(&self) -> bool {
        self.services
            .values
            .lock()
            .get(Variable::BinlogAnnotateRowEvents)
            .as_bool()
    }
}
