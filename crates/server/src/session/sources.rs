//! Where the rows of `information_schema` come from, as one session may see them.

use super::services::SessionServices;
use crate::accounts::PrivilegeSet;
use crate::accounts::show::select_all;
use crate::information_schema::{
    self, GrantedPrivilege, Process, Row, Scope, Sources, TableSize, ViewColumn,
};
use crate::mysql_tables;
use crate::registry::now_micros;
use crate::server::virtual_columns;
use crate::variables::{self, Access, Kind, TABLE};
use paceline_sql::Result;
use paceline_sql::catalog::{
    Catalog, DatabaseDefinition, SYSTEM_DATABASE, TableDefinition, TableDescription, ViewDefinition,
};
use paceline_sql::parse::{ParseOptions, parse_first};
use paceline_sql::plan::{Plan, PlanContext, plan_statement};
use paceline_sql::session::{
    Privilege, PrivilegeTarget, Privileges, SessionContext, VirtualColumn, VirtualTables,
};
use paceline_types::Value;
use paceline_types::temporal::TimeZone;
use std::sync::Arc;

/// The sources for one session.
pub struct SessionSources<'a> {
    /// Its services.
    pub services: &'a SessionServices,
    /// What execution reads of it.
    pub session: &'a SessionContext,
}

impl VirtualTables for SessionServices {
    fn columns(&self, database: &str, table: &str) -> Option<Vec<VirtualColumn>> {
        virtual_columns(database, table).map(<[VirtualColumn]>::to_vec)
    }

    fn rows(&self, session: &SessionContext, database: &str, table: &str) -> Result<Vec<Vec<Value>>> {
        if database == mysql_tables::DATABASE {
            self.check(
                session,
                Privilege::Select,
                PrivilegeTarget::Table { database, table },
            )?;
            if table == "gtid_slave_pos" {
                return Ok(mysql_tables::gtid_slave_pos(
                    &self.server.transactions.replicated_position(),
                ));
            }
            return Ok(mysql_tables::rows(table, &self.server.accounts.load()));
        }
        let sources = SessionSources {
            services: self,
            session,
        };
        Ok(information_schema::rows(table, &sources).unwrap_or_default())
    }
}

impl SessionSources<'_> {
    fn may_see_all_sessions(&self) -> bool {
        self.services.account().global.has(Privilege::Process)
    }

    /// The receivers and appliers of connections to primaries.
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

impl SessionSources<'_> {
    /// Plans reading all of a view.
    fn plan_view(&self, view: &ViewDefinition, catalog: &Arc<Catalog>) -> Result<Plan> {
        let text = select_all(&view.database, &view.name);
        let statement = parse_first(text.as_bytes(), &ParseOptions::default())?.statement;
        plan_statement(
            &statement,
            &PlanContext {
                catalog,
                session: self.session,
                statistics: &self.services.server.statistics,
            },
        )
    }

    /// The temporary table that a SHOW statement is about.
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
        // `mysql` can be read by whoever names it, and is not listed: its tables are part of the program, and a dump of all databases
        // that had them could not be loaded.
        let visible = catalog
            .databases()
            .filter(|database| database.name() != SYSTEM_DATABASE && account.can_see(database.name()));
        visible.map(|database| database.definition().clone()).collect()
    }

    fn tables(&self, database: &str) -> Vec<Arc<TableDescription>> {
        if let Some(shown) = self.shown_temporary() {
            return vec![Arc::new(shown.description().clone())];
        }
        let catalog = self.services.server.catalog.load();
        match catalog.database(database) {
            Some(database) => database
                .tables()
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
            Some(database) => database.views().cloned().collect(),
            None => vec![],
        }
    }

    fn is_updatable(&self, view: &ViewDefinition) -> bool {
        paceline_sql::ddl::is_updatable(view, &self.services.server.catalog.load())
    }

    fn view_columns(&self, view: &ViewDefinition) -> Result<Vec<ViewColumn>> {
        let catalog = self.services.server.catalog.load();
        let plan = self.plan_view(view, &catalog)?;
        let columns = plan.columns().iter().map(|column| {
            let table = catalog.table(&column.database, &column.org_table);
            let origin = table.and_then(|table| Some(&table.columns()[table.column(&column.org_name)?]));
            ViewColumn {
                name: column.name.to_string(),
                data_type: column.data_type.clone(),
                nullable: !column.is_not_null(),
                default: match origin {
                    Some(column) => information_schema::column_default(column),
                    None => Some(information_schema::default_of_expression(column)),
                },
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
            let busy = activity.command != "Sleep" && activity.command != "Connect";
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
            });
        }
        if all {
            processes.extend(self.replication_processes());
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
            let global = (row.scope != variables::Scope::SessionOnly)
                .then(|| {
                    self.services
                        .show(self.session, row.variable, variables::Scope::Global)
                })
                .flatten();
            let session = (row.scope != variables::Scope::Global)
                .then(|| {
                    self.services
                        .show(self.session, row.variable, variables::Scope::Both)
                })
                .flatten();
            let (min, max, block) = match row.kind {
                Kind::Integer { min, max } => {
                    (Some(min.to_string()), Some(max.to_string()), Some("1".to_owned()))
                }
                Kind::Unsigned { min, max, block } => (
                    Some(min.to_string()),
                    Some(max.to_string()),
                    Some(block.to_string()),
                ),
                Kind::Double { min, max } => (Some(min.to_string()), Some(max.to_string()), None),
                _ => (None, None, None),
            };
            let words = match row.kind {
                Kind::Enum(words) | Kind::Set(words) | Kind::Flags(words) => Some(words.join(",")),
                Kind::Boolean => Some("OFF,ON".to_owned()),
                _ => None,
            };
            let default = row.default.map(str::to_owned);
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
                text(Some(row.type_name().to_owned())),
                text(Some(String::new())),
                text(min),
                text(max),
                text(block),
                text(words),
                text(Some(
                    if row.access == Access::Fixed { "YES" } else { "NO" }.to_owned(),
                )),
                text(Some(
                    if row.kind == Kind::Boolean {
                        "OPTIONAL"
                    } else {
                        "REQUIRED"
                    }
                    .to_owned(),
                )),
                Value::Null,
            ]
        };
        TABLE.iter().map(one).collect()
    }

    fn status(&self, scope: Scope) -> Vec<(String, String)> {
        crate::status_list::list(self.services, scope)
    }

    fn privileges(&self) -> Vec<GrantedPrivilege> {
        let own = self.services.account();
        let all = own.global.has(Privilege::Select) || own.global.has(Privilege::CreateUser);
        let accounts = self.services.server.accounts.load();
        let mut list = vec![];
        for account in accounts.iter() {
            if !all && (account.user != own.user || account.host != own.host) {
                continue;
            }
            let levels = std::iter::once((None, account.global)).chain(
                account
                    .databases
                    .iter()
                    .map(|(database, set)| (Some(database.clone()), *set)),
            );
            for (database, set) in levels {
                let names: Vec<&str> = set.names().collect();
                let names = if names.is_empty() { vec!["USAGE"] } else { names };
                for name in names {
                    list.push(GrantedPrivilege {
                        grantee: account.quoted(),
                        database: database.clone(),
                        privilege: name.to_owned(),
                        grantable: set.has(Privilege::GrantOption),
                    });
                }
            }
        }
        list
    }

    fn time_zone(&self) -> TimeZone {
        self.session.settings.time_zone.clone()
    }

    fn functions(&self) -> Vec<String> {
        vec![]
    }

    fn column_privileges(&self, database: &str) -> String {
        let account = self.services.account();
        let set: PrivilegeSet = account.privileges_in(database);
        let named = [
            (Privilege::Select, "select"),
            (Privilege::Insert, "insert"),
            (Privilege::Update, "update"),
            (Privilege::References, "references"),
        ];
        let held = named
            .iter()
            .filter(|(privilege, _)| set.has(*privilege))
            .map(|(_, name)| *name);
        held.collect::<Vec<_>>().join(",")
    }
}
