//! Definition statements beside MariaDB 10.11: golden scripts (`testscripts/ddl`) of what `SHOW CREATE …` and `SHOW
//! WARNINGS` answer. A statement without either answers nothing; one with an error answers the error alone.

use std::fmt::Write;

use paceline_catalog::ddl::{DdlContext, IfNotExists, plan_ddl, show_create_database, show_create_table};
use paceline_catalog::{Catalog, TableEngine};
use paceline_expression::session::{KeepDiagnostics, Level, Services, SessionContext, SqlMode};
use paceline_golden_script::{Answers, Command, Context, Runner};
use paceline_syntax::{DdlStatement, ParseOptions, Show, Statement, TableName, parse_first};
use paceline_syntax::{Error, Result};
use paceline_types::Version;
use paceline_types::error_code::{ER_BAD_DB_ERROR, ER_NO_SUCH_TABLE, ER_NOT_SUPPORTED_YET};

struct Server {
    catalog: Catalog,
    session: SessionContext,
    offset: u64,
}

impl Server {
    fn new() -> Self {
        let mut server = Server {
            catalog: Catalog::new(),
            session: SessionContext::new(1, Services::default()),
            offset: 4,
        };
        assert_eq!(server.run("create database g"), "");
        server.session.database = Some("g".to_owned());
        server
    }

    /// Runs a statement and returns its result.
    fn run(&mut self, text: &str) -> String {
        self.session.begin_statement(KeepDiagnostics::No);
        // Compare only this statement's conditions. Earlier ones, which the server keeps for statements
        // without tables, are not compared.
        self.session
            .diagnostics
            .clear(self.session.settings.max_error_count);
        let mut out = String::new();
        if let Err(error) = self.execute(text, &mut out) {
            return format!("error {}: {}\n", error.code(), error.message());
        }
        for condition in self.session.diagnostics.conditions() {
            // An option that is stored but has no effect here. MariaDB adds no note.
            if condition.level == Level::Note && condition.code == ER_NOT_SUPPORTED_YET {
                continue;
            }
            let level = condition.level.as_str().to_lowercase();
            let _ = writeln!(out, "{level} {}: {}", condition.code, condition.message);
        }
        out
    }

    fn execute(&mut self, text: &str, out: &mut String) -> Result<()> {
        match parse_first(text.as_bytes(), &ParseOptions::default())?.statement {
            Statement::Ddl(statement) => self.define(&statement),
            Statement::Show(Show::CreateTable(TableName { database, name })) => {
                let database = database.unwrap_or_else(|| "g".to_owned());
                let table = self.catalog.table(&database, &name);
                let table = table.ok_or_else(|| Error::new(ER_NO_SUCH_TABLE, &[&database, &name]))?;
                let next = if table.auto_increment_column().is_some() {
                    table.auto_increment_start
                } else {
                    0
                };
                let _ = writeln!(out, "{}", show_create_table(table, SqlMode::DEFAULT, next));
                Ok(())
            }
            Statement::Show(Show::CreateDatabase { name, .. }) => {
                let database = self.catalog.database(&name);
                let database = database.ok_or_else(|| Error::new(ER_BAD_DB_ERROR, &[&name]))?;
                let text =
                    show_create_database(database.definition(), IfNotExists::Omitted, SqlMode::DEFAULT);
                let _ = writeln!(out, "{text}");
                Ok(())
            }
            other => panic!("not for this test: {other:?}"),
        }
    }

    fn define(&mut self, statement: &DdlStatement) -> Result<()> {
        let context = DdlContext {
            catalog: &self.catalog,
            session: &mut self.session,
            first_id: self.catalog.next_id(),
            default_engine: TableEngine::InnoDb,
            select_columns: None,
            data: None,
            temporary: None,
        };
        let plan = plan_ddl(context, statement)?;
        self.offset += 100;
        self.catalog = self
            .catalog
            .changed(&plan.changes, Version::new(1, self.offset))?;
        self.check_numbers();
        match plan.failure {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Checks that no two indexes have the same number.
    fn check_numbers(&self) {
        let mut numbers: Vec<u32> = self
            .catalog
            .tables()
            .flat_map(|table| table.indexes().iter().map(|index| index.id).chain(table.hidden))
            .map(|number| number & 0x7FFF_FFFF)
            .collect();
        let all = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), all, "a number was given out twice");
        let user = numbers.iter().filter(|number| **number >= 1024);
        assert!(user.max().is_none_or(|highest| *highest < self.catalog.next_id()));
    }
}

impl Runner for Server {
    type Command = Command;

    fn run(
        &mut self,
        command: &Command,
        _: &Context,
    ) -> std::result::Result<String, Box<dyn std::error::Error>> {
        Ok(Server::run(self, &command.name))
    }
}

#[test]
fn definitions_are_shown_as_by_mariadb() {
    let answers = paceline_golden_script::run_folder("testscripts/ddl", Answers::MariaDb, Server::new);
    assert!(answers > 200, "only {answers} answers were found");
}

#[test]
fn referencing_tables_are_known() {
    let mut server = Server::new();
    let referrers = |server: &Server, name: &str| {
        let found = server.catalog.referrers("g", name);
        found.map(|tables| {
            tables
                .iter()
                .map(|(_, table)| table.to_string())
                .collect::<Vec<_>>()
        })
    };
    server.run("create table p (id int primary key)");
    assert_eq!(referrers(&server, "p"), None);
    server
        .run("create table c (a int, foreign key (a) references p (id), foreign key (a) references p (id))");
    server.run("create table d (a int, foreign key (a) references p (id))");
    assert_eq!(
        referrers(&server, "p"),
        Some(vec!["c".to_owned(), "d".to_owned()])
    );
    assert_eq!(server.catalog.referring_keys("g", "p").len(), 3);
    // Other changes of a referencing table leave the set as it is.
    let held = server
        .catalog
        .referrers("g", "p")
        .cloned()
        .expect("there are two");
    server.run("alter table c add b int");
    assert!(server.catalog.referrers("g", "p").is_some_and(|now| *now == held));
    server.run("rename table p to q");
    assert_eq!(referrers(&server, "p"), None);
    assert_eq!(
        referrers(&server, "q"),
        Some(vec!["c".to_owned(), "d".to_owned()])
    );
    server.run("alter table c drop foreign key c_ibfk_1");
    server.run("drop table d");
    assert_eq!(referrers(&server, "q"), Some(vec!["c".to_owned()]));
    server.run("alter table c drop foreign key c_ibfk_2");
    assert_eq!(referrers(&server, "q"), None);
}

#[test]
fn a_record_without_foreign_keys_is_as_it_was() {
    let mut server = Server::new();
    server.run("create table t (a int primary key, b int, key (b))");
    let table = server
        .catalog
        .table("g", "t")
        .expect("it was made")
        .description()
        .clone();
    let text = serde_json::to_string(&table).unwrap();
    assert!(
        !text.contains("foreign_keys") && !text.contains("generated"),
        "{text}"
    );
}

#[test]
fn unsupported_features_get_1235() {
    let mut server = Server::new();
    for (statement, what) in [
        (
            "create table t (a decimal(5,2), b decimal(7,2), key (a), foreign key (b) references t(a))",
            "FOREIGN KEY between columns of different types",
        ),
        ("create temporary table t (a int)", "TEMPORARY tables here"),
        ("create table t (a text, fulltext (a))", "FULLTEXT indexes"),
        ("create table t (a int) partition by hash (a)", "PARTITION"),
        ("create table t (a point)", "the type GEOMETRY"),
    ] {
        let expected = format!("error 1235: This version of MariaDB doesn't yet support '{what}'\n");
        assert_eq!(server.run(statement), expected, "{statement}");
    }
}

#[test]
fn the_same_statement_gives_the_same_numbers() {
    let statement = "create table t (a int primary key, b int unique, key (b, a)) engine=memory";
    let ids = || {
        let mut server = Server::new();
        server.run(statement);
        let table = server.catalog.table("g", "t").expect("it was made").clone();
        table
            .indexes()
            .iter()
            .map(|index| index.id)
            .chain(table.hidden)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(), ids());
    assert!(
        ids().iter().all(|id| id & (1 << 31) != 0),
        "the memory engine has bit 31"
    );
}

#[test]
fn a_record_survives_json() {
    use paceline_catalog::TableDescription;
    let mut server = Server::new();
    server.run(
        "create table t (a int auto_increment primary key comment 'x', b enum('x','y') default 'y', c json, \
         d timestamp(3) default current_timestamp(3) on update current_timestamp(3), e varbinary(10) default 0xff00, \
         check (b <> 'z')) comment 'c' row_format=dynamic",
    );
    let table = server
        .catalog
        .table("g", "t")
        .expect("it was made")
        .description()
        .clone();
    let text = serde_json::to_string(&table).unwrap();
    assert_eq!(serde_json::from_str::<TableDescription>(&text).unwrap(), table);
}
