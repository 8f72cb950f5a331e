//! Administrative statements: KILL, FLUSH, LOCK TABLES, ANALYZE and related statements, HELP.

use super::errors::of_transaction;
use super::logged_statement::LoggedStatement;
use super::query::Execution;
use super::table_locks::{LockedTable, TableLocks};
use super::{More, Session};
use crate::output::Output;
use paceline_binlog::event::EventFlags;
use paceline_catalog::ddl::{DdlObject, names_read};
use paceline_catalog::{Catalog, ViewDefinition};
use paceline_expression::session::{Privilege, PrivilegeTarget, Privileges};
use paceline_query::plan::{Plan, TableUse};
use paceline_replication::replica::connection::Threads;
use paceline_storage::WriteSet;
use paceline_syntax::ast::Expr;
use paceline_syntax::{Error, Result};
use paceline_syntax::{
    FlushTablesLock, FlushTarget, Kill, KillTarget, LockTable, TableMaintenance, TableName, UserName,
    WriteToBinlog,
};
use paceline_txn::{DdlCommit, InterruptReason, MetadataGuard, MetadataMode, MetadataObject};
use paceline_types::Value;
use paceline_types::error_code::*;
use std::time::Duration;

impl Session {
    /// Returns 1223 for a write under the session's own global read lock; 1099 and 1100 for tables that LOCK TABLES did
    /// not name.
    pub fn check_table_locks(&self, plan: &Plan) -> Result<()> {
        let locks = &self.table_locks;
        if locks.is_globally_locked() && plan.writes_ordinary() {
            return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
        }
        if !locks.has_tables() {
            return Ok(());
        }
        // Tables used only by foreign keys need not be named.
        let is_lockable =
            |table: &&TableUse| table.definition.is_some() && !table.is_temporary() && table.usage.is_named();
        for table in plan.tables().iter().filter(is_lockable) {
            let locked = || {
                locks
                    .tables
                    .iter()
                    .filter(|locked| locked.is(&table.database, &table.name))
            };
            // Names inside a view do not count.
            let aliases = match (&table.access.through, &table.aliases[..]) {
                (Some(_), _) => &[],
                (None, []) => std::slice::from_ref(&table.name),
                (None, aliases) => aliases,
            };
            for alias in aliases {
                if !locked().any(|locked| locked.goes_by(alias)) {
                    return Err(Error::new(ER_TABLE_NOT_LOCKED, &[alias]));
                }
            }
            if locked().next().is_none() {
                return Err(Error::new(ER_TABLE_NOT_LOCKED, &[&table.name]));
            }
            let is_used = |locked: &LockedTable| {
                aliases.is_empty() || aliases.iter().any(|alias| locked.goes_by(alias))
            };
            if table.usage.writes() && !locked().any(|locked| locked.write && is_used(locked)) {
                let name = aliases.first().unwrap_or(&table.name);
                return Err(Error::new(ER_TABLE_NOT_LOCKED_FOR_WRITE, &[name]));
            }
        }
        Ok(())
    }

    /// Returns 1099 and 1100 for DDL under LOCK TABLES on a table that is not locked for writing.
    pub fn check_ddl_under_lock_tables(&self, object: &DdlObject) -> Result<()> {
        let (true, Some(table)) = (self.table_locks.has_tables(), &object.table) else {
            return Ok(());
        };
        let locked = self
            .table_locks
            .tables
            .iter()
            .filter(|locked| locked.is(&object.database, table))
            .max_by_key(|locked| locked.write);
        match locked {
            None => Err(Error::new(ER_TABLE_NOT_LOCKED, &[table])),
            Some(locked) if !locked.write => Err(Error::new(ER_TABLE_NOT_LOCKED_FOR_WRITE, &[table])),
            Some(_) => Ok(()),
        }
    }

    /// Returns a table's database and name, with the current database if none is named.
    pub fn qualified(&self, table: &TableName) -> Result<(String, String)> {
        let database = match (&table.database, &self.context.database) {
            (Some(database), _) | (None, Some(database)) => database.clone(),
            (None, None) => return Err(Error::new(ER_NO_DB_ERROR, &[])),
        };
        Ok((database, table.name.clone()))
    }

    /// Executes LOCK TABLES.
    pub async fn lock_tables_statement(&mut self, tables: &[LockTable], more: More) -> Result<()> {
        self.shared.counters.com_lock_tables.add(1);
        if self.table_locks.is_globally_locked() && tables.iter().any(|table| table.write) {
            return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
        }
        self.commit().await?;
        self.table_locks.release_tables();
        let mut wanted = vec![];
        for table in tables {
            let (database, name) = self.qualified(&table.table)?;
            if self.temporary.catalog().table(&database, &name).is_some() {
                // A temporary table belongs to this session alone.
                continue;
            }
            for privilege in [Privilege::LockTables, Privilege::Select] {
                self.services.check(
                    &self.context,
                    privilege,
                    PrivilegeTarget::Table {
                        database: &database,
                        table: &name,
                    },
                )?;
            }
            if crate::server::virtual_database(&database).is_none() {
                let catalog = self.server.catalog.load();
                if let Some(view) = catalog.view(&database, &name) {
                    // Also the tables that it reads.
                    for (database, name) in tables_behind(view, &catalog) {
                        wanted.push((database, name, table.write, None));
                    }
                } else if catalog.table(&database, &name).is_none() {
                    return Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &name]));
                }
                let alias = table.alias.as_ref().unwrap_or(&name).clone();
                wanted.push((database, name, table.write, Some(alias)));
            }
        }
        // In a fixed order, so that two LOCK TABLES never deadlock.
        wanted.sort();
        wanted.dedup();
        let timeout = self.context.settings.metadata_lock_wait_timeout;
        let mut locked: Vec<LockedTable> = vec![];
        for (database, name, write, alias) in wanted {
            if locked
                .last()
                .is_some_and(|last| last.is(&database, &name) && last.write == write)
            {
                locked.push(LockedTable {
                    database,
                    name,
                    write,
                    alias,
                    _guard: None,
                });
                continue;
            }
            let mode = if write {
                MetadataMode::Exclusive
            } else {
                MetadataMode::ReadOnly
            };
            let object = MetadataObject::Table {
                database: &database,
                table: &name,
            };
            let guard = self
                .services
                .locks
                .lock_metadata(object, mode, timeout)
                .map_err(|error| of_transaction(&error))?;
            locked.push(LockedTable {
                database,
                name,
                write,
                alias,
                _guard: Some(guard),
            });
        }
        self.table_locks.tables = locked;
        self.table_locks.holds = true;
        self.write_ok(0, 0, "", more);
        Ok(())
    }

    /// Executes UNLOCK TABLES.
    pub async fn unlock_tables(&mut self, more: More) -> Result<()> {
        self.shared.counters.com_unlock_tables.add(1);
        if self.table_locks.has_tables() {
            self.commit().await?;
        }
        self.table_locks = TableLocks::default();
        self.write_ok(0, 0, "", more);
        Ok(())
    }

    /// Executes FLUSH.
    pub async fn flush_statement(
        &mut self,
        targets: &[FlushTarget],
        write_to_binlog: WriteToBinlog,
        execution: Execution<'_>,
    ) -> Result<()> {
        let more = execution.more;
        self.shared.counters.com_flush.add(1);
        self.commit().await?;
        self.services.require_any(&[Privilege::Reload])?;
        for target in targets {
            match target {
                FlushTarget::Tables {
                    lock: FlushTablesLock::None,
                    tables,
                } => self.wait_for_users(tables)?,
                FlushTarget::Tables {
                    tables,
                    lock: FlushTablesLock::ReadLock | FlushTablesLock::ReadLockDisableCheckpoint,
                } if tables.is_empty() => {
                    self.table_locks.release_tables();
                    if !self.table_locks.is_globally_locked() {
                        let timeout = self.context.settings.metadata_lock_wait_timeout;
                        self.shared
                            .update(|activity| activity.state = "Waiting for global read lock");
                        let lock = self
                            .services
                            .locks
                            .global_read_lock(timeout)
                            .map_err(|error| of_transaction(&error))?;
                        self.table_locks.global = Some(lock);
                    }
                }
                FlushTarget::Tables { tables, .. } => {
                    let locks: Vec<LockTable> = tables
                        .iter()
                        .map(|table| LockTable {
                            table: table.clone(),
                            alias: None,
                            write: false,
                        })
                        .collect();
                    return self.lock_tables_statement(&locks, more).await;
                }
                FlushTarget::Logs(kind @ ("" | "BINARY" | "GENERAL" | "SLOW")) => {
                    if *kind != "BINARY" {
                        self.reopen_statement_logs();
                    }
                    if matches!(*kind, "" | "BINARY") {
                        self.flush_binary_logs()?;
                    }
                }
                FlushTarget::DeleteDomains(domains) => self.delete_domains(domains)?,
                FlushTarget::Logs(_) => {}
                FlushTarget::Other("STATUS") => {
                    self.server.sessions.settle(&self.shared);
                    self.server.primary.semi_sync().reset_counters();
                }
                FlushTarget::Other("HOSTS") => self.server.host_errors.forgive_all(),
                FlushTarget::Other("PRIVILEGES") => self.server.accounts.heed(),
                FlushTarget::Other("SSL") => self.server.tls.reload(&self.server.globals)?,
                FlushTarget::Other(_) => {}
            }
        }
        // As in MariaDB, replicas do not begin new logs together with their primary.
        let is_local = |target: &FlushTarget| {
            !matches!(
                target,
                FlushTarget::Other(_)
                    | FlushTarget::Logs("ERROR" | "SLOW" | "GENERAL" | "ENGINE")
                    | FlushTarget::Tables {
                        lock: FlushTablesLock::None,
                        ..
                    }
            )
        };
        let is_logged = write_to_binlog == WriteToBinlog::Yes && !targets.iter().any(is_local);
        if is_logged && !self.table_locks.is_globally_locked() {
            // Another session's global read lock does not block FLUSH: then it is not replicated.
            match self.log_for_replicas(execution.text, Duration::ZERO).await {
                Err(error) if error.code() == ER_LOCK_WAIT_TIMEOUT => {
                    tracing::info!("FLUSH under another session's global read lock is not logged");
                }
                logged => logged?,
            }
        }
        self.write_ok(0, 0, "", more);
        Ok(())
    }

    /// Logs a statement without changes to tables, for execution on replicas.
    async fn log_for_replicas(&mut self, text: &[u8], lock_timeout: Duration) -> Result<()> {
        if !self.context.settings.log_bin {
            return Ok(());
        }
        let logged = LoggedStatement::of(self, text);
        let query = logged.query_event(None);
        let server = self.server.clone();
        let ddl = DdlCommit {
            query: &query,
            event_flags: EventFlags::NONE,
            timestamp_seconds: logged.timestamp_seconds,
            writes: WriteSet::new(),
            builds: vec![],
            on_publish: None,
            gtid: self.services.gtid_choice(),
            replication: super::transaction::replication(&self.context, &self.services),
            metadata_lock_timeout: lock_timeout,
        };
        let committing = server
            .transactions
            .commit_ddl_where(&self.services.locks, ddl, || true);
        let outcome = committing.await.map_err(|error| of_transaction(&error))?;
        self.committed(outcome);
        Ok(())
    }

    /// Executes KILL.
    pub fn kill_statement(&mut self, kill: &Kill, execution: Execution<'_>) -> Result<()> {
        let more = execution.more;
        self.shared.counters.com_kill.add(1);
        let reason = if kill.query_only {
            InterruptReason::Query
        } else {
            InterruptReason::Connection
        };
        match &kill.target {
            KillTarget::Connection(expr) => {
                let id = self.kill_number(expr, execution.parameters)?;
                self.kill(id, reason)?;
                if id == u64::from(self.shared.id) {
                    return Err(super::services::interrupted(reason));
                }
                self.write_ok(0, 0, "", more);
            }
            KillTarget::QueryId(_) => return Err(Error::unsupported("KILL QUERY ID")),
            KillTarget::User(account) => {
                let user = match &account.user {
                    UserName::Name(name) => name.clone(),
                    UserName::Current => self.context.current_user.user.clone(),
                    UserName::Role(_) => return Err(Error::unsupported("roles")),
                };
                if user != self.context.user.user {
                    self.services
                        .require_any(&[Privilege::Super, Privilege::ConnectionAdmin])?;
                }
                let mut killed = 0;
                for session in self.server.sessions.all() {
                    let activity = session.activity();
                    let host = activity.host.split(':').next().unwrap_or_default().to_owned();
                    let from = crate::accounts::ClientHost {
                        name: host,
                        address: None,
                    };
                    if activity.user == user && from.matches(&account.host) && session.id != self.shared.id {
                        session.kill(reason);
                        killed += 1;
                    }
                }
                self.write_ok(killed, 0, "", more);
            }
        }
        Ok(())
    }

    fn kill_number(&mut self, expr: &Expr, parameters: &[Value]) -> Result<u64> {
        match self.evaluate_typed(expr, parameters)?.0 {
            Value::Int(id) => u64::try_from(id).map_err(|_| Error::new(ER_NO_SUCH_THREAD, &[&id])),
            Value::UInt(id) => Ok(id),
            _ => Err(Error::new(ER_SET_CONSTANTS_ONLY, &[])),
        }
    }

    /// Kills a connection or its statement.
    ///
    /// # Errors
    /// 1094 if the id does not exist; 1095 if it belongs to another user and the account may not kill it.
    pub fn kill(&mut self, id: u64, reason: InterruptReason) -> Result<()> {
        let short_id = u32::try_from(id).ok();
        let Some(session) = short_id.and_then(|id| self.server.sessions.get(id)) else {
            let part = short_id.and_then(|id| self.server.replicas().part_of_thread(id));
            let (connection, part) = part.ok_or_else(|| Error::new(ER_NO_SUCH_THREAD, &[&id]))?;
            self.services
                .require_any(&[Privilege::Super, Privilege::ConnectionAdmin])
                .map_err(|_| Error::new(ER_KILL_DENIED_ERROR, &[&id]))?;
            // As in MariaDB, this part stops without an error. A receiver executes no statement that could be killed
            // alone.
            if part == Threads::Applier || reason == InterruptReason::Connection {
                let server = self.server.clone();
                tokio::spawn(async move { server.replicas().stop(&connection, part).await });
            }
            return Ok(());
        };
        let own = session.activity().user == self.context.user.user;
        if !own
            && self
                .services
                .require_any(&[Privilege::Super, Privilege::ConnectionAdmin])
                .is_err()
        {
            return Err(Error::new(ER_KILL_DENIED_ERROR, &[&id]));
        }
        session.kill(reason);
        Ok(())
    }

    /// Returns 1142 for a table that the account may not maintain.
    fn may_maintain(&self, operation: TableMaintenance, table: &TableName) -> Result<()> {
        let (database, table) = self.qualified(table)?;
        if self.temporary.catalog().table(&database, &table).is_some() {
            return Ok(());
        }
        let needed: &[Privilege] = match operation {
            TableMaintenance::Check => &[Privilege::Select],
            TableMaintenance::Analyze
            | TableMaintenance::AnalyzePersistent
            | TableMaintenance::Optimize
            | TableMaintenance::Repair => &[Privilege::Select, Privilege::Insert],
        };
        let target = PrivilegeTarget::Table {
            database: &database,
            table: &table,
        };
        needed
            .iter()
            .try_for_each(|privilege| self.services.check(&self.context, *privilege, target))
    }

    /// Executes FLUSH TABLES with names. There is nothing to flush, but as in MariaDB it waits until the tables are not
    /// used.
    fn wait_for_users(&self, tables: &[TableName]) -> Result<()> {
        for table in tables {
            let (database, table) = self.qualified(table)?;
            self.lock_to_maintain(TableMaintenance::Repair, &database, &table)
                .map_err(|error| of_transaction(&error))?;
        }
        Ok(())
    }

    /// Locks a table for its maintenance. Others may read it meanwhile, and also write it if it is only inspected. A
    /// temporary table needs no lock.
    fn lock_to_maintain(
        &self,
        operation: TableMaintenance,
        database: &str,
        table: &str,
    ) -> paceline_txn::Result<Option<MetadataGuard>> {
        if self.temporary.catalog().table(database, table).is_some() {
            return Ok(None);
        }
        let mode = match operation {
            TableMaintenance::Check | TableMaintenance::Analyze | TableMaintenance::AnalyzePersistent => {
                MetadataMode::Read
            }
            TableMaintenance::Optimize | TableMaintenance::Repair => MetadataMode::Exclusive,
        };
        let timeout = self.context.settings.metadata_lock_wait_timeout;
        let object = MetadataObject::Table { database, table };
        self.services.locks.lock_metadata(object, mode, timeout).map(Some)
    }

    /// Executes ANALYZE, OPTIMIZE and REPAIR TABLE. They have nothing to do here, and report so as in MariaDB. CHECK
    /// TABLE reads the table: [`super::check_table`].
    pub async fn maintain(
        &mut self,
        operation: TableMaintenance,
        tables: &[TableName],
        write_to_binlog: WriteToBinlog,
        execution: Execution<'_>,
    ) -> Result<()> {
        let counters = &self.shared.counters;
        let name = match operation {
            TableMaintenance::Analyze | TableMaintenance::AnalyzePersistent => {
                counters.com_analyze.add(1);
                "analyze"
            }
            TableMaintenance::Check => {
                counters.com_check.add(1);
                "check"
            }
            TableMaintenance::Optimize => {
                counters.com_optimize.add(1);
                "optimize"
            }
            TableMaintenance::Repair => {
                counters.com_repair.add(1);
                "repair"
            }
        };
        self.commit().await?;
        for table in tables {
            self.may_maintain(operation, table)?;
        }
        let is_logged = write_to_binlog == WriteToBinlog::Yes && operation != TableMaintenance::Check;
        if is_logged && self.table_locks.is_globally_locked() {
            return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
        }
        let mut output = Output::new();
        output
            .text("Table", 256)
            .text("Op", 10)
            .text("Msg_type", 10)
            .text("Msg_text", 393_216);
        let catalog = self.catalog();
        for table in tables {
            let (database, table) = self.qualified(table)?;
            let full = format!("{database}.{table}");
            let mut line = |kind: &str, message: &str| {
                output.row(vec![text(&full), text(name), text(kind), text(message)]);
            };
            if catalog.view(&database, &table).is_some() {
                match operation {
                    TableMaintenance::Check => {
                        let view = catalog.view(&database, &table).cloned();
                        let lines = view.map(|view| self.check_kept_view(&view));
                        lines
                            .iter()
                            .flatten()
                            .for_each(|(kind, message)| line(kind, message));
                    }
                    _ => {
                        line(
                            "Error",
                            &ER_WRONG_OBJECT.message(&[&database, &table, &"BASE TABLE"]),
                        );
                        line("status", "Operation failed");
                    }
                }
                continue;
            }
            let _lock = match self.lock_to_maintain(operation, &database, &table) {
                Ok(guard) => guard,
                Err(paceline_txn::Error::LockWaitTimeout) => {
                    line("Error", &ER_LOCK_WAIT_TIMEOUT.message(&[]));
                    line("status", "Operation failed");
                    continue;
                }
                Err(error) => return Err(of_transaction(&error)),
            };
            let catalog = self.catalog();
            let Some(definition) = catalog.table(&database, &table) else {
                if operation == TableMaintenance::Check
                    && crate::server::virtual_columns(&database, &table).is_some()
                {
                    match database == crate::mysql_tables::DATABASE {
                        true => line("status", "OK"),
                        false => line("note", super::check_table::NO_CHECK),
                    }
                    continue;
                }
                line("Error", &ER_NO_SUCH_TABLE.message(&[&database, &table]));
                line("status", "Operation failed");
                continue;
            };
            match operation {
                TableMaintenance::Analyze | TableMaintenance::AnalyzePersistent => {
                    self.server.statistics.analyze(definition);
                    if operation == TableMaintenance::AnalyzePersistent {
                        line("status", "Engine-independent statistics collected");
                    }
                    line("status", "OK");
                }
                TableMaintenance::Optimize => {
                    line(
                        "note",
                        "Table does not support optimize, doing recreate + analyze instead",
                    );
                    line("status", "OK");
                }
                TableMaintenance::Check => {
                    let lines = self.check_table(definition)?;
                    lines.iter().for_each(|(kind, message)| line(kind, message));
                }
                TableMaintenance::Repair => {
                    line("note", "The storage engine for the table doesn't support repair")
                }
            }
        }
        if is_logged {
            let timeout = self.context.settings.metadata_lock_wait_timeout;
            self.log_for_replicas(execution.text, timeout).await?;
        }
        self.send(output, execution)
    }

    /// Reopens the statement logs. Failures are reported in the error log.
    fn reopen_statement_logs(&self) {
        if let Err(error) = self.server.statement_logs.reopen(&self.server.globals) {
            tracing::error!("a log of statements cannot be opened: {error}");
        }
    }

    /// Executes HELP: there are no help tables.
    pub fn help(&mut self, _topic: &str, execution: Execution<'_>) -> Result<()> {
        self.shared.counters.com_help.add(1);
        let mut output = Output::new();
        output
            .text("name", 64)
            .text("description", 65_535)
            .text("example", 65_535);
        self.send(output, execution)
    }
}

/// Returns the tables that a view reads, directly or through other views.
fn tables_behind(view: &ViewDefinition, catalog: &Catalog) -> Vec<(String, String)> {
    let names = names_read(view.parsed(), catalog, None).into_iter();
    names
        .filter_map(|name| Some((name.database?, name.name)))
        .filter(|(database, name)| catalog.table(database, name).is_some())
        .collect()
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}
