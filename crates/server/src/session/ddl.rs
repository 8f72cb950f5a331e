//! DDL: planned by the crate `catalog`, committed through the log by `txn`.
//!
//! ```text
//!   implicit commit ─▶ exclusive metadata locks ─▶ plan (and build aside) ─▶ Query event with the build's id ─▶ published: catalog replaced
//! ```
//! DDL on temporary tables is planned in the same way, but stays within the session: [`super::temporary`].

use super::Session;
use super::errors::of_transaction;
use super::logged_statement::LoggedStatement;
use super::query::Execution;
use super::result::RowCollector;
use crate::accounts::PrivilegeSet;
use crate::accounts::show::identifier;
use crate::variables::Variable;
use paceline_binlog::event::EventFlags;
use paceline_catalog::ddl::{
    DdlInput, DdlNeed, DdlObject, LoggedStatement as Logged, PreparedDdl, SelectedColumn, alter_info,
    ddl_objects, engine, foreign_key_names, is_temporary_ddl, prepare_ddl, read_ddl_objects,
    referenced_tables, related_ddl_objects, temporary_renames,
};
use paceline_catalog::{ColumnDefault, TableEngine};
use paceline_expression::session::{Privilege, PrivilegeTarget, Privileges};
use paceline_query::plan::Through;
use paceline_syntax::definition::{
    AlterAction, AlterOrigin, CreateTable, CreateTableBody, CreateView, ViewMode,
};
use paceline_syntax::{
    ColumnName, DdlStatement, Duplicates, Insert, InsertKind, InsertSource, Statement, TableName, UserName,
};
use paceline_syntax::{Error, Result};
use paceline_txn::{CommitOutcome, DdlCommit, GtidChoice, MetadataGuard, MetadataMode, MetadataObject};
use paceline_types::error_code::*;

impl Session {
    /// Executes a DDL statement.
    pub async fn ddl(&mut self, ddl: &DdlStatement, execution: Execution<'_>) -> Result<()> {
        self.count_ddl(ddl);
        self.may_define(ddl)?;
        let ends_transaction = !matches!(ddl, DdlStatement::CreateTable(create) if create.temporary)
            && !matches!(ddl, DdlStatement::DropTables { temporary: true, .. });
        if ends_transaction && self.transaction.is_open() && self.is_read_only_transaction() {
            // The statement belongs to the next transaction, whose mode decides.
            self.commit().await?;
        }
        if self.is_read_only_transaction() {
            return Err(Error::new(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, &[]));
        }
        let catalog = self.catalog();
        let is_temporary = is_temporary_ddl(ddl, &catalog, self.context.database.as_deref())?;
        if !is_temporary || matches!(ddl, DdlStatement::RenameTables { .. }) {
            self.check_writable()?;
        }
        if self.table_locks.is_globally_locked() && !is_temporary {
            return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
        }
        match ddl {
            DdlStatement::CreateTable(create) => {
                self.check_select_source(create)?;
                if !create.temporary {
                    self.commit().await?;
                }
            }
            DdlStatement::DropTables { temporary: true, .. } => {}
            _ => self.commit().await?,
        }
        if self.table_locks.has_tables() && matches!(ddl, DdlStatement::RenameTables { .. }) {
            return Err(Error::new(ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
        }
        for object in ddl_objects(ddl, &catalog, self.context.database.as_deref())? {
            // The new name of an altered table need not be locked.
            let is_new_name = match ddl {
                DdlStatement::AlterTable(alter) => {
                    let (database, name) = self.qualified(&alter.table)?;
                    (Some(&name), &database) != (object.table.as_ref(), &object.database)
                }
                _ => false,
            };
            if !is_new_name {
                self.check_ddl_under_lock_tables(&object)?;
            }
        }
        let mut objects = self.objects_to_lock(ddl)?;
        let _guards = loop {
            let guards = match is_temporary {
                true => Vec::new(),
                false => self.lock_objects(&objects)?,
            };
            // During the wait for the locks, another table may have got a foreign key to one of them.
            let now = self.objects_to_lock(ddl)?;
            if now.iter().all(|object| objects.contains(object)) {
                break guards;
            }
            drop(guards);
            objects = now;
        };
        if let DdlStatement::CreateView(view) = ddl {
            self.check_view(view)?;
        }
        let select = self.plan_create_select(ddl)?;
        let names = match is_temporary {
            true => Vec::new(),
            false => self.lock_foreign_key_names(ddl)?,
        };
        let server = self.server.clone();
        let snapshot = server.transactions.snapshot();
        let input = DdlInput {
            catalog: &server.catalog,
            storage: server.transactions.storage(),
            snapshot: &snapshot,
            default_engine: self.default_engine(),
            select_columns: select.as_deref(),
            temporary: Some(&self.temporary),
        };
        let mut prepared = tokio::task::block_in_place(|| prepare_ddl(input, &mut self.context, ddl))?;
        let text = match &prepared.plan.logged {
            Logged::AsWritten => Some(execution.text.to_vec()),
            Logged::Rewritten(text) => Some(text.clone().into_bytes()),
            Logged::Nothing => None,
        };
        let copied = prepared
            .built
            .filter(|built| built.copied)
            .map_or(0, |built| built.rows);
        let (failure, fill, mut affected) = (
            prepared.plan.failure.clone(),
            prepared.plan.fill.clone(),
            prepared.plan.affected_rows,
        );
        let temporary_plan = std::mem::take(&mut prepared.plan.temporary);
        let temporary_rows = prepared.temporary_writes.take();
        if let Some(text) = &text {
            match fill {
                Some(_) => self.commit_unfilled(prepared, text).await?,
                None => self.commit_ddl(prepared, text).await?,
            }
            self.leave_dropped_database();
        }
        drop(names);
        self.apply_temporary(temporary_plan, temporary_rows)?;
        if let Some(failure) = failure {
            return Err(failure);
        }
        let mut info = String::new();
        if let (Some(table), DdlStatement::CreateTable(create)) = (fill, ddl) {
            affected = match create.temporary {
                true => self.fill_temporary_table(table, create, execution).await?,
                false => {
                    let definition = text.unwrap_or_default();
                    match self
                        .fill_table(table.clone(), create, &definition, execution)
                        .await
                    {
                        Ok(rows) => rows,
                        Err(error) => {
                            self.drop_unfilled(&table).await;
                            return Err(error);
                        }
                    }
                }
            };
            info = alter_info(affected, self.context.diagnostics.warning_count());
        } else if matches!(ddl, DdlStatement::AlterTable(_)) {
            affected = copied;
            info = alter_info(copied, self.context.diagnostics.warning_count());
        }
        self.write_ok(affected, 0, &info, execution.more);
        Ok(())
    }

    /// Commits a prepared statement.
    async fn commit_ddl(&mut self, prepared: PreparedDdl, text: &[u8]) -> Result<()> {
        let mut logged = LoggedStatement::of(self, text);
        // A generated text contains only what the statement has changed.
        if prepared.plan.logged == Logged::AsWritten {
            logged = logged.with_failure(prepared.plan.failure.as_ref());
        }
        if prepared.built.is_some_and(|built| built.rows > 0) {
            logged = logged.with_fraction(&self.context);
        }
        let outcome = commit_prepared(self, prepared, &logged).await?;
        self.committed(outcome);
        Ok(())
    }

    /// Commits the definition of a table that will be filled, or its removal. A primary's GTID belongs to the whole
    /// statement, which ends with the rows; the definition is then a group of this server alone.
    async fn commit_unfilled(&mut self, prepared: PreparedDdl, text: &[u8]) -> Result<()> {
        let Some(gtid) = self.primarys_gtid() else {
            return self.commit_ddl(prepared, text).await;
        };
        self.services.transaction.lock().replicated = None;
        let log_bin = std::mem::replace(&mut self.context.settings.log_bin, false);
        let done = self.commit_ddl(prepared, text).await;
        self.context.settings.log_bin = log_bin;
        self.services.transaction.lock().replicated = Some(gtid);
        done
    }

    fn primarys_gtid(&self) -> Option<GtidChoice> {
        self.services.transaction.lock().replicated.clone()
    }

    /// Returns the objects that a statement defines, those related to them by foreign keys, and those that it reads;
    /// sorted, without duplicates.
    fn objects_to_lock(&self, ddl: &DdlStatement) -> Result<Vec<DdlObject>> {
        let (catalog, database) = (self.catalog(), self.context.database.as_deref());
        let mut objects = ddl_objects(ddl, &catalog, database)?;
        objects.extend(related_ddl_objects(ddl, &objects, &catalog, database));
        objects.extend(read_ddl_objects(ddl, &catalog, database));
        objects.sort();
        // A defined object precedes the same object that is read.
        objects.dedup_by(|later, first| (&later.database, &later.table) == (&first.database, &first.table));
        Ok(objects)
    }

    /// Takes the metadata locks: exclusive ones on defined objects, and the one that conflicts with FLUSH TABLES WITH
    /// READ LOCK.
    fn lock_objects(&self, objects: &[DdlObject]) -> Result<Vec<MetadataGuard>> {
        let timeout = self.context.settings.metadata_lock_wait_timeout;
        let lock = |object: MetadataObject<'_>, mode: MetadataMode| {
            self.services
                .locks
                .lock_metadata(object, mode, timeout)
                .map_err(|error| of_transaction(&error))
        };
        let mut guards = vec![lock(MetadataObject::Global, MetadataMode::Write)?];
        for object in objects {
            let Some(table) = &object.table else {
                guards.push(lock(
                    MetadataObject::Database(&object.database),
                    MetadataMode::Exclusive,
                )?);
                continue;
            };
            guards.push(lock(
                MetadataObject::Database(&object.database),
                MetadataMode::Read,
            )?);
            guards.push(lock(
                MetadataObject::Table {
                    database: &object.database,
                    table,
                },
                match object.need {
                    DdlNeed::Defined => MetadataMode::Exclusive,
                    DdlNeed::Read => MetadataMode::Read,
                },
            )?);
        }
        Ok(guards)
    }

    /// Locks the names of new foreign keys until the statement is published.
    fn lock_foreign_key_names(&self, ddl: &DdlStatement) -> Result<Vec<MetadataGuard>> {
        let timeout = self.context.settings.metadata_lock_wait_timeout;
        let names = foreign_key_names(ddl, &self.catalog(), self.context.database.as_deref());
        let lock = |(database, name): &(String, String)| {
            let object = MetadataObject::ForeignKeyName { database, name };
            let locked = self
                .services
                .locks
                .lock_metadata(object, MetadataMode::Exclusive, timeout);
            locked.map_err(|error| of_transaction(&error))
        };
        names.iter().map(lock).collect()
    }

    /// Returns the value of `default_storage_engine`.
    fn default_engine(&self) -> TableEngine {
        let values = self.services.values.lock();
        engine(values.get(Variable::DefaultStorageEngine).as_str()).unwrap_or(TableEngine::InnoDb)
    }

    /// Checks the privileges for a view: the account must be allowed to run its query. Another user as definer needs a
    /// privilege of its own.
    fn check_view(&mut self, view: &CreateView) -> Result<()> {
        if let Some(definer) = &view.definer
            && let UserName::Name(user) = &definer.user
        {
            let current = &self.context.current_user;
            if *user != current.user || !definer.host.eq_ignore_ascii_case(&current.host) {
                self.services
                    .require_any(&[Privilege::Super, Privilege::SetUser])?;
            }
            if self.server.accounts.load().get(user, &definer.host).is_none() {
                let message = ER_NO_SUCH_USER.message(&[user, &definer.host]);
                self.context.diagnostics.note(ER_NO_SUCH_USER, message);
            }
        }
        let plan = self.plan(&Statement::Query(Box::new(view.query.clone())))?;
        let named = plan
            .tables()
            .iter()
            .filter(|table| table.access.through.is_none());
        for table in named.filter(|table| !table.is_temporary()) {
            let target = PrivilegeTarget::Table {
                database: &table.database,
                table: &table.name,
            };
            if self
                .services
                .check(&self.context, Privilege::Select, target)
                .is_err()
            {
                let account = &self.context.current_user;
                return Err(Error::new(
                    ER_TABLEACCESS_DENIED_ERROR,
                    &[&"ANY", &account.user, &account.host, &table.database, &table.name],
                ));
            }
        }
        self.check_privileges(&plan)
    }

    /// Returns the columns of CREATE TABLE … SELECT.
    fn plan_create_select(&self, ddl: &DdlStatement) -> Result<Option<Vec<SelectedColumn>>> {
        let DdlStatement::CreateTable(create) = ddl else {
            return Ok(None);
        };
        let Some(select) = create.select() else {
            return Ok(None);
        };
        let plan = self.plan(&Statement::Query(Box::new(select.query.clone())))?;
        // Without the privileges to read, no table is created or replaced.
        self.check_privileges(&plan)?;
        let catalog = self.catalog();
        let columns = plan.columns().iter().map(|column| {
            let source = column.origin.as_ref().and_then(|origin| {
                let table = catalog.table(&origin.database, &origin.table)?;
                Some(&table.columns()[table.column(&origin.column)?])
            });
            let through = column.origin.as_ref().map(|origin| origin.through);
            SelectedColumn {
                name: column.name.to_string(),
                data_type: column.data_type.clone(),
                nullable: !column.is_not_null(),
                default: match source {
                    Some(source) if source.auto_increment && !source.nullable => {
                        ColumnDefault::Literal("0".to_owned())
                    }
                    Some(source) if through != Some(Through::Merged) => source.default.clone(),
                    _ => ColumnDefault::None,
                },
                on_update: source
                    .filter(|_| through == Some(Through::Nothing))
                    .and_then(|source| source.on_update),
                comment: source.map(|source| source.comment.clone()).unwrap_or_default(),
            }
        });
        Ok(Some(columns.collect()))
    }

    /// Executes the second half of CREATE TABLE … SELECT: inserts the rows in a separate transaction. For a primary's
    /// statement the definition precedes them, because it was not logged for replicas before. Returns the number of
    /// rows.
    async fn fill_table(
        &mut self,
        table: TableName,
        create: &CreateTable,
        definition: &[u8],
        execution: Execution<'_>,
    ) -> Result<u64> {
        let (database, name) = self.qualified(&table)?;
        if self.primarys_gtid().is_some() {
            self.log_definition(definition)?;
        }
        // If a temporary table has the same name, the rows are not for it.
        self.temporary.begin_fill(&database, &name);
        let filled = self.insert_selected(table, create, execution).await;
        self.temporary.end_fill(&database, &name);
        let rows = filled?;
        // CREATE TABLE commits, even with autocommit=0.
        self.commit().await?;
        Ok(rows)
    }

    fn log_definition(&mut self, text: &[u8]) -> Result<()> {
        let logged = LoggedStatement::of(self, text);
        self.enter_transaction();
        let transaction = self.transaction.running()?;
        transaction
            .log_definition(
                &logged.query_event(None),
                EventFlags::NONE,
                logged.timestamp_seconds,
            )
            .map_err(|error| of_transaction(&error))
    }

    /// Drops the table of a failed CREATE TABLE … SELECT under the locks of the statement. The definition is already in
    /// the log, so the removal must be logged, too.
    async fn drop_unfilled(&mut self, table: &TableName) {
        self.roll_back();
        // A KILL QUERY or time limit was meant for the SELECT.
        self.shared.interrupt.clear_query();
        // References from other tables existed before the table was created.
        let checks = std::mem::replace(&mut self.context.settings.foreign_key_checks, false);
        let dropped = self.drop_ordinary(table).await;
        self.context.settings.foreign_key_checks = checks;
        if let Err(error) = dropped {
            tracing::warn!("{table} was made and not filled, and could not be dropped: {error}");
        }
    }

    async fn drop_ordinary(&mut self, table: &TableName) -> Result<()> {
        let (database, name) = self.qualified(table)?;
        let ddl = DdlStatement::DropTables {
            temporary: false,
            if_exists: false,
            tables: vec![TableName::qualified(database.clone(), name.clone())],
        };
        let server = self.server.clone();
        let snapshot = server.transactions.snapshot();
        let input = DdlInput {
            catalog: &server.catalog,
            storage: server.transactions.storage(),
            snapshot: &snapshot,
            default_engine: self.default_engine(),
            select_columns: None,
            // A temporary table of the session may hide it.
            temporary: None,
        };
        let prepared = tokio::task::block_in_place(|| prepare_ddl(input, &mut self.context, &ddl))?;
        let text = format!(
            "DROP TABLE {}.{} /* generated by server */",
            identifier(&database),
            identifier(&name)
        );
        self.commit_unfilled(prepared, text.as_bytes()).await
    }

    /// Inserts the rows of the query of CREATE TABLE … SELECT. Returns their number.
    pub async fn insert_selected(
        &mut self,
        table: TableName,
        create: &CreateTable,
        execution: Execution<'_>,
    ) -> Result<u64> {
        let Some(select) = create.select() else {
            return Ok(0);
        };
        let query = Statement::Query(Box::new(select.query.clone()));
        let columns = self
            .plan(&query)?
            .columns()
            .iter()
            .map(|column| ColumnName::new(column.name.to_string()))
            .collect();
        let insert = Statement::Insert(Box::new(Insert {
            kind: match select.duplicates {
                Duplicates::Replace => InsertKind::Replace,
                Duplicates::Error | Duplicates::Ignore => InsertKind::Insert,
            },
            ignore: select.duplicates == Duplicates::Ignore,
            table,
            columns,
            source: InsertSource::Query(Box::new(select.query.clone())),
            on_duplicate: vec![],
            returning: vec![],
        }));
        let plan = self.plan(&insert)?;
        match self.collect::<RowCollector>(&plan, execution).await? {
            Some((_, outcome)) => Ok(outcome.affected_rows),
            None => Err(Error::new(ER_TABLE_DEF_CHANGED, &[])),
        }
    }

    /// Clears the current database if it was dropped.
    fn leave_dropped_database(&mut self) {
        let Some(current) = &self.context.database else {
            return;
        };
        if self.find_database(current).is_none() {
            self.set_database(None);
        }
    }

    /// Returns 1142 and 1044 for objects that the account may not define.
    fn may_define(&self, ddl: &DdlStatement) -> Result<()> {
        let is_temporary = |table: &TableName| -> Result<bool> {
            let (database, name) = self.qualified(table)?;
            Ok(self.temporary.catalog().table(&database, &name).is_some())
        };
        let of_table = |table: &TableName, privileges: &[Privilege]| -> Result<()> {
            let (database, name) = self.qualified(table)?;
            for privilege in privileges {
                self.services.check(
                    &self.context,
                    *privilege,
                    PrivilegeTarget::Table {
                        database: &database,
                        table: &name,
                    },
                )?;
            }
            Ok(())
        };
        let of_database = |name: &str, privilege: Privilege| {
            self.services
                .check(&self.context, privilege, PrivilegeTarget::Database(name))
        };
        match ddl {
            DdlStatement::CreateDatabase { name, or_replace, .. } => {
                of_database(name, Privilege::Create)?;
                match or_replace {
                    true => of_database(name, Privilege::Drop),
                    false => Ok(()),
                }
            }
            DdlStatement::DropDatabase { name, .. } => of_database(name, Privilege::Drop),
            DdlStatement::AlterDatabase { name, .. } => of_database(
                name.as_deref()
                    .or(self.context.database.as_deref())
                    .unwrap_or_default(),
                Privilege::Alter,
            ),
            DdlStatement::CreateTable(create) => {
                match create.temporary {
                    true => {
                        let (database, _) = self.qualified(&create.name)?;
                        of_database(&database, Privilege::CreateTemporaryTables)?;
                    }
                    false => {
                        of_table(&create.name, &[Privilege::Create])?;
                        if create.or_replace {
                            of_table(&create.name, &[Privilege::Drop])?;
                        }
                        // Checked now: without the privilege no table must be created.
                        if create.select().is_some() {
                            of_table(&create.name, &[Privilege::Insert])?;
                        }
                        self.may_refer(ddl)?;
                    }
                }
                match &create.body {
                    CreateTableBody::Like(other) if !is_temporary(other)? => {
                        of_table(other, &[Privilege::Select])
                    }
                    _ => Ok(()),
                }
            }
            // A session may do anything with its temporary tables.
            DdlStatement::AlterTable(alter) if is_temporary(&alter.table)? => Ok(()),
            DdlStatement::AlterTable(alter) => {
                let privilege = match alter.origin {
                    AlterOrigin::AlterTable => Privilege::Alter,
                    _ => Privilege::Index,
                };
                of_table(&alter.table, &[privilege])?;
                let own = alter.table.database.clone();
                for action in &alter.actions {
                    if let AlterAction::RenameTable(to) = action {
                        let to = TableName {
                            database: to.database.clone().or(own.clone()),
                            name: to.name.clone(),
                        };
                        of_table(&alter.table, &[Privilege::Drop])?;
                        of_table(&to, &[Privilege::Create, Privilege::Insert])?;
                    }
                }
                self.may_refer(ddl)
            }
            DdlStatement::DropTables { temporary: true, .. } => Ok(()),
            DdlStatement::DropTables { tables, .. } => {
                tables.iter().try_for_each(|table| match is_temporary(table)? {
                    true => Ok(()),
                    false => of_table(table, &[Privilege::Drop]),
                })
            }
            DdlStatement::TruncateTable(table) if is_temporary(table)? => Ok(()),
            DdlStatement::TruncateTable(table) => of_table(table, &[Privilege::Drop]),
            DdlStatement::RenameTables { renames, .. } => {
                let temporary =
                    temporary_renames(renames, &self.catalog(), self.context.database.as_deref())?;
                for ((from, to), _) in renames.iter().zip(temporary).filter(|(_, temporary)| !temporary) {
                    of_table(from, &[Privilege::Alter, Privilege::Drop])?;
                    of_table(to, &[Privilege::Create, Privilege::Insert])?;
                }
                Ok(())
            }
            DdlStatement::CreateView(view) => match view.mode {
                ViewMode::Create => of_table(&view.name, &[Privilege::CreateView]),
                _ => of_table(&view.name, &[Privilege::CreateView, Privilege::Drop]),
            },
            DdlStatement::DropViews { views, .. } => views
                .iter()
                .try_for_each(|view| of_table(view, &[Privilege::Drop])),
            DdlStatement::DropOther { .. } => Ok(()),
        }
    }

    /// Returns 1142 for a foreign key to a table on which the account has no privilege: REFERENCES or any privilege on
    /// rows is sufficient, as in MariaDB.
    fn may_refer(&self, ddl: &DdlStatement) -> Result<()> {
        let enough = PrivilegeSet::rows().with(Privilege::References);
        for (database, table) in referenced_tables(ddl, self.context.database.as_deref()) {
            let has = self.services.privileges_in(&self.context, &database);
            if has.minus(enough) == has {
                let target = PrivilegeTarget::Table {
                    database: &database,
                    table: &table,
                };
                self.services
                    .check(&self.context, Privilege::References, target)?;
            }
        }
        Ok(())
    }

    fn count_ddl(&self, ddl: &DdlStatement) {
        let counters = &self.shared.counters;
        match ddl {
            DdlStatement::CreateDatabase { .. } => counters.com_create_db.add(1),
            DdlStatement::AlterDatabase { .. } => counters.com_alter_db.add(1),
            DdlStatement::DropDatabase { .. } => counters.com_drop_db.add(1),
            DdlStatement::CreateTable(_) => counters.com_create_table.add(1),
            DdlStatement::AlterTable(_) => counters.com_alter_table.add(1),
            DdlStatement::DropTables { .. } | DdlStatement::DropOther { .. } => {
                counters.com_drop_table.add(1)
            }
            DdlStatement::TruncateTable(_) => counters.com_truncate.add(1),
            DdlStatement::RenameTables { .. } => counters.com_rename_table.add(1),
            DdlStatement::CreateView(_) => counters.com_create_view.add(1),
            DdlStatement::DropViews { .. } => counters.com_drop_view.add(1),
        }
    }
}

/// Commits a prepared statement: the Query event, the changes and the built data. Replaces the catalog in the order of
/// the log.
///
/// # Errors
/// The reason why it was not committed. The built data is deleted then.
async fn commit_prepared(
    session: &mut Session,
    prepared: PreparedDdl,
    logged: &LoggedStatement,
) -> Result<CommitOutcome> {
    let server = &session.server;
    let storage = server.transactions.storage().clone();
    if !prepared.builds.is_empty() {
        // The activation must not wait for a flush of the tables within the commit.
        tokio::task::block_in_place(|| storage.prepare_activate())
            .map_err(|error| of_transaction(&paceline_txn::Error::from(error)))?;
    }
    let changes = prepared.plan.changes;
    let on_publish = {
        let server = server.clone();
        Box::new(move |version| {
            server
                .catalog
                .publish(&changes, version)
                .expect("a planned description does not contradict itself");
        })
    };
    let builds = prepared.builds.clone();
    let query = logged.query_event(prepared.xid);
    let ddl = DdlCommit {
        query: &query,
        event_flags: EventFlags::NONE,
        timestamp_seconds: logged.timestamp_seconds,
        writes: prepared.writes,
        builds: prepared.builds,
        on_publish: Some(on_publish),
        gtid: session.services.gtid_choice(),
        replication: super::transaction::replication(&session.context, &session.services),
        metadata_lock_timeout: session.context.settings.metadata_lock_wait_timeout,
    };
    let locks = &session.services.locks;
    let committing = server
        .transactions
        .commit_ddl_where(locks, ddl, || session.check_writable().is_ok());
    match committing.await {
        Ok(outcome) => Ok(outcome),
        Err(error) => {
            for build in builds {
                if let Err(error) = storage.abandon(build) {
                    tracing::warn!("build {build} could not be deleted: {error}");
                }
            }
            Err(of_transaction(&error))
        }
    }
}
