//! Names of the objects that a statement changes, for replication filters, which judge statements without
//! executing them.

use super::ast::{JoinedTables, TableFactor, TableName, single_table};
use super::definition::DdlStatement;
use super::statement::Statement;
use super::{ParseOptions, parse_first};

/// Objects that a statement changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatementObjects {
    /// The database, if the statement concerns a whole database.
    pub database: Option<String>,
    /// Tables, each with its database if one was written.
    pub tables: Vec<TableName>,
}

/// Returns the objects that a text's first statement changes. The result is empty for a text that cannot be
/// parsed and for a statement that changes no particular object.
pub fn statement_objects(text: &[u8], options: &ParseOptions) -> StatementObjects {
    let mut objects = StatementObjects::default();
    let Ok(parsed) = parse_first(text, options) else {
        return objects;
    };
    collect(&parsed.statement, &mut objects);
    objects
}

fn collect(statement: &Statement, objects: &mut StatementObjects) {
    match statement {
        Statement::Ddl(ddl) => match ddl {
            DdlStatement::CreateDatabase { name, .. } | DdlStatement::DropDatabase { name, .. } => {
                objects.database = Some(name.clone());
            }
            DdlStatement::AlterDatabase { name, .. } => objects.database.clone_from(name),
            DdlStatement::CreateTable(create) => objects.tables.push(create.name.clone()),
            DdlStatement::AlterTable(alter) => objects.tables.push(alter.table.clone()),
            DdlStatement::DropTables { tables, .. } => objects.tables.clone_from(tables),
            DdlStatement::TruncateTable(table) => objects.tables.push(table.clone()),
            DdlStatement::RenameTables { renames, .. } => {
                for (from, to) in renames {
                    objects.tables.extend([from.clone(), to.clone()]);
                }
            }
            DdlStatement::CreateSequence(create) => objects.tables.push(create.name.clone()),
            DdlStatement::AlterSequence(alter) => objects.tables.push(alter.name.clone()),
            DdlStatement::DropSequences { sequences, .. } => objects.tables.clone_from(sequences),
            DdlStatement::CreateView(view) => objects.tables.push(view.name.clone()),
            DdlStatement::DropViews { views, .. } => objects.tables.clone_from(views),
            // Filters judge routines and events by their database; no table is named.
            DdlStatement::CreateRoutine(routine) => objects.database.clone_from(&routine.name.database),
            DdlStatement::AlterRoutine { name, .. } | DdlStatement::DropRoutine { name, .. } => {
                objects.database.clone_from(&name.database);
            }
            DdlStatement::CreateLoadableFunction(_) => {}
            DdlStatement::CreateTrigger(trigger) => objects.tables.push(trigger.table.clone()),
            DdlStatement::DropTrigger { name, .. } => objects.database.clone_from(&name.database),
            DdlStatement::CreateEvent(event) => objects.database.clone_from(&event.name.database),
            DdlStatement::AlterEvent(event) => objects.database.clone_from(&event.name.database),
            DdlStatement::DropEvent { name, .. } => objects.database.clone_from(&name.database),
            DdlStatement::DropServer { .. } => {}
        },
        Statement::Insert(insert) => objects.tables.push(insert.table.clone()),
        Statement::Update(update) => collect_tables(&update.tables, &mut objects.tables),
        Statement::Delete(delete) => match delete.targets.is_empty() {
            true => objects
                .tables
                .extend(single_table(&delete.from).map(|(table, _)| table.clone())),
            false => objects.tables.clone_from(&delete.targets),
        },
        Statement::LoadData(load) => objects.tables.push(load.table.clone()),
        Statement::SetStatement { statement, .. } => collect(statement, objects),
        _ => {}
    }
}

fn collect_tables(from: &[JoinedTables], tables: &mut Vec<TableName>) {
    for factor in from.iter().flat_map(JoinedTables::factors) {
        if let TableFactor::Table { name, .. } = factor {
            tables.push(name.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> (Option<String>, Vec<String>) {
        let objects = statement_objects(text.as_bytes(), &ParseOptions::default());
        let tables = objects.tables.into_iter().map(|table| match table.database {
            Some(database) => format!("{database}.{}", table.name),
            None => table.name,
        });
        (objects.database, tables.collect())
    }

    #[test]
    fn changed_objects_are_found() {
        let tables = |list: &[&str]| {
            (
                None,
                list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(names("CREATE TABLE a.t (x INT)"), tables(&["a.t"]));
        assert_eq!(names("RENAME TABLE a TO b.c"), tables(&["a", "b.c"]));
        assert_eq!(names("DELETE FROM t WHERE x = 1"), tables(&["t"]));
        assert_eq!(
            names("UPDATE a JOIN b ON a.x = b.x SET a.y = 1"),
            tables(&["a", "b"])
        );
        assert_eq!(names("INSERT INTO d.t SELECT * FROM e.u"), tables(&["d.t"]));
        assert_eq!(
            names("LOAD DATA LOCAL INFILE '/x' REPLACE INTO TABLE d.`t` (@a, b) SET c = @a"),
            tables(&["d.t"])
        );
        assert_eq!(names("DROP DATABASE d"), (Some("d".into()), vec![]));
        assert_eq!(names("no statement"), tables(&[]));
    }
}
