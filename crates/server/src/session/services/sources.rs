//! Source of the rows of `information_schema`, restricted to what one session may see.

use super::SessionServices;
use super::StatementTrace;
use crate::accounts::checks::{may_see_events, may_see_triggers, routine_access};
use crate::accounts::{Account, PrivilegeSet, RoleGrant};
use crate::cells::Row;
use crate::cluster::CLUSTER_USER;
use crate::information_schema::{
    self, ApplicableRole, ColumnPrivileges, GrantedObject, GrantedPrivilege, OpenTransaction,
    PrimaryConnection, Process, RoutineAccess, Scope, ShownHistory, Sources, TableSize, ViewColumn,
    VirtualTable,
};
use crate::memory::MemoryPart;
use crate::memory_control::memory_usage;
use crate::metrics::{shown, status_variables};
use crate::open_transactions::open_transactions;
use crate::registry::{SessionHandle, now_micros};
use crate::replication_options;
use crate::session_progress::ShownProgress;
use crate::sql_text::select_all;
use crate::statement_digests::DigestSummary;
use crate::statement_events::{EventLevel, EventOwner, KindSums};
use crate::statement_history::{Consumer, StatementEvent, StatementHistory};
use crate::statistic::ShownStatistic;
use crate::user_statistics::{StatisticsOf, TallyValues};
use crate::variables::{self, Access, Kind, TABLE, Variable};
use crate::virtual_tables::{EMPTY_DATABASES, virtual_columns};
use crate::{mysql_columns, mysql_tables, performance_schema};
use paceline_binlog::FileStatistics;
use paceline_catalog::{
    Catalog, DatabaseDefinition, EventDefinition, RoutineDescription, SYSTEM_DATABASE, TableDefinition,
    TableDescription, ViewDefinition,
};
use paceline_expression::session::{
    Privilege, SessionContext, SqlMode, UserVariable, VirtualColumn, VirtualTables, WantedRows,
};
use paceline_query::plan::{Plan, PlanContext, plan_statement};
use paceline_replication::connection::Connection;
use paceline_syntax::Result;
use paceline_syntax::{ParseOptions, parse_first};
use paceline_types::temporal::TimeZone;
use paceline_types::{Collation, Value, Version};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Source for one session.
pub struct SessionSources<'a> {
    /// Services of the session.
    pub services: &'a SessionServices,
    /// Context of the session.
    pub session: &'a SessionContext,
}

impl VirtualTables for SessionServices {
    fn columns(&self, database: &str, table: &str) -> Option<Vec<VirtualColumn>> {
        virtual_columns(database, table).map(<[VirtualColumn]>::to_vec)
    }

    fn rows(
        &self,
        session: &SessionContext,
        database: &str,
        table: &str,
        wanted: &WantedRows,
    ) -> Result<Vec<Vec<Value>>> {
        if database == mysql_columns::DATABASE {
            self.authority(session)
                .check_any_column(&[Privilege::Select], database, table)?;
            if let Some(rows) = self.server.statement_logs.table_rows(table) {
                return Ok(rows);
            }
            if table == "gtid_slave_pos" {
                return Ok(mysql_tables::gtid_slave_pos(
                    &self.server.transactions.replicated_position(),
                ));
            }
            let sources = SessionSources {
                services: self,
                session,
            };
            let seconds = session.statement.start_seconds();
            return Ok(match table {
                "func" => mysql_tables::func(&self.server.catalog.load()),
                "event" => information_schema::event(&sources, wanted),
                "proc" => information_schema::proc(&sources, wanted),
                "innodb_table_stats" => information_schema::table_stats(&sources, seconds),
                "innodb_index_stats" => information_schema::index_stats(&sources, seconds),
                _ => mysql_tables::rows(table, &self.server.accounts.load()),
            });
        }
        let sources = SessionSources {
            services: self,
            session,
        };
        if database.eq_ignore_ascii_case(performance_schema::DATABASE) {
            return Ok(performance_schema::rows(table, &sources));
        }
        Ok(information_schema::rows(table, &sources, wanted).unwrap_or_default())
    }
}

impl SessionSources<'_> {
    fn may_see_all_sessions(&self) -> bool {
        self.services.account().global.has(Privilege::Process)
    }

    /// Returns the receivers and appliers of connections to primaries.
    fn replication_processes(&self) -> Vec<Process> {
        let mut processes = vec![];
        for connection in self.services.server.replicas().all() {
            let status = connection.status();
            let states = [
                ("Slave_IO", status.receiver.doing),
                ("Slave_SQL", status.applier.state.as_str()),
            ];
            for (thread, (command, state)) in status.threads.iter().zip(states) {
                let Some(thread) = thread else { continue };
                processes.push(Process {
                    id: u64::from(thread.id),
                    user: "system user".to_owned(),
                    command: command.to_owned(),
                    time_ms: u64::try_from(thread.started.elapsed().as_millis()).unwrap_or(u64::MAX),
                    state: Some(state.to_owned()),
                    ..Process::default()
                });
            }
        }
        processes
    }
}

/// Returns the running statement of a session, or else the last one that is kept.
fn current_statement(session: &SessionHandle, history: &StatementHistory) -> Option<Arc<StatementEvent>> {
    let activity = session.activity();
    let (last, number) = session.history.last();
    if activity.text.is_empty() || activity.command == "Sleep" {
        return last;
    }
    let nanos = (now_micros() - activity.since_micros).saturating_mul(1000);
    Some(Arc::new(StatementEvent {
        session: u64::from(session.id),
        number,
        kind: session.statement_kind.get(),
        is_running: true,
        start_micros: activity.since_micros,
        nanos: u64::try_from(nanos).unwrap_or(0),
        text: history.kept_text(&activity.text),
        database: activity.database,
        ..StatementEvent::default()
    }))
}

impl SessionSources<'_> {
    /// Plans a query for all rows of a view.
    fn plan_view(&self, view: &ViewDefinition, catalog: &Arc<Catalog>) -> Result<Plan> {
        let text = select_all(&view.database, &view.name);
        let statement = parse_first(text.as_bytes(), &ParseOptions::default())?.statement;
        plan_statement(
            &statement,
            &PlanContext {
                catalog,
                session: self.session,
                statistics: &self.services.server.statistics,
                parameters: &[],
            },
        )
    }

    /// Returns whether the account has any privilege on a table.
    fn can_see(&self, database: &str, table: &str) -> bool {
        self.services
            .authority(self.session)
            .can_see_table(database, table)
    }

    /// Returns the temporary table of the running SHOW statement.
    fn shown_temporary(&self) -> Option<Arc<TableDefinition>> {
        self.services.shown_temporary.lock().clone()
    }
}

impl Sources for SessionSources<'_> {
    fn databases(&self) -> Vec<DatabaseDefinition> {
        if let Some(shown) = self.shown_temporary() {
            return vec![DatabaseDefinition {
                name: shown.database().to_owned(),
                collation: shown.collation,
                comment: String::new(),
            }];
        }
        let account = self.services.account();
        let catalog = self.services.server.catalog.load();
        let mut visible: Vec<DatabaseDefinition> = catalog
            .databases()
            .filter(|database| account.can_see(database.name()))
            .map(|database| database.definition().clone())
            .collect();
        let empty = [performance_schema::DATABASE]
            .into_iter()
            .chain(EMPTY_DATABASES)
            .filter(|name| catalog.database(name).is_none() && account.can_see(name));
        visible.extend(empty.map(|name| DatabaseDefinition {
            name: name.to_owned(),
            collation: Collation::Utf8mb3GeneralCi,
            comment: String::new(),
        }));
        visible
    }

    fn virtual_tables(&self, database: &str) -> &'static [VirtualTable] {
        match database {
            mysql_columns::DATABASE => mysql_columns::tables(),
            performance_schema::DATABASE => performance_schema::tables(),
            _ => &[],
        }
    }

    fn tables(&self, database: &str, admits: &dyn Fn(&str) -> bool) -> Vec<Arc<TableDescription>> {
        if let Some(shown) = self.shown_temporary() {
            return vec![Arc::new(shown.description().clone())];
        }
        let catalog = self.services.server.catalog.load();
        // The built-in tables of `mysql` can be read by name but are not listed: a dump of all databases that contained
        // them could not be loaded.
        let is_own =
            |table: &TableDefinition| table.database() == SYSTEM_DATABASE && table.version() == Version::ZERO;
        match catalog.database(database) {
            Some(database) => database
                .tables()
                .filter(|table| {
                    admits(table.name()) && !is_own(table) && self.can_see(table.database(), table.name())
                })
                .map(|table| Arc::new(table.description().clone()))
                .collect(),
            None => vec![],
        }
    }

    fn views(&self, database: &str) -> Vec<Arc<ViewDefinition>> {
        if self.shown_temporary().is_some() {
            return vec![];
        }
        let catalog = self.services.server.catalog.load();
        match catalog.database(database) {
            Some(database) => (database.views())
                .filter(|view| self.can_see(&view.database, &view.name))
                .cloned()
                .collect(),
            None => vec![],
        }
    }

    fn is_updatable(&self, view: &ViewDefinition) -> bool {
        paceline_catalog::ddl::is_updatable(view, &self.services.server.catalog.load())
    }

    fn view_columns(&self, view: &ViewDefinition) -> Result<Vec<ViewColumn>> {
        let catalog = self.services.server.catalog.load();
        let plan = self.plan_view(view, &catalog)?;
        let columns = plan.columns().iter().map(|column| {
            let origin = column.origin.as_ref().and_then(|origin| {
                let table = catalog.table(&origin.database, &origin.table)?;
                Some(&table.columns()[table.column(&origin.column)?])
            });
            ViewColumn {
                name: column.name.to_string(),
                data_type: column.data_type.clone(),
                nullable: !column.is_not_null(),
                default: match origin {
                    Some(column) if column.auto_increment && !column.nullable => Some("0".to_owned()),
                    Some(column) => information_schema::column_default(column),
                    None => Some(information_schema::default_of_expression(column)),
                },
                comment: origin.map(|origin| origin.comment.clone()).unwrap_or_default(),
            }
        });
        Ok(columns.collect())
    }

    fn table_size(&self, table: &TableDescription) -> TableSize {
        if let Some(shown) = self.shown_temporary() {
            return self.services.server.table_size(&shown);
        }
        let catalog = self.services.server.catalog.load();
        match catalog.table(&table.database, &table.name) {
            Some(definition) => self.services.server.table_size(definition),
            None => TableSize::default(),
        }
    }

    fn distinct_prefixes(&self, table: &TableDescription) -> Vec<Vec<u64>> {
        let server = &self.services.server;
        if let Some(shown) = self.shown_temporary() {
            return server.statistics.distinct_prefixes(&shown);
        }
        let catalog = server.catalog.load();
        match catalog.table(&table.database, &table.name) {
            Some(definition) => server.statistics.distinct_prefixes(definition),
            None => vec![],
        }
    }

    fn auto_increment(&self, table: &TableDescription) -> Option<u64> {
        let catalog = self.services.server.catalog.load();
        let definition = catalog.table(&table.database, &table.name)?;
        definition.auto_increment_column()?;
        let snapshot = self.services.server.transactions.snapshot();
        let start = definition.description().auto_increment_start;
        let next = definition
            .auto_increment()
            .next(start, || definition.auto_increment_highest(&snapshot));
        next.ok()
    }

    fn processes(&self) -> Vec<Process> {
        let all = self.may_see_all_sessions();
        let now = now_micros();
        let mut processes = vec![];
        for session in self.services.server.sessions.all() {
            let activity = session.activity();
            if !all && activity.user != self.session.user.user {
                continue;
            }
            // An event has the command Connect and a text.
            let busy = match activity.command {
                "Sleep" => false,
                "Connect" => !activity.text.is_empty(),
                _ => true,
            };
            processes.push(Process {
                id: u64::from(session.id),
                user: activity.user,
                host: activity.host,
                database: activity.database,
                command: activity.command.to_owned(),
                time_ms: u64::try_from((now - activity.since_micros) / 1000).unwrap_or(0),
                state: Some(activity.state.to_owned()),
                info: busy.then(|| String::from_utf8_lossy(&activity.text).into_owned()),
                query_id: session.query_id.load(std::sync::atomic::Ordering::Relaxed),
                // As in MariaDB, a session that sleeps has examined nothing.
                progress: match busy {
                    true => session.progress.shown(),
                    false => ShownProgress::default(),
                },
                memory: session.memory_use(),
                memory_max: session.memory_use_max(),
            });
        }
        if all {
            processes.extend(self.replication_processes());
            processes.extend(crate::event_scheduler_process::process(&self.services.server));
            processes.sort_by_key(|process| process.id);
        }
        processes
    }

    fn variables(&self, scope: Scope) -> Vec<(String, String)> {
        let mut list = vec![];
        for row in TABLE {
            let wanted = match scope {
                Scope::Global if row.scope == variables::Scope::SessionOnly => continue,
                Scope::Global => variables::Scope::Global,
                Scope::Session => variables::Scope::Both,
            };
            let value = self
                .services
                .show(self.session, row.variable, wanted)
                .unwrap_or_default();
            list.push((row.name.to_owned(), value));
        }
        list
    }

    fn system_variables(&self) -> Vec<Row> {
        let text = |value: Option<String>| value.map_or(Value::Null, Value::Text);
        let one = |row: &variables::Definition| {
            let global = (row.scope != variables::Scope::SessionOnly).then(|| {
                self.services
                    .show(self.session, row.variable, variables::Scope::Global)
                    .unwrap_or_default()
            });
            let session = (row.scope != variables::Scope::Global).then(|| {
                self.services
                    .show(self.session, row.variable, variables::Scope::Both)
                    .unwrap_or_default()
            });
            let (min, max) = match row.kind {
                Kind::Integer { min, max } => (Some(min.to_string()), Some(max.to_string())),
                Kind::Unsigned { min, max, .. } => (Some(min.to_string()), Some(max.to_string())),
                Kind::Double { min, max } => (Some(min.to_string()), Some(max.to_string())),
                _ => (None, None),
            };
            let description = row.description();
            let words = match row.kind {
                Kind::Enum(words) | Kind::Set(words) => Some(words.join(",")),
                Kind::Flags(words) => Some(format!("{},default", words.join(","))),
                Kind::SqlMode => Some(SqlMode::names().collect::<Vec<_>>().join(",")),
                Kind::Boolean => Some("OFF,ON".to_owned()),
                _ => None,
            };
            let default = row.default.map(str::to_owned).filter(|_| description.has_default);
            let origin = if global == default {
                "COMPILE-TIME"
            } else {
                "CONFIG"
            };
            vec![
                text(Some(row.name.to_uppercase())),
                text(session),
                text(global),
                text(Some(origin.to_owned())),
                text(default),
                text(Some(
                    match row.scope {
                        variables::Scope::Global => "GLOBAL",
                        variables::Scope::Both => "SESSION",
                        variables::Scope::SessionOnly => "SESSION ONLY",
                    }
                    .to_owned(),
                )),
                text(Some(description.type_name)),
                text(Some(String::new())),
                text(min),
                text(max),
                text(description.block),
                text(words),
                text(Some(
                    if row.access == Access::Fixed { "YES" } else { "NO" }.to_owned(),
                )),
                text(description.argument),
                Value::Null,
            ]
        };
        TABLE.iter().map(one).collect()
    }

    fn status(&self, scope: Scope) -> Vec<(String, String)> {
        status_variables(&self.services.sample(scope))
    }

    fn digests(&self) -> Vec<DigestSummary> {
        let server = &self.services.server;
        let sessions = server.sessions.all();
        server
            .digests
            .summaries(sessions.iter().map(|session| &session.digests))
    }

    fn file_statistics(&self) -> Option<Arc<FileStatistics>> {
        self.services.server.file_statistics.clone()
    }

    fn statement_events(&self, level: EventLevel) -> BTreeMap<EventOwner, KindSums> {
        let server = &self.services.server;
        let sessions = server.sessions.all();
        let owned = sessions.iter().map(|session| session.owned_events());
        server.statement_events.sums(level, owned)
    }

    fn user_statistics(&self, of: StatisticsOf) -> Vec<(String, TallyValues)> {
        let global = self.services.account().global;
        match global.has(Privilege::Process) || global.has(Privilege::Super) {
            true => self.services.server.user_statistics.values(of),
            false => vec![],
        }
    }

    fn is_instrumented(&self) -> bool {
        self.services.server.globals.is_on(Variable::PerformanceSchema)
    }

    fn may_select(&self, database: &str, table: &str) -> bool {
        let needed = PrivilegeSet::NONE.with(Privilege::Select);
        let authority = self.services.authority(self.session);
        authority.missing_on_table(needed, database, table).is_empty()
    }

    fn statement_history(&self, shown: ShownHistory) -> Vec<Arc<StatementEvent>> {
        let server = &self.services.server;
        let sessions = server.sessions.all();
        match shown {
            ShownHistory::Long => server.statement_history.long(),
            ShownHistory::OfSessions => sessions
                .iter()
                .flat_map(|session| session.history.statements())
                .collect(),
            ShownHistory::Current
                if !server
                    .statement_history
                    .consumers
                    .is_enabled(Consumer::StatementsCurrent) =>
            {
                Vec::new()
            }
            ShownHistory::Current => sessions
                .iter()
                .filter_map(|session| current_statement(session, &server.statement_history))
                .collect(),
        }
    }

    fn primaries(&self) -> Vec<PrimaryConnection> {
        let server = &self.services.server;
        let now = u64::try_from(now_micros() / 1_000_000).unwrap_or(0);
        let shown = |connection: Arc<Connection>| {
            let status = connection.status();
            let options = replication_options::options(server, &status.name);
            PrimaryConnection {
                retry_count: server.globals.number(Variable::MasterRetryCount),
                heartbeat_seconds: status
                    .definition
                    .heartbeat_period(options.net_timeout)
                    .as_secs_f64(),
                remaining_delay: status.remaining_delay(now),
                status,
            }
        };
        let connections = server.replicas().all().into_iter().map(shown);
        // A connection without a primary is not shown.
        connections
            .filter(|connection| !connection.status.definition.host.is_empty())
            .collect()
    }

    fn started_micros(&self) -> i64 {
        let elapsed = self.services.server.started.elapsed().as_micros();
        now_micros() - i64::try_from(elapsed).unwrap_or(i64::MAX)
    }

    fn consumes(&self, consumer: &str) -> bool {
        let consumers = &self.services.server.statement_history.consumers;
        Consumer::of_name(consumer).is_some_and(|consumer| consumers.is_enabled(consumer))
    }

    fn memory_usage(&self) -> Vec<MemoryPart> {
        memory_usage(&self.services.server)
    }

    fn metrics(&self) -> Vec<ShownStatistic> {
        shown(&self.services.sample(Scope::Global))
    }

    fn user_variables(&self) -> Vec<(String, UserVariable)> {
        let variables = self.session.user_variables.iter();
        let mut variables: Vec<_> = variables
            .map(|(name, variable)| (name.to_owned(), variable.clone()))
            .collect();
        variables.sort_by(|one, other| one.0.cmp(&other.0));
        variables
    }

    fn optimizer_trace(&self) -> Option<Vec<Value>> {
        let trace = self.services.optimizer_trace.lock();
        trace.as_ref().map(StatementTrace::row)
    }

    fn privileges(&self) -> Vec<GrantedPrivilege> {
        if self.services.server.accounts.are_skipped() {
            return vec![];
        }
        let own = self.services.account();
        let all = own.global.has(Privilege::Select) || own.global.has(Privilege::CreateUser);
        let accounts = self.services.server.accounts.load();
        let mut list = vec![];
        if own.user == CLUSTER_USER {
            // It is in no list of accounts.
            list.extend(PrivilegeRows::of(&own).rows);
        }
        for account in accounts.iter() {
            if !all && (account.user != own.user || account.host != own.host) {
                continue;
            }
            let grants = PrivilegeRows::of(account);
            list.extend(grants.rows);
        }
        list
    }

    fn time_zone(&self) -> TimeZone {
        self.session.settings.time_zone.clone()
    }

    fn functions(&self) -> Vec<String> {
        vec![]
    }

    fn transactions(&self) -> Vec<OpenTransaction> {
        let own = u64::from(self.services.shared.id);
        let mut transactions = open_transactions(&self.services.server);
        transactions.retain(|one| one.connection_id != own || !one.is_single_statement);
        transactions
    }

    fn metadata_locks(&self) -> Vec<(u64, paceline_txn::MetadataLock)> {
        let server = &self.services.server;
        let sessions = server.sessions.all();
        let connections: HashMap<u64, u64> = sessions
            .iter()
            .filter_map(|session| Some((session.locks.get()?.id(), u64::from(session.id))))
            .collect();
        let locks = server.transactions.metadata_locks().into_iter();
        // An owner without a session is an applier.
        locks
            .map(|lock| (connections.get(&lock.session_id).copied().unwrap_or(0), lock))
            .collect()
    }

    fn row_lock_waits(&self) -> Vec<paceline_txn::RowLockWait> {
        self.services.server.transactions.row_lock_waits()
    }

    fn catalog(&self) -> Arc<Catalog> {
        self.services.server.catalog.load()
    }

    fn column_privileges(&self, database: &str, table: &str) -> ColumnPrivileges {
        // A session may do anything with its temporary tables.
        if self.shown_temporary().is_some() {
            return ColumnPrivileges {
                of_all: shown_on_column(PrivilegeSet::everything()),
                of_some: Vec::new(),
            };
        }
        let authority = self.services.authority(self.session);
        let account = authority.account();
        let of_all = authority
            .privileges_in(database)
            .union(account.on_table(database, table).whole);
        let named = account.columns_with_privileges(database, table);
        let of_some = named.map(|(column, set)| (column.to_owned(), shown_on_column(of_all.union(set))));
        ColumnPrivileges {
            of_all: shown_on_column(of_all),
            of_some: of_some.collect(),
        }
    }

    fn applicable_roles(&self) -> Vec<ApplicableRole> {
        let accounts = self.services.server.accounts.load();
        let current = &self.session.current_user;
        let Some(own) = accounts.get(&current.user, &current.host) else {
            return vec![];
        };
        let mut shown = vec![];
        let mut expanded: Vec<&str> = vec![];
        // Grants that are not shown yet, in reverse order.
        let mut open: Vec<(&Account, &RoleGrant)> =
            own.roles.iter().rev().map(|grant| (own, grant)).collect();
        while let Some((holder, grant)) = open.pop() {
            shown.push(ApplicableRole {
                grantee: holder.shown(),
                role: grant.role.clone(),
                grantable: grant.admin,
                is_default: (!holder.is_role).then(|| grant.role == own.default_role),
            });
            if expanded.contains(&grant.role.as_str()) {
                continue;
            }
            expanded.push(&grant.role);
            if let Some(role) = accounts.role(&grant.role) {
                open.extend(role.roles.iter().rev().map(|grant| (role, grant)));
            }
        }
        shown
    }

    fn routine_access(&self, routine: &RoutineDescription) -> RoutineAccess {
        routine_access(self.services.authority(self.session), routine)
    }

    fn may_see_events(&self, database: &str) -> bool {
        may_see_events(self.services.authority(self.session), database)
    }

    fn last_executed(&self, event: &EventDefinition) -> Option<i64> {
        self.services.server.event_runs.last_executed(event)
    }

    fn may_see_triggers(&self, database: &str, table: &str) -> bool {
        may_see_triggers(self.services.authority(self.session), database, table)
    }

    fn enabled_roles(&self) -> Vec<String> {
        let accounts = self.services.server.accounts.load();
        let current = self.session.current_role.as_deref();
        let Some(role) = current.and_then(|name| accounts.role(name)) else {
            return vec![];
        };
        let all = std::iter::once(role).chain(accounts.roles_of(role));
        all.map(|role| role.user.clone()).collect()
    }
}

/// Returns the privileges on a column as COLUMNS shows them.
fn shown_on_column(set: PrivilegeSet) -> String {
    let set = set.intersection(PrivilegeSet::grantable_on_column());
    set.names().collect::<Vec<_>>().join(",").to_lowercase()
}

/// Rows of an account in the privilege tables of `information_schema`.
struct PrivilegeRows {
    grantee: String,
    rows: Vec<GrantedPrivilege>,
}

impl PrivilegeRows {
    fn of(account: &Account) -> Self {
        let mut all = PrivilegeRows {
            grantee: account.quoted(),
            rows: vec![],
        };
        // Roles are not users.
        if !account.is_role {
            all.add_or_usage(account.global, || GrantedObject::Global);
        }
        for (database, set) in &account.databases {
            all.add_or_usage(*set, || GrantedObject::Database(database.clone()));
        }
        for grant in account.tables.iter().filter(|grant| !grant.is_empty()) {
            let (database, table) = (&grant.database, &grant.table);
            if !grant.privileges.is_empty() {
                let of_table = || GrantedObject::Table(database.clone(), table.clone());
                all.add_or_usage(grant.privileges, of_table);
            }
            for (column, set) in &grant.columns {
                let grantable = grant.privileges.has(Privilege::GrantOption);
                let of_column = || GrantedObject::Column(database.clone(), table.clone(), column.clone());
                all.add(*set, grantable, of_column);
            }
        }
        all
    }

    fn add(&mut self, set: PrivilegeSet, grantable: bool, object: impl Fn() -> GrantedObject) {
        for name in set.names() {
            self.rows.push(GrantedPrivilege {
                grantee: self.grantee.clone(),
                object: object(),
                privilege: name.to_owned(),
                grantable,
            });
        }
    }

    /// Adds the privileges, or USAGE if there is none.
    fn add_or_usage(&mut self, set: PrivilegeSet, object: impl Fn() -> GrantedObject) {
        let grantable = set.has(Privilege::GrantOption);
        let before = self.rows.len();
        self.add(set, grantable, &object);
        if self.rows.len() == before {
            self.rows.push(GrantedPrivilege {
                grantee: self.grantee.clone(),
                object: object(),
                privilege: "USAGE".to_owned(),
                grantable,
            });
        }
    }
}
