//! Tables with `ENGINE=TREE` in SQL, beside tables of InnoDB.

use std::sync::Once;

use outside_engine::TreeType;
use paceline_embedded::{
    ChangeRef, Database, IsolationLevel, Options, Session, TransactionOptions, Value, register_engine,
};

static REGISTERED: Once = Once::new();

fn open(directory: &tempfile::TempDir) -> Database {
    REGISTERED.call_once(|| register_engine(3, &TreeType).unwrap());
    Database::open(directory.path(), Options::new().argument("--initialize-insecure")).unwrap()
}

/// Opens a new database with these tables.
fn database(tables: &[&str]) -> (tempfile::TempDir, Database) {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    let mut session = database.session().unwrap();
    session.execute("CREATE DATABASE d", ()).unwrap();
    for table in tables {
        session.execute(table, ()).unwrap();
    }
    (directory, database)
}

/// Returns the rows as text, columns separated by spaces.
fn rows(session: &mut Session, query: &str) -> Vec<String> {
    let found = session.query(query, ()).unwrap();
    let shown = |row: &Vec<Value>| {
        let cells: Vec<String> = row.iter().map(cell).collect();
        cells.join(" ")
    };
    found.rows.iter().map(shown).collect()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::Text(text) => text.to_string(),
        Value::Null => "NULL".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Returns the number of a statement's error.
fn error(session: &mut Session, statement: &str) -> u16 {
    session.execute(statement, ()).unwrap_err().number().unwrap()
}

#[test]
fn rows_are_found_by_every_index() {
    let (_directory, database) = database(&[
        "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(20), c TEXT, UNIQUE (b), KEY (a)) ENGINE=TREE",
        "CREATE TABLE d.plain (a INT, b INT) ENGINE=tree",
    ]);
    let mut session = database.session().unwrap();
    let insert =
        "INSERT INTO d.t (a, b, c) VALUES (1, 'one', REPEAT('x', 5000)), (2, 'two', 'y'), (2, 'zwei', NULL)";
    session.execute(insert, ()).unwrap();
    assert_eq!(error(&mut session, "INSERT INTO d.t (b) VALUES ('one')"), 1062);
    assert_eq!(
        rows(&mut session, "SELECT id, a FROM d.t WHERE b = 'two'"),
        ["2 2"]
    );
    assert_eq!(
        rows(&mut session, "SELECT b FROM d.t WHERE a = 2 ORDER BY id DESC"),
        ["zwei", "two"]
    );
    session
        .execute("UPDATE d.t SET a = 9 WHERE b = 'two'", ())
        .unwrap();
    session.execute("DELETE FROM d.t WHERE id = 1", ()).unwrap();
    assert_eq!(
        rows(
            &mut session,
            "SELECT id, a, b FROM d.t FORCE INDEX (a) WHERE a > 0 ORDER BY a"
        ),
        ["3 2 zwei", "2 9 two"]
    );
    session.execute("INSERT INTO d.t (b) VALUES ('new')", ()).unwrap();
    assert!(
        rows(&mut session, "SELECT id FROM d.t WHERE b = 'new'")[0]
            .parse::<u32>()
            .unwrap()
            > 3
    );
    // Without a key.
    session
        .execute("INSERT INTO d.plain VALUES (1, 1), (1, 1), (2, 2)", ())
        .unwrap();
    session
        .execute("DELETE FROM d.plain WHERE a = 1 LIMIT 1", ())
        .unwrap();
    session
        .execute("UPDATE d.plain SET b = 5 WHERE a = 2", ())
        .unwrap();
    assert_eq!(
        rows(&mut session, "SELECT * FROM d.plain ORDER BY a"),
        ["1 1", "2 5"]
    );
    // The join reads one engine for each row of the other.
    session
        .execute("CREATE TABLE d.i (a INT PRIMARY KEY)", ())
        .unwrap();
    session.execute("INSERT INTO d.i VALUES (2), (9)", ()).unwrap();
    let join = "SELECT t.b, i.a FROM d.i JOIN d.t ON t.a = i.a ORDER BY 1";
    assert_eq!(rows(&mut session, join), ["two 9", "zwei 2"]);
}

#[test]
fn a_transaction_spans_engines() {
    let (_directory, database) = database(&[
        "CREATE TABLE d.t (id INT PRIMARY KEY, a INT) ENGINE=TREE",
        "CREATE TABLE d.i (id INT PRIMARY KEY, a INT)",
    ]);
    let mut session = database.session().unwrap();
    session.execute("INSERT INTO d.t VALUES (1, 500)", ()).unwrap();
    session.execute("INSERT INTO d.i VALUES (1, 500)", ()).unwrap();
    // Rolled back as a whole, and to a savepoint.
    let mut transaction = session.begin(TransactionOptions::new()).unwrap();
    transaction.execute("UPDATE d.t SET a = 0", ()).unwrap();
    transaction.execute("INSERT INTO d.i VALUES (2, 1)", ()).unwrap();
    transaction.roll_back();
    let sum = "SELECT (SELECT SUM(a) FROM d.t) + (SELECT SUM(a) FROM d.i)";
    assert_eq!(rows(&mut session, sum), ["1000"]);
    let mut transaction = session.begin(TransactionOptions::new()).unwrap();
    transaction.execute("UPDATE d.t SET a = a - 1", ()).unwrap();
    transaction.execute("SAVEPOINT s", ()).unwrap();
    transaction.execute("DELETE FROM d.t", ()).unwrap();
    transaction.execute("ROLLBACK TO s", ()).unwrap();
    transaction.execute("UPDATE d.i SET a = a + 1", ()).unwrap();
    transaction.commit().unwrap();
    assert_eq!(
        rows(&mut session, "SELECT t.a, i.a FROM d.t JOIN d.i USING (id)"),
        ["499 501"]
    );

    // A snapshot has both halves of each transfer, or none.
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut session = database.session().unwrap();
            for _ in 0..200 {
                let moved = session.transact(TransactionOptions::new(), 10, |transaction| {
                    transaction.execute("UPDATE d.t SET a = a - 1", ())?;
                    transaction.execute("UPDATE d.i SET a = a + 1", ())
                });
                moved.unwrap();
            }
        });
        while !writer.is_finished() {
            let repeatable = TransactionOptions::new().isolation(IsolationLevel::RepeatableRead);
            let mut transaction = session.begin(repeatable).unwrap();
            let first = transaction.query("SELECT a FROM d.t", ()).unwrap().rows;
            let second = transaction.query("SELECT 1000 - a FROM d.i", ()).unwrap().rows;
            let again = transaction.query("SELECT a FROM d.t", ()).unwrap().rows;
            assert_eq!((&first, &first), (&second, &again));
            transaction.roll_back();
        }
    });
    assert_eq!(
        rows(&mut session, "SELECT t.a, i.a FROM d.t JOIN d.i USING (id)"),
        ["299 701"]
    );
}

#[test]
fn definitions_name_the_engine() {
    let (_directory, database) = database(&[
        "CREATE TABLE d.t (id INT PRIMARY KEY, a INT) ENGINE=tree",
        "CREATE TABLE d.i (id INT PRIMARY KEY, a INT, KEY (a))",
    ]);
    let mut session = database.session().unwrap();
    let engine = "SELECT engine FROM information_schema.tables WHERE table_schema = 'd' AND table_name = 't'";
    assert_eq!(rows(&mut session, engine), ["TREE"]);
    assert_eq!(
        rows(
            &mut session,
            "SELECT engine, support, comment, transactions FROM information_schema.engines WHERE engine = 'TREE'"
        ),
        ["TREE YES Tables in a tree, empty after a restart YES"]
    );
    let plugin = "SELECT plugin_type FROM information_schema.plugins WHERE plugin_name = 'TREE'";
    assert_eq!(rows(&mut session, plugin), ["STORAGE ENGINE"]);

    session
        .execute("INSERT INTO d.t VALUES (1, 1), (2, 2)", ())
        .unwrap();
    session
        .execute("ALTER TABLE d.t ADD COLUMN b INT DEFAULT 7, ADD KEY (b)", ())
        .unwrap();
    assert_eq!(
        rows(&mut session, "SELECT * FROM d.t WHERE b = 7 ORDER BY id"),
        ["1 1 7", "2 2 7"]
    );
    session.execute("ALTER TABLE d.t ENGINE=InnoDB", ()).unwrap();
    session.execute("ALTER TABLE d.t ENGINE=Tree", ()).unwrap();
    session.execute("INSERT INTO d.t VALUES (3, 3, 3)", ()).unwrap();
    assert_eq!(
        rows(&mut session, "SELECT id FROM d.t ORDER BY id DESC"),
        ["3", "2", "1"]
    );
    session.execute("RENAME TABLE d.t TO d.u", ()).unwrap();
    session.execute("CREATE TABLE d.t LIKE d.u", ()).unwrap();
    assert_eq!(rows(&mut session, engine), ["TREE"]);
    session.execute("TRUNCATE TABLE d.u", ()).unwrap();
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM d.u"), ["0"]);

    session
        .execute("SET default_storage_engine = 'tree'", ())
        .unwrap();
    assert_eq!(rows(&mut session, "SELECT @@default_storage_engine"), ["TREE"]);
    session.execute("DROP TABLE d.t", ()).unwrap();
    session.execute("CREATE TABLE d.t AS SELECT 1 AS a", ()).unwrap();
    assert_eq!(rows(&mut session, engine), ["TREE"]);
    assert_eq!(error(&mut session, "SET default_storage_engine = 'trees'"), 1286);
    assert_eq!(error(&mut session, "CREATE TABLE d.x (a INT) ENGINE=trees"), 1286);
    assert_eq!(error(&mut session, "CREATE SEQUENCE d.s ENGINE=TREE"), 1478);
    // As in MEMORY: no foreign key, neither of the table nor to it.
    let child = "CREATE TABLE d.c (a INT, FOREIGN KEY (a) REFERENCES d.i (a)) ENGINE=TREE";
    session.execute(child, ()).unwrap();
    let keys = "SELECT COUNT(*) FROM information_schema.referential_constraints WHERE table_name = 'c'";
    assert_eq!(rows(&mut session, keys), ["0"]);
    let child = "CREATE TABLE d.e (a INT, FOREIGN KEY (a) REFERENCES d.u (id)) ENGINE=InnoDB";
    assert_eq!(error(&mut session, child), 1005);
    // A temporary table's rows are in the session's space.
    let temporary = "CREATE TEMPORARY TABLE d.temporary (a INT) ENGINE=TREE";
    session.execute(temporary, ()).unwrap();
    session.execute("INSERT INTO d.temporary VALUES (1)", ()).unwrap();
    assert_eq!(rows(&mut session, "SELECT a FROM d.temporary"), ["1"]);
}

#[test]
fn a_restart_empties_the_table_and_logs_that() {
    let (directory, database) = database(&[
        "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, KEY (a)) ENGINE=TREE",
        "CREATE TABLE d.i (id INT PRIMARY KEY)",
    ]);
    let mut session = database.session().unwrap();
    session.execute("INSERT INTO d.t VALUES (1, 1)", ()).unwrap();
    session.execute("INSERT INTO d.i VALUES (1)", ()).unwrap();
    drop(session);
    let end = database.position();
    database.close().unwrap();

    let database = open(&directory);
    let mut session = database.session().unwrap();
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM d.t"), ["0"]);
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM d.i"), ["1"]);
    let mut changes = database.changes(&end).unwrap();
    let mut logged = String::new();
    let truncated = changes.next(None).unwrap().unwrap();
    truncated
        .for_each(|change| {
            if let ChangeRef::Statement { text, .. } = change {
                logged.push_str(text);
            }
            Ok(())
        })
        .unwrap();
    assert!(logged.starts_with("TRUNCATE TABLE `d`.`t`"), "{logged}");
    session.execute("INSERT INTO d.t VALUES (1, 2)", ()).unwrap();
    assert_eq!(rows(&mut session, "SELECT a FROM d.t WHERE a = 2"), ["2"]);
}
