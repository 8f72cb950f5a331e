//! Execution of SHOW.
//!
//! As in MariaDB, most of these statements are queries of `information_schema`: the statement becomes the text of a
//! SELECT that names the columns as SHOW does, and LIKE or WHERE is applied to it. The others are implemented directly.

use super::Session;
use super::plans::Run;
use super::query::{Execution, QueryOrigin};
use crate::accounts::show::{create_user, grants, identifier, select_all, text_literal};
use crate::output::Output;
use paceline_catalog::DatabaseDefinition;
use paceline_catalog::ddl::{IfNotExists, show_create_database, show_create_table, show_create_view};
use paceline_expression::session::{Level, Privilege, PrivilegeTarget, Privileges, VariableScope};
use paceline_syntax::ast::QueryBody;
use paceline_syntax::{Error, Result};
use paceline_syntax::{ParseOptions, Show, ShowFilter, ShowLimit, Statement, TableName};
use paceline_types::Value;
use paceline_types::error_code::*;

/// Query of a SHOW: the SELECT, and the column for LIKE.
struct ShowQuery {
    select: String,
    /// Column to which LIKE applies.
    like: String,
}

fn query(select: impl Into<String>, like: &str) -> ShowQuery {
    ShowQuery {
        select: select.into(),
        like: like.to_owned(),
    }
}

/// Compares a column with case.
fn exact(column: &str) -> String {
    format!("{column} COLLATE utf8mb3_bin")
}

/// Converts a filter's pattern to a condition on the underlying column, so that rows that do not match need not be
/// built. The filter itself is still applied to the result.
fn and_like(column: &str, filter: &ShowFilter) -> String {
    match filter {
        ShowFilter::Like(pattern) => format!(" AND {column} LIKE {}", text_literal(pattern)),
        ShowFilter::None | ShowFilter::Where(_) => String::new(),
    }
}

impl Session {
    /// Executes a SHOW.
    pub async fn show(&mut self, show: &Show, execution: Execution<'_>) -> Result<()> {
        match show {
            Show::Databases(filter) => {
                let name = match filter {
                    ShowFilter::Like(pattern) => format!("Database ({pattern})"),
                    _ => "Database".to_owned(),
                };
                let name = identifier(&name);
                let select =
                    format!("SELECT SCHEMA_NAME AS {name} FROM information_schema.SCHEMATA ORDER BY 1");
                self.show_query(query(select, &name), filter, execution).await
            }
            Show::Tables {
                full,
                database,
                filter,
            } => {
                let database = self.shown_database(database.as_deref())?;
                let name = match filter {
                    ShowFilter::Like(pattern) => format!("Tables_in_{database} ({pattern})"),
                    _ => format!("Tables_in_{database}"),
                };
                let name = identifier(&name);
                let kind = if *full { ", TABLE_TYPE AS `Table_type`" } else { "" };
                let select = format!(
                    "SELECT TABLE_NAME AS {name}{kind} FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}{} ORDER BY BINARY TABLE_NAME",
                    text_literal(&database),
                    and_like("TABLE_NAME", filter)
                );
                self.show_query(query(select, &exact(&name)), filter, execution)
                    .await
            }
            Show::TableStatus { database, filter } => {
                let database = self.shown_database(database.as_deref())?;
                let select = format!(
                    "SELECT TABLE_NAME AS `Name`, ENGINE AS `Engine`, VERSION AS `Version`, ROW_FORMAT AS `Row_format`, TABLE_ROWS AS `Rows`, \
                     AVG_ROW_LENGTH AS `Avg_row_length`, DATA_LENGTH AS `Data_length`, MAX_DATA_LENGTH AS `Max_data_length`, \
                     INDEX_LENGTH AS `Index_length`, DATA_FREE AS `Data_free`, AUTO_INCREMENT AS `Auto_increment`, \
                     CREATE_TIME AS `Create_time`, UPDATE_TIME AS `Update_time`, CHECK_TIME AS `Check_time`, TABLE_COLLATION AS `Collation`, \
                     CHECKSUM AS `Checksum`, CREATE_OPTIONS AS `Create_options`, TABLE_COMMENT AS `Comment`, \
                     MAX_INDEX_LENGTH AS `Max_index_length`, TEMPORARY AS `Temporary` \
                     FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}{} ORDER BY BINARY TABLE_NAME",
                    text_literal(&database),
                    and_like("TABLE_NAME", filter)
                );
                self.show_query(query(select, &exact("`Name`")), filter, execution)
                    .await
            }
            Show::OpenTables { filter, .. } => {
                let select = "SELECT TABLE_SCHEMA AS `Database`, TABLE_NAME AS `Table`, 0 AS `In_use`, 0 AS `Name_locked` \
                              FROM information_schema.TABLES WHERE 1 = 0";
                self.show_query(query(select, "`Table`"), filter, execution).await
            }
            Show::Columns { full, table, filter } => {
                let (database, name) = self.shown_table(table)?;
                if self.catalog().view(&database, &name).is_some() {
                    self.plan_of_table(&database, &name)?;
                }
                let (collation, rest) = match full {
                    true => (
                        "COLLATION_NAME AS `Collation`, ",
                        ", PRIVILEGES AS `Privileges`, COLUMN_COMMENT AS `Comment`",
                    ),
                    false => ("", ""),
                };
                // SHOW prints a default without the quotes that information_schema has.
                let select = format!(
                    "SELECT COLUMN_NAME AS `Field`, COLUMN_TYPE AS `Type`, {collation}IS_NULLABLE AS `Null`, COLUMN_KEY AS `Key`, \
                     IF(COLUMN_DEFAULT = 'NULL', NULL, IF(COLUMN_DEFAULT LIKE '''%', REPLACE(SUBSTRING(COLUMN_DEFAULT, 2, \
                     CHAR_LENGTH(COLUMN_DEFAULT) - 2), '''''', ''''), COLUMN_DEFAULT)) AS `Default`, EXTRA AS `Extra`{rest} \
                     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} ORDER BY ORDINAL_POSITION",
                    text_literal(&database),
                    text_literal(&name)
                );
                self.show_of_table((&database, &name), query(select, "`Field`"), filter, execution)
                    .await
            }
            Show::Index { table, filter } => {
                let (database, name) = self.shown_table(table)?;
                let select = format!(
                    "SELECT TABLE_NAME AS `Table`, NON_UNIQUE AS `Non_unique`, INDEX_NAME AS `Key_name`, SEQ_IN_INDEX AS `Seq_in_index`, \
                     COLUMN_NAME AS `Column_name`, COLLATION AS `Collation`, CARDINALITY AS `Cardinality`, SUB_PART AS `Sub_part`, \
                     PACKED AS `Packed`, NULLABLE AS `Null`, INDEX_TYPE AS `Index_type`, COMMENT AS `Comment`, \
                     INDEX_COMMENT AS `Index_comment`, IGNORED AS `Ignored` \
                     FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
                    text_literal(&database),
                    text_literal(&name)
                );
                self.show_of_table((&database, &name), query(select, "`Key_name`"), filter, execution)
                    .await
            }
            Show::Variables { scope, filter } => {
                self.show_pairs("VARIABLES", *scope, filter, execution).await
            }
            Show::Status { scope, filter } => self.show_pairs("STATUS", *scope, filter, execution).await,
            Show::Engines => {
                let select = "SELECT ENGINE AS `Engine`, SUPPORT AS `Support`, COMMENT AS `Comment`, TRANSACTIONS AS `Transactions`, \
                              XA AS `XA`, SAVEPOINTS AS `Savepoints` FROM information_schema.ENGINES";
                self.show_query(query(select, "`Engine`"), &ShowFilter::None, execution)
                    .await
            }
            Show::CharacterSets(filter) => {
                let select = "SELECT CHARACTER_SET_NAME AS `Charset`, DESCRIPTION AS `Description`, \
                              DEFAULT_COLLATE_NAME AS `Default collation`, MAXLEN AS `Maxlen` FROM information_schema.CHARACTER_SETS";
                self.show_query(query(select, "`Charset`"), filter, execution)
                    .await
            }
            Show::Collations(filter) => {
                let select = "SELECT COLLATION_NAME AS `Collation`, CHARACTER_SET_NAME AS `Charset`, ID AS `Id`, IS_DEFAULT AS `Default`, \
                              IS_COMPILED AS `Compiled`, SORTLEN AS `Sortlen` FROM information_schema.COLLATIONS";
                self.show_query(query(select, "`Collation`"), filter, execution)
                    .await
            }
            Show::ProcessList { full } => {
                let info = if *full { "INFO" } else { "LEFT(INFO, 100)" };
                let select = format!(
                    "SELECT ID AS `Id`, USER AS `User`, HOST AS `Host`, DB AS `db`, COMMAND AS `Command`, TIME AS `Time`, STATE AS `State`, \
                     {info} AS `Info`, PROGRESS AS `Progress` FROM information_schema.PROCESSLIST ORDER BY 1"
                );
                self.show_query(query(select, "`Id`"), &ShowFilter::None, execution)
                    .await
            }
            Show::Triggers { filter, .. } => {
                let select = "SELECT TRIGGER_NAME AS `Trigger`, EVENT_MANIPULATION AS `Event`, EVENT_OBJECT_TABLE AS `Table`, \
                              ACTION_STATEMENT AS `Statement`, ACTION_TIMING AS `Timing`, CREATED AS `Created`, SQL_MODE AS `sql_mode`, \
                              DEFINER AS `Definer`, CHARACTER_SET_CLIENT AS `character_set_client`, \
                              COLLATION_CONNECTION AS `collation_connection`, DATABASE_COLLATION AS `Database Collation` \
                              FROM information_schema.TRIGGERS";
                self.show_query(query(select, "`Table`"), filter, execution).await
            }
            Show::Events { filter, .. } => {
                let select = "SELECT EVENT_SCHEMA AS `Db`, EVENT_NAME AS `Name`, DEFINER AS `Definer`, TIME_ZONE AS `Time zone`, \
                              EVENT_TYPE AS `Type`, EXECUTE_AT AS `Execute at`, INTERVAL_VALUE AS `Interval value`, \
                              INTERVAL_FIELD AS `Interval field`, STARTS AS `Starts`, ENDS AS `Ends`, STATUS AS `Status`, \
                              ORIGINATOR AS `Originator`, CHARACTER_SET_CLIENT AS `character_set_client`, \
                              COLLATION_CONNECTION AS `collation_connection`, DATABASE_COLLATION AS `Database Collation` \
                              FROM information_schema.EVENTS";
                self.show_query(query(select, "`Name`"), filter, execution).await
            }
            Show::RoutineStatus { filter, .. } => {
                let select = "SELECT ROUTINE_SCHEMA AS `Db`, ROUTINE_NAME AS `Name`, ROUTINE_TYPE AS `Type`, DEFINER AS `Definer`, \
                              LAST_ALTERED AS `Modified`, CREATED AS `Created`, SECURITY_TYPE AS `Security_type`, \
                              ROUTINE_COMMENT AS `Comment`, CHARACTER_SET_CLIENT AS `character_set_client`, \
                              COLLATION_CONNECTION AS `collation_connection`, DATABASE_COLLATION AS `Database Collation` \
                              FROM information_schema.ROUTINES";
                self.show_query(query(select, "`Name`"), filter, execution).await
            }
            Show::Plugins => {
                let select = "SELECT PLUGIN_NAME AS `Name`, PLUGIN_STATUS AS `Status`, PLUGIN_TYPE AS `Type`, PLUGIN_LIBRARY AS `Library`, \
                              PLUGIN_LICENSE AS `License` FROM information_schema.PLUGINS";
                self.show_query(query(select, "`Name`"), &ShowFilter::None, execution)
                    .await
            }
            Show::Statistics(table) => {
                let select = format!(
                    "SELECT * FROM information_schema.{}",
                    identifier(&table.to_uppercase())
                );
                self.show_query(query(select, "1"), &ShowFilter::None, execution)
                    .await
            }
            Show::Warnings(limit) => self.show_conditions(*limit, execution, |_| true),
            Show::Errors(limit) => self.show_conditions(*limit, execution, |level| level == Level::Error),
            Show::CountWarnings => {
                let count = self.context.diagnostics.warning_count();
                self.show_count("@@session.warning_count", count, execution)
            }
            Show::CountErrors => {
                let count = self.context.diagnostics.error_count();
                self.show_count("@@session.error_count", count, execution)
            }
            Show::Grants(account) => {
                let account = self.shown_account(account.as_ref())?;
                let mut output = Output::new();
                output.text(&format!("Grants for {}@{}", account.user, account.host), 1024);
                for line in grants(&account) {
                    output.row(vec![Value::Text(line)]);
                }
                self.send(output, execution)
            }
            Show::CreateUser(account) => {
                let shown = self.shown_account(account.as_ref());
                let account = shown.map_err(|error| match error.code() {
                    ER_NONEXISTING_GRANT => Error::new(ER_PASSWORD_NO_MATCH, &[]),
                    _ => error,
                })?;
                let mut output = Output::new();
                output.text(
                    &format!("CREATE USER for {}@{}", account.user, account.host),
                    1024,
                );
                output.row(vec![Value::Text(create_user(&account))]);
                self.send(output, execution)
            }
            Show::Privileges => {
                let mut output = Output::new();
                output
                    .text("Privilege", 25)
                    .text("Context", 15)
                    .text("Comment", 50);
                for (privilege, name) in crate::accounts::privilege::ALL {
                    let databases = crate::accounts::PrivilegeSet::grantable_on_database().has(*privilege);
                    let context = if databases {
                        "Databases,Tables"
                    } else {
                        "Server Admin"
                    };
                    output.row(vec![
                        Value::Text((*name).into()),
                        Value::Text(context.into()),
                        Value::Text(String::new()),
                    ]);
                }
                self.send(output, execution)
            }
            Show::MasterStatus => self.show_master_status(execution),
            Show::BinaryLogs => self.show_binary_logs(execution),
            Show::BinlogEvents {
                relay_log: true,
                connection,
                ..
            } => self.show_relaylog_events(connection.as_deref(), execution),
            Show::BinlogEvents {
                file,
                position,
                limit,
                ..
            } => self.show_binlog_events(file.as_deref(), *position, *limit, execution),
            Show::SlaveStatus { connection, all } => {
                self.show_slave_status(connection.as_deref(), *all, execution)
            }
            Show::SlaveHosts => self.show_replica_hosts(execution),
            Show::CreateTable(table) => self.show_create_table(table, execution),
            Show::CreateDatabase { if_not_exists, name } => {
                self.show_create_database(name, *if_not_exists, execution)
            }
            Show::CreateOther { kind: "VIEW", name } => self.show_create_view(name, execution),
            Show::CreateOther { kind, name } => self.no_such_object(kind, name),
            Show::EngineStatus { engine, what } => {
                self.services.require_any(&[Privilege::Process])?;
                if !engine.eq_ignore_ascii_case("ALL") && !crate::information_schema::has_engine(engine) {
                    return Err(Error::new(ER_UNKNOWN_STORAGE_ENGINE, &[engine]));
                }
                let mut output = Output::new();
                output.text("Type", 10).text("Name", 512).text("Status", 65_535);
                // Its mutexes and its log have no data.
                let is_innodb = ["InnoDB", "ALL"]
                    .iter()
                    .any(|name| engine.eq_ignore_ascii_case(name));
                if is_innodb && what == "STATUS" {
                    let status =
                        crate::status_list::list(&self.services, crate::information_schema::Scope::Global);
                    let lines = status
                        .iter()
                        .filter(|(name, _)| name.starts_with("Paceline_") || name.starts_with("Innodb_"));
                    let text: String = lines.map(|(name, value)| format!("{name} {value}\n")).collect();
                    output.row(vec![
                        Value::Text("InnoDB".into()),
                        Value::Text(String::new()),
                        Value::Text(text),
                    ]);
                }
                self.send(output, execution)
            }
            Show::Profiles => self.show_nothing(&["Query_ID", "Duration", "Query"], execution),
            Show::Credits => self.show_nothing(&["Name", "Location", "Comment"], execution),
            Show::ExplainFor(_) => Err(Error::unsupported("SHOW EXPLAIN")),
        }
    }

    /// Runs the query of a SHOW on one table. The table may be temporary, and information_schema includes it only
    /// meanwhile.
    async fn show_of_table(
        &mut self,
        (database, name): (&str, &str),
        show: ShowQuery,
        filter: &ShowFilter,
        execution: Execution<'_>,
    ) -> Result<()> {
        *self.services.shown_temporary.lock() = self.temporary.catalog().table(database, name).cloned();
        let shown = self.show_query(show, filter, execution).await;
        *self.services.shown_temporary.lock() = None;
        shown
    }

    /// Runs the query of a SHOW with its filter.
    async fn show_query(
        &mut self,
        show: ShowQuery,
        filter: &ShowFilter,
        execution: Execution<'_>,
    ) -> Result<()> {
        let text = match filter {
            ShowFilter::None => show.select,
            ShowFilter::Like(pattern) => {
                format!(
                    "SELECT * FROM ({}) AS shown WHERE {} LIKE {}",
                    show.select,
                    show.like,
                    text_literal(pattern)
                )
            }
            ShowFilter::Where(_) => format!("SELECT * FROM ({}) AS shown WHERE 1", show.select),
        };
        let mut statement =
            paceline_syntax::parse_first(text.as_bytes(), &ParseOptions::default())?.statement;
        if let ShowFilter::Where(condition) = filter
            && let Statement::Query(query) = &mut statement
            && let QueryBody::Select(select) = &mut query.query.body
        {
            select.condition = Some((**condition).clone());
        }
        let execution = Execution {
            parameters: &[],
            asked_by: QueryOrigin::Server,
            ..execution
        };
        for _ in 0..10 {
            let plan = self.plan(&statement)?;
            if self.run_plan(&plan, execution, None).await? == Run::Done {
                return Ok(());
            }
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    async fn show_pairs(
        &mut self,
        what: &str,
        scope: VariableScope,
        filter: &ShowFilter,
        execution: Execution<'_>,
    ) -> Result<()> {
        let scope = match scope {
            VariableScope::Global => "GLOBAL",
            VariableScope::Session | VariableScope::Default => "SESSION",
        };
        let name = match what {
            // Names of variables are shown in lower case, those of status values in their own spelling.
            "VARIABLES" => "LOWER(VARIABLE_NAME)",
            _ => {
                "IF(VARIABLE_NAME LIKE 'WSREP%', LOWER(VARIABLE_NAME), \
                 CONCAT(UPPER(LEFT(VARIABLE_NAME, 1)), LOWER(SUBSTRING(VARIABLE_NAME, 2))))"
            }
        };
        let select = format!(
            "SELECT {name} AS `Variable_name`, VARIABLE_VALUE AS `Value` FROM information_schema.{scope}_{what} ORDER BY 1"
        );
        self.show_query(query(select, "`Variable_name`"), filter, execution)
            .await
    }

    /// Returns the database of a SHOW: the named one, or the current one.
    fn shown_database(&self, named: Option<&str>) -> Result<String> {
        let database = match (named, &self.context.database) {
            (Some(name), _) => name.to_owned(),
            (None, Some(current)) => current.clone(),
            (None, None) => return Err(Error::new(ER_NO_DB_ERROR, &[])),
        };
        if let Some(name) = crate::server::virtual_database(&database) {
            return Ok(name.to_owned());
        }
        if !self.services.can_see_database(&self.context, &database) {
            let user = &self.context.current_user.user;
            return Err(Error::new(
                ER_DBACCESS_DENIED_ERROR,
                &[user, &self.context.user.host, &database],
            ));
        }
        match self.find_database(&database) {
            Some(_) => Ok(database),
            None => Err(Error::new(ER_BAD_DB_ERROR, &[&database])),
        }
    }

    /// Checks that a table exists and is visible to the account. Returns its database and name.
    fn shown_table(&self, table: &TableName) -> Result<(String, String)> {
        let (database, name) = self.qualified(table)?;
        if let Some(virtual_name) = crate::server::virtual_database(&database)
            && crate::server::virtual_columns(virtual_name, &name).is_some()
        {
            let shown = if virtual_name == "information_schema" {
                name.to_uppercase()
            } else {
                name
            };
            return Ok((virtual_name.to_owned(), shown));
        }
        if self.temporary.catalog().table(&database, &name).is_some() {
            return Ok((database, name));
        }
        if !self.services.can_see_database(&self.context, &database) {
            self.services.check(
                &self.context,
                Privilege::Select,
                PrivilegeTarget::Table {
                    database: &database,
                    table: &name,
                },
            )?;
        }
        let on_demand = crate::server::virtual_columns(&database, &name).is_some();
        match self.server.catalog.load().table(&database, &name) {
            Some(_) => Ok((database, name)),
            None if self.catalog().view(&database, &name).is_some() => Ok((database, name)),
            None if on_demand => Ok((database, name)),
            None => Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &name])),
        }
    }

    fn shown_account(
        &self,
        named: Option<&paceline_syntax::AccountName>,
    ) -> Result<crate::accounts::Account> {
        self.server.accounts.must_count()?;
        let current = (
            self.context.current_user.user.as_str(),
            self.context.current_user.host.as_str(),
        );
        let accounts = self.server.accounts.load();
        let (user, host) = match named {
            None => (current.0.to_owned(), current.1.to_owned()),
            Some(name) => crate::accounts::statements::resolve(
                name,
                crate::accounts::statements::StatementContext {
                    accounts: &accounts,
                    current,
                    database: None,
                    missing_accounts: crate::accounts::statements::MissingAccounts::Refused,
                },
            )?,
        };
        if (user.as_str(), host.as_str()) != current {
            self.services.check(
                &self.context,
                Privilege::Select,
                PrivilegeTarget::Database("mysql"),
            )?;
        }
        accounts
            .get(&user, &host)
            .cloned()
            .ok_or_else(|| Error::new(ER_NONEXISTING_GRANT, &[&user, &host]))
    }

    fn show_conditions(
        &mut self,
        limit: ShowLimit,
        execution: Execution<'_>,
        wanted: impl Fn(Level) -> bool,
    ) -> Result<()> {
        let mut output = Output::new();
        output.text("Level", 7).number("Code").text("Message", 512);
        for condition in self
            .context
            .diagnostics
            .conditions()
            .iter()
            .filter(|condition| wanted(condition.level))
        {
            output.row(vec![
                Value::Text(condition.level.as_str().into()),
                Value::UInt(u64::from(condition.code.number())),
                Value::Text(condition.message.clone()),
            ]);
        }
        output.limit(limit.offset, limit.count);
        self.send(output, execution)
    }

    fn show_count(&mut self, name: &str, count: u64, execution: Execution<'_>) -> Result<()> {
        let mut output = Output::new();
        output.number(name);
        output.row(vec![Value::UInt(count)]);
        self.send(output, execution)
    }

    fn show_nothing(&mut self, columns: &[&str], execution: Execution<'_>) -> Result<()> {
        let mut output = Output::new();
        for column in columns {
            output.text(column, 64);
        }
        self.send(output, execution)
    }

    fn show_create_table(&mut self, table: &TableName, execution: Execution<'_>) -> Result<()> {
        let (database, name) = self.shown_table(table)?;
        let catalog = self.catalog();
        if catalog.view(&database, &name).is_some() {
            return self.show_create_view(table, execution);
        }
        let statement = match catalog.table(&database, &name) {
            Some(definition) => {
                let snapshot = self.server.transactions.snapshot();
                let start = definition.description().auto_increment_start;
                let next = match definition.auto_increment_column() {
                    Some(_) => definition
                        .auto_increment()
                        .next(start, || definition.auto_increment_highest(&snapshot))?,
                    None => 0,
                };
                show_create_table(definition, self.context.settings.sql_mode, next)
            }
            None => virtual_create_table(&database, &name),
        };
        let mut output = Output::new();
        output.text("Table", 64).text("Create Table", 65_535);
        output.row(vec![Value::Text(name), Value::Text(statement)]);
        self.send(output, execution)
    }

    fn show_create_view(&mut self, name: &TableName, execution: Execution<'_>) -> Result<()> {
        let (database, name) = self.shown_table(name)?;
        let catalog = self.catalog();
        let Some(view) = catalog.view(&database, &name) else {
            return Err(Error::new(ER_WRONG_OBJECT, &[&database, &name, &"VIEW"]));
        };
        for privilege in [Privilege::Select, Privilege::ShowView] {
            let target = PrivilegeTarget::Table {
                database: &database,
                table: &name,
            };
            self.services.check(&self.context, privilege, target)?;
        }
        if let Err(error) = self.plan_of_table(&database, &name) {
            self.context.diagnostics.warn(error.code(), error.message());
        }
        let statement = show_create_view(view, &catalog, self.context.database.as_deref())?;
        let mut output = Output::new();
        output
            .text("View", 64)
            .text("Create View", 65_535)
            .text("character_set_client", 32)
            .text("collation_connection", 64);
        output.row(vec![
            Value::Text(name),
            Value::Text(statement),
            Value::Text(view.character_set_client.clone()),
            Value::Text(view.collation_connection.clone()),
        ]);
        self.send(output, execution)
    }

    /// Plans a query for all rows of a table or view; 1356 for an invalid view.
    pub(super) fn plan_of_table(&self, database: &str, name: &str) -> Result<paceline_query::plan::Plan> {
        self.plan_text(&select_all(database, name))
    }

    fn show_create_database(
        &mut self,
        name: &str,
        if_not_exists: bool,
        execution: Execution<'_>,
    ) -> Result<()> {
        let name = self.shown_database(Some(name))?;
        let catalog = self.server.catalog.load();
        let definition = match catalog.database(&name) {
            Some(database) => database.definition().clone(),
            None => DatabaseDefinition {
                name: name.clone(),
                collation: paceline_types::Collation::Utf8mb3GeneralCi,
                comment: String::new(),
            },
        };
        let if_not_exists = if if_not_exists {
            IfNotExists::Shown
        } else {
            IfNotExists::Omitted
        };
        let statement = show_create_database(&definition, if_not_exists, self.context.settings.sql_mode);
        let mut output = Output::new();
        output.text("Database", 64).text("Create Database", 1024);
        output.row(vec![Value::Text(name), Value::Text(statement)]);
        self.send(output, execution)
    }

    /// Returns the error of SHOW CREATE for kinds of objects that do not exist here.
    fn no_such_object(&self, kind: &str, name: &TableName) -> Result<()> {
        let database = name
            .database
            .clone()
            .or_else(|| self.context.database.clone())
            .unwrap_or_default();
        Err(match kind {
            "SEQUENCE" => match self.catalog().table(&database, &name.name) {
                Some(_) => Error::new(ER_WRONG_OBJECT, &[&database, &name.name, &kind]),
                None => Error::new(ER_NO_SUCH_TABLE, &[&database, &name.name]),
            },
            "TRIGGER" => Error::new(ER_TRG_DOES_NOT_EXIST, &[]),
            "EVENT" => Error::new(ER_EVENT_DOES_NOT_EXIST, &[&name.name]),
            _ => Error::new(ER_SP_DOES_NOT_EXIST, &[&kind, &name.name]),
        })
    }
}

/// Returns SHOW CREATE TABLE of a virtual table.
fn virtual_create_table(database: &str, name: &str) -> String {
    let columns = crate::server::virtual_columns(database, name).unwrap_or_default();
    let lines: Vec<String> = columns
        .iter()
        .map(|column| {
            let null = if column.ty.nullable { "" } else { " NOT NULL" };
            format!("  {} {}{null}", identifier(&column.name), column.ty.data_type)
        })
        .collect();
    // `mariadb-dump` ignores the temporary tables of information_schema. It creates the others again if they are
    // missing, so their engine must accept LONGTEXT.
    let (kind, engine) = match database.eq_ignore_ascii_case("information_schema") {
        true => ("TEMPORARY TABLE", "MEMORY"),
        false => ("TABLE", "InnoDB"),
    };
    format!(
        "CREATE {kind} {} (\n{}\n) ENGINE={engine} DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci",
        identifier(name),
        lines.join(",\n")
    )
}
