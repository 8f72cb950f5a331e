//! The primary's schema: what is copied, and what prevents a copy.

use super::arguments::{Kind, Options};
use super::error::{Error, Result, is_error, read_error_text};
use super::programs::StoredProgram;
use super::target::Session;
use crate::connection::{Connection, Row, quoted_identifier};
use paceline_log_stream::source::filter::Filters;
use paceline_server::options::StartOptions;
use paceline_server::replica_filters::ReplicaFilters;
use paceline_types::error_code::ER_TABLEACCESS_DENIED_ERROR;
use paceline_wire::WireError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Databases of the server itself.
pub const SYSTEM: &str = "('mysql', 'information_schema', 'performance_schema', 'sys')";

/// Objects selected for the copy.
pub struct CopySelection {
    filters: Arc<Filters>,
    leave_out: Vec<Kind>,
}

impl CopySelection {
    /// Selects by the command line: everything that the server's filters accept and that is not left out.
    pub fn new(server: &StartOptions, options: &Options) -> CopySelection {
        CopySelection {
            filters: ReplicaFilters::default().of("", &server.globals),
            leave_out: options.leave_out.clone(),
        }
    }

    /// Returns whether everything is selected.
    pub fn is_everything(&self) -> bool {
        self.filters.is_empty() && self.leave_out.is_empty()
    }

    fn wants_table(&self, database: &str, table: &str) -> bool {
        self.filters.wants_rows(self.filters.rewrite(database), table)
    }

    fn leaves_out(&self, kind: Kind) -> bool {
        self.leave_out.contains(&kind)
    }
}

struct Database {
    name: String,
    create: String,
}

/// A view that is created here too.
struct View {
    database: String,
    name: String,
    create: String,
    collation_connection: String,
}

/// A table to be copied.
pub struct Table {
    pub database: String,
    pub name: String,
    /// Database of the table here (`replicate_rewrite_db`).
    pub database_here: String,
    create: String,
    /// CREATE_TIME in seconds. `None` for a Paceline, which itself refuses to read a table that was redefined after the
    /// snapshot.
    pub defined: Option<u64>,
    /// Columns with stored values: all but the virtual ones.
    pub columns: Vec<Column>,
    /// First column of the primary key, if it is an integer.
    pub leading_key: Option<String>,
    /// Approximate number of rows.
    pub rows: u64,
    /// Approximate size in bytes.
    pub bytes: u64,
}

/// A column to be copied.
pub struct Column {
    pub name: String,
    pub transfer: Transfer,
    is_integer: bool,
}

/// Form in which a column's values are transferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// As text or bytes.
    Text,
    /// As the double with exactly the same value: FLOAT, whose own text has only six digits.
    Double,
    /// As a number: BIT.
    Number,
}

/// Schema of the primary.
pub struct Schema {
    databases: Vec<Database>,
    tables: Vec<Table>,
    views: Vec<View>,
    programs: Vec<StoredProgram>,
    /// Other objects, and tables that cannot be copied: the kind if it can be left out, and a line for users.
    others: Vec<(Option<Kind>, String)>,
}

impl Schema {
    /// Reads the schema, while DDL is blocked.
    pub async fn read(session: &mut Connection, selection: &CopySelection) -> Result<Schema> {
        let mut schema = Schema {
            databases: vec![],
            tables: vec![],
            views: vec![],
            programs: vec![],
            others: vec![],
        };
        schema.read_tables(session, selection).await?;
        schema.read_programs(session, selection).await?;
        schema.read_databases(session, selection).await?;
        Ok(schema)
    }

    async fn read_tables(&mut self, session: &mut Connection, selection: &CopySelection) -> Result<()> {
        let mut columns = Self::columns(session).await?;
        let mut leading_keys = Self::leading_keys(session).await?;
        let listed = session
            .rows(&format!(
                "SELECT t.table_schema, t.table_name, t.table_type, t.engine, e.transactions, t.table_rows, t.data_length, \
                 UNIX_TIMESTAMP(t.create_time) FROM information_schema.tables t LEFT JOIN information_schema.engines e ON e.engine = t.engine \
                 WHERE t.table_schema NOT IN {SYSTEM} ORDER BY 1, 2"
            ))
            .await?;
        for row in listed {
            let mut next = texts(row);
            let (database, name, kind, engine, transactions) = (next(), next(), next(), next(), next());
            let (rows, bytes) = (next().parse().unwrap_or(0), next().parse().unwrap_or(0));
            let defined = next().parse().ok();
            let shown = format!("{database}.{name}");
            match kind.as_str() {
                "VIEW" if selection.leaves_out(Kind::Views) => {
                    self.others.push((Some(Kind::Views), format!("view {shown}")));
                    continue;
                }
                _ if !selection.wants_table(&database, &name) => continue,
                "VIEW" => {
                    self.read_view(session, selection, database, name).await?;
                    continue;
                }
                "BASE TABLE" => {}
                other => {
                    let line = format!("{} {shown}", other.to_lowercase());
                    self.others.push((None, line));
                    continue;
                }
            }
            if transactions != "YES" {
                let line = format!(
                    "table {shown}: engine {engine} has no transactions and so no snapshots; run ALTER TABLE … ENGINE=InnoDB there"
                );
                self.others.push((None, line));
                continue;
            }
            let answered = show_create(session, "TABLE", &database, &name).await;
            let mut answer = answered.map_err(|error| Error::Table {
                table: shown,
                problem: read_error_text(&error),
            })?;
            let key = (database.clone(), name.clone());
            let columns = columns.remove(&key).unwrap_or_default();
            let is_integer = |leading: &String| {
                columns
                    .iter()
                    .any(|column| column.name == *leading && column.is_integer)
            };
            self.tables.push(Table {
                leading_key: leading_keys.remove(&key).filter(is_integer),
                columns,
                database_here: selection.filters.rewrite(&database).to_owned(),
                create: answer.nth(1).unwrap_or_default(),
                defined,
                rows,
                bytes,
                database,
                name,
            });
        }
        Ok(())
    }

    async fn read_view(
        &mut self,
        session: &mut Connection,
        selection: &CopySelection,
        database: String,
        name: String,
    ) -> Result<()> {
        if !selection.filters.rewrites.is_empty() {
            let line = format!("view {database}.{name}: it names its database, which may be renamed here");
            self.others.push((Some(Kind::Views), line));
            return Ok(());
        }
        let mut answer = match show_create(session, "VIEW", &database, &name).await {
            Ok(answer) => answer,
            Err(error) if is_error(&error, ER_TABLEACCESS_DENIED_ERROR) => {
                let line = format!("view {database}.{name}: the user lacks the privilege SHOW VIEW");
                self.others.push((Some(Kind::Views), line));
                return Ok(());
            }
            Err(error) => {
                return Err(Error::Table {
                    table: format!("{database}.{name}"),
                    problem: read_error_text(&error),
                });
            }
        };
        // View, Create View, character_set_client, collation_connection
        let (create, collation_connection) = (answer.nth(1), answer.nth(1));
        self.views.push(View {
            database,
            name,
            create: create.unwrap_or_default(),
            collation_connection: collation_connection.unwrap_or_default(),
        });
        Ok(())
    }

    /// Returns the columns of all tables, except virtual ones. A stored generated value was computed in the time zone
    /// of the session that wrote the row, so it is copied.
    async fn columns(session: &mut Connection) -> Result<BTreeMap<(String, String), Vec<Column>>> {
        let listed = session
            .rows(&format!(
                "SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns WHERE (is_generated = 'NEVER' \
                 OR extra LIKE '%STORED GENERATED%') AND table_schema NOT IN {SYSTEM} ORDER BY table_schema, table_name, ordinal_position"
            ))
            .await?;
        let mut columns: BTreeMap<_, Vec<Column>> = BTreeMap::new();
        for row in listed {
            let mut next = texts(row);
            let (database, table, name, data_type) = (next(), next(), next(), next());
            let transfer = match data_type.as_str() {
                "float" => Transfer::Double,
                "bit" => Transfer::Number,
                _ => Transfer::Text,
            };
            columns.entry((database, table)).or_default().push(Column {
                name,
                transfer,
                is_integer: data_type.ends_with("int"),
            });
        }
        Ok(columns)
    }

    /// Returns the first columns of all primary keys.
    async fn leading_keys(session: &mut Connection) -> Result<BTreeMap<(String, String), String>> {
        let listed = session
            .rows(&format!(
                "SELECT table_schema, table_name, column_name FROM information_schema.statistics WHERE index_name = 'PRIMARY' AND \
                 seq_in_index = 1 AND table_schema NOT IN {SYSTEM}"
            ))
            .await?;
        let keyed = listed.into_iter().map(|row| {
            let mut next = texts(row);
            ((next(), next()), next())
        });
        Ok(keyed.collect())
    }

    /// Reads the databases that contain selected tables or views, and the selected empty ones.
    async fn read_databases(&mut self, session: &mut Connection, selection: &CopySelection) -> Result<()> {
        let listed = session
            .rows(&format!(
                "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN {SYSTEM}"
            ))
            .await?;
        for name in listed.into_iter().flatten().flatten() {
            let has_tables = self.tables.iter().any(|table| table.database == name)
                || self.views.iter().any(|view| view.database == name)
                || self.programs.iter().any(|program| program.database == name);
            if !has_tables && !selection.filters.wants_database(selection.filters.rewrite(&name)) {
                continue;
            }
            let shown_by = format!("SHOW CREATE DATABASE {}", quoted_identifier(&name));
            let create = session
                .row(&shown_by)
                .await?
                .into_iter()
                .nth(1)
                .unwrap_or_default();
            self.databases.push(Database { name, create });
        }
        Ok(())
    }

    /// Reads the stored programs that belong to the copied databases and tables.
    async fn read_programs(&mut self, session: &mut Connection, selection: &CopySelection) -> Result<()> {
        for mut program in StoredProgram::list(session, SYSTEM).await? {
            let database = selection.filters.rewrite(&program.database);
            let wanted = match &program.table {
                Some(table) => selection.wants_table(&program.database, table),
                None => selection.filters.wants_database(database),
            };
            let problem = if !wanted {
                continue;
            } else if selection.leaves_out(program.kind) {
                program.line()
            } else if !selection.filters.rewrites.is_empty() {
                format!(
                    "{}: it may name databases, which may be renamed here",
                    program.line()
                )
            } else {
                match program.read(session).await? {
                    Ok(()) => {
                        self.programs.push(program);
                        continue;
                    }
                    Err(problem) => problem,
                }
            };
            self.others.push((Some(program.kind), problem));
        }
        Ok(())
    }

    /// Returns the time of the latest table definition, in seconds.
    pub fn last_defined(&self) -> Option<u64> {
        self.tables.iter().filter_map(|table| table.defined).max()
    }

    /// Returns the statements that create the schema, without what inserts change in them (AUTO_INCREMENT).
    pub fn definitions(&self) -> Vec<String> {
        let databases = self.databases.iter().map(|database| database.create.clone());
        let tables = self.tables.iter().map(|table| {
            let create = without_auto_increment(&table.create);
            format!("{}: {create}", table.database)
        });
        let others = self.others.iter().map(|(_, line)| line.clone());
        let views = self.views.iter().map(|view| view.create.clone());
        let programs = self.programs.iter().map(|program| program.create.clone());
        databases
            .chain(tables)
            .chain(views)
            .chain(programs)
            .chain(others)
            .collect()
    }

    /// Returns problems that are visible without creating anything, as texts for users.
    pub fn problems(&self, selection: &CopySelection) -> Vec<String> {
        let mut problems = vec![];
        for (kind, line) in &self.others {
            match kind {
                Some(kind) if selection.leaves_out(*kind) => {}
                Some(kind) => problems.push(format!("{line}{}", hint(*kind))),
                None => problems.push(line.clone()),
            }
        }
        for table in &self.tables {
            for key in foreign_keys(&table.create) {
                let line = format!(
                    "foreign key {} of table {}.{}",
                    key.name, table.database, table.name
                );
                if !key.has_action && selection.leaves_out(Kind::ForeignKeys) {
                    continue;
                }
                if key.names_database && !selection.filters.rewrites.is_empty() {
                    problems.push(format!(
                        "{line}: it names the database of the other table, which may be renamed here"
                    ));
                }
            }
        }
        problems
    }

    /// Creates databases, tables, views, routines and events, and tries triggers. If the server refuses one, that is a
    /// problem, and the others are still tried.
    pub async fn create(&self, session: &mut Session, selection: &CopySelection) -> Result<Vec<String>> {
        let mut problems = vec![];
        for database in &self.databases {
            let name = selection.filters.rewrite(&database.name);
            let create = match name == database.name {
                true => database.create.clone(),
                false => {
                    database
                        .create
                        .replacen(&quoted_identifier(&database.name), &quoted_identifier(name), 1)
                }
            };
            if let Err(error) = session.0.query(&create).await {
                problems.push(format!("database {}: {error}", database.name));
            }
        }
        for table in &self.tables {
            let create = match selection.leaves_out(Kind::ForeignKeys) {
                true => without_foreign_keys(&table.create),
                false => table.create.clone(),
            };
            let used = session
                .0
                .query(&format!("USE {}", quoted_identifier(&table.database_here)))
                .await;
            let made = match used {
                Ok(_) => session.0.query(&create).await,
                Err(error) => Err(error),
            };
            if let Err(error) = made {
                problems.push(format!("table {}.{}: {error}", table.database, table.name));
            }
        }
        self.create_programs(session, Kind::Routines, &mut problems).await;
        self.create_views(session, &mut problems).await?;
        let before = problems.len();
        self.create_programs(session, Kind::Triggers, &mut problems).await;
        if problems.len() == before {
            for trigger in self.of_kind(Kind::Triggers) {
                trigger.drop_trigger(session).await?;
            }
        }
        self.create_programs(session, Kind::Events, &mut problems).await;
        Ok(problems)
    }

    /// Creates the triggers again, when the rows are there.
    pub async fn create_triggers(&self, session: &mut Session) -> Result<Vec<String>> {
        let mut problems = vec![];
        self.create_programs(session, Kind::Triggers, &mut problems).await;
        Ok(problems)
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &StoredProgram> {
        self.programs.iter().filter(move |program| program.kind == kind)
    }

    async fn create_programs(&self, session: &mut Session, kind: Kind, problems: &mut Vec<String>) {
        for program in self.of_kind(kind) {
            if let Err(error) = program.create(session).await {
                problems.push(format!("{}: {error}{}", program.line(), hint(kind)));
            }
        }
    }

    /// Creates the views. A view may read another one: those that fail are retried as long as some succeed.
    async fn create_views(&self, session: &mut Session, problems: &mut Vec<String>) -> Result<()> {
        let mut left: Vec<&View> = self.views.iter().collect();
        while !left.is_empty() {
            let mut failed = vec![];
            for view in &left {
                let settings = format!("SET collation_connection = '{}'", view.collation_connection);
                let made = match session.0.query(&settings).await {
                    Ok(_) => session.0.query(&view.create).await,
                    Err(error) => Err(error),
                };
                if let Err(error) = made {
                    failed.push((*view, error));
                }
            }
            if failed.len() == left.len() {
                for (view, error) in failed {
                    let line = format!("view {}.{}: {error}", view.database, view.name);
                    problems.push(line + hint(Kind::Views));
                }
                break;
            }
            left = failed.into_iter().map(|(view, _)| view).collect();
        }
        Ok(())
    }

    /// Takes the tables out of the schema.
    pub fn take_tables(&mut self) -> Vec<Table> {
        std::mem::take(&mut self.tables)
    }
}

/// Returns the fields of SHOW CREATE for a table or a view.
async fn show_create(
    session: &mut Connection,
    kind: &str,
    database: &str,
    name: &str,
) -> std::result::Result<impl Iterator<Item = String> + use<>, WireError> {
    let question = format!(
        "SHOW CREATE {kind} {}.{}",
        quoted_identifier(database),
        quoted_identifier(name)
    );
    let rows = session.client.rows(&question).await?;
    Ok(rows.into_iter().flatten().map(Option::unwrap_or_default))
}

fn without_auto_increment(create: &str) -> String {
    match create.rsplit_once(" AUTO_INCREMENT=") {
        Some((head, rest)) if head.contains("\n)") => {
            format!(
                "{head}{}",
                rest.trim_start_matches(|character: char| character.is_ascii_digit())
            )
        }
        _ => create.to_owned(),
    }
}

/// Returns a function that returns the values of a row one after the other, NULL as the empty string.
fn texts(row: Row) -> impl FnMut() -> String {
    let mut values = row.into_iter();
    move || values.next().flatten().unwrap_or_default()
}

/// Returns the option that avoids a problem.
fn hint(kind: Kind) -> &'static str {
    match kind {
        Kind::Views => " (--leave-out=views)",
        Kind::Triggers => " (--leave-out=triggers)",
        Kind::Routines => " (--leave-out=routines)",
        Kind::Events => " (--leave-out=events)",
        Kind::ForeignKeys => " (--leave-out=foreign-keys)", // Only those without actions.
    }
}

/// A foreign key in the output of SHOW CREATE TABLE.
struct ForeignKey<'a> {
    name: &'a str,
    has_action: bool,
    /// True if the referenced table is in another database.
    names_database: bool,
}

impl<'a> ForeignKey<'a> {
    /// Parses a line. SHOW CREATE TABLE prints each definition on a line of its own.
    fn of(line: &'a str) -> Option<Self> {
        if !is_foreign_key(line) {
            return None;
        }
        let rest = line.trim_start().strip_prefix("CONSTRAINT ")?;
        let (name, rest) = rest.split_once(" FOREIGN KEY ")?;
        let (_, referenced) = rest.split_once(" REFERENCES ")?;
        let does = |action: &str| {
            line.contains(&format!(" ON DELETE {action}")) || line.contains(&format!(" ON UPDATE {action}"))
        };
        Some(ForeignKey {
            name,
            has_action: does("CASCADE") || does("SET NULL"),
            names_database: referenced.split(" (").next()?.contains("`.`"),
        })
    }
}

fn is_foreign_key(line: &str) -> bool {
    line.trim_start().starts_with("CONSTRAINT `") && line.contains("` FOREIGN KEY (`")
}

fn foreign_keys(create: &str) -> Vec<ForeignKey<'_>> {
    create.lines().filter_map(ForeignKey::of).collect()
}

/// Removes the foreign keys without actions. Those with actions are needed, because a MariaDB does not log what an
/// action changes.
fn without_foreign_keys(create: &str) -> String {
    let mut lines: Vec<String> = vec![];
    for line in create.lines() {
        if ForeignKey::of(line).is_some_and(|key| !key.has_action) {
            continue;
        }
        // The definition before this one is now the last.
        if line.starts_with(')')
            && let Some(last) = lines.last_mut()
            && last.ends_with(',')
        {
            last.pop();
        }
        lines.push(line.to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATE: &str = "CREATE TABLE `item` (\n  `id` int(11) NOT NULL,\n  `shop` int(11) DEFAULT NULL,\n  KEY `shop` (`shop`),\n  \
                          CONSTRAINT `c` CHECK (`id` > 0),\n  CONSTRAINT `k` FOREIGN KEY (`shop`) REFERENCES `shop` (`id`),\n  CONSTRAINT \
                          `l` FOREIGN KEY (`shop`) REFERENCES `a`.`shop` (`id`) ON DELETE CASCADE\n) ENGINE=InnoDB";

    #[test]
    fn foreign_keys_without_actions_are_removed_from_create_table() {
        let keys: Vec<_> = foreign_keys(CREATE)
            .into_iter()
            .map(|key| (key.name, key.has_action, key.names_database))
            .collect();
        assert_eq!(keys, [("`k`", false, false), ("`l`", true, true)]);
        let without = without_foreign_keys(CREATE);
        assert!(
            without.ends_with("CHECK (`id` > 0),\n  CONSTRAINT `l` FOREIGN KEY (`shop`) REFERENCES `a`.`shop` (`id`) ON DELETE CASCADE\n) ENGINE=InnoDB"),
            "{without}"
        );
        assert_eq!(without_foreign_keys(&without), without);
        let plain = CREATE.replace(" ON DELETE CASCADE", "");
        assert!(without_foreign_keys(&plain).ends_with("CHECK (`id` > 0)\n) ENGINE=InnoDB"));
    }

    #[test]
    fn the_auto_increment_value_is_removed_from_create_table() {
        let create = "CREATE TABLE `t` (\n  `a` int COMMENT ' AUTO_INCREMENT=5'\n) ENGINE=InnoDB";
        assert_eq!(without_auto_increment(create), create);
        let counted = format!("{create} AUTO_INCREMENT=1234 DEFAULT CHARSET=utf8mb4");
        assert_eq!(
            without_auto_increment(&counted),
            format!("{create} DEFAULT CHARSET=utf8mb4")
        );
    }
}
